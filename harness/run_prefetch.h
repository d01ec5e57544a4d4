/* Vector sets made on all cores, a little ahead of the adapters that wait for them. */
#ifndef ASSAY_RUN_PREFETCH_H
#define ASSAY_RUN_PREFETCH_H

#include "run.h"

/* One set to judge, and which adapters of the run support its contract. */
typedef struct {
    char *instance;
    const char *class_;
    bool *supported;
} run_unit;

typedef struct run_prefetch run_prefetch;

/* Borrows the units until run_prefetch_end. NULL: out of memory. */
run_prefetch *run_prefetch_begin(const run_state *s, const run_unit *units, int count);
/* The set of unit i; to be asked for in order, each once; the caller frees it. Waits. NULL and
 * `error`; also NULL when *run_stop was set. */
assay_vector_set *run_prefetch_take(run_prefetch *f, int i, assay_error *error);
void run_prefetch_end(run_prefetch *f);

#endif
