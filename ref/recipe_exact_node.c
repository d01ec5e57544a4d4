/* One node of a recipe: its arguments first, then the operation, then the mark. */
#include "recipe_exact.h"

/* An operand that is read as a number only may be read before its exact widening. */
static const assay_expr *source_of(const exact_run *run, const assay_expr *e, int k)
{
    const assay_expr *arg = e->arg[k];
    if (!run->see && arg->op == ASSAY_OP_WIDEN && exact_op_computes(e->op))
        return arg->arg[0];
    return arg;
}

static uint64_t gather(const exact_run *run, const assay_expr *e, const uint64_t *bits)
{
    int64_t index[2];
    for (int k = 0; k < 2; k++) {
        index[k] = exact_signed(e->arg[k]->type, bits[k]);
        if (index[k] < 0) /* negative, or a u64 beyond every matrix */
            return 0;
    }
    return exact_read_at(run, e->u.value, index[0], index[1]);
}

static uint64_t approximate(const exact_run *run, const assay_expr *e, uint64_t bits)
{
    const assay_format *f = e->type.format;
    if (exact_is_nan(f, bits))
        return exact_nan(run, f);
    int choice = run->choices ? run->choices[e->u.approx.index] : 0;
    return exact_approx_value(f, bits, choice);
}

static uint64_t compute(exact_run *run, const assay_expr *e, const exact_operand *args)
{
    uint64_t bits[4] = {args[0].bits, args[1].bits, args[2].bits, args[3].bits};
    switch (e->op) {
    case ASSAY_OP_AND:
        return bits[0] & bits[1];
    case ASSAY_OP_OR:
        return bits[0] | bits[1];
    case ASSAY_OP_NOT:
        return !bits[0];
    case ASSAY_OP_BITS:
        return bits[0];
    case ASSAY_OP_CODE: {
        int width = assay_format_width(e->type.format);
        return width >= 64 ? bits[0] : bits[0] & ((UINT64_C(1) << width) - 1);
    }
    case ASSAY_OP_CAST:
        return exact_cast(run, e, bits[0], bits[1]);
    case ASSAY_OP_TO_U8:
        return bits[0] & 0xFF;
    case ASSAY_OP_TO_U32:
    case ASSAY_OP_TO_I32:
    case ASSAY_OP_TO_U64:
        return exact_to_integer(run, e, bits[0]);
    case ASSAY_OP_AT:
        return gather(run, e, bits);
    case ASSAY_OP_PHILOX:
        return exact_philox(bits[0], bits[1], bits[2], bits[3]);
    case ASSAY_OP_APPROX:
        return approximate(run, e, bits[0]);
    case ASSAY_OP_RCP_APPROX:
        return exact_rcp_approx(run, bits[0]);
    case ASSAY_OP_DIV_FULL:
        return exact_div_full(run, bits[0], bits[1]);
    case ASSAY_OP_MIN:
    case ASSAY_OP_MAX:
        if (e->type.kind == ASSAY_T_FORMAT)
            return exact_select(run, e->type.format, e->op == ASSAY_OP_MAX, bits[0], bits[1]);
        return exact_select_integer(e->type, e->op == ASSAY_OP_MAX, bits[0], bits[1]);
    case ASSAY_OP_EQ:
    case ASSAY_OP_NE:
    case ASSAY_OP_LT:
    case ASSAY_OP_LE:
    case ASSAY_OP_GT:
    case ASSAY_OP_GE:
        if (args[0].format)
            return exact_compare(run, e->op, args);
        return exact_compare_integers(e->op, e->arg[0]->type, bits[0], bits[1]);
    default:
        if (exact_op_is_integer(e->op))
            return exact_integer_op(e, bits);
        return exact_float_op(run, e, args);
    }
}

static exact_cell operation(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    exact_operand args[4] = {{0, NULL}, {0, NULL}, {0, NULL}, {0, NULL}};
    exact_cell result = {0, false};
    for (int k = 0; k < e->argc; k++) {
        const assay_expr *source = source_of(run, e, k);
        exact_cell cell = exact_node(run, source, at);
        args[k] = (exact_operand){cell.bits, source->type.format};
        result.marked |= cell.marked;
    }
    result.bits = compute(run, e, args);
    return result;
}

/* Only the branch taken is evaluated, and only its mark counts. */
static exact_cell choose(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    exact_cell condition = exact_node(run, e->arg[0], at);
    exact_cell taken = exact_node(run, e->arg[condition.bits ? 1 : 2], at);
    taken.marked |= condition.marked;
    return taken;
}

static exact_cell evaluate(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    switch (e->op) {
    case ASSAY_OP_CONST:
        return (exact_cell){e->u.constant.bits, false};
    case ASSAY_OP_VALUE:
        return exact_read(run, e->u.value, at);
    case ASSAY_OP_ROW:
        return (exact_cell){(uint64_t)at->row, false};
    case ASSAY_OP_COL:
        return (exact_cell){(uint64_t)at->col, false};
    case ASSAY_OP_INDEX:
        return (exact_cell){(uint64_t)at->row * (uint64_t)run->k + (uint64_t)at->col, false};
    case ASSAY_OP_DIM_M:
        return (exact_cell){(uint64_t)run->m, false};
    case ASSAY_OP_DIM_K:
        return (exact_cell){(uint64_t)run->k, false};
    case ASSAY_OP_IF:
        return choose(run, e, at);
    case ASSAY_OP_HADAMARD:
    case ASSAY_OP_ROTATE:
        return exact_transform(run, e, at);
    case ASSAY_OP_RED_AMAX:
    case ASSAY_OP_RED_AMAX_NAN:
    case ASSAY_OP_RED_MAX:
    case ASSAY_OP_RED_MIN:
    case ASSAY_OP_RED_ANY:
    case ASSAY_OP_RED_ALL:
    case ASSAY_OP_RED_COUNT:
    case ASSAY_OP_RED_SUM:
    case ASSAY_OP_RED_DOT:
        return exact_reduce(run, e, at);
    default:
        return operation(run, e, at);
    }
}

exact_cell exact_node(exact_run *run, const assay_expr *e, const exact_spot *at)
{
    if (!run->see)
        return evaluate(run, e, at);
    run->depth++;
    exact_cell cell = evaluate(run, e, at);
    run->depth--;
    bool rounded = exact_op_rounds(e->op) ||
                   (e->op == ASSAY_OP_RED_SUM && e->u.reduce.order == ASSAY_SUM_EXACT);
    assay_seen seen = {.statement = run->statement,
                       .expr = e,
                       .depth = run->depth,
                       .bits = cell.bits,
                       .marked = cell.marked,
                       .exact = rounded ? &run->x : NULL,
                       .tile_row = at->row,
                       .tile_col = at->col};
    if (run->depth == 0 && seen.statement->kind == ASSAY_ASSIGN)
        seen.marked = exact_is_marked(run, seen.statement->target, at->row, at->col);
    run->see(run->see_context, &seen);
    return cell;
}
