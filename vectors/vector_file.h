/* What vector_set.c gives to vector_file.c. */
#ifndef ASSAY_VECTOR_FILE_H
#define ASSAY_VECTOR_FILE_H

#include "vector_set.h"

/* A set without cases; takes the program. */
assay_vector_set *vectors_empty(assay_program *p, const char *class_, uint64_t seed,
                                assay_error *error);

#endif
