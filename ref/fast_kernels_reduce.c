/* Kernels that look across lanes: spreading a coarse value, folding fine ones. */
#include "fast_kernels.h"

#include <math.h>
#include <string.h>

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Value (i, j) of d is value (i / down, j / across) of s. Runs of a multiple of 16 are written in
 * pieces of a length that the compiler knows. */
#define SPREAD(NAME, T)                                                                            \
    static void NAME##_runs(T *restrict d, const T *restrict s, int64_t cols, int64_t run)         \
    {                                                                                              \
        int64_t whole = run < cols ? cols / run : 0, t = 0;                                        \
        if (run % 16 == 0)                                                                         \
            for (; t < whole; t++)                                                                 \
                for (int64_t j = t * run; j < (t + 1) * run; j += 16)                              \
                    for (int k = 0; k < 16; k++)                                                   \
                        d[j + k] = s[t];                                                           \
        for (; run == 2 && t < whole; t++)                                                         \
            for (int k = 0; k < 2; k++)                                                            \
                d[2 * t + k] = s[t];                                                               \
        for (; run == 8 && t < whole; t++)                                                         \
            for (int k = 0; k < 8; k++)                                                            \
                d[8 * t + k] = s[t];                                                               \
        for (; t < whole; t++)                                                                     \
            for (int64_t j = t * run; j < (t + 1) * run; j++)                                      \
                d[j] = s[t];                                                                       \
        for (int64_t j = whole == 0 ? 0 : whole * run; j < cols; j++)                              \
            d[j] = s[whole];                                                                       \
    }                                                                                              \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        int64_t cols = g->cols, run = g->across;                                                   \
        for (int64_t i = 0; i < g->rows; i++) {                                                    \
            T *restrict d = (T *)g->d + i * cols;                                                  \
            const T *restrict s = (const T *)g->s[0] + i / g->down * g->source_cols;               \
            if (run == 1)                                                                          \
                for (int64_t j = 0; j < cols; j++)                                                 \
                    d[j] = s[j];                                                                   \
            else                                                                                   \
                NAME##_runs(d, s, cols, run);                                                      \
        }                                                                                          \
    }
SPREAD(SPREAD_8, fast_u8)
SPREAD(SPREAD_16, fast_u16)
SPREAD(SPREAD_32, fast_u32)
SPREAD(SPREAD_64, fast_u64)

/* Folds with an operation whose result does not depend on order. Tall tiles of width 1 run along
 * the row instead of down the tile. Whole runs of a row are halved, all tiles at once (neighbours
 * join) while their length is even; long runs, odd rests and partial tiles are folded one by one. */
enum { PIECE = 1024, LONG = 128 };

#define FOLD(NAME, T, INIT, MAP, OP)                                                               \
    static T NAME##_one(T acc, const T *restrict s, int64_t n, uint64_t w0)                        \
    {                                                                                              \
        (void)w0;                                                                                  \
        for (int64_t c = 0; c < n; c++) {                                                          \
            T v = s[c], m = (T)MAP(v);                                                             \
            acc = (T)OP(acc, m);                                                                   \
        }                                                                                          \
        return acc;                                                                                \
    }                                                                                              \
    static void NAME##_down(T *restrict d, const T *restrict s, int64_t n, uint64_t w0)            \
    {                                                                                              \
        (void)w0;                                                                                  \
        for (int64_t j = 0; j < n; j++) {                                                          \
            T acc = d[j], v = s[j], m = (T)MAP(v);                                                 \
            d[j] = (T)OP(acc, m);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_first_half(T *restrict d, const T *restrict s, int64_t n, uint64_t w0)      \
    {                                                                                              \
        (void)w0;                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T v = s[2 * i], w = s[2 * i + 1], a = (T)MAP(v), b = (T)MAP(w);                        \
            d[i] = (T)OP(a, b);                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_half(T *restrict d, const T *restrict s, int64_t n)                         \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T a = s[2 * i], b = s[2 * i + 1];                                                      \
            d[i] = (T)OP(a, b);                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_long(T *d, const T *restrict s, int64_t cols, int64_t width, int64_t run,   \
                            T init, uint64_t w0)                                                   \
    {                                                                                              \
        T side[LONG];                                                                              \
        for (int64_t j = 0; j < cols; j++) {                                                       \
            int64_t left = j * run, n = at_most(width - left, run), c = 0;                         \
            for (int k = 0; k < LONG; k++)                                                         \
                side[k] = init;                                                                    \
            for (; c + LONG <= n; c += LONG)                                                       \
                NAME##_down(side, s + left + c, LONG, w0);                                         \
            for (int k = 0; k < LONG; k++)                                                         \
                d[j] = (T)OP(d[j], side[k]);                                                       \
            d[j] = NAME##_one(d[j], s + left + c, n - c, w0);                                      \
        }                                                                                          \
    }                                                                                              \
    /* d[j] joined with the folds of `tiles` runs of an even length of at most PIECE. */           \
    static void NAME##_runs(T *restrict d, const T *restrict s, int64_t tiles, int64_t run,        \
                            uint64_t w0)                                                           \
    {                                                                                              \
        T even[PIECE / 2], odd[PIECE / 2], *from = even, *to = odd;                                \
        int64_t step = PIECE / run;                                                                \
        for (int64_t t = 0; t < tiles; t += step) {                                                \
            int64_t now = at_most(tiles - t, step), length = run / 2;                              \
            NAME##_first_half(from, s + t * run, now * length, w0);                                \
            while (length % 2 == 0) {                                                              \
                length /= 2;                                                                       \
                NAME##_half(to, from, now * length);                                               \
                T *swap = from;                                                                    \
                from = to;                                                                         \
                to = swap;                                                                         \
            }                                                                                      \
            for (int64_t j = 0; j < now; j++) {                                                    \
                T acc = d[t + j];                                                                  \
                for (int64_t c = 0; c < length; c++) {                                             \
                    T m = from[j * length + c];                                                    \
                    acc = (T)OP(acc, m);                                                           \
                }                                                                                  \
                d[t + j] = acc;                                                                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void NAME(const fast_args *g)                                                           \
    {                                                                                              \
        const uint64_t w0 = g->p->word[0];                                                         \
        const int64_t run = g->across, cols = g->cols, width = g->source_cols;                     \
        int64_t whole = run % 2 == 0 && run <= PIECE ? width / run : 0;                            \
        (void)w0;                                                                                  \
        for (int64_t i = 0; i < g->rows; i++) {                                                    \
            int64_t top = i * g->down, bottom = top + at_most(g->source_rows - top, g->down);      \
            T *restrict d = (T *)g->d + i * cols;                                                  \
            for (int64_t j = 0; j < cols; j++)                                                     \
                d[j] = (INIT);                                                                     \
            for (int64_t r = top; r < bottom; r++) {                                               \
                const T *restrict s = (const T *)g->s[0] + r * width;                              \
                if (run > PIECE && width >= 4 * LONG) { /* LONG folds side by side */              \
                    NAME##_long(d, s, cols, width, run, (INIT), w0);                               \
                    continue;                                                                      \
                }                                                                                  \
                if (run == 1) {                                                                    \
                    NAME##_down(d, s, cols, w0);                                                   \
                    continue;                                                                      \
                }                                                                                  \
                if (whole > 0)                                                                     \
                    NAME##_runs(d, s, whole, run, w0);                                             \
                for (int64_t j = whole; j < cols; j++)                                             \
                    d[j] = NAME##_one(d[j], s + j * run, at_most(width - j * run, run), w0);       \
            }                                                                                      \
        }                                                                                          \
    }

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define SAME(v) (v)

/* Magnitude bits as integers; a NaN counts as 0 (amax), or is the largest of all (amax_nan).
 * w0: the bits of infinity; for 16 bits that tells f16 from bf16. */
#define NUMBER_16(v) ((int16_t)((v) & 0x7FFF) > (int16_t)w0 ? 0 : ((v) & 0x7FFF))
#define NUMBER_32(v) ((int32_t)((v) & 0x7FFFFFFF) > 0x7F800000 ? 0 : ((v) & 0x7FFFFFFF))
#define NUMBER_64(v) (((v) & INT64_MAX) > 0x7FF0000000000000 ? 0 : ((v) & INT64_MAX))
#define MAGNITUDE_16(v) ((v) & 0x7FFF)
#define MAGNITUDE_32(v) ((v) & 0x7FFFFFFF)
#define MAGNITUDE_64(v) ((v) & INT64_MAX)
FOLD(AMAX_16, fast_u16, 0, NUMBER_16, LARGER)
FOLD(AMAX_32, fast_u32, 0, NUMBER_32, LARGER)
FOLD(AMAX_64, fast_u64, 0, NUMBER_64, LARGER)
FOLD(AMAX_NAN_16, fast_u16, 0, MAGNITUDE_16, LARGER)
FOLD(AMAX_NAN_32, fast_u32, 0, MAGNITUDE_32, LARGER)
FOLD(AMAX_NAN_64, fast_u64, 0, MAGNITUDE_64, LARGER)

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
FOLD(FOLD_MAX_F32, fast_u32, (uint32_t)w0, SAME, MAX_F32)
FOLD(FOLD_MIN_F32, fast_u32, (uint32_t)w0, SAME, MIN_F32)
FOLD(FOLD_MAX_F64, fast_u64, w0, SAME, MAX_F64)
FOLD(FOLD_MIN_F64, fast_u64, w0, SAME, MIN_F64)

/* Integers: w0 is where the fold starts (the least or the largest value of the type). */
FOLD(FOLD_MAX_U32, fast_u32, (uint32_t)w0, SAME, LARGER)
FOLD(FOLD_MIN_U32, fast_u32, (uint32_t)w0, SAME, SMALLER)
FOLD(FOLD_MAX_I32, fast_i32, (int32_t)w0, SAME, LARGER)
FOLD(FOLD_MIN_I32, fast_i32, (int32_t)w0, SAME, SMALLER)
FOLD(FOLD_MAX_U64, fast_u64, w0, SAME, LARGER)
FOLD(FOLD_MIN_U64, fast_u64, w0, SAME, SMALLER)

#define EITHER(a, b) ((a) | (b))
#define BOTH(a, b) ((a) & (b))
#define PLUS(a, b) ((a) + (b))
#define ONE(v) ((v) & 1)
FOLD(FOLD_ANY, fast_u32, 0, SAME, EITHER)
FOLD(FOLD_ALL, fast_u32, UINT32_MAX, SAME, BOTH)
FOLD(FOLD_COUNT, fast_u32, 0, ONE, PLUS)

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

/* ---- hadamard: runs of n = down x across elements, one of the two being 1 ---- */

enum { SIDE = 8, RUN_MAX = 32 }; /* runs side by side */

/* Are all sums of some of +-v exact in f64? They are if every v is a multiple of some 2^q and the sum
 * of magnitudes stays below 2^(q+53): adding and taking away 1.5 * 2^(q+52) shows the first. Here
 * total < 2^e, and sums round at 2^(e+2-53). Zeros alone: yes. */
static inline int sums_are_exact(const double *v, int64_t n, int64_t stride, double total)
{
    uint64_t bits;
    memcpy(&bits, &total, 8);
    if (total == 0)
        return 1;
    if (!(total < 0x1p200) || total < 0x1p-200)
        return 0;
    bits = ((bits >> 52) + 2) << 52 | (uint64_t)1 << 51; /* 1.5 * 2^(e+1) */
    double grid;
    memcpy(&grid, &bits, 8);
    int exact = 1;
    for (int64_t i = 0; i < n; i++)
        exact &= (v[i * stride] + grid) - grid == v[i * stride];
    return exact;
}

/* v[i][lane], n a power of two: all lanes at once, if their sums are exact; lanes that are not are
 * left to integers. A sum of zeros is -0 only if all its terms are: with 1 for +0 and -1 for -0, only
 * if it is -n. */
static void hadamard_lanes(double v[RUN_MAX][SIDE], int n, uint32_t mask)
{
    double total[SIDE] = {0}, slow[SIDE][RUN_MAX];
    int exact[SIDE];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDE; k++)
            total[k] += fabs(v[i][k]);
    for (int k = 0; k < SIDE; k++) {
        exact[k] = sums_are_exact(&v[0][k], n, SIDE, total[k]);
        for (int i = 0; !exact[k] && i < n; i++)
            slow[k][i] = v[i][k];
        if (!exact[k])
            fast_hadamard_run(slow[k], n, mask);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDE; k++) {
            double term = total[k] == 0 ? copysign(1, v[i][k]) : v[i][k];
            v[i][k] = mask >> i & 1 ? -term : term;
        }
    for (int step = 1; step < n; step *= 2)
        for (int i = 0; i < n; i += 2 * step)
            for (int j = i; j < i + step; j++)
                for (int k = 0; k < SIDE; k++) {
                    double a = v[j][k], b = v[j + step][k];
                    v[j][k] = a + b;
                    v[j + step][k] = a - b;
                }
    for (int k = 0; k < SIDE; k++)
        for (int i = 0; i < n; i++) /* an exact zero is +0, if some term was not zero */
            v[i][k] = !exact[k] ? slow[k][i] : total[k] != 0 ? v[i][k] + 0.0 : v[i][k] == -n ? -0.0 : 0;
}

/* The runs that start at (i, j) and, SIDE in all, to the right of it: whole ones. */
static void hadamard_runs(const fast_args *g, int64_t i, int64_t j, int64_t step, int64_t next, int n)
{
    double v[RUN_MAX][SIDE];
    const fast_f32 *s = (const fast_f32 *)g->s[0] + i * g->cols + j;
    fast_f32 *d = (fast_f32 *)g->d + i * g->cols + j;
    for (int t = 0; t < n; t++)
        for (int k = 0; k < SIDE; k++)
            v[t][k] = (double)s[t * step + k * next];
    hadamard_lanes(v, n, (uint32_t)g->p->word[0]);
    for (int t = 0; t < n; t++)
        for (int k = 0; k < SIDE; k++)
            d[t * step + k * next] = (float)v[t][k];
}

static void hadamard_alone(const fast_args *g, int64_t i, int64_t j, int64_t step, int n)
{
    double v[RUN_MAX];
    const fast_f32 *s = (const fast_f32 *)g->s[0] + i * g->cols + j;
    fast_f32 *d = (fast_f32 *)g->d + i * g->cols + j;
    for (int t = 0; t < n; t++)
        v[t] = (double)s[t * step];
    fast_hadamard_run(v, n, (uint32_t)g->p->word[0]);
    for (int t = 0; t < n; t++)
        d[t * step] = (float)v[t];
}

static void HADAMARD_32(const fast_args *g)
{
    int64_t step = g->across > 1 ? 1 : g->cols, next = g->across > 1 ? g->across : 1;
    int64_t length = g->down * g->across;
    for (int64_t i = 0; i < g->rows; i += g->down)
        for (int64_t j = 0; j < g->cols;) {
            int64_t n = g->across > 1 ? at_most(length, g->cols - j) : at_most(length, g->rows - i);
            if (n == length && j + SIDE * next <= g->cols) {
                hadamard_runs(g, i, j, step, next, (int)n);
                j += SIDE * next;
            } else {
                hadamard_alone(g, i, j, step, (int)n);
                j += next;
            }
        }
}

const fast_kernel FAST_TABLE(reductions)[] = {FAST_REDUCTIONS(FAST_ENTRY)};
