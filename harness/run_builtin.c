/* The table of built-in adapters, and what they share. */
#include "run_builtin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_host.h"

assay_answer run_builtin_say(assay_answer a, char *message, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return a;
}

void run_builtin_load(const assay_tensor *from, void *to)
{
    size_t row = (size_t)(from->cols * from->code_bytes);
    for (int64_t i = 0; row && i < from->rows; i++)
        memcpy((char *)to + (size_t)i * row,
               (const char *)from->data + i * from->row_stride * from->code_bytes, row);
}

void run_builtin_store(const assay_tensor *to, const void *from)
{
    size_t row = (size_t)(to->cols * to->code_bytes);
    for (int64_t i = 0; row && i < to->rows; i++)
        memcpy((char *)to->data + i * to->row_stride * to->code_bytes,
               (const char *)from + (size_t)i * row, row);
}

void run_builtin_free(assay_grid *grids, int count)
{
    for (int i = 0; grids && i < count; i++)
        free(grids[i].data);
    free(grids);
}

static const assay_tensor *tensor_named(const assay_tensor *tensors, int64_t count,
                                        const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(tensors[i].name, name))
            return &tensors[i];
    return NULL;
}

assay_grid *run_builtin_grids(const assay_program *p, const int *values, int count, int64_t m,
                              int64_t k, const assay_tensor *tensors, int64_t tensor_count,
                              int copy)
{
    assay_grid *grids = calloc((size_t)count + 1, sizeof *grids);
    for (int i = 0; grids && i < count; i++) {
        const assay_value *v = &p->values[values[i]];
        const assay_tensor *t = tensor_named(tensors, tensor_count, v->name);
        assay_value_shape(v, m, k, &grids[i].rows, &grids[i].cols);
        size_t bytes = (size_t)(grids[i].rows * grids[i].cols) * (size_t)assay_type_storage(v->type);
        grids[i].data = malloc(bytes + 1);
        if (!t || !grids[i].data || strcmp(t->type, assay_type_name(v->type)) ||
            t->rows != grids[i].rows || t->cols != grids[i].cols) {
            run_builtin_free(grids, count);
            return NULL;
        }
        if (copy)
            run_builtin_load(t, grids[i].data);
    }
    return grids;
}

const assay_adapter *run_builtin_find(const char *name)
{
    static const struct {
        const char *name;
        const assay_adapter *adapter;
    } rows[] = {{"recipe", &run_builtin_recipe},
                {"command", &run_builtin_command},
                {"recorded", &run_builtin_recorded}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].adapter;
    return NULL;
}
