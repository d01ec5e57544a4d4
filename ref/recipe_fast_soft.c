/* Arithmetic that the FPU does not offer: directed modes, ftz, exact sums. In integers.
 *
 * Sums and products go into a fixed-point accumulator that spans every product of two f64; one
 * rounding takes them out. Quotients and roots are integer divisions and roots with a remainder.
 * Everything is stated in f64, in which every f32 is exact; `fast_rounding` says what to round to. */
#include "recipe_fast.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static uint64_t bits_of(double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    return u;
}

static double with_sign(double magnitude, bool negative)
{
    return negative ? -magnitude : magnitude;
}

static int length_of(fast_u128 v)
{
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* significand * 2^exponent = |v|; v finite and not zero. */
static uint64_t take_apart(double v, int *exponent)
{
    uint64_t u = bits_of(v), fraction = u & (((uint64_t)1 << 52) - 1);
    int field = (int)(u >> 52 & 0x7FF);
    *exponent = (field ? field : 1) - 1075;
    return fraction | (field ? (uint64_t)1 << 52 : 0);
}

static bool rounds_up(uint8_t mode, bool negative, bool odd, bool half, bool rest)
{
    switch (mode) {
    case ASSAY_EVEN:
        return half && (rest || odd);
    case ASSAY_AWAY:
        return half;
    case ASSAY_TIES_ZERO:
        return half && rest;
    case ASSAY_UP:
        return !negative && (half || rest);
    case ASSAY_DOWN:
        return negative && (half || rest);
    case ASSAY_ODD:
        return !odd && (half || rest);
    default:
        return false;
    }
}

static double too_large(bool negative, const fast_rounding *r)
{
    bool stays = r->mode == ASSAY_ZERO || r->mode == ASSAY_ODD ||
                 r->mode == (negative ? ASSAY_UP : ASSAY_DOWN);
    double max = ldexp(ldexp(1, r->precision) - 1, r->emax - r->precision + 1);
    return with_sign(stays ? max : (double)INFINITY, negative);
}

double fast_round(bool negative, fast_u128 significand, int exponent, bool sticky,
                  const fast_rounding *r)
{
    assert(significand != 0);
    int leading = exponent + length_of(significand) - 1;
    int bottom = (leading < r->emin && !r->ftz ? r->emin : leading) - r->precision + 1;
    int shift = bottom - exponent;
    if (shift <= 0) {
        assert(!sticky);
        significand <<= -shift;
    } else {
        bool half = shift <= 128 && (significand >> (shift - 1)) & 1;
        bool rest = sticky || (shift > 128 ? significand != 0
                               : shift > 1 && (fast_u128)(significand << (129 - shift)) != 0);
        significand = shift < 128 ? significand >> shift : 0;
        if (rounds_up(r->mode, negative, significand & 1, half, rest))
            significand++;
    }
    int top = bottom + length_of(significand) - 1; /* exponent of the rounded value */
    if (significand == 0 || (r->ftz && top < r->emin))
        return with_sign(0, negative);
    if (top > r->emax)
        return too_large(negative, r);
    return with_sign(ldexp((double)(uint64_t)significand, bottom), negative);
}

/* ---- exact sums ---- */

enum { SUM_BASE = 2208 }; /* bit 0 of limb 0 is worth 2^-SUM_BASE */

void fast_sum_start(fast_sum *s)
{
    s->low = s->high = 0;
    s->nan = s->plus_infinity = s->minus_infinity = s->any = false;
    s->only_minus_zero = true;
}

/* Makes limbs from .. to-1 usable. */
static void widen(fast_sum *s, int from, int to)
{
    if (s->low == s->high) {
        s->low = from;
        s->high = to;
        memset(s->limb + from, 0, (size_t)(to - from) * sizeof s->limb[0]);
    }
    if (from < s->low) {
        memset(s->limb + from, 0, (size_t)(s->low - from) * sizeof s->limb[0]);
        s->low = from;
    }
    if (to > s->high) {
        memset(s->limb + s->high, 0, (size_t)(to - s->high) * sizeof s->limb[0]);
        s->high = to;
    }
}

static void add_bits(fast_sum *s, fast_u128 significand, int exponent, bool negative)
{
    int position = exponent + SUM_BASE, first = position / 32, shift = position % 32;
    widen(s, first, first + 5);
    for (int i = 0; i < 4; i++) {
        uint64_t v = (uint64_t)(uint32_t)(significand >> (32 * i)) << shift;
        int64_t low = (int64_t)(v & UINT32_MAX), high = (int64_t)(v >> 32);
        s->limb[first + i] += negative ? -low : low;
        s->limb[first + i + 1] += negative ? -high : high;
    }
}

/* A term that is not a finite number other than zero; true if it was one of those. */
static bool add_special(fast_sum *s, double v)
{
    s->any = true;
    if (v != 0 || !signbit(v))
        s->only_minus_zero = false;
    s->nan |= isnan(v) != 0;
    s->plus_infinity |= isinf(v) && v > 0;
    s->minus_infinity |= isinf(v) && v < 0;
    return !isfinite(v) || v == 0;
}

void fast_sum_add(fast_sum *s, double v)
{
    int exponent;
    if (add_special(s, v))
        return;
    uint64_t significand = take_apart(v, &exponent);
    add_bits(s, significand, exponent, signbit(v));
}

void fast_sum_add_product(fast_sum *s, double a, double b)
{
    int ea, eb;
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) {
        add_special(s, a * b);
        return;
    }
    s->any = true;
    s->only_minus_zero = false;
    fast_u128 product = (fast_u128)take_apart(a, &ea) * take_apart(b, &eb);
    add_bits(s, product, ea + eb, (signbit(a) != 0) != (signbit(b) != 0));
}

/* Carries resolved: digits in [0, 2^32) but for the highest, whose sign is the sum's. */
static void carry(fast_sum *s)
{
    int64_t c = 0;
    for (int i = s->low; i < s->high; i++) {
        int64_t v = s->limb[i] + c;
        c = v >> 32;
        s->limb[i] = v & UINT32_MAX;
    }
    widen(s, s->low, s->high + 1);
    s->limb[s->high - 1] = c;
}

double fast_sum_finish(fast_sum *s, const fast_rounding *r)
{
    if (s->nan || (s->plus_infinity && s->minus_infinity))
        return NAN;
    if (s->plus_infinity || s->minus_infinity)
        return s->plus_infinity ? (double)INFINITY : -(double)INFINITY;
    bool negative = false;
    if (s->low < s->high) {
        carry(s);
        negative = s->limb[s->high - 1] < 0;
        if (negative) {
            for (int i = s->low; i < s->high; i++)
                s->limb[i] = -s->limb[i];
            carry(s);
        }
    }
    int top = s->high - 1;
    while (top >= s->low && s->limb[top] == 0)
        top--;
    if (top < s->low) /* an exact zero */
        return s->any && (s->only_minus_zero || r->mode == ASSAY_DOWN) ? -0.0 : 0.0;
    fast_u128 significand = 0;
    bool sticky = false;
    for (int i = 0; i < 4; i++)
        significand = significand << 32 | (top - i >= s->low ? (uint64_t)s->limb[top - i] : 0);
    for (int i = top - 4; i >= s->low; i--)
        sticky |= s->limb[i] != 0;
    return fast_round(negative, significand, (top - 3) * 32 - SUM_BASE, sticky, r);
}

/* ---- one operation ---- */

static double soft_add(double a, double b, const fast_rounding *r)
{
    fast_sum s;
    if (a == 0 && b == 0) /* also -0 + +0 toward -Inf */
        return signbit(a) == signbit(b) ? a : r->mode == ASSAY_DOWN ? -0.0 : 0.0;
    fast_sum_start(&s);
    fast_sum_add(&s, a);
    fast_sum_add(&s, b);
    return fast_sum_finish(&s, r);
}

static double soft_mul(double a, double b, const fast_rounding *r)
{
    fast_sum s;
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0)
        return a * b;
    fast_sum_start(&s);
    fast_sum_add_product(&s, a, b);
    return fast_sum_finish(&s, r);
}

static double soft_fma(double a, double b, double c, const fast_rounding *r)
{
    fast_sum s;
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0)
        return soft_add(a * b, c, r);
    fast_sum_start(&s);
    fast_sum_add_product(&s, a, b);
    fast_sum_add(&s, c);
    return fast_sum_finish(&s, r);
}

static double soft_div(double a, double b, const fast_rounding *r)
{
    int ea, eb;
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0)
        return a / b;
    fast_u128 numerator = take_apart(a, &ea);
    uint64_t denominator = take_apart(b, &eb);
    int up = 127 - length_of(numerator);
    numerator <<= up;
    fast_u128 quotient = numerator / denominator;
    return fast_round((signbit(a) != 0) != (signbit(b) != 0), quotient, ea - up - eb,
                      quotient * denominator != numerator, r);
}

static double soft_sqrt(double a, const fast_rounding *r)
{
    int e;
    if (!isfinite(a) || a <= 0)
        return sqrt(a);
    fast_u128 v = take_apart(a, &e);
    int up = 126 - length_of(v);
    up += (e - up) & 1; /* an even exponent */
    v <<= up;
    fast_u128 root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        fast_u128 next = root | (fast_u128)1 << bit;
        if (next * next <= v)
            root = next;
    }
    return fast_round(false, root, (e - up) / 2, root * root != v, r);
}

/* ---- as kernels ---- */

static fast_rounding rounding_of(const fast_args *g, int bits)
{
    fast_rounding r = {.precision = 24, .emin = -126, .emax = 127};
    if (bits == 64)
        r = (fast_rounding){.precision = 53, .emin = -1022, .emax = 1023};
    r.mode = (uint8_t)g->p->word[0];
    r.ftz = g->p->word[1] != 0;
    return r;
}

static double operand(double v, const fast_rounding *r)
{
    return r->ftz && fabs(v) < ldexp(1, r->emin) ? with_sign(0, signbit(v)) : v;
}

#define KERNEL(NAME, T, BITS, CALL)                                                                \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        T *d = g->d;                                                                               \
        const T *x = g->s[0], *y = g->s[1], *z = g->s[2];                                          \
        const fast_rounding r = rounding_of(g, BITS);                                              \
        for (int64_t i = 0; i < g->n; i++) {                                                       \
            double a = operand(x[i], &r), b = y ? operand(y[i], &r) : 0;                           \
            double c = z ? operand(z[i], &r) : 0;                                                  \
            (void)b, (void)c;                                                                      \
            d[i] = (T)CALL;                                                                        \
        }                                                                                          \
    }
KERNEL(fast_soft_add_32, fast_f32, 32, soft_add(a, b, &r))
KERNEL(fast_soft_sub_32, fast_f32, 32, soft_add(a, -b, &r))
KERNEL(fast_soft_mul_32, fast_f32, 32, soft_mul(a, b, &r))
KERNEL(fast_soft_div_32, fast_f32, 32, soft_div(a, b, &r))
KERNEL(fast_soft_fma_32, fast_f32, 32, soft_fma(a, b, c, &r))
KERNEL(fast_soft_sqrt_32, fast_f32, 32, soft_sqrt(a, &r))
KERNEL(fast_soft_add_64, fast_f64, 64, soft_add(a, b, &r))
KERNEL(fast_soft_sub_64, fast_f64, 64, soft_add(a, -b, &r))
KERNEL(fast_soft_mul_64, fast_f64, 64, soft_mul(a, b, &r))
KERNEL(fast_soft_div_64, fast_f64, 64, soft_div(a, b, &r))
KERNEL(fast_soft_fma_64, fast_f64, 64, soft_fma(a, b, c, &r))
KERNEL(fast_soft_sqrt_64, fast_f64, 64, soft_sqrt(a, &r))
