/* One adapter on one vector set. */
#ifndef ASSAY_RUN_JUDGE_H
#define ASSAY_RUN_JUDGE_H

#include "results.h"

/* Codes of one case for each output of a program: what an adapter wrote. */
assay_grid *run_observed_new(const assay_program *p, int64_t m, int64_t k);
void run_observed_free(assay_grid *g, int count);

typedef struct {
    int repeat;          /* calls of each case, two at least */
    int64_t max_failures; /* mismatching cases after which a set is given up; 0: none */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, int64_t done, int64_t all);
    void *progress_context;
    struct run_catalogue **catalogue; /* kept between diagnoses; NULL: other recipes are not tried */
} judge_options;

/* Runs every case of the set, whose outputs are the right answers, and fills the verdict (made by
 * verdict_init). 0; 1: *stop was set on the way; -1 and `error`: the judge itself failed. */
int run_judge_set(worker *w, const assay_vector_set *set, const judge_options *options,
                  run_verdict *verdict, assay_error *error);

/* One case by one adapter, `repeat` times under two poisons; the last answer is in `observed`.
 * The kinds PASS (it answered, always the same), UNSUPPORTED, UNWRITTEN, NONDETERMINISTIC, ERROR,
 * GUARD, CRASH, HANG; `stopped` is set if *stop cut it short. */
verdict_kind run_case(worker *w, const assay_program *p, const assay_case *c,
                      const assay_grid *observed, int repeat, bool awkward, bool *stopped,
                      char *reason, size_t size);

/* A failure with its inputs and the right answer step by step (run_explain.c). */
json_t *run_failure_json(const assay_program *p, const assay_case *c, const compare_failure *f);

/* Cheap naming of a failing adapter (run_diagnose.c): are the codes right for the scales that it
 * stored; does it equal another recipe of the catalogue on all these cases? An array of sentences,
 * or NULL. observed[i] belongs to set->cases[i] (NULL: not known). */
json_t *run_diagnose(const assay_vector_set *set, assay_grid *const *observed,
                     const compare_tally *tally, struct run_catalogue **catalogue);
void run_catalogue_free(struct run_catalogue *c);

#endif
