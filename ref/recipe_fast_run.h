/* Private to recipe_fast_run.c and recipe_fast_band.c: one evaluation under way. */
#ifndef ASSAY_RECIPE_FAST_RUN_H
#define ASSAY_RECIPE_FAST_RUN_H

#include "recipe_fast.h"

/* Elements r0 <= r < r0 + h, c0 <= c < c0 + w of the extended matrix, cut along tile edges. */
typedef struct {
    int64_t r0, c0, h, w;
} fast_region;

/* Memory of one band call; kept for the next. */
typedef struct fast_workspace {
    struct fast_workspace *next;
    uint8_t *memory;
    size_t size;
} fast_workspace;

struct assay_fast_run {
    const assay_fast *f;
    int64_t m, k;             /* declared */
    int64_t rows, cols;       /* extended by `pad` */
    int64_t strip_rows, strip_cols;
    assay_grid *inputs;       /* those given whole at begin (others: data NULL) */
    assay_grid *whole_outputs;
    void **global;            /* by node: values of global nodes */
    uint8_t **seen;           /* by node: global reductions, which values have one yet */
    fast_source *sources;     /* by node: what `at` and rotate read */
    void **copies;            /* by node: a banded input kept for `at` */
    pthread_mutex_t lock;     /* guards global and seen during a pass, and spare */
    fast_workspace *spare;
};

/* Tiles of a side along an extent, and which of them begins at an element (a multiple of the side):
 * most sides are 1, and a division is dear beside a strip. */
static inline int64_t fast_along(int64_t extent, int64_t side)
{
    return side == 1 ? extent : assay_tiles_along(extent, side);
}
static inline int64_t fast_index(int64_t element, int64_t side)
{
    return element == 0 || side == 0 ? 0 : side == 1 ? element : element / side;
}
/* Shape of a tiling's grid over a region. */
static inline int64_t fast_rows(assay_tile t, fast_region r)
{
    return fast_along(r.h, t.rows);
}
static inline int64_t fast_cols(assay_tile t, fast_region r)
{
    return fast_along(r.w, t.cols);
}
static inline fast_region fast_everything(const assay_fast_run *run)
{
    return (fast_region){0, 0, run->rows, run->cols};
}
static inline int fast_input_index(const assay_program *p, int value)
{
    int i = 0;
    while (p->inputs[i] != value)
        i++;
    return i;
}
/* Fills geometry and parameters of a node over a region; d and s are the caller's. */
void fast_prepare(const assay_fast_run *run, int node, fast_region region, fast_params *params,
                  fast_args *g);
/* A grid's values for a region into a register; what is outside the given grid is 0. first_row: of
 * the matrix, where grid->data begins. */
void fast_read_grid(const assay_fast_run *run, const assay_value *v, const assay_grid *grid,
                    int64_t first_row, fast_region region, void *to);
const void *fast_grid_in_place(const assay_fast_run *run, const assay_value *v,
                               const assay_grid *grid, int64_t first_row, fast_region region);

/* Numerics of the calling thread: nearest-even, subnormals kept. Returns what to restore. */
unsigned fast_enter(void);
void fast_leave(unsigned saved);

#endif
