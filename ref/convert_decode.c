/* Bulk decoding of codes to f32 bits. */
#include <assert.h>
#include <string.h>

#include "convert.h"

#define F32_NAN 0x7FC00000u

/* Exact for every format but f64: p <= 24, least >= 2^-149, max <= f32's. */
static uint32_t decode_one(const assay_format *f, uint64_t code)
{
    assay_parts parts = assay_decode(f, code);
    uint32_t sign = parts.negative ? 0x80000000u : 0;
    switch (parts.class_) {
    case ASSAY_CLASS_NAN:
        return F32_NAN;
    case ASSAY_CLASS_INFINITY:
        return sign | 0x7F800000u;
    case ASSAY_CLASS_ZERO:
        return sign;
    default:
        break;
    }
    int up = __builtin_clzll(parts.significand) - 40; /* the leading one to bit 23 */
    uint64_t significand = parts.significand << up;
    int field = parts.exponent - up + 23 + 127;
    assert(up >= 0 && field < 255 && field > -23);
    if (field >= 1)
        return sign | (uint32_t)field << 23 | ((uint32_t)significand & 0x7FFFFF);
    return sign | (uint32_t)(significand >> (1 - field));
}

/* Codes are the top bits of an f32: bf16, tf32, f32 itself. */
static uint32_t shifted(uint32_t code, int shift)
{
    uint32_t bits = code << shift;
    return (bits & 0x7FFFFFFF) > 0x7F800000u ? F32_NAN : bits;
}

/* IEEE formats of 16 bits and fewer whose subnormals are normal in f32: f16, e5m6. The fraction of
 * a subnormal goes through an exact conversion of an integer. */
static uint32_t half_like(uint32_t code, uint32_t sign_bit, int fraction_bits, int bias)
{
    uint32_t magnitude = code & (sign_bit - 1), sign = (code & sign_bit) ? 0x80000000u : 0;
    uint32_t inf = sign_bit - (1u << fraction_bits);
    uint32_t normal = (magnitude << (23 - fraction_bits)) + ((uint32_t)(127 - bias) << 23);
    float as_float = (float)(int32_t)magnitude;
    uint32_t subnormal;
    memcpy(&subnormal, &as_float, sizeof subnormal);
    subnormal -= (uint32_t)(bias - 1 + fraction_bits) << 23;
    uint32_t bits = magnitude >= 1u << fraction_bits ? normal : magnitude ? subnormal : 0;
    bits = magnitude == inf ? 0x7F800000u : bits;
    return magnitude > inf ? F32_NAN : bits | sign;
}

static void decode_bytes(const assay_format *f, const uint8_t *from, uint32_t *to, size_t n)
{
    uint32_t table[256];
    if (n < 128) {
        for (size_t i = 0; i < n; i++)
            to[i] = decode_one(f, from[i]);
        return;
    }
    for (uint32_t code = 0; code < 256; code++)
        table[code] = decode_one(f, code);
    for (size_t i = 0; i < n; i++)
        to[i] = table[from[i]];
}

static void decode_words(const assay_format *f, const uint16_t *from, uint32_t *to, size_t n)
{
    int fraction = f->mantissa_bits, bias = f->bias;
    uint32_t sign_bit = (uint32_t)assay_format_sign_bit(f);
    if (f->exponent_bits == 8)
        for (size_t i = 0; i < n; i++)
            to[i] = shifted(from[i], 32 - assay_format_width(f));
    else
        for (size_t i = 0; i < n; i++)
            to[i] = half_like(from[i], sign_bit, fraction, bias);
}

void assay_decode_f32_array(const assay_format *f, const void *from, uint32_t *to, size_t n)
{
    int storage = assay_format_storage(f);
    assert(storage < 8);
    if (storage == 1) {
        decode_bytes(f, from, to, n);
    } else if (storage == 2) {
        assert(f->specials == ASSAY_SPECIAL_IEEE && f->is_signed);
        decode_words(f, from, to, n);
    } else if (f->mantissa_bits == 23) {
        memcpy(to, from, n * sizeof *to);
    } else {
        const uint32_t *words = from;
        for (size_t i = 0; i < n; i++)
            to[i] = shifted(words[i], 32 - assay_format_width(f));
    }
}
