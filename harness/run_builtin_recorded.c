/* `recorded:FILE`: answers that a system gave before, kept as a vector set (vector_set.h) whose
 * outputs are what it answered. A case is found by its inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/vector_set.h"
#include "run_builtin.h"
#include "run_host.h"

static assay_answer recorded_open(void **state, const char *options, char *message, size_t size)
{
    assay_error error;
    assay_vector_set *set = assay_vectors_read(options, &error);
    if (!set)
        return run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    *state = set;
    return ASSAY_DONE;
}

static void recorded_describe(void *state, assay_description *d)
{
    const assay_vector_set *set = state;
    snprintf(d->library, sizeof d->library, "recorded: %.100s", set->recipe);
    snprintf(d->device, sizeof d->device, "recorded");
}

static assay_answer recorded_supports(void *state, const assay_contract *c, char *message,
                                      size_t size)
{
    const assay_vector_set *set = state;
    if (!strcmp(c->sha256, set->program->sha256))
        return ASSAY_DONE;
    return run_builtin_say(ASSAY_UNSUPPORTED, message, size, "the file holds answers for %s",
                           set->recipe);
}

static int same_inputs(const assay_program *p, const assay_case *c, const assay_grid *inputs)
{
    for (int i = 0; i < p->input_count; i++) {
        size_t bytes = (size_t)(c->inputs[i].rows * c->inputs[i].cols) *
                       (size_t)assay_type_storage(p->values[p->inputs[i]].type);
        if (!c->inputs[i].data || memcmp(c->inputs[i].data, inputs[i].data, bytes))
            return 0;
    }
    return 1;
}

static assay_answer recorded_run(void *state, const assay_contract *c, const assay_tensor *inputs,
                                 int64_t input_count, const assay_tensor *outputs,
                                 int64_t output_count, char *message, size_t size)
{
    const assay_vector_set *set = state;
    const assay_program *p = set->program;
    assay_grid *in = run_builtin_grids(p, p->inputs, p->input_count, c->m, c->k, inputs,
                                       input_count, 1);
    const assay_case *found = NULL;
    for (int i = 0; in && i < set->case_count && !found; i++)
        if (set->cases[i].m == c->m && set->cases[i].k == c->k &&
            same_inputs(p, &set->cases[i], in))
            found = &set->cases[i];
    run_builtin_free(in, p->input_count);
    if (!found)
        return run_builtin_say(ASSAY_UNSUPPORTED, message, size,
                               "no answer was recorded for these inputs");
    for (int i = 0; i < p->output_count; i++)
        for (int64_t j = 0; j < output_count; j++)
            if (!strcmp(outputs[j].name, p->values[p->outputs[i]].name))
                run_builtin_store(&outputs[j], found->outputs[i].data);
    return ASSAY_DONE;
}

static void recorded_close(void *state)
{
    assay_vectors_free(state);
}

const assay_adapter run_builtin_recorded = {ASSAY_ADAPTER_ABI, recorded_open,
                                            recorded_describe, recorded_supports,
                                            recorded_run,      recorded_close};
