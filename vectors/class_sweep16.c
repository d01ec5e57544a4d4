/* sweep16: all 65,536 patterns of bf16 and of f16 (widened where the input is wider), in order,
 * and mixed among neighbours of about eight binades so that amax varies from block to block.
 * For codes of at most 8 bits: all codes under all codes of the scale. */
#include <stdlib.h>

#include "../ref/convert.h"
#include "classes.h"

enum { PATTERNS = 1 << 16 };

static uint64_t widen(const assay_format *to, const assay_format *from, uint64_t pattern)
{
    if (to == from)
        return pattern;
    assay_cast cast = assay_cast_default(to);
    return assay_convert_code(to, from, pattern, &cast, 0).code;
}

static bool is_nan_or_inf(const assay_format *f, uint32_t pattern)
{
    return !code_is_finite(f, pattern);
}

/* order[i]: the i-th pattern. Mixed: sorted by magnitude, then shuffled within runs; patterns that
 * are no numbers are left to the ordered sweep, where they spoil only each other. */
static void make_order(const assay_format *f, bool mixed, vectors_rng *r, uint32_t *order)
{
    enum { RUN = 2048 };
    for (uint32_t i = 0; i < PATTERNS; i++)
        order[i] = mixed ? (i >> 1) | (i & 1) << 15 : i;
    if (!mixed)
        return;
    for (uint32_t i = 0; i < PATTERNS; i++)
        if (is_nan_or_inf(f, order[i]))
            order[i] = 0;
    for (uint32_t run = 0; run < PATTERNS; run += RUN)
        for (uint32_t i = RUN - 1; i > 0; i--) {
            uint32_t j = (uint32_t)vectors_below(r, i + 1), t = order[run + i];
            order[run + i] = order[run + j];
            order[run + j] = t;
        }
}

/* Lays the patterns out block by block, so that neighbours in the order share a block. */
static int sweep(assay_vector_set *set, const assay_format *pattern_format, bool mixed,
                 vectors_rng *r)
{
    const assay_program *p = set->program;
    const assay_value *x = vectors_main(p);
    int64_t m = 256, k = 256;
    if (!vectors_admit(p, &m, &k))
        return 0;
    assay_case *c = vectors_add_case(
        set, vectors_text(set, "all %s%s", pattern_format->name, mixed ? ", mixed" : ""), m, k);
    uint32_t *order = malloc(PATTERNS * sizeof *order);
    if (!c || !order) {
        free(order);
        return 0;
    }
    make_order(pattern_format, mixed, r, order);
    vectors_blocks b = vectors_blocks_of(p, m, k);
    uint32_t next = 0;
    for (int64_t block = 0; block < b.blocks; block++)
        for (int64_t lane = 0; lane < b.lanes; lane++) {
            int64_t at = vectors_lane(&b, block, lane);
            if (at >= 0)
                grid_set(&c->inputs[vectors_main_index(p)], assay_type_storage(x->type), at,
                         widen(x->type.format, pattern_format, order[next++ % PATTERNS]));
        }
    free(order);
    vectors_fill_further(c, p, 0, r);
    return 0;
}

/* Codes of at most 8 bits: element e of a row is a code, each block has the next scale; the further
 * inputs run through all codes by themselves. */
static int all_codes(assay_vector_set *set, int variant, vectors_rng *r)
{
    const assay_program *p = set->program;
    const assay_value *x = vectors_main(p);
    uint64_t codes = (uint64_t)1 << assay_format_width(x->type.format);
    bool pairs = vectors_has_further(p) && vectors_blocks_of(p, 1, 1).any;
    int64_t m = pairs ? 128 : 16, k = pairs ? 256 : 64;
    if (!vectors_admit(p, &m, &k))
        return 0;
    assay_case *c = vectors_add_case(set, vectors_text(set, "all codes, scales %d", variant), m, k);
    if (!c)
        return 0;
    vectors_blocks b = vectors_blocks_of(p, m, k);
    for (int64_t block = 0; block < b.blocks; block++)
        for (int64_t lane = 0; lane < b.lanes; lane++) {
            int64_t at = vectors_lane(&b, block, lane);
            uint64_t code = ((uint64_t)lane + (uint64_t)(block / 256 * b.lanes)) % codes;
            if (at >= 0)
                grid_set(&c->inputs[vectors_main_index(p)], assay_type_storage(x->type), at, code);
        }
    vectors_fill_further(c, p, variant, r);
    return 0;
}

int class_sweep16(assay_vector_set *set, assay_error *error)
{
    const assay_program *p = set->program;
    const assay_format *f = vectors_main(p)->type.format;
    const assay_format *bf16 = assay_format_find("bf16"), *f16 = assay_format_find("f16");
    vectors_rng r = vectors_rng_of(set->seed, "sweep16");
    bool blocks = vectors_blocks_of(p, 1, 1).any;
    (void)error;
    if (!vectors_encodes(p)) {
        static const int variants[] = {0, 1, VARIANT_NEAR};
        for (int i = 0; i < (vectors_has_further(p) ? 3 : 1); i++)
            if (all_codes(set, variants[i], &r))
                return -1;
        return 0;
    }
    if (f != f16 && sweep(set, bf16, false, &r))
        return -1;
    if (f != f16 && blocks && sweep(set, bf16, true, &r))
        return -1;
    if (f == f16 && (sweep(set, f16, false, &r) || (blocks && sweep(set, f16, true, &r))))
        return -1;
    return f != bf16 && f != f16 && !blocks ? sweep(set, f16, false, &r) : 0;
}
