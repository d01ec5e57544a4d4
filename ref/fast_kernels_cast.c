/* Casts from f32 to formats of at most 22 fraction bits, and decodes to f32. Integer arithmetic on
 * the code; the one float addition (the magic number) rounds a small value to the target's
 * subnormal grid, in the hardware's nearest-even mode. */
#include "fast_kernels.h"

#include <math.h>
#include <string.h>

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

/* From the magnitude code (as if unbounded) to the code: range, flush, sign, NaN. */
static inline uint32_t finish(uint32_t code, uint32_t u, const fast_cast *p)
{
    uint32_t magnitude = u & 0x7FFFFFFF;
    uint32_t negative = (uint32_t)((int32_t)u >> 31);
    uint32_t over = p->over[0] ^ ((p->over[0] ^ p->over[1]) & negative);
    code = code > p->max ? over : code;
    code = magnitude == 0x7F800000 ? p->infinity : code;
    code = code < p->flush_below ? 0 : code;
    code |= (code == 0 ? p->zero_sign : p->sign) & negative;
    uint32_t nan = p->nan | (p->nan_sign & negative);
    return magnitude > 0x7F800000 ? nan : code;
}

/* Nearest, ties to the even code. Normal: add just under half, and the code's last bit. */
static inline uint32_t even(uint32_t u, const fast_cast *p)
{
    uint32_t magnitude = u & 0x7FFFFFFF;
    uint32_t last = ((magnitude >> p->drop) - p->rebias) & 1;
    uint32_t normal = ((magnitude + (1u << (p->drop - 1)) - 1 + last) >> p->drop) - p->rebias;
    uint32_t low = bits32(float32(magnitude) + float32(p->magic)) - p->magic;
    return finish(magnitude < p->least_normal ? low : normal, u, p);
}

/* The same where every overflow gives the code p->infinity, which is max or the next one, zeros keep
 * their sign if values do, nothing is flushed, and rebias is even. */
static inline uint32_t even_limit(uint32_t u, const fast_cast *p)
{
    int32_t magnitude = (int32_t)(u & 0x7FFFFFFF);
    uint32_t last = ((uint32_t)magnitude >> p->drop) & 1;
    uint32_t offset = (1u << (p->drop - 1)) - 1 - (p->rebias << p->drop);
    uint32_t normal = ((uint32_t)magnitude + offset + last) >> p->drop;
    uint32_t low = bits32(float32((uint32_t)magnitude) + float32(p->magic)) - p->magic;
    uint32_t code = magnitude < (int32_t)p->least_normal ? low : normal;
    code = code < p->infinity ? code : p->infinity;
    uint32_t negative = (uint32_t)((int32_t)u >> 31);
    code |= p->sign & negative;
    uint32_t nan = p->nan | (p->nan_sign & negative);
    return magnitude > 0x7F800000 ? nan : code;
}

/* Nearest, ties away (beyond 0) or toward zero (beyond 1), under the conditions of even_limit. Below
 * the least normal the value is counted in units of the least positive one (times p->magic, exactly)
 * and cut; what is cut off decides. */
static inline uint32_t nearest_limit(uint32_t u, const fast_cast *p, uint32_t beyond)
{
    uint32_t magnitude = u & 0x7FFFFFFF;
    uint32_t below = (uint32_t)((int32_t)(magnitude - p->least_normal) >> 31); /* all ones, or 0 */
    uint32_t offset = (1u << (p->drop - 1)) - beyond - (p->rebias << p->drop);
    uint32_t normal = (magnitude + offset) >> p->drop;
    float units = float32(magnitude & below) * float32(p->magic);
    int32_t kept = (int32_t)units;
    uint32_t rest = bits32(units - (float)kept); /* as bits: not negative, so in order */
    uint32_t low = (uint32_t)kept + ((0x3EFFFFFF + beyond - rest) >> 31);
    uint32_t code = (low & below) | (normal & ~below);
    code = code < p->infinity ? code : p->infinity;
    uint32_t negative = (uint32_t)((int32_t)u >> 31);
    code |= p->sign & negative;
    uint32_t nan = p->nan | (p->nan_sign & negative);
    uint32_t is_nan = (uint32_t)((int32_t)(0x7F800000 - magnitude) >> 31);
    return (nan & is_nan) | (code & ~is_nan);
}

/* |u| cut at the target's grid: `code` of the neighbour below in magnitude, `rest` = discarded bits,
 * worth rest / 2^shift of the gap. */
typedef struct {
    uint32_t code, rest, shift;
} cut;

static inline cut cut_magnitude(uint32_t u, const fast_cast *p)
{
    uint32_t field = (u >> 23) & 0xFF;
    uint32_t significand = (u & 0x7FFFFF) | (field != 0 ? 0x800000 : 0);
    uint32_t e = field != 0 ? field : 1;
    uint32_t at = e > p->emin ? e : p->emin;
    uint32_t shift = p->drop + (at - e);
    uint32_t by = shift < 31 ? shift : 31; /* 24 bits: from 31 on all is discarded */
    uint32_t kept = significand >> by;
    return (cut){kept + ((at - p->emin) << p->fraction_bits), significand - (kept << by), shift};
}

/* Any deterministic mode: up in magnitude iff rest > threshold. */
static inline uint32_t mode(uint32_t u, const fast_cast *p)
{
    cut c = cut_magnitude(u, p);
    uint32_t by = c.shift < 31 ? c.shift : 31;
    uint32_t negative = (uint32_t)((int32_t)u >> 31);
    uint32_t threshold = p->threshold[0] ^ ((p->threshold[0] ^ p->threshold[1]) & negative);
    threshold += ((1u << (by - 1)) & p->half_mask) - (c.code & p->even_mask) +
                 ((c.code << 31) & p->odd_mask);
    return finish(c.code + (c.rest > threshold), u, p);
}

/* t = floor(rest / 2^shift * 2^n); up iff (r mod 2^n) + t >= 2^n. */
static inline uint32_t stochastic(uint32_t u, uint32_t r, const fast_cast *p)
{
    cut c = cut_magnitude(u, p);
    uint32_t n = p->random_bits, mask = 0xFFFFFFFF >> (32 - n);
    uint32_t right = c.shift > n ? c.shift - n : 0, left = c.shift < n ? n - c.shift : 0;
    uint32_t t = (c.rest >> (right < 31 ? right : 31)) << (left < 31 ? left : 31);
    return finish(c.code + ((r & mask) > mask - t), u, p);
}

#define CAST(NAME, D, CODE)                                                                        \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        D *restrict d = g->d;                                                                      \
        const fast_u32 *restrict a = g->s[0];                                                      \
        const fast_cast p = g->p->cast;                                                            \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            d[i] = (D)(CODE);                                                                      \
    }
#define CAST_RANDOM(NAME, D)                                                                       \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        D *restrict d = g->d;                                                                      \
        const fast_u32 *restrict a = g->s[0], *restrict r = g->s[1];                               \
        const fast_cast p = g->p->cast;                                                            \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            d[i] = (D)stochastic(a[i], r[i], &p);                                                  \
    }
CAST(EVEN_8, fast_u8, even(a[i], &p))
CAST(EVEN_16, fast_u16, even(a[i], &p))
CAST(EVEN_32, fast_u32, even(a[i], &p))
CAST(LIMIT_8, fast_u8, even_limit(a[i], &p))
CAST(LIMIT_16, fast_u16, even_limit(a[i], &p))
CAST(LIMIT_32, fast_u32, even_limit(a[i], &p))
CAST(AWAY_8, fast_u8, nearest_limit(a[i], &p, 0))
CAST(TIES_ZERO_8, fast_u8, nearest_limit(a[i], &p, 1))
CAST(MODE_8, fast_u8, mode(a[i], &p))
CAST(MODE_16, fast_u16, mode(a[i], &p))
CAST(MODE_32, fast_u32, mode(a[i], &p))
CAST_RANDOM(STOCHASTIC_8, fast_u8)
CAST_RANDOM(STOCHASTIC_16, fast_u16)
CAST_RANDOM(STOCHASTIC_32, fast_u32)

/* e8m0, all modes but stochastic: p->magic is added to the fraction of a normal f32, and below
 * 2^-126 the code is 1 from p->least_normal on (there code 0 stands for 2^-127 and all below). */
static void POWER_8(const fast_args *g)
{
    fast_u8 *restrict d = g->d;
    const fast_u32 *restrict a = g->s[0];
    const fast_cast p = g->p->cast;
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++) {
        uint32_t m = a[i] & 0x7FFFFFFF;
        uint32_t code = m < 0x800000 ? (m >= p.least_normal ? 1 : 0) : (m + p.magic) >> 23;
        code = code > p.max ? p.over[0] : code;
        code = m == 0x7F800000 ? p.infinity : code;
        d[i] = (uint8_t)(m > 0x7F800000 ? p.nan : code);
    }
}

/* Two's complement, nearest-even, saturating: p->magic is the bits of the power of two that the value
 * is multiplied by (exactly), p->max the largest code, p->sign its width as a bit. */
static void INTEGER_8(const fast_args *g)
{
    fast_u8 *restrict d = g->d;
    const fast_u32 *restrict a = g->s[0];
    const fast_cast p = g->p->cast;
    const float most = (float)p.max, least = -most - 1, unit = float32(p.magic);
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++) {
        float v = float32(a[i]) * unit;
        v = v > most ? most : v;
        v = v > least ? v : least; /* a NaN too: replaced below */
        uint32_t code = (uint32_t)(int32_t)rintf(v) & (2 * p.sign - 1);
        d[i] = (uint8_t)((a[i] & 0x7FFFFFFF) > 0x7F800000 ? p.nan : code);
    }
}

static void BF16_TO_F32(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u16 *restrict a = g->s[0];
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++)
        d[i] = (uint32_t)a[i] << 16;
}

static void TF32_TO_F32(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u32 *restrict a = g->s[0];
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++)
        d[i] = a[i] << 13;
}

/* The f16 fields moved into place are the value times 2^-112; the product restores it exactly,
 * subnormals too. */
static void F16_TO_F32(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u16 *restrict a = g->s[0];
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++) {
        uint32_t m = a[i] & 0x7FFFu;
        uint32_t finite = bits32(float32(m << 13) * 0x1p112f);
        uint32_t special = 0x7F800000 | m << 13;
        d[i] = (m >= 0x7C00 ? special : finite) | (uint32_t)(a[i] & 0x8000) << 16;
    }
}

/* By table: word[0] holds its address. */
static void TABLE_8(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u8 *restrict a = g->s[0];
    const uint32_t *restrict table = (const uint32_t *)(uintptr_t)g->p->word[0];
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++)
        d[i] = table[a[i]];
}

static void TABLE_16(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u16 *restrict a = g->s[0];
    const uint32_t *restrict table = (const uint32_t *)(uintptr_t)g->p->word[0];
    const int64_t n = g->n;
    for (int64_t i = 0; i < n; i++)
        d[i] = table[a[i] & 0xFFF];
}

const fast_kernel FAST_TABLE(casts)[] = {FAST_CASTS(FAST_ENTRY)};
