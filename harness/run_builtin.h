/* Helpers of the adapters that are built in: grids and safetensors from the tensors of a call. */
#ifndef ASSAY_RUN_BUILTIN_H
#define ASSAY_RUN_BUILTIN_H

#include "../adapters/adapter.h"
#include "../ref/assay.h"

/* Dense copies of the call's tensors in the order of the program's values; NULL if a name, type or
 * shape is not the program's. grids[i].data is malloc'd. */
assay_grid *run_builtin_grids(const assay_program *p, const int *values, int count, int64_t m,
                              int64_t k, const assay_tensor *tensors, int64_t tensor_count,
                              int copy);
void run_builtin_free(assay_grid *grids, int count);
/* Codes of grid `from` into the tensor. */
void run_builtin_store(const assay_tensor *to, const void *from);
void run_builtin_load(const assay_tensor *from, void *to);
assay_answer run_builtin_say(assay_answer a, char *message, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
