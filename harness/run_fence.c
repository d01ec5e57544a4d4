#include "run_fence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FRONT = 64, ALIGNMENT = 64, EXTRA_STRIDE = 3 };
/* Address space is free: mapped once, so that pointers into it stay. */
static const size_t CAPACITY = (size_t)1 << 40;

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* The guard byte at a place of the file: no constant, so that no fill can hit it by chance. */
static uint8_t guard_byte(size_t at)
{
    uint32_t h = (uint32_t)at * 2654435761u;
    return (uint8_t)(h >> 24 ^ at);
}

int fence_open(fence_file *f, bool read_only_for_child, assay_error *error)
{
    *f = (fence_file){.fd = -1, .child = -1, .map = MAP_FAILED};
    f->fd = memfd_create("assay-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* A child that shrinks the file would make us fault. */
    if (f->fd >= 0 && fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
        f->child = read_only_for_child ? open(path, O_RDONLY | O_CLOEXEC) : f->fd;
        f->map = mmap(NULL, CAPACITY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
    }
    if (f->child < 0 || f->map == MAP_FAILED) {
        int why = errno;
        fence_close(f);
        return assay_fail(error, "no shared memory for tensors: %s", strerror(why));
    }
    return 0;
}

void fence_close(fence_file *f)
{
    if (f->map != MAP_FAILED && f->map)
        munmap(f->map, CAPACITY);
    if (f->child >= 0 && f->child != f->fd)
        close(f->child);
    if (f->fd >= 0)
        close(f->fd);
    *f = (fence_file){.fd = -1, .child = -1, .map = MAP_FAILED};
}

void fence_reset(fence_file *f)
{
    f->used = 0;
}

static size_t extent(const fence_slot *s)
{
    if (s->rows == 0 || s->cols == 0)
        return 0;
    return (size_t)((s->rows - 1) * s->stride + s->cols) * (size_t)s->code_bytes;
}

int fence_place(fence_file *f, int64_t rows, int64_t cols, int code_bytes, bool awkward,
                fence_slot *slot, assay_error *error)
{
    *slot = (fence_slot){.start = f->used, .rows = rows, .cols = cols, .code_bytes = code_bytes,
                         .stride = awkward ? cols + EXTRA_STRIDE : cols};
    size_t inner = round_up(extent(slot), awkward ? (size_t)code_bytes : ALIGNMENT);
    slot->length = round_up(inner + FRONT, PAGE);
    slot->offset = slot->start + slot->length - inner;
    size_t end = slot->start + slot->length;
    if (end > f->size) {
        int code = end > CAPACITY ? EFBIG : posix_fallocate(f->fd, 0, (off_t)end);
        if (code)
            return assay_fail(error, "%zu MiB of shared memory for tensors: %s; use smaller inputs",
                              end >> 20, strerror(code));
        f->size = end;
    }
    f->used = end;
    return 0;
}

static uint8_t *row_at(const fence_file *f, const fence_slot *s, int64_t row)
{
    return f->map + s->offset + (size_t)(row * s->stride) * (size_t)s->code_bytes;
}

/* Calls `see` for each run of bytes of the region that belong to no element. */
typedef bool (*gap_fn)(const fence_file *f, size_t from, size_t to, void *context);
static bool each_gap(const fence_file *f, const fence_slot *s, gap_fn see, void *context)
{
    size_t row = (size_t)s->cols * (size_t)s->code_bytes;
    size_t step = (size_t)s->stride * (size_t)s->code_bytes, last = s->offset + extent(s);
    if (!see(f, s->start, s->offset, context))
        return false;
    if (s->stride > s->cols && extent(s))
        for (int64_t i = 0; i + 1 < s->rows; i++) {
            size_t from = s->offset + (size_t)i * step + row;
            if (!see(f, from, from + step - row, context))
                return false;
        }
    return see(f, last, s->start + s->length, context);
}

static bool fill_gap(const fence_file *f, size_t from, size_t to, void *context)
{
    (void)context;
    for (size_t i = from; i < to; i++)
        f->map[i] = guard_byte(i);
    return true;
}

static bool check_gap(const fence_file *f, size_t from, size_t to, void *context)
{
    for (size_t i = from; i < to; i++)
        if (f->map[i] != guard_byte(i)) {
            *(size_t *)context = i;
            return false;
        }
    return true;
}

void fence_put(const fence_file *f, const fence_slot *s, const void *grid)
{
    each_gap(f, s, fill_gap, NULL);
    size_t row = (size_t)s->cols * (size_t)s->code_bytes;
    for (int64_t i = 0; row && i < s->rows; i++) {
        if (grid)
            memcpy(row_at(f, s, i), (const uint8_t *)grid + (size_t)i * row, row);
        else
            memset(row_at(f, s, i), 0, row);
    }
}

void fence_poison(const fence_file *f, const fence_slot *s, uint8_t byte)
{
    each_gap(f, s, fill_gap, NULL);
    for (int64_t i = 0; i < s->rows; i++)
        memset(row_at(f, s, i), byte, (size_t)s->cols * (size_t)s->code_bytes);
}

void fence_get(const fence_file *f, const fence_slot *s, void *grid)
{
    size_t row = (size_t)s->cols * (size_t)s->code_bytes;
    for (int64_t i = 0; row && i < s->rows; i++)
        memcpy((uint8_t *)grid + (size_t)i * row, row_at(f, s, i), row);
}

bool fence_intact(const fence_file *f, const fence_slot *s, const char *name, char *text,
                  size_t size)
{
    size_t at = 0, last = s->offset + extent(s);
    if (each_gap(f, s, check_gap, &at))
        return true;
    if (at < s->offset)
        snprintf(text, size, "wrote %zu bytes before the start of %s", s->offset - at, name);
    else if (at >= last)
        snprintf(text, size, "wrote %zu bytes behind the end of %s", at - last + 1, name);
    else
        snprintf(text, size, "wrote between the rows of %s (behind row %zu): row_stride is not cols",
                 name, (at - s->offset) / ((size_t)s->stride * (size_t)s->code_bytes));
    return false;
}

bool fence_unchanged(const fence_file *f, const fence_slot *s, const void *grid)
{
    size_t at, row = (size_t)s->cols * (size_t)s->code_bytes;
    if (!each_gap(f, s, check_gap, &at))
        return false;
    for (int64_t i = 0; grid && row && i < s->rows; i++)
        if (memcmp(row_at(f, s, i), (const uint8_t *)grid + (size_t)i * row, row))
            return false;
    return true;
}
