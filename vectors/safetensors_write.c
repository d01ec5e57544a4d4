/* Writes safetensors: the header first, under a temporary name, then data in any order, then the
 * final name. A target that exists and is no regular file (a device) is written in place. */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *name;
    const char *dtype;
    int rank;
    int64_t shape[SAFETENSORS_RANK];
    int64_t size, offset; /* offset in the data area, from create on */
} declared;

struct safetensors_writer {
    char *path;      /* where symbolic links lead */
    char *temporary; /* NULL: written in place */
    int fd;
    json_t *metadata;
    declared *tensors;
    int count, capacity;
    int64_t data_start;
};

static void writer_free(safetensors_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    for (int i = 0; i < w->count; i++)
        free(w->tensors[i].name);
    free(w->tensors);
    json_decref(w->metadata);
    free(w->path);
    free(w->temporary);
    free(w);
}

safetensors_writer *safetensors_writer_new(const char *path, assay_error *error)
{
    safetensors_writer *w = calloc(1, sizeof *w);
    if (w) {
        w->fd = -1;
        w->path = realpath(path, NULL);
        if (!w->path)
            w->path = strdup(path);
        w->metadata = json_object();
    }
    if (!w || !w->path || !w->metadata) {
        assay_fail(error, "%s: out of memory", path);
        if (w)
            writer_free(w);
        return NULL;
    }
    return w;
}

int safetensors_writer_metadata(safetensors_writer *w, const char *key, const char *value)
{
    return json_object_set_new(w->metadata, key, json_string(value));
}

int safetensors_writer_declare(safetensors_writer *w, const char *name, const char *dtype, int rank,
                               const int64_t *shape)
{
    int64_t size = safetensors_dtype_size(dtype, rank, shape);
    if (rank > SAFETENSORS_RANK || size < 0)
        return -1;
    if (w->count == w->capacity) {
        int capacity = w->capacity ? 2 * w->capacity : 16;
        declared *grown = realloc(w->tensors, (size_t)capacity * sizeof *grown);
        if (!grown)
            return -1;
        w->tensors = grown;
        w->capacity = capacity;
    }
    declared *t = &w->tensors[w->count];
    *t = (declared){.name = strdup(name), .dtype = dtype, .rank = rank, .size = size};
    if (!t->name)
        return -1;
    if (rank)
        memcpy(t->shape, shape, (size_t)rank * sizeof *shape);
    return w->count++;
}

/* The order of the reference writer: descending alignment, then name. */
static int by_alignment(const void *a, const void *b)
{
    const declared *x = *(declared *const *)a, *y = *(declared *const *)b;
    int dx = safetensors_dtype_order(x->dtype), dy = safetensors_dtype_order(y->dtype);
    return dx != dy ? dy - dx : strcmp(x->name, y->name);
}

static json_t *entry_of(const declared *t)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(t->shape[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->dtype, "shape", shape, "data_offsets",
                     (json_int_t)t->offset, (json_int_t)(t->offset + t->size));
}

/* Places the tensors and returns the header's text, padded to 8 bytes; *total: bytes of the data. */
static char *make_header(safetensors_writer *w, size_t *length, int64_t *total, assay_error *error)
{
    declared **order = calloc((size_t)w->count + 1, sizeof *order);
    json_t *header = json_object();
    char *text = NULL, *padded = NULL;
    const char *why = "out of memory";
    if (!order || !header)
        goto done;
    if (json_object_size(w->metadata))
        json_object_set(header, "__metadata__", w->metadata);
    for (int i = 0; i < w->count; i++)
        order[i] = &w->tensors[i];
    qsort(order, (size_t)w->count, sizeof *order, by_alignment);
    *total = 0;
    for (int i = 0; i < w->count; i++) {
        order[i]->offset = *total;
        if (__builtin_add_overflow(*total, order[i]->size, total)) {
            why = "the tensors are larger than any file";
            goto done;
        }
        if (json_object_get(header, order[i]->name) || !strcmp(order[i]->name, "__metadata__")) {
            why = "two tensors of one name";
            goto done;
        }
        if (json_object_set_new(header, order[i]->name, entry_of(order[i]))) {
            why = "a tensor's name is not UTF-8";
            goto done;
        }
    }
    text = json_dumps(header, JSON_COMPACT);
    *length = text ? (strlen(text) + 7) / 8 * 8 : 0;
    padded = text ? malloc(*length + 1) : NULL;
    if (padded) {
        memset(padded, ' ', *length);
        memcpy(padded, text, strlen(text));
    }
done:
    if (!padded)
        assay_fail(error, "%s: cannot be written: %s", w->path, why);
    free(text);
    json_decref(header);
    free(order);
    return padded;
}

static int write_failed(const safetensors_writer *w, int why, assay_error *error)
{
    if (why == ENOSPC || why == EDQUOT)
        return assay_fail(error, "%s: the disk is full: nothing has been written under that name; free "
                          "some space, or write elsewhere", w->path);
    if (why == ESPIPE)
        return assay_fail(error, "%s: a pipe cannot hold a file whose parts come in any order: give a "
                          "file's name", w->path);
    return assay_fail(error, "%s: cannot be written: %s", w->path, strerror(why));
}

static int write_at(const safetensors_writer *w, int64_t at, const void *data, int64_t size,
                    assay_error *error)
{
    const char *from = data;
    while (size > 0) {
        ssize_t n = pwrite(w->fd, from, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return write_failed(w, n < 0 ? errno : EIO, error);
        from += n;
        at += n;
        size -= n;
    }
    return 0;
}

/* Opens the temporary file, or the target itself if it is a device. */
static int open_target(safetensors_writer *w, assay_error *error)
{
    struct stat st;
    if (stat(w->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        return w->fd < 0 ? write_failed(w, errno, error) : 0;
    }
    if (asprintf(&w->temporary, "%s.tmp.%ld", w->path, (long)getpid()) < 0) {
        w->temporary = NULL;
        return assay_fail(error, "%s: out of memory", w->path);
    }
    w->fd = open(w->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        int why = errno;
        free(w->temporary);
        w->temporary = NULL;
        return write_failed(w, why, error);
    }
    return 0;
}

/* Claims the space before any work is done for it, where the file system can. */
static int reserve(const safetensors_writer *w, int64_t size, assay_error *error)
{
    if (!w->temporary || size == 0 || fallocate(w->fd, 0, 0, (off_t)size) == 0)
        return 0;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return write_failed(w, errno, error);
    return ftruncate(w->fd, (off_t)size) ? write_failed(w, errno, error) : 0;
}

int safetensors_writer_create(safetensors_writer *w, assay_error *error)
{
    size_t length;
    int64_t total;
    char *header = make_header(w, &length, &total, error);
    if (!header)
        return -1;
    uint8_t prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (uint8_t)(length >> 8 * i);
    w->data_start = 8 + (int64_t)length;
    int failed = open_target(w, error) || reserve(w, w->data_start + total, error) ||
                 write_at(w, 0, prefix, 8, error) || write_at(w, 8, header, (int64_t)length, error);
    free(header);
    return failed ? -1 : 0;
}

/* Where `size` bytes at `offset` of a tensor lie in the file; -1 if that is outside of it. */
static int64_t place_of(const safetensors_writer *w, int tensor, int64_t offset, int64_t size,
                        assay_error *error)
{
    if (tensor < 0 || tensor >= w->count)
        return assay_fail(error, "%s: there is no tensor %d", w->path, tensor);
    const declared *t = &w->tensors[tensor];
    if (offset < 0 || size < 0 || offset > t->size - size)
        return assay_fail(error, "%s: access outside of tensor '%s'", w->path, t->name);
    return w->data_start + t->offset + offset;
}

int safetensors_writer_put(safetensors_writer *w, int tensor, int64_t offset, const void *data,
                           int64_t size, assay_error *error)
{
    int64_t at = place_of(w, tensor, offset, size, error);
    return at < 0 ? -1 : write_at(w, at, data, size, error);
}

int safetensors_writer_get(safetensors_writer *w, int tensor, int64_t offset, void *data,
                           int64_t size, assay_error *error)
{
    int64_t at = place_of(w, tensor, offset, size, error);
    char *to = data;
    while (at >= 0 && size > 0) {
        ssize_t n = pread(w->fd, to, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return assay_fail(error, "%s: cannot be read back: %s", w->path,
                              n < 0 ? strerror(errno) : "it was cut short");
        to += n;
        at += n;
        size -= n;
    }
    return at < 0 ? -1 : 0;
}

int safetensors_writer_finish(safetensors_writer *w, assay_error *error)
{
    int failed = 0;
    if (fsync(w->fd) && errno != EINVAL && errno != ENOTSUP)
        failed = write_failed(w, errno, error);
    if (!failed && w->temporary && rename(w->temporary, w->path))
        failed = write_failed(w, errno, error);
    if (failed)
        safetensors_writer_abort(w);
    else
        writer_free(w);
    return failed ? -1 : 0;
}

void safetensors_writer_abort(safetensors_writer *w)
{
    if (w->temporary)
        unlink(w->temporary);
    writer_free(w);
}
