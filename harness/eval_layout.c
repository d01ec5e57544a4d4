/* `assay eval --layout`: the bytes that the recipe's layout lines give to the outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval_plan.h"

/* Calls for each run of bytes: a value of a layout line alone, or a whole record. */
typedef struct {
    const assay_layout *layout;
    const int *values; /* one, or the record's members in order */
    int count;
} byte_run;

static bool is_output(const assay_program *p, int value)
{
    return p->values[value].role == ASSAY_OUTPUT;
}

/* All runs of a program that hold outputs only; layout lines may describe inputs too. */
static int runs_of(const assay_program *p, byte_run *runs, int capacity)
{
    int n = 0;
    for (int l = 0; l < p->layout_count; l++) {
        const assay_layout *layout = &p->layouts[l];
        int members = layout->record_count;
        bool outputs = true;
        for (int i = 0; i < members; i++)
            outputs = outputs && is_output(p, layout->record[i]);
        if (members && outputs && n < capacity)
            runs[n++] = (byte_run){layout, layout->record, members};
        for (int i = 0; !members && i < layout->value_count && n < capacity; i++)
            if (is_output(p, layout->values[i]))
                runs[n++] = (byte_run){layout, &layout->values[i], 1};
    }
    return n;
}

static assay_layout_grid grid_of(const assay_program *p, int value, int64_t m, int64_t k)
{
    const assay_value *v = &p->values[value];
    int bytes = assay_type_storage(v->type);
    assay_layout_grid g = {
        .code_bits = v->type.kind == ASSAY_T_FORMAT ? assay_format_width(v->type.format) : 8 * bytes,
        .code_bytes = bytes, .tile_rows = v->tile.rows, .tile_cols = v->tile.cols};
    assay_value_shape(v, m, k, &g.rows, &g.cols);
    return g;
}

enum { RUNS = 64, NAME = 1024 };

/* "T/Y.bytes", of a record "T/A+B.bytes", and the number of bytes; -1 and `error` if the shape does
 * not suit the layout. */
static int64_t describe_run(const eval_item *item, const byte_run *run, char *name,
                            assay_error *error)
{
    const assay_program *p = item->instance->program;
    assay_layout_grid grids[ASSAY_LAYOUT_MEMBERS];
    int at = snprintf(name, NAME, "%s/", item->tensor->name);
    for (int i = 0; i < run->count; i++) {
        grids[i] = grid_of(p, run->values[i], item->m, item->k);
        if (at < NAME)
            at += snprintf(name + at, (size_t)(NAME - at), "%s%s", i ? "+" : "",
                           p->values[run->values[i]].name);
    }
    if (at < NAME)
        at += snprintf(name + at, (size_t)(NAME - at), ".bytes");
    if (at >= NAME)
        return assay_fail(error, "its name is too long");
    return run->layout->record_count
               ? assay_record_size(run->layout, grids, item->m, item->k, error)
               : assay_layout_size(run->layout, grids, item->m, item->k, error);
}

int eval_layout_check(const eval_item *item, assay_error *error)
{
    byte_run runs[RUNS];
    char name[NAME];
    int n = runs_of(item->instance->program, runs, RUNS);
    for (int r = 0; r < n; r++)
        if (describe_run(item, &runs[r], name, error) < 0)
            return -1;
    return 0;
}

int eval_layout_declare(eval_plan *plan, eval_item *item, assay_error *error)
{
    byte_run runs[RUNS];
    char name[NAME];
    int n = runs_of(item->instance->program, runs, RUNS);
    item->byte_sinks = calloc((size_t)n + 1, sizeof *item->byte_sinks);
    if (!item->byte_sinks)
        return assay_fail(error, "out of memory");
    for (int r = 0; r < n; r++) {
        int64_t size = describe_run(item, &runs[r], name, error);
        item->byte_sinks[r] = safetensors_writer_declare(plan->writer, name, "U8", 1, &size);
        if (item->byte_sinks[r] < 0)
            return assay_fail(error, "out of memory");
    }
    return 0;
}

static int output_index(const assay_program *p, int value)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->outputs[i] == value)
            return i;
    return -1;
}

static int write_run(const eval_plan *plan, const eval_item *item, const byte_run *run, int sink,
                     assay_error *error)
{
    const assay_program *p = item->instance->program;
    assay_layout_grid grids[ASSAY_LAYOUT_MEMBERS] = {{0}};
    uint8_t *bytes = NULL;
    int failed = 0;
    for (int i = 0; i < run->count && !failed; i++) {
        grids[i] = grid_of(p, run->values[i], item->m, item->k);
        int64_t size = grids[i].rows * grids[i].cols * grids[i].code_bytes;
        grids[i].data = malloc((size_t)size + 1);
        failed = grids[i].data ? safetensors_writer_get(
                                     plan->writer, item->sinks[output_index(p, run->values[i])], 0,
                                     grids[i].data, size, error)
                               : assay_fail(error, "out of memory");
    }
    bool record = run->layout->record_count > 0;
    int64_t size = -1;
    if (!failed)
        size = record ? assay_record_size(run->layout, grids, item->m, item->k, error)
                      : assay_layout_size(run->layout, grids, item->m, item->k, error);
    if (size >= 0 && !(bytes = calloc(1, (size_t)size + 1)))
        failed = assay_fail(error, "out of memory");
    if (bytes)
        failed = (record ? assay_record_encode(run->layout, grids, item->m, item->k, bytes, NULL, error)
                         : assay_layout_encode(run->layout, grids, item->m, item->k, bytes, NULL, NULL,
                                               error)) ||
                 safetensors_writer_put(plan->writer, sink, 0, bytes, size, error);
    for (int i = 0; i < run->count; i++)
        free(grids[i].data);
    free(bytes);
    return failed || size < 0 ? -1 : 0;
}

int eval_layout_write(const eval_plan *plan, const eval_item *item, assay_error *error)
{
    byte_run runs[RUNS];
    int n = runs_of(item->instance->program, runs, RUNS);
    for (int r = 0; r < n; r++)
        if (write_run(plan, item, &runs[r], item->byte_sinks[r], error))
            return -1;
    return 0;
}
