/* For Check-based tests: counts comparisons, so that a run can say how many it made. */
#ifndef ASSAY_CHECKS_H
#define ASSAY_CHECKS_H

#include <check.h>
#include <inttypes.h>
#include <stdint.h>

/* Adds n comparisons to the count of this test program (works across Check's forked children). */
void checks_add(uint64_t n);
/* Runs the suite; prints Check's summary line and "checks: N"; 0 if every test passed. Zero tests
 * run is a failure. The environment variable ASSAY_SEED sets the seed of random tests. */
int checks_main(Suite *suite);
/* The seed of this run: ASSAY_SEED, or a fixed default; printed by checks_main. */
uint64_t checks_seed(void);

#endif
