/* `recipe:NAME`: the reference's own answer under another contract; and what built-in adapters share. */
#include "run_builtin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_host.h"

assay_answer run_builtin_say(assay_answer a, char *message, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return a;
}

void run_builtin_load(const assay_tensor *from, void *to)
{
    size_t row = (size_t)(from->cols * from->code_bytes);
    for (int64_t i = 0; row && i < from->rows; i++)
        memcpy((char *)to + (size_t)i * row,
               (const char *)from->data + i * from->row_stride * from->code_bytes, row);
}

void run_builtin_store(const assay_tensor *to, const void *from)
{
    size_t row = (size_t)(to->cols * to->code_bytes);
    for (int64_t i = 0; row && i < to->rows; i++)
        memcpy((char *)to->data + i * to->row_stride * to->code_bytes,
               (const char *)from + (size_t)i * row, row);
}

void run_builtin_free(assay_grid *grids, int count)
{
    for (int i = 0; grids && i < count; i++)
        free(grids[i].data);
    free(grids);
}

static const assay_tensor *tensor_named(const assay_tensor *tensors, int64_t count,
                                        const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(tensors[i].name, name))
            return &tensors[i];
    return NULL;
}

assay_grid *run_builtin_grids(const assay_program *p, const int *values, int count, int64_t m,
                              int64_t k, const assay_tensor *tensors, int64_t tensor_count,
                              int copy)
{
    assay_grid *grids = calloc((size_t)count + 1, sizeof *grids);
    for (int i = 0; grids && i < count; i++) {
        const assay_value *v = &p->values[values[i]];
        const assay_tensor *t = tensor_named(tensors, tensor_count, v->name);
        assay_value_shape(v, m, k, &grids[i].rows, &grids[i].cols);
        size_t bytes = (size_t)(grids[i].rows * grids[i].cols) * (size_t)assay_type_storage(v->type);
        grids[i].data = malloc(bytes + 1);
        if (!t || !grids[i].data || strcmp(t->type, assay_type_name(v->type)) ||
            t->rows != grids[i].rows || t->cols != grids[i].cols) {
            run_builtin_free(grids, count);
            return NULL;
        }
        if (copy)
            run_builtin_load(t, grids[i].data);
    }
    return grids;
}

/* ---- recipe:NAME ---- */

typedef struct {
    assay_program *program;
    assay_fast *fast;
} recipe_state;

static void recipe_close(void *state)
{
    recipe_state *s = state;
    assay_fast_free(s->fast);
    assay_program_free(s->program);
    free(s);
}

static assay_answer recipe_open(void **state, const char *options, char *message, size_t size)
{
    assay_error error;
    recipe_state *s = calloc(1, sizeof *s);
    if (!s)
        return run_builtin_say(ASSAY_FAILED, message, size, "out of memory");
    s->program = assay_catalogue_program(options, &error);
    s->fast = s->program ? assay_fast_compile(s->program, &error) : NULL;
    if (!s->fast) {
        assay_program_free(s->program);
        free(s);
        return run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    }
    *state = s;
    return ASSAY_DONE;
}

static void recipe_describe(void *state, assay_description *d)
{
    const recipe_state *s = state;
    snprintf(d->library, sizeof d->library, "assay, fast engine: %.90s", s->program->name);
    snprintf(d->version, sizeof d->version, "%s", ASSAY_VERSION);
    snprintf(d->device, sizeof d->device, "host");
}

static assay_answer recipe_run(void *state, const assay_contract *c, const assay_tensor *inputs,
                               int64_t input_count, const assay_tensor *outputs,
                               int64_t output_count, char *message, size_t size)
{
    const recipe_state *s = state;
    const assay_program *p = s->program;
    const char *why = NULL;
    if (!assay_program_admits(p, c->m, c->k, &why))
        return run_builtin_say(ASSAY_UNSUPPORTED, message, size, "%s: %s", p->name, why);
    assay_grid *in = run_builtin_grids(p, p->inputs, p->input_count, c->m, c->k, inputs,
                                       input_count, 1);
    assay_grid *out = run_builtin_grids(p, p->outputs, p->output_count, c->m, c->k, outputs,
                                        output_count, 0);
    assay_error error;
    assay_answer a = ASSAY_DONE;
    if (!in || !out || output_count != p->output_count)
        a = run_builtin_say(ASSAY_UNSUPPORTED, message, size,
                            "%s has other inputs or outputs than %s", p->name, c->instance);
    else if (assay_fast_eval(s->fast, c->m, c->k, in, out, &error))
        a = run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    for (int i = 0; a == ASSAY_DONE && i < p->output_count; i++)
        for (int64_t j = 0; j < output_count; j++)
            if (!strcmp(outputs[j].name, p->values[p->outputs[i]].name))
                run_builtin_store(&outputs[j], out[i].data);
    run_builtin_free(in, p->input_count);
    run_builtin_free(out, p->output_count);
    return a;
}

static const assay_adapter run_builtin_recipe = {
    ASSAY_ADAPTER_ABI, recipe_open, recipe_describe, NULL, recipe_run, recipe_close};

const assay_adapter *run_builtin_find(const char *name)
{
    static const struct {
        const char *name;
        const assay_adapter *adapter;
    } rows[] = {{"recipe", &run_builtin_recipe},
                {"command", &run_builtin_command},
                {"recorded", &run_builtin_recorded}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].adapter;
    return NULL;
}
