/* Sums whose order is a tree, and exact ones: one tile at a time. The sequential order is a kernel
 * of its own (fast_kernels_reduce.c). Hadamard and rotation: exact sums along a run of elements. */
#include "recipe_fast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part of the source grid that belongs to tile (i, j) of d. */
typedef struct {
    int64_t top, bottom, left, right;
} part;

static part part_of(const fast_args *g, int64_t i, int64_t j)
{
    int64_t top = i * g->down, left = j * g->across;
    return (part){top, top + at_most(g->source_rows - top, g->down), left,
                  left + at_most(g->source_cols - left, g->across)};
}

/* `tree` joins v[i] and v[i + n/2], `pairs` v[2i] and v[2i+1], until one is left; n is the count up
 * to a power of two, filled with -0. In place. */
#define SUM(NAME, T, FIRST, SECOND)                                                                \
    static T NAME##_of(T *v, int64_t count)                                                        \
    {                                                                                              \
        int64_t n = 1;                                                                             \
        while (n < count)                                                                          \
            n *= 2;                                                                                \
        for (int64_t i = count; i < n; i++)                                                        \
            v[i] = -(T)0;                                                                          \
        for (int64_t half = n / 2; half >= 1; half /= 2)                                           \
            for (int64_t i = 0; i < half; i++)                                                     \
                v[i] = v[FIRST] + v[SECOND];                                                       \
        return count ? v[0] : 0;                                                                   \
    }                                                                                              \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        T *d = g->d;                                                                               \
        const T *s = g->s[0];                                                                      \
        int64_t largest = at_most(g->down, g->source_rows) * at_most(g->across, g->source_cols);   \
        T small[256], *v = largest > 128 ? malloc(2 * (size_t)largest * sizeof *v) : small;        \
        if (!v)                                                                                    \
            abort();                                                                               \
        for (int64_t i = 0; i < g->rows; i++)                                                      \
            for (int64_t j = 0; j < g->cols; j++) {                                                \
                part p = part_of(g, i, j);                                                         \
                int64_t n = 0;                                                                     \
                for (int64_t r = p.top; r < p.bottom; r++)                                         \
                    for (int64_t c = p.left; c < p.right; c++)                                     \
                        v[n++] = s[r * g->source_cols + c];                                        \
                d[i * g->cols + j] = NAME##_of(v, n);                                              \
            }                                                                                      \
        if (v != small)                                                                            \
            free(v);                                                                               \
    }
SUM(fast_sum_tree_32, fast_f32, i, i + half)
SUM(fast_sum_tree_64, fast_f64, i, i + half)
SUM(fast_sum_pairs_32, fast_f32, 2 * i, 2 * i + 1)
SUM(fast_sum_pairs_64, fast_f64, 2 * i, 2 * i + 1)

static const fast_rounding to_f32 = {.precision = 24, .emin = -126, .emax = 127};
static const fast_rounding to_f64 = {.precision = 53, .emin = -1022, .emax = 1023};

/* The exact sum in f64 arithmetic, where that makes no rounding: if every term is a multiple of some
 * 2^q and the magnitudes add up to less than 2^(q+53), no partial sum rounds. Adding and taking away
 * 1.5 * 2^(q+52) shows the first; `total` (of magnitudes, itself rounded) has a bit to spare. */
static double grid_of(double total)
{
    if (!(total > 0x1p-200 && total < 0x1p200))
        return 0; /* zeros, for their sign; infinities and NaN; extremes */
    uint64_t bits;
    memcpy(&bits, &total, 8);
    bits = ((bits >> 52) + 2) << 52 | (uint64_t)1 << 51;
    memcpy(&total, &bits, 8);
    return total;
}

static void add_exactly(fast_sum *sum, double a, double b)
{
    (void)b;
    fast_sum_add(sum, a);
}

/* TERM: a[at] or a[at] * b[at] as f64, exact; only where EASY, for then it is. */
#define EXACT(NAME, T, ROUNDING, EASY, TERM, ADD)                                                  \
    static double NAME##_of(const T *a, const T *b, const part *p, int64_t cols)                   \
    {                                                                                              \
        double total = 0, easy = 0;                                                                \
        bool fits = EASY;                                                                          \
        for (int64_t r = p->top; fits && r < p->bottom; r++)                                       \
            for (int64_t at = r * cols + p->left; at < r * cols + p->right; at++)                  \
                total += fabs(TERM);                                                               \
        double grid = grid_of(total);                                                              \
        fits = fits && grid != 0;                                                                  \
        for (int64_t r = p->top; fits && r < p->bottom; r++)                                       \
            for (int64_t at = r * cols + p->left; at < r * cols + p->right; at++) {                \
                double v = TERM;                                                                   \
                fits &= (v + grid) - grid == v;                                                    \
                easy += v;                                                                         \
            }                                                                                      \
        if (fits)                                                                                  \
            return easy;                                                                           \
        fast_sum sum;                                                                              \
        fast_sum_start(&sum);                                                                      \
        for (int64_t r = p->top; r < p->bottom; r++)                                               \
            for (int64_t at = r * cols + p->left; at < r * cols + p->right; at++)                  \
                ADD(&sum, (double)a[at], (double)b[at]);                                           \
        return fast_sum_finish(&sum, &ROUNDING);                                                   \
    }                                                                                              \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        T *d = g->d;                                                                               \
        for (int64_t i = 0; i < g->rows; i++)                                                      \
            for (int64_t j = 0; j < g->cols; j++) {                                                \
                part p = part_of(g, i, j);                                                         \
                d[i * g->cols + j] = (T)NAME##_of(g->s[0], g->s[1], &p, g->source_cols);           \
            }                                                                                      \
    }
EXACT(fast_sum_exact_32, fast_f32, to_f32, true, (double)a[at], add_exactly)
EXACT(fast_sum_exact_64, fast_f64, to_f64, true, a[at], add_exactly)
EXACT(fast_dot_exact_32, fast_f32, to_f32, true, ((double)a[at] * (double)b[at]), fast_sum_add_product)
EXACT(fast_dot_exact_64, fast_f64, to_f64, false, a[at], fast_sum_add_product)

/* ---- transforms of runs ---- */

enum { RUN_MAX = 32 };

/* By exact sums of sign(i, j) v[i], each rounded to f32; a NaN or an infinity makes all NaN. */
void fast_hadamard_run(double *v, int n, uint32_t mask)
{
    double out[RUN_MAX];
    bool finite = true;
    for (int i = 0; i < n; i++)
        finite &= isfinite(v[i]) != 0;
    for (int j = 0; j < n; j++) {
        fast_sum sum;
        fast_sum_start(&sum);
        for (int i = 0; finite && i < n; i++) {
            int negative = (__builtin_popcount((unsigned)(i & j)) + (int)(mask >> i & 1)) & 1;
            fast_sum_add(&sum, negative ? -v[i] : v[i]);
        }
        out[j] = finite ? fast_sum_finish(&sum, &to_f32) : (double)NAN;
    }
    for (int i = 0; i < n; i++)
        v[i] = out[i];
}

/* Code (i, j) of a table as f64. */
static double table_at(const fast_source *t, const assay_format *f, int64_t i, int64_t j)
{
    if (!t->data || i >= t->rows || j >= t->cols)
        return 0;
    const uint8_t *p = (const uint8_t *)t->data + (i * t->cols + j) * t->storage;
    uint64_t code = 0;
    for (int k = 0; k < t->storage; k++)
        code |= (uint64_t)p[k] << (8 * k);
    return assay_decode_double(f, code);
}

static void rotate_run(double *v, int n, const fast_source *table, const assay_format *f)
{
    double out[RUN_MAX];
    for (int j = 0; j < n; j++) {
        fast_sum sum;
        bool finite = true;
        fast_sum_start(&sum);
        for (int i = 0; i < n; i++) {
            double w = table_at(table, f, i, j);
            finite &= isfinite(v[i]) && isfinite(w);
            fast_sum_add_product(&sum, w, v[i]);
        }
        out[j] = finite ? fast_sum_finish(&sum, &to_f32) : (double)NAN;
    }
    for (int i = 0; i < n; i++)
        v[i] = out[i];
}

/* Runs of down x across elements (one of them 1), the last in a row or column possibly shorter. */
void fast_rotate_32(const fast_args *g)
{
    const fast_source *table = (const fast_source *)(uintptr_t)g->p->word[0];
    const assay_format *format = (const assay_format *)(uintptr_t)g->p->word[3];
    fast_f32 *d = g->d;
    const fast_f32 *s = g->s[0];
    for (int64_t i = 0; i < g->rows; i += g->down)
        for (int64_t j = 0; j < g->cols; j += g->across) {
            int64_t step = g->across > 1 ? 1 : g->cols, at = i * g->cols + j;
            int64_t n = g->across > 1 ? at_most(g->across, g->cols - j) : at_most(g->down, g->rows - i);
            double v[RUN_MAX];
            assert(n <= RUN_MAX);
            for (int64_t t = 0; t < n; t++)
                v[t] = (double)s[at + t * step];
            rotate_run(v, (int)n, table, format);
            for (int64_t t = 0; t < n; t++)
                d[at + t * step] = (float)v[t];
        }
}
