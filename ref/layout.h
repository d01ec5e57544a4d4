/* Logical codes and scales <-> bytes: LANGUAGE.md section 12, one table row a step. */
#ifndef ASSAY_LAYOUT_H
#define ASSAY_LAYOUT_H

#include "error.h"
#include "format.h"

typedef enum {
    ASSAY_LAYOUT_TRANSPOSE,
    ASSAY_LAYOUT_REPLICATE,     /* a x b */
    ASSAY_LAYOUT_PAD,           /* a x b, fill */
    ASSAY_LAYOUT_SWIZZLE_128X4,
    ASSAY_LAYOUT_SWIZZLE_8X4,
    ASSAY_LAYOUT_GROUP,         /* a = n */
    ASSAY_LAYOUT_PACK_LOW,
    ASSAY_LAYOUT_PACK_HIGH,
    ASSAY_LAYOUT_PACK_HALVES,   /* a = n */
    ASSAY_LAYOUT_PACK_E5M6,
    ASSAY_LAYOUT_RECORD         /* a x b; members follow in the layout */
} assay_layout_op;

typedef enum { ASSAY_FILL_VALUE, ASSAY_FILL_ANY, ASSAY_FILL_KEEP } assay_fill;

typedef struct {
    assay_layout_op op;
    int64_t a, b;
    assay_fill fill;
    uint64_t value; /* ASSAY_FILL_VALUE: the code */
} assay_layout_step;

enum { ASSAY_LAYOUT_STEPS = 8, ASSAY_LAYOUT_MEMBERS = 4 };

/* `layout NAMES : steps`. Without record each value of `values` has these bytes on its own. With
 * record as the last step the members' packing steps are in member_step (one at most for each). */
typedef struct {
    int values[ASSAY_LAYOUT_MEMBERS]; /* indexes into the program's values */
    int value_count;
    assay_layout_step steps[ASSAY_LAYOUT_STEPS];
    int step_count;
    int record[ASSAY_LAYOUT_MEMBERS];      /* with RECORD: the members in order, else empty */
    int record_count;
    assay_layout_step member_step[ASSAY_LAYOUT_MEMBERS];
    bool member_packed[ASSAY_LAYOUT_MEMBERS];
} assay_layout;

/* A grid of codes of one format, row-major, each in `code_bytes` bytes little-endian. */
typedef struct {
    int64_t rows, cols;
    int code_bits;        /* width of a code */
    int code_bytes;       /* 1, 2, 4, 8 */
    int64_t tile_rows, tile_cols; /* elements a code stands for (replicate, record); 1x1: elements.
                                     0 stands for * (the whole extent) */
    void *data;
} assay_layout_grid;

/* Bytes that layout `l` (without record) gives to `grid`; -1 and `error` if the shape does not fit. */
int64_t assay_layout_size(const assay_layout *l, const assay_layout_grid *grid, int64_t m, int64_t k,
                          assay_error *error);
/* Writes the bytes; `judged` (may be NULL) gets one byte for each byte: bits that are compared as
 * a mask (0xFF: all; 0: `any`; for `keep` see `kept`, which gets 1 where bytes must stay). */
int assay_layout_encode(const assay_layout *l, const assay_layout_grid *grid, int64_t m, int64_t k,
                        uint8_t *bytes, uint8_t *judged, uint8_t *kept, assay_error *error);
/* The way back: fills grid->data (rows, cols set by the caller) from bytes. */
int assay_layout_decode(const assay_layout *l, const uint8_t *bytes, int64_t size, int64_t m,
                        int64_t k, assay_layout_grid *grid, assay_error *error);

/* The same for a record of several grids (in the order of l->record). m, k: the elements' shape. */
int64_t assay_record_size(const assay_layout *l, const assay_layout_grid *grids, int64_t m,
                          int64_t k, assay_error *error);
int assay_record_encode(const assay_layout *l, const assay_layout_grid *grids, int64_t m, int64_t k,
                        uint8_t *bytes, uint8_t *judged, assay_error *error);
int assay_record_decode(const assay_layout *l, const uint8_t *bytes, int64_t size, int64_t m,
                        int64_t k, assay_layout_grid *grids, assay_error *error);

#endif
