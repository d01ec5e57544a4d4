/* The codes of one value to bytes and back: walks the arrays of a plan. */
#include "layout.h"

#include "layout_plan.h"

static int make_plan(const assay_layout *l, const assay_layout_grid *grid, int64_t m, int64_t k,
                     layout_plan *plan, assay_error *error)
{
    if (layout_plan_start(plan, grid, m, k, error))
        return -1;
    for (int s = 0; s < l->step_count; s++)
        if (layout_plan_add(plan, &l->steps[s], error))
            return -1;
    return 0;
}

int64_t assay_layout_size(const assay_layout *l, const assay_layout_grid *grid, int64_t m,
                          int64_t k, assay_error *error)
{
    layout_plan plan;
    return make_plan(l, grid, m, k, &plan, error) ? -1 : layout_plan_size(&plan);
}

int assay_layout_encode(const assay_layout *l, const assay_layout_grid *grid, int64_t m, int64_t k,
                        uint8_t *bytes, uint8_t *judged, uint8_t *kept, assay_error *error)
{
    layout_plan plan;
    if (make_plan(l, grid, m, k, &plan, error))
        return -1;
    const layout_stage *last = layout_plan_last(&plan);
    int size = layout_unit_bytes(last);
    int64_t at = 0;
    for (int64_t i = 0; i < last->rows; i++)
        for (int64_t j = 0; j < last->cols; j++, at += size)
            layout_write_unit(last, layout_plan_unit(&plan, i, j), bytes + at, judged ? judged + at : NULL,
                       kept ? kept + at : NULL);
    return 0;
}

int assay_layout_decode(const assay_layout *l, const uint8_t *bytes, int64_t size, int64_t m,
                        int64_t k, assay_layout_grid *grid, assay_error *error)
{
    layout_plan plan;
    if (make_plan(l, grid, m, k, &plan, error))
        return -1;
    if (size != layout_plan_size(&plan))
        return layout_wrong_size(error, size, layout_plan_size(&plan));
    const layout_stage *last = layout_plan_last(&plan);
    int unit = layout_unit_bytes(last);
    for (int64_t i = 0; i < grid->rows; i++)
        for (int64_t j = 0; j < grid->cols; j++) {
            layout_place places[2];
            int n = layout_plan_places(&plan, i, j, places);
            uint64_t code = 0;
            for (int p = 0; p < n; p++) {
                int64_t at = (places[p].i * last->cols + places[p].j) * unit;
                uint64_t value = layout_get(bytes + at, unit) >> places[p].unit_shift;
                code |= (value & layout_mask(places[p].width)) << places[p].code_shift;
            }
            layout_grid_put(grid, i, j, code);
        }
    return 0;
}
