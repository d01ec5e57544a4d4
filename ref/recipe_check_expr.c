/* Expressions: names, operators, types, the conversions that the language makes silently. */
#include <string.h>

#include "recipe_check.h"

/* ---- types ---- */

bool check_is_literal(const assay_expr *e)
{
    return (int)e->type.kind == T_LITERAL;
}
bool check_is_float(assay_type t)
{
    return t.kind == ASSAY_T_FORMAT;
}
bool check_is_integer(assay_type t)
{
    return t.kind == ASSAY_T_U32 || t.kind == ASSAY_T_I32 || t.kind == ASSAY_T_U64;
}
assay_type check_format_type(const assay_format *f)
{
    return (assay_type){ASSAY_T_FORMAT, f};
}
assay_type check_kind_type(assay_type_kind kind)
{
    return (assay_type){kind, NULL};
}
assay_type check_f32(void)
{
    return check_format_type(assay_format_find("f32"));
}
static assay_type f64_type(void)
{
    return check_format_type(assay_format_find("f64"));
}

const char *check_type_name(assay_type t)
{
    return (int)t.kind == T_LITERAL ? "a number" : assay_type_name(t);
}

token check_place(const assay_expr *e)
{
    return (token){.kind = TOKEN_NAME, .line = e->place.line, .column = e->place.column};
}

void check_need_conversion(checker *c, token at, assay_type a, assay_type b)
{
    check_fail(c, at, "%s and %s need an explicit conversion", check_type_name(a),
               check_type_name(b));
}

assay_expr *check_node(checker *c, assay_op op, assay_type type, token at, int argc,
                       assay_expr *const *arg)
{
    assay_expr *e = assay_arena_alloc(c->arena, sizeof *e);
    e->op = op;
    e->type = type;
    e->tile = c->tile;
    e->argc = argc;
    for (int i = 0; i < argc; i++)
        e->arg[i] = arg[i];
    e->place = (assay_place){c->scope->file, at.line, at.column};
    return e;
}

void check_settle(checker *c, assay_expr *e, assay_type type)
{
    if (!check_is_literal(e))
        return;
    if (type.kind == ASSAY_T_BOOL)
        check_need_conversion(c, check_place(e), e->type, type);
    if (e->op == ASSAY_OP_CONST)
        e->u.constant.bits = check_literal_bits(
            c, e, type, check_is_float(type) && assay_format_precision(type.format) < 24);
    for (int i = 0; i < e->argc; i++)
        check_settle(c, e->arg[i], type); /* the condition of an if is no literal */
    e->type = type;
}

assay_expr *check_widen(checker *c, assay_expr *e, assay_type type)
{
    if (check_is_literal(e))
        check_settle(c, e, type);
    if (assay_type_equal(e->type, type))
        return e;
    return check_node(c, ASSAY_OP_WIDEN, type, check_place(e), 1, &e);
}

assay_type check_arithmetic(checker *c, token at, int count, assay_expr **e)
{
    assay_type type = check_f32();
    for (int i = 0; i < count; i++) {
        if (!check_is_literal(e[i]) && !check_is_float(e[i]->type))
            check_need_conversion(c, at, e[i < 2 ? 0 : i]->type,
                                  count == 1 ? type : e[i < 2 ? 1 : 0]->type);
        if (assay_type_equal(e[i]->type, f64_type()))
            type = f64_type();
    }
    for (int i = 0; i < count; i++)
        e[i] = check_widen(c, e[i], type);
    return type;
}

assay_type check_integers(checker *c, token at, assay_expr **a, assay_expr **b)
{
    assay_type type = check_is_literal(*a) ? (*b)->type : (*a)->type;
    if (!check_is_integer(type))
        check_need_conversion(c, at, (*a)->type, (*b)->type);
    check_settle(c, *a, type);
    check_settle(c, *b, type);
    if (!assay_type_equal((*a)->type, (*b)->type))
        check_need_conversion(c, at, (*a)->type, (*b)->type);
    return type;
}

assay_type check_unify(checker *c, token at, assay_expr **a, assay_expr **b)
{
    if (check_is_literal(*a) && check_is_literal(*b))
        return (*a)->type;
    if (assay_type_equal((*a)->type, (*b)->type))
        return (*a)->type;
    if (check_is_integer((*a)->type) || check_is_integer((*b)->type))
        return check_integers(c, at, a, b);
    assay_expr *both[2] = {*a, *b};
    for (int i = 0; i < 2; i++)
        if (!check_is_literal(both[i]) && !check_is_float(both[i]->type))
            check_need_conversion(c, at, both[0]->type, both[1]->type);
    assay_type type = check_arithmetic(c, at, 2, both);
    *a = both[0];
    *b = both[1];
    return type;
}

assay_expr *check_typed(checker *c, const syn *s)
{
    assay_expr *e = check_expr(c, s);
    check_settle(c, e, check_f32());
    return e;
}

assay_expr *check_condition(checker *c, const syn *s)
{
    assay_expr *e = check_expr(c, s);
    if (e->type.kind != ASSAY_T_BOOL)
        check_fail(c, check_place(e), "the condition is not a bool");
    return e;
}

assay_expr *check_integer(checker *c, const syn *s, assay_type_kind kind)
{
    assay_expr *e = check_expr(c, s);
    assay_type type = check_kind_type(kind);
    check_settle(c, e, type);
    if (!assay_type_equal(e->type, type))
        check_need_conversion(c, check_place(e), e->type, type);
    return e;
}

/* ---- names ---- */

static assay_expr *check_index_word(checker *c, token at)
{
    static const assay_op ops[] = {ASSAY_OP_DIM_M, ASSAY_OP_DIM_K, ASSAY_OP_ROW, ASSAY_OP_COL,
                                   ASSAY_OP_INDEX};
    for (int i = 0; i < 5; i++) {
        if (strcmp(assay_op_word(ops[i]), at.text))
            continue;
        bool elements = assay_tile_equal(c->tile, (assay_tile){1, 1});
        if ((c->shapes_only && i > 1) || (ops[i] == ASSAY_OP_INDEX && !elements))
            break;
        return check_node(c, ops[i], check_kind_type(ASSAY_T_U64), at, 0, NULL);
    }
    return NULL;
}

static assay_expr *check_value(checker *c, token at)
{
    int v = c->shapes_only ? -1 : check_find(c, at.text);
    if (v < 0 || !c->facts[v].assigned)
        check_fail(c, at, "%s has no value here", at.text);
    const assay_value *value = &c->p->values[v];
    if (value->is_table)
        check_fail(c, at, "%s is a table: read it with at(%s, i, j)", at.text, at.text);
    if (!assay_tile_sees(c->tile, value->tile))
        check_fail(c, at, "%s belongs to a finer tile: reduce it", at.text);
    c->facts[v].read = c->facts[v].read || !c->in_mark;
    assay_expr *e = check_node(c, ASSAY_OP_VALUE, value->type, at, 0, NULL);
    e->u.value = v;
    return e;
}

static assay_expr *check_name(checker *c, token at)
{
    assay_expr *e = check_index_word(c, at);
    if (!e)
        e = check_attribute(c, at);
    if (e)
        return e;
    if (recipe_is_param(c->scope->r, at.text)) {
        token choice = check_substitute(c, at);
        if (choice.kind != TOKEN_NUMBER)
            check_fail(c, at, "%s has no value here", at.text);
        choice.line = at.line;
        choice.column = at.column;
        return check_number(c, choice);
    }
    return check_value(c, at);
}

/* ---- operators ---- */

static assay_expr *arithmetic(checker *c, token at, assay_op op, assay_expr *a, assay_expr *b)
{
    static const assay_op integer[] = {[ASSAY_OP_ADD] = ASSAY_OP_IADD, [ASSAY_OP_SUB] = ASSAY_OP_ISUB,
                                       [ASSAY_OP_MUL] = ASSAY_OP_IMUL, [ASSAY_OP_DIV] = ASSAY_OP_IDIV};
    assay_expr *arg[2] = {a, b};
    assay_type type;
    if (check_is_integer(a->type) || check_is_integer(b->type)) {
        type = check_integers(c, at, &arg[0], &arg[1]);
        op = integer[op];
    } else {
        type = check_arithmetic(c, at, 2, arg);
    }
    return check_node(c, op, type, at, 2, arg);
}

static assay_expr *comparison(checker *c, token at, assay_op op, assay_expr *a, assay_expr *b)
{
    assay_expr *arg[2] = {a, b};
    if (check_is_integer(a->type) || check_is_integer(b->type))
        check_integers(c, at, &arg[0], &arg[1]);
    else
        check_arithmetic(c, at, 2, arg);
    return check_node(c, op, check_kind_type(ASSAY_T_BOOL), at, 2, arg);
}

assay_expr *check_binary(checker *c, token at, assay_op op, assay_expr *a, assay_expr *b)
{
    if (op >= ASSAY_OP_ADD && op <= ASSAY_OP_DIV)
        return arithmetic(c, at, op, a, b);
    if (op >= ASSAY_OP_EQ && op <= ASSAY_OP_GE)
        return comparison(c, at, op, a, b);
    assay_expr *arg[2] = {a, b};
    assay_type type = check_integers(c, at, &arg[0], &arg[1]);
    return check_node(c, op, type, at, 2, arg);
}

static assay_expr *check_operator(checker *c, const syn *s)
{
    static const struct {
        const char *sign;
        assay_op op;
    } signs[] = {{"+", ASSAY_OP_ADD}, {"-", ASSAY_OP_SUB}, {"*", ASSAY_OP_MUL},
                 {"/", ASSAY_OP_DIV}, {"%", ASSAY_OP_IMOD}, {"&", ASSAY_OP_IAND},
                 {"|", ASSAY_OP_IOR}, {"<<", ASSAY_OP_SHL}, {">>", ASSAY_OP_SHR},
                 {"==", ASSAY_OP_EQ}, {"!=", ASSAY_OP_NE}, {"<", ASSAY_OP_LT},
                 {"<=", ASSAY_OP_LE}, {">", ASSAY_OP_GT}, {">=", ASSAY_OP_GE}};
    bool and = !strcmp(s->at.text, "and");
    if (and || !strcmp(s->at.text, "or")) {
        assay_expr *arg[2] = {check_condition(c, s->arg[0]), check_condition(c, s->arg[1])};
        return check_node(c, and ? ASSAY_OP_AND : ASSAY_OP_OR, check_kind_type(ASSAY_T_BOOL), s->at,
                          2, arg);
    }
    size_t i = 0;
    while (strcmp(signs[i].sign, s->at.text))
        i++;
    assay_expr *a = check_expr(c, s->arg[0]);
    return check_binary(c, s->at, signs[i].op, a, check_expr(c, s->arg[1]));
}

static assay_expr *check_negative(checker *c, const syn *s)
{
    assay_expr *e = check_expr(c, s->arg[0]);
    if (check_is_literal(e) && e->op == ASSAY_OP_CONST)
        return check_negated(c, s->at, e);
    check_settle(c, e, check_f32());
    if (check_is_integer(e->type))
        return check_node(c, ASSAY_OP_INEG, e->type, s->at, 1, &e);
    return check_sign_bit(c, s->at, ASSAY_OP_NEG, e);
}

static assay_expr *check_if(checker *c, const syn *s)
{
    assay_expr *arg[3] = {check_condition(c, s->arg[0])};
    arg[1] = check_expr(c, s->arg[1]);
    arg[2] = check_expr(c, s->arg[2]);
    assay_type type = check_unify(c, s->at, &arg[1], &arg[2]);
    return check_node(c, ASSAY_OP_IF, type, s->at, 3, arg);
}

assay_expr *check_expr(checker *c, const syn *s)
{
    switch (s->kind) {
    case SYN_NUMBER:
        return check_number(c, s->at);
    case SYN_NAME:
        return check_name(c, s->at);
    case SYN_CALL:
        return check_call(c, s);
    case SYN_NEG:
        return check_negative(c, s);
    case SYN_NOT: {
        assay_expr *e = check_condition(c, s->arg[0]);
        return check_node(c, ASSAY_OP_NOT, e->type, s->at, 1, &e);
    }
    case SYN_BINARY:
        return check_operator(c, s);
    case SYN_IF:
        return check_if(c, s);
    case SYN_SHAPE:
    case SYN_NAN:
        break;
    }
    check_fail(c, s->at, "expected a value");
}
