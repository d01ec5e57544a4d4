/* The format table, and everything that follows from a row of it. */
#include "format.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "format_inline.h"

#define FLOAT(name, specials, is_signed, exponent, mantissa, bias, source)                         \
    {name, ASSAY_KIND_FLOAT, ASSAY_SPECIAL_##specials, is_signed, exponent, mantissa, bias, source}
#define INTEGER(name, width, bias, source)                                                         \
    {name, ASSAY_KIND_INTEGER, ASSAY_SPECIAL_NONE, true, 0, (width) - 1, bias, source}

/* IEEE P3109 binaryKpP: the bias is 2^(K-P-1) for signed formats and 2^(K-P) for unsigned ones. */
#define P3109 "IEEE P3109 interim report"
#define P3109_UNSIGNED(k, p)                                                                       \
    FLOAT("binary" #k "p" #p "ue", P3109E, false, (k) - (p) + 1, (p) - 1, 1 << ((k) - (p)), P3109),\
    FLOAT("binary" #k "p" #p "uf", P3109F, false, (k) - (p) + 1, (p) - 1, 1 << ((k) - (p)), P3109)
#define P3109_BOTH(k, p)                                                                           \
    FLOAT("binary" #k "p" #p "se", P3109E, true, (k) - (p), (p) - 1, 1 << ((k) - (p) - 1), P3109), \
    FLOAT("binary" #k "p" #p "sf", P3109F, true, (k) - (p), (p) - 1, 1 << ((k) - (p) - 1), P3109), \
    P3109_UNSIGNED(k, p)

const assay_format assay_formats[] = {
    FLOAT("f64", IEEE, true, 11, 52, 1023, "IEEE 754-2019 binary64"),
    FLOAT("f32", IEEE, true, 8, 23, 127, "IEEE 754-2019 binary32"),
    FLOAT("tf32", IEEE, true, 8, 10, 127, "NVIDIA PTX ISA, tf32: the top 19 bits of f32"),
    FLOAT("f16", IEEE, true, 5, 10, 15, "IEEE 754-2019 binary16"),
    FLOAT("bf16", IEEE, true, 8, 7, 127, "the top 16 bits of f32"),
    FLOAT("e5m6", IEEE, true, 5, 6, 15, "TileKernels: the top 12 bits of f16"),
    FLOAT("e4m3", FN, true, 4, 3, 7, "OCP OFP8 1.0 E4M3"),
    FLOAT("e5m2", IEEE, true, 5, 2, 15, "OCP OFP8 1.0 E5M2"),
    FLOAT("e4m3fnuz", FNUZ, true, 4, 3, 8, "AMD CDNA3 ISA FP8"),
    FLOAT("e5m2fnuz", FNUZ, true, 5, 2, 16, "AMD CDNA3 ISA BF8"),
    FLOAT("e4m3b11fnuz", FNUZ, true, 4, 3, 11, "ml_dtypes float8_e4m3b11fnuz"),
    FLOAT("e3m4", FN, true, 3, 4, 3, "E3M4 with the specials of OCP E4M3"),
    FLOAT("e4m3i", IEEE, true, 4, 3, 7, "ml_dtypes float8_e4m3"),
    FLOAT("e3m4i", IEEE, true, 3, 4, 3, "ml_dtypes float8_e3m4"),
    FLOAT("e2m3", NONE, true, 2, 3, 1, "OCP MX 1.0 FP6 E2M3"),
    FLOAT("e3m2", NONE, true, 3, 2, 3, "OCP MX 1.0 FP6 E3M2"),
    FLOAT("e2m1", NONE, true, 2, 1, 1, "OCP MX 1.0 FP4 E2M1"),
    {"e8m0", ASSAY_KIND_POWER, ASSAY_SPECIAL_FN, false, 8, 0, 127, "OCP MX 1.0 E8M0"},
    FLOAT("ue4m3", FN, false, 4, 3, 7, "NVIDIA PTX ISA ue4m3: E4M3 without its sign bit"),
    FLOAT("ue5m3", FN, false, 5, 3, 15, "ALTO outer scales: 0xFE is 114688, 0xFF is NaN"),
    INTEGER("mxint8", 8, 6, "OCP MX 1.0 INT8: two's complement times 2^-6"),
    INTEGER("int4", 4, 0, "two's complement"),
    INTEGER("int5", 5, 0, "two's complement"),
    INTEGER("int8", 8, 0, "two's complement"),
    P3109_BOTH(3, 1), P3109_BOTH(3, 2), P3109_UNSIGNED(3, 3),
    P3109_BOTH(4, 1), P3109_BOTH(4, 2), P3109_BOTH(4, 3), P3109_UNSIGNED(4, 4),
    P3109_BOTH(5, 1), P3109_BOTH(5, 2), P3109_BOTH(5, 3), P3109_BOTH(5, 4), P3109_UNSIGNED(5, 5),
    P3109_BOTH(6, 1), P3109_BOTH(6, 2), P3109_BOTH(6, 3), P3109_BOTH(6, 4), P3109_BOTH(6, 5),
    P3109_UNSIGNED(6, 6),
    P3109_BOTH(7, 1), P3109_BOTH(7, 2), P3109_BOTH(7, 3), P3109_BOTH(7, 4), P3109_BOTH(7, 5),
    P3109_BOTH(7, 6), P3109_UNSIGNED(7, 7),
    P3109_BOTH(8, 1), P3109_BOTH(8, 2), P3109_BOTH(8, 3), P3109_BOTH(8, 4), P3109_BOTH(8, 5),
    P3109_BOTH(8, 6), P3109_BOTH(8, 7), P3109_UNSIGNED(8, 8),
};
const size_t assay_format_count = sizeof assay_formats / sizeof assay_formats[0];

const assay_format *assay_format_find(const char *name)
{
    for (size_t i = 0; i < assay_format_count; i++)
        if (!strcmp(assay_formats[i].name, name))
            return &assay_formats[i];
    return NULL;
}

/* The public functions: format_inline.h, out of line. */
#define PUBLIC(type, name)                                                                         \
    type assay_format_##name(const assay_format *f)                                                \
    {                                                                                              \
        return format_##name(f);                                                                   \
    }
PUBLIC(int, width)
PUBLIC(int, storage)
PUBLIC(int, precision)
PUBLIC(int, emin)
PUBLIC(int, emax)
PUBLIC(bool, has_inf)
PUBLIC(bool, has_nan)
PUBLIC(bool, has_negative_zero)
PUBLIC(bool, has_zero)
PUBLIC(bool, has_subnormals)
PUBLIC(uint64_t, sign_bit)
PUBLIC(uint64_t, max_code)
PUBLIC(uint64_t, nan_code)

uint64_t assay_format_inf_code(const assay_format *f, bool negative)
{
    return format_inf_code(f, negative);
}

const char *assay_class_name(assay_class c)
{
    static const char *const names[] = {"zero", "subnormal", "normal", "infinity", "nan"};
    return names[c];
}

static assay_parts decode_integer(const assay_format *f, uint64_t code)
{
    assay_parts parts = {ASSAY_CLASS_NORMAL, false, code, -f->bias};
    uint64_t sign = format_sign_bit(f);
    if (code & sign) {
        parts.negative = true;
        parts.significand = 2 * sign - code;
    }
    if (code == 0)
        parts.class_ = ASSAY_CLASS_ZERO;
    return parts;
}

static assay_parts decode_float(const assay_format *f, uint64_t code)
{
    uint64_t magnitude = code & format_low_bits(format_magnitude_bits(f));
    uint64_t fraction = magnitude & format_low_bits(f->mantissa_bits);
    int field = (int)(magnitude >> f->mantissa_bits);
    assay_parts parts = {ASSAY_CLASS_NORMAL, magnitude != code, 0, 0};
    if (magnitude >= format_first_special(f) || (parts.negative && !magnitude && format_nan_is_negative_zero(f))) {
        bool inf = format_has_inf(f) && magnitude == format_first_special(f);
        parts.class_ = inf ? ASSAY_CLASS_INFINITY : ASSAY_CLASS_NAN;
        return parts;
    }
    parts.exponent = (field ? field : 1) - f->bias - f->mantissa_bits;
    parts.significand = fraction | (field ? (uint64_t)1 << f->mantissa_bits : 0);
    if (field == 0)
        parts.class_ = fraction ? ASSAY_CLASS_SUBNORMAL : ASSAY_CLASS_ZERO;
    return parts;
}

assay_parts assay_decode(const assay_format *f, uint64_t code)
{
    code &= format_low_bits(format_width(f));
    switch (f->kind) {
    case ASSAY_KIND_INTEGER:
        return decode_integer(f, code);
    case ASSAY_KIND_POWER: {
        bool nan = code >= format_first_special(f);
        return (assay_parts){nan ? ASSAY_CLASS_NAN : ASSAY_CLASS_NORMAL, false, nan ? 0 : 1,
                             nan ? 0 : (int)code - f->bias};
    }
    case ASSAY_KIND_FLOAT:
        break;
    }
    return decode_float(f, code);
}

double assay_decode_double(const assay_format *f, uint64_t code)
{
    assay_parts parts = assay_decode(f, code);
    double value = parts.class_ == ASSAY_CLASS_NAN        ? (double)NAN
                   : parts.class_ == ASSAY_CLASS_INFINITY ? (double)INFINITY
                                                          : ldexp((double)parts.significand,
                                                                  parts.exponent);
    return parts.negative && parts.class_ != ASSAY_CLASS_NAN ? -value : value;
}

int64_t assay_ordinal(const assay_format *f, uint64_t code)
{
    assert(assay_decode(f, code).class_ != ASSAY_CLASS_NAN);
    code &= format_low_bits(format_width(f));
    uint64_t sign = format_sign_bit(f);
    if (!(code & sign))
        return (int64_t)code;
    if (f->kind == ASSAY_KIND_INTEGER)
        return (int64_t)code - (int64_t)(2 * sign);
    return -(int64_t)(code ^ sign);
}

uint64_t assay_ordinal_code(const assay_format *f, int64_t ordinal)
{
    assert(ordinal >= assay_ordinal_min(f) && ordinal <= assay_ordinal_max(f));
    if (ordinal >= 0)
        return (uint64_t)ordinal;
    if (f->kind == ASSAY_KIND_INTEGER)
        return (uint64_t)ordinal & format_low_bits(format_width(f));
    return (uint64_t)-ordinal | format_sign_bit(f);
}

int64_t assay_ordinal_min(const assay_format *f)
{
    if (!f->is_signed)
        return 0;
    return f->kind == ASSAY_KIND_INTEGER ? -(int64_t)format_sign_bit(f)
                                         : -assay_ordinal_max(f);
}

int64_t assay_ordinal_max(const assay_format *f)
{
    return (int64_t)(format_has_inf(f) ? format_first_special(f) : format_max_code(f));
}
