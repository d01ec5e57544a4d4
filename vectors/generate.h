/* What input classes are made of: memory of a set, random integers, values of a format, blocks of a
 * program. Everything is integers and exact operations, so that a set has the same bytes on every
 * compiler and machine. */
#ifndef ASSAY_GENERATE_H
#define ASSAY_GENERATE_H

#include "vector_set.h"

/* ---- memory: lives as long as the set ---- */

void *vectors_alloc(assay_vector_set *set, size_t size);         /* zeroed; aborts without memory */
char *vectors_text(assay_vector_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A new case with all inputs zero; the outputs have room for codes and marks. The pointer is good
 * until the next case is added. NULL if the shape is not admitted. */
assay_case *vectors_add_case(assay_vector_set *set, const char *tag, int64_t m, int64_t k);

/* ---- random integers: splitmix64 ---- */

typedef struct {
    uint64_t state;
} vectors_rng;
vectors_rng vectors_rng_of(uint64_t seed, const char *name);
uint64_t vectors_next(vectors_rng *r);
uint64_t vectors_below(vectors_rng *r, uint64_t n); /* 0 .. n-1; 0 < n < 2^32 */

/* ---- codes ---- */

/* The i-th code of a grid in row-major order, `storage` bytes each. */
uint64_t grid_get(const assay_grid *g, int storage, int64_t i);
void grid_set(assay_grid *g, int storage, int64_t i, uint64_t code);
const assay_value *vectors_main(const assay_program *p);  /* the main input, or NULL */
int vectors_main_index(const assay_program *p);           /* its index among the inputs, or -1 */
/* Is the main input a float of 16 bits or more (not codes that a decoder reads)? */
bool vectors_encodes(const assay_program *p);

/* The code nearest to a finite double; above the maximum: the maximum. */
uint64_t code_near(const assay_format *f, double value);
/* +-(1 + fraction / 2^52) * 2^exponent, rounded to the format, never above its maximum. */
uint64_t code_make(const assay_format *f, bool negative, int exponent, uint64_t fraction);
uint64_t code_negate(const assay_format *f, uint64_t code); /* unsigned formats: unchanged */
bool code_is_finite(const assay_format *f, uint64_t code);
/* An ordinary value: magnitude in [1/8, 2), any mantissa, either sign. Codes of at most 8 bits: any
 * finite code. */
uint64_t code_ordinary(const assay_format *f, vectors_rng *r);
/* The value `steps` codes further, kept between -max and max. */
uint64_t code_step(const assay_format *f, uint64_t code, int64_t steps);

/* The special values of a format: zeros, ends of the subnormals and normals, 1, Inf, NaNs. */
typedef struct {
    const char *name;
    uint64_t code;
} special_value;
enum { SPECIAL_VALUES = 24 };
int special_values(const assay_format *f, special_value *list);

/* ---- blocks ---- */

/* A matrix cut into the blocks that share a scale: the finest tiling of the program coarser than
 * an element (the whole matrix as one block if there is none: casts). */
typedef struct {
    assay_tile tile;       /* of the block; * where it takes the whole extent */
    bool any;              /* false: the program has elements only */
    int64_t m, k;
    int64_t side_rows, side_cols; /* of a whole block in this matrix */
    int64_t grid_rows, grid_cols;
    int64_t blocks, lanes;        /* lanes of a whole block */
} vectors_blocks;

/* A small admitted matrix with at least `blocks` blocks (fewer if a block is the whole matrix, and
 * at most `limit` elements where the shape lets that be). False: none found. */
bool vectors_blocks_make(const assay_program *p, int64_t blocks, int64_t limit, vectors_blocks *b);
vectors_blocks vectors_blocks_of(const assay_program *p, int64_t m, int64_t k);
/* Index in the matrix of a lane of a block; -1 if it lies outside of a partial block. */
int64_t vectors_lane(const vectors_blocks *b, int64_t block, int64_t lane);
/* Is the block the first one of a coarser tile (row, outer block, tensor) that has several? */
bool vectors_is_anchor(const assay_program *p, const vectors_blocks *b, int64_t block);
/* Rounds m and k up, as little as possible, to an admitted shape; false: none near. */
bool vectors_admit(const assay_program *p, int64_t *m, int64_t *k);

/* ---- further inputs ---- */

/* Fills all inputs but the main one, from the main one where they are scales. `variant`: 0 usual
 * (amax), 1 odd mantissas, 2 reciprocals, 3 powers of two; VARIANT_NEAR: a decoder's scales within
 * five binades; from 16 on: special value variant - 16. */
enum { VARIANT_NEAR = 4, VARIANT_SPECIAL = 16 };
void vectors_fill_further(assay_case *c, const assay_program *p, int variant, vectors_rng *r);
bool vectors_has_further(const assay_program *p);

#endif
