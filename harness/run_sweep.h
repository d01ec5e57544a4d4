/* The state of one sweep, and its file: what is done is never done again. */
#ifndef ASSAY_RUN_SWEEP_H
#define ASSAY_RUN_SWEEP_H

#include <pthread.h>

#include "run.h"

enum { SWEEP_CHUNKS = 1024, SWEEP_ROWS = 1024, SWEEP_COLS = 4096 }; /* 2^32 inputs in all */

typedef struct {
    const run_state *run;
    run_adapter *adapter;
    const assay_program *program;
    assay_fast *fast;
    pthread_mutex_t lock;      /* over everything below */
    int next;                  /* place in the order of chunks to hand out */
    bool done[SWEEP_CHUNKS];
    int finished, mine;        /* chunks done, and chunks of this shard */
    run_verdict verdict;
    uint32_t first_input;      /* of verdict.first */
    double smallest;           /* magnitude of verdict.smallest */
    int crashes, rechecked;
    bool give_up, failed;      /* failed: the harness itself; error says why */
    assay_error error;
} sweep;

/* The checkpoint file beside -o, NULL without -o; malloc'd. */
char *sweep_checkpoint_path(const run_state *s);
/* Takes over what an earlier run of the same sweep did; nothing if there is none. */
void sweep_restore(sweep *w);
int sweep_save(sweep *w, assay_error *error); /* takes the lock */

#endif
