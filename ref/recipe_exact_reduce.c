/* Reductions over the finer tiles of a tile, and the transforms of a run of elements. */
#include <assert.h>
#include <stdlib.h>

#include "recipe_exact.h"

/* ---- the operands, in row-major order ---- */

typedef struct {
    exact_run *run;
    const assay_expr *expr;
    exact_range range;
    exact_spot at; /* of the operand last taken */
    bool marked;   /* some operand was */
} operand_walk;

static operand_walk start_walk(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    assay_tile over = e->u.reduce.over;
    exact_range range = exact_tiles(over, exact_tile_region(run, at->tile, at->row, at->col));
    bool empty = range.row >= range.row_end || range.col >= range.col_end;
    if (empty)
        range.row_end = range.row;
    return (operand_walk){run, e, range, {over, range.row, range.col - 1}, false};
}

static bool step(operand_walk *w)
{
    if (w->range.row_end == w->range.row)
        return false;
    if (++w->at.col == w->range.col_end) {
        w->at.col = w->range.col;
        w->at.row++;
    }
    return w->at.row < w->range.row_end;
}

static uint64_t operand(operand_walk *w, int k)
{
    exact_cell cell = exact_node(w->run, w->expr->arg[k], &w->at);
    w->marked |= cell.marked;
    return cell.bits;
}

static int64_t operand_count(const operand_walk *w)
{
    return (w->range.row_end - w->range.row) * (w->range.col_end - w->range.col);
}

/* ---- greatest, least ---- */

/* Magnitudes of one float format are ordered as their codes without the sign are. */
static uint64_t greatest_magnitude(operand_walk *w, bool nan_wins)
{
    const assay_format *f = w->expr->type.format;
    assert(w->expr->arg[0]->type.format == f && f->kind == ASSAY_KIND_FLOAT);
    uint64_t magnitude_mask = assay_format_sign_bit(f) - 1;
    uint64_t infinity = assay_format_inf_code(f, false), best = 0;
    bool nan = false;
    while (step(w)) {
        uint64_t magnitude = operand(w, 0) & magnitude_mask;
        if (magnitude > infinity)
            nan = true;
        else if (magnitude > best)
            best = magnitude;
    }
    return nan && nan_wins ? exact_nan(w->run, f) : best;
}

/* The fold of the two-argument form, from a value that loses to every other: for floats the first
 * operand (a NaN is made canonical, also alone). Of nothing: what a NaN becomes in the format; the
 * end of an integer type. */
static uint64_t fold_select(operand_walk *w, bool maximum)
{
    assay_type t = w->expr->type;
    if (t.kind == ASSAY_T_FORMAT) {
        uint64_t best = step(w) ? operand(w, 0) : exact_nan(w->run, t.format);
        while (step(w))
            best = exact_select(w->run, t.format, maximum, best, operand(w, 0));
        return exact_is_nan(t.format, best) ? exact_nan(w->run, t.format) : best;
    }
    uint64_t best = t.kind == ASSAY_T_I32   ? (maximum ? 0x80000000u : 0x7FFFFFFFu)
                    : maximum               ? 0
                    : t.kind == ASSAY_T_U64 ? UINT64_MAX
                                            : UINT32_MAX;
    while (step(w))
        best = exact_select_integer(t, maximum, best, operand(w, 0));
    return best;
}

static uint64_t count_true(operand_walk *w)
{
    uint64_t n = 0;
    while (step(w))
        n += operand(w, 0) != 0;
    return n;
}

/* ---- sums ---- */

static uint64_t sum_in_sequence(operand_walk *w)
{
    const assay_format *f = w->expr->type.format;
    uint64_t acc = 0;
    while (step(w)) {
        uint64_t a = operand(w, 0);
        acc = w->expr->op == ASSAY_OP_RED_DOT ? exact_fma(w->run, f, a, operand(w, 1), acc)
                                              : exact_add(w->run, f, acc, a);
    }
    return acc;
}

/* The sum of all terms, rounded once: `wide` holds every partial sum without rounding. Zero is -0
 * only if every term is. */
static void start_exact_sum(exact_run *run)
{
    mpfr_set_zero(run->wide, -1);
}

static void add_exactly(exact_run *run, mpfr_srcptr term)
{
    int ternary = mpfr_add(run->wide, run->wide, term, MPFR_RNDZ);
    assert(ternary == 0);
    (void)ternary;
}

static uint64_t finish_exact_sum(exact_run *run, const assay_format *f, bool empty)
{
    if (empty)
        return 0;
    return exact_encode(run, f, mpfr_set(run->x.v, run->wide, MPFR_RNDZ));
}

static uint64_t sum_exactly(operand_walk *w)
{
    exact_run *run = w->run;
    bool dot = w->expr->op == ASSAY_OP_RED_DOT;
    start_exact_sum(run);
    while (step(w)) {
        uint64_t a = operand(w, 0), b = dot ? operand(w, 1) : 0;
        exact_load(run->a, w->expr->arg[0]->type.format, a);
        if (dot) {
            exact_load(run->b, w->expr->arg[1]->type.format, b);
            int ternary = mpfr_mul(run->x.v, run->a, run->b, MPFR_RNDZ);
            assert(ternary == 0);
            (void)ternary;
        } else {
            mpfr_set(run->x.v, run->a, MPFR_RNDZ);
        }
        add_exactly(run, run->x.v);
    }
    return finish_exact_sum(run, w->expr->type.format, operand_count(w) == 0);
}

/* Terms lo, lo+stride, ... (n of them, a power of two) of the list padded with -0. `tree` pairs
 * v[i] with v[i + n/2], `pairs` v[2i] with v[2i+1], and so does each later round with the results:
 * either way one sum is that of two sub-lists of half the length. */
static uint64_t sum_halves(exact_run *run, const assay_expr *e, const uint64_t *v, int64_t count,
                           int64_t lo, int64_t stride, int64_t n)
{
    const assay_format *f = e->type.format;
    if (n == 1)
        return lo < count ? v[lo] : assay_format_sign_bit(f);
    int64_t half = n / 2;
    uint64_t a, b;
    if (e->u.reduce.order == ASSAY_SUM_TREE) { /* the last addition joins even and odd terms */
        a = sum_halves(run, e, v, count, lo, 2 * stride, half);
        b = sum_halves(run, e, v, count, lo + stride, 2 * stride, half);
    } else { /* the last addition joins the first and the second half */
        a = sum_halves(run, e, v, count, lo, stride, half);
        b = sum_halves(run, e, v, count, lo + half * stride, stride, half);
    }
    return exact_add(run, f, a, b);
}

static uint64_t sum_in_tree(operand_walk *w)
{
    const assay_format *f = w->expr->type.format;
    int64_t count = operand_count(w), n = 1;
    if (count == 0)
        return 0;
    uint64_t *v = calloc((size_t)count, sizeof *v);
    if (!v) {
        w->run->out_of_memory = true;
        return 0;
    }
    for (int64_t i = 0; step(w); i++)
        v[i] = operand(w, 0);
    while (n < count)
        n *= 2;
    uint64_t sum = sum_halves(w->run, w->expr, v, count, 0, 1, n);
    free(v);
    return exact_is_nan(f, sum) ? exact_nan(w->run, f) : sum; /* one term alone was not added */
}

exact_cell exact_reduce(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    operand_walk w = start_walk(run, e, at);
    uint64_t bits;
    switch (e->op) {
    case ASSAY_OP_RED_AMAX:
    case ASSAY_OP_RED_AMAX_NAN:
        bits = greatest_magnitude(&w, e->op == ASSAY_OP_RED_AMAX_NAN);
        break;
    case ASSAY_OP_RED_MAX:
    case ASSAY_OP_RED_MIN:
        bits = fold_select(&w, e->op == ASSAY_OP_RED_MAX);
        break;
    case ASSAY_OP_RED_ANY:
        bits = count_true(&w) != 0;
        break;
    case ASSAY_OP_RED_ALL:
        bits = count_true(&w) == (uint64_t)operand_count(&w);
        break;
    case ASSAY_OP_RED_COUNT:
        bits = count_true(&w) & UINT32_MAX;
        break;
    default:
        if (e->u.reduce.order == ASSAY_SUM_EXACT)
            bits = sum_exactly(&w);
        else if (e->u.reduce.order == ASSAY_SUM_SEQ)
            bits = sum_in_sequence(&w);
        else
            bits = sum_in_tree(&w);
    }
    return (exact_cell){bits, w.marked};
}

/* ---- hadamard, rotate: position j of a run gets the sum over its positions i of w(i, j) e_i ---- */

/* The operands of the run that holds an element; kept for the run's other elements. */
static const exact_transform_cache *run_operands(exact_run *run, const assay_expr *e, int64_t row,
                                                 int64_t col, bool along_row)
{
    exact_transform_cache *cache = &run->cache;
    if (!run->see && cache->expr == e && cache->row == row && cache->col == col)
        return cache;
    exact_transform_cache fresh = {.expr = e, .row = row, .col = col};
    int64_t n = along_row ? e->u.transform.run.cols : e->u.transform.run.rows;
    int64_t left = along_row ? run->cols - col : run->rows - row;
    fresh.count = (int)(n < left ? n : left);
    assert(fresh.count <= EXACT_RUN_MAX);
    for (int i = 0; i < fresh.count; i++) {
        exact_spot at = {{1, 1}, along_row ? row : row + i, along_row ? col + i : col};
        fresh.cell[i] = exact_node(run, e->arg[0], &at);
    }
    *cache = fresh;
    return cache;
}

static bool hadamard_negates(uint32_t mask, int i, int64_t j)
{
    return __builtin_parity((unsigned)i & (unsigned)j) != (int)(mask >> i & 1);
}

/* w(i, j) e_i, exact, into run->x.v. */
static void transform_term(exact_run *run, const assay_expr *e, uint64_t code, int i, int64_t j)
{
    exact_load(run->a, e->arg[0]->type.format, code);
    if (e->op == ASSAY_OP_HADAMARD) {
        mpfr_set(run->x.v, run->a, MPFR_RNDZ);
        if (hadamard_negates(e->u.transform.mask, i, j))
            mpfr_neg(run->x.v, run->x.v, MPFR_RNDZ);
        return;
    }
    int table = e->u.transform.table;
    exact_load(run->b, run->program->values[table].type.format, exact_read_at(run, table, i, j));
    int ternary = mpfr_mul(run->x.v, run->a, run->b, MPFR_RNDZ);
    assert(ternary == 0);
    (void)ternary;
}

exact_cell exact_transform(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    assay_tile shape = e->u.transform.run;
    bool along_row = shape.rows == 1;
    int64_t j = along_row ? at->col % shape.cols : at->row % shape.rows;
    const exact_transform_cache *operands =
        run_operands(run, e, along_row ? at->row : at->row - j, along_row ? at->col - j : at->col,
                     along_row);
    exact_cell result = {0, false};
    bool special = false; /* NaN or Inf inside */
    start_exact_sum(run);
    for (int i = 0; i < operands->count; i++) {
        result.marked |= operands->cell[i].marked;
        transform_term(run, e, operands->cell[i].bits, i, j);
        special |= !mpfr_number_p(run->x.v);
        if (!special)
            add_exactly(run, run->x.v);
    }
    if (special)
        mpfr_set_nan(run->wide);
    result.bits = finish_exact_sum(run, e->type.format, operands->count == 0);
    return result;
}
