/* The vector classes: each set is made once and given to every adapter. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "run.h"

static bool wanted(const run_options *o, const char *class_)
{
    for (int i = 0; i < o->class_count; i++)
        if (!strcmp(o->classes[i], class_))
            return true;
    return o->class_count == 0;
}

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

static int judge_class(run_state *s, const assay_program *p, const bool *supported,
                       const char *class_)
{
    assay_error error;
    run_progress(s, p->name, 0, 0, 0);
    assay_vector_set *set = run_vectors(s, p->name, class_, &error);
    if (!set) {
        run_progress_clear(s);
        return complain(STATUS_FILE, "%s", error.message); /* names recipe and class itself */
    }
    int status = STATUS_OK;
    for (int i = 0; i < s->o->adapter_count && !s->stopped && set->case_count; i++)
        if (supported[i])
            status = status_worst(status, judge_one(s, &s->adapters[i], set));
    assay_vectors_free(set);
    return status;
}

static int judge_instance(run_state *s, const char *name)
{
    assay_error error;
    assay_program *p = run_selected_program(&s->selection, name, &error);
    if (!p)
        return complain(STATUS_FILE, "%s", error.message);
    bool *supported = calloc((size_t)s->o->adapter_count + 1, sizeof *supported), any = false;
    bool asked = false;
    int status = supported ? STATUS_OK : complain(STATUS_FILE, "out of memory");
    for (int i = 0; supported && i <= assay_class_count && !s->stopped; i++) {
        const char *class_ = i < assay_class_count ? assay_classes[i].name : "sequence";
        bool applies = i < assay_class_count ? assay_classes[i].applies(p) : run_has_sequence(p);
        if (!applies || !wanted(s->o, class_) || !run_mine(s))
            continue;
        for (int j = 0; j < s->o->adapter_count && !asked; j++)
            any |= supported[j] = run_supported(s, &s->adapters[j], p, "all");
        asked = true;
        if (any && i < assay_class_count)
            status = status_worst(status, judge_class(s, p, supported, class_));
        else if (any)
            status = status_worst(status, run_sequence(s, p));
        s->stopped |= run_stop != 0;
    }
    free(supported);
    assay_program_free(p);
    return status;
}

int run_classes(run_state *s)
{
    int status = STATUS_OK;
    for (int i = 0; i < s->selection.count && !s->stopped; i++)
        status = status_worst(status, judge_instance(s, s->selection.names[i]));
    return status;
}
