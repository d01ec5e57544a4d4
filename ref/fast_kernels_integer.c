/* Integer kernels: arithmetic modulo 2^width, masks, selections, Philox, coordinates. */
#include "fast_kernels.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

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
            d[i] = (D)(EXPR);                                                                      \
        }                                                                                          \
    }
#define BINARY(NAME, D, A, EXPR)                                                                   \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        D *restrict d = g->d;                                                                      \
        const A *restrict a_ = g->s[0], *restrict b_ = g->s[1];                                    \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            A a = a_[i], b = b_[i];                                                                \
            d[i] = (D)(EXPR);                                                                      \
        }                                                                                          \
    }
#define SELECT(NAME, T)                                                                            \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        T *restrict d = g->d;                                                                      \
        const fast_u32 *restrict c = g->s[0];                                                      \
        const T *restrict a = g->s[1], *restrict b = g->s[2];                                      \
        const int64_t n = g->n;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T yes = a[i], no = b[i];                                                               \
            d[i] = c[i] ? yes : no;                                                                \
        }                                                                                          \
    }

BINARY(IADD_32, fast_u32, fast_u32, a + b)
BINARY(IADD_64, fast_u64, fast_u64, a + b)
BINARY(ISUB_32, fast_u32, fast_u32, a - b)
BINARY(ISUB_64, fast_u64, fast_u64, a - b)
BINARY(IMUL_32, fast_u32, fast_u32, a *b)
BINARY(IMUL_64, fast_u64, fast_u64, a *b)
/* Truncating; by 0: 0; the one quotient that does not fit wraps. */
BINARY(IDIV_U32, fast_u32, fast_u32, b == 0 ? 0 : a / b)
BINARY(IMOD_U32, fast_u32, fast_u32, b == 0 ? 0 : a % b)
BINARY(IDIV_U64, fast_u64, fast_u64, b == 0 ? 0 : a / b)
BINARY(IMOD_U64, fast_u64, fast_u64, b == 0 ? 0 : a % b)
BINARY(IDIV_I32, fast_i32, fast_i32, b == 0 ? 0 : b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b)
BINARY(IMOD_I32, fast_i32, fast_i32, b == 0 || b == -1 ? 0 : a % b)
BINARY(AND_32, fast_u32, fast_u32, a &b)
BINARY(AND_64, fast_u64, fast_u64, a &b)
BINARY(OR_32, fast_u32, fast_u32, a | b)
BINARY(OR_64, fast_u64, fast_u64, a | b)
BINARY(XOR_32, fast_u32, fast_u32, a ^ b)
BINARY(XOR_64, fast_u64, fast_u64, a ^ b)
BINARY(AND_NOT_32, fast_u32, fast_u32, a & ~b)
/* A count of the width or more (a negative one is that) leaves 0, or the sign. */
BINARY(SHL_32, fast_u32, fast_u32, b > 31 ? 0 : a << (b & 31))
BINARY(SHL_64, fast_u64, fast_u64, b > 63 ? 0 : a << (b & 63))
BINARY(SHR_U32, fast_u32, fast_u32, b > 31 ? 0 : a >> (b & 31))
BINARY(SHR_U64, fast_u64, fast_u64, b > 63 ? 0 : a >> (b & 63))
BINARY(SHR_I32, fast_i32, fast_i32, a >> ((uint32_t)b > 31 ? 31 : b))
BINARY(MIN_U32, fast_u32, fast_u32, a < b ? a : b)
BINARY(MAX_U32, fast_u32, fast_u32, a > b ? a : b)
BINARY(MIN_I32, fast_i32, fast_i32, a < b ? a : b)
BINARY(MAX_I32, fast_i32, fast_i32, a > b ? a : b)
BINARY(MIN_U64, fast_u64, fast_u64, a < b ? a : b)
BINARY(MAX_U64, fast_u64, fast_u64, a > b ? a : b)
BINARY(MAX_U16, fast_u16, fast_u16, a > b ? a : b)
BINARY(EQ_32, fast_u32, fast_u32, a == b ? UINT32_MAX : 0)
BINARY(EQ_64, fast_u32, fast_u64, a == b ? UINT32_MAX : 0)
BINARY(LT_U32, fast_u32, fast_u32, a < b ? UINT32_MAX : 0)
BINARY(LT_I32, fast_u32, fast_i32, a < b ? UINT32_MAX : 0)
BINARY(LT_U64, fast_u32, fast_u64, a < b ? UINT32_MAX : 0)
BINARY(LE_U32, fast_u32, fast_u32, a <= b ? UINT32_MAX : 0)
BINARY(LE_I32, fast_u32, fast_i32, a <= b ? UINT32_MAX : 0)
BINARY(LE_U64, fast_u32, fast_u64, a <= b ? UINT32_MAX : 0)
SELECT(SELECT_8, fast_u8)
SELECT(SELECT_16, fast_u16)
SELECT(SELECT_32, fast_u32)
SELECT(SELECT_64, fast_u64)
UNARY(AND_WORD_8, fast_u8, fast_u8, a &(uint8_t)w0)
UNARY(AND_WORD_16, fast_u16, fast_u16, a &(uint16_t)w0)
UNARY(AND_WORD_32, fast_u32, fast_u32, a &(uint32_t)w0)
UNARY(AND_WORD_64, fast_u64, fast_u64, a &w0)
UNARY(XOR_WORD_16, fast_u16, fast_u16, a ^ (uint16_t)w0)
UNARY(XOR_WORD_32, fast_u32, fast_u32, a ^ (uint32_t)w0)
UNARY(XOR_WORD_64, fast_u64, fast_u64, a ^ w0)
UNARY(SHR_WORD_64, fast_u64, fast_u64, a >> (w0 & 63))
/* The sign bit of b on the rest of a. */
BINARY(COPYSIGN_16, fast_u16, fast_u16, (a & 0x7FFF) | (b & 0x8000))
BINARY(COPYSIGN_32, fast_u32, fast_u32, (a & 0x7FFFFFFF) | (b & 0x80000000))
BINARY(COPYSIGN_64, fast_u64, fast_u64, (a & INT64_MAX) | (b & ((uint64_t)1 << 63)))
/* Is any bit of w0 set? */
UNARY(TEST_16, fast_u32, fast_u16, a &(uint16_t)w0 ? UINT32_MAX : 0)
UNARY(TEST_32, fast_u32, fast_u32, a &(uint32_t)w0 ? UINT32_MAX : 0)
UNARY(TEST_64, fast_u32, fast_u64, a &w0 ? UINT32_MAX : 0)
UNARY(ZEXT_8_32, fast_u32, fast_u8, a)
UNARY(ZEXT_16_32, fast_u32, fast_u16, a)
UNARY(ZEXT_32_64, fast_u64, fast_u32, a)
UNARY(SEXT_32_64, fast_i64, fast_i32, a)
UNARY(TRUNC_64_32, fast_u32, fast_u64, a)
UNARY(TRUNC_32_16, fast_u16, fast_u32, a)
UNARY(TRUNC_32_8, fast_u8, fast_u32, a)
UNARY(MASK_TO_8, fast_u8, fast_u32, a & 1)
UNARY(BYTE_TO_MASK, fast_u32, fast_u8, a ? UINT32_MAX : 0)

/* ---- Philox4x32-10 (Salmon et al., 2011): key, counter low, counter high, which word ---- */

enum { PHILOX_ROUNDS = 10 };
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

static void philox_all(uint64_t key, uint64_t lo, uint64_t hi, uint32_t c[4])
{
    c[0] = (uint32_t)lo;
    c[1] = (uint32_t)(lo >> 32);
    c[2] = (uint32_t)hi;
    c[3] = (uint32_t)(hi >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int r = 0; r < PHILOX_ROUNDS; r++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c[0], p1 = (uint64_t)PHILOX_M1 * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
}

static uint32_t philox_one(uint64_t key, uint64_t lo, uint64_t hi, uint32_t word)
{
    uint32_t c[4];
    philox_all(key, lo, hi, c);
    return c[word & 3];
}

#ifdef __AVX2__
/* Four counters at once, each 32-bit word of the state in the low half of a 64-bit lane. Words may
 * carry rubbish in the high half: the multiplier ignores it, and the end cuts it off. */
static inline __m256i philox_four(__m256i key, __m256i lo, __m256i hi, __m256i word)
{
    const __m256i m0 = _mm256_set1_epi64x(PHILOX_M0), m1 = _mm256_set1_epi64x(PHILOX_M1);
    const __m256i w0 = _mm256_set1_epi32((int)PHILOX_W0), w1 = _mm256_set1_epi32((int)PHILOX_W1);
    __m256i c0 = lo, c1 = _mm256_srli_epi64(lo, 32), c2 = hi, c3 = _mm256_srli_epi64(hi, 32);
    __m256i k0 = key, k1 = _mm256_srli_epi64(key, 32);
    for (int r = 0; r < PHILOX_ROUNDS; r++) {
        __m256i p0 = _mm256_mul_epu32(m0, c0), p1 = _mm256_mul_epu32(m1, c2);
        c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1), k0);
        c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3), k1);
        c1 = p1;
        c3 = p0;
        k0 = _mm256_add_epi32(k0, w0);
        k1 = _mm256_add_epi32(k1, w1);
    }
    __m256i odd = _mm256_slli_epi64(word, 63), high = _mm256_slli_epi64(word, 62);
    __m256d low_pair = _mm256_blendv_pd(_mm256_castsi256_pd(c0), _mm256_castsi256_pd(c1),
                                        _mm256_castsi256_pd(odd));
    __m256d high_pair = _mm256_blendv_pd(_mm256_castsi256_pd(c2), _mm256_castsi256_pd(c3),
                                         _mm256_castsi256_pd(odd));
    return _mm256_castpd_si256(_mm256_blendv_pd(low_pair, high_pair, _mm256_castsi256_pd(high)));
}

static inline __m256i load4(const fast_u64 *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Four lanes equal to the first of them, in each of two vectors? */
static inline int all_equal(__m256i a, __m256i b, __m256i first)
{
    __m256i same = _mm256_and_si256(_mm256_cmpeq_epi64(a, first), _mm256_cmpeq_epi64(b, first));
    return _mm256_movemask_epi8(same) == -1;
}

/* Eight at a time. Neighbours often share key and counter and differ in the word alone: then one
 * call serves them, and the next eight too if theirs are the same. */
static int64_t philox_vectors(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u64 *restrict key = g->s[0], *restrict lo = g->s[1], *restrict hi = g->s[2];
    const fast_u32 *restrict word = g->s[3];
    const __m256i evens = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m256i four = _mm256_setzero_si256();
    int64_t i = 0, made = -1; /* four: the words for the counter at `made` */
    for (const int64_t n = g->n; i + 8 <= n; i += 8) {
        __m256i w = _mm256_loadu_si256((const __m256i *)(word + i));
        __m256i k0 = load4(key + i), k1 = load4(key + i + 4), l0 = load4(lo + i);
        __m256i l1 = load4(lo + i + 4), h0 = load4(hi + i), h1 = load4(hi + i + 4);
        if (all_equal(k0, k1, _mm256_set1_epi64x((int64_t)key[i])) &&
            all_equal(l0, l1, _mm256_set1_epi64x((int64_t)lo[i])) &&
            all_equal(h0, h1, _mm256_set1_epi64x((int64_t)hi[i]))) {
            if (made < 0 || key[made] != key[i] || lo[made] != lo[i] || hi[made] != hi[i]) {
                uint32_t c[4];
                philox_all(key[i], lo[i], hi[i], c);
                four = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)c));
                made = i;
            }
            w = _mm256_and_si256(w, _mm256_set1_epi32(3));
            _mm256_storeu_si256((__m256i *)(d + i), _mm256_permutevar8x32_epi32(four, w));
            continue;
        }
        __m256i a = philox_four(k0, l0, h0, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(w)));
        __m256i b = philox_four(k1, l1, h1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(w, 1)));
        a = _mm256_permutevar8x32_epi32(a, evens);
        b = _mm256_permutevar8x32_epi32(b, evens);
        _mm256_storeu_si256((__m256i *)(d + i), _mm256_blend_epi32(a, b, 0xF0));
    }
    return i;
}
#else
static int64_t philox_vectors(const fast_args *g)
{
    (void)g;
    return 0;
}
#endif

static void PHILOX(const fast_args *g)
{
    fast_u32 *restrict d = g->d;
    const fast_u64 *restrict key = g->s[0], *restrict lo = g->s[1], *restrict hi = g->s[2];
    const fast_u32 *restrict word = g->s[3];
    for (int64_t i = philox_vectors(g); i < g->n; i++)
        d[i] = philox_one(key[i], lo[i], hi[i], word[i]);
}

/* ---- coordinates of tiles in the whole grid ---- */

static void ROW_64(const fast_args *g)
{
    fast_u64 *restrict d = g->d;
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t j = 0; j < g->cols; j++)
            d[i * g->cols + j] = (uint64_t)(g->row0 + i);
}

static void COL_64(const fast_args *g)
{
    fast_u64 *restrict d = g->d;
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t j = 0; j < g->cols; j++)
            d[i * g->cols + j] = (uint64_t)(g->col0 + j);
}

const fast_kernel FAST_TABLE(integers)[] = {FAST_INTEGER(FAST_ENTRY)};
