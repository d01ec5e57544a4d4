/* What assay_vector_set.arena points to: private to vectors/. */
#ifndef ASSAY_SET_MEMORY_H
#define ASSAY_SET_MEMORY_H

typedef struct {
    void **blocks; /* everything that the set owns, one allocation each */
    int count, capacity;
    int case_capacity;
} set_memory;

#endif
