/* A run of the fast evaluator: what lives from begin to end; global values between passes. */
#include "recipe_fast_run.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#ifdef __SSE2__
unsigned fast_enter(void)
{
    unsigned saved = _mm_getcsr();
    _mm_setcsr(0x1F80); /* nearest-even, all exceptions masked, FTZ and DAZ off */
    return saved;
}

void fast_leave(unsigned saved)
{
    _mm_setcsr(saved);
}
#elif defined(__aarch64__)
unsigned fast_enter(void)
{
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return (unsigned)saved;
}

void fast_leave(unsigned saved)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)saved));
}
#else
unsigned fast_enter(void)
{
    return 0;
}

void fast_leave(unsigned saved)
{
    (void)saved;
}
#endif

/* ---- compiling ---- */

assay_fast *fast_compile_baseline(const assay_program *p, bool baseline, assay_error *error)
{
    assay_fast *f = calloc(1, sizeof *f);
    if (!f) {
        assay_fail(error, "out of memory for the fast evaluator of %s", p->name);
        return NULL;
    }
    f->program = p;
    f->baseline = baseline;
    if (fast_lower_program(f, error) || fast_schedule(f, error)) {
        assay_fast_free(f);
        return NULL;
    }
    return f;
}

assay_fast *assay_fast_compile(const assay_program *p, assay_error *error)
{
    return fast_compile_baseline(p, false, error);
}

void assay_fast_free(assay_fast *f)
{
    if (!f)
        return;
    for (int p = 0; f->passes && p < f->pass_count; p++) {
        free(f->passes[p].steps);
        free(f->passes[p].slot_node);
    }
    for (int b = 0; b < f->block_count; b++)
        free(f->blocks[b]);
    free(f->blocks);
    free(f->passes);
    free(f->globals);
    free(f->nodes);
    free(f->hash);
    free(f->value_node);
    free(f->value_mark);
    free(f->pending_mark);
    free(f->outputs);
    free(f);
}

int assay_fast_passes(const assay_fast *f)
{
    return f->pass_count;
}

bool assay_fast_ordered(const assay_fast *f)
{
    (void)f;
    return false; /* sums in a stated order over the whole matrix collect their terms first */
}

static int64_t round_up(int64_t v, int64_t unit)
{
    return (v + unit - 1) / unit * unit;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t assay_fast_band_rows(const assay_fast *f, int64_t m, int64_t k)
{
    enum { BAND_ELEMENTS = 1 << 19 };
    int64_t a = f->unit_rows, b = f->pad_rows, unit;
    while (b != 0) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    unit = f->unit_rows / a * f->pad_rows;
    if (f->single_band || unit >= m)
        return larger(m, 1);
    return unit * larger(1, BAND_ELEMENTS / larger(1, unit * k));
}

/* ---- grids ---- */

void fast_read_grid(const assay_fast_run *run, const assay_value *v, const assay_grid *grid,
                    int64_t first_row, fast_region region, void *to)
{
    assay_tile t = v->tile;
    size_t size = (size_t)assay_type_storage(v->type);
    int64_t rows = fast_rows(t, region), cols = fast_cols(t, region);
    int64_t row0 = fast_index(region.r0 - first_row, t.rows);
    int64_t col0 = fast_index(region.c0, t.cols);
    int64_t given_rows = fast_along(run->m, t.rows) - fast_index(first_row, t.rows);
    int64_t given_cols = fast_along(run->k, t.cols);
    int64_t width = given_cols - col0 < cols ? given_cols - col0 : cols;
    for (int64_t i = 0; i < rows; i++) {
        uint8_t *row = (uint8_t *)to + (size_t)(i * cols) * size;
        bool inside = grid->data && row0 + i < given_rows && width > 0;
        size_t bytes = inside ? (size_t)width * size : 0;
        if (inside)
            memcpy(row, (const uint8_t *)grid->data + (size_t)((row0 + i) * given_cols + col0) * size,
                   bytes);
        memset(row + bytes, 0, (size_t)cols * size - bytes);
    }
}

const void *fast_grid_in_place(const assay_fast_run *run, const assay_value *v,
                               const assay_grid *grid, int64_t first_row, fast_region region)
{
    assay_tile t = v->tile;
    int64_t rows = fast_rows(t, region), cols = fast_cols(t, region);
    int64_t row0 = fast_index(region.r0 - first_row, t.rows);
    int64_t col0 = fast_index(region.c0, t.cols);
    int64_t given_rows = fast_along(run->m, t.rows) - fast_index(first_row, t.rows);
    int64_t given_cols = fast_along(run->k, t.cols);
    if (!grid || !grid->data || row0 + rows > given_rows || col0 + cols > given_cols ||
        (rows > 1 && cols != given_cols))
        return NULL;
    return (const uint8_t *)grid->data +
           (size_t)(row0 * given_cols + col0) * (size_t)assay_type_storage(v->type);
}

/* ---- one node over a region ---- */

static int64_t ratio(int64_t coarse, int64_t fine)
{
    return coarse == 0 ? INT64_MAX : coarse / fine;
}

void fast_prepare(const assay_fast_run *run, int node, fast_region region, fast_params *params,
                  fast_args *g)
{
    const fast_node *n = &run->f->nodes[node];
    g->rows = fast_rows(n->tile, region);
    g->cols = fast_cols(n->tile, region);
    g->n = g->rows * g->cols;
    g->p = &n->params;
    g->row0 = fast_index(region.r0, n->tile.rows);
    g->col0 = fast_index(region.c0, n->tile.cols);
    g->down = g->across = 1;
    if (n->kind == FAST_SPREAD || n->kind == FAST_RUNS || n->kind == FAST_REDUCE) {
        bool reduce = n->kind == FAST_REDUCE;
        assay_tile source = run->f->nodes[n->arg[n->kind == FAST_RUNS]].tile;
        assay_tile coarse = reduce ? n->tile : source, fine = reduce ? source : n->tile;
        g->source_rows = fast_rows(source, region);
        g->source_cols = fast_cols(source, region);
        g->down = ratio(coarse.rows, fine.rows);
        g->across = ratio(coarse.cols, fine.cols);
    }
    if (n->kind == FAST_GATHER || n->kind == FAST_TRANSFORM) {
        *params = n->params;
        if (n->value >= 0)
            params->word[0] = (uint64_t)(uintptr_t)&run->sources[node];
        g->p = params;
        if (n->kind == FAST_TRANSFORM) {
            g->down = n->run.rows;
            g->across = n->run.cols;
        }
    }
}

/* ---- globals ---- */

static size_t global_count(const assay_fast_run *run, const fast_node *n)
{
    fast_region all = fast_everything(run);
    return (size_t)(fast_rows(n->tile, all) * fast_cols(n->tile, all));
}

static void fill(const assay_fast_run *run, const fast_node *n, void *to)
{
    uint64_t word = n->params.word[1] == 1   ? (uint64_t)run->m
                    : n->params.word[1] == 2 ? (uint64_t)run->k
                                             : n->params.word[0];
    memcpy(to, &word, (size_t)1 << n->lane);
}

/* A reduction of no values where the strips brought none. */
static void fill_unseen(const assay_fast_run *run, int node)
{
    const fast_node *n = &run->f->nodes[node];
    size_t count = global_count(run, n), size = (size_t)1 << n->lane;
    fast_args g = {.s = {run->global[node], run->global[node]}, .n = 1, .p = &n->params, .rows = 1,
                   .cols = 1, .down = INT64_MAX, .across = INT64_MAX};
    for (size_t i = 0; i < count; i++)
        if (!run->seen[node][i]) {
            g.d = (uint8_t *)run->global[node] + i * size;
            n->kernel(&g); /* of 0 x 0 values */
        }
}

/* Makes the global values that are due before pass `stage`. */
static void make_globals(assay_fast_run *run, int stage)
{
    const assay_fast *f = run->f;
    for (int i = 0; i < f->global_count; i++) {
        int node = f->globals[i];
        const fast_node *n = &f->nodes[node];
        fast_params params;
        fast_args g = {.d = run->global[node]};
        if (n->ready != stage || n->kind == FAST_COLLECT)
            continue;
        if (n->kind == FAST_CONSTANT) {
            fill(run, n, g.d);
        } else if (n->kind == FAST_LOAD) {
            fast_read_grid(run, &f->program->values[n->value],
                           &run->inputs[fast_input_index(f->program, n->value)], 0,
                           fast_everything(run), g.d);
        } else if (n->combine) {
            fill_unseen(run, node);
        } else {
            fast_prepare(run, node, fast_everything(run), &params, &g);
            for (int k = 0; k < n->argc; k++)
                g.s[k] = run->global[n->arg[k]];
            if (n->argc == 1)
                g.s[1] = g.s[0];
            n->kernel(&g);
        }
    }
}

static bool allocate_globals(assay_fast_run *run)
{
    const assay_fast *f = run->f;
    size_t n = (size_t)f->node_count + 1;
    run->global = calloc(n, sizeof *run->global);
    run->seen = calloc(n, sizeof *run->seen);
    run->sources = calloc(n, sizeof *run->sources);
    run->copies = calloc(n, sizeof *run->copies);
    if (!run->global || !run->seen || !run->sources || !run->copies)
        return false;
    for (int i = 0; i < f->global_count; i++) {
        const fast_node *node = &f->nodes[f->globals[i]];
        size_t count = global_count(run, node);
        run->global[f->globals[i]] = malloc((count + 1) << node->lane);
        if (node->combine)
            run->seen[f->globals[i]] = calloc(count + 1, 1);
        if (!run->global[f->globals[i]] || (node->combine && !run->seen[f->globals[i]]))
            return false;
    }
    return true;
}

/* Tables and whole inputs are read where the caller has them; banded ones are set by the band. */
static void set_sources(assay_fast_run *run)
{
    const assay_program *p = run->f->program;
    for (int i = 0; i < run->f->node_count; i++) {
        const fast_node *n = &run->f->nodes[i];
        if (n->value < 0 || n->kind == FAST_LOAD)
            continue;
        const assay_value *v = &p->values[n->value];
        fast_source *s = &run->sources[i];
        s->data = run->inputs[fast_input_index(p, n->value)].data;
        s->storage = assay_type_storage(v->type);
        assay_value_shape(v, run->m, run->k, &s->rows, &s->cols);
    }
}

static void choose_strips(assay_fast_run *run)
{
    enum { STRIP_ELEMENTS = 2048 };
    const assay_fast *f = run->f;
    int64_t rows = f->unit_rows < run->rows ? f->unit_rows : larger(run->rows, 1);
    int64_t cols = larger(run->cols, 1);
    if (f->unit_cols != 0 && rows * cols > STRIP_ELEMENTS)
        cols = larger(f->unit_cols, STRIP_ELEMENTS / rows / f->unit_cols * f->unit_cols);
    run->strip_cols = cols;
    if (f->unit_rows <= run->rows)
        rows = f->unit_rows * larger(1, STRIP_ELEMENTS / (cols * f->unit_rows));
    run->strip_rows = rows;
}

static assay_grid *copy_grids(const assay_grid *grids, int count)
{
    assay_grid *copy = calloc((size_t)count + 1, sizeof *copy);
    if (copy && grids)
        memcpy(copy, grids, (size_t)count * sizeof *copy);
    return copy;
}

assay_fast_run *assay_fast_begin(const assay_fast *f, int64_t m, int64_t k, const assay_grid *inputs,
                                 const assay_grid *whole_outputs, assay_error *error)
{
    const char *why = NULL;
    if (!assay_program_admits(f->program, m, k, &why)) {
        assay_fail(error, "%s does not admit a matrix of %lld x %lld: it requires %s",
                   f->program->name, (long long)m, (long long)k, why ? why : "another shape");
        return NULL;
    }
    assay_fast_run *run = calloc(1, sizeof *run);
    if (!run || pthread_mutex_init(&run->lock, NULL)) {
        free(run);
        assay_fail(error, "out of memory for a run of %s", f->program->name);
        return NULL;
    }
    run->f = f;
    run->m = m;
    run->k = k;
    run->rows = round_up(m, f->pad_rows);
    run->cols = round_up(k, f->pad_cols);
    run->inputs = copy_grids(inputs, f->program->input_count);
    run->whole_outputs = copy_grids(whole_outputs, f->program->output_count);
    if (!run->inputs || !run->whole_outputs || !allocate_globals(run)) {
        assay_fast_end(run);
        assay_fail(error, "out of memory for a run of %s over %lld x %lld", f->program->name,
                   (long long)m, (long long)k);
        return NULL;
    }
    choose_strips(run);
    set_sources(run);
    unsigned saved = fast_enter();
    make_globals(run, 0);
    fast_leave(saved);
    return run;
}

/* A global output, cropped from the extended grid to that of M x K. */
static void write_whole(const assay_fast_run *run, int output)
{
    const fast_output *o = &run->f->outputs[output];
    const assay_value *v = &run->f->program->values[o->value];
    const assay_grid *to = &run->whole_outputs[output];
    size_t count = (size_t)fast_along(run->k, v->tile.cols);
    if (v->tile.rows != 0)
        return;
    if (to->data)
        memcpy(to->data, run->global[o->node], count * (size_t)assay_type_storage(v->type));
    if (to->marks && o->mark >= 0)
        memcpy(to->marks, run->global[o->mark], count);
    else if (to->marks)
        memset(to->marks, 0, count);
}

int assay_fast_pass_end(assay_fast_run *run, int pass, assay_error *error)
{
    (void)error;
    unsigned saved = fast_enter();
    make_globals(run, pass + 1);
    fast_leave(saved);
    if (pass == run->f->pass_count - 1)
        for (int o = 0; o < run->f->output_count; o++)
            write_whole(run, o);
    return 0;
}

void assay_fast_end(assay_fast_run *run)
{
    if (!run)
        return;
    for (int i = 0; i < run->f->node_count; i++) {
        if (run->global)
            free(run->global[i]);
        if (run->seen)
            free(run->seen[i]);
        if (run->copies)
            free(run->copies[i]);
    }
    while (run->spare) {
        fast_workspace *w = run->spare;
        run->spare = w->next;
        free(w->memory);
        free(w);
    }
    free(run->global);
    free(run->seen);
    free(run->sources);
    free(run->copies);
    free(run->inputs);
    free(run->whole_outputs);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* All inputs are whole here; what is banded goes by one band. */
int assay_fast_eval(const assay_fast *f, int64_t m, int64_t k, const assay_grid *inputs,
                    const assay_grid *outputs, assay_error *error)
{
    assay_fast_run *run = assay_fast_begin(f, m, k, inputs, outputs, error);
    if (!run)
        return -1;
    int status = 0;
    for (int pass = 0; !status && pass < f->pass_count; pass++) {
        if (m > 0)
            status = assay_fast_band(run, pass, 0, m, inputs, outputs, error);
        if (!status)
            status = assay_fast_pass_end(run, pass, error);
    }
    assay_fast_end(run);
    return status;
}
