/* What a run found: verdicts, and the one JSON document that holds them (reports/results.schema.json).
 * The document is written as a whole under a temporary name and renamed, again and again while the
 * run goes on, so that a file of that name is always valid and nothing judged is lost. */
#ifndef ASSAY_RESULTS_H
#define ASSAY_RESULTS_H

#include <jansson.h>
#include <stdio.h>

#include "clock.h"
#include "compare.h"
#include "worker.h"

/* From harmless to worst, the order in which one case's verdict wins over another's in a class. */
#define VERDICTS(X)                                                                                \
    X(PASS, "pass")                                                                                \
    X(ACCEPTABLE, "acceptable")                                                                    \
    X(UNSUPPORTED, "unsupported")                                                                  \
    X(FAIL, "fail")                                                                                \
    X(UNWRITTEN, "unwritten")                                                                      \
    X(NONDETERMINISTIC, "nondeterministic")                                                        \
    X(ERROR, "error")                                                                              \
    X(GUARD, "guard")                                                                              \
    X(CRASH, "crash")                                                                              \
    X(HANG, "hang")
#define VERDICT_ENUM(id, word) VERDICT_##id,
typedef enum { VERDICTS(VERDICT_ENUM) VERDICT_COUNT } verdict_kind;
#undef VERDICT_ENUM

/* The word of a results file, and back: false if it is none. */
const char *verdict_name(verdict_kind v);
bool verdict_find(const char *name, verdict_kind *v);

typedef struct {
    const char *adapter;          /* as given to --adapter; borrowed */
    const assay_program *program; /* borrowed */
    const char *class_;           /* borrowed */
    verdict_kind kind;
    char reason[WORKER_MESSAGE + 256]; /* "" with pass */
    compare_tally tally;          /* owned */
    int broken_cases;             /* crashed, hung ...: cases without an answer */
    int skipped_cases;            /* not run any more after too many of these */
    json_t *first, *smallest;     /* failures, explained; owned; NULL: none */
    json_t *diagnosis;            /* owned; NULL: none */
    char *printed;                /* owned; NULL or what the adapter printed last */
    char signal[64];              /* "" or the name of the signal that ended it */
    char domain[256];             /* "" or what a sweep covered */
    uint64_t domain_size;
    double seconds;
} run_verdict;

/* A verdict that nothing has worsened yet: pass. 0, or -1: no memory. */
int verdict_init(run_verdict *v, const char *adapter, const assay_program *p, const char *class_);
void verdict_free(run_verdict *v);
/* The worse verdict wins, and with it its reason. */
void verdict_worsen(run_verdict *v, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Decides between pass, acceptable and fail by the tally, if nothing worse was found. */
void verdict_conclude(run_verdict *v);
/* Exit status that this verdict alone asks for. */
int verdict_status(verdict_kind v, bool acceptable_fails);

/* The verdict as one object of a results file; a new reference. */
json_t *verdict_json(const run_verdict *v);

typedef struct {
    json_t *root;
    char *path;           /* -o; NULL: no file */
    double written;       /* when, by the monotonic clock */
    double started;
} results;

/* A results document with host, time and command line; written to `path` at once (NULL: never).
 * 0, or -1 and `error`. */
int results_init(results *r, const char *path, int argc, char **argv, assay_error *error);
void results_free(results *r);
/* `error` NULL if it opened. */
void results_add_adapter(results *r, const adapter_spec *spec, const assay_description *d,
                         const char *error);
void results_add_recipe(results *r, const assay_program *p); /* once for each name */
/* Appends (takes the object over) and, if the last writing is some time ago, writes. */
int results_add_verdict(results *r, json_t *verdict, assay_error *error);
int results_write(results *r, bool complete, assay_error *error);

/* JUnit XML of a results document. */
int junit_write(const json_t *root, const char *path, assay_error *error);

/* Writes a text under a temporary name and renames it into place. */
int write_file_atomically(const char *path, const char *text, size_t size, assay_error *error);

#endif
