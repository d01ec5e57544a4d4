/* shapes: ragged tails, one row, one column, primes, nothing at all, within what the recipe admits.
 * Every block has another scale and its elements are a ramp, so that a wrong place shows. */
#include "classes.h"

enum { ELEMENTS = 1 << 14, CAST_ELEMENTS = 1 << 11 };

static void fill_ramp(assay_case *c, const assay_program *p)
{
    const assay_value *x = vectors_main(p);
    const assay_format *f = x->type.format;
    vectors_blocks b = vectors_blocks_of(p, c->m, c->k);
    uint64_t codes = (uint64_t)1 << (assay_format_width(f) < 9 ? assay_format_width(f) : 0);
    for (int64_t block = 0; block < b.blocks; block++) {
        int exponent = (int)(block * 7 % 23) - 11;
        for (int64_t lane = 0; lane < b.lanes; lane++) {
            int64_t at = vectors_lane(&b, block, lane);
            if (at < 0)
                continue;
            uint64_t code = codes > 1 ? (uint64_t)(lane + block) % codes
                                      : code_make(f, lane & 1, exponent - (int)(lane % 3),
                                                  (uint64_t)(lane % 128) << 45);
            grid_set(&c->inputs[vectors_main_index(p)], assay_type_storage(x->type), at, code);
        }
    }
}

static bool is_new(const assay_vector_set *set, int64_t m, int64_t k)
{
    for (int i = 0; i < set->case_count; i++)
        if (set->cases[i].m == m && set->cases[i].k == k)
            return false;
    return true;
}

/* The shape itself if it is admitted, else the next one that is. */
static void add(assay_vector_set *set, int64_t m, int64_t k, vectors_rng *r)
{
    const assay_program *p = set->program;
    if (!assay_program_admits(p, m, k, NULL) &&
        (m == 0 || k == 0 || !vectors_admit(p, &m, &k)))
        return;
    int64_t most = vectors_blocks_of(p, 64, 64).any ? ELEMENTS : CAST_ELEMENTS;
    if (m * k > most || !is_new(set, m, k))
        return;
    assay_case *c = vectors_add_case(set, vectors_text(set, "%lldx%lld", (long long)m, (long long)k),
                                     m, k);
    fill_ramp(c, p);
    static const int variants[] = {0, 1, VARIANT_NEAR};
    vectors_fill_further(c, p, variants[set->case_count % 3], r);
}

int class_shapes(assay_vector_set *set, assay_error *error)
{
    static const int64_t shapes[][2] = {
        {1, 1},  {1, 2},   {2, 1},   {1, 7},    {3, 5},   {7, 13},  {1, 31},   {1, 33},
        {31, 1}, {33, 1},  {1, 127}, {127, 1},  {129, 1}, {1, 129}, {2, 40},   {5, 48},
        {3, 96}, {17, 31}, {31, 80}, {130, 96}, {33, 65}, {1, 513}, {1, 1031}, {3, 3072},
        {0, 32}, {32, 0},  {0, 0},   {0, 128},  {64, 64}, {128, 128}};
    const assay_program *p = set->program;
    vectors_rng r = vectors_rng_of(set->seed, "shapes");
    vectors_blocks b = vectors_blocks_of(p, 4096, 4096);
    (void)error;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        add(set, shapes[i][0], shapes[i][1], &r);
    if (b.any) { /* one more and one less than whole blocks */
        int64_t rows = b.tile.rows ? b.tile.rows : 1, cols = b.tile.cols ? b.tile.cols : 1;
        for (int64_t d = -1; d <= 1; d++) {
            add(set, rows + d, 2 * cols, &r);
            add(set, rows, 2 * cols + d, &r);
            add(set, 2 * rows + d, cols + d, &r);
        }
    }
    return 0;
}
