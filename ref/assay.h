/* libassay: the exact answer for every number format, cast and block-scaled quantization recipe.
 *
 * This header is the whole public interface. No function here prints, reads files, starts threads
 * or keeps hidden state; the tables are const. Functions that can fail return nonzero or NULL and
 * fill an assay_error. Formats: format.h. One rounding: round.h (exact), convert.h (fast).
 * Recipes: recipe.h. Running them: recipe_eval.h. Bytes: layout.h. */
#ifndef ASSAY_H
#define ASSAY_H

#define ASSAY_VERSION "0.1.0"

#include "error.h"
#include "format.h"
#include "exact.h"
#include "round.h"
#include "convert.h"
#include "recipe.h"
#include "recipe_eval.h"
#include "layout.h"

#endif
