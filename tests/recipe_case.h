/* A recipe's text, its inputs and what the exact evaluator must answer: for tests. */
#ifndef ASSAY_RECIPE_CASE_H
#define ASSAY_RECIPE_CASE_H

#include "../ref/assay.h"

enum { CASE_GRIDS = 8 };

/* One evaluation under way. Inputs and outputs are in order of declaration; shapes follow from the
 * program; a missing input is all +0. Failing calls fail the test. */
typedef struct {
    assay_recipe *recipe;
    assay_program *program;
    int64_t m, k;
    assay_grid inputs[CASE_GRIDS], outputs[CASE_GRIDS];
    uint8_t *verdicts[CASE_GRIDS];
} recipe_case;

/* `body` is what follows "recipe t" and its source line. */
void case_open(recipe_case *c, const char *body, int64_t m, int64_t k);
/* Outputs and verdicts for c->program on c->m x c->k: for programs from elsewhere. */
void case_allocate(recipe_case *c);
void case_close(recipe_case *c);
/* Gives input `name` one code for each tile; `n` must be their number. Borrowed. */
void case_input(recipe_case *c, const char *name, const void *codes, int64_t n);
/* Evaluates exactly into outputs that the case owns. */
void case_run(recipe_case *c);
/* Code and mark of an output after case_run. */
uint64_t case_code(const recipe_case *c, const char *name, int64_t index);
bool case_mark(const recipe_case *c, const char *name, int64_t index);
/* An output's codes in order: compares and counts. */
void case_expect(const recipe_case *c, const char *name, const uint64_t *codes, int64_t n);
void case_expect_marks(const recipe_case *c, const char *name, const uint8_t *marks, int64_t n);
/* Judges what stands in the outputs (change it through case_set) into verdicts. */
void case_judge(recipe_case *c);
void case_set(recipe_case *c, const char *name, int64_t index, uint64_t code);
int case_verdict(const recipe_case *c, const char *name, int64_t index);

#endif
