/* Reductions over a tile, and the transforms of runs of elements. */
#include <string.h>

#include "recipe_check.h"

bool assay_tile_sees(assay_tile inner, assay_tile outer)
{
    bool rows = outer.rows == 0 || (inner.rows != 0 && outer.rows % inner.rows == 0);
    bool cols = outer.cols == 0 || (inner.cols != 0 && outer.cols % inner.cols == 0);
    return rows && cols;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* V: the common tiling of the names in an expression. */
static void gather(checker *c, const syn *e, assay_tile *v)
{
    bool first_is_input = e->kind == SYN_CALL && !strcmp(e->at.text, "at");
    if (e->kind == SYN_NAME && !recipe_is_param(c->scope->r, e->at.text)) {
        int value = check_find(c, e->at.text);
        if (value >= 0 && !c->p->values[value].is_table) {
            v->rows = gcd(v->rows, c->p->values[value].tile.rows);
            v->cols = gcd(v->cols, c->p->values[value].tile.cols);
        }
    }
    for (int i = first_is_input; i < e->argc; i++)
        gather(c, e->arg[i], v);
}

static void enter(checker *c, token at)
{
    if (c->inside)
        check_fail(c, at, "a reduction inside a reduction: give the inner one a name");
    c->inside = true;
}

/* Evaluates the first `count` arguments on V and goes back to the section's tile. */
static assay_tile reduce_arguments(checker *c, const syn *call, int count, assay_expr **arg)
{
    enter(c, call->at);
    assay_tile section = c->tile, over = {0, 0};
    for (int i = 0; i < count; i++)
        gather(c, call->arg[i], &over);
    if (!assay_tile_sees(over, section) || assay_tile_equal(over, section))
        check_fail(c, call->at, "nothing finer to reduce here");
    c->tile = over;
    for (int i = 0; i < count; i++)
        arg[i] = check_typed(c, call->arg[i]);
    return over;
}

static assay_expr *leave(checker *c, assay_op op, assay_type type, token at, int argc,
                         assay_expr **arg, assay_tile section)
{
    c->tile = section;
    c->inside = false;
    return check_node(c, op, type, at, argc, arg);
}

assay_expr *check_reduction(checker *c, const syn *call, assay_op op)
{
    assay_tile section = c->tile;
    assay_expr *e;
    assay_tile over = reduce_arguments(c, call, 1, &e);
    assay_type type = e->type;
    bool wants_bool = op == ASSAY_OP_RED_ANY || op == ASSAY_OP_RED_ALL || op == ASSAY_OP_RED_COUNT;
    bool amax = op == ASSAY_OP_RED_AMAX || op == ASSAY_OP_RED_AMAX_NAN;
    if (wants_bool && type.kind != ASSAY_T_BOOL)
        check_fail(c, check_place(e), "the condition is not a bool");
    if (!wants_bool && (type.kind == ASSAY_T_BOOL || (amax && !check_is_float(type))))
        check_need_conversion(c, check_place(e), type, check_f32());
    if (amax) {
        e = check_widen(c, e, check_sign_type(type));
        type = e->type;
    }
    if (op == ASSAY_OP_RED_COUNT)
        type = check_kind_type(ASSAY_T_U32);
    assay_expr *n = leave(c, op, type, call->at, 1, &e, section);
    n->u.reduce.over = over;
    return n;
}

static assay_sum_order check_order(checker *c, const syn *s, bool dot)
{
    static const char *const orders[] = {[ASSAY_SUM_SEQ] = "seq", [ASSAY_SUM_TREE] = "tree",
                                         [ASSAY_SUM_PAIRS] = "pairs", [ASSAY_SUM_EXACT] = "exact"};
    token t = s->kind == SYN_NAME ? check_substitute(c, s->at) : s->at;
    for (int i = 0; i < 4; i++)
        if (s->kind == SYN_NAME && !strcmp(orders[i], t.text) &&
            (!dot || i == ASSAY_SUM_SEQ || i == ASSAY_SUM_EXACT))
            return (assay_sum_order)i;
    check_fail(c, s->at, dot ? "expected seq or exact" : "expected seq, tree, pairs or exact");
}

assay_expr *check_sum(checker *c, const syn *call, assay_op op)
{
    bool dot = op == ASSAY_OP_RED_DOT;
    int count = dot ? 2 : 1;
    assay_tile section = c->tile;
    assay_expr *arg[2];
    assay_tile over = reduce_arguments(c, call, count, arg);
    assay_type type = check_arithmetic(c, call->at, count, arg);
    assay_expr *n = leave(c, op, type, call->at, count, arg, section);
    n->u.reduce.over = over;
    n->u.reduce.order = check_order(c, call->arg[count], dot);
    return n;
}

static assay_tile check_run(checker *c, const syn *s)
{
    assay_tile run = {0, 0};
    if (s->kind == SYN_SHAPE || s->kind == SYN_NAME)
        run = check_shape(c, s->at);
    int64_t n = run.rows * run.cols;
    if ((run.rows != 1 && run.cols != 1) || n < 2 || n > 32 || (n & (n - 1)))
        check_fail(c, s->at, "expected a run 1xn or nx1 with n = 2, 4, 8, 16 or 32");
    return run;
}

assay_expr *check_transform(checker *c, const syn *call, assay_op op)
{
    const assay_tile element = {1, 1};
    if (!assay_tile_equal(c->tile, element))
        check_fail(c, call->at, "expected an element section around %s", call->at.text);
    enter(c, call->at);
    assay_tile run = check_run(c, call->arg[1]);
    int n = (int)(run.rows * run.cols);
    assay_expr *e = check_expr(c, call->arg[0]);
    if (!assay_type_equal(check_arithmetic(c, call->at, 1, &e), check_f32()))
        check_fail(c, call->at, "cannot round %s", check_type_name(e->type));
    assay_expr *t = leave(c, op, check_f32(), call->at, 1, &e, element);
    t->u.transform.run = run;
    t->u.transform.table = -1;
    if (op == ASSAY_OP_HADAMARD) {
        t->u.transform.mask = (uint32_t)check_constant(c, call->arg[2], 0, (UINT64_C(1) << n) - 1,
                                                       "a mask with one bit for each position");
        return t;
    }
    const syn *table = call->arg[2];
    if (table->kind != SYN_NAME)
        check_fail(c, table->at, "expected the name of a table");
    t->u.transform.table = check_find_input(c, table->at);
    const assay_value *w = &c->p->values[t->u.transform.table];
    if (!w->is_table || w->table_rows != n || w->table_cols != n || !check_is_float(w->type))
        check_fail(c, table->at, "expected a table %dx%d of numbers", n, n);
    return t;
}
