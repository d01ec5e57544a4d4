/* The generators of the input classes, one file each (class_NAME.c); rows in classes.c. */
#ifndef ASSAY_CLASSES_H
#define ASSAY_CLASSES_H

#include "generate.h"

/* Each adds its cases to the set: 0, or -1 and `error`. */
int class_special(assay_vector_set *set, assay_error *error);
int class_sweep16(assay_vector_set *set, assay_error *error);
int class_edges(assay_vector_set *set, assay_error *error);
int class_random(assay_vector_set *set, assay_error *error);
int class_heavy(assay_vector_set *set, assay_error *error);
int class_shapes(assay_vector_set *set, assay_error *error);

/* Fills the main input with ordinary values. */
void class_fill_ordinary(assay_case *c, const assay_program *p, vectors_rng *r);

#endif
