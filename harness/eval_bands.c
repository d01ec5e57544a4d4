#include "eval_bands.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { ITEM_BYTES = 1 << 20, VALUES = 64 };

/* One pass over the matrix; items are handed out to the threads in order. */
typedef struct {
    const eval_job *job;
    assay_fast_run *run;
    int pass;
    bool last;
    int64_t band_rows, item_rows, items;
    atomic_llong next;
    atomic_bool failed;
    pthread_mutex_t lock; /* progress, error, write_seconds */
    assay_error *error;
    double write_seconds;
} pass_state;

/* What one thread owns: a buffer for each input that cannot be read in place and for each output. */
typedef struct {
    void *input[VALUES], *output[VALUES];
} buffers;

static const assay_value *input_of(const eval_job *job, int i)
{
    return &job->program->values[job->program->inputs[i]];
}

static const assay_value *output_of(const eval_job *job, int i)
{
    return &job->program->values[job->program->outputs[i]];
}

/* Cut into bands? The others (tensor, column, tables) are whole from the first pass on. */
static bool is_banded(const assay_value *v)
{
    return !v->is_table && v->tile.rows != 0;
}

/* Rows first .. first + rows of the matrix are rows *row0 .. + *n of the value's grid. */
static void rows_of(const assay_value *v, int64_t first, int64_t rows, int64_t *row0, int64_t *n)
{
    *row0 = first / v->tile.rows;
    *n = (rows + v->tile.rows - 1) / v->tile.rows;
}

static int64_t row_bytes(const eval_job *job, const assay_value *v)
{
    int64_t rows, cols;
    assay_value_shape(v, job->m, job->k, &rows, &cols);
    return cols * assay_type_storage(v->type);
}

/* Bits above a code's width must be zero; a file of users may hold anything. */
static int check_codes(const eval_job *job, const assay_value *v, const void *data, int64_t n,
                       assay_error *error)
{
    if (v->type.kind == ASSAY_T_BOOL || v->type.kind != ASSAY_T_FORMAT)
        return 0;
    int width = assay_format_width(v->type.format), storage = assay_type_storage(v->type);
    if (width == 8 * storage)
        return 0;
    const uint8_t *bytes = data;
    for (int64_t i = 0; i < n; i++) {
        uint64_t code = 0;
        memcpy(&code, bytes + i * storage, (size_t)storage);
        if (code >> width)
            return assay_fail(error, "tensor '%s': 0x%" PRIx64 " is no code of %s, which has %d bits: "
                              "give input %s one code in each element", job->name, code,
                              v->type.format->name, width, v->name);
    }
    return 0;
}

static bool aligned(const void *data, int storage)
{
    return (uintptr_t)data % (uintptr_t)storage == 0;
}

/* The part of input i for an item: in place where it can be, else through the thread's buffer. */
static int read_item(const pass_state *s, buffers *own, int i, int64_t first, int64_t rows,
                     const void **part, assay_error *error)
{
    const eval_job *job = s->job;
    const assay_value *v = input_of(job, i);
    const eval_source *from = &job->sources[i];
    int64_t row0, n, bytes = row_bytes(job, v);
    rows_of(v, first, rows, &row0, &n);
    if (from->data) {
        const char *at = (const char *)from->data + row0 * bytes;
        if (from->mapped)
            safetensors_prefetch(job->file, at + n * bytes, n * bytes * job->threads);
        *part = at;
        if (!aligned(at, assay_type_storage(v->type))) {
            memcpy(own->input[i], at, (size_t)(n * bytes));
            *part = own->input[i];
        }
    } else {
        *part = own->input[i]; /* zero, or read back from what was written */
        if (from->tensor >= 0 && safetensors_writer_get(job->writer, from->tensor, row0 * bytes,
                                                        own->input[i], n * bytes, error))
            return -1;
    }
    return s->pass == 0
               ? check_codes(job, v, *part, n * bytes / assay_type_storage(v->type), error)
               : 0;
}

/* Evaluates the bands of one item: grids are slices of the item's parts. */
static int evaluate_item(const pass_state *s, const buffers *own, const void *const *parts,
                         int64_t first, int64_t rows, assay_error *error)
{
    const eval_job *job = s->job;
    const assay_program *p = job->program;
    for (int64_t at = first; at < first + rows; at += s->band_rows) {
        int64_t height = first + rows - at < s->band_rows ? first + rows - at : s->band_rows;
        int64_t row0, base, n;
        assay_grid in[VALUES] = {{0}}, out[VALUES] = {{0}};
        for (int i = 0; i < p->input_count; i++) {
            const assay_value *v = input_of(job, i);
            if (!is_banded(v))
                continue;
            rows_of(v, first, rows, &base, &n);
            rows_of(v, at, height, &row0, &n);
            assay_value_shape(v, job->m, job->k, &in[i].rows, &in[i].cols);
            in[i].rows = n;
            in[i].data = (char *)(uintptr_t)parts[i] + (row0 - base) * row_bytes(job, v);
        }
        for (int i = 0; s->last && i < p->output_count; i++) {
            const assay_value *v = output_of(job, i);
            if (!own->output[i])
                continue;
            rows_of(v, first, rows, &base, &n);
            rows_of(v, at, height, &row0, &n);
            assay_value_shape(v, job->m, job->k, &out[i].rows, &out[i].cols);
            out[i].rows = n;
            out[i].data = (char *)own->output[i] + (row0 - base) * row_bytes(job, v);
        }
        if (assay_fast_band(s->run, s->pass, at, height, in, s->last ? out : NULL, error))
            return -1;
    }
    return 0;
}

static int write_item(const pass_state *s, const buffers *own, int64_t first, int64_t rows,
                      assay_error *error)
{
    const eval_job *job = s->job;
    for (int i = 0; i < job->program->output_count; i++) {
        const assay_value *v = output_of(job, i);
        int64_t row0, n, bytes = row_bytes(job, v);
        if (!own->output[i])
            continue;
        rows_of(v, first, rows, &row0, &n);
        if (safetensors_writer_put(job->writer, job->sinks[i], row0 * bytes, own->output[i],
                                   n * bytes, error))
            return -1;
    }
    return 0;
}

static int do_item(pass_state *s, buffers *own, int64_t item, double *writing, assay_error *error)
{
    const eval_job *job = s->job;
    const void *parts[VALUES] = {NULL};
    int64_t first = item * s->item_rows;
    int64_t rows = job->m - first < s->item_rows ? job->m - first : s->item_rows;
    for (int i = 0; i < job->program->input_count; i++)
        if (is_banded(input_of(job, i)) && read_item(s, own, i, first, rows, &parts[i], error))
            return -1;
    if (evaluate_item(s, own, parts, first, rows, error))
        return -1;
    for (int i = 0; i < job->program->input_count; i++) {
        const assay_value *v = input_of(job, i);
        int64_t row0, n, bytes = row_bytes(job, v);
        if (!is_banded(v) || !job->sources[i].data || !job->sources[i].mapped)
            continue;
        rows_of(v, first, rows, &row0, &n);
        safetensors_release(job->file, (const char *)job->sources[i].data + row0 * bytes, n * bytes);
    }
    if (s->last) {
        double start = monotonic_seconds();
        if (write_item(s, own, first, rows, error))
            return -1;
        *writing += monotonic_seconds() - start;
    }
    pthread_mutex_lock(&s->lock);
    if (job->progress)
        job->progress(job->progress_context, rows);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

/* ---- threads ---- */

static int buffers_make(const pass_state *s, buffers *own)
{
    const eval_job *job = s->job;
    int64_t row0, n;
    for (int i = 0; i < job->program->input_count; i++) {
        const assay_value *v = input_of(job, i);
        if (!is_banded(v) ||
            (job->sources[i].data && aligned(job->sources[i].data, assay_type_storage(v->type))))
            continue;
        rows_of(v, 0, s->item_rows, &row0, &n);
        own->input[i] = calloc((size_t)n + 1, (size_t)row_bytes(job, v) + 1);
        if (!own->input[i])
            return -1;
    }
    for (int i = 0; s->last && i < job->program->output_count; i++) {
        const assay_value *v = output_of(job, i);
        if (!is_banded(v) || job->sinks[i] < 0)
            continue;
        rows_of(v, 0, s->item_rows, &row0, &n);
        own->output[i] = calloc((size_t)n + 1, (size_t)row_bytes(job, v) + 1);
        if (!own->output[i])
            return -1;
    }
    return 0;
}

static void buffers_free(buffers *own)
{
    for (int i = 0; i < VALUES; i++) {
        free(own->input[i]);
        free(own->output[i]);
    }
}

static void *work(void *context)
{
    pass_state *s = context;
    buffers own = {{NULL}, {NULL}};
    assay_error error = {"out of memory"};
    double writing = 0;
    int failed = buffers_make(s, &own);
    while (!failed && !atomic_load(&s->failed) && !*s->job->stop) {
        int64_t item = atomic_fetch_add(&s->next, 1);
        if (item >= s->items)
            break;
        failed = do_item(s, &own, item, &writing, &error);
    }
    buffers_free(&own);
    pthread_mutex_lock(&s->lock);
    if (failed && !atomic_exchange(&s->failed, true))
        *s->error = error;
    s->write_seconds += writing;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int run_pass(pass_state *s, eval_times *times)
{
    enum { THREADS = 256 };
    pthread_t ids[THREADS];
    const eval_job *job = s->job;
    double start = monotonic_seconds();
    int wanted = assay_fast_ordered(job->fast) ? 1 : job->threads, started = 0;
    if (wanted > s->items)
        wanted = (int)s->items;
    if (wanted > THREADS)
        wanted = THREADS;
    while (started < wanted - 1 && !pthread_create(&ids[started], NULL, work, s))
        started++;
    work(s);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    if (atomic_load(&s->failed))
        return -1;
    if (*job->stop)
        return assay_fail(s->error, "stopped");
    if (assay_fast_pass_end(s->run, s->pass, s->error))
        return -1;
    if (s->pass < EVAL_PASSES) {
        times->pass[s->pass] += monotonic_seconds() - start;
        if (times->passes <= s->pass)
            times->passes = s->pass + 1;
    }
    times->write += s->write_seconds;
    return 0;
}

/* ---- whole grids ---- */

static int64_t grid_of(const eval_job *job, const assay_value *v, assay_grid *grid)
{
    assay_value_shape(v, job->m, job->k, &grid->rows, &grid->cols);
    return grid->rows * grid->cols * assay_type_storage(v->type);
}

/* Inputs that are given whole (all of them if `every`), copied so that they are aligned. */
static int inputs_make(const eval_job *job, bool every, assay_grid *in, assay_error *error)
{
    for (int i = 0; i < job->program->input_count; i++) {
        const assay_value *v = input_of(job, i);
        const eval_source *from = &job->sources[i];
        int64_t size = grid_of(job, v, &in[i]);
        if (is_banded(v) && !every)
            continue;
        in[i].data = calloc(1, (size_t)size + 1);
        if (!in[i].data)
            return assay_fail(error, "tensor '%s': out of memory for input %s", job->name, v->name);
        if (from->data)
            memcpy(in[i].data, from->data, (size_t)size);
        else if (from->tensor >= 0 &&
                 safetensors_writer_get(job->writer, from->tensor, 0, in[i].data, size, error))
            return -1;
        if (check_codes(job, v, in[i].data, size / assay_type_storage(v->type), error))
            return -1;
    }
    return 0;
}

static int outputs_make(const eval_job *job, bool every, assay_grid *out, assay_error *error)
{
    for (int i = 0; i < job->program->output_count; i++) {
        const assay_value *v = output_of(job, i);
        int64_t size = grid_of(job, v, &out[i]);
        if (job->sinks[i] < 0 || (is_banded(v) && !every))
            continue;
        out[i].data = calloc(1, (size_t)size + 1);
        if (!out[i].data)
            return assay_fail(error, "tensor '%s': out of memory for output %s", job->name, v->name);
    }
    return 0;
}

static int outputs_put(const eval_job *job, const assay_grid *out, eval_times *times,
                       assay_error *error)
{
    double start = monotonic_seconds();
    for (int i = 0; i < job->program->output_count; i++) {
        assay_grid grid;
        int64_t size = grid_of(job, output_of(job, i), &grid);
        if (out[i].data &&
            safetensors_writer_put(job->writer, job->sinks[i], 0, out[i].data, size, error))
            return -1;
    }
    times->write += monotonic_seconds() - start;
    return 0;
}

static void grids_free(assay_grid *grids)
{
    for (int i = 0; i < VALUES; i++)
        free(grids[i].data);
}

static int run_exact(const eval_job *job, const assay_grid *in, const assay_grid *out,
                     eval_times *times, assay_error *error)
{
    double start = monotonic_seconds();
    if (assay_exact_eval(job->program, job->m, job->k, in, out, error))
        return -1;
    times->pass[0] += monotonic_seconds() - start;
    if (times->passes < 1)
        times->passes = 1;
    if (job->progress)
        job->progress(job->progress_context, job->m);
    return *job->stop ? assay_fail(error, "stopped") : 0;
}

static int run_passes(const eval_job *job, const assay_grid *in, const assay_grid *out,
                      eval_times *times, assay_error *error)
{
    assay_fast_run *run = assay_fast_begin(job->fast, job->m, job->k, in, out, error);
    if (!run)
        return -1;
    int64_t band = assay_fast_band_rows(job->fast, job->m, job->k);
    int64_t bytes = 1;
    for (int i = 0; i < job->program->input_count; i++)
        if (is_banded(input_of(job, i)))
            bytes += row_bytes(job, input_of(job, i)) / input_of(job, i)->tile.rows;
    int64_t bands = ITEM_BYTES / bytes / band;
    int64_t item = band * (bands > 1 ? bands : 1);
    int passes = assay_fast_passes(job->fast), failed = 0;
    for (int pass = 0; pass < passes && !failed; pass++) {
        pass_state s = {.job = job, .run = run, .pass = pass, .last = pass == passes - 1,
                        .band_rows = band, .item_rows = item,
                        .items = (job->m + item - 1) / item, .error = error};
        pthread_mutex_init(&s.lock, NULL);
        failed = run_pass(&s, times);
        pthread_mutex_destroy(&s.lock);
    }
    assay_fast_end(run);
    return failed;
}

int eval_run(const eval_job *job, eval_times *times, assay_error *error)
{
    if (job->program->input_count > VALUES || job->program->output_count > VALUES)
        return assay_fail(error, "%s has more than %d inputs or outputs", job->program->name, VALUES);
    assay_grid in[VALUES] = {{0}}, out[VALUES] = {{0}};
    bool whole = job->fast == NULL;
    int failed = inputs_make(job, whole, in, error) || outputs_make(job, whole, out, error);
    if (!failed)
        failed = whole ? run_exact(job, in, out, times, error)
                       : run_passes(job, in, out, times, error);
    if (!failed)
        failed = outputs_put(job, out, times, error);
    grids_free(in);
    grids_free(out);
    return failed ? -1 : 0;
}
