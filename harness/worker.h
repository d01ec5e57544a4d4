/* The harness's side of adapters/WORKER.md: an adapter in a child process, started when needed,
 * replaced after it died, told of each contract once in each life. */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "../adapters/adapter.h"
#include "../ref/recipe_eval.h"
#include "isolate.h"
#include "run_fence.h"

/* An adapter as the command line names it, found (run_find.c). Strings are owned. */
typedef struct {
    char *text;         /* as given */
    char *name;         /* "faulty" */
    char *options;      /* "ties_up", or "" */
    char *path;         /* of the .so, the worker.py, or of the file; "" for built-in ones */
    char *argv[6];
    char *environment[3];
} adapter_spec;

/* 0, or -1 and `error`: what was looked for, where, and what to do. */
int adapter_find(const char *text, adapter_spec *spec, assay_error *error);
void adapter_spec_free(adapter_spec *spec);

typedef struct {
    double time_limit;    /* seconds for one answer */
    int64_t memory_limit; /* bytes */
    const volatile sig_atomic_t *stop;
} worker_limits;

typedef enum {
    WORKER_DONE,
    WORKER_UNSUPPORTED,
    WORKER_FAILED,  /* it said so itself, or cannot be started */
    WORKER_CRASH,
    WORKER_HANG,
    WORKER_GUARD,   /* it touched what is not its own */
    WORKER_STOPPED  /* *stop was set */
} worker_outcome;

enum { WORKER_MESSAGE = 1024 };

typedef struct {
    adapter_spec *spec;
    worker_limits limits;
    isolate child;
    bool greeted;             /* hello was answered in this life */
    assay_description description;
    fence_file inputs, outputs;
    char contract[512];       /* the instance it was last told of in this life, "" none */
    worker_outcome answer;    /* to that */
    int64_t contract_id;
    int lives;                /* processes started */
    char message[WORKER_MESSAGE]; /* of the last call */
    char *printed;            /* what the last life that ended had printed, or NULL */
} worker;

/* Borrows the spec. 0, or -1 and `error` (no shared memory). Starts nothing yet. */
int worker_init(worker *w, adapter_spec *spec, const worker_limits *limits, assay_error *error);
void worker_free(worker *w);

/* Starts it if need be, and fills w->description. */
worker_outcome worker_hello(worker *w);
worker_outcome worker_supports(worker *w, const assay_program *p);

/* One call of `run`. inputs as in recipe_eval.h; observed[i].data (allocated by the caller) gets
 * what the adapter wrote. `poison` fills the outputs beforehand; awkward: strides and misalignment
 * (run_fence.h). */
worker_outcome worker_run(worker *w, const assay_program *p, int64_t m, int64_t k,
                          const assay_grid *inputs, const assay_grid *observed, uint8_t poison,
                          bool awkward);

const char *worker_outcome_name(worker_outcome o);
/* What the adapter printed last, in this or in its previous life; malloc'd or NULL. */
char *worker_printed(const worker *w);

#endif
