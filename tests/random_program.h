/* Random recipe texts, and random matrices for them: what the two evaluators are compared on. */
#ifndef ASSAY_RANDOM_PROGRAM_H
#define ASSAY_RANDOM_PROGRAM_H

#include "../ref/recipe_eval.h"

typedef struct {
    uint64_t state;
} random_source;

uint64_t random_bits(random_source *r);
int64_t random_below(random_source *r, int64_t n);     /* 0 .. n-1 */
bool random_chance(random_source *r, int percent);

enum { RANDOM_TEXT = 1 << 15 };

/* The text of a recipe `random.program`, meant to be well typed; what the language refuses for
 * reasons that a generator need not foresee is refused by the checker. `text`: RANDOM_TEXT bytes. */
void random_program(random_source *r, char *text);
/* Recipes that random programs bring in with `use`. */
assay_recipe *random_program_finder(void *context, const char *name);

/* One case: grids for all inputs and outputs of p over an m x k matrix; the inputs hold specials,
 * ties, subnormals, ordinary values and raw bits; `outputs` has as many copies of the output grids as
 * there are evaluators, poisoned. */
enum { RANDOM_COPIES = 3 };
typedef struct {
    int64_t m, k;
    assay_grid *inputs, *outputs[RANDOM_COPIES];
} random_case;
random_case *random_case_new(random_source *r, const assay_program *p, int64_t m, int64_t k);
void random_case_free(random_case *c, const assay_program *p);
/* A code of type t. */
uint64_t random_code(random_source *r, assay_type t);

#endif
