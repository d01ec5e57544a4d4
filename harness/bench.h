/* What `assay bench` measures: rows of rates, one a thread, each of several runs. */
#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include <jansson.h>

#include "../ref/assay.h"

enum { BENCH_RUNS_MAX = 99 };

typedef struct {
    int runs;
    const char *glob; /* of recipes; NULL: all */
    json_t *rows;     /* {operation, system, version, elements, runs, median, low, high}; M elements/s */
    json_t *absent;   /* {system, operation, reason} */
} bench;

/* Adds a row from rates of several runs in 10^6 elements a second. */
void bench_add(bench *b, const char *operation, const char *system, const char *version,
               int64_t elements, const double *rates, int count);
void bench_absent(bench *b, const char *operation, const char *system, const char *reason);

/* bench_own.c: this library. Statuses as everywhere. */
int bench_casts(bench *b);
int bench_recipes(bench *b);
/* bench_peers.c: other systems, through adapters/peers_bench.py. */
int bench_peers(bench *b);

#endif
