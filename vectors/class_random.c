/* random: raw bits, and log-uniform values: blocks of about eight binades anywhere in the range, or
 * all within twenty binades under one tensor scale. heavy: log-normal with massive outliers. */
#include <string.h>

#include "classes.h"

enum { ELEMENTS = 6144, BINADES = 8 };

typedef uint64_t (*maker)(const assay_format *f, int base, vectors_rng *r);

static uint64_t raw(const assay_format *f, int base, vectors_rng *r)
{
    (void)base;
    return vectors_next(r) >> (64 - assay_format_width(f));
}

static uint64_t raw_finite(const assay_format *f, int base, vectors_rng *r)
{
    uint64_t code = raw(f, base, r);
    return code_is_finite(f, code) ? code : 0;
}

static uint64_t log_uniform(const assay_format *f, int base, vectors_rng *r)
{
    uint64_t a = vectors_next(r), b = vectors_next(r);
    return code_make(f, a & 1, base - (int)((a >> 1) % BINADES), b);
}

/* log2 of the magnitude: a sum of twelve uniform numbers, standard deviation two binades. */
static uint64_t log_normal(const assay_format *f, int base, vectors_rng *r)
{
    int64_t sum = 0;
    uint64_t a = vectors_next(r);
    for (int i = 0; i < 12; i++)
        sum += (int64_t)vectors_below(r, 65536) - 32768;
    int exponent = base + (int)(sum * 2 >> 16);
    if ((a >> 1 & 255) == 0)
        exponent += 10 + (int)(a >> 9 & 3); /* an outlier, some thousand times the rest */
    return code_make(f, a & 1, exponent, vectors_next(r));
}

typedef struct {
    const char *tag;
    maker make;
    int span; /* exponents of blocks: within that many binades below `top`; -1: the whole range */
    int top;
    int variant;
} recipe_row;

static int fill(assay_vector_set *set, const recipe_row *row, vectors_rng *r)
{
    const assay_program *p = set->program;
    const assay_value *x = vectors_main(p);
    const assay_format *f = x->type.format;
    vectors_blocks b;
    int64_t m = 48, k = 128;
    if (!vectors_blocks_make(p, 8, ELEMENTS, &b))
        return 0;
    int64_t wanted = ELEMENTS / b.lanes;
    if (b.blocks > 1 && wanted > 8 && !vectors_blocks_make(p, wanted, ELEMENTS, &b))
        return 0;
    if (!b.any && vectors_admit(p, &m, &k))
        b = vectors_blocks_of(p, m, k);
    assay_case *c = vectors_add_case(set, row->tag, b.m, b.k);
    if (!c)
        return 0;
    int emin = assay_format_emin(f), emax = assay_format_emax(f);
    int span = row->span < 0 ? emax - emin : row->span, top = row->span < 0 ? emax : row->top;
    for (int64_t block = 0; block < b.blocks; block++) {
        int base = top - (int)vectors_below(r, (uint64_t)span + 1);
        for (int64_t lane = 0; lane < b.lanes; lane++) {
            int64_t at = vectors_lane(&b, block, lane);
            if (at >= 0)
                grid_set(&c->inputs[vectors_main_index(p)], assay_type_storage(x->type), at,
                         row->make(f, base, r));
        }
    }
    vectors_fill_further(c, p, row->variant, r);
    return 0;
}

static int fill_all(assay_vector_set *set, const char *name, const recipe_row *rows, int n)
{
    vectors_rng r = vectors_rng_of(set->seed, name);
    for (int i = 0; i < n; i++)
        if (fill(set, &rows[i], &r))
            return -1;
    return 0;
}

int class_random(assay_vector_set *set, assay_error *error)
{
    static const recipe_row rows[] = {{"raw bits", raw, 0, 0, 0},
                                      {"raw bits, finite", raw_finite, 0, 0, 1},
                                      {"blocks anywhere in the range", log_uniform, -1, 0, 2},
                                      {"blocks within 20 binades", log_uniform, 20, 0, 0},
                                      {"blocks within 3 binades", log_uniform, 3, 2, 3}};
    static const recipe_row codes[] = {{"raw bits", raw, 0, 0, 1},
                                       {"raw bits", raw, 0, 0, 2},
                                       {"raw bits, scales near each other", raw, 0, 0, VARIANT_NEAR}};
    (void)error;
    return vectors_encodes(set->program) ? fill_all(set, "random", rows, 5)
                                         : fill_all(set, "random", codes, 3);
}

int class_heavy(assay_vector_set *set, assay_error *error)
{
    static const recipe_row rows[] = {{"log-normal, outliers", log_normal, 2, -3, 0},
                                      {"log-normal, outliers, tiny", log_normal, 4, -18, 1}};
    (void)error;
    return fill_all(set, "heavy", rows, 2);
}
