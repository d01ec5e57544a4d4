/* Programs built by hand, for tests of the evaluators that do not lean on the parser. */
#ifndef ASSAY_PROGRAM_BUILDER_H
#define ASSAY_PROGRAM_BUILDER_H

#include "../ref/assay.h"

enum { BUILDER_VALUES = 32, BUILDER_STATEMENTS = 32, BUILDER_EXPRS = 256 };

/* Zero-initialize with build_start; everything lives inside, nothing to free. Do not move it. */
typedef struct {
    assay_program program;
    assay_value values[BUILDER_VALUES];
    int inputs[BUILDER_VALUES], outputs[BUILDER_VALUES];
    assay_statement statements[BUILDER_STATEMENTS];
    assay_expr exprs[BUILDER_EXPRS];
} program_builder;

static const assay_tile TILE_ELEMENT = {1, 1}, TILE_TENSOR = {0, 0};

assay_type build_type(const char *word); /* a format's name, "u8", "u32", "i32", "u64", "bool" */
void build_start(program_builder *b);
int build_input(program_builder *b, const char *name, const char *type, assay_tile tile);
int build_output(program_builder *b, const char *name, const char *type, assay_tile tile);
int build_local(program_builder *b, const char *name, const char *type, assay_tile tile);

assay_expr *build_value(program_builder *b, int value);
assay_expr *build_const(program_builder *b, const char *type, uint64_t bits);
/* Arithmetic is even, casts have their default options. Unused arguments are NULL. */
assay_expr *build_op(program_builder *b, assay_op op, const char *type, assay_expr *a0,
                     assay_expr *a1, assay_expr *a2);
void build_assign(program_builder *b, int value, assay_expr *e);

/* One element-wise operation on rows: evaluates y = op(arguments) for n elements exactly. The
 * argument arrays hold codes in the storage of their types; missing ones are NULL. */
void eval_elements(assay_op op, const char *type, int argc, const char *const *arg_types,
                   const void *const *args, void *y, int64_t n,
                   void (*set)(assay_expr *, const void *), const void *options);

#endif
