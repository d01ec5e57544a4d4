/* Kernels that look across lanes: spreading a coarse value, folding fine ones. */
#include "fast_kernels.h"

#include <math.h>

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Value (i, j) of d is value (i / down, j / across) of s. */
#define SPREAD(NAME, T)                                                                            \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        int64_t cols = g->cols, run = g->across;                                                   \
        for (int64_t i = 0; i < g->rows; i++) {                                                    \
            T *restrict d = (T *)g->d + i * cols;                                                  \
            const T *restrict s = (const T *)g->s[0] + i / g->down * g->source_cols;               \
            if (run == 1) {                                                                        \
                for (int64_t j = 0; j < cols; j++)                                                 \
                    d[j] = s[j];                                                                   \
                continue;                                                                          \
            }                                                                                      \
            for (int64_t t = 0, j = 0; j < cols; t++)                                              \
                for (int64_t end = at_most(cols - j, run) + j; j < end; j++)                       \
                    d[j] = s[t];                                                                   \
        }                                                                                          \
    }
SPREAD(SPREAD_8, fast_u8)
SPREAD(SPREAD_16, fast_u16)
SPREAD(SPREAD_32, fast_u32)
SPREAD(SPREAD_64, fast_u64)

/* Folds with an operation whose result does not depend on order. Tall tiles of width 1 run along
 * the row instead of down the tile. */
#define FOLD(NAME, D, T, INIT, MAP, OP)                                                            \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        const uint64_t w0 = g->p->word[0];                                                         \
        (void)w0;                                                                                  \
        for (int64_t i = 0; i < g->rows; i++) {                                                    \
            int64_t top = i * g->down, bottom = top + at_most(g->source_rows - top, g->down);      \
            D *restrict d = (D *)g->d + i * g->cols;                                               \
            for (int64_t j = 0; j < g->cols; j++)                                                  \
                d[j] = (INIT);                                                                     \
            for (int64_t r = top; r < bottom; r++) {                                               \
                const T *restrict s = (const T *)g->s[0] + r * g->source_cols;                     \
                if (g->across == 1) {                                                              \
                    for (int64_t j = 0; j < g->cols; j++) {                                        \
                        D acc = d[j];                                                              \
                        T v = s[j];                                                                \
                        d[j] = (D)OP(acc, MAP(v));                                                 \
                    }                                                                              \
                    continue;                                                                      \
                }                                                                                  \
                for (int64_t j = 0; j < g->cols; j++) {                                            \
                    int64_t left = j * g->across;                                                  \
                    int64_t right = left + at_most(g->source_cols - left, g->across);              \
                    D acc = d[j];                                                                  \
                    for (int64_t c = left; c < right; c++) {                                       \
                        T v = s[c];                                                                \
                        acc = (D)OP(acc, MAP(v));                                                  \
                    }                                                                              \
                    d[j] = acc;                                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define SAME(v) (v)

/* Magnitude bits as integers; a NaN counts as 0 (amax), or is the largest of all (amax_nan).
 * w0: the bits of infinity; for 16 bits that tells f16 from bf16. */
#define NUMBER_16(v) (((v) & 0x7FFF) > (uint16_t)w0 ? 0 : ((v) & 0x7FFF))
#define NUMBER_32(v) (((v) & 0x7FFFFFFF) > 0x7F800000 ? 0 : ((v) & 0x7FFFFFFF))
#define NUMBER_64(v) (((v) & INT64_MAX) > 0x7FF0000000000000 ? 0 : ((v) & INT64_MAX))
#define MAGNITUDE_16(v) ((v) & 0x7FFF)
#define MAGNITUDE_32(v) ((v) & 0x7FFFFFFF)
#define MAGNITUDE_64(v) ((v) & INT64_MAX)
FOLD(AMAX_16, fast_u16, fast_u16, 0, NUMBER_16, LARGER)
FOLD(AMAX_32, fast_u32, fast_u32, 0, NUMBER_32, LARGER)
FOLD(AMAX_64, fast_u64, fast_u64, 0, NUMBER_64, LARGER)
FOLD(AMAX_NAN_16, fast_u16, fast_u16, 0, MAGNITUDE_16, LARGER)
FOLD(AMAX_NAN_32, fast_u32, fast_u32, 0, MAGNITUDE_32, LARGER)
FOLD(AMAX_NAN_64, fast_u64, fast_u64, 0, MAGNITUDE_64, LARGER)

/* min, max of floats: order of sign and magnitude as integers; starts from the NaN in w0, which
 * loses to every number and is the answer if there is none. */
static inline int32_t key32(uint32_t u)
{
    return (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) >> 1));
}
static inline int64_t key64(uint64_t u)
{
    return (int64_t)(u ^ ((uint64_t)((int64_t)u >> 63) >> 1));
}
#define NAN_32(u) (((u) & 0x7FFFFFFF) > 0x7F800000)
#define NAN_64(u) (((u) & INT64_MAX) > 0x7FF0000000000000)
#define MAX_F32(a, v) (NAN_32(v) ? (a) : NAN_32(a) || key32(v) > key32(a) ? (v) : (a))
#define MIN_F32(a, v) (NAN_32(v) ? (a) : NAN_32(a) || key32(v) < key32(a) ? (v) : (a))
#define MAX_F64(a, v) (NAN_64(v) ? (a) : NAN_64(a) || key64(v) > key64(a) ? (v) : (a))
#define MIN_F64(a, v) (NAN_64(v) ? (a) : NAN_64(a) || key64(v) < key64(a) ? (v) : (a))
FOLD(FOLD_MAX_F32, fast_u32, fast_u32, (uint32_t)w0, SAME, MAX_F32)
FOLD(FOLD_MIN_F32, fast_u32, fast_u32, (uint32_t)w0, SAME, MIN_F32)
FOLD(FOLD_MAX_F64, fast_u64, fast_u64, w0, SAME, MAX_F64)
FOLD(FOLD_MIN_F64, fast_u64, fast_u64, w0, SAME, MIN_F64)

/* Integers: w0 is where the fold starts (the least or the largest value of the type). */
FOLD(FOLD_MAX_U32, fast_u32, fast_u32, (uint32_t)w0, SAME, LARGER)
FOLD(FOLD_MIN_U32, fast_u32, fast_u32, (uint32_t)w0, SAME, SMALLER)
FOLD(FOLD_MAX_I32, fast_i32, fast_i32, (int32_t)w0, SAME, LARGER)
FOLD(FOLD_MIN_I32, fast_i32, fast_i32, (int32_t)w0, SAME, SMALLER)
FOLD(FOLD_MAX_U64, fast_u64, fast_u64, w0, SAME, LARGER)
FOLD(FOLD_MIN_U64, fast_u64, fast_u64, w0, SAME, SMALLER)

#define EITHER(a, b) ((a) | (b))
#define BOTH(a, b) ((a) & (b))
#define PLUS(a, b) ((a) + (b))
#define ONE(v) ((v) & 1)
FOLD(FOLD_ANY, fast_u32, fast_u32, 0, SAME, EITHER)
FOLD(FOLD_ALL, fast_u32, fast_u32, UINT32_MAX, SAME, BOTH)
FOLD(FOLD_COUNT, fast_u32, fast_u32, 0, ONE, PLUS)

/* Sums in row-major order from +0, each step rounded in the lane's format: the columns' tiles of one
 * row of tiles are independent, so the loop over them is the inner one. */
#define SUM(NAME, T, STEP)                                                                         \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        for (int64_t i = 0; i < g->rows; i++) {                                                    \
            int64_t top = i * g->down, bottom = top + at_most(g->source_rows - top, g->down);      \
            T *restrict d = (T *)g->d + i * g->cols;                                               \
            for (int64_t j = 0; j < g->cols; j++) {                                                \
                int64_t left = j * g->across;                                                      \
                int64_t right = left + at_most(g->source_cols - left, g->across);                  \
                T acc = 0;                                                                         \
                for (int64_t r = top; r < bottom; r++) {                                           \
                    const T *restrict a = (const T *)g->s[0] + r * g->source_cols;                 \
                    const T *restrict b = (const T *)g->s[1] + r * g->source_cols;                 \
                    for (int64_t c = left; c < right; c++)                                         \
                        acc = STEP;                                                                \
                }                                                                                  \
                d[j] = acc;                                                                        \
            }                                                                                      \
        }                                                                                          \
    }
SUM(FOLD_SEQ_32, fast_f32, ((void)b, acc + a[c]))
SUM(FOLD_SEQ_64, fast_f64, ((void)b, acc + a[c]))
SUM(FOLD_DOT_32, fast_f32, fmaf(a[c], b[c], acc))
SUM(FOLD_DOT_64, fast_f64, fma(a[c], b[c], acc))

const fast_kernel FAST_TABLE(reductions)[] = {FAST_REDUCTIONS(FAST_ENTRY)};
