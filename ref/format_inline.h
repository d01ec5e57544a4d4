/* What follows from a row of the format table, inline for the code that asks once a value (round,
 * convert); format.c makes the public functions from these. Private to ref/. */
#ifndef ASSAY_FORMAT_INLINE_H
#define ASSAY_FORMAT_INLINE_H

#include <assert.h>

#include "format.h"

static inline uint64_t format_low_bits(int n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

/* Bits of a code without the sign; for integers too. */
static inline int format_magnitude_bits(const assay_format *f)
{
    return f->exponent_bits + f->mantissa_bits;
}

static inline int format_width(const assay_format *f)
{
    return format_magnitude_bits(f) + (f->is_signed ? 1 : 0);
}

static inline int format_storage(const assay_format *f)
{
    int width = format_width(f);
    return width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : 8;
}

static inline int format_precision(const assay_format *f)
{
    return f->kind == ASSAY_KIND_INTEGER ? f->mantissa_bits : f->mantissa_bits + 1;
}

static inline int format_emin(const assay_format *f)
{
    return f->kind == ASSAY_KIND_FLOAT ? 1 - f->bias : -f->bias;
}

static inline bool format_has_inf(const assay_format *f)
{
    return f->specials == ASSAY_SPECIAL_IEEE || f->specials == ASSAY_SPECIAL_P3109E;
}

static inline bool format_has_nan(const assay_format *f)
{
    return f->specials != ASSAY_SPECIAL_NONE;
}

/* NaN stands where -0 would stand. */
static inline bool format_nan_is_negative_zero(const assay_format *f)
{
    return f->is_signed && (f->specials == ASSAY_SPECIAL_FNUZ ||
                            f->specials == ASSAY_SPECIAL_P3109E ||
                            f->specials == ASSAY_SPECIAL_P3109F);
}

static inline bool format_has_negative_zero(const assay_format *f)
{
    return f->kind == ASSAY_KIND_FLOAT && f->is_signed && !format_nan_is_negative_zero(f);
}

static inline bool format_has_zero(const assay_format *f)
{
    return f->kind != ASSAY_KIND_POWER;
}

static inline bool format_has_subnormals(const assay_format *f)
{
    return f->kind == ASSAY_KIND_FLOAT && f->mantissa_bits > 0;
}

static inline uint64_t format_sign_bit(const assay_format *f)
{
    return f->is_signed ? (uint64_t)1 << format_magnitude_bits(f) : 0;
}

/* The magnitude codes from this one on are not finite numbers. */
static inline uint64_t format_first_special(const assay_format *f)
{
    uint64_t all = format_low_bits(format_magnitude_bits(f));
    bool nan_on_top = !f->is_signed; /* of P3109 */
    switch (f->specials) {
    case ASSAY_SPECIAL_IEEE:
        return all - format_low_bits(f->mantissa_bits);
    case ASSAY_SPECIAL_FN:
        return all;
    case ASSAY_SPECIAL_P3109E:
        return all - (nan_on_top ? 1 : 0);
    case ASSAY_SPECIAL_P3109F:
        return all + (nan_on_top ? 0 : 1);
    case ASSAY_SPECIAL_NONE:
    case ASSAY_SPECIAL_FNUZ:
        break;
    }
    return all + 1;
}

static inline uint64_t format_max_code(const assay_format *f)
{
    return format_first_special(f) - 1;
}

static inline uint64_t format_nan_code(const assay_format *f)
{
    if (f->kind == ASSAY_KIND_INTEGER)
        return 0;
    if (format_nan_is_negative_zero(f))
        return format_sign_bit(f);
    switch (f->specials) {
    case ASSAY_SPECIAL_IEEE: /* quiet: the top fraction bit alone */
        return format_first_special(f) | (uint64_t)1 << (f->mantissa_bits - 1);
    case ASSAY_SPECIAL_NONE:
        return format_max_code(f);
    default:
        return format_low_bits(format_magnitude_bits(f));
    }
}

static inline uint64_t format_inf_code(const assay_format *f, bool negative)
{
    assert(format_has_inf(f));
    return format_first_special(f) | (negative ? format_sign_bit(f) : 0);
}

static inline int format_emax(const assay_format *f)
{
    if (f->kind == ASSAY_KIND_INTEGER)
        return f->mantissa_bits - 1 - f->bias;
    return (int)(format_max_code(f) >> f->mantissa_bits) - f->bias;
}

#endif
