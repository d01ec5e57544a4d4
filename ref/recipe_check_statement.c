/* Statements: assignments with their declared types, the lines of a recipe in order. */
#include <string.h>

#include "recipe_check.h"

static assay_expr *explicit_cast(checker *c, token at, assay_expr *e, assay_type type)
{
    const assay_format *f = type.format;
    assay_cast cast = assay_cast_default(f);
    if (!strcmp(f->name, "f32"))
        cast.nan_code = c->p->nan_code;
    if (check_is_literal(e) && e->op == ASSAY_OP_CONST) {
        check_literal_bits(c, e, type, assay_format_precision(f) < 24);
        return check_literal_cast(c, at, e, f, &cast);
    }
    check_settle(c, e, check_f32());
    if (assay_type_equal(e->type, type))
        return e;
    e = check_node(c, ASSAY_OP_CAST, type, at, 1, &e);
    e->u.cast = cast;
    return e;
}

static bool widens(assay_type from, assay_type to)
{
    if (!check_is_float(from) || !check_is_float(to))
        return false;
    bool to_f64 = !strcmp(to.format->name, "f64");
    return to_f64 || (!strcmp(to.format->name, "f32") && strcmp(from.format->name, "f64"));
}

static assay_expr *to_u8(checker *c, token at, assay_expr *e)
{
    check_settle(c, e, check_kind_type(ASSAY_T_U32));
    return check_node(c, ASSAY_OP_TO_U8, check_kind_type(ASSAY_T_U8), at, 1, &e);
}

/* What is declared keeps its type: e becomes exactly that, without rounding. Inside a use the
 * conversion is spelled out, for there the canonical text has no declaration to imply it. */
static assay_expr *convert(checker *c, int target, token at, assay_expr *e)
{
    const assay_value *v = &c->p->values[target];
    bool spelled = c->facts[target].from_use;
    if (check_is_literal(e)) {
        if (v->type.kind == ASSAY_T_U8)
            return to_u8(c, at, e);
        if (spelled && check_is_float(v->type) && !assay_type_equal(v->type, check_f32()))
            return explicit_cast(c, at, e, v->type);
        check_settle(c, e, v->type);
        if (spelled && check_is_integer(v->type))
            e = check_node(c, ASSAY_OP_TO_U32 + (v->type.kind == ASSAY_T_I32) +
                                  2 * (v->type.kind == ASSAY_T_U64),
                           v->type, at, 1, &e);
        return e;
    }
    if (assay_type_equal(e->type, v->type))
        return e;
    if (widens(e->type, v->type))
        return spelled ? explicit_cast(c, at, e, v->type) : check_widen(c, e, v->type);
    bool low_bits = e->type.kind == ASSAY_T_U32 || e->type.kind == ASSAY_T_I32 ||
                    e->type.kind == ASSAY_T_BOOL;
    if (v->type.kind == ASSAY_T_U8 && low_bits)
        return to_u8(c, at, e);
    const char *name = v->name + strlen(c->scope->prefix);
    check_fail(c, at, "%s is %s, the value is %s: round it", name, check_type_name(v->type),
               check_type_name(e->type));
}

static assay_statement *new_statement(checker *c, token at, assay_statement_kind kind)
{
    if (c->p->statement_count == RECIPE_LINE_LIMIT)
        check_fail(c, at, "expected at most %d statements", RECIPE_LINE_LIMIT);
    assay_statement *s = ARENA_PUSH(c->arena, c->p->statements, c->p->statement_count);
    *s = (assay_statement){.kind = kind, .tile = c->tile, .target = -1,
                           .place = {c->scope->file, at.line, at.column}};
    return s;
}

void check_assign(checker *c, int target, token at, assay_expr *e, bool fixed)
{
    if (fixed) {
        e = convert(c, target, at, e);
    } else {
        check_settle(c, e, check_f32());
        c->p->values[target].type = e->type;
    }
    assay_statement *s = new_statement(c, at, ASSAY_ASSIGN);
    s->target = target;
    s->expr = e;
    c->p->values[target].statement = c->p->statement_count - 1;
    c->facts[target].assigned = true;
}

static void check_statement(checker *c, const recipe_line *line)
{
    token at = line->name;
    int v = check_find(c, at.text);
    bool declared = v >= 0 && c->facts[v].declared_output;
    if (v >= 0 && (!declared || c->facts[v].assigned))
        check_fail(c, at, "%s already has a value", at.text);
    if (declared && !assay_tile_equal(c->p->values[v].tile, c->tile))
        check_fail(c, at, "%s is declared for another tile", at.text);
    if (recipe_is_param(c->scope->r, at.text))
        check_fail(c, at, "%s is also the name of a parameter", at.text);
    assay_expr *e = check_expr(c, line->expr);
    if (!declared)
        v = check_new_value(c, at, ASSAY_LOCAL, check_f32(), c->tile);
    check_assign(c, v, at, e, declared);
}

/* Is value v one of this scope's own? */
static bool of_scope(checker *c, int v)
{
    size_t n = strlen(c->scope->prefix);
    return !strncmp(c->p->values[v].name, c->scope->prefix, n) &&
           check_find(c, c->p->values[v].name + n) == v;
}

void check_body(checker *c, const assay_recipe *r)
{
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        if (!recipe_line_exists(&c->scope->env, line))
            continue;
        if (line->kind == LINE_USE) {
            check_use(c, line);
        } else if (line->kind == LINE_ASSIGN || line->kind == LINE_MARK) {
            c->tile = check_shape(c, line->shape);
            if (line->kind == LINE_ASSIGN)
                check_statement(c, line);
            else
                check_mark(c, line);
        }
    }
    for (int v = 0; v < c->p->value_count; v++)
        if (c->facts[v].declared_output && !c->facts[v].assigned &&
            of_scope(c, v))
            check_fail(c, c->facts[v].at, "%s gets no value",
                       c->p->values[v].name + strlen(c->scope->prefix));
}
