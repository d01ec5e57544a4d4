/* Finds, by bisection on the program's own answers, the inputs at which an output code changes:
 * both neighbours of every boundary, whatever rule the program scales and rounds by. Magnitudes are
 * ordinals of the main input's format (0 .. ordinal of the maximum). */
#ifndef ASSAY_EDGES_SEARCH_H
#define ASSAY_EDGES_SEARCH_H

#include "generate.h"

typedef struct {
    const assay_program *program;
    assay_fast *fast;
    uint64_t seed;
    const assay_format *format; /* of the main input */
    int storage, main;          /* index of the main input among the inputs */
    int64_t top;                /* ordinal of the format's maximum */
} edges_search;

typedef struct {
    int64_t *at; /* the code changes between at[i] and at[i] + 1 */
    int count, capacity;
} edges_found;

/* Compiles the set's program for the search; it has a main input. 0, or -1 and `error`. */
int edges_search_open(edges_search *s, const assay_vector_set *set, assay_error *error);
void edges_search_close(edges_search *s);

/* Elements of blocks whose amaxes are amax[0 .. n-1], under a coarser amax `coarse` (0: the same as
 * amax[0]): found[c] for block c. */
int edges_of_elements(const edges_search *s, int64_t coarse, const int64_t *amax, int n,
                      edges_found *found, assay_error *error);
/* Block amaxes at which an output of the block's own tiling changes. */
int edges_of_scales(const edges_search *s, int64_t coarse, edges_found *found, assay_error *error);

void edges_add(edges_found *found, int64_t at);
int64_t edges_ordinal(const edges_search *s, int exponent, uint64_t fraction); /* of a magnitude */
/* Is there a tiling coarser than the blocks, or a scale given from outside? */
bool edges_has_coarse(const edges_search *s);
/* Puts `coarse` into the first lane of each block that begins a coarser tile. */
void edges_put_anchors(const edges_search *s, assay_case *c, const vectors_blocks *b,
                       int64_t coarse);
void edges_put(const edges_search *s, assay_case *c, const vectors_blocks *b, int64_t block,
               int64_t lane, int64_t magnitude, bool negative);
/* The blocks that are no anchors, in order (malloc'd); *n of them. */
int64_t *edges_free_blocks(const edges_search *s, const vectors_blocks *b, int64_t *n);
/* The further inputs, the same for the same shape and amaxes. */
void edges_fill_further(const edges_search *s, assay_case *c);

#endif
