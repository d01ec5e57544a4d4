/* Reads safetensors: maps the file, checks the header whole, then hands out views. */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The reference reader refuses longer headers; so does this one. */
enum { HEADER_LIMIT = 100000000, PREFIX = 8, NAME_SHOWN = 120 };

struct safetensors_file {
    const uint8_t *bytes; /* the whole file */
    size_t size;
    void *map;            /* NULL: the bytes are borrowed */
    json_t *header;       /* owns all names and the metadata */
    json_t *by_name;      /* name -> index into tensors */
    safetensors_tensor *tensors;
    int count;
};

/* In the order of alignment that the reference writer sorts by. */
static const struct {
    const char *name;
    int bits;
} dtypes[] = {
    {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},        {"U16", 16},        {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},        {"F32", 32},        {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
};
enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

int safetensors_dtype_order(const char *dtype)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (!strcmp(dtypes[i].name, dtype))
            return i;
    return -1;
}

int safetensors_dtype_bits(const char *dtype)
{
    int i = safetensors_dtype_order(dtype);
    return i < 0 ? -1 : dtypes[i].bits;
}

int64_t safetensors_dtype_size(const char *dtype, int rank, const int64_t *shape)
{
    int64_t bits = safetensors_dtype_bits(dtype);
    if (bits < 0)
        return -1;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(bits, shape[i], &bits))
            return -1;
    return bits % 8 ? -1 : bits / 8;
}

/* ---- one entry of the header ---- */

static int read_shape(safetensors_tensor *t, const json_t *shape, const char *where,
                      assay_error *error)
{
    if (!json_is_array(shape))
        return assay_fail(error, "%s: tensor '%.*s' has no list \"shape\": the file is corrupt", where,
                          NAME_SHOWN, t->name);
    size_t rank = json_array_size(shape);
    if (rank > SAFETENSORS_RANK)
        return assay_fail(error, "%s: tensor '%.*s' has %zu dimensions: at most %d are supported",
                          where, NAME_SHOWN, t->name, rank, SAFETENSORS_RANK);
    t->rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *side = json_array_get(shape, i);
        if (!json_is_integer(side) || json_integer_value(side) < 0)
            return assay_fail(error, "%s: tensor '%.*s': dimension %zu is not a whole number: the "
                              "file is corrupt", where, NAME_SHOWN, t->name, i);
        t->shape[i] = json_integer_value(side);
    }
    return 0;
}

/* Offsets are relative to the data area of `area` bytes. */
static int read_offsets(safetensors_tensor *t, const json_t *offsets, const uint8_t *data,
                        int64_t area, const char *where, assay_error *error)
{
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return assay_fail(error, "%s: tensor '%.*s' has no pair \"data_offsets\": the file is corrupt",
                          where, NAME_SHOWN, t->name);
    int64_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin)
        return assay_fail(error, "%s: tensor '%.*s' lies at bytes %" PRId64 " to %" PRId64
                          ": the file is corrupt", where, NAME_SHOWN, t->name, begin, end);
    if (end > area)
        return assay_fail(error, "%s: tensor '%.*s' ends at byte %" PRId64 " of the data, the file has "
                          "%" PRId64 ": it is truncated; fetch it again", where, NAME_SHOWN, t->name,
                          end, area);
    t->data = data + begin;
    t->size = end - begin;
    int64_t expected = safetensors_dtype_size(t->dtype, t->rank, t->shape);
    if (expected < 0)
        return assay_fail(error, "%s: tensor '%.*s': its shape is no whole number of bytes below 2^63: "
                          "the file is corrupt", where, NAME_SHOWN, t->name);
    if (expected != t->size)
        return assay_fail(error, "%s: tensor '%.*s' has %" PRId64 " bytes, its shape and dtype %s need "
                          "%" PRId64 ": the file is corrupt", where, NAME_SHOWN, t->name, t->size,
                          t->dtype, expected);
    return 0;
}

static int read_tensor(safetensors_tensor *t, const char *name, const json_t *entry,
                       const uint8_t *data, int64_t area, const char *where, assay_error *error)
{
    t->name = name;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype)
        return assay_fail(error, "%s: tensor '%.*s' has no \"dtype\": the file is corrupt", where,
                          NAME_SHOWN, name);
    int order = safetensors_dtype_order(dtype);
    if (order < 0)
        return assay_fail(error, "%s: tensor '%.*s' has the dtype '%.*s': no such dtype is known; "
                          "convert the file", where, NAME_SHOWN, name, NAME_SHOWN, dtype);
    t->dtype = dtypes[order].name;
    if (read_shape(t, json_object_get(entry, "shape"), where, error))
        return -1;
    return read_offsets(t, json_object_get(entry, "data_offsets"), data, area, where, error);
}

/* ---- the whole header ---- */

static int by_offset(const void *a, const void *b)
{
    const safetensors_tensor *x = a, *y = b;
    const uint8_t *xd = x->data, *yd = y->data;
    if (xd != yd)
        return xd < yd ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The tensors, sorted, must cover the data area without gap, overlap or rest. */
static int check_tiling(const safetensors_file *f, const uint8_t *data, int64_t area,
                        const char *where, assay_error *error)
{
    int64_t at = 0;
    for (int i = 0; i < f->count; i++) {
        const safetensors_tensor *t = &f->tensors[i];
        int64_t begin = (const uint8_t *)t->data - data;
        if (begin != at)
            return assay_fail(error, "%s: tensor '%.*s' begins at byte %" PRId64 " of the data, %s "
                              "%" PRId64 ": the file is corrupt", where, NAME_SHOWN, t->name, begin,
                              begin < at ? "overlapping what ends at" : "leaving a gap after", at);
        at = begin + t->size;
    }
    if (at != area)
        return assay_fail(error, "%s: %" PRId64 " bytes follow the last tensor: the file is corrupt",
                          where, area - at);
    return 0;
}

static int check_metadata(const json_t *metadata, const char *where, assay_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return assay_fail(error, "%s: __metadata__ is not an object: the file is corrupt", where);
    json_object_foreach((json_t *)metadata, key, value)
        if (!json_is_string(value))
            return assay_fail(error, "%s: __metadata__ entry '%.*s' is not a text: the file is corrupt",
                              where, NAME_SHOWN, key);
    return 0;
}

static int read_header(safetensors_file *f, size_t length, const char *where, assay_error *error)
{
    json_error_t e;
    f->header = json_loadb((const char *)f->bytes + PREFIX, length, JSON_REJECT_DUPLICATES, &e);
    if (!f->header && json_error_code(&e) == json_error_duplicate_key)
        return assay_fail(error, "%s: a name stands twice in the header (%s): the file is corrupt",
                          where, e.text);
    if (!f->header || !json_is_object(f->header))
        return assay_fail(error, "%s: the header is not a JSON object%s%s: not a safetensors file, or "
                          "corrupt", where, f->header ? "" : ": ", f->header ? "" : e.text);
    const uint8_t *data = f->bytes + PREFIX + length;
    int64_t area = (int64_t)(f->size - PREFIX - length);
    f->tensors = calloc(json_object_size(f->header) + 1, sizeof *f->tensors);
    f->by_name = json_object();
    if (!f->tensors || !f->by_name)
        return assay_fail(error, "%s: out of memory", where);
    const char *name;
    json_t *entry;
    json_object_foreach(f->header, name, entry) {
        if (!strcmp(name, "__metadata__")) {
            if (check_metadata(entry, where, error))
                return -1;
        } else if (read_tensor(&f->tensors[f->count++], name, entry, data, area, where, error)) {
            return -1;
        }
    }
    qsort(f->tensors, (size_t)f->count, sizeof *f->tensors, by_offset);
    for (int i = 0; i < f->count; i++)
        if (json_object_set_new(f->by_name, f->tensors[i].name, json_integer(i)))
            return assay_fail(error, "%s: out of memory", where);
    return check_tiling(f, data, area, where, error);
}

static safetensors_file *read_bytes(const uint8_t *bytes, size_t size, void *map, const char *where,
                                    assay_error *error)
{
    safetensors_file *f = calloc(1, sizeof *f);
    if (!f) {
        assay_fail(error, "%s: out of memory", where);
        if (map)
            munmap(map, size);
        return NULL;
    }
    *f = (safetensors_file){.bytes = bytes, .size = size, .map = map};
    uint64_t length = 0;
    int failed = 0;
    if (size < PREFIX) {
        failed = assay_fail(error, "%s: %zu bytes are too few for a safetensors file: it is truncated, "
                            "or something else", where, size);
    } else {
        for (int i = 0; i < PREFIX; i++)
            length |= (uint64_t)bytes[i] << 8 * i;
        if (length > size - PREFIX)
            failed = assay_fail(error, "%s: the header claims %" PRIu64 " bytes, the file has %zu after "
                                "its first 8: it is truncated, or not a safetensors file", where,
                                length, size - PREFIX);
        else if (length > HEADER_LIMIT)
            failed = assay_fail(error, "%s: a header of %" PRIu64 " bytes is above the format's limit "
                                "of %d: not a safetensors file", where, length, HEADER_LIMIT);
    }
    if (failed || read_header(f, (size_t)length, where, error)) {
        safetensors_close(f);
        return NULL;
    }
    return f;
}

/* ---- public ---- */

safetensors_file *safetensors_open_memory(const void *bytes, size_t size, const char *name,
                                          assay_error *error)
{
    return read_bytes(bytes, size, NULL, name, error);
}

safetensors_file *safetensors_open(const char *path, assay_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) {
        assay_fail(error, "%s: cannot be read: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || st.st_size < PREFIX) {
        if (!S_ISREG(st.st_mode))
            assay_fail(error, "%s: not a regular file: give a safetensors file", path);
        else
            assay_fail(error, "%s: %lld bytes are too few for a safetensors file: it is truncated, or "
                       "something else", path, (long long)st.st_size);
        close(fd);
        return NULL;
    }
    size_t size = (size_t)st.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    int why = errno;
    close(fd);
    if (map == MAP_FAILED) {
        assay_fail(error, "%s: cannot be mapped: %s", path, strerror(why));
        return NULL;
    }
    return read_bytes(map, size, map, path, error);
}

void safetensors_close(safetensors_file *f)
{
    if (!f)
        return;
    json_decref(f->header);
    json_decref(f->by_name);
    free(f->tensors);
    if (f->map)
        munmap(f->map, f->size);
    free(f);
}

int safetensors_count(const safetensors_file *f)
{
    return f->count;
}

const safetensors_tensor *safetensors_at(const safetensors_file *f, int i)
{
    return i >= 0 && i < f->count ? &f->tensors[i] : NULL;
}

const safetensors_tensor *safetensors_find(const safetensors_file *f, const char *name)
{
    const json_t *i = json_object_get(f->by_name, name);
    return i ? &f->tensors[json_integer_value(i)] : NULL;
}

void safetensors_prefetch(const safetensors_file *f, const void *data, int64_t size)
{
    const uint8_t *from = data, *end = f->bytes + f->size;
    if (!f->map || size <= 0 || from >= end)
        return;
    if (size > end - from)
        size = end - from;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from / page * page;
    madvise((void *)start, (uintptr_t)from + (uintptr_t)size - start, MADV_WILLNEED);
}

/* Only pages that lie whole within the range: a neighbour may still be in use. */
void safetensors_release(const safetensors_file *f, const void *data, int64_t size)
{
    if (!f->map || size <= 0)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)data + (uintptr_t)size) / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

static json_t *metadata_of(const safetensors_file *f)
{
    return json_object_get(f->header, "__metadata__");
}

const char *safetensors_metadata(const safetensors_file *f, const char *key)
{
    return json_string_value(json_object_get(metadata_of(f), key));
}

int safetensors_metadata_count(const safetensors_file *f)
{
    return (int)json_object_size(metadata_of(f));
}

void safetensors_metadata_at(const safetensors_file *f, int i, const char **key, const char **value)
{
    const char *k;
    json_t *v;
    *key = *value = NULL;
    json_object_foreach(metadata_of(f), k, v) {
        if (i-- == 0) {
            *key = k;
            *value = json_string_value(v);
            return;
        }
    }
}
