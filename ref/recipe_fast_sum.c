/* Sums whose order is a tree, and exact ones: one tile at a time. The sequential order is a kernel
 * of its own (fast_kernels_reduce.c). Hadamard and rotation: exact sums along a run of elements. */
#include "recipe_fast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

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

#define EXACT(NAME, T, ROUNDING, ADD)                                                              \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        T *d = g->d;                                                                               \
        const T *a = g->s[0], *b = g->s[1];                                                        \
        (void)b;                                                                                   \
        for (int64_t i = 0; i < g->rows; i++)                                                      \
            for (int64_t j = 0; j < g->cols; j++) {                                                \
                part p = part_of(g, i, j);                                                         \
                fast_sum sum;                                                                      \
                fast_sum_start(&sum);                                                              \
                for (int64_t r = p.top; r < p.bottom; r++)                                         \
                    for (int64_t c = p.left; c < p.right; c++) {                                   \
                        int64_t at = r * g->source_cols + c;                                       \
                        ADD;                                                                       \
                    }                                                                              \
                d[i * g->cols + j] = (T)fast_sum_finish(&sum, &ROUNDING);                          \
            }                                                                                      \
    }
EXACT(fast_sum_exact_32, fast_f32, to_f32, fast_sum_add(&sum, a[at]))
EXACT(fast_sum_exact_64, fast_f64, to_f64, fast_sum_add(&sum, a[at]))
EXACT(fast_dot_exact_32, fast_f32, to_f32, fast_sum_add_product(&sum, a[at], b[at]))
EXACT(fast_dot_exact_64, fast_f64, to_f64, fast_sum_add_product(&sum, a[at], b[at]))

/* ---- transforms of runs ---- */

enum { RUN_MAX = 32 };

/* d[j] for the n elements that exist in a run: the exact sum of sign(i, j) v[i], rounded to f32. */
static void hadamard_slow(const double *v, double *out, int n, uint32_t mask)
{
    for (int j = 0; j < n; j++) {
        fast_sum sum;
        fast_sum_start(&sum);
        for (int i = 0; i < n; i++) {
            int negative = (__builtin_popcount((unsigned)(i & j)) + (int)(mask >> i & 1)) & 1;
            fast_sum_add(&sum, negative ? -v[i] : v[i]);
        }
        out[j] = fast_sum_finish(&sum, &to_f32);
    }
}

/* Are all sums of some of these +-v exact in f64? They are if every v is a multiple of some 2^q and
 * the sum of magnitudes stays below 2^(q+53): adding and taking away 1.5 * 2^(q+52) shows the first. */
static bool sums_are_exact(const double *v, int n)
{
    double total = 0;
    for (int i = 0; i < n; i++)
        total += fabs(v[i]);
    if (!(total < 0x1p900) || total < 0x1p-900)
        return false;
    int e;
    frexp(total, &e); /* total < 2^e, also before its own rounding: one spare bit below */
    double grid = ldexp(1.5, e + 1);
    for (int i = 0; i < n; i++)
        if ((v[i] + grid) - grid != v[i])
            return false;
    return true;
}

static void hadamard_run(double *v, int n, uint32_t mask, float nan)
{
    double out[RUN_MAX];
    bool finite = true;
    for (int i = 0; i < n; i++)
        finite &= isfinite(v[i]) != 0;
    if (!finite) {
        for (int i = 0; i < n; i++)
            v[i] = (double)nan;
        return;
    }
    if ((n & (n - 1)) != 0 || !sums_are_exact(v, n)) {
        hadamard_slow(v, out, n, mask);
        for (int i = 0; i < n; i++)
            v[i] = out[i];
        return;
    }
    for (int i = 0; i < n; i++)
        v[i] = mask >> i & 1 ? -v[i] : v[i];
    for (int step = 1; step < n; step *= 2)
        for (int i = 0; i < n; i += 2 * step)
            for (int j = i; j < i + step; j++) {
                double a = v[j], b = v[j + step];
                v[j] = a + b;
                v[j + step] = a - b;
            }
    for (int i = 0; i < n; i++) /* some term is not zero: an exact zero is +0 */
        v[i] += 0.0;
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

static void transform_run(const fast_args *g, double *v, int n, bool rotate)
{
    if (rotate)
        rotate_run(v, n, (const fast_source *)(uintptr_t)g->p->word[0],
                   (const assay_format *)(uintptr_t)g->p->word[3]);
    else
        hadamard_run(v, n, (uint32_t)g->p->word[0], NAN);
}

/* Runs of down x across elements (one of them 1), the last in a row or column possibly shorter. */
#define TRANSFORM(NAME, T, ROTATE)                                                                 \
    void NAME(const fast_args *g)                                                                  \
    {                                                                                              \
        fast_f32 *d = g->d;                                                                        \
        const T *s = g->s[0];                                                                      \
        for (int64_t i = 0; i < g->rows; i += g->down)                                             \
            for (int64_t j = 0; j < g->cols; j += g->across) {                                     \
                int64_t step = g->across > 1 ? 1 : g->cols;                                        \
                int64_t n = g->across > 1 ? at_most(g->across, g->cols - j)                        \
                                          : at_most(g->down, g->rows - i);                         \
                double v[RUN_MAX];                                                                 \
                assert(n <= RUN_MAX);                                                              \
                for (int64_t t = 0; t < n; t++)                                                    \
                    v[t] = s[i * g->cols + j + t * step];                                          \
                transform_run(g, v, (int)n, ROTATE);                                               \
                for (int64_t t = 0; t < n; t++)                                                    \
                    d[i * g->cols + j + t * step] = (float)v[t];                                   \
            }                                                                                      \
    }
TRANSFORM(fast_hadamard_32, fast_f32, false)
TRANSFORM(fast_hadamard_64, fast_f64, false)
TRANSFORM(fast_rotate_32, fast_f32, true)
TRANSFORM(fast_rotate_64, fast_f64, true)
