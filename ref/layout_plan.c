/* The steps of LANGUAGE.md section 12: one table row each, with the shape that the step makes and
 * where a unit of the new array comes from and a unit of the old one goes to. */
#include "layout_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    int64_t i, j;
} position;

typedef const assay_layout_step step_t;
typedef const layout_stage stage_t;

typedef struct {
    const char *word;
    /* *after starts as a copy of the stage before. */
    int (*shape)(step_t *step, layout_stage *after, assay_error *error);
    /* The old position of a new unit (outside the old array: padding), and the reverse (the first
     * copy). `before` is the stage before the step. NULL: packing, see below. */
    position (*from)(step_t *step, stage_t *before, position p);
    position (*to)(step_t *step, stage_t *before, position p);
} step_row;

/* ---- transpose ---- */

static int transpose_shape(step_t *step, layout_stage *after, assay_error *error)
{
    (void)step, (void)error;
    layout_stage b = *after;
    *after = (layout_stage){b.cols, b.rows, b.tile_cols, b.tile_rows, b.k, b.m, b.bits};
    return 0;
}

static position transpose_move(step_t *step, stage_t *before, position p)
{
    (void)step, (void)before;
    return (position){p.j, p.i};
}

/* ---- replicate RxC: cropped to the grid of the smaller tile ---- */

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int replicate_side(int64_t *count, int64_t *tile, int64_t extent, int64_t times,
                          assay_error *error)
{
    if (times < 1 || (times > 1 && (*tile == 0 || *tile % times != 0)))
        return assay_fail(error, "layout: replicate: a tile side of %" PRId64
                                 " cannot be split into %" PRId64 " parts: use a divisor of it",
                          *tile, times);
    if (times == 1)
        return 0;
    *tile /= times;
    int64_t cropped = ceil_div(extent, *tile);
    *count = *count * times < cropped ? *count * times : cropped;
    return 0;
}

static int replicate_shape(step_t *step, layout_stage *after, assay_error *error)
{
    if (replicate_side(&after->rows, &after->tile_rows, after->m, step->a, error))
        return -1;
    return replicate_side(&after->cols, &after->tile_cols, after->k, step->b, error);
}

static position replicate_from(step_t *step, stage_t *before, position p)
{
    (void)before;
    return (position){p.i / step->a, p.j / step->b};
}

static position replicate_to(step_t *step, stage_t *before, position p)
{
    (void)before;
    return (position){p.i * step->a, p.j * step->b};
}

/* ---- pad RxC ---- */

static int pad_shape(step_t *step, layout_stage *after, assay_error *error)
{
    if (step->a < 1 || step->b < 1)
        return assay_fail(error, "layout: pad %" PRId64 "x%" PRId64
                                 ": the sides must be positive numbers", step->a, step->b);
    after->rows = ceil_div(after->rows, step->a) * step->a;
    after->cols = ceil_div(after->cols, step->b) * step->b;
    return 0;
}

static position stay(step_t *step, stage_t *before, position p)
{
    (void)step, (void)before;
    return p;
}

/* ---- swizzle RxC, group n: permutations of the row-major order; the shape stays ---- */

static int multiples(const char *word, int64_t rows, int64_t cols, stage_t *array,
                     assay_error *error)
{
    if (array->rows % rows || array->cols % cols)
        return assay_fail(error, "layout: %s: an array of %" PRId64 "x%" PRId64
                                 " is not made of whole tiles of %" PRId64 "x%" PRId64
                                 ": pad it first", word, array->rows, array->cols, rows, cols);
    return 0;
}

static position linear(stage_t *array, int64_t index)
{
    return (position){index / array->cols, index % array->cols};
}

static int swizzle_128x4_shape(step_t *step, layout_stage *after, assay_error *error)
{
    (void)step;
    return multiples("swizzle 128x4", 128, 4, after, error);
}

static position swizzle_128x4_to(step_t *step, stage_t *before, position p)
{
    (void)step;
    int64_t tile = p.i / 128 * (before->cols / 4) + p.j / 4;
    return linear(before, tile * 512 + p.i % 32 * 16 + p.i % 128 / 32 * 4 + p.j % 4);
}

static position swizzle_128x4_from(step_t *step, stage_t *before, position p)
{
    (void)step;
    int64_t index = p.i * before->cols + p.j, across = before->cols / 4;
    int64_t tile = index / 512, in = index % 512;
    return (position){tile / across * 128 + in % 16 / 4 * 32 + in / 16, tile % across * 4 + in % 4};
}

static int swizzle_8x4_shape(step_t *step, layout_stage *after, assay_error *error)
{
    (void)step;
    return multiples("swizzle 8x4", 8, 4, after, error);
}

static position swizzle_8x4_to(step_t *step, stage_t *before, position p)
{
    (void)step;
    int64_t tile = p.i / 8 * (before->cols / 4) + p.j / 4;
    return linear(before, tile * 32 + p.i % 8 * 4 + p.j % 4);
}

static position swizzle_8x4_from(step_t *step, stage_t *before, position p)
{
    (void)step;
    int64_t index = p.i * before->cols + p.j, across = before->cols / 4;
    int64_t tile = index / 32, in = index % 32;
    return (position){tile / across * 8 + in / 4, tile % across * 4 + in % 4};
}

static int group_shape(step_t *step, layout_stage *after, assay_error *error)
{
    if (step->a < 1)
        return assay_fail(error, "layout: group %" PRId64 ": must be positive", step->a);
    return multiples("group", 1, step->a, after, error);
}

static position group_to(step_t *step, stage_t *before, position p)
{
    int64_t n = step->a;
    return linear(before, p.j / n * n * before->rows + n * p.i + p.j % n);
}

static position group_from(step_t *step, stage_t *before, position p)
{
    int64_t index = p.i * before->cols + p.j, n = step->a, strip = n * before->rows;
    return (position){index % strip / n, index / strip * n + index % n};
}

/* ---- pack ---- */

static int pack_shape(step_t *step, layout_stage *after, assay_error *error)
{
    const char *word = layout_step_word(step->op);
    if (step->op == ASSAY_LAYOUT_PACK_HALVES && (step->a < 2 || step->a % 2 || after->bits != 4))
        return assay_fail(error, "layout: pack halves %" PRId64 ": needs an even number and codes "
                                 "of 4 bits, not %d", step->a, after->bits);
    if (step->op == ASSAY_LAYOUT_PACK_E5M6 && after->bits != 12)
        return assay_fail(error, "layout: pack e5m6: needs codes of 12 bits, not %d", after->bits);
    layout_packing p;
    if (!layout_packing_of(step, after->bits, &p))
        return 0;
    if (after->cols % p.group)
        return assay_fail(error, "layout: %s: %" PRId64 " columns are not a multiple of %d: pad "
                                 "them, or require it of K", word, after->cols, p.group);
    after->cols = after->cols / p.group * p.units;
    after->bits = p.unit_bits;
    return 0;
}

static int record_shape(step_t *step, layout_stage *after, assay_error *error)
{
    (void)step, (void)after;
    return assay_fail(error, "layout: record places several values: it has no bytes of one value");
}

static const step_row rows[] = {
    [ASSAY_LAYOUT_TRANSPOSE] = {"transpose", transpose_shape, transpose_move, transpose_move},
    [ASSAY_LAYOUT_REPLICATE] = {"replicate", replicate_shape, replicate_from, replicate_to},
    [ASSAY_LAYOUT_PAD] = {"pad", pad_shape, stay, stay},
    [ASSAY_LAYOUT_SWIZZLE_128X4] = {"swizzle 128x4", swizzle_128x4_shape, swizzle_128x4_from,
                                    swizzle_128x4_to},
    [ASSAY_LAYOUT_SWIZZLE_8X4] = {"swizzle 8x4", swizzle_8x4_shape, swizzle_8x4_from,
                                  swizzle_8x4_to},
    [ASSAY_LAYOUT_GROUP] = {"group", group_shape, group_from, group_to},
    [ASSAY_LAYOUT_PACK_LOW] = {"pack low", pack_shape, NULL, NULL},
    [ASSAY_LAYOUT_PACK_HIGH] = {"pack high", pack_shape, NULL, NULL},
    [ASSAY_LAYOUT_PACK_HALVES] = {"pack halves", pack_shape, NULL, NULL},
    [ASSAY_LAYOUT_PACK_E5M6] = {"pack e5m6", pack_shape, NULL, NULL},
    [ASSAY_LAYOUT_RECORD] = {"record", record_shape, NULL, NULL},
};

const char *layout_step_word(assay_layout_op op)
{
    return rows[op].word;
}

/* ---- plans ---- */

int layout_plan_start(layout_plan *plan, const assay_layout_grid *grid, int64_t m, int64_t k,
                      assay_error *error)
{
    if (grid->rows < 0 || grid->cols < 0 || m < 0 || k < 0)
        return assay_fail(error, "layout: a grid of %" PRId64 "x%" PRId64 " for a matrix of %" PRId64
                                 "x%" PRId64 ": no negative sizes", grid->rows, grid->cols, m, k);
    assert(grid->code_bits >= 1 && grid->code_bits <= 8 * grid->code_bytes);
    plan->grid = grid;
    plan->count = 0;
    plan->stages[0] = (layout_stage){grid->rows, grid->cols, grid->tile_rows, grid->tile_cols, m, k,
                                     grid->code_bits};
    return 0;
}

int layout_plan_add(layout_plan *plan, const assay_layout_step *step, assay_error *error)
{
    assert(plan->count < LAYOUT_MAX_STEPS);
    layout_stage after = plan->stages[plan->count];
    if (rows[step->op].shape(step, &after, error))
        return -1;
    plan->steps[plan->count++] = step;
    plan->stages[plan->count] = after;
    return 0;
}

static layout_unit unit_at(const layout_plan *plan, int stage, position p);

static layout_unit padding(step_t *step, int bits)
{
    uint64_t all = layout_mask(bits);
    switch (step->fill) {
    case ASSAY_FILL_VALUE:
        return (layout_unit){step->value & all, all, 0};
    case ASSAY_FILL_KEEP:
        return (layout_unit){0, 0, all};
    case ASSAY_FILL_ANY:
        break;
    }
    return (layout_unit){0, 0, 0};
}

static layout_unit packed_unit(const layout_plan *plan, int stage, layout_packing packing,
                               position p)
{
    step_t *step = plan->steps[stage - 1];
    int code_bits = plan->stages[stage - 1].bits, wanted = (int)(p.j % packing.units);
    int64_t first = p.j / packing.units * packing.group;
    layout_unit unit = {0, 0, 0};
    for (int j = 0; j < packing.group; j++) {
        layout_place pieces[2];
        int n = layout_packing_pieces(step, code_bits, j, pieces);
        for (int i = 0; i < n; i++) {
            if (pieces[i].j != wanted)
                continue;
            layout_unit code = unit_at(plan, stage - 1, (position){p.i, first + j});
            uint64_t mask = layout_mask(pieces[i].width);
            unit.value |= (code.value >> pieces[i].code_shift & mask) << pieces[i].unit_shift;
            unit.judged |= (code.judged >> pieces[i].code_shift & mask) << pieces[i].unit_shift;
            unit.kept |= (code.kept >> pieces[i].code_shift & mask) << pieces[i].unit_shift;
        }
    }
    return unit;
}

static layout_unit unit_at(const layout_plan *plan, int stage, position p)
{
    if (stage == 0)
        return (layout_unit){layout_grid_get(plan->grid, p.i, p.j),
                             layout_mask(plan->stages[0].bits), 0};
    step_t *step = plan->steps[stage - 1];
    stage_t *before = &plan->stages[stage - 1];
    layout_packing packing;
    if (layout_packing_of(step, before->bits, &packing))
        return packed_unit(plan, stage, packing, p);
    if (rows[step->op].from)
        p = rows[step->op].from(step, before, p);
    if (p.i >= before->rows || p.j >= before->cols)
        return padding(step, before->bits);
    return unit_at(plan, stage - 1, p);
}

layout_unit layout_plan_unit(const layout_plan *plan, int64_t i, int64_t j)
{
    return unit_at(plan, plan->count, (position){i, j});
}

/* A packing step splits a place; only one can follow the codes, for its units are wider. */
int layout_plan_places(const layout_plan *plan, int64_t i, int64_t j, layout_place places[2])
{
    int n = 1;
    places[0] = (layout_place){i, j, 0, 0, plan->stages[0].bits};
    for (int s = 0; s < plan->count; s++) {
        step_t *step = plan->steps[s];
        stage_t *before = &plan->stages[s];
        layout_packing packing;
        if (layout_packing_of(step, before->bits, &packing)) {
            int64_t row = places[0].i, col = places[0].j;
            n = layout_packing_pieces(step, before->bits, (int)(col % packing.group), places);
            for (int piece = 0; piece < n; piece++) {
                places[piece].i = row;
                places[piece].j += col / packing.group * packing.units;
            }
        } else if (rows[step->op].to) {
            for (int piece = 0; piece < n; piece++) {
                position p = {places[piece].i, places[piece].j};
                p = rows[step->op].to(step, before, p);
                places[piece].i = p.i;
                places[piece].j = p.j;
            }
        }
    }
    return n;
}

/* ---- bytes and grids ---- */

void layout_put(uint8_t *bytes, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

uint64_t layout_get(const uint8_t *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static size_t grid_offset(const assay_layout_grid *grid, int64_t i, int64_t j)
{
    return (size_t)(i * grid->cols + j) * (size_t)grid->code_bytes;
}

uint64_t layout_grid_get(const assay_layout_grid *grid, int64_t i, int64_t j)
{
    uint64_t code = layout_get((const uint8_t *)grid->data + grid_offset(grid, i, j),
                               grid->code_bytes);
    return code & layout_mask(grid->code_bits);
}

void layout_grid_put(assay_layout_grid *grid, int64_t i, int64_t j, uint64_t code)
{
    layout_put((uint8_t *)grid->data + grid_offset(grid, i, j), grid->code_bytes, code);
}

int64_t layout_plan_size(const layout_plan *plan)
{
    const layout_stage *last = layout_plan_last(plan);
    return last->rows * last->cols * layout_unit_bytes(last);
}

void layout_write_unit(const layout_stage *stage, layout_unit unit, uint8_t *bytes, uint8_t *judged,
                       uint8_t *kept)
{
    int size = layout_unit_bytes(stage);
    uint64_t codes = layout_mask(stage->bits);
    bool whole = unit.judged == codes; /* then the zero bits above the code are judged too */
    for (int b = 0; b < size; b++) {
        uint8_t owned = (uint8_t)(codes >> 8 * b);
        bool keep = unit.kept != 0 && (uint8_t)(unit.kept >> 8 * b) == owned;
        if (!keep)
            bytes[b] = (uint8_t)(unit.value >> 8 * b);
        if (judged)
            judged[b] = (uint8_t)((whole ? UINT64_MAX : unit.judged) >> 8 * b);
        if (kept)
            kept[b] = keep;
    }
}

int layout_wrong_size(assay_error *error, int64_t have, int64_t need)
{
    return assay_fail(error, "layout: %" PRId64 " bytes where this shape has %" PRId64
                             ": give exactly those", have, need);
}
