/* Where two contracts part, in words. */
#ifndef ASSAY_RECIPES_DIFF_H
#define ASSAY_RECIPES_DIFF_H

#include "command.h"

/* A list of {what, name, words, a?, b?}: what is "input", "output", "require", "scale", "element",
 * "step", "mark", "nan" (the numerics) or "layout"; a, b the statements or lines. Empty: the same. */
json_t *recipes_diff(const assay_program *a, const assay_program *b);

/* assay recipes --diff A B; STATUS_OK for the same numerics and bytes, STATUS_DIFFERS. */
int recipes_diff_print(const char *a, const char *b, bool json);

#endif
