/* `recipe:NAME`: the reference's own answer under another contract. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_builtin.h"
#include "run_host.h"

typedef struct {
    char *name, *choices; /* what was asked for: "ocp.mx", "rule=rceil" */
    char *contract;       /* the one that `program` was chosen for */
    assay_program *program;
    assay_fast *fast;
} recipe_state;

static void recipe_forget(recipe_state *s)
{
    if (s->fast)
        assay_fast_free(s->fast);
    if (s->program)
        assay_program_free(s->program);
    free(s->contract);
    s->fast = NULL, s->program = NULL, s->contract = NULL;
}

static void recipe_close(void *state)
{
    recipe_state *s = state;
    recipe_forget(s);
    free(s->name);
    free(s->choices);
    free(s);
}

static assay_answer recipe_open(void **state, const char *options, char *message, size_t size)
{
    assay_error error;
    recipe_state *s = calloc(1, sizeof *s);
    size_t name = strcspn(options, "("), rest = strlen(options) - name;
    if (!s || !(s->name = strndup(options, name)) ||
        !(s->choices = strndup(options + name + (rest > 0), rest > 2 ? rest - 2 : 0)))
        return run_builtin_say(ASSAY_FAILED, message, size, "out of memory");
    assay_program *p = assay_catalogue_program(options, &error);
    if (!p) {
        recipe_close(s);
        return run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    }
    assay_program_free(p);
    *state = s;
    return ASSAY_DONE;
}

static void recipe_describe(void *state, assay_description *d)
{
    const recipe_state *s = state;
    snprintf(d->library, sizeof d->library, "assay, fast engine: %.90s", s->name);
    snprintf(d->version, sizeof d->version, "%s", ASSAY_VERSION);
    snprintf(d->device, sizeof d->device, "host");
}

/* Is `P=` among the choices that the user made? */
static bool chosen(const char *choices, const char *parameter)
{
    size_t n = strlen(parameter);
    for (const char *at = choices; (at = strstr(at, parameter)); at += n)
        if ((at == choices || at[-1] == ' ' || at[-1] == ',') && (at[n] == '=' || at[n] == ' '))
            return true;
    return false;
}

static bool has_choice(const assay_recipe *r, const char *parameter, const char *choice)
{
    const assay_parameter *all;
    int n = assay_recipe_parameters(r, &all);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < all[i].choice_count && !strcmp(all[i].name, parameter); j++)
            if (!strcmp(all[i].choices[j], choice))
                return true;
    return false;
}

/* NAME with the user's choices, and the contract's where the recipe has such a parameter and the user
 * said nothing: `recipe:ocp.mx` judged as te.mxfp8(F=e5m2) is ocp.mx(F=e5m2). */
static char *instance_for(const recipe_state *s, const assay_contract *c)
{
    assay_error error;
    const assay_recipe *r = assay_catalogue_find(s->name, &error);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "%s(%s", s->name, s->choices);
    const char *comma = *s->choices ? ", " : "";
    for (int64_t i = 0; r && i < c->setting_count; i++)
        if (!chosen(s->choices, c->settings[i].name) &&
            has_choice(r, c->settings[i].name, c->settings[i].value)) {
            fprintf(f, "%s%s=%s", comma, c->settings[i].name, c->settings[i].value);
            comma = ", ";
        }
    fputc(')', f);
    return fclose(f) ? NULL : text;
}

static bool same_names(const assay_program *p, const assay_contract *c)
{
    assay_error error;
    assay_program *q = assay_catalogue_program(c->instance, &error);
    if (!q) /* a recipe of the user's own: seen when it is run */
        return true;
    bool same = p->input_count == q->input_count && p->output_count == q->output_count;
    for (int i = 0; same && i < p->input_count + p->output_count; i++) {
        bool in = i < p->input_count;
        int at = in ? i : i - p->input_count;
        const assay_value *a = &p->values[in ? p->inputs[at] : p->outputs[at]];
        const assay_value *b = &q->values[in ? q->inputs[at] : q->outputs[at]];
        same = !strcmp(a->name, b->name) && assay_type_equal(a->type, b->type) &&
               assay_tile_equal(a->tile, b->tile);
    }
    assay_program_free(q);
    return same;
}

static assay_answer recipe_supports(void *state, const assay_contract *c, char *message, size_t size)
{
    recipe_state *s = state;
    assay_error error, given;
    if (s->contract && !strcmp(s->contract, c->instance))
        return ASSAY_DONE;
    recipe_forget(s);
    char *name = instance_for(s, c);
    s->program = name ? assay_catalogue_program(name, &error) : NULL;
    if (!s->program) { /* its combination of choices does not exist: as the user said it */
        free(name);
        name = NULL;
        if (asprintf(&name, *s->choices ? "%s(%s)" : "%s", s->name, s->choices) >= 0)
            s->program = assay_catalogue_program(name, &given);
    }
    free(name);
    if (!s->program)
        return run_builtin_say(ASSAY_UNSUPPORTED, message, size, "%s", error.message);
    if (!same_names(s->program, c))
        return run_builtin_say(ASSAY_UNSUPPORTED, message, size,
                               "%s has other inputs or outputs than %s", s->program->name, c->instance);
    s->fast = assay_fast_compile(s->program, &error);
    s->contract = strdup(c->instance);
    if (!s->fast || !s->contract)
        return run_builtin_say(ASSAY_FAILED, message, size, "%s", error.message);
    return ASSAY_DONE;
}

static assay_answer recipe_run(void *state, const assay_contract *c, const assay_tensor *inputs,
                               int64_t input_count, const assay_tensor *outputs,
                               int64_t output_count, char *message, size_t size)
{
    const recipe_state *s = state;
    const assay_program *p = s->program;
    const char *why = NULL;
    if (!s->fast)
        return run_builtin_say(ASSAY_FAILED, message, size, "no such contract");
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

const assay_adapter run_builtin_recipe = {
    ASSAY_ADAPTER_ABI, recipe_open, recipe_describe, recipe_supports, recipe_run, recipe_close};
