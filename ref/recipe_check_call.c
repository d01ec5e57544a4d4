/* Functions: one table row each; casts and reductions have files of their own. */
#include <string.h>

#include "recipe_check.h"

typedef struct function function;
struct function {
    const char *name;
    int least, most; /* arguments; most -1: options may follow */
    assay_expr *(*check)(checker *c, const syn *call, const function *row);
    assay_op op;
};

static void arguments(checker *c, const syn *call, int count, assay_expr **arg)
{
    for (int i = 0; i < count; i++)
        arg[i] = check_expr(c, call->arg[i]);
}

/* add sub mul div fma sqrt rint: options of section 8 without stochastic, and ftz of f32. */
static assay_expr *check_arith(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[3];
    arguments(c, call, row->least, arg);
    assay_type type = check_arithmetic(c, call->at, row->least, arg);
    bool rint = row->op == ASSAY_OP_RINT;
    check_options o = check_read_options(c, call, row->least,
                                         rint ? OPTION_MODE : OPTION_MODE | OPTION_FTZ, type.format);
    if (rint && (o.cast.mode == ASSAY_TIES_ZERO || o.cast.mode == ASSAY_ODD))
        check_fail(c, call->arg[row->least]->at, "expected even, away, zero, up or down");
    if (o.cast.ftz && strcmp(type.format->name, "f32"))
        check_fail(c, call->at, "expected f32: ftz flushes f32 only");
    assay_expr *e = check_node(c, row->op, type, call->at, row->least, arg);
    e->u.arith.mode = o.cast.mode;
    e->u.arith.ftz = o.cast.ftz;
    return e;
}

/* exp exp2 log2 flush clamp: one float type in and out. */
static assay_expr *check_float(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[3];
    arguments(c, call, row->least, arg);
    assay_type type = check_arithmetic(c, call->at, row->least, arg);
    return check_node(c, row->op, type, call->at, row->least, arg);
}

static void only_f32(checker *c, token at, assay_type type)
{
    if (!assay_type_equal(type, check_f32()))
        check_fail(c, at, "cannot round %s", check_type_name(type));
}

static assay_expr *check_f32_function(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[2];
    arguments(c, call, row->least, arg);
    only_f32(c, call->at, check_arithmetic(c, call->at, row->least, arg));
    return check_node(c, row->op, check_f32(), call->at, row->least, arg);
}

static assay_expr *check_approx_call(checker *c, const syn *call, const function *row)
{
    assay_expr *v = check_expr(c, call->arg[0]);
    only_f32(c, call->at, check_arithmetic(c, call->at, 1, &v));
    assay_expr *e = check_node(c, row->op, check_f32(), call->at, 1, &v);
    e->u.approx.n =
        (int)check_constant(c, call->arg[1], 1, 1000000, "a number of f32 steps, at least 1");
    return e;
}

static assay_expr *check_ldexp(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[2] = {check_expr(c, call->arg[0])};
    assay_type type = check_arithmetic(c, call->at, 1, arg);
    arg[1] = check_integer(c, call->arg[1], ASSAY_T_I32);
    return check_node(c, row->op, type, call->at, 2, arg);
}

static assay_expr *check_pow2(checker *c, const syn *call, const function *row)
{
    assay_expr *arg = check_integer(c, call->arg[0], ASSAY_T_I32);
    return check_node(c, row->op, check_f32(), call->at, 1, &arg);
}

assay_type check_sign_type(assay_type t)
{
    static const char *const kept[] = {"f64", "f32", "f16", "bf16"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(t.format->name, kept[i]))
            return t;
    return check_f32();
}

assay_expr *check_sign_bit(checker *c, token at, assay_op op, assay_expr *e)
{
    if (!check_is_float(e->type))
        check_need_conversion(c, at, e->type, check_f32());
    e = check_widen(c, e, check_sign_type(e->type));
    return check_node(c, op, e->type, at, 1, &e);
}

static assay_expr *check_abs(checker *c, const syn *call, const function *row)
{
    return check_sign_bit(c, call->at, row->op, check_typed(c, call->arg[0]));
}

/* The sign is read from the second argument's own code, whatever its format. */
static assay_expr *check_copysign(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[2] = {check_typed(c, call->arg[0]), check_typed(c, call->arg[1])};
    for (int i = 0; i < 2; i++)
        if (!check_is_float(arg[i]->type))
            check_need_conversion(c, call->at, arg[0]->type, arg[1]->type);
    arg[0] = check_widen(c, arg[0], check_sign_type(arg[0]->type));
    return check_node(c, row->op, arg[0]->type, call->at, 2, arg);
}

/* signbit isnan isinf exponent bits: of a float in its own format. */
static assay_expr *check_look(checker *c, const syn *call, const function *row)
{
    assay_expr *e = check_typed(c, call->arg[0]);
    if (!check_is_float(e->type))
        check_need_conversion(c, call->at, e->type, check_f32());
    assay_type_kind kind = row->op == ASSAY_OP_EXPONENT ? ASSAY_T_I32 : ASSAY_T_BOOL;
    if (row->op == ASSAY_OP_BITS)
        kind = assay_format_width(e->type.format) > 32 ? ASSAY_T_U64 : ASSAY_T_U32;
    return check_node(c, row->op, check_kind_type(kind), call->at, 1, &e);
}

static assay_expr *check_min_max(checker *c, const syn *call, const function *row)
{
    if (call->argc == 1)
        return check_reduction(c, call,
                               row->op == ASSAY_OP_MIN ? ASSAY_OP_RED_MIN : ASSAY_OP_RED_MAX);
    assay_expr *arg[2];
    arguments(c, call, 2, arg);
    assay_type type = check_unify(c, call->at, &arg[0], &arg[1]);
    if (type.kind == ASSAY_T_BOOL)
        check_need_conversion(c, call->at, arg[0]->type, check_f32());
    return check_node(c, row->op, type, call->at, 2, arg);
}

static assay_expr *check_code(checker *c, const syn *call, const function *row)
{
    token name = check_substitute(c, call->arg[0]->at);
    const assay_format *f = call->arg[0]->kind == SYN_NAME ? assay_format_find(name.text) : NULL;
    if (!f)
        check_fail(c, call->arg[0]->at, "expected a format");
    assay_expr *i = check_expr(c, call->arg[1]);
    check_settle(c, i, check_kind_type(assay_format_width(f) > 32 ? ASSAY_T_U64 : ASSAY_T_U32));
    if (!check_is_integer(i->type))
        check_need_conversion(c, call->at, i->type, check_kind_type(ASSAY_T_U32));
    return check_node(c, row->op, check_format_type(f), call->at, 1, &i);
}

static assay_expr *check_to_integer(checker *c, const syn *call, const function *row)
{
    static const assay_type_kind kinds[] = {ASSAY_T_U32, ASSAY_T_I32, ASSAY_T_U64};
    assay_type type = check_kind_type(kinds[row->op - ASSAY_OP_TO_U32]);
    assay_expr *e = check_expr(c, call->arg[0]);
    if (check_is_literal(e) && e->op == ASSAY_OP_CONST) {
        check_settle(c, e, type);
        e->u.constant.text =
            assay_arena_format(c->arena, "%s(%s)", row->name, e->u.constant.text);
        return e;
    }
    check_settle(c, e, type);
    return check_node(c, row->op, type, call->at, 1, &e);
}

static assay_expr *check_xor(checker *c, const syn *call, const function *row)
{
    assay_expr *a = check_expr(c, call->arg[0]);
    return check_binary(c, call->at, row->op, a, check_expr(c, call->arg[1]));
}

static assay_expr *check_any_integer(checker *c, const syn *s, assay_type_kind literal_kind)
{
    assay_expr *e = check_expr(c, s);
    check_settle(c, e, check_kind_type(literal_kind));
    if (!check_is_integer(e->type))
        check_need_conversion(c, check_place(e), e->type, check_kind_type(literal_kind));
    return e;
}

static assay_expr *check_at(checker *c, const syn *call, const function *row)
{
    if (call->arg[0]->kind != SYN_NAME)
        check_fail(c, call->arg[0]->at, "expected the name of an input");
    int v = check_find_input(c, call->arg[0]->at);
    assay_expr *arg[2];
    for (int i = 0; i < 2; i++)
        arg[i] = check_any_integer(c, call->arg[i + 1], ASSAY_T_I32);
    assay_expr *e = check_node(c, row->op, c->p->values[v].type, call->at, 2, arg);
    e->u.value = v;
    return e;
}

static assay_expr *check_philox(checker *c, const syn *call, const function *row)
{
    assay_expr *arg[4];
    for (int i = 0; i < 3; i++)
        arg[i] = check_integer(c, call->arg[i], ASSAY_T_U64);
    arg[3] = check_any_integer(c, call->arg[3], ASSAY_T_U32);
    return check_node(c, row->op, check_kind_type(ASSAY_T_U32), call->at, 4, arg);
}

static assay_expr *check_reduce_row(checker *c, const syn *call, const function *row)
{
    return check_reduction(c, call, row->op);
}
static assay_expr *check_sum_row(checker *c, const syn *call, const function *row)
{
    return check_sum(c, call, row->op);
}
static assay_expr *check_transform_row(checker *c, const syn *call, const function *row)
{
    return check_transform(c, call, row->op);
}

static const function functions[] = {
    {"add", 2, -1, check_arith, ASSAY_OP_ADD},
    {"sub", 2, -1, check_arith, ASSAY_OP_SUB},
    {"mul", 2, -1, check_arith, ASSAY_OP_MUL},
    {"div", 2, -1, check_arith, ASSAY_OP_DIV},
    {"fma", 3, -1, check_arith, ASSAY_OP_FMA},
    {"sqrt", 1, -1, check_arith, ASSAY_OP_SQRT},
    {"rint", 1, -1, check_arith, ASSAY_OP_RINT},
    {"exp", 1, 1, check_float, ASSAY_OP_EXP},
    {"exp2", 1, 1, check_float, ASSAY_OP_EXP2},
    {"log2", 1, 1, check_float, ASSAY_OP_LOG2},
    {"flush", 1, 1, check_float, ASSAY_OP_FLUSH},
    {"clamp", 3, 3, check_float, ASSAY_OP_CLAMP},
    {"ldexp", 2, 2, check_ldexp, ASSAY_OP_LDEXP},
    {"pow2", 1, 1, check_pow2, ASSAY_OP_POW2},
    {"rcp_approx", 1, 1, check_f32_function, ASSAY_OP_RCP_APPROX},
    {"div_full", 2, 2, check_f32_function, ASSAY_OP_DIV_FULL},
    {"approx", 2, 2, check_approx_call, ASSAY_OP_APPROX},
    {"abs", 1, 1, check_abs, ASSAY_OP_ABS},
    {"copysign", 2, 2, check_copysign, ASSAY_OP_COPYSIGN},
    {"signbit", 1, 1, check_look, ASSAY_OP_SIGNBIT},
    {"isnan", 1, 1, check_look, ASSAY_OP_ISNAN},
    {"isinf", 1, 1, check_look, ASSAY_OP_ISINF},
    {"exponent", 1, 1, check_look, ASSAY_OP_EXPONENT},
    {"bits", 1, 1, check_look, ASSAY_OP_BITS},
    {"min", 1, 2, check_min_max, ASSAY_OP_MIN},
    {"max", 1, 2, check_min_max, ASSAY_OP_MAX},
    {"code", 2, 2, check_code, ASSAY_OP_CODE},
    {"u32", 1, 1, check_to_integer, ASSAY_OP_TO_U32},
    {"i32", 1, 1, check_to_integer, ASSAY_OP_TO_I32},
    {"u64", 1, 1, check_to_integer, ASSAY_OP_TO_U64},
    {"xor", 2, 2, check_xor, ASSAY_OP_IXOR},
    {"at", 3, 3, check_at, ASSAY_OP_AT},
    {"philox", 4, 4, check_philox, ASSAY_OP_PHILOX},
    {"hadamard", 3, 3, check_transform_row, ASSAY_OP_HADAMARD},
    {"rotate", 3, 3, check_transform_row, ASSAY_OP_ROTATE},
    {"amax", 1, 1, check_reduce_row, ASSAY_OP_RED_AMAX},
    {"amax_nan", 1, 1, check_reduce_row, ASSAY_OP_RED_AMAX_NAN},
    {"any", 1, 1, check_reduce_row, ASSAY_OP_RED_ANY},
    {"all", 1, 1, check_reduce_row, ASSAY_OP_RED_ALL},
    {"count", 1, 1, check_reduce_row, ASSAY_OP_RED_COUNT},
    {"sum", 2, 2, check_sum_row, ASSAY_OP_RED_SUM},
    {"dot", 3, 3, check_sum_row, ASSAY_OP_RED_DOT},
};

assay_expr *check_call(checker *c, const syn *call)
{
    token name = check_substitute(c, call->at);
    const assay_format *f = name.kind == TOKEN_NAME ? assay_format_find(name.text) : NULL;
    if (f)
        return check_cast(c, call, f);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const function *row = &functions[i];
        if (strcmp(row->name, name.text))
            continue;
        if (call->argc < row->least || (row->most >= 0 && call->argc > row->most))
            check_fail(c, call->at, "expected %d argument%s of %s", row->least,
                       row->least == 1 ? "" : "s", row->name);
        return row->check(c, call, row);
    }
    check_fail(c, call->at, "there is no function %s", name.text);
}
