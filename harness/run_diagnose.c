/* Cheap naming of a failing adapter. The evidence is what it answered on one vector set; nothing is
 * said that this evidence does not force. */
#include <stdlib.h>
#include <string.h>

#include "run_judge.h"

static const double BUDGET = 3; /* seconds for one look through the catalogue */
enum { NAMES = 4 };

/* ---- scales and codes ---- */

static bool reads(const assay_expr *e, int value)
{
    if ((e->op == ASSAY_OP_VALUE || e->op == ASSAY_OP_AT) && e->u.value == value)
        return true;
    for (int i = 0; i < e->argc; i++)
        if (reads(e->arg[i], value))
            return true;
    return false;
}

/* Is the value used to compute others? Then it is a scale (or an amax), else a code. */
static bool is_scale(const assay_program *p, int value)
{
    for (int i = 0; i < p->statement_count; i++)
        if (p->statements[i].kind == ASSAY_ASSIGN && reads(p->statements[i].expr, value))
            return true;
    return false;
}

/* The program with its scales as further inputs, what the adapter stored in their place. The arrays
 * `inputs` and `outputs` are the caller's. */
static void take_scales_as_inputs(assay_program *q, const assay_program *p, int *inputs,
                                  int *outputs)
{
    int kept = 0;
    memcpy(inputs, p->inputs, (size_t)p->input_count * sizeof *inputs);
    q->inputs = inputs;
    q->outputs = outputs;
    q->output_count = 0;
    for (int i = 0; i < p->output_count; i++) {
        int v = p->outputs[i];
        if (!is_scale(p, v)) {
            outputs[q->output_count++] = v;
            continue;
        }
        inputs[q->input_count++] = v;
        q->values[v].role = ASSAY_INPUT;
        q->values[v].statement = -1;
        q->values[v].pad = (assay_tile){1, 1};
    }
    for (int i = 0; i < q->statement_count; i++) {
        assay_statement s = q->statements[i];
        if (s.kind == ASSAY_ASSIGN && q->values[s.target].role == ASSAY_INPUT)
            continue;
        if (s.kind == ASSAY_ASSIGN)
            q->values[s.target].statement = kept;
        q->statements[kept++] = s;
    }
    q->statement_count = kept;
}

/* Are the codes of one case what the program says for the scales that are stored? */
static bool codes_follow(const assay_program *p, const assay_program *q, const assay_case *c,
                         const assay_grid *observed)
{
    assay_grid *in = calloc((size_t)q->input_count + 1, sizeof *in);
    assay_grid *out = run_observed_new(q, c->m, c->k);
    bool same = in && out;
    if (same) {
        memcpy(in, c->inputs, (size_t)p->input_count * sizeof *in);
        for (int i = 0, n = p->input_count; i < p->output_count; i++)
            if (is_scale(p, p->outputs[i]))
                in[n++] = observed[i];
        assay_error error;
        same = assay_exact_eval(q, c->m, c->k, in, out, &error) == 0;
    }
    for (int i = 0, n = 0; same && i < p->output_count; i++) {
        if (is_scale(p, p->outputs[i]))
            continue;
        size_t bytes = (size_t)assay_type_storage(p->values[p->outputs[i]].type);
        const uint8_t *marks = c->outputs[i].marks;
        for (int64_t j = 0; same && j < out[n].rows * out[n].cols; j++)
            same = (marks && marks[j]) || !memcmp((const char *)out[n].data + (size_t)j * bytes,
                                                  (const char *)observed[i].data + (size_t)j * bytes,
                                                  bytes);
        n++;
    }
    free(in);
    run_observed_free(out, q->output_count);
    return same;
}

static const char *codes_for_stored_scales(const assay_vector_set *set, assay_grid *const *observed)
{
    const assay_program *p = set->program;
    assay_program *q = assay_program_copy(p);
    int *inputs = calloc((size_t)(p->input_count + p->output_count) + 1, sizeof *inputs);
    int *outputs = calloc((size_t)p->output_count + 1, sizeof *outputs);
    const char *text = NULL;
    if (q && inputs && outputs) {
        int *old_inputs = q->inputs, *old_outputs = q->outputs;
        int old_count = q->output_count, old_in = q->input_count;
        take_scales_as_inputs(q, p, inputs, outputs);
        bool same = q->output_count > 0;
        double start = monotonic_seconds();
        for (int i = 0; i < set->case_count && same; i++)
            if (observed[i] && monotonic_seconds() - start < BUDGET)
                same = codes_follow(p, q, &set->cases[i], observed[i]);
        if (q->output_count)
            text = same ? "the scales are wrong; the codes are right for the scales that were stored"
                        : "the scales are wrong, and the codes do not follow from the scales that "
                          "were stored";
        q->inputs = old_inputs, q->outputs = old_outputs;
        q->output_count = old_count, q->input_count = old_in;
    }
    assay_program_free(q);
    free(inputs);
    free(outputs);
    return text;
}

static void say_stages(json_t *list, const assay_vector_set *set, assay_grid *const *observed,
                       const compare_tally *tally)
{
    const assay_program *p = set->program;
    bool any = false, wrong = false;
    for (int i = 0; i < p->output_count; i++) {
        if (!is_scale(p, p->outputs[i]))
            continue;
        any = true;
        for (int j = 0; j < COMPARE_PLACES; j++)
            wrong |= tally->outputs[i].different[j] != 0;
    }
    const char *text = NULL;
    if (any)
        text = wrong ? codes_for_stored_scales(set, observed) : "the scales are right";
    if (text)
        json_array_append_new(list, json_string(text));
}

/* ---- other recipes ---- */

static bool same_value(const assay_value *a, const assay_value *b)
{
    return !strcmp(a->name, b->name) && assay_type_equal(a->type, b->type) &&
           assay_tile_equal(a->tile, b->tile) && a->is_table == b->is_table &&
           a->table_rows == b->table_rows && a->table_cols == b->table_cols;
}

static bool same_face(const assay_program *a, const assay_program *b)
{
    bool same = a->input_count == b->input_count && a->output_count == b->output_count;
    for (int i = 0; same && i < a->input_count; i++)
        same = same_value(&a->values[a->inputs[i]], &b->values[b->inputs[i]]);
    for (int i = 0; same && i < a->output_count; i++)
        same = same_value(&a->values[a->outputs[i]], &b->values[b->outputs[i]]);
    return same;
}

/* Does the recipe answer every kept case as the adapter did? Codes that it leaves open are no
 * evidence against it. */
static bool answers_alike(const assay_program *q, const assay_vector_set *set,
                          assay_grid *const *observed)
{
    assay_error error;
    assay_fast *fast = assay_fast_compile(q, &error);
    bool alike = fast != NULL;
    int seen = 0;
    for (int i = 0; alike && i < set->case_count; i++) {
        const assay_case *c = &set->cases[i];
        if (!observed[i] || !assay_program_admits(q, c->m, c->k, NULL))
            continue;
        assay_grid *out = run_observed_new(q, c->m, c->k);
        alike = out && assay_fast_eval(fast, c->m, c->k, c->inputs, out, &error) == 0;
        for (int o = 0; alike && o < q->output_count; o++) {
            size_t bytes = (size_t)(out[o].rows * out[o].cols) *
                           (size_t)assay_type_storage(q->values[q->outputs[o]].type);
            alike = !memcmp(out[o].data, observed[i][o].data, bytes);
        }
        run_observed_free(out, q->output_count);
        seen++;
    }
    assay_fast_free(fast);
    return alike && seen > 0;
}

static bool has(const json_t *list, const char *sha256)
{
    size_t i;
    json_t *text;
    json_array_foreach(list, i, text)
        if (!strcmp(json_string_value(text), sha256))
            return true;
    return false;
}

static void try_recipe(const assay_recipe *r, const assay_vector_set *set,
                       assay_grid *const *observed, double until, json_t *known, json_t *found)
{
    for (int i = 0; i < assay_recipe_instance_count(r); i++) {
        if (monotonic_seconds() > until || json_array_size(found) >= NAMES)
            return;
        char *name = assay_recipe_instance_name(r, i);
        assay_error error;
        assay_program *q = name ? assay_catalogue_program(name, &error) : NULL;
        if (q && same_face(set->program, q) && !has(known, q->sha256)) {
            json_array_append_new(known, json_string(q->sha256));
            if (answers_alike(q, set, observed))
                json_array_append_new(found, json_string(q->name));
        }
        assay_program_free(q);
        free(name);
    }
}

static void say_recipes(json_t *list, const assay_vector_set *set, assay_grid *const *observed)
{
    json_t *known = json_array(), *found = json_array();
    double until = monotonic_seconds() + BUDGET;
    json_array_append_new(known, json_string(set->program->sha256));
    assay_error error;
    assay_recipe *own = assay_catalogue_find(set->program->recipe, &error);
    if (own) /* another instance of the same recipe is the likeliest */
        try_recipe(own, set, observed, until, known, found);
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_recipe *r = assay_catalogue_recipe(i, &error);
        if (r && r != own)
            try_recipe(r, set, observed, until, known, found);
    }
    size_t i;
    json_t *name;
    json_array_foreach(found, i, name)
        json_array_append_new(list, json_sprintf("equals %s on all these cases",
                                                 json_string_value(name)));
    json_decref(known);
    json_decref(found);
}

json_t *run_diagnose(const assay_vector_set *set, assay_grid *const *observed,
                     const compare_tally *tally)
{
    json_t *list = json_array();
    say_stages(list, set, observed, tally);
    say_recipes(list, set, observed);
    if (json_array_size(list))
        return list;
    json_decref(list);
    return NULL;
}
