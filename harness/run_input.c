/* --input: a user's tensors as the inputs of contracts (class real). The fast engine answers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/dtype.h"
#include "../vectors/generate.h"
#include "../vectors/safetensors.h"
#include "command.h"
#include "run.h"

/* A tensor of any rank is rows times its last dimension. */
static void shape_of(const safetensors_tensor *t, int64_t *m, int64_t *k)
{
    *m = 1;
    *k = t->rank ? t->shape[t->rank - 1] : 1;
    for (int i = 0; i + 1 < t->rank; i++)
        *m *= t->shape[i];
}

static bool fits(const assay_program *p, const safetensors_tensor *t)
{
    int64_t m, k;
    shape_of(t, &m, &k);
    return p->main_input >= 0 && dtype_fits(p->values[p->main_input].type, t->dtype) && m * k > 0 &&
           assay_program_admits(p, m, k, NULL);
}

/* A set of one case: the tensor, scales and the like from it (their usual values), and the answer. */
static assay_vector_set *set_of(const run_state *s, const char *instance,
                                const safetensors_tensor *t, const assay_fast *fast,
                                assay_error *error)
{
    assay_program *p = run_selected_program(&s->selection, instance, error);
    assay_vector_set *set = p ? assay_vectors_make(p, "real", s->o->seed, error) : NULL;
    if (!set)
        return NULL;
    int64_t m, k;
    shape_of(t, &m, &k);
    assay_case *c = vectors_add_case(set, vectors_text(set, "%s", t->name), m, k);
    int main = vectors_main_index(set->program);
    if (!c || main < 0) {
        assay_fail(error, "tensor %s does not fit", t->name);
        assay_vectors_free(set);
        return NULL;
    }
    memcpy(c->inputs[main].data, t->data, (size_t)t->size);
    vectors_rng rng = vectors_rng_of(s->o->seed, t->name);
    vectors_fill_further(c, set->program, 0, &rng);
    if (assay_fast_eval(fast, m, k, c->inputs, c->outputs, error)) {
        assay_vectors_free(set);
        return NULL;
    }
    return set;
}

typedef struct {
    run_verdict verdict;
    bool started;
} adapter_verdict;

static int judge_tensor(run_state *s, const assay_program *p, const assay_fast *fast,
                        const safetensors_tensor *t, const bool *supported, adapter_verdict *all,
                        int index)
{
    assay_error error;
    assay_vector_set *set = set_of(s, p->name, t, fast, &error);
    if (!set)
        return complain(STATUS_FILE, "%s: %s", t->name, error.message);
    int status = STATUS_OK;
    for (int i = 0; i < s->o->adapter_count && !s->stopped; i++) {
        if (!supported[i])
            continue;
        run_verdict v;
        if (verdict_init(&v, s->adapters[i].spec.text, p, "real"))
            return complain(STATUS_FILE, "out of memory");
        judge_options options = run_judge_options(s);
        options.progress = NULL;
        int got = run_judge_set(&s->adapters[i].w, set, &options, &v, &error);
        if (got < 0)
            status = complain(STATUS_FILE, "%s, %s: %s", p->name, t->name, error.message);
        s->stopped |= got == 1;
        /* The tensors of a file make one verdict. */
        run_verdict *sum = &all[i].verdict;
        compare_add(&sum->tally, &v.tally);
        if (v.kind > VERDICT_ACCEPTABLE)
            verdict_worsen(sum, v.kind, "%s: %s", t->name, v.reason);
        if (!sum->first && v.first) {
            json_object_set_new(v.first, "case", json_integer(index));
            sum->first = json_incref(v.first);
        }
        if (!sum->smallest && v.smallest) {
            json_object_set_new(v.smallest, "case", json_integer(index));
            sum->smallest = json_incref(v.smallest);
        }
        if (!sum->diagnosis)
            sum->diagnosis = json_incref(v.diagnosis);
        if (!sum->printed && v.printed)
            sum->printed = strdup(v.printed);
        sum->broken_cases += v.broken_cases;
        sum->seconds += v.seconds;
        verdict_free(&v);
    }
    assay_vectors_free(set);
    return status;
}

static int judge_file(run_state *s, const assay_program *p, const safetensors_file *f)
{
    int n = s->o->adapter_count, tensors = 0, status = STATUS_OK;
    bool *supported = calloc((size_t)n + 1, sizeof *supported), any = false;
    adapter_verdict *all = calloc((size_t)n + 1, sizeof *all);
    assay_error error;
    assay_fast *fast = assay_fast_compile(p, &error);
    if (!supported || !all || !fast)
        status = complain(STATUS_FILE, "%s", fast ? "out of memory" : error.message);
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        supported[i] = run_supported(s, &s->adapters[i], p, "real");
        any |= supported[i];
        if (supported[i])
            all[i].started = verdict_init(&all[i].verdict, s->adapters[i].spec.text, p, "real") == 0;
    }
    for (int i = 0; any && i < safetensors_count(f) && !s->stopped; i++) {
        const safetensors_tensor *t = safetensors_at(f, i);
        if (!fits(p, t) || !run_mine(s))
            continue;
        run_progress(s, t->name, (double)i / safetensors_count(f), 0, 0);
        status = status_worst(status, judge_tensor(s, p, fast, t, supported, all, tensors++));
        s->stopped |= run_stop != 0;
    }
    for (int i = 0; all && i < n; i++) {
        if (!all[i].started)
            continue;
        run_verdict *v = &all[i].verdict;
        verdict_conclude(v);
        snprintf(v->domain, sizeof v->domain, "%d tensors of %.200s", tensors, s->o->input);
        v->domain_size = (uint64_t)tensors;
        status = status_worst(status, run_take_verdict(s, &s->adapters[i], v));
    }
    assay_fast_free(fast);
    free(supported);
    free(all);
    return status;
}

int run_input(run_state *s)
{
    assay_error error;
    safetensors_file *f = safetensors_open(s->o->input, &error);
    if (!f)
        return complain(STATUS_FILE, "%s", error.message);
    int status = STATUS_OK, fitting = 0;
    for (int i = 0; i < s->selection.count && !s->stopped; i++) {
        assay_program *p = run_selected_program(&s->selection, s->selection.names[i], &error);
        bool any = false;
        for (int j = 0; p && j < safetensors_count(f) && !any; j++)
            any = fits(p, safetensors_at(f, j));
        fitting += any;
        if (!p)
            status = status_worst(status, complain(STATUS_FILE, "%s", error.message));
        else if (any)
            status = status_worst(status, judge_file(s, p, f));
        assay_program_free(p);
    }
    safetensors_close(f);
    if (!fitting && !s->stopped)
        return status_worst(status, complain(STATUS_FILE, "%s: no tensor has the type and a shape that "
                                             "one of the recipes takes", s->o->input));
    return status;
}
