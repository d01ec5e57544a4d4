#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static _Atomic uint64_t *counter;

static _Atomic uint64_t *shared_counter(void)
{
    if (!counter)
        counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                       0);
    return counter;
}

void checks_add(uint64_t n)
{
    *shared_counter() += n;
}

uint64_t checks_seed(void)
{
    const char *text = getenv("ASSAY_SEED");
    return text && *text ? strtoull(text, NULL, 0) : 20261201u;
}

int checks_main(Suite *suite)
{
    shared_counter();
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("checks: %" PRIu64 " (seed %" PRIu64 ")\n", *counter, checks_seed());
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
