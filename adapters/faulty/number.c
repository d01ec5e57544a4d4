/* Narrow formats in doubles: every f32, f16 and bf16, and every step of every format here, is exact. */
#include <stdlib.h>

#include "faulty.h"

static const narrow rows[] = {
    {"e4m3", 4, 3, 7, 448, 0x7F, false, true, false},
    {"e5m2", 5, 2, 15, 57344, 0x7E, true, true, false},
    {"e2m1", 2, 1, 1, 6, 0x7, false, false, false},
    {"e2m3", 2, 3, 1, 7.5, 0x1F, false, false, false},
    {"e3m2", 3, 2, 3, 28, 0x1F, false, false, false},
    {"e4m3fnuz", 4, 3, 8, 240, 0x80, false, true, true},
    {"e5m2fnuz", 5, 2, 16, 57344, 0x80, false, true, true},
    {"f16", 5, 10, 15, 65504, 0x7E00, true, true, false},
    {"bf16", 8, 7, 127, 0x1.FEp127, 0x7FC0, true, true, false},
};

const narrow *narrow_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

int narrow_exponent(const narrow *f, double magnitude)
{
    int least = 1 - f->bias, e = magnitude > 0 ? ilogb(magnitude) : least;
    return e > least ? e : least;
}

unsigned narrow_code(const narrow *f, double q, int e)
{
    double hidden = ldexp(1, f->mantissa_bits);
    if (q < hidden) /* subnormal: e is the exponent of the least normal */
        return (unsigned)q;
    return ((unsigned)(e + f->bias) << f->mantissa_bits) + (unsigned)(q - hidden);
}

static unsigned max_code(const narrow *f)
{
    int e = ilogb(f->max);
    return narrow_code(f, f->max / ldexp(1, e - f->mantissa_bits), e);
}

unsigned narrow_finish(const narrow *f, unsigned code, double v, overflow o, unsigned nan)
{
    unsigned sign = signbit(v) ? 1u << (f->exponent_bits + f->mantissa_bits) : 0;
    if (isnan(v))
        return nan;
    if (code > max_code(f) || isinf(v)) {
        bool saturates = o == SAT || (o == SATFIN && !isinf(v)) || (!f->has_inf && !f->has_nan);
        if (saturates)
            code = max_code(f);
        else if (f->has_inf)
            code = max_code(f) + 1;
        else
            return f->fnuz ? f->nan : f->nan | sign;
    }
    return f->fnuz && code == 0 ? 0 : code | sign;
}

unsigned narrow_encode(const narrow *f, double v, overflow o, unsigned nan)
{
    if (isnan(v) || isinf(v))
        return narrow_finish(f, 0, v, o, nan);
    double a = fabs(v);
    int e = narrow_exponent(f, a);
    double q = nearbyint(ldexp(a, f->mantissa_bits - e));
    if (e > 1000) /* cannot be: the values are f32 */
        abort();
    return narrow_finish(f, narrow_code(f, q, e), v, o, nan);
}

double narrow_decode(const narrow *f, unsigned code)
{
    unsigned top = 1u << (f->exponent_bits + f->mantissa_bits), magnitude = code & (top - 1);
    if (f->fnuz && code == f->nan)
        return NAN;
    if (f->has_nan && !f->fnuz && magnitude > max_code(f) + (f->has_inf ? 1 : 0))
        return NAN;
    double v;
    if (f->has_inf && magnitude == max_code(f) + 1) {
        v = INFINITY;
    } else {
        int e = (int)(magnitude >> f->mantissa_bits);
        unsigned hidden = 1u << f->mantissa_bits, m = magnitude & (hidden - 1);
        v = e ? ldexp(m + hidden, e - f->bias - f->mantissa_bits)
              : ldexp(m, 1 - f->bias - f->mantissa_bits);
    }
    return code & top ? -v : v;
}

float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

uint32_t to_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

uint64_t tensor_code(const assay_tensor *t, int64_t i, int64_t j)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)t->data + (i * t->row_stride + j) * t->code_bytes,
           (size_t)t->code_bytes);
    return code;
}

double tensor_get(const assay_tensor *t, int64_t i, int64_t j)
{
    uint64_t code = tensor_code(t, i, j);
    if (!strcmp(t->type, "f32"))
        return from_bits((uint32_t)code);
    if (!strcmp(t->type, "bf16"))
        return from_bits((uint32_t)code << 16);
    const narrow *f = narrow_find(t->type);
    return f ? narrow_decode(f, (unsigned)code) : NAN;
}

void tensor_set(const assay_tensor *t, int64_t i, int64_t j, uint64_t code)
{
    memcpy((char *)t->data + (i * t->row_stride + j) * t->code_bytes, &code, (size_t)t->code_bytes);
}
