/* Private to recipe_fast_lower*.c: making nodes of expressions, by kind of operation. */
#ifndef ASSAY_RECIPE_FAST_LOWER_H
#define ASSAY_RECIPE_FAST_LOWER_H

#include "recipe_fast.h"

enum { BITS_32, BITS_64, WIDTHS };

bool fast_is_format(assay_type t, const char *name);
bool fast_is_f64(assay_type t);
/* Argument k as f32 or f64 (width), whatever format it has. */
int fast_operand(assay_fast *f, const assay_expr *e, int k, assay_tile context, int width);
/* Bits of an integer or a code in a wider or narrower lane (i32 grows with its sign). */
int fast_to_lane(assay_fast *f, int node, assay_type from, uint8_t lane);
int fast_negate(assay_fast *f, int mask);

/* recipe_fast_lower_float.c */
int fast_lower_arithmetic(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_rint(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_function(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_div_full(assay_fast *f, const assay_expr *e, assay_tile context);
/* recipe_fast_lower_compare.c: signs, classes, comparisons, min and max */
int fast_lower_sign(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_class(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_compare(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_select(assay_fast *f, const assay_expr *e, assay_tile context);
/* recipe_fast_lower_integer.c */
int fast_lower_integer(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_to_integer(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_code(assay_fast *f, const assay_expr *e, assay_tile context);
int fast_lower_philox(assay_fast *f, const assay_expr *e, assay_tile context);

#endif
