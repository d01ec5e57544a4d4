/* What the tests of recorded and hand-derived answers share: the unpacked files, grids, both
 * evaluators, and comparing by what the contract leaves open. */
#ifndef ASSAY_RECORDED_H
#define ASSAY_RECORDED_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"
#include "../vectors/safetensors.h"
#include "checks.h"

enum { VALUES = 8, SHOWN = 4 };

static inline const char *recorded_path(const char *name)
{
    static char path[PATH_MAX];
    const char *build = getenv("ASSAY_BUILD");
    snprintf(path, sizeof path, "%s/recorded/%s", build && *build ? build : "build", name);
    return path;
}

static inline safetensors_file *open_recorded(const char *name)
{
    char file[256];
    snprintf(file, sizeof file, "%s.safetensors", name);
    assay_error error = {0};
    safetensors_file *f = safetensors_open(recorded_path(file), &error);
    ck_assert_msg(f != NULL, "%s", error.message);
    return f;
}

static inline const safetensors_tensor *need(const safetensors_file *f, const char *name)
{
    const safetensors_tensor *t = safetensors_find(f, name);
    ck_assert_msg(t != NULL, "no tensor %s", name);
    return t;
}

static inline uint64_t code_at(const void *data, int64_t i, int bytes)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)data + i * bytes, (size_t)bytes);
    return code;
}

static inline assay_grid new_grid(const assay_value *v, int64_t m, int64_t k)
{
    assay_grid g = {0};
    assay_value_shape(v, m, k, &g.rows, &g.cols);
    size_t n = (size_t)(g.rows * g.cols);
    g.data = calloc(n ? n : 1, (size_t)assay_type_storage(v->type));
    g.marks = calloc(n ? n : 1, 1);
    return g;
}

static inline void free_grids(assay_grid *g, int n)
{
    for (int i = 0; i < n; i++) {
        free(g[i].data);
        free(g[i].marks);
    }
}

/* Does the recorded code answer to what the contract says? */
static inline bool agrees(const assay_value *v, uint64_t want, uint64_t got)
{
    if (want == got)
        return true;
    if (v->type.kind != ASSAY_T_FORMAT)
        return false;
    assay_class a = assay_decode(v->type.format, want).class_;
    assay_class b = assay_decode(v->type.format, got).class_;
    return (v->any_nan && a == ASSAY_CLASS_NAN && b == ASSAY_CLASS_NAN) ||
           (v->any_zero && a == ASSAY_CLASS_ZERO && b == ASSAY_CLASS_ZERO);
}

typedef struct {
    const char *what;            /* for messages */
    uint64_t compared, different, open;
} tally;

static inline void compare(const assay_value *v, const assay_grid *want, const void *got,
                           bool odd_columns, tally *t)
{
    int bytes = assay_type_storage(v->type);
    for (int64_t i = 0; i < want->rows * want->cols; i++) {
        if (want->marks[i]) {
            t->open++;
            continue;
        }
        if (odd_columns && i % want->cols % 2 == 0)
            continue;
        t->compared++;
        uint64_t w = code_at(want->data, i, bytes), g = code_at(got, i, bytes);
        if (agrees(v, w, g))
            continue;
        if (t->different++ < SHOWN)
            printf("  %s: %s[%" PRId64 ", %" PRId64 "] recipe %" PRIX64 ", recorded %" PRIX64 "\n",
                   t->what, v->name, i / want->cols, i % want->cols, w, g);
    }
}

typedef int evaluator(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                      const assay_grid *outputs, assay_error *error);

static inline int fast(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                const assay_grid *outputs, assay_error *error)
{
    assay_fast *f = assay_fast_compile(p, error);
    if (!f)
        return -1;
    int rc = assay_fast_eval(f, m, k, inputs, outputs, error);
    assay_fast_free(f);
    return rc;
}

static const struct {
    const char *name;
    evaluator *eval;
} engines[] = {{"exact", assay_exact_eval}, {"fast", fast}};
enum { ENGINES = sizeof engines / sizeof engines[0] };

static inline assay_program *program(const char *instance)
{
    assay_error error = {0};
    assay_program *p = assay_catalogue_program(instance, &error);
    ck_assert_msg(p != NULL, "%s: %s", instance, error.message);
    return p;
}

#endif
