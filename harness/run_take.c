/* What happens with each verdict, and what is shown meanwhile. */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "run.h"

bool run_mine(run_state *s)
{
    return s->unit++ % s->o->shards == s->o->shard - 1;
}

/* ---- progress: a terminal only ---- */

void run_progress_clear(run_state *s)
{
    if (s->terminal)
        fputs("\r\033[K", stderr);
}

void run_progress(run_state *s, const char *what, double share, double rate, double left)
{
    if (!s->terminal)
        return;
    char bar[31], tail[80] = "";
    int full = (int)(share * 30);
    for (int i = 0; i < 30; i++)
        bar[i] = i < full ? '#' : '.';
    bar[30] = '\0';
    if (rate > 0)
        snprintf(tail, sizeof tail, "  %.0f M/s  %d:%02d left", rate / 1e6, (int)(left / 60),
                 (int)left % 60);
    fprintf(stderr, "\r\033[K[%s] %3.0f%%%s  %.70s", bar, 100 * share, tail, what);
    fflush(stderr);
}

static void judge_progress(void *context, int64_t done, int64_t all)
{
    static const char what[] = "cases";
    run_progress(context, what, (double)done / (double)all, 0, 0);
}

judge_options run_judge_options(run_state *s)
{
    return (judge_options){.repeat = s->o->repeat, .max_failures = s->o->max_failures,
                           .stop = &run_stop, .progress = s->terminal ? judge_progress : NULL,
                           .progress_context = s, .catalogue = &s->catalogue};
}

/* ---- verdicts ---- */

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void print_failure(const char *label, const json_t *f)
{
    if (!json_is_object(f))
        return;
    const json_t *right = json_object_get(f, "expected"), *got = json_object_get(f, "got");
    printf("    %s: %s[%lld, %lld] of case %lld (%s) is %s (%s), right is %s (%s)", label,
           text_of(f, "output"), (long long)json_integer_value(json_object_get(f, "row")),
           (long long)json_integer_value(json_object_get(f, "col")),
           (long long)json_integer_value(json_object_get(f, "case")), text_of(f, "tag"),
           text_of(got, "bits"), text_of(got, "dec"), text_of(right, "bits"),
           text_of(right, "dec"));
    const json_t *inputs = json_object_get(f, "inputs");
    for (size_t i = 0; i < json_array_size(inputs) && json_array_size(inputs) <= 2; i++) {
        const json_t *in = json_array_get(inputs, i), *v = json_object_get(in, "value");
        printf("%s %s = %s (%s)", i ? "," : "; for", text_of(in, "name"), text_of(v, "bits"),
               text_of(v, "dec"));
    }
    putchar('\n');
}

static void print_verdict(const run_verdict *v, const char *compared)
{
    printf("%-16s %s  %s  %s  %" PRId64 " cases  %" PRId64 " codes%s%s\n", verdict_name(v->kind),
           v->adapter, v->program->name, v->class_, v->tally.cases, v->tally.elements,
           compared && strcmp(compared, "SAME") ? "  " : "",
           compared && strcmp(compared, "SAME") ? compared : "");
    if (*v->reason)
        printf("    %s\n", v->reason);
    print_failure("first", v->first);
    if (v->smallest && v->first && !json_equal(v->smallest, v->first))
        print_failure("smallest", v->smallest);
    size_t i;
    json_t *text;
    json_array_foreach(v->diagnosis, i, text)
        printf("    %s\n", json_string_value(text));
    fflush(stdout);
}

int run_take_verdict(run_state *s, run_adapter *a, run_verdict *v)
{
    json_t *o = verdict_json(v);
    const char *compared = run_expect_compare(s, o);
    if (compared)
        json_object_set_new(o, "compared_with", json_string(compared));
    if (!s->o->json) {
        run_progress_clear(s);
        print_verdict(v, compared);
    }
    s->status = status_worst(s->status, verdict_status(v->kind, s->o->acceptable_fails));
    a->cases += v->tally.cases + v->broken_cases;
    results_add_recipe(&s->results, v->program);
    assay_error error;
    int status = STATUS_OK;
    if (results_add_verdict(&s->results, o, &error))
        status = complain(STATUS_FILE, "%s", error.message);
    verdict_free(v);
    return status;
}

bool run_supported(run_state *s, run_adapter *a, const assay_program *p, const char *class_)
{
    if (!a->usable)
        return false;
    worker_outcome o = worker_supports(&a->w, p);
    if (o == WORKER_DONE)
        return true;
    if (o == WORKER_STOPPED) {
        s->stopped = true;
        return false;
    }
    run_verdict v;
    if (verdict_init(&v, a->spec.text, p, class_))
        return false;
    verdict_worsen(&v, o == WORKER_UNSUPPORTED ? VERDICT_UNSUPPORTED
                       : o == WORKER_CRASH     ? VERDICT_CRASH
                       : o == WORKER_HANG      ? VERDICT_HANG
                                               : VERDICT_ERROR,
                   "%s", *a->w.message ? a->w.message : "the adapter does not implement it");
    v.broken_cases = 0;
    s->status = status_worst(s->status, run_take_verdict(s, a, &v));
    return false;
}
