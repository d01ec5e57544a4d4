/* Where an adapter's tensors lie: shared memory with every byte that belongs to no element known
 * beforehand and looked at afterwards. Each tensor has whole pages of its own; the harness's host
 * process for shared objects also puts inaccessible pages around them. */
#ifndef ASSAY_RUN_FENCE_H
#define ASSAY_RUN_FENCE_H

#include <stdbool.h>

#include "../ref/recipe_eval.h"

typedef struct {
    int fd;           /* ours */
    int child;        /* to be given away: read-only for inputs, else the same */
    uint8_t *map;     /* the whole file, writable for us; size bytes */
    size_t size, used;
} fence_file;

typedef struct {
    size_t start, length; /* the region: whole pages of the file */
    size_t offset;        /* of element (0, 0) in the file */
    int64_t rows, cols, stride;
    int code_bytes;
} fence_slot;

/* An anonymous file for the tensors of a call, mapped here; the child may be refused to write.
 * 0, or -1 and `error`. */
int fence_open(fence_file *f, bool read_only_for_child, assay_error *error);
void fence_close(fence_file *f);
void fence_reset(fence_file *f); /* forgets all slots */
/* Makes room. Plain: 64-byte aligned, dense, ending within 64 bytes of the region's end. `awkward`:
 * a row stride above cols, ending exactly at the region's end, aligned to code_bytes only. */
int fence_place(fence_file *f, int64_t rows, int64_t cols, int code_bytes, bool awkward,
                fence_slot *slot, assay_error *error);
/* Fills the whole region: guard bytes, and in the elements the grid (inputs; NULL: zero) ... */
void fence_put(const fence_file *f, const fence_slot *s, const void *grid);
/* ... or one byte repeated (outputs). */
void fence_poison(const fence_file *f, const fence_slot *s, uint8_t byte);
void fence_get(const fence_file *f, const fence_slot *s, void *grid);
/* Are all guard bytes as they were? If not, says where in `text`. */
bool fence_intact(const fence_file *f, const fence_slot *s, const char *name, char *text,
                  size_t size);
/* Is the input still what was put? */
bool fence_unchanged(const fence_file *f, const fence_slot *s, const void *grid);

#endif
