/* NVIDIA's approximate reciprocal and full-range division, and the choices of `approx`. */
#include <assert.h>
#include <stdlib.h>

#include "rcp_approx.h"
#include "recipe_exact.h"

enum { F32_MANTISSA = 23 };
static const uint64_t F32_ONE = 0x3F800000, F32_SIGN = 0x80000000, F32_INF = 0x7F800000;

/* The unit's answer for m = 1.mantissa in [1, 2): the correctly rounded reciprocal, moved by the
 * recorded difference of the code. */
static uint64_t reciprocal_of_mantissa(exact_run *run, uint32_t mantissa)
{
    exact_load(run->a, run->f32, F32_ONE | mantissa);
    uint64_t code = exact_encode(run, run->f32, mpfr_ui_div(run->x.v, 1, run->a, MPFR_RNDZ));
    return code + (uint64_t)(int64_t)assay_rcp_approx_delta(mantissa);
}

uint64_t exact_rcp_approx(exact_run *run, uint64_t v)
{
    assay_parts parts = assay_decode(run->f32, v);
    uint64_t sign = v & F32_SIGN;
    switch (parts.class_) {
    case ASSAY_CLASS_NAN:
        return exact_nan(run, run->f32);
    case ASSAY_CLASS_INFINITY:
        return sign;
    case ASSAY_CLASS_ZERO:
    case ASSAY_CLASS_SUBNORMAL: /* counts as zero */
        return sign | F32_INF;
    case ASSAY_CLASS_NORMAL:
        break;
    }
    uint32_t mantissa = (uint32_t)v & ((UINT32_C(1) << F32_MANTISSA) - 1);
    exact_load(run->a, run->f32, reciprocal_of_mantissa(run, mantissa));
    int exact = mpfr_mul_2si(run->x.v, run->a, -(parts.exponent + F32_MANTISSA), MPFR_RNDZ);
    uint64_t code = exact_encode(run, run->f32, exact);
    bool subnormal = assay_decode(run->f32, code).class_ == ASSAY_CLASS_SUBNORMAL ||
                     mpfr_get_exp(run->x.v) - 1 < assay_format_emin(run->f32);
    return sign | (subnormal ? 0 : code);
}

/* v * 2^shift as an f32. */
static uint64_t scale(exact_run *run, uint64_t v, long shift)
{
    exact_load(run->a, run->f32, v);
    return exact_encode(run, run->f32, mpfr_mul_2si(run->x.v, run->a, shift, MPFR_RNDZ));
}

uint64_t exact_div_full(exact_run *run, uint64_t a, uint64_t b)
{
    exact_load(run->b, run->f32, b);
    mpfr_abs(run->b, run->b, MPFR_RNDZ);
    long shift = 0;
    if (!mpfr_nan_p(run->b)) {
        if (mpfr_cmp_ui_2exp(run->b, 1, 126) > 0)
            shift = -2;
        else if (mpfr_cmp_ui_2exp(run->b, 1, -126) < 0)
            shift = 24;
    }
    if (shift) {
        a = scale(run, a, shift);
        b = scale(run, b, shift);
    }
    uint64_t reciprocal = exact_rcp_approx(run, b);
    exact_load(run->a, run->f32, a);
    exact_load(run->b, run->f32, reciprocal);
    return exact_encode(run, run->f32, mpfr_mul(run->x.v, run->a, run->b, MPFR_RNDZ));
}

/* Steps of one code; the sign is kept, the magnitude stays between 0 and Inf; 0 and Inf are exact. */
uint64_t exact_approx_value(const assay_format *f, uint64_t code, int choice)
{
    uint64_t sign = code & assay_format_sign_bit(f), infinity = assay_format_inf_code(f, false);
    uint64_t magnitude = code & ~assay_format_sign_bit(f);
    if (magnitude == 0 || magnitude >= infinity)
        return code;
    uint64_t steps = (uint64_t)abs(choice);
    if (choice < 0)
        magnitude = steps > magnitude ? 0 : magnitude - steps;
    else
        magnitude = steps > infinity - magnitude ? infinity : magnitude + steps;
    return sign | magnitude;
}
