/* The vector classes: each set is made once and given to every adapter that supports its contract. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "run.h"
#include "run_prefetch.h"

static const char sequence[] = "sequence";
enum { BATCH = 48 }; /* instances that are planned, then judged, together */

static bool wanted(const run_options *o, const char *class_)
{
    for (int i = 0; i < o->class_count; i++)
        if (!strcmp(o->classes[i], class_))
            return true;
    return o->class_count == 0;
}

/* ---- what is to be judged ---- */

typedef struct {
    run_unit *list;
    int count, capacity;
} units;

static run_unit *new_unit(units *u)
{
    if (u->count == u->capacity) {
        int capacity = 2 * u->capacity + 64;
        run_unit *more = realloc(u->list, (size_t)capacity * sizeof *more);
        if (!more)
            return NULL;
        u->list = more, u->capacity = capacity;
    }
    return &u->list[u->count++];
}

static int add_unit(units *u, const assay_program *p, const char *class_, const bool *supported,
                    int adapters)
{
    run_unit *unit = new_unit(u);
    if (!unit)
        return -1;
    *unit = (run_unit){strdup(p->name), class_, malloc((size_t)adapters)};
    if (!unit->instance || !unit->supported)
        return -1;
    memcpy(unit->supported, supported, (size_t)adapters);
    return 0;
}

static void free_units(units *u)
{
    for (int i = 0; i < u->count; i++) {
        free(u->list[i].instance);
        free(u->list[i].supported);
    }
    free(u->list);
}

/* The units of one instance, after the adapters were asked about it. */
static int plan_instance(run_state *s, const assay_program *p, units *u)
{
    int n = s->o->adapter_count, status = STATUS_OK;
    bool *supported = calloc((size_t)n + 1, sizeof *supported), any = false, asked = false;
    if (!supported)
        return complain(STATUS_FILE, "out of memory");
    for (int i = 0; i <= assay_class_count && status == STATUS_OK; i++) {
        const char *class_ = i < assay_class_count ? assay_classes[i].name : sequence;
        bool applies = i < assay_class_count ? assay_classes[i].applies(p) : run_has_sequence(p);
        if (!applies || !wanted(s->o, class_) || !run_mine(s))
            continue;
        for (int j = 0; j < n && !asked; j++)
            any |= supported[j] = run_supported(s, &s->adapters[j], p, "all");
        asked = true;
        if (any && add_unit(u, p, class_, supported, n))
            status = complain(STATUS_FILE, "out of memory");
    }
    free(supported);
    return status;
}

static int plan(run_state *s, int from, int to, units *u)
{
    int status = STATUS_OK;
    for (int i = from; i < to && !s->stopped; i++) {
        assay_error error;
        assay_program *p = run_selected_program(&s->selection, s->selection.names[i], &error);
        if (p)
            status = status_worst(status, plan_instance(s, p, u));
        else
            status = status_worst(status, complain(STATUS_FILE, "%s", error.message));
        assay_program_free(p);
        s->stopped |= run_stop != 0;
    }
    return status;
}

/* ---- judging ---- */

static int judge_one(run_state *s, run_adapter *a, const assay_vector_set *set)
{
    run_verdict v;
    assay_error error;
    if (verdict_init(&v, a->spec.text, set->program, set->class_))
        return complain(STATUS_FILE, "out of memory");
    judge_options options = run_judge_options(s);
    int got = run_judge_set(&a->w, set, &options, &v, &error);
    if (got < 0) {
        verdict_free(&v);
        return complain(STATUS_FILE, "%s, class %s: %s", set->program->name, set->class_,
                        error.message);
    }
    s->stopped |= got == 1;
    if (got == 1 && v.tally.cases == 0 && v.broken_cases == 0) { /* nothing to tell */
        verdict_free(&v);
        return STATUS_OK;
    }
    return run_take_verdict(s, a, &v);
}

static int judge_set(run_state *s, const run_unit *unit, const assay_vector_set *set)
{
    int status = STATUS_OK;
    for (int i = 0; i < s->o->adapter_count && !s->stopped && set->case_count; i++)
        if (unit->supported[i])
            status = status_worst(status, judge_one(s, &s->adapters[i], set));
    return status;
}

static int judge_sequence(run_state *s, const run_unit *unit)
{
    assay_error error;
    assay_program *p = run_selected_program(&s->selection, unit->instance, &error);
    if (!p)
        return complain(STATUS_FILE, "%s", error.message);
    int status = run_sequence(s, p, unit->supported);
    assay_program_free(p);
    return status;
}

static int judge_units(run_state *s, const units *u, bool sequences)
{
    int status = STATUS_OK;
    run_prefetch *f = sequences ? NULL : run_prefetch_begin(s, u->list, u->count);
    if (!sequences && !f)
        return complain(STATUS_FILE, "out of memory");
    for (int i = 0; i < u->count && !s->stopped; i++) {
        const run_unit *unit = &u->list[i];
        run_progress(s, unit->instance, (double)i / u->count, 0, 0);
        if (sequences) {
            status = status_worst(status, judge_sequence(s, unit));
        } else {
            assay_error error;
            assay_vector_set *set = run_prefetch_take(f, i, &error);
            if (set)
                status = status_worst(status, judge_set(s, unit, set));
            else if (!run_stop) {
                run_progress_clear(s);
                status = status_worst(status, complain(STATUS_FILE, "%s", error.message));
            }
            assay_vectors_free(set);
        }
        s->stopped |= run_stop != 0;
    }
    if (f)
        run_prefetch_end(f);
    return status;
}

static int judge_batch(run_state *s, int from, int to)
{
    units all = {0}, sets = {0}, sequences = {0};
    int status = plan(s, from, to, &all);
    for (int i = 0; i < all.count; i++) { /* sequences make their own vectors as they go */
        units *kind = all.list[i].class_ == sequence ? &sequences : &sets;
        run_unit *unit = new_unit(kind);
        if (!unit) {
            status = status_worst(status, complain(STATUS_FILE, "out of memory"));
            break;
        }
        *unit = all.list[i]; /* what it points to stays all's */
    }
    status = status_worst(status, judge_units(s, &sets, false));
    status = status_worst(status, judge_units(s, &sequences, true));
    free(sets.list);
    free(sequences.list);
    free_units(&all);
    return status;
}

int run_classes(run_state *s)
{
    int status = STATUS_OK, count = s->selection.count;
    for (int i = 0; i < count && !s->stopped; i += BATCH)
        status = status_worst(status, judge_batch(s, i, i + BATCH < count ? i + BATCH : count));
    return status;
}
