#include "run_judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { POISON_A = 0xFF, POISON_B = 0x7F };
enum { CRASHES = 5, HANGS = 2 };              /* after so many the rest of a set is not run */
static const int64_t KEEP = 64 << 20;         /* bytes of answers kept for the diagnosis */

assay_grid *run_observed_new(const assay_program *p, int64_t m, int64_t k)
{
    assay_grid *g = calloc((size_t)p->output_count + 1, sizeof *g);
    for (int i = 0; g && i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        assay_value_shape(v, m, k, &g[i].rows, &g[i].cols);
        g[i].data = calloc((size_t)(g[i].rows * g[i].cols) + 1, (size_t)assay_type_storage(v->type));
        if (!g[i].data) {
            run_observed_free(g, p->output_count);
            return NULL;
        }
    }
    return g;
}

void run_observed_free(assay_grid *g, int count)
{
    for (int i = 0; g && i < count; i++)
        free(g[i].data);
    free(g);
}

static int64_t grid_bytes(const assay_program *p, const assay_grid *g, int output)
{
    return g[output].rows * g[output].cols *
           assay_type_storage(p->values[p->outputs[output]].type);
}

/* ---- two answers to one question ---- */

typedef enum { SAME, UNWRITTEN, CHANGED } difference;

typedef struct {
    difference kind;
    int output;
    int64_t at; /* the first code that differs */
    int64_t count;
} differing;

/* Codes that the contract leaves open may be anything. */
static differing differ(const assay_program *p, const assay_case *c, const assay_grid *a,
                        const assay_grid *b, uint8_t poison_a, uint8_t poison_b)
{
    differing d = {.kind = SAME};
    for (int o = 0; o < p->output_count; o++) {
        int bytes = assay_type_storage(p->values[p->outputs[o]].type);
        const uint8_t *x = a[o].data, *y = b[o].data, *marks = c->outputs[o].marks;
        if (!memcmp(x, y, (size_t)grid_bytes(p, a, o)))
            continue;
        for (int64_t i = 0; i < a[o].rows * a[o].cols; i++) {
            difference kind = SAME;
            for (int64_t j = i * bytes; j < (i + 1) * bytes && !(marks && marks[i]); j++)
                if (x[j] != y[j] && kind != CHANGED)
                    kind = x[j] == poison_a && y[j] == poison_b ? UNWRITTEN : CHANGED;
            if (kind == SAME)
                continue;
            if (kind > d.kind) /* the worst kind is the one to show */
                d = (differing){kind, o, i, d.count};
            d.count++;
        }
    }
    return d;
}

static verdict_kind outcome_kind(worker_outcome o)
{
    switch (o) {
    case WORKER_UNSUPPORTED:
        return VERDICT_UNSUPPORTED;
    case WORKER_CRASH:
        return VERDICT_CRASH;
    case WORKER_HANG:
        return VERDICT_HANG;
    case WORKER_GUARD:
        return VERDICT_GUARD;
    case WORKER_DONE:
        return VERDICT_PASS;
    default:
        return VERDICT_ERROR;
    }
}

/* Asks once; true if there is an answer. */
static bool ask(worker *w, const assay_program *p, const assay_case *c, const assay_grid *observed,
                uint8_t poison, bool awkward, bool *stopped, verdict_kind *kind, char *reason,
                size_t size)
{
    worker_outcome o = worker_run(w, p, c->m, c->k, c->inputs, observed, poison, awkward);
    *stopped = o == WORKER_STOPPED;
    *kind = outcome_kind(o);
    if (o == WORKER_DONE)
        return true;
    snprintf(reason, size, "%s", w->message);
    return false;
}

/* The answers under two poisons differ: never written, dependent on what was there, or on chance? */
static verdict_kind blame(worker *w, const assay_program *p, const assay_case *c,
                          const assay_grid *first, const assay_grid *observed, differing d,
                          bool awkward, bool same_poison, bool *stopped, char *reason, size_t size)
{
    const assay_value *v = &p->values[p->outputs[d.output]];
    int64_t cols = first[d.output].cols;
    if (d.kind == UNWRITTEN) {
        snprintf(reason, size, "%" PRId64 " codes were not written, the first %s[%" PRId64 ", %"
                 PRId64 "]", d.count, v->name, d.at / cols, d.at % cols);
        return VERDICT_UNWRITTEN;
    }
    verdict_kind kind = VERDICT_PASS;
    bool depends = !same_poison; /* the first poison twice in a row gives the first answer again? */
    for (int i = 0; i < 2 && depends; i++) {
        if (!ask(w, p, c, observed, POISON_A, awkward, stopped, &kind, reason, size))
            return kind;
        depends = differ(p, c, first, observed, POISON_A, POISON_A).kind == SAME;
    }
    snprintf(reason, size, depends ? "%" PRId64 " codes depend on what the buffer held before, the "
                                     "first %s[%" PRId64 ", %" PRId64 "]"
                                   : "%" PRId64 " codes changed from one call to the next, the first "
                                     "%s[%" PRId64 ", %" PRId64 "]",
             d.count, v->name, d.at / cols, d.at % cols);
    return depends ? VERDICT_UNWRITTEN : VERDICT_NONDETERMINISTIC;
}

verdict_kind run_case(worker *w, const assay_program *p, const assay_case *c,
                      const assay_grid *observed, int repeat, bool awkward, bool *stopped,
                      char *reason, size_t size)
{
    verdict_kind kind = VERDICT_PASS;
    assay_grid *first = run_observed_new(p, c->m, c->k);
    if (!first) {
        snprintf(reason, size, "out of memory");
        return VERDICT_ERROR;
    }
    bool answered = ask(w, p, c, first, POISON_A, awkward, stopped, &kind, reason, size);
    for (int i = 1; answered && i < (repeat > 2 ? repeat : 2); i++) {
        uint8_t poison = i % 2 ? POISON_B : POISON_A;
        answered = ask(w, p, c, observed, poison, awkward, stopped, &kind, reason, size);
        differing d = {.kind = SAME};
        if (answered)
            d = differ(p, c, first, observed, POISON_A, poison);
        if (d.kind == SAME)
            continue;
        kind = blame(w, p, c, first, observed, d, awkward, poison == POISON_A, stopped, reason, size);
        break;
    }
    for (int i = 0; i < p->output_count && answered; i++) /* what the first call said is judged */
        memcpy(observed[i].data, first[i].data, (size_t)grid_bytes(p, first, i));
    run_observed_free(first, p->output_count);
    return kind;
}

/* ---- a set ---- */

typedef struct {
    worker *w;
    const assay_vector_set *set;
    const judge_options *options;
    run_verdict *verdict;
    assay_grid **kept; /* answers by case, for the diagnosis */
    int64_t kept_bytes;
    int crashes, hangs;
} judging;

static void note_end(judging *j, verdict_kind kind)
{
    run_verdict *v = j->verdict;
    v->broken_cases++;
    j->crashes += kind != VERDICT_HANG;
    j->hangs += kind == VERDICT_HANG;
    if (kind == VERDICT_CRASH && j->w->child.signal)
        snprintf(v->signal, sizeof v->signal, "SIG%.50s", sigabbrev_np(j->w->child.signal)
                                                             ? sigabbrev_np(j->w->child.signal)
                                                             : "?");
}

/* 0, 1 stopped, -1 error. */
static int judge_case(judging *j, int index, bool awkward, assay_error *error)
{
    const assay_program *p = j->set->program;
    const assay_case *c = &j->set->cases[index];
    char reason[WORKER_MESSAGE];
    bool stopped = false;
    assay_grid *observed = run_observed_new(p, c->m, c->k);
    if (!observed)
        return assay_fail(error, "out of memory");
    verdict_kind kind = run_case(j->w, p, c, observed, j->options->repeat, awkward, &stopped, reason,
                                 sizeof reason);
    int status = stopped ? 1 : 0;
    if (!stopped && kind != VERDICT_PASS)
        verdict_worsen(j->verdict, kind, "case %d (%s, %" PRId64 " x %" PRId64 "%s): %s", index,
                       c->tag ? c->tag : "", c->m, c->k, awkward ? ", strided" : "", reason);
    if (!stopped && kind >= VERDICT_ERROR) {
        note_end(j, kind);
    } else if (!stopped && kind != VERDICT_UNSUPPORTED) {
        int same = compare_case(&j->verdict->tally, c, index, observed, error);
        status = same < 0 ? -1 : 0;
        int64_t bytes = 1;
        for (int i = 0; i < p->output_count; i++)
            bytes += grid_bytes(p, observed, i);
        if (!status && !awkward && j->kept_bytes + bytes < KEEP) {
            j->kept[index] = observed;
            j->kept_bytes += bytes;
            return 0;
        }
    }
    run_observed_free(observed, p->output_count);
    return status;
}

static bool enough(const judging *j)
{
    int64_t most = j->options->max_failures;
    return j->crashes >= CRASHES || j->hangs >= HANGS ||
           (most && j->verdict->tally.mismatched_cases >= most);
}

static void conclude(judging *j)
{
    run_verdict *v = j->verdict;
    const assay_program *p = j->set->program;
    verdict_conclude(v);
    if (v->tally.first.set)
        v->first = run_failure_json(p, &j->set->cases[v->tally.first.case_index], &v->tally.first);
    if (v->tally.smallest.set)
        v->smallest = run_failure_json(p, &j->set->cases[v->tally.smallest.case_index],
                                       &v->tally.smallest);
    if (v->kind == VERDICT_FAIL)
        v->diagnosis = run_diagnose(j->set, j->kept, &v->tally, j->options->catalogue);
    if (v->kind != VERDICT_PASS && v->kind != VERDICT_ACCEPTABLE)
        v->printed = worker_printed(j->w);
    if (v->skipped_cases && strlen(v->reason) + 64 < sizeof v->reason)
        snprintf(v->reason + strlen(v->reason), sizeof v->reason - strlen(v->reason),
                 "; %d cases broken, %d not run any more", v->broken_cases, v->skipped_cases);
}

int run_judge_set(worker *w, const assay_vector_set *set, const judge_options *options,
                  run_verdict *verdict, assay_error *error)
{
    judging j = {.w = w, .set = set, .options = options, .verdict = verdict};
    double start = monotonic_seconds();
    j.kept = calloc((size_t)set->case_count + 1, sizeof(assay_grid *));
    if (!j.kept)
        return assay_fail(error, "out of memory");
    bool strided = !strcmp(verdict->class_, "shapes");
    int status = 0;
    for (int i = 0; i < set->case_count && !status; i++) {
        if (enough(&j)) {
            verdict->skipped_cases = set->case_count - i;
            break;
        }
        status = judge_case(&j, i, false, error);
        if (!status && strided && !enough(&j))
            status = judge_case(&j, i, true, error);
        if (options->progress)
            options->progress(options->progress_context, i + 1, set->case_count);
        if (options->stop && *options->stop)
            status = status ? status : 1;
    }
    if (status >= 0)
        conclude(&j);
    for (int i = 0; i < set->case_count; i++)
        run_observed_free(j.kept[i], set->program->output_count);
    free(j.kept);
    verdict->seconds += monotonic_seconds() - start;
    return status;
}
