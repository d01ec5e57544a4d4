/* edges: for every boundary between adjacent codes the boundary and its neighbours in the source
 * format, either sign, under several block scales and tensor scales; and for every scale threshold
 * the block amaxes around it. Casts: from the table of the output's codes. */
#include <math.h>
#include <stdlib.h>

#include "classes.h"
#include "edges_search.h"

/* CASE_ELEMENTS: of a case under one tensor scale, of which there are several; ALONE: of the one case
 * of a recipe without. */
enum { CONFIGS = 24, CASE_ELEMENTS = 8192, ALONE = 36864, CODES = 600, ALL_ONES = -1 };

/* ---- casts ---- */

static void add_point(const edges_search *s, edges_found *points, double v)
{
    if (!(v >= 0) || v > 1.7e308)
        return;
    int64_t at = assay_ordinal(s->format, code_near(s->format, v));
    for (int64_t d = -1; d <= 1; d++)
        if (at + d >= 0 && at + d <= s->top)
            edges_add(points, at + d);
}

/* The codes of f that are looked at: all, or of large formats the ends of each binade and some. */
static void add_codes(const edges_search *s, const assay_format *f, edges_found *points,
                      vectors_rng *r)
{
    int64_t top = assay_ordinal(f, assay_format_max_code(f));
    int64_t stride = top > CODES ? top / CODES : 1;
    for (int64_t i = 0; i <= top / stride; i++) {
        int64_t here = i * stride;
        if (stride > 1 && i > 0 && i < top / stride)
            here += (int64_t)(vectors_next(r) % (uint64_t)stride);
        if (here >= top)
            here = top - 1;
        double v = assay_decode_double(f, assay_ordinal_code(f, here));
        double next = assay_decode_double(f, assay_ordinal_code(f, here + 1));
        add_point(s, points, v);
        add_point(s, points, v + (next - v) / 2);
        /* Just off the middle: what a detour through a wider format would round onto it. */
        add_point(s, points, (v + (next - v) / 2) * (1 + 0x1p-12));
        add_point(s, points, (v + (next - v) / 2) * (1 - 0x1p-25));
    }
    double max = assay_decode_double(f, assay_format_max_code(f));
    double below = assay_decode_double(f, assay_ordinal_code(f, top - 1));
    static const double above[] = {0, 0.5, 1, 1.5, 2, 4};
    for (int i = 0; i < 6; i++)
        add_point(s, points, max + (max - below) * above[i]);
    add_point(s, points, max * 2);
    double least = assay_decode_double(f, assay_ordinal_code(f, 1));
    for (int i = 1; i < 4; i++)
        add_point(s, points, ldexp(least, -i));
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique(edges_found *points)
{
    int n = 0;
    if (points->count)
        qsort(points->at, (size_t)points->count, sizeof *points->at, by_value);
    for (int i = 0; i < points->count; i++)
        if (i == 0 || points->at[i] != points->at[n - 1])
            points->at[n++] = points->at[i];
    points->count = n;
}

static int cast_edges(const edges_search *s, assay_vector_set *set)
{
    const assay_program *p = set->program;
    vectors_rng r = vectors_rng_of(set->seed, "edges of casts");
    edges_found points = {0};
    for (int i = 0; i < p->output_count; i++)
        if (p->values[p->outputs[i]].type.kind == ASSAY_T_FORMAT)
            add_codes(s, p->values[p->outputs[i]].type.format, &points, &r);
    sort_unique(&points);
    int64_t m = (2 * points.count + 63) / 64, k = 64;
    int variants = vectors_has_further(p) ? 3 : 1;
    for (int variant = 0; variant < variants && points.count && vectors_admit(p, &m, &k); variant++) {
        assay_case *c = vectors_add_case(set, "boundaries of codes", m, k);
        vectors_blocks b = vectors_blocks_of(p, m, k);
        for (int64_t i = 0; c && i < m * k; i++)
            edges_put(s, c, &b, 0, i, points.at[i / 2 % points.count], i & 1);
        if (c)
            vectors_fill_further(c, p, variant == 2 ? VARIANT_SPECIAL + 1 : variant, &r);
    }
    free(points.at);
    return 0;
}

/* ---- block recipes ---- */

/* Points around the boundaries of one block amax, thinned to what there is room for. */
static int64_t points_of(const edges_found *found, int64_t amax, int64_t room, int64_t *points)
{
    int64_t n = 0, per = 8, stride = 1;
    while (found->count / stride * per > room && stride < found->count)
        stride++;
    for (int64_t i = 0; i < found->count; i += stride)
        for (int64_t d = -1; d <= 2; d++) {
            int64_t at = found->at[i] + d;
            if (at >= 0 && at <= amax && n + 2 <= room) {
                points[n++] = at;
                points[n++] = -at - 1; /* the same, negative */
            }
        }
    return n;
}

/* One case: blocks of every amax of the list, filled with the points around its boundaries. */
static int emit_elements(const edges_search *s, assay_vector_set *set, const char *tag, int64_t coarse,
                         const int64_t *amax, int n, const edges_found *found)
{
    vectors_blocks b;
    int64_t usable, most = 1;
    if (!vectors_blocks_make(s->program, 4, CASE_ELEMENTS, &b) || b.lanes < 2)
        return 0;
    for (int i = 0; i < n; i++)
        if (found[i].count * 8 / (b.lanes - 1) + 1 > most)
            most = found[i].count * 8 / (b.lanes - 1) + 1;
    int64_t budget = (coarse ? CASE_ELEMENTS : ALONE) / b.lanes / n;
    most = most < budget ? most : budget > 1 ? budget : 1;
    if (!vectors_blocks_make(s->program, most * n + 8, ALONE, &b))
        return 0;
    assay_case *c = vectors_add_case(set, tag, b.m, b.k);
    int64_t *blocks = edges_free_blocks(s, &b, &usable), room = (usable / n + 1) * (b.lanes - 1);
    int64_t *points = malloc((size_t)(room + 2) * sizeof *points);
    for (int config = 0; c && blocks && points && config < n; config++) {
        int64_t count = points_of(&found[config], amax[config], room, points), next = 0;
        for (int64_t q = config; q < usable; q += n) {
            int64_t block = blocks[q], top = q / n % b.lanes;
            edges_put(s, c, &b, block, top, amax[config], q & 1);
            for (int64_t i = 1; i < b.lanes && count; i++, next++) {
                int64_t at = points[next % count];
                edges_put(s, c, &b, block, (top + i) % b.lanes, at < 0 ? -at - 1 : at, at < 0);
            }
        }
    }
    if (c) {
        edges_put_anchors(s, c, &b, coarse);
        edges_fill_further(s, c);
    }
    free(blocks);
    free(points);
    return 0;
}

/* Blocks whose amaxes lie around the thresholds; the other lanes are smaller, down to 1/64. */
static int emit_scales(const edges_search *s, assay_vector_set *set, const char *tag, int64_t coarse,
                       const edges_found *found)
{
    vectors_blocks b;
    vectors_rng r = vectors_rng_of(set->seed, "edges of scales");
    int64_t usable, binade = (int64_t)1 << s->format->mantissa_bits;
    if (!found->count || !vectors_blocks_make(s->program, 4, CASE_ELEMENTS, &b))
        return 0;
    int64_t budget = (coarse ? CASE_ELEMENTS : ALONE) / b.lanes, wanted = (int64_t)found->count * 4;
    wanted = wanted < budget ? wanted : budget < 8 ? 8 : budget;
    if (!vectors_blocks_make(s->program, wanted * 5 / 4 + 2, ALONE, &b))
        return 0;
    assay_case *c = vectors_add_case(set, tag, b.m, b.k);
    int64_t *blocks = edges_free_blocks(s, &b, &usable);
    int64_t stride = usable ? ((int64_t)found->count * 4 + usable - 1) / usable : 1;
    for (int64_t q = 0; c && blocks && q < usable; q++) {
        int64_t amax = found->at[q / 4 * stride % found->count] + q % 4 - 1;
        amax = amax < 0 ? 0 : amax;
        for (int64_t lane = 0; lane < b.lanes; lane++) {
            int64_t at = amax - (int64_t)(vectors_next(&r) >> 1) % (6 * binade);
            edges_put(s, c, &b, blocks[q], lane, at < 0 ? 0 : at, lane & 1);
        }
        edges_put(s, c, &b, blocks[q], q % b.lanes, amax, q / 4 & 1);
    }
    if (c) {
        edges_put_anchors(s, c, &b, coarse);
        edges_fill_further(s, c);
    }
    free(blocks);
    return 0;
}

/* A program without a scale among its outputs: thresholds lie near these amaxes of every binade. */
static void usual_thresholds(const edges_search *s, edges_found *found)
{
    static const uint64_t fractions[] = {0, (uint64_t)1 << 51, (uint64_t)3 << 50, (uint64_t)15 << 48};
    int emin = assay_format_emin(s->format), emax = assay_format_emax(s->format);
    for (int e = emin; e <= emax; e++)
        for (int i = 0; i < (e > -5 && e < 5 ? 4 : 2); i++)
            edges_add(found, edges_ordinal(s, e, fractions[i]));
}

static int edges_under(const edges_search *s, assay_vector_set *set, const char *tag, int64_t coarse,
                       const int64_t *amax, int n, assay_error *error)
{
    edges_found found[CONFIGS] = {{0}};
    int failed = edges_of_elements(s, coarse, amax, n, found, error);
    if (!failed)
        failed = emit_elements(s, set, vectors_text(set, "%s: codes", tag), coarse, amax, n, found);
    for (int i = 0; i < n; i++)
        free(found[i].at);
    return failed;
}

static int thresholds_under(const edges_search *s, assay_vector_set *set, const char *tag,
                            int64_t coarse, assay_error *error)
{
    edges_found scales = {0};
    int failed = edges_of_scales(s, coarse, &scales, error);
    if (!failed && !scales.count && !coarse)
        usual_thresholds(s, &scales);
    if (!failed)
        failed = emit_scales(s, set, vectors_text(set, "%s: scales", tag), coarse, &scales);
    free(scales.at);
    return failed;
}

/* Mantissas at which scale rules part, at several exponents, and the ends of the range. */
static int usual_amaxes(const edges_search *s, int64_t *amax, vectors_rng *r)
{
    static const struct {
        int exponent;
        uint64_t fraction;
        int step;
    } list[] = {{0, 0, 0}, {0, 0, 1}, {1, 0, ALL_ONES}, {0, (uint64_t)1 << 51, 0},
                {0, (uint64_t)1 << 51, 1}, {0, (uint64_t)3 << 50, -1}, {0, (uint64_t)3 << 50, 0},
                {0, (uint64_t)3 << 50, 1}, {0, (uint64_t)15 << 48, 0}, {3, (uint64_t)3 << 50, 0},
                {-5, (uint64_t)1 << 51, 1}};
    int n = 0, emin = assay_format_emin(s->format), emax = assay_format_emax(s->format);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        amax[n++] = edges_ordinal(s, list[i].exponent, list[i].fraction) + list[i].step;
    for (int i = 0; i < 3; i++) { /* arguments have no order of their own */
        int exponent = (int)vectors_below(r, 9) - 4;
        amax[n++] = edges_ordinal(s, exponent, vectors_next(r));
    }
    amax[n++] = s->top;
    amax[n++] = edges_ordinal(s, emax, 0);
    amax[n++] = edges_ordinal(s, emin + 3, vectors_next(r));
    amax[n++] = edges_ordinal(s, emin, 0);
    amax[n++] = assay_format_has_subnormals(s->format) ? edges_ordinal(s, emin - 2, 0) : s->top / 2;
    return n;
}

/* Under a tensor scale: itself, and smaller amaxes down to where the block's scale underflows. */
static int amaxes_below(const edges_search *s, int64_t coarse, int64_t *amax, vectors_rng *r)
{
    int64_t binade = (int64_t)1 << s->format->mantissa_bits;
    static const int below[] = {0, 1, 2, 3, 5, 8, 11, 15, 17};
    int n = 0;
    for (int i = 0; i < 9; i++) {
        int64_t at = coarse - below[i] * binade;
        if (i)
            at -= (int64_t)(vectors_next(r) >> 1) % binade;
        if (at > 0)
            amax[n++] = at;
    }
    return n;
}

static int block_edges(const edges_search *s, assay_vector_set *set, assay_error *error)
{
    vectors_rng r = vectors_rng_of(set->seed, "edges of blocks");
    int64_t amax[CONFIGS], one;
    vectors_blocks b;
    if (!vectors_blocks_make(s->program, 16, CASE_ELEMENTS, &b))
        return 0;
    bool single = b.blocks < 2;
    int n = usual_amaxes(s, amax, &r);
    if (single) { /* one scale for the whole tensor: a case for each */
        for (int i = 0; i < n; i++) {
            one = amax[i];
            if (edges_under(s, set, vectors_text(set, "amax %d", i), 0, &one, 1, error))
                return -1;
        }
        return 0;
    }
    if (!edges_has_coarse(s))
        return edges_under(s, set, "one level", 0, amax, n, error) ||
                       thresholds_under(s, set, "one level", 0, error)
                   ? -1
                   : 0;
    /* 2^0, all ones, 1.75, random ones, the maximum, small: as the tensor's amax. */
    const int picks[] = {0, 2, 6, 11, 12, 14, 16};
    for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
        int64_t below[CONFIGS];
        int count = amaxes_below(s, amax[picks[i]], below, &r);
        int64_t coarse = amax[picks[i]];
        const char *tag = vectors_text(set, "tensor amax %zu", i);
        if (edges_under(s, set, tag, coarse, below, count, error) ||
            thresholds_under(s, set, tag, coarse, error))
            return -1;
    }
    return 0;
}

int class_edges(assay_vector_set *set, assay_error *error)
{
    edges_search s;
    if (edges_search_open(&s, set, error))
        return -1;
    int failed = vectors_blocks_of(set->program, 1, 1).any ? block_edges(&s, set, error)
                                                          : cast_edges(&s, set);
    edges_search_close(&s);
    return failed;
}
