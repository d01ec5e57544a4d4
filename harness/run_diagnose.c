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

/* All instances of the catalogue by their face: names, types and tilings of inputs and outputs. Made
 * at the first failure of a run. */
typedef struct {
    char *name, *face;
    char sha256[65];
} instance_row;

struct run_catalogue {
    instance_row *rows;
    int count, capacity;
};

static char *face_of(const assay_program *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; f && i < p->input_count + p->output_count; i++) {
        bool in = i < p->input_count;
        const assay_value *v = &p->values[in ? p->inputs[i] : p->outputs[i - p->input_count]];
        fprintf(f, "%s %s %s %lldx%lld %lldx%lld;", in ? "in" : "out", v->name,
                assay_type_name(v->type), (long long)v->tile.rows, (long long)v->tile.cols,
                (long long)(v->is_table ? v->table_rows : 0),
                (long long)(v->is_table ? v->table_cols : 0));
    }
    if (!f || fclose(f))
        return NULL;
    return text;
}

static void add_row(struct run_catalogue *c, const char *name)
{
    assay_error error;
    assay_program *p = assay_catalogue_program(name, &error);
    char *face = p ? face_of(p) : NULL;
    if (face && c->count == c->capacity) {
        int capacity = 2 * c->capacity + 256;
        instance_row *more = realloc(c->rows, (size_t)capacity * sizeof *more);
        if (more)
            c->rows = more, c->capacity = capacity;
    }
    if (face && c->count < c->capacity) {
        instance_row *row = &c->rows[c->count++];
        *row = (instance_row){.name = strdup(name), .face = face};
        memcpy(row->sha256, p->sha256, sizeof row->sha256);
    } else {
        free(face);
    }
    assay_program_free(p);
}

static struct run_catalogue *catalogue_of(struct run_catalogue **kept)
{
    if (*kept || !(*kept = calloc(1, sizeof **kept)))
        return *kept;
    double until = monotonic_seconds() + 3 * BUDGET;
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_error error;
        const assay_recipe *r = assay_catalogue_recipe(i, &error);
        for (int j = 0; r && j < assay_recipe_instance_count(r); j++) {
            char *name = assay_recipe_instance_name(r, j);
            if (name && monotonic_seconds() < until)
                add_row(*kept, name);
            free(name);
        }
    }
    return *kept;
}

void run_catalogue_free(struct run_catalogue *c)
{
    for (int i = 0; c && i < c->count; i++) {
        free(c->rows[i].name);
        free(c->rows[i].face);
    }
    free(c ? c->rows : NULL);
    free(c);
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

static void say_recipes(json_t *list, const assay_vector_set *set, assay_grid *const *observed,
                        const struct run_catalogue *c)
{
    json_t *known = json_array();
    double until = monotonic_seconds() + BUDGET;
    char *face = face_of(set->program);
    int found = 0;
    json_array_append_new(known, json_string(set->program->sha256));
    for (int i = 0; face && c && i < c->count && found < NAMES; i++) {
        const instance_row *row = &c->rows[i];
        if (strcmp(row->face, face) || has(known, row->sha256) || monotonic_seconds() > until)
            continue;
        json_array_append_new(known, json_string(row->sha256));
        assay_error error;
        assay_program *q = assay_catalogue_program(row->name, &error);
        if (q && answers_alike(q, set, observed)) {
            json_array_append_new(list, json_sprintf("equals %s on all these cases", row->name));
            found++;
        }
        assay_program_free(q);
    }
    json_decref(known);
    free(face);
}

json_t *run_diagnose(const assay_vector_set *set, assay_grid *const *observed,
                     const compare_tally *tally, struct run_catalogue **catalogue)
{
    json_t *list = json_array();
    say_stages(list, set, observed, tally);
    if (catalogue)
        say_recipes(list, set, observed, catalogue_of(catalogue));
    if (json_array_size(list))
        return list;
    json_decref(list);
    return NULL;
}
