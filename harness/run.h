/* `assay run`: its options and its state, shared by the files run_*.c. */
#ifndef ASSAY_RUN_H
#define ASSAY_RUN_H

#include "run_judge.h"
#include "run_select.h"

typedef struct {
    char **adapters, **classes;  /* classes: NULL: all that apply */
    int adapter_count, class_count;
    const char *recipes, *recipe_file, *sweep, *input, *out, *junit, *html, *markdown, *expect, *dir;
    int shard, shards;           /* 1..shards */
    double time_limit;
    int64_t memory_limit, max_failures;
    uint64_t seed;
    int repeat, threads;
    bool acceptable_fails, json;
} run_options;

/* One adapter of the run. */
typedef struct {
    adapter_spec spec;
    worker w;
    bool found, usable;   /* the spec and the worker are made; it answered hello */
    int64_t cases;        /* executed, in all */
} run_adapter;

typedef struct {
    const run_options *o;
    run_adapter *adapters;
    run_selection selection;
    results results;
    json_t *expected;     /* verdicts of --expect: "adapter\trecipe\tclass" -> word; or NULL */
    struct run_catalogue *catalogue; /* for diagnoses; made when needed */
    json_t *met;          /* the keys of these that came */
    int64_t unit;         /* number of the (recipe, class), for --shard */
    int status;
    bool stopped;
    bool terminal;        /* progress may be drawn */
} run_state;

/* *run_stop is set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t run_stop;

/* A status other than STATUS_OK ends the command. `help`: it was asked for and printed. */
int run_options_parse(int argc, char **argv, run_options *o, bool *help);
void run_options_free(run_options *o);

/* A finished verdict: into the results, one line on standard output, the status. Frees it. */
int run_take_verdict(run_state *s, run_adapter *a, run_verdict *v);
/* Does this shard take the next (recipe, class)? */
bool run_mine(run_state *s);
/* Asks the adapter about the contract; a verdict `unsupported` (or worse) is taken if it says no. */
bool run_supported(run_state *s, run_adapter *a, const assay_program *p, const char *class_);
judge_options run_judge_options(run_state *s);
void run_progress(run_state *s, const char *what, double share, double rate, double left);
void run_progress_clear(run_state *s);

/* The vector set of a class: from the folder of golden vectors if it is there and current, else made
 * now (run_vectors.c). The caller frees it. */
assay_vector_set *run_vectors(const run_state *s, const char *instance, const char *class_,
                              assay_error *error);

/* What to judge: each returns a status. */
int run_classes(run_state *s);
int run_sweep(run_state *s);    /* --sweep f32 */
int run_input(run_state *s);    /* --input FILE */
/* Class `sequence`: recipes whose output feeds an input (run_sequence.c). */
int run_sequence(run_state *s, const assay_program *p, const bool *supported);
bool run_has_sequence(const assay_program *p);

/* --expect (run_expect.c). */
int run_expect_load(run_state *s, assay_error *error);
const char *run_expect_compare(run_state *s, const json_t *verdict);
int run_expect_missing(run_state *s);

#endif
