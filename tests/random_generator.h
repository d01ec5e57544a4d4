/* Private to random_*.c: a random program under way. */
#ifndef ASSAY_RANDOM_GENERATOR_H
#define ASSAY_RANDOM_GENERATOR_H

#include "random_program.h"

typedef struct {
    char at[RANDOM_TEXT];
    size_t length;
} random_text;

typedef struct {
    char name[16];
    assay_type type;
    assay_tile tile;
    bool is_input, is_table, is_output, is_used;
    int64_t table;   /* side of a square table */
    assay_tile pad;
    char declared[16]; /* outputs: the declared type */
} random_value;

enum { VALUES = 96, TILES = 5 };

typedef struct {
    random_source *r;
    random_value values[VALUES];
    int count;
    assay_tile tiles[TILES];
    assay_tile here;  /* the section's tiling, inside a reduction the operand's */
    bool inside;
    int approx;       /* how many more approx may come */
    random_text body;
} random_generator;

void random_put(random_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Types. */
assay_type random_kind(assay_type_kind k);
assay_type random_format(const char *name);
bool random_is_float(assay_type t);
bool random_is(assay_type t, const char *name);
assay_type random_any_format(random_generator *g);
assay_type random_narrow_format(random_generator *g); /* not f64 */
assay_type random_integer_kind(random_generator *g);
assay_type random_any_type(random_generator *g);

/* Values that may be read here, or -1. */
typedef bool (*random_wanted)(const random_value *v, assay_type t);
bool random_same_type(const random_value *v, assay_type t);
bool random_any_narrow(const random_value *v, assay_type t);
int random_visible(random_generator *g, random_wanted want, assay_type t);
int random_finer(random_generator *g, bool (*want)(assay_type)); /* of a tiling to be reduced */
void random_read_value(random_generator *g, int i);

/* Pieces of expressions (random_pieces.c). */
void random_number(random_generator *g);
void random_small_integer(random_generator *g);
void random_operand(random_generator *g, int depth); /* keeps the arithmetic in f32 */
void random_wide_operand(random_generator *g, int depth);
void random_operand_or_number(random_generator *g, bool wide, int depth);
void random_first_operand(random_generator *g, bool wide, int depth);
void random_arithmetic_options(random_generator *g, bool wide);
void random_cast(random_generator *g, assay_type t, int depth);
void random_choice(random_generator *g, assay_type t, int depth);
void random_least_or_greatest(random_generator *g, assay_type t, int depth);
/* false: nothing here to gather, reduce, transform */
bool random_gather(random_generator *g, assay_type t, int depth);
bool random_reduction(random_generator *g, assay_type t, int depth);
bool random_transform(random_generator *g, int depth);

/* An expression of exactly this type (random_expression.c). */
void random_expression(random_generator *g, assay_type t, int depth);

#endif
