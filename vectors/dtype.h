/* The types of the recipe language as dtypes of safetensors. */
#ifndef ASSAY_DTYPE_H
#define ASSAY_DTYPE_H

#include <stdbool.h>

#include "../ref/recipe.h"

/* How a value of this type is written: f64 f32 f16 bf16 by name; other formats as one code in U8,
 * U16 or U32; integers as U8 U32 I32 U64. */
const char *dtype_of_type(assay_type t);
/* The bit patterns alone: U8, U16, U32 or U64. Loaders that have no bf16 can read them. */
const char *dtype_of_bits(assay_type t);
/* May a tensor of this dtype be read as values of this type? One byte formats have a dtype of their
 * own (F8_E4M3) or come as codes in U8; integers may come signed or unsigned. */
bool dtype_fits(assay_type t, const char *dtype);
/* "BF16" -> "bf16", "F8_E4M3" -> "e4m3": the format's word; NULL for dtypes without one. */
const char *dtype_word(const char *dtype);

#endif
