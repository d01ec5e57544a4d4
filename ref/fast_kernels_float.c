/* Float kernels: IEEE arithmetic in the lane's own format, one rounding a step. */
#include "fast_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must be done in float");

static inline uint32_t bits32(float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    return u;
}
static inline float float32(uint32_t u)
{
    float v;
    memcpy(&v, &u, 4);
    return v;
}
static inline double float64(uint64_t u)
{
    double v;
    memcpy(&v, &u, 8);
    return v;
}

#define UNARY(NAME, D, A, EXPR)                                                                    \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        D *restrict d = g->d;                                                                      \
        const A *restrict a_ = g->s[0];                                                            \
        const uint64_t w0 = g->p->word[0];                                                         \
        (void)w0;                                                                                  \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            A a = a_[i];                                                                           \
            d[i] = (EXPR);                                                                         \
        }                                                                                          \
    }
#define BINARY(NAME, D, A, B, EXPR)                                                                \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        D *restrict d = g->d;                                                                      \
        const A *restrict a_ = g->s[0];                                                            \
        const B *restrict b_ = g->s[1];                                                            \
        const uint64_t w0 = g->p->word[0];                                                         \
        (void)w0;                                                                                  \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            A a = a_[i];                                                                           \
            B b = b_[i];                                                                           \
            d[i] = (EXPR);                                                                         \
        }                                                                                          \
    }
#define TERNARY(NAME, T, EXPR)                                                                     \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        T *restrict d = g->d;                                                                      \
        const T *restrict a_ = g->s[0], *restrict b_ = g->s[1], *restrict c_ = g->s[2];            \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T a = a_[i], b = b_[i], c = c_[i];                                                     \
            d[i] = (EXPR);                                                                         \
        }                                                                                          \
    }

BINARY(ADD_32, fast_f32, fast_f32, fast_f32, a + b)
BINARY(ADD_64, fast_f64, fast_f64, fast_f64, a + b)
BINARY(SUB_32, fast_f32, fast_f32, fast_f32, a - b)
BINARY(SUB_64, fast_f64, fast_f64, fast_f64, a - b)
BINARY(MUL_32, fast_f32, fast_f32, fast_f32, a * b)
BINARY(MUL_64, fast_f64, fast_f64, fast_f64, a * b)
BINARY(DIV_32, fast_f32, fast_f32, fast_f32, a / b)
BINARY(DIV_64, fast_f64, fast_f64, fast_f64, a / b)
TERNARY(FMA_32, fast_f32, fmaf(a, b, c))
TERNARY(FMA_64, fast_f64, fma(a, b, c))
UNARY(SQRT_32, fast_f32, fast_f32, sqrtf(a))
UNARY(SQRT_64, fast_f64, fast_f64, sqrt(a))
UNARY(RINT_EVEN_32, fast_f32, fast_f32, rintf(a))
UNARY(RINT_EVEN_64, fast_f64, fast_f64, rint(a))
UNARY(RINT_AWAY_32, fast_f32, fast_f32, roundf(a))
UNARY(RINT_AWAY_64, fast_f64, fast_f64, round(a))
UNARY(RINT_ZERO_32, fast_f32, fast_f32, truncf(a))
UNARY(RINT_ZERO_64, fast_f64, fast_f64, trunc(a))
UNARY(RINT_UP_32, fast_f32, fast_f32, ceilf(a))
UNARY(RINT_UP_64, fast_f64, fast_f64, ceil(a))
UNARY(RINT_DOWN_32, fast_f32, fast_f32, floorf(a))
UNARY(RINT_DOWN_64, fast_f64, fast_f64, floor(a))

/* A number wins over a NaN, -0 < +0; two NaNs give the code in w0. */
static inline int32_t key32(uint32_t u)
{
    return (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) >> 1));
}
static inline int64_t key64(uint64_t u)
{
    return (int64_t)(u ^ ((uint64_t)((int64_t)u >> 63) >> 1));
}
static inline int nan32(uint32_t u)
{
    return (u & 0x7FFFFFFF) > 0x7F800000;
}
static inline int nan64(uint64_t u)
{
    return (u & INT64_MAX) > 0x7FF0000000000000;
}
static inline uint32_t pick32(uint32_t a, uint32_t b, int a_first, uint32_t nan)
{
    uint32_t r = a_first ? a : b;
    r = nan32(b) ? a : r;
    r = nan32(a) ? b : r;
    return nan32(r) ? nan : r;
}
static inline uint64_t pick64(uint64_t a, uint64_t b, int a_first, uint64_t nan)
{
    uint64_t r = a_first ? a : b;
    r = nan64(b) ? a : r;
    r = nan64(a) ? b : r;
    return nan64(r) ? nan : r;
}
BINARY(MIN_32, fast_u32, fast_u32, fast_u32, pick32(a, b, key32(a) < key32(b), (uint32_t)w0))
BINARY(MAX_32, fast_u32, fast_u32, fast_u32, pick32(a, b, key32(a) > key32(b), (uint32_t)w0))
BINARY(MIN_64, fast_u64, fast_u64, fast_u64, pick64(a, b, key64(a) < key64(b), w0))
BINARY(MAX_64, fast_u64, fast_u64, fast_u64, pick64(a, b, key64(a) > key64(b), w0))
/* With a constant that is neither a NaN nor (min) +0 nor (max) -0, the plain comparison says it all. */
UNARY(MIN_WORD_32, fast_f32, fast_f32, a < float32((uint32_t)w0) ? a : float32((uint32_t)w0))
UNARY(MAX_WORD_32, fast_f32, fast_f32, a > float32((uint32_t)w0) ? a : float32((uint32_t)w0))
TERNARY(CLAMP_32, fast_f32, a < b ? b : a > c ? c : a)
TERNARY(CLAMP_64, fast_f64, a < b ? b : a > c ? c : a)

UNARY(FLUSH_32, fast_u32, fast_u32, (a & 0x7F800000) == 0 ? a & 0x80000000 : a)
UNARY(FLUSH_64, fast_u64, fast_u64,
      (a & 0x7FF0000000000000) == 0 ? a & ((uint64_t)1 << 63) : a)
UNARY(CANON_32, fast_u32, fast_u32, nan32(a) ? (uint32_t)w0 : a)
UNARY(CANON_64, fast_u64, fast_u64, nan64(a) ? w0 : a)
UNARY(ISNAN_32, fast_u32, fast_u32, nan32(a) ? UINT32_MAX : 0)
UNARY(ISNAN_64, fast_u32, fast_u64, nan64(a) ? UINT32_MAX : 0)
UNARY(ISINF_32, fast_u32, fast_u32, (a & 0x7FFFFFFF) == 0x7F800000 ? UINT32_MAX : 0)
UNARY(ISINF_64, fast_u32, fast_u64, (a & INT64_MAX) == 0x7FF0000000000000 ? UINT32_MAX : 0)
BINARY(EQ_F32, fast_u32, fast_f32, fast_f32, a == b ? UINT32_MAX : 0)
BINARY(EQ_F64, fast_u32, fast_f64, fast_f64, a == b ? UINT32_MAX : 0)
BINARY(NE_F32, fast_u32, fast_f32, fast_f32, a != b ? UINT32_MAX : 0)
BINARY(NE_F64, fast_u32, fast_f64, fast_f64, a != b ? UINT32_MAX : 0)
BINARY(LT_F32, fast_u32, fast_f32, fast_f32, a < b ? UINT32_MAX : 0)
BINARY(LT_F64, fast_u32, fast_f64, fast_f64, a < b ? UINT32_MAX : 0)
BINARY(LE_F32, fast_u32, fast_f32, fast_f32, a <= b ? UINT32_MAX : 0)
BINARY(LE_F64, fast_u32, fast_f64, fast_f64, a <= b ? UINT32_MAX : 0)

/* floor(log2 |v|): 0 -> -1100; Inf, NaN -> 1024. A subnormal's fraction is an exact float itself. */
static inline int32_t exponent32(uint32_t u)
{
    uint32_t m = u & 0x7FFFFFFF;
    int32_t normal = (int32_t)(m >> 23) - 127;
    int32_t low = (int32_t)(bits32((float)(int32_t)(m & 0x7FFFFF)) >> 23) - 127 - 149;
    int32_t e = m < 0x800000 ? low : normal;
    e = m >= 0x7F800000 ? 1024 : e;
    return m == 0 ? -1100 : e;
}
static inline int32_t exponent64(uint64_t u)
{
    uint64_t m = u & INT64_MAX;
    if (m == 0)
        return -1100;
    if (m >= 0x7FF0000000000000)
        return 1024;
    if (m >> 52)
        return (int32_t)(m >> 52) - 1023;
    return 63 - __builtin_clzll(m) - 1074;
}
UNARY(EXPONENT_32, fast_i32, fast_u32, exponent32(a))
UNARY(EXPONENT_64, fast_i32, fast_u64, exponent64(a))

/* 2^i as a double, i clamped to what an f32 operand can make a difference with. */
static inline double power(int32_t i)
{
    i = i < -400 ? -400 : i > 400 ? 400 : i;
    return float64((uint64_t)(i + 1023) << 52);
}
BINARY(LDEXP_32, fast_f32, fast_f32, fast_i32, (float)((double)a * power(b)))
UNARY(POW2_32, fast_f32, fast_i32, (float)power(a))

/* With ftz: subnormal operands are zeros; a result whose 24-bit rounding with unbounded exponent
 * lies below 2^-126, that is one below 2^-126 - 2^-151, becomes zero. Products of two f32 are exact
 * in f64; a sum of f32 that is so small is exact in f32. */
static inline float operand_ftz(float v)
{
    uint32_t u = bits32(v);
    return float32((u & 0x7F800000) == 0 ? u & 0x80000000 : u);
}
static inline float mul_ftz(float a, float b)
{
    double exact = (double)operand_ftz(a) * (double)operand_ftz(b);
    float r = (float)exact;
    uint32_t u = bits32(r);
    return float32(fabs(exact) < 0x1p-126 - 0x1p-151 ? u & 0x80000000 : u);
}
BINARY(FTZ_MUL_32, fast_f32, fast_f32, fast_f32, mul_ftz(a, b))
BINARY(FTZ_ADD_32, fast_f32, fast_f32, fast_f32, operand_ftz(operand_ftz(a) + operand_ftz(b)))

/* Rounded to odd: toward zero, and the last bit set if anything was lost. A later rounding to 22 bits
 * or fewer, in any mode that draws no random bits, is as if made from the f64. */
static inline uint32_t odd_f32(double v)
{
    float nearest = (float)v;
    double back = (double)nearest;
    uint32_t u = bits32(nearest);
    uint32_t beyond = fabs(back) > fabs(v) ? 1u : 0u, inexact = back < v || back > v ? 1u : 0u;
    return (u - beyond) | inexact;
}
UNARY(F64_TO_ODD_F32, fast_u32, fast_f64, odd_f32(a))
UNARY(F32_TO_F64, fast_f64, fast_f32, (double)a)
UNARY(F64_TO_F32, fast_f32, fast_f64, (float)a)
/* Toward zero, saturating, NaN -> 0. */
UNARY(F32_TO_U32, fast_u32, fast_f32, a >= 0x1p32f ? UINT32_MAX : a > 0 ? (uint32_t)a : 0)
UNARY(F64_TO_U32, fast_u32, fast_f64, a >= 0x1p32 ? UINT32_MAX : a > 0 ? (uint32_t)a : 0)
UNARY(F32_TO_I32, fast_i32, fast_f32,
      a >= 0x1p31f ? INT32_MAX : a <= -0x1p31f ? INT32_MIN : a == a ? (int32_t)a : 0)
UNARY(F64_TO_I32, fast_i32, fast_f64,
      a >= 0x1p31 ? INT32_MAX : a <= -0x1p31 ? INT32_MIN : a == a ? (int32_t)a : 0)
UNARY(F32_TO_U64, fast_u64, fast_f32, a >= 0x1p64f ? UINT64_MAX : a > 0 ? (uint64_t)a : 0)
UNARY(F64_TO_U64, fast_u64, fast_f64, a >= 0x1p64 ? UINT64_MAX : a > 0 ? (uint64_t)a : 0)
UNARY(U32_TO_F32, fast_f32, fast_u32, (float)a)
UNARY(I32_TO_F32, fast_f32, fast_i32, (float)a)
UNARY(U64_TO_F32, fast_f32, fast_u64, (float)a)
UNARY(U32_TO_F64, fast_f64, fast_u32, (double)a)
UNARY(I32_TO_F64, fast_f64, fast_i32, (double)a)
UNARY(U64_TO_F64, fast_f64, fast_u64, (double)a)

/* a times b[run]: d is rows x cols, b has one factor for each run of `across` values of a row. Runs
 * of a multiple of 8 go in pieces of a length that the compiler knows. */
static void mul_runs(fast_f32 *restrict d, const fast_f32 *restrict a, const fast_f32 *restrict b,
                     int64_t cols, int64_t run)
{
    int64_t whole = cols / run;
    for (int64_t t = 0; t < whole; t++) {
        float f = b[t];
        for (int64_t j = t * run; j < (t + 1) * run; j += 8)
            for (int k = 0; k < 8; k++)
                d[j + k] = a[j + k] * f;
    }
    for (int64_t j = whole * run; j < cols; j++)
        d[j] = a[j] * b[whole];
}

static void MUL_RUNS_32(const fast_args *g)
{
    for (int64_t i = 0; i < g->rows; i++)
        mul_runs((fast_f32 *)g->d + i * g->cols, (const fast_f32 *)g->s[0] + i * g->cols,
                 (const fast_f32 *)g->s[1] + i / g->down * g->source_cols, g->cols, g->across);
}

/* ---- exp and log2 of f32, correctly rounded ----
 *
 * A f64 approximation with a relative error far below 2^-48. Where both ends of an interval of that
 * width round to the same f32, that is the result; the rest, and arguments outside the range of the
 * formula, go to a scalar function. */

enum { FUNCTION_PIECE = 256 };

/* exp(x) = 2^k exp(r), |r| <= ln(2)/2, by the exponential series to r^13/13! (next term < 2^-57). */
static inline double exp_series(uint32_t u)
{
    double x = (double)float32(u);
    const double shift = 0x1.8p52;
    double t = x * 0x1.71547652b82fep0 + shift, k = t - shift; /* k = x / ln 2 to nearest */
    double r = (x - k * 0x1.62e42fep-1) - k * 0x1.f473de6af278fp-30;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits;
    memcpy(&bits, &t, 8);
    return p * float64((bits + 1023) << 52); /* the low bits of t are k */
}

/* log2(x) = k + log2(m), m in [1/sqrt 2, sqrt 2): log(m) = 2 (s + s^3/3 + s^5/5 ...) with
 * s = (m - 1) / (m + 1), |s| < 0.172, to s^23/23 (next term < 2^-62 of it). x normal, positive. */
static inline double log2_series(uint32_t u)
{
    int32_t k = (int32_t)(u - 0x3F3504F3) >> 23;
    double m = (double)float32(u - ((uint32_t)k << 23));
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 23;
    p = p * z + 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return (double)k + (s + s * (z * p)) * 0x1.71547652b82fep1; /* 2 / ln 2 */
}

/* OUTSIDE(u): not 0 for the bits of an argument to which the series does not apply. */
#define FUNCTION(NAME, OUTSIDE, SERIES, ONE)                                                       \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        for (int64_t start = 0; start < g->n; start += FUNCTION_PIECE) {                           \
            int64_t n = g->n - start < FUNCTION_PIECE ? g->n - start : FUNCTION_PIECE;             \
            fast_f32 *restrict d = (fast_f32 *)g->d + start;                                       \
            const fast_f32 *restrict a = (const fast_f32 *)g->s[0] + start;                        \
            uint32_t open[FUNCTION_PIECE], any = 0;                                                \
            for (int64_t i = 0; i < n; i++) {                                                      \
                uint32_t u = bits32(a[i]);                                                         \
                double y = SERIES(u), margin = fabs(y) * 0x1p-48;                                  \
                float low = (float)(y - margin), high = (float)(y + margin);                       \
                d[i] = low;                                                                        \
                open[i] = (bits32(low) ^ bits32(high)) | OUTSIDE(u);                               \
                any |= open[i];                                                                    \
            }                                                                                      \
            for (int64_t i = 0; any && i < n; i++)                                                 \
                if (open[i])                                                                       \
                    d[i] = ONE(a[i]);                                                              \
        }                                                                                          \
    }
#define BEYOND_100(u) ((0x42C80000 - ((u) & 0x7FFFFFFF)) >> 31)
#define NOT_NORMAL(u) ((((u) - 0x800000) | (0x7EFFFFFF - ((u) - 0x800000))) >> 31)
FUNCTION(EXP_32, BEYOND_100, exp_series, fast_exp_one)
FUNCTION(LOG2_32, NOT_NORMAL, log2_series, fast_log2_one)

const fast_kernel FAST_TABLE(floats)[] = {FAST_FLOAT(FAST_ENTRY)};
