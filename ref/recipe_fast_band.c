/* One band of rows in one pass: the steps of the pass, a strip at a time. */
#include <stdlib.h>
#include <string.h>

#include "recipe_fast_run.h"

typedef struct {
    assay_fast_run *run;
    const fast_pass *pass;
    int64_t first_row;            /* where the band's grids begin */
    const assay_grid *inputs, *outputs;
    void **reg;                   /* by node: where its values are in this strip */
    void **slot;                  /* register memory */
    void **partial;               /* by step: partial results of a global reduction */
    uint8_t **partial_seen;
    void *temporary[2];           /* for one of them */
    fast_args *whole;             /* by step: prepared for strips of full size */
} band;

/* ---- memory ---- */

static fast_workspace *take_workspace(assay_fast_run *run)
{
    pthread_mutex_lock(&run->lock);
    fast_workspace *w = run->spare;
    if (w)
        run->spare = w->next;
    pthread_mutex_unlock(&run->lock);
    return w ? w : calloc(1, sizeof *w);
}

static void give_back(assay_fast_run *run, fast_workspace *w)
{
    pthread_mutex_lock(&run->lock);
    w->next = run->spare;
    run->spare = w;
    pthread_mutex_unlock(&run->lock);
}

/* Carves out `bytes`, aligned; in a first walk `base` is NULL and only the size counts. */
static void *carve(uint8_t *base, size_t *used, size_t bytes)
{
    void *p = base ? base + *used : NULL;
    *used += (bytes + 63 + 64) & ~(size_t)63; /* a line between registers */
    return p;
}

static size_t values_in(const fast_node *n, fast_region region)
{
    return (size_t)(fast_rows(n->tile, region) * fast_cols(n->tile, region));
}

static size_t lay_out(band *b, uint8_t *base)
{
    const assay_fast *f = b->run->f;
    fast_region strip = {0, 0, b->run->strip_rows, b->run->strip_cols};
    fast_region all = fast_everything(b->run);
    size_t used = 0, pointer = sizeof(void *), steps = (size_t)b->pass->step_count;
    size_t temporary = 0;
    void **reg = carve(base, &used, (size_t)f->node_count * pointer);
    void **slot = carve(base, &used, (size_t)b->pass->slot_count * pointer);
    void **partial = carve(base, &used, steps * pointer);
    uint8_t **seen = carve(base, &used, steps * pointer);
    fast_args *whole = carve(base, &used, steps * sizeof *whole);
    for (int s = 0; s < b->pass->slot_count; s++) {
        const fast_node *n = &f->nodes[b->pass->slot_node[s]];
        void *memory = carve(base, &used, (values_in(n, strip) << n->lane) + 64);
        if (base)
            slot[s] = memory;
    }
    for (int s = 0; s < b->pass->step_count; s++) {
        const fast_node *n = &f->nodes[b->pass->steps[s].node];
        if (!n->combine)
            continue;
        size_t count = values_in(n, all);
        void *memory = carve(base, &used, count << n->lane);
        uint8_t *flags = carve(base, &used, count);
        if (base) {
            partial[s] = memory;
            seen[s] = flags;
        }
        temporary = count << n->lane > temporary ? count << n->lane : temporary;
    }
    void *first = carve(base, &used, temporary), *second = carve(base, &used, temporary);
    if (base) {
        b->reg = reg;
        b->slot = slot;
        b->partial = partial;
        b->partial_seen = seen;
        b->temporary[0] = first;
        b->temporary[1] = second;
        b->whole = whole;
    }
    return used + 64;
}

static bool prepare_workspace(band *b, fast_workspace *w)
{
    size_t size = lay_out(b, NULL);
    if (w->size < size) {
        free(w->memory);
        w->memory = malloc(size);
        w->size = w->memory ? size : 0;
        if (!w->memory)
            return false;
    }
    uint8_t *aligned = w->memory + (-(uintptr_t)w->memory & 63);
    lay_out(b, aligned);
    for (int s = 0; s < b->pass->step_count; s++) {
        const fast_node *n = &b->run->f->nodes[b->pass->steps[s].node];
        if (n->combine)
            memset(b->partial_seen[s], 0, values_in(n, fast_everything(b->run)));
    }
    return true;
}

/* ---- global reductions and collections ---- */

static bool any_of(const uint8_t *flags, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (flags[i])
            return true;
    return false;
}

/* Joins n values of `from` to those at `to`; all of `to` are seen, or none (in one strip column). */
static void join(const fast_node *n, void *to, uint8_t *seen, const void *from, int64_t count,
                 void *temporary)
{
    size_t bytes = (size_t)count << n->lane;
    if (any_of(seen, count)) {
        fast_args g = {.d = temporary, .s = {to, from}, .n = count, .p = &n->params};
        n->combine(&g);
        memcpy(to, temporary, bytes);
    } else {
        memcpy(to, from, bytes);
        memset(seen, 1, (size_t)count);
    }
}

static void reduce_strip(band *b, int step, fast_region region)
{
    int node = b->pass->steps[step].node;
    const fast_node *n = &b->run->f->nodes[node];
    fast_params params;
    fast_args g = {.d = b->temporary[0], .s = {b->reg[n->arg[0]], b->reg[n->arg[0]]}};
    fast_prepare(b->run, node, region, &params, &g);
    n->kernel(&g);
    int64_t at = fast_index(region.c0, n->tile.cols);
    join(n, (uint8_t *)b->partial[step] + ((size_t)at << n->lane), b->partial_seen[step] + at,
         b->temporary[0], g.cols, b->temporary[1]);
}

/* Partial results of a band join the run's, in any order of bands. */
static void deliver(band *b)
{
    assay_fast_run *run = b->run;
    pthread_mutex_lock(&run->lock);
    for (int s = 0; s < b->pass->step_count; s++) {
        int node = b->pass->steps[s].node;
        const fast_node *n = &run->f->nodes[node];
        if (n->combine)
            join(n, run->global[node], run->seen[node], b->partial[s],
                 (int64_t)values_in(n, fast_everything(run)), b->temporary[1]);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Different strips write different parts. */
static void collect_strip(band *b, int node, fast_region region)
{
    const fast_node *n = &b->run->f->nodes[node];
    const uint8_t *from = b->reg[n->arg[0]];
    int64_t rows = fast_rows(n->tile, region), cols = fast_cols(n->tile, region);
    int64_t row0 = fast_index(region.r0, n->tile.rows), col0 = fast_index(region.c0, n->tile.cols);
    int64_t stride = fast_along(b->run->cols, n->tile.cols);
    for (int64_t i = 0; i < rows; i++)
        memcpy((uint8_t *)b->run->global[node] + ((size_t)((row0 + i) * stride + col0) << n->lane),
               from + ((size_t)(i * cols) << n->lane), (size_t)cols << n->lane);
}

/* ---- outputs ---- */

static const assay_grid *output_grid(const band *b, int output)
{
    return b->outputs && b->outputs[output].data ? &b->outputs[output] : NULL;
}

/* A register into bytes of a grid (codes, or marks of one byte), cropped to M x K. */
static void write_grid(const band *b, const assay_value *v, void *to, size_t size, const void *from,
                       fast_region region)
{
    assay_tile t = v->tile;
    int64_t rows = fast_rows(t, region), cols = fast_cols(t, region);
    int64_t row0 = fast_index(region.r0 - b->first_row, t.rows), col0 = fast_index(region.c0, t.cols);
    int64_t grid_rows = fast_along(b->run->m, t.rows) - fast_index(b->first_row, t.rows);
    int64_t grid_cols = fast_along(b->run->k, t.cols);
    int64_t width = grid_cols - col0 < cols ? grid_cols - col0 : cols;
    for (int64_t i = 0; i < rows && row0 + i < grid_rows && width > 0; i++) {
        uint8_t *row = (uint8_t *)to + (size_t)((row0 + i) * grid_cols + col0) * size;
        if (from)
            memcpy(row, (const uint8_t *)from + (size_t)(i * cols) * size, (size_t)width * size);
        else
            memset(row, 0, (size_t)width * size);
    }
}

static void write_outputs(const band *b, fast_region region, const void *const *in_place)
{
    const assay_fast *f = b->run->f;
    for (int i = 0; i < f->output_count; i++) {
        const fast_output *o = &f->outputs[i];
        const assay_value *v = &f->program->values[o->value];
        if (v->tile.rows == 0 || !b->outputs)
            continue;
        if (b->outputs[i].data && b->reg[o->node] != in_place[i])
            write_grid(b, v, b->outputs[i].data, (size_t)assay_type_storage(v->type),
                       b->reg[o->node], region);
        if (b->outputs[i].marks)
            write_grid(b, v, b->outputs[i].marks, 1, o->mark < 0 ? NULL : b->reg[o->mark], region);
    }
}

/* ---- steps ---- */

static const void *operand(const band *b, int node, fast_region region)
{
    const fast_node *n = &b->run->f->nodes[node];
    if (!n->global)
        return b->reg[node];
    int64_t at = fast_index(region.c0, n->tile.cols);
    return (const uint8_t *)b->run->global[node] + ((size_t)at << n->lane);
}

static void load(band *b, int node, void *memory, fast_region region)
{
    const assay_program *p = b->run->f->program;
    int value = b->run->f->nodes[node].value;
    const assay_grid *grid = &b->inputs[fast_input_index(p, value)];
    union {
        const void *given;
        void *reg;
    } in = {fast_grid_in_place(b->run, &p->values[value], grid, b->first_row, region)};
    if (!in.given) {
        fast_read_grid(b->run, &p->values[value], grid, b->first_row, region, memory);
        in.reg = memory;
    }
    b->reg[node] = in.reg;
}

static void compute(band *b, const fast_step *step, fast_region region, const void **in_place)
{
    const fast_node *n = &b->run->f->nodes[step->node];
    fast_params params;
    fast_args g = {.n = -1};
    if (region.h == b->run->strip_rows && region.w == b->run->strip_cols &&
        n->kind != FAST_COORDINATE && n->kind != FAST_GATHER && n->kind != FAST_TRANSFORM)
        g = b->whole[step - b->pass->steps];
    else
        fast_prepare(b->run, step->node, region, &params, &g);
    g.d = b->slot[step->slot];
    if (step->output >= 0 && output_grid(b, step->output)) {
        const assay_value *v = &b->run->f->program->values[b->run->f->outputs[step->output].value];
        union {
            const void *given;
            void *own;
        } grid = {fast_grid_in_place(b->run, v, output_grid(b, step->output), b->first_row, region)};
        if (grid.given) {
            g.d = grid.own;
            in_place[step->output] = grid.own;
        }
    }
    for (int k = 0; k < n->argc; k++)
        g.s[k] = operand(b, n->arg[k], region);
    if (n->kind == FAST_REDUCE && n->argc == 1)
        g.s[1] = g.s[0];
    n->kernel(&g);
    b->reg[step->node] = g.d;
}

static void fill_pinned(band *b)
{
    fast_region strip = {0, 0, b->run->strip_rows, b->run->strip_cols};
    const void *none = NULL;
    fast_params unused;
    for (int s = 0; s < b->pass->step_count; s++) {
        b->whole[s] = (fast_args){.n = 0};
        if (!b->run->f->nodes[b->pass->steps[s].node].global)
            fast_prepare(b->run, b->pass->steps[s].node, strip, &unused, &b->whole[s]);
    }
    for (int s = 0; s < b->pass->step_count; s++)
        if (b->pass->steps[s].pinned)
            compute(b, &b->pass->steps[s], strip, &none);
}

static void run_strip(band *b, fast_region region, const void **in_place)
{
    memset(in_place, 0, (size_t)b->run->f->output_count * sizeof *in_place);
    for (int s = 0; s < b->pass->step_count; s++) {
        const fast_step *step = &b->pass->steps[s];
        const fast_node *n = &b->run->f->nodes[step->node];
        if (step->pinned)
            continue;
        if (n->combine)
            reduce_strip(b, s, region);
        else if (n->kind == FAST_COLLECT)
            collect_strip(b, step->node, region);
        else if (n->kind == FAST_LOAD)
            load(b, step->node, b->slot[step->slot], region);
        else
            compute(b, step, region, in_place);
    }
    write_outputs(b, region, in_place);
}

/* A program whose `at` reads banded inputs has one band; what a global reads is kept for later. */
static bool set_banded_sources(band *b)
{
    assay_fast_run *run = b->run;
    const assay_program *p = run->f->program;
    for (int i = 0; i < run->f->node_count; i++) {
        const fast_node *n = &run->f->nodes[i];
        if (n->kind != FAST_GATHER || p->values[n->value].is_table ||
            p->values[n->value].tile.rows == 0 || run->sources[i].data)
            continue;
        const void *data = b->inputs[fast_input_index(p, n->value)].data;
        size_t size = (size_t)(run->sources[i].rows * run->sources[i].cols * run->sources[i].storage);
        if (!data)
            continue;
        run->copies[i] = malloc(size + 1);
        if (!run->copies[i])
            return false;
        memcpy(run->copies[i], data, size);
        run->sources[i].data = run->copies[i];
    }
    return true;
}

static void run_strips(band *b, int64_t rows, const void **in_place)
{
    assay_fast_run *run = b->run;
    int64_t end = b->first_row + rows >= run->m ? run->rows : b->first_row + rows;
    fill_pinned(b);
    for (int64_t r = b->first_row; r < end; r += run->strip_rows) {
        int64_t h = end - r < run->strip_rows ? end - r : run->strip_rows, c = 0;
        do {
            int64_t w = run->cols - c < run->strip_cols ? run->cols - c : run->strip_cols;
            run_strip(b, (fast_region){r, c, h, w}, in_place);
            c += run->strip_cols;
        } while (c < run->cols);
    }
    deliver(b);
}

int assay_fast_band(assay_fast_run *run, int pass, int64_t first_row, int64_t rows,
                    const assay_grid *inputs, const assay_grid *outputs, assay_error *error)
{
    const assay_fast *f = run->f;
    band b = {.run = run, .pass = &f->passes[pass], .first_row = first_row, .inputs = inputs};
    b.outputs = pass == f->pass_count - 1 ? outputs : NULL;
    fast_workspace *w = take_workspace(run);
    const void **in_place = calloc((size_t)f->output_count + 1, sizeof *in_place);
    bool ok = w && in_place && prepare_workspace(&b, w) &&
              (!f->single_band || set_banded_sources(&b));
    if (ok && b.pass->step_count > 0) {
        unsigned saved = fast_enter();
        run_strips(&b, rows, in_place);
        fast_leave(saved);
    }
    if (w)
        give_back(run, w);
    free(in_place);
    return ok ? 0 : assay_fail(error, "out of memory for a band of %lld rows of %s",
                               (long long)rows, f->program->name);
}
