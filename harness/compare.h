/* Observed codes against right ones: counts, distances, the failing places worth showing. */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <stdbool.h>

#include "../vectors/vector_set.h"

enum {
    COMPARE_BUCKETS = 15,            /* of signed distance; compare_bucket */
    COMPARE_EXPONENT_MIN = -1100,
    COMPARE_EXPONENTS = 2200,        /* -1100 .. 1099, then zero, inf, nan */
    COMPARE_ZERO = COMPARE_EXPONENTS,
    COMPARE_INF,
    COMPARE_NAN,
    COMPARE_PLACES
};

/* Of one output. */
typedef struct {
    int64_t buckets[COMPARE_BUCKETS]; /* codes compared, by distance (observed - right) in steps */
    int64_t not_numbers;              /* differing codes of which one is a NaN */
    int64_t sign_of_zero;             /* differing codes that are +0 and -0 */
    int64_t compared[COMPARE_PLACES], different[COMPARE_PLACES]; /* by exponent of the right value */
    uint64_t max_ulp;
} compare_histogram;

/* One differing code. The case is borrowed. */
typedef struct {
    bool set;
    int case_index;
    int output;         /* index into program->outputs */
    int64_t row, col;   /* in the output's grid */
    uint64_t expected, got;
    int64_t nonzero;    /* elements of its tile that are not zero: how small the failure is */
    double magnitude;   /* sum of the exponents of these: a tie-breaker */
} compare_failure;

typedef struct {
    const assay_program *program;
    compare_histogram *outputs; /* program->output_count */
    int64_t cases, mismatched_cases, elements, mismatched_elements, acceptable;
    uint64_t max_ulp;
    compare_failure first, smallest;
    int64_t weighed;            /* failures looked at for `smallest` */
} compare_tally;

int compare_init(compare_tally *t, const assay_program *p); /* -1: out of memory */
void compare_free(compare_tally *t);

/* Compares one case. 1: all judged codes agree, 0: not, -1 and `error`. A case in which nothing is
 * judged is not counted. `case_index` names the case in failures. */
int compare_case(compare_tally *t, const assay_case *c, int case_index, const assay_grid *observed,
                 assay_error *error);

/* Distances from..to (inclusive) of a bucket; the outermost are open: INT64_MIN, INT64_MAX. */
void compare_bucket(int bucket, int64_t *from, int64_t *to);

/* The code at a place of a grid; `bytes` each. */
uint64_t compare_code(const void *data, int64_t at, int bytes);
/* Signed distance; false if there is none (NaN, not a format). */
bool compare_distance(assay_type t, uint64_t expected, uint64_t got, int64_t *distance);

/* Adds the counts of `from`; first and smallest are kept if `t` has none. */
void compare_add(compare_tally *t, const compare_tally *from);

/* The elements of the main input that decide an output code: rows and columns from..to (exclusive).
 * The code's own tile, or for element outputs the largest bounded tile of the program around it. */
void compare_region(const assay_program *p, int64_t m, int64_t k, int output, int64_t row,
                    int64_t col, int64_t *row0, int64_t *row1, int64_t *col0, int64_t *col1);

#endif
