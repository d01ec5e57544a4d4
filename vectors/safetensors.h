/* Reading and writing safetensors files (facts: header u64 length + JSON, then the data, tiled
 * without gap). Reading maps the file; writing streams, so that a tensor never has to be whole in
 * memory. Every length in a file is checked before it is used. */
#ifndef ASSAY_SAFETENSORS_H
#define ASSAY_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ref/error.h"

enum { SAFETENSORS_RANK = 8 };

typedef struct {
    const char *name;
    const char *dtype;       /* "F32", "BF16", "U8", ... as in the file */
    int rank;
    int64_t shape[SAFETENSORS_RANK];
    const void *data;        /* inside the map, possibly misaligned; `size` bytes */
    int64_t size;
} safetensors_tensor;

typedef struct safetensors_file safetensors_file;

/* NULL and `error` (what, where, what to do) for a missing, truncated or corrupt file. */
safetensors_file *safetensors_open(const char *path, assay_error *error);
safetensors_file *safetensors_open_memory(const void *bytes, size_t size, const char *name,
                                          assay_error *error); /* borrows the bytes */
void safetensors_close(safetensors_file *f);
int safetensors_count(const safetensors_file *f);
const safetensors_tensor *safetensors_at(const safetensors_file *f, int i); /* order of offsets */
const safetensors_tensor *safetensors_find(const safetensors_file *f, const char *name);
const char *safetensors_metadata(const safetensors_file *f, const char *key); /* NULL if absent */
int safetensors_metadata_count(const safetensors_file *f);
void safetensors_metadata_at(const safetensors_file *f, int i, const char **key, const char **value);
/* Bits of one element of a dtype (F4: 4, F6_*: 6); -1 for an unknown dtype. */
int safetensors_dtype_bits(const char *dtype);
/* Place of a dtype in the order of alignment (BOOL first, U64 last); -1 for an unknown dtype. */
int safetensors_dtype_order(const char *dtype);
/* Bytes of a tensor; -1 if the dtype is unknown, or the size no whole number of bytes below 2^60. */
int64_t safetensors_dtype_size(const char *dtype, int rank, const int64_t *shape);
/* Hints about a mapped range: read it soon; give its memory back (the content stays readable through
 * the map). Nothing happens for files that are not mapped. */
void safetensors_prefetch(const safetensors_file *f, const void *data, int64_t size);
void safetensors_release(const safetensors_file *f, const void *data, int64_t size);

typedef struct safetensors_writer safetensors_writer;

/* Declare all tensors (any order), then create writes the header under a temporary name beside
 * `path`; data may be written in any order and from several threads; finish syncs and renames into
 * place, so a half-written file never has the final name. abort removes it. */
safetensors_writer *safetensors_writer_new(const char *path, assay_error *error);
int safetensors_writer_metadata(safetensors_writer *w, const char *key, const char *value);
int safetensors_writer_declare(safetensors_writer *w, const char *name, const char *dtype, int rank,
                               const int64_t *shape); /* index of the tensor; -1: out of memory, or no
                               such dtype or shape; `dtype` is kept, not copied */
int safetensors_writer_create(safetensors_writer *w, assay_error *error);
int safetensors_writer_put(safetensors_writer *w, int tensor, int64_t offset, const void *data,
                           int64_t size, assay_error *error);
/* Reads back what was put (a regular file only). */
int safetensors_writer_get(safetensors_writer *w, int tensor, int64_t offset, void *data,
                           int64_t size, assay_error *error);
int safetensors_writer_finish(safetensors_writer *w, assay_error *error); /* frees w */
void safetensors_writer_abort(safetensors_writer *w);                     /* frees w */

#endif
