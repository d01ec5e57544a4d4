/* special: every special value of the input's format at every lane of a block, whole blocks of it,
 * zero blocks beside others; then the special values of every further input. */
#include "classes.h"

enum { LANES = 32, LARGE = 1024, LARGE_LANES = 2, EXTRA = 4, ELEMENTS = 1 << 16 };

/* Lanes that get the value: all, or some spread over a large block, first and last included. */
static int64_t lane_count(const vectors_blocks *b)
{
    int64_t most = b->lanes >= LARGE ? LARGE_LANES : LANES;
    return b->lanes < most ? b->lanes : most;
}

static int64_t lane_at(const vectors_blocks *b, int64_t i)
{
    int64_t n = lane_count(b);
    return n < 2 ? 0 : i * (b->lanes - 1) / (n - 1);
}

static void put(assay_case *c, const assay_program *p, const vectors_blocks *b, int64_t block,
                int64_t lane, uint64_t code)
{
    int64_t at = block < b->blocks ? vectors_lane(b, block, lane) : -1;
    if (at >= 0)
        grid_set(&c->inputs[vectors_main_index(p)], assay_type_storage(vectors_main(p)->type), at,
                 code);
}

static void put_all(assay_case *c, const assay_program *p, const vectors_blocks *b, int64_t block,
                    uint64_t code)
{
    for (int64_t lane = 0; lane < b->lanes; lane++)
        put(c, p, b, block, lane, code);
}

/* Blocks 0 .. n-1: the value at one lane among ordinary ones; then a block of nothing else, one of
 * nothing else but an ordinary element, one of zeros, one of alternating signs. */
static int one_value(assay_vector_set *set, const vectors_blocks *b, const special_value *s,
                     vectors_rng *r)
{
    const assay_program *p = set->program;
    const assay_format *f = vectors_main(p)->type.format;
    int64_t n = lane_count(b);
    assay_case *c = vectors_add_case(set, vectors_text(set, "%s", s->name), b->m, b->k);
    if (!c)
        return 0;
    class_fill_ordinary(c, p, r);
    if (b->blocks == 1) { /* a cast, or one scale for the whole tensor */
        for (int64_t i = 0; i < n; i++)
            put(c, p, b, 0, lane_at(b, i), s->code);
    } else {
        for (int64_t i = 0; i < n; i++)
            put(c, p, b, i, lane_at(b, i), s->code);
        put_all(c, p, b, n, s->code);
        put_all(c, p, b, n + 1, s->code);
        put(c, p, b, n + 1, lane_at(b, n - 1), code_ordinary(f, r));
        put_all(c, p, b, n + 2, 0);
        put(c, p, b, n + 2, lane_at(b, n / 2), s->code);
        for (int64_t lane = 0; lane < b->lanes; lane++)
            put(c, p, b, n + 3, lane, lane % 2 ? s->code : code_negate(f, s->code));
    }
    vectors_fill_further(c, p, 0, r);
    return 0;
}

/* All specials of the format side by side, turned by one lane in each row. */
static int side_by_side(assay_vector_set *set, const special_value *list, int n, vectors_rng *r)
{
    const assay_program *p = set->program;
    int64_t m = 8, k = 32;
    if (!vectors_admit(p, &m, &k) || m * k > ELEMENTS)
        return 0;
    assay_case *c = vectors_add_case(set, "side by side", m, k);
    if (!c)
        return 0;
    int storage = assay_type_storage(vectors_main(p)->type);
    for (int64_t i = 0; i < m * k; i++)
        grid_set(&c->inputs[vectors_main_index(p)], storage, i, list[(i % k + i / k) % n].code);
    vectors_fill_further(c, p, 0, r);
    return 0;
}

/* A zero block, a block of -0, a mixed one, among ordinary ones; then a whole tensor of zeros. */
static int zeros(assay_vector_set *set, const vectors_blocks *b, vectors_rng *r)
{
    const assay_program *p = set->program;
    const assay_format *f = vectors_main(p)->type.format;
    for (int whole = 0; whole < 2; whole++) {
        assay_case *c = vectors_add_case(set, whole ? "zero tensor" : "zero blocks", b->m, b->k);
        if (!c)
            return 0;
        if (!whole)
            class_fill_ordinary(c, p, r);
        for (int64_t lane = 0; lane < b->lanes && !whole; lane++) {
            put(c, p, b, 0, lane, 0);
            put(c, p, b, 2, lane, code_negate(f, 0));
            put(c, p, b, 3, lane, lane % 3 ? 0 : code_negate(f, 0));
        }
        vectors_fill_further(c, p, 0, r);
    }
    return 0;
}

static int further(assay_vector_set *set, vectors_rng *r)
{
    const assay_program *p = set->program;
    vectors_blocks b;
    if (!vectors_has_further(p) ||
        (!vectors_blocks_make(p, 4, 4096, &b) && !vectors_blocks_make(p, 1, 65536, &b)))
        return 0;
    for (int i = 0; i < 14; i++) {
        assay_case *c = vectors_add_case(set, vectors_text(set, "further inputs %d", i), b.m, b.k);
        if (!c)
            return 0;
        class_fill_ordinary(c, p, r);
        vectors_fill_further(c, p, VARIANT_SPECIAL + i, r);
    }
    assay_case *c = vectors_add_case(set, "further inputs near each other", b.m, b.k);
    if (c) {
        class_fill_ordinary(c, p, r);
        vectors_fill_further(c, p, VARIANT_NEAR, r);
    }
    return 0;
}

int class_special(assay_vector_set *set, assay_error *error)
{
    const assay_program *p = set->program;
    vectors_rng r = vectors_rng_of(set->seed, "special");
    special_value list[SPECIAL_VALUES];
    int n = special_values(vectors_main(p)->type.format, list);
    vectors_blocks b;
    (void)error;
    if (!vectors_blocks_make(p, 4, ELEMENTS, &b))
        return 0;
    int64_t extra = b.lanes >= LARGE ? 1 : EXTRA;
    if (b.blocks > 1 && !vectors_blocks_make(p, lane_count(&b) + extra, ELEMENTS, &b))
        return 0;
    for (int i = 0; i < n; i++)
        if (one_value(set, &b, &list[i], &r))
            return -1;
    return side_by_side(set, list, n, &r) || zeros(set, &b, &r) || further(set, &r) ? -1 : 0;
}
