/* Class `sequence`: recipes with state (`out r2 feeds r`). Each step's fed input is what the adapter
 * itself put out in the step before; the right answer of a step is the contract's for that. */
#include <stdlib.h>
#include <string.h>

#include "../vectors/generate.h"
#include "command.h"
#include "run.h"

enum { STEPS = 12, SEQUENCES = 2 };

bool run_has_sequence(const assay_program *p)
{
    bool feeds = false;
    for (int i = 0; i < p->output_count; i++)
        feeds |= p->values[p->outputs[i]].feeds >= 0;
    return feeds && p->main_input >= 0;
}

/* A case for each step: ordinary values, the fed inputs still zero. */
static assay_vector_set *make_steps(run_state *s, const assay_program *p, int sequence,
                                    assay_error *error)
{
    assay_program *own = run_selected_program(&s->selection, p->name, error);
    assay_vector_set *set = own ? assay_vectors_make(own, "real", s->o->seed, error) : NULL;
    vectors_blocks b;
    if (!set || !vectors_blocks_make(p, 8, 4096, &b)) {
        assay_vectors_free(set);
        return NULL;
    }
    set->class_ = "sequence";
    const assay_value *x = &p->values[p->main_input];
    vectors_rng rng = vectors_rng_of(s->o->seed + (uint64_t)sequence, "sequence");
    for (int step = 0; step < STEPS; step++) {
        assay_case *c = vectors_add_case(set, vectors_text(set, "sequence %d, step %d", sequence, step),
                                         b.m, b.k);
        if (!c)
            break;
        assay_grid *g = &c->inputs[vectors_main_index(p)];
        for (int64_t i = 0; i < g->rows * g->cols; i++)
            grid_set(g, assay_type_storage(x->type), i, code_ordinary(x->type.format, &rng));
        vectors_fill_further(c, p, sequence ? 1 : 0, &rng);
    }
    return set;
}

static int input_index(const assay_program *p, int value)
{
    for (int i = 0; i < p->input_count; i++)
        if (p->inputs[i] == value)
            return i;
    return -1;
}

/* Output -> input of the next step; without `from` (the first step): +0. */
static void feed(const assay_program *p, assay_case *c, const assay_grid *from)
{
    for (int i = 0; i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        int to = v->feeds >= 0 ? input_index(p, v->feeds) : -1;
        if (to < 0)
            continue;
        assay_grid *g = &c->inputs[to];
        size_t bytes = (size_t)(g->rows * g->cols) *
                       (size_t)assay_type_storage(p->values[p->inputs[to]].type);
        if (from)
            memcpy(g->data, from[i].data, bytes);
        else
            memset(g->data, 0, bytes);
    }
}

/* 0; 1 stopped; -1 error. */
static int run_steps(run_state *s, run_adapter *a, assay_vector_set *set, run_verdict *v,
                     assay_error *error)
{
    const assay_program *p = set->program;
    assay_grid *before = NULL;
    int status = 0;
    for (int i = 0; i < set->case_count && !status; i++) {
        assay_case *c = &set->cases[i];
        assay_grid *observed = run_observed_new(p, c->m, c->k);
        char reason[WORKER_MESSAGE];
        bool stopped = false;
        feed(p, c, before);
        if (!observed || assay_exact_eval(p, c->m, c->k, c->inputs, c->outputs, error)) {
            run_observed_free(observed, p->output_count);
            run_observed_free(before, p->output_count);
            return observed ? -1 : assay_fail(error, "out of memory");
        }
        verdict_kind kind = run_case(&a->w, p, c, observed, s->o->repeat, false, &stopped, reason,
                                     sizeof reason);
        if (stopped)
            status = 1;
        else if (kind != VERDICT_PASS)
            verdict_worsen(v, kind, "%s: %s", c->tag, reason);
        if (!stopped && kind >= VERDICT_ERROR)
            v->broken_cases++, status = 2; /* no state to go on with */
        else if (!stopped && kind != VERDICT_UNSUPPORTED)
            status = compare_case(&v->tally, c, i, observed, error) < 0 ? -1 : 0;
        run_observed_free(before, p->output_count);
        before = observed;
    }
    run_observed_free(before, p->output_count);
    return status == 2 ? 0 : status;
}

static int sequence_one(run_state *s, run_adapter *a, const assay_program *p)
{
    run_verdict v;
    assay_error error = {"no shape fits"};
    if (verdict_init(&v, a->spec.text, p, "sequence"))
        return complain(STATUS_FILE, "out of memory");
    double start = monotonic_seconds();
    int got = 0;
    for (int i = 0; i < SEQUENCES && !got; i++) {
        assay_vector_set *set = make_steps(s, p, i, &error);
        got = set ? run_steps(s, a, set, &v, &error) : -1;
        if (!got && v.tally.first.set && !v.first) {
            v.first = run_failure_json(p, &set->cases[v.tally.first.case_index], &v.tally.first);
            v.smallest = run_failure_json(p, &set->cases[v.tally.smallest.case_index],
                                          &v.tally.smallest);
        }
        assay_vectors_free(set);
    }
    if (got < 0) {
        verdict_free(&v);
        return complain(STATUS_FILE, "%s, class sequence: %s", p->name, error.message);
    }
    s->stopped |= got == 1;
    verdict_conclude(&v);
    v.seconds = monotonic_seconds() - start;
    if (v.kind > VERDICT_ACCEPTABLE)
        v.printed = worker_printed(&a->w);
    return run_take_verdict(s, a, &v);
}

int run_sequence(run_state *s, const assay_program *p, const bool *supported)
{
    int status = STATUS_OK;
    for (int i = 0; i < s->o->adapter_count && !s->stopped; i++)
        if (supported[i])
            status = status_worst(status, sequence_one(s, &s->adapters[i], p));
    return status;
}
