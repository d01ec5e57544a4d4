/* assay run: adapters against vectors, a sweep, or a file of tensors. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "report.h"
#include "run.h"

volatile sig_atomic_t run_stop;

static volatile sig_atomic_t stopped_at; /* seconds of the monotonic clock */

/* A second one means it, unless it comes with the first: timeout(1) signals the process and then its
 * whole group. */
static void on_stop(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!run_stop) {
        run_stop = 1;
        stopped_at = (sig_atomic_t)now.tv_sec;
    } else if ((sig_atomic_t)now.tv_sec - stopped_at >= 2) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* ---- adapters ---- */

static int open_adapter(run_state *s, run_adapter *a, const char *text)
{
    assay_error error;
    worker_limits limits = {s->o->time_limit, s->o->memory_limit, &run_stop};
    if (adapter_find(text, &a->spec, &error)) {
        adapter_spec missing = {.text = (char *)(uintptr_t)text, .options = (char[]){""},
                                .path = (char[]){""}};
        results_add_adapter(&s->results, &missing, NULL, error.message);
        return complain(STATUS_ADAPTER, "%s", error.message);
    }
    a->found = true;
    if (worker_init(&a->w, &a->spec, &limits, &error))
        return complain(STATUS_FILE, "%s", error.message);
    worker_outcome o = worker_hello(&a->w);
    a->usable = o == WORKER_DONE;
    results_add_adapter(&s->results, &a->spec, &a->w.description, a->usable ? NULL : a->w.message);
    if (a->usable)
        return STATUS_OK;
    char *printed = worker_printed(&a->w);
    complain(STATUS_ADAPTER, "adapter %s cannot be opened: %s%s%s", text, a->w.message,
             printed && *printed ? "\nit printed: " : "", printed ? printed : "");
    free(printed);
    return STATUS_ADAPTER;
}

static int open_adapters(run_state *s)
{
    s->adapters = calloc((size_t)s->o->adapter_count, sizeof *s->adapters);
    if (!s->adapters)
        return complain(STATUS_FILE, "out of memory");
    int status = STATUS_OK;
    for (int i = 0; i < s->o->adapter_count && !run_stop; i++)
        status = status_worst(status, open_adapter(s, &s->adapters[i], s->o->adapters[i]));
    return status;
}

/* `explained`: it was said already why nothing ran. */
static int close_adapters(run_state *s, bool explained)
{
    int status = STATUS_OK;
    for (int i = 0; s->adapters && i < s->o->adapter_count; i++) {
        run_adapter *a = &s->adapters[i];
        if (a->usable && a->cases == 0 && !s->stopped && s->o->shards == 1 && !explained)
            status = status_worst(status, complain(STATUS_ADAPTER, "adapter %s: not one case was "
                                                   "executed; it supports none of the recipes "
                                                   "(--recipe), or no class applies",
                                                   s->o->adapters[i]));
        if (a->found) {
            worker_free(&a->w);
            adapter_spec_free(&a->spec);
        }
    }
    free(s->adapters);
    return status;
}

/* ---- reports ---- */

static int make_reports(run_state *s)
{
    const run_options *o = s->o;
    assay_error error;
    int status = STATUS_OK;
    if (o->junit && junit_write(s->results.root, o->junit, &error))
        status = complain(STATUS_FILE, "%s", error.message);
    if (!o->html && !o->markdown)
        return status;
    char temporary[] = "/tmp/assay-results-XXXXXX";
    const char *path = o->out;
    if (!path) { /* the script needs a file */
        int fd = mkstemp(temporary);
        if (fd < 0)
            return complain(STATUS_FILE, "%s: cannot be made", temporary);
        close(fd);
        s->results.path = strdup(temporary);
        path = temporary;
        if (results_write(&s->results, !s->stopped, &error))
            status = complain(STATUS_FILE, "%s", error.message);
    }
    if (status == STATUS_OK)
        status = report_render(&path, 1, o->html, o->markdown, NULL);
    if (!o->out)
        unlink(temporary);
    return status;
}

static void print_counts(const run_state *s)
{
    const json_t *counts = json_object_get(s->results.root, "counts");
    const char *key, *comma = "";
    json_t *n;
    json_object_foreach((json_t *)(uintptr_t)counts, key, n) {
        if (!json_integer_value(n) && strcmp(key, "cases") && strcmp(key, "elements"))
            continue;
        printf("%s%lld %s", comma, (long long)json_integer_value(n), key);
        comma = ", ";
    }
    printf("%s\n", s->stopped ? "; stopped before the end" : "");
}

/* ---- the command ---- */

static int finish(run_state *s)
{
    assay_error error;
    int status = STATUS_OK;
    if (s->stopped)
        status = complain(STATUS_DIFFERS, "stopped; what was judged so far is in the results, "
                                          "complete is false");
    else if (s->expected)
        status = run_expect_missing(s);
    if (results_write(&s->results, !s->stopped, &error))
        status = status_worst(status, complain(STATUS_FILE, "%s", error.message));
    status = status_worst(status, make_reports(s));
    if (s->o->json)
        return status_worst(status, print_json(json_incref(s->results.root)));
    print_counts(s);
    return status_worst(status, finish_output());
}

static int run_all(run_state *s)
{
    assay_error error;
    if (run_expect_load(s, &error))
        return complain(STATUS_FILE, "%s", error.message);
    if (run_select(s->o->recipes, s->o->recipe_file, &s->selection, &error)) {
        bool broken_file = s->o->recipe_file && !s->selection.own;
        return complain(broken_file ? STATUS_FILE : STATUS_USAGE, "%s", error.message);
    }
    int status = open_adapters(s);
    s->stopped = run_stop != 0;
    bool usable = false, explained = false;
    for (int i = 0; s->adapters && i < s->o->adapter_count; i++)
        usable |= s->adapters[i].usable;
    if (usable) {
        int judged = s->o->sweep   ? run_sweep(s)
                     : s->o->input ? run_input(s)
                                   : run_classes(s);
        explained = judged == STATUS_FILE || judged == STATUS_USAGE;
        status = status_worst(status, judged);
    }
    run_progress_clear(s);
    status = status_worst(status, close_adapters(s, explained));
    status = status_worst(status, s->status);
    return status_worst(status, finish(s));
}

int cmd_run(int argc, char **argv)
{
    run_options o;
    bool help;
    int status = run_options_parse(argc, argv, &o, &help);
    if (status != STATUS_OK || help) {
        run_options_free(&o);
        return status;
    }
    run_state s = {.o = &o, .terminal = isatty(STDERR_FILENO) && !o.json};
    assay_error error;
    if (assay_fast_selftest(&error) || results_init(&s.results, o.out, argc, argv, &error)) {
        results_free(&s.results);
        run_options_free(&o);
        return complain(STATUS_FILE, "%s", error.message);
    }
    struct sigaction stop = {.sa_handler = on_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (o.out) /* the results file outlives a reader of standard output that left */
        signal(SIGPIPE, SIG_IGN);
    status = run_all(&s);
    run_selection_free(&s.selection);
    run_catalogue_free(s.catalogue);
    json_decref(s.expected);
    json_decref(s.met);
    results_free(&s.results);
    run_options_free(&o);
    return status;
}
