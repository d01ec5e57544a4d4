/* `record`: several values in one run of bytes, tile by tile; in a tile the first member's units in
 * row-major order, then the next one's. */
#include <inttypes.h>

#include "layout_plan.h"

/* One member: its plan (the common steps, then its own packing), and its part of a tile. */
typedef struct {
    layout_plan plan;
    int64_t rows, cols; /* units in a whole tile */
} member;

static const assay_layout_step *record_step(const assay_layout *l)
{
    return &l->steps[l->step_count - 1];
}

static int make_member(const assay_layout *l, int index, const assay_layout_grid *grid, int64_t m,
                       int64_t k, member *out, assay_error *error)
{
    const assay_layout_step *record = record_step(l);
    if (layout_plan_start(&out->plan, grid, m, k, error))
        return -1;
    for (int s = 0; s + 1 < l->step_count; s++)
        if (layout_plan_add(&out->plan, &l->steps[s], error))
            return -1;
    layout_stage codes = *layout_plan_last(&out->plan);
    if (codes.tile_rows < 1 || codes.tile_cols < 1 || record->a % codes.tile_rows ||
        record->b % codes.tile_cols)
        return assay_fail(error, "layout: record %" PRId64 "x%" PRId64 ": a code of member %d stands "
                                 "for %" PRId64 "x%" PRId64 " elements: its tile must divide the "
                                 "record's", record->a, record->b, index + 1, codes.tile_rows,
                          codes.tile_cols);
    out->rows = record->a / codes.tile_rows;
    out->cols = record->b / codes.tile_cols;
    if (!l->member_packed[index])
        return 0;
    layout_packing packing;
    if (layout_plan_add(&out->plan, &l->member_step[index], error))
        return -1;
    if (!layout_packing_of(&l->member_step[index], codes.bits, &packing))
        return 0;
    if (out->cols % packing.group)
        return assay_fail(error, "layout: record: %s: %" PRId64 " codes in a row of the record are "
                                 "not a multiple of %d", layout_step_word(l->member_step[index].op),
                          out->cols, packing.group);
    out->cols = out->cols / packing.group * packing.units;
    return 0;
}

static int make_members(const assay_layout *l, const assay_layout_grid *grids, int64_t m, int64_t k,
                        member members[ASSAY_LAYOUT_MEMBERS], assay_error *error)
{
    if (l->step_count < 1 || record_step(l)->op != ASSAY_LAYOUT_RECORD || l->record_count < 1)
        return assay_fail(error, "layout: record: it must be the last step, with its members");
    if (record_step(l)->a < 1 || record_step(l)->b < 1)
        return assay_fail(error, "layout: record: the sides must be positive numbers");
    for (int i = 0; i < l->record_count; i++)
        if (make_member(l, i, &grids[i], m, k, &members[i], error))
            return -1;
    return 0;
}

static int64_t members_size(const assay_layout *l, const member *members)
{
    int64_t size = 0;
    for (int i = 0; i < l->record_count; i++)
        size += layout_plan_size(&members[i].plan);
    return size;
}

int64_t assay_record_size(const assay_layout *l, const assay_layout_grid *grids, int64_t m,
                          int64_t k, assay_error *error)
{
    member members[ASSAY_LAYOUT_MEMBERS];
    return make_members(l, grids, m, k, members, error) ? -1 : members_size(l, members);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The units of one member in record (ti, tj). Edge records are partial. */
typedef struct {
    int64_t i0, i1, j0, j1;
} part;

static part part_of(const member *x, int64_t ti, int64_t tj)
{
    const layout_stage *last = layout_plan_last(&x->plan);
    return (part){least(ti * x->rows, last->rows), least((ti + 1) * x->rows, last->rows),
                  least(tj * x->cols, last->cols), least((tj + 1) * x->cols, last->cols)};
}

/* Grid of records: as many as the member with the most tiles needs (padding steps included). */
static void record_grid(const assay_layout *l, const member *members, int64_t *down,
                        int64_t *across)
{
    *down = *across = 0;
    for (int i = 0; i < l->record_count; i++) {
        const layout_stage *last = layout_plan_last(&members[i].plan);
        int64_t d = (last->rows + members[i].rows - 1) / members[i].rows;
        int64_t a = (last->cols + members[i].cols - 1) / members[i].cols;
        *down = d > *down ? d : *down;
        *across = a > *across ? a : *across;
    }
}

int assay_record_encode(const assay_layout *l, const assay_layout_grid *grids, int64_t m, int64_t k,
                        uint8_t *bytes, uint8_t *judged, assay_error *error)
{
    member members[ASSAY_LAYOUT_MEMBERS];
    if (make_members(l, grids, m, k, members, error))
        return -1;
    int64_t down, across, at = 0;
    record_grid(l, members, &down, &across);
    for (int64_t tile = 0; tile < down * across; tile++)
        for (int x = 0; x < l->record_count; x++) {
            const layout_stage *last = layout_plan_last(&members[x].plan);
            part p = part_of(&members[x], tile / across, tile % across);
            for (int64_t i = p.i0; i < p.i1; i++)
                for (int64_t j = p.j0; j < p.j1; j++, at += layout_unit_bytes(last))
                    layout_write_unit(last, layout_plan_unit(&members[x].plan, i, j), bytes + at,
                               judged ? judged + at : NULL, NULL);
        }
    return 0;
}

/* Where unit (i, j) of member x starts: whole records above and to the left, then members before it
 * in its record, then units before it in its part. */
static int64_t record_offset(const assay_layout *l, const member *members, int x, int64_t i,
                             int64_t j)
{
    int64_t ti = i / members[x].rows, tj = j / members[x].cols, at = 0;
    for (int y = 0; y < l->record_count; y++) {
        const layout_stage *last = layout_plan_last(&members[y].plan);
        int size = layout_unit_bytes(last);
        part p = part_of(&members[y], ti, tj);
        at += (p.i0 * last->cols + (p.i1 - p.i0) * p.j0) * size;
        if (y < x)
            at += (p.i1 - p.i0) * (p.j1 - p.j0) * size;
        if (y == x)
            at += ((i - p.i0) * (p.j1 - p.j0) + (j - p.j0)) * size;
    }
    return at;
}

int assay_record_decode(const assay_layout *l, const uint8_t *bytes, int64_t size, int64_t m,
                        int64_t k, assay_layout_grid *grids, assay_error *error)
{
    member members[ASSAY_LAYOUT_MEMBERS];
    if (make_members(l, grids, m, k, members, error))
        return -1;
    if (size != members_size(l, members))
        return layout_wrong_size(error, size, members_size(l, members));
    for (int x = 0; x < l->record_count; x++) {
        int unit = layout_unit_bytes(layout_plan_last(&members[x].plan));
        for (int64_t i = 0; i < grids[x].rows; i++)
            for (int64_t j = 0; j < grids[x].cols; j++) {
                layout_place places[2];
                int n = layout_plan_places(&members[x].plan, i, j, places);
                uint64_t code = 0;
                for (int p = 0; p < n; p++) {
                    int64_t at = record_offset(l, members, x, places[p].i, places[p].j);
                    uint64_t value = layout_get(bytes + at, unit) >> places[p].unit_shift;
                    code |= (value & layout_mask(places[p].width)) << places[p].code_shift;
                }
                layout_grid_put(&grids[x], i, j, code);
            }
    }
    return 0;
}
