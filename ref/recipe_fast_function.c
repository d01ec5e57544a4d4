/* exp, exp2, log2 correctly rounded; the reciprocal approximation of NVIDIA GPUs.
 *
 * f32: a f64 approximation (libm's, within one ulp; for exp and log2 first that of the columns, see
 * fast_kernels_float.c); if both ends of a generous interval around it round to the same f32,
 * that is the answer (29 spare bits: it nearly always is). f64: the same from
 * long double, where that is wider than f64. What stays undecided, exact ties included, is decided
 * by MPFR at 300 bits: for it alone this engine shares a library with the exact one. */
#include "recipe_fast.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "rcp_approx.h"

typedef int (*mpfr_function)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);

/* Far more bits than any f32 or f64 argument needs but for exact results, which they hold. */
static double by_mpfr(mpfr_function function, double v, int bits)
{
    mpfr_t x, y;
    mpfr_init2(x, 53);
    mpfr_init2(y, 300);
    mpfr_set_d(x, v, MPFR_RNDN);
    function(y, x, MPFR_RNDN);
    double r = bits == 32 ? (double)mpfr_get_flt(y, MPFR_RNDN) : mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(x);
    mpfr_clear(y);
    return r;
}

static float rounded_32(double approximate, mpfr_function function, float v)
{
    double margin = fabs(approximate) * 0x1p-48;
    float low = (float)(approximate - margin), high = (float)(approximate + margin);
    if (low == high || isnan(approximate))
        return (float)approximate;
    return (float)by_mpfr(function, v, 32);
}

static double rounded_64(long double approximate, mpfr_function function, double v)
{
#if LDBL_MANT_DIG > 60
    long double margin = fabsl(approximate) * 0x1p-60L;
    double low = (double)(approximate - margin), high = (double)(approximate + margin);
    if (low == high || isnan(approximate))
        return (double)approximate;
#else
    if (isnan(approximate) || isinf(v) || v == 0)
        return (double)approximate;
#endif
    return by_mpfr(function, v, 64);
}

float fast_exp_one(float v)
{
    return rounded_32(exp((double)v), mpfr_exp, v);
}

float fast_log2_one(float v)
{
    return rounded_32(log2((double)v), mpfr_log2, v);
}

void fast_exp2_32(const fast_args *g)
{
    fast_f32 *d = g->d;
    const fast_f32 *a = g->s[0];
    for (int64_t i = 0; i < g->n; i++)
        d[i] = rounded_32(exp2((double)a[i]), mpfr_exp2, a[i]);
}

#define KERNEL_64(NAME, FUNCTION, MPFR)                                                            \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        fast_f64 *d = g->d;                                                                        \
        const fast_f64 *a = g->s[0];                                                               \
        for (int64_t i = 0; i < g->n; i++)                                                         \
            d[i] = rounded_64(FUNCTION((long double)a[i]), MPFR, a[i]);                            \
    }
KERNEL_64(fast_exp_64, expl, mpfr_exp)
KERNEL_64(fast_exp2_64, exp2l, mpfr_exp2)
KERNEL_64(fast_log2_64, log2l, mpfr_log2)

void fast_ldexp_64(const fast_args *g)
{
    fast_f64 *d = g->d;
    const fast_f64 *a = g->s[0];
    const fast_i32 *b = g->s[1];
    int far = 0;
    for (int64_t i = 0; i < g->n; i++) { /* a product with a power of two rounds once */
        uint64_t power = (uint64_t)((uint32_t)b[i] + 1023) << 52;
        double p;
        far |= b[i] < -1022 || b[i] > 1023;
        memcpy(&p, &power, 8);
        d[i] = a[i] * p;
    }
    for (int64_t i = 0; far && i < g->n; i++)
        d[i] = ldexp(a[i], b[i]);
}

/* ---- rcp.approx.ftz.f32 and div.full.f32 ---- */

static float rcp_approx(float v)
{
    uint32_t u, r;
    memcpy(&u, &v, 4);
    uint32_t sign = u & 0x80000000, magnitude = u & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return NAN;
    if (magnitude < 0x800000)
        r = 0x7F800000;
    else if (magnitude == 0x7F800000)
        r = 0;
    else {
        uint32_t fraction = magnitude & 0x7FFFFF, one = 0x3F800000 | fraction;
        int e = (int)(magnitude >> 23) - 127;
        float m, q;
        memcpy(&m, &one, 4);
        q = 1 / m;
        memcpy(&r, &q, 4);
        r += (uint32_t)assay_rcp_approx_delta(fraction);
        int field = (int)(r >> 23) - e; /* exponent field of the result */
        r = field < 1 ? 0 : (uint32_t)field << 23 | (r & 0x7FFFFF);
    }
    r |= sign;
    memcpy(&v, &r, 4);
    return v;
}

void fast_rcp_approx(const fast_args *g)
{
    fast_f32 *d = g->d;
    const fast_f32 *a = g->s[0];
    for (int64_t i = 0; i < g->n; i++)
        d[i] = rcp_approx(a[i]);
}

/* What div.full multiplies both operands by, given the divisor. */
static float div_full_scale(float b)
{
    return fabsf(b) > 0x1p126f ? 0x1p-2f : fabsf(b) < 0x1p-126f ? 0x1p24f : 1;
}

void fast_div_full_scale(const fast_args *g)
{
    fast_f32 *d = g->d;
    const fast_f32 *b = g->s[0];
    for (int64_t i = 0; i < g->n; i++)
        d[i] = div_full_scale(b[i]);
}

void fast_div_full_rcp(const fast_args *g)
{
    fast_f32 *d = g->d;
    const fast_f32 *b = g->s[0];
    for (int64_t i = 0; i < g->n; i++)
        d[i] = rcp_approx(b[i] * div_full_scale(b[i]));
}
