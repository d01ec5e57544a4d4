/* A vector set as one safetensors file. Tensors NNNN/x for case NNNN: inputs and golden codes as bit
 * patterns (U8, U16, U32, U64) in their grids' shapes, NNNN/Y.marks where something is not judged,
 * NNNN/Y.bytes in the recipe's layout. Metadata: recipe, sha256, layout_sha256, class, seed, version,
 * and `cases`: a JSON list of [tag, M, K]. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"
#include "dtype.h"
#include "generate.h"
#include "safetensors.h"
#include "vector_file.h"

enum { NAME = 256 };

/* ---- writing ---- */

/* A tensor waiting to be written: declared first, put once the header stands. */
typedef struct {
    int tensor;
    const void *data;
    int64_t size;
    void *owned;
} pending;

typedef struct {
    const assay_vector_set *set;
    safetensors_writer *writer;
    pending *list;
    int count, capacity;
} file_writer;

static int declare(file_writer *w, const char *name, const char *dtype, int rank, const int64_t *shape,
                   const void *data, void *owned, assay_error *error)
{
    if (w->count == w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 64;
        pending *grown = realloc(w->list, (size_t)capacity * sizeof *grown);
        if (!grown)
            return assay_fail(error, "out of memory");
        w->list = grown;
        w->capacity = capacity;
    }
    pending p = {.tensor = safetensors_writer_declare(w->writer, name, dtype, rank, shape),
                 .data = data, .owned = owned,
                 .size = safetensors_dtype_size(dtype, rank, shape)};
    w->list[w->count++] = p;
    return p.tensor < 0 ? assay_fail(error, "out of memory") : 0;
}

static int declare_grid(file_writer *w, int n, const assay_value *v, const assay_grid *g,
                        assay_error *error)
{
    char name[NAME];
    int64_t shape[2] = {g->rows, g->cols};
    snprintf(name, sizeof name, "%04d/%s", n, v->name);
    if (declare(w, name, dtype_of_bits(v->type), 2, shape, g->data, NULL, error))
        return -1;
    if (!g->marks || !memchr(g->marks, 1, (size_t)(g->rows * g->cols)))
        return 0;
    snprintf(name, sizeof name, "%04d/%s.marks", n, v->name);
    return declare(w, name, "U8", 2, shape, g->marks, NULL, error);
}

static int output_index(const assay_program *p, int value)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->outputs[i] == value)
            return i;
    return -1;
}

static assay_layout_grid layout_grid(const assay_program *p, const assay_case *c, int output)
{
    const assay_value *v = &p->values[p->outputs[output]];
    int bytes = assay_type_storage(v->type);
    return (assay_layout_grid){
        .rows = c->outputs[output].rows, .cols = c->outputs[output].cols,
        .code_bits = v->type.kind == ASSAY_T_FORMAT ? assay_format_width(v->type.format) : 8 * bytes,
        .code_bytes = bytes, .tile_rows = v->tile.rows, .tile_cols = v->tile.cols,
        .data = c->outputs[output].data};
}

/* The golden bytes of one value, or of a record; shapes that the layout cannot take have none. */
static int declare_bytes(file_writer *w, int n, const assay_layout *l, const int *values, int count,
                         assay_error *error)
{
    const assay_program *p = w->set->program;
    const assay_case *c = &w->set->cases[n];
    assay_layout_grid grids[ASSAY_LAYOUT_MEMBERS];
    char name[NAME];
    int at = snprintf(name, sizeof name, "%04d/", n);
    for (int i = 0; i < count; i++) {
        int output = output_index(p, values[i]);
        if (output < 0)
            return 0;
        grids[i] = layout_grid(p, c, output);
        at += snprintf(name + at, sizeof name - (size_t)at, "%s%s", i ? "+" : "",
                       p->values[values[i]].name);
        if (at > NAME - 8)
            return assay_fail(error, "%s: names too long for a file", w->set->recipe);
    }
    strcpy(name + at, ".bytes");
    bool record = l->record_count > 0;
    assay_error why;
    int64_t size = record ? assay_record_size(l, grids, c->m, c->k, &why)
                          : assay_layout_size(l, grids, c->m, c->k, &why);
    uint8_t *bytes = size < 0 ? NULL : calloc(1, (size_t)size + 1);
    if (size < 0)
        return 0;
    if (!bytes || (record ? assay_record_encode(l, grids, c->m, c->k, bytes, NULL, error)
                          : assay_layout_encode(l, grids, c->m, c->k, bytes, NULL, NULL, error))) {
        free(bytes);
        return bytes ? -1 : assay_fail(error, "out of memory");
    }
    return declare(w, name, "U8", 1, &size, bytes, bytes, error);
}

static int declare_case(file_writer *w, int n, assay_error *error)
{
    const assay_program *p = w->set->program;
    const assay_case *c = &w->set->cases[n];
    for (int i = 0; i < p->input_count; i++)
        if (declare_grid(w, n, &p->values[p->inputs[i]], &c->inputs[i], error))
            return -1;
    for (int i = 0; i < p->output_count; i++)
        if (declare_grid(w, n, &p->values[p->outputs[i]], &c->outputs[i], error))
            return -1;
    for (int i = 0; i < p->layout_count; i++) {
        const assay_layout *l = &p->layouts[i];
        if (l->record_count && declare_bytes(w, n, l, l->record, l->record_count, error))
            return -1;
        for (int j = 0; !l->record_count && j < l->value_count; j++)
            if (declare_bytes(w, n, l, &l->values[j], 1, error))
                return -1;
    }
    return 0;
}

static int add_metadata(const file_writer *w)
{
    const assay_vector_set *set = w->set;
    char seed[32];
    json_t *cases = json_array();
    for (int i = 0; i < set->case_count; i++)
        json_array_append_new(cases, json_pack("[s, I, I]", set->cases[i].tag,
                                               (json_int_t)set->cases[i].m,
                                               (json_int_t)set->cases[i].k));
    char *text = json_dumps(cases, JSON_COMPACT);
    json_decref(cases);
    snprintf(seed, sizeof seed, "%" PRIu64, set->seed);
    int failed = !text || safetensors_writer_metadata(w->writer, "recipe", set->program->name) ||
                 safetensors_writer_metadata(w->writer, "sha256", set->program->sha256) ||
                 safetensors_writer_metadata(w->writer, "layout_sha256", set->program->layout_sha256) ||
                 safetensors_writer_metadata(w->writer, "class", set->class_) ||
                 safetensors_writer_metadata(w->writer, "seed", seed) ||
                 safetensors_writer_metadata(w->writer, "version", ASSAY_VERSION) ||
                 safetensors_writer_metadata(w->writer, "cases", text);
    free(text);
    return failed;
}

static int fill_file(file_writer *w, assay_error *error)
{
    if (add_metadata(w))
        return assay_fail(error, "out of memory");
    for (int n = 0; n < w->set->case_count; n++)
        if (declare_case(w, n, error))
            return -1;
    if (safetensors_writer_create(w->writer, error))
        return -1;
    for (int i = 0; i < w->count; i++)
        if (safetensors_writer_put(w->writer, w->list[i].tensor, 0, w->list[i].data, w->list[i].size,
                                   error))
            return -1;
    return 0;
}

int assay_vectors_write(const assay_vector_set *set, const char *path, assay_error *error)
{
    file_writer w = {.set = set, .writer = safetensors_writer_new(path, error)};
    if (!w.writer)
        return -1;
    int failed = fill_file(&w, error);
    if (failed)
        safetensors_writer_abort(w.writer);
    else
        failed = safetensors_writer_finish(w.writer, error);
    for (int i = 0; i < w.count; i++)
        free(w.list[i].owned);
    free(w.list);
    return failed;
}

/* ---- reading ---- */

/* Copies a tensor into a grid if dtype and shape are the grid's; every code must be one. */
static int read_grid(const safetensors_file *f, const char *path, int n, const assay_value *v,
                     const char *suffix, void *to, int64_t rows, int64_t cols, bool codes,
                     assay_error *error)
{
    char name[NAME];
    snprintf(name, sizeof name, "%04d/%s%s", n, v->name, suffix);
    const safetensors_tensor *t = safetensors_find(f, name);
    if (!t && *suffix)
        return 0; /* no marks: everything is judged */
    if (!t)
        return assay_fail(error, "%s: there is no tensor '%s': the set is incomplete", path, name);
    const char *dtype = codes ? dtype_of_bits(v->type) : "U8";
    if (strcmp(t->dtype, dtype) || t->rank != 2 || t->shape[0] != rows || t->shape[1] != cols)
        return assay_fail(error, "%s: tensor '%s' is not %s of %" PRId64 " x %" PRId64, path, name,
                          dtype, rows, cols);
    memcpy(to, t->data, (size_t)t->size);
    int storage = assay_type_storage(v->type);
    int width = v->type.kind == ASSAY_T_FORMAT ? assay_format_width(v->type.format) : 8 * storage;
    assay_grid g = {.data = to};
    for (int64_t i = 0; codes && width < 8 * storage && i < rows * cols; i++)
        if (grid_get(&g, storage, i) >> width)
            return assay_fail(error, "%s: tensor '%s' holds 0x%" PRIx64 ", no code of %s", path, name,
                              grid_get(&g, storage, i), assay_type_name(v->type));
    return 0;
}

static int read_case(assay_vector_set *set, const safetensors_file *f, const char *path, int n,
                     const json_t *entry, assay_error *error)
{
    const assay_program *p = set->program;
    const json_t *m = json_array_get(entry, 1), *k = json_array_get(entry, 2);
    const char *tag = json_string_value(json_array_get(entry, 0));
    int64_t limit = 1 << 24;
    if (!tag || !json_is_integer(m) || !json_is_integer(k) || json_integer_value(m) < 0 ||
        json_integer_value(k) < 0 || json_integer_value(m) > limit || json_integer_value(k) > limit)
        return assay_fail(error, "%s: metadata `cases` is corrupt at case %d", path, n);
    /* The main input's tensor vouches for the shape before memory is taken for it. */
    char name[NAME];
    const assay_value *x = vectors_main(p);
    snprintf(name, sizeof name, "%04d/%s", n, x ? x->name : "");
    const safetensors_tensor *t = safetensors_find(f, name);
    if (!t || t->rank != 2 || t->shape[0] != json_integer_value(m) ||
        t->shape[1] != json_integer_value(k))
        return assay_fail(error, "%s: tensor '%s' is missing or of another shape", path, name);
    assay_case *c = vectors_add_case(set, tag, t->shape[0], t->shape[1]);
    if (!c)
        return assay_fail(error, "%s: case %d has a shape that %s does not admit", path, n, p->name);
    for (int i = 0; i < p->input_count; i++)
        if (read_grid(f, path, n, &p->values[p->inputs[i]], "", c->inputs[i].data, c->inputs[i].rows,
                      c->inputs[i].cols, true, error))
            return -1;
    for (int i = 0; i < p->output_count; i++) {
        const assay_grid *g = &c->outputs[i];
        const assay_value *v = &p->values[p->outputs[i]];
        if (read_grid(f, path, n, v, "", g->data, g->rows, g->cols, true, error) ||
            read_grid(f, path, n, v, ".marks", g->marks, g->rows, g->cols, false, error))
            return -1;
    }
    return 0;
}

static int read_cases(assay_vector_set *set, const safetensors_file *f, const char *path,
                      assay_error *error)
{
    const char *text = safetensors_metadata(f, "cases");
    json_t *cases = text ? json_loads(text, 0, NULL) : NULL;
    int failed = json_is_array(cases) ? 0
                                      : assay_fail(error, "%s: metadata `cases` is corrupt", path);
    for (size_t n = 0; !failed && n < json_array_size(cases); n++)
        failed = read_case(set, f, path, (int)n, json_array_get(cases, n), error);
    json_decref(cases);
    return failed;
}

static assay_vector_set *read_set(const safetensors_file *f, const char *path, assay_error *error)
{
    const char *recipe = safetensors_metadata(f, "recipe"), *sha = safetensors_metadata(f, "sha256");
    const char *class_ = safetensors_metadata(f, "class"), *seed = safetensors_metadata(f, "seed");
    if (!recipe || !sha || !class_ || !seed) {
        assay_fail(error, "%s: no vector set: its metadata lack recipe, sha256, class or seed", path);
        return NULL;
    }
    assay_error why;
    assay_program *p = assay_catalogue_program(recipe, &why);
    if (!p) {
        assay_fail(error, "%s: its recipe %s: %s", path, recipe, why.message);
        return NULL;
    }
    if (strcmp(p->sha256, sha)) {
        assay_fail(error, "%s: made from another version of %s: its identity is %.12s, now %.12s; make "
                   "it anew with `assay vectors make`", path, recipe, sha, p->sha256);
        assay_program_free(p);
        return NULL;
    }
    assay_vector_set *set = vectors_empty(p, class_, strtoull(seed, NULL, 10), error);
    if (set && read_cases(set, f, path, error)) {
        assay_vectors_free(set);
        return NULL;
    }
    return set;
}

assay_vector_set *assay_vectors_read(const char *path, assay_error *error)
{
    safetensors_file *f = safetensors_open(path, error);
    if (!f)
        return NULL;
    assay_vector_set *set = read_set(f, path, error);
    safetensors_close(f);
    return set;
}
