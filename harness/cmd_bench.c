/* assay bench: speed of the engines and of peers, side by side in one run. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "results.h"

static const char help[] =
    "usage: assay bench [--recipe GLOB] [--runs N] [--no-peers] [--json] [-o FILE]\n\n"
    "Rates of one thread, in millions of elements for each second of its processor time: the median\n"
    "of N runs (default 5) and their spread. Rows: casts of f32 to codes, the default instance of each recipe by the fast\n"
    "evaluator (te.nvfp4.1d by the exact one too), a copy of memory, and the same work by other\n"
    "systems where Python has them (.venv-vendors, .venv, or $ASSAY_PYTHON).\n\n"
    "  --recipe GLOB   only these recipes, by both evaluators; no casts, no peers. NAME(P=V, ...)\n"
    "                  is one instance\n"
    "  --runs N        runs of each row, 1 to 99\n"
    "  --no-peers      only this library\n"
    "  --json          one JSON document: host, rows, absent\n"
    "  -o FILE         the same document into a file\n\n"
    "example: assay bench --recipe 'te.nvfp4.1d(T=bf16)' --runs 3\n";

/* ---- rows ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double rounded(double v) /* tenths: what a rate means */
{
    return (double)(int64_t)(v * 10 + 0.5) / 10;
}

void bench_add(bench *b, const char *operation, const char *system, const char *version,
               int64_t elements, const double *rates, int count)
{
    double sorted[BENCH_RUNS_MAX];
    json_t *runs = json_array();
    memcpy(sorted, rates, (size_t)count * sizeof *rates);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    for (int i = 0; i < count; i++)
        json_array_append_new(runs, json_real(rounded(rates[i])));
    double median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    json_array_append_new(
        b->rows, json_pack("{s:s, s:s, s:s, s:I, s:o, s:f, s:f, s:f}", "operation", operation, "system",
                           system, "version", version, "elements", (json_int_t)elements, "runs", runs,
                           "median", rounded(median), "low", rounded(sorted[0]), "high",
                           rounded(sorted[count - 1])));
    fprintf(stderr, "%-56.56s %-18.18s %9.1f  (%.1f .. %.1f)\n", operation, system, median, sorted[0],
            sorted[count - 1]);
}

void bench_absent(bench *b, const char *operation, const char *system, const char *reason)
{
    json_array_append_new(b->absent, json_pack("{s:s, s:s, s:s}", "system", system, "operation",
                                               operation, "reason", reason));
    fprintf(stderr, "%-56.56s %-18.18s    absent  %s\n", operation, system, reason);
}

/* ---- the document ---- */

static json_t *document(const bench *b)
{
    results host;
    assay_error error;
    if (results_init(&host, NULL, 0, NULL, &error))
        return NULL;
    json_t *machine = json_deep_copy(json_object_get(host.root, "host"));
    json_t *started = json_incref(json_object_get(host.root, "started"));
    results_free(&host);
    json_object_set_new(machine, "compiler", json_string(
#ifdef __clang__
                                                 "clang " __clang_version__
#else
                                                 "gcc " __VERSION__
#endif
                                                 ));
    return json_pack("{s:s, s:o, s:o, s:s, s:i, s:O, s:O}", "version", ASSAY_VERSION, "finished",
                     started, "host", machine, "unit", "1e6 elements a second of processor time, one thread", "runs", b->runs,
                     "rows", b->rows, "absent", b->absent);
}

static int print_table(const bench *b)
{
    json_t *row;
    size_t i;
    printf("%-56s %-18s %-10s %9s %9s %9s\n", "M elements/s, one thread", "system", "version", "median",
           "low", "high");
    json_array_foreach(b->rows, i, row)
        printf("%-56s %-18s %-10.10s %9.1f %9.1f %9.1f\n",
               json_string_value(json_object_get(row, "operation")),
               json_string_value(json_object_get(row, "system")),
               json_string_value(json_object_get(row, "version")),
               json_number_value(json_object_get(row, "median")),
               json_number_value(json_object_get(row, "low")),
               json_number_value(json_object_get(row, "high")));
    json_array_foreach(b->absent, i, row)
        printf("%-56s %-18s absent: %s\n", json_string_value(json_object_get(row, "operation")),
               json_string_value(json_object_get(row, "system")),
               json_string_value(json_object_get(row, "reason")));
    return finish_output();
}

static int deliver(const bench *b, bool json, const char *path)
{
    json_t *d = document(b);
    int status = STATUS_OK;
    if (!d)
        return complain(STATUS_FILE, "out of memory");
    if (path) {
        assay_error error;
        char *text = json_dumps(d, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        if (!text || write_file_atomically(path, text, strlen(text), &error))
            status = complain(STATUS_FILE, "%s", text ? error.message : "out of memory");
        free(text);
    }
    if (json)
        return status_worst(status, print_json(d));
    json_decref(d);
    return status_worst(status, print_table(b));
}

static int measure_all(bench *b, bool peers)
{
    assay_error error;
    if (assay_fast_selftest(&error))
        return complain(STATUS_FILE, "%s", error.message);
    if (b->glob)
        return bench_recipes(b);
    int status = bench_casts(b);
    status = status_worst(status, bench_recipes(b));
    return peers ? status_worst(status, bench_peers(b)) : status;
}

int cmd_bench(int argc, char **argv)
{
    bench b = {.runs = 5};
    bool json = false, peers = true;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(word, "--help")) {
            fputs(help, stdout);
            return finish_output();
        }
        if (!strcmp(word, "--json"))
            json = true;
        else if (!strcmp(word, "--no-peers"))
            peers = false;
        else if (next && !strcmp(word, "--recipe"))
            b.glob = argv[++i];
        else if (next && !strcmp(word, "--runs"))
            b.runs = atoi(argv[++i]);
        else if (next && !strcmp(word, "-o"))
            path = argv[++i];
        else
            return complain(STATUS_USAGE, "bench: '%s' is no option, or lacks its value: see `assay "
                            "bench --help`", word);
    }
    if (b.runs < 1 || b.runs > BENCH_RUNS_MAX)
        return complain(STATUS_USAGE, "bench: --runs takes a number from 1 to %d", BENCH_RUNS_MAX);
    b.rows = json_array();
    b.absent = json_array();
    int status = measure_all(&b, peers);
    status = status_worst(status, deliver(&b, json, path));
    json_decref(b.rows);
    json_decref(b.absent);
    return status;
}
