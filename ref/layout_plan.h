/* Private to ref/layout*.c: a layout's steps applied to one grid, stage by stage. */
#ifndef ASSAY_LAYOUT_PLAN_H
#define ASSAY_LAYOUT_PLAN_H

#include "layout.h"

/* The array after some steps. Units are codes, after a packing step bytes or words. A unit stands
 * for tile_rows x tile_cols of the m x k elements (0: the whole extent); packing keeps these as
 * those of a code, for nothing reads them behind it but record, which counts in codes. */
typedef struct {
    int64_t rows, cols;
    int64_t tile_rows, tile_cols;
    int64_t m, k;
    int bits; /* of a unit */
} layout_stage;

enum { LAYOUT_MAX_STEPS = ASSAY_LAYOUT_STEPS + 1 };

typedef struct {
    const assay_layout_grid *grid;
    const assay_layout_step *steps[LAYOUT_MAX_STEPS];
    layout_stage stages[LAYOUT_MAX_STEPS + 1]; /* stages[s] is the array after s steps */
    int count;
} layout_plan;

/* One unit with what is known of it: bits that come from codes, bits that must stay. */
typedef struct {
    uint64_t value, judged, kept;
} layout_unit;

/* Begins a plan with the grid of an m x k matrix, then adds steps: 0, or -1 and `error` if the shape
 * does not suit the step. */
int layout_plan_start(layout_plan *plan, const assay_layout_grid *grid, int64_t m, int64_t k,
                      assay_error *error);
int layout_plan_add(layout_plan *plan, const assay_layout_step *step, assay_error *error);
static inline const layout_stage *layout_plan_last(const layout_plan *plan)
{
    return &plan->stages[plan->count];
}
static inline int layout_unit_bytes(const layout_stage *stage)
{
    return (stage->bits + 7) / 8;
}
static inline uint64_t layout_mask(int bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The unit (i, j) of the last stage, made from the grid. */
layout_unit layout_plan_unit(const layout_plan *plan, int64_t i, int64_t j);
/* Where a piece of a code went: the unit of the last stage, the lowest bit of the piece in the unit
 * and in the code, and its width. */
typedef struct {
    int64_t i, j;
    int unit_shift, code_shift, width;
} layout_place;
/* The pieces of code (i, j) of the grid: one or two. */
int layout_plan_places(const layout_plan *plan, int64_t i, int64_t j, layout_place places[2]);

int64_t layout_plan_size(const layout_plan *plan); /* bytes of the last stage */
/* Writes one unit with its masks (judged, kept: may be NULL; see assay_layout_encode). Bytes that
 * must stay whole are not touched; in a byte shared with a code, bits that must stay are 0 and not
 * judged. */
void layout_write_unit(const layout_stage *stage, layout_unit unit, uint8_t *bytes, uint8_t *judged,
                       uint8_t *kept);
int layout_wrong_size(assay_error *error, int64_t have, int64_t need); /* -1 with the message */

/* `size` bytes, little-endian; codes of a grid, by row and column. */
void layout_put(uint8_t *bytes, int size, uint64_t value);
uint64_t layout_get(const uint8_t *bytes, int size);
uint64_t layout_grid_get(const assay_layout_grid *grid, int64_t i, int64_t j);
void layout_grid_put(assay_layout_grid *grid, int64_t i, int64_t j, uint64_t code);

/* ---- packing (layout_pack.c): `group` codes of a row become `units` units of `unit_bits` ---- */

typedef struct {
    int group, units, unit_bits;
} layout_packing;

/* Does this packing step change an array of codes of that width? If so, how. */
bool layout_packing_of(const assay_layout_step *step, int code_bits, layout_packing *packing);
/* The one or two pieces of code j of a group (i is always 0; j: the unit in the group). */
int layout_packing_pieces(const assay_layout_step *step, int code_bits, int j,
                          layout_place pieces[2]);
const char *layout_step_word(assay_layout_op op);

#endif
