/* Running a program on a matrix: grids in, grids out, by the exact and by the fast evaluator. */
#ifndef ASSAY_RECIPE_EVAL_H
#define ASSAY_RECIPE_EVAL_H

#include "recipe.h"

/* One value for each tile of a tiling, row-major, each assay_type_storage(type) bytes,
 * little-endian, codes right-aligned. `marks` (outputs only; may be NULL): a byte for each value,
 * 1 = not judged (LANGUAGE.md 11), else 0. */
typedef struct {
    int64_t rows, cols;
    void *data;
    uint8_t *marks;
} assay_grid;

/* Shape of a value's grid for an M x K matrix (tables: their own). For element inputs with `pad`
 * the caller gives M x K; the evaluator extends with +0. */
void assay_value_shape(const assay_value *v, int64_t m, int64_t k, int64_t *rows, int64_t *cols);

/* ---- exact: MPFR/GMP, one rounding an operation, slow and obvious (recipe_exact.c) ---- */

/* inputs[i] belongs to p->inputs[i]; outputs[i] (data allocated by the caller) to p->outputs[i].
 * A NULL data pointer of an input means all +0 (first step of a fed input); of an output: not
 * wanted. approx nodes take the middle value. M, K >= 0 must be admitted. 0, or -1 and `error`. */
int assay_exact_eval(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                     const assay_grid *outputs, assay_error *error);

/* Judges observed outputs by the contract: verdict[i][j] for code j of output i becomes
 * 0 agrees, 1 differs, 2 not judged. any nan, any zero and approx (one choice for each approx and
 * tile such that all judged outputs agree; if there is none: against the middle value) included. */
int assay_exact_judge(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                      const assay_grid *observed, uint8_t *const *verdict, assay_error *error);

/* Calls `see` for every statement and every node below it, arguments first, in one chosen tile:
 * the tiles that contain element (row, col). For reductions also the list of operands.
 * Used by `explain`. `exact` is the value before the node's own rounding (NULL for integers and
 * for nodes that do not round), `bits` the result in the node's type. */
typedef struct {
    const assay_statement *statement;
    const assay_expr *expr;
    int depth;                 /* 0: the statement's own value */
    uint64_t bits;
    bool marked;
    const assay_exact *exact;
    int64_t tile_row, tile_col; /* in the grid of the node's tiling */
} assay_seen;
int assay_exact_explain(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                        int64_t row, int64_t col, void (*see)(void *, const assay_seen *),
                        void *context, assay_error *error);
/* The same for every tile that touches the elements row .. row+rows-1, col .. col+cols-1: statement
 * by statement, its tiles in row-major order, with one evaluation of the matrix. */
int assay_exact_explain_region(const assay_program *p, int64_t m, int64_t k,
                               const assay_grid *inputs, int64_t row, int64_t col, int64_t rows,
                               int64_t cols, void (*see)(void *, const assay_seen *), void *context,
                               assay_error *error);

/* ---- fast: native floats over strips of blocks (recipe_fast*.c); shares no arithmetic ---- */

typedef struct assay_fast assay_fast;
assay_fast *assay_fast_compile(const assay_program *p, assay_error *error);
void assay_fast_free(assay_fast *f);
/* The whole matrix on the calling thread. */
int assay_fast_eval(const assay_fast *f, int64_t m, int64_t k, const assay_grid *inputs,
                    const assay_grid *outputs, assay_error *error);

/* Bands: the same in pieces of rows, for streaming and threads.
 *   run = assay_fast_begin(f, m, k, inputs, &error)    (element and banded inputs: data NULL here)
 *   for pass in 0 .. assay_fast_passes(f) - 1
 *       for each band of assay_fast_band_rows(f, m) rows (the last may be shorter)
 *           assay_fast_band(run, pass, first_row, rows, inputs, outputs)
 *       assay_fast_pass_end(run, pass)
 *   assay_fast_end(run)                                 (frees)
 * In a band call an input or output whose tiling has rows != * is given as the part that belongs to
 * these rows (grid->rows = its tile rows in the band); coarser ones (tensor, column, tables) are
 * given whole at begin (inputs), and written whole at pass_end of the last pass (`whole_outputs`
 * of begin). Outputs are written in the last pass only (earlier: outputs may be NULL).
 * Bands of one pass may run on several threads at once unless assay_fast_ordered(f), in which case
 * they must come one at a time in order. */
typedef struct assay_fast_run assay_fast_run;
int assay_fast_passes(const assay_fast *f);
int64_t assay_fast_band_rows(const assay_fast *f, int64_t m, int64_t k); /* multiple of all tile heights */
bool assay_fast_ordered(const assay_fast *f);
assay_fast_run *assay_fast_begin(const assay_fast *f, int64_t m, int64_t k, const assay_grid *inputs,
                                 const assay_grid *whole_outputs, assay_error *error);
int assay_fast_band(assay_fast_run *run, int pass, int64_t first_row, int64_t rows,
                    const assay_grid *inputs, const assay_grid *outputs, assay_error *error);
int assay_fast_pass_end(assay_fast_run *run, int pass, assay_error *error);
void assay_fast_end(assay_fast_run *run);

/* Eight operations whose result changes under FTZ, DAZ, contraction or another rounding mode:
 * 0 if this build computes as it must, else -1 and the one that differs. */
int assay_fast_selftest(assay_error *error);

#endif
