/* libassay itself behind the adapter interface: tests the plumbing from end to end, and serves as an
 * example of an adapter with state. Options: "" or "fast": the fast engine; "exact": the exact one.
 * The contract is taken from its canonical text, so recipes of one's own work too. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ref/assay.h"
#include "../adapter.h"

typedef struct {
    bool exact;
    assay_recipe *recipe; /* of the contract seen last */
    assay_program *program;
    assay_fast *fast;
    char sha256[65];
} model;

static assay_answer say(assay_answer a, char *message, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static assay_answer say(assay_answer a, char *message, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return a;
}

static assay_answer model_open(void **state, const char *options, char *message, size_t size)
{
    assay_error error;
    bool exact = !strcmp(options, "exact");
    if (*options && !exact && strcmp(options, "fast"))
        return say(ASSAY_FAILED, message, size, "model: options are 'fast' and 'exact', not '%s'",
                   options);
    if (assay_fast_selftest(&error))
        return say(ASSAY_FAILED, message, size, "%s", error.message);
    model *s = calloc(1, sizeof *s);
    if (!s)
        return say(ASSAY_FAILED, message, size, "out of memory");
    s->exact = exact;
    *state = s;
    return ASSAY_DONE;
}

static void model_describe(void *state, assay_description *d)
{
    const model *s = state;
    snprintf(d->library, sizeof d->library, "libassay, %s engine", s->exact ? "exact" : "fast");
    snprintf(d->version, sizeof d->version, "%s", ASSAY_VERSION);
    snprintf(d->device, sizeof d->device, "host");
}

static void forget(model *s)
{
    if (s->fast)
        assay_fast_free(s->fast);
    if (s->program)
        assay_program_free(s->program);
    if (s->recipe)
        assay_recipe_free(s->recipe);
    s->fast = NULL, s->program = NULL, s->recipe = NULL;
    s->sha256[0] = '\0';
}

static void model_close(void *state)
{
    forget(state);
    free(state);
}

/* The program of the contract: by its name in the catalogue if that has the same numerics, else from
 * the canonical text (a recipe of the user's own). */
static assay_answer prepare(model *s, const assay_contract *c, char *message, size_t size)
{
    if (!strcmp(s->sha256, c->sha256))
        return ASSAY_DONE;
    assay_error error, ignored;
    forget(s);
    s->program = assay_catalogue_program(c->instance, &ignored);
    if (s->program && strcmp(s->program->sha256, c->sha256)) {
        assay_program_free(s->program);
        s->program = NULL;
    }
    if (!s->program) {
        if (assay_recipe_parse_canonical(c->canonical, strlen(c->canonical), "contract", &s->recipe,
                                         &error))
            return say(ASSAY_FAILED, message, size, "%.900s", error.message);
        s->program = assay_recipe_instance(s->recipe, NULL, NULL, NULL, &error);
    }
    if (s->program && !s->exact)
        s->fast = assay_fast_compile(s->program, &error);
    if (!s->program || (!s->exact && !s->fast))
        return say(ASSAY_FAILED, message, size, "%.900s", error.message);
    snprintf(s->sha256, sizeof s->sha256, "%s", c->sha256);
    return ASSAY_DONE;
}

static assay_answer model_supports(void *state, const assay_contract *c, char *message, size_t size)
{
    return prepare(state, c, message, size);
}

/* Rows of a tensor to or from a dense grid. */
static void copy_rows(const assay_tensor *t, void *dense, bool store)
{
    size_t row = (size_t)(t->cols * t->code_bytes);
    for (int64_t i = 0; row && i < t->rows; i++) {
        char *at = (char *)t->data + i * t->row_stride * t->code_bytes;
        char *mine = (char *)dense + (size_t)i * row;
        memcpy(store ? at : mine, store ? mine : at, row);
    }
}

static bool load(const assay_tensor *tensors, int64_t count, bool copy, assay_grid *grids)
{
    for (int64_t i = 0; i < count; i++) {
        size_t bytes = (size_t)(tensors[i].rows * tensors[i].cols * tensors[i].code_bytes);
        grids[i] = (assay_grid){tensors[i].rows, tensors[i].cols, malloc(bytes + 1), NULL};
        if (!grids[i].data)
            return false;
        if (copy)
            copy_rows(&tensors[i], grids[i].data, false);
    }
    return true;
}

static assay_answer model_run(void *state, const assay_contract *c, const assay_tensor *inputs,
                              int64_t input_count, const assay_tensor *outputs,
                              int64_t output_count, char *message, size_t size)
{
    model *s = state;
    assay_answer a = prepare(s, c, message, size);
    if (a != ASSAY_DONE)
        return a;
    assay_grid *in = calloc((size_t)input_count + 1, sizeof *in);
    assay_grid *out = calloc((size_t)output_count + 1, sizeof *out);
    assay_error error = {"out of memory"};
    int status = -1;
    if (in && out && load(inputs, input_count, true, in) && load(outputs, output_count, false, out))
        status = s->exact ? assay_exact_eval(s->program, c->m, c->k, in, out, &error)
                          : assay_fast_eval(s->fast, c->m, c->k, in, out, &error);
    if (status)
        a = say(ASSAY_FAILED, message, size, "%.900s", error.message);
    for (int64_t i = 0; i < output_count && !status; i++)
        copy_rows(&outputs[i], out[i].data, true);
    for (int64_t i = 0; in && i < input_count; i++)
        free(in[i].data);
    for (int64_t i = 0; out && i < output_count; i++)
        free(out[i].data);
    free(in);
    free(out);
    return a;
}

const assay_adapter *assay_adapter_main(void)
{
    static const assay_adapter adapter = {ASSAY_ADAPTER_ABI, model_open, model_describe,
                                          model_supports,    model_run,  model_close};
    return &adapter;
}
