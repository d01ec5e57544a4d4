/* Tokens -> expressions: LANGUAGE.md section 3 from `expr` down. */
#include <string.h>

#include "recipe_syntax.h"

bool recipe_accept(parser *p, const char *text)
{
    if (!recipe_is_token(*p->t, text))
        return false;
    p->t++;
    return true;
}

void recipe_expected(parser *p, const char *what)
{
    recipe_fail(p->f, p->r, *p->t, "expected %s", what);
}

void recipe_expect(parser *p, const char *text)
{
    if (!recipe_accept(p, text))
        recipe_expected(p, text);
}

/* Canonical text spells out what a use converts: a little deeper than what was written. */
static int slack(const parser *p)
{
    return p->r->canonical ? 8 : 0;
}

static syn *node(parser *p, syn_kind kind, token at, int argc, syn *const *arg)
{
    syn *e = assay_arena_alloc(p->r->arena, sizeof *e);
    *e = (syn){.kind = kind, .at = at, .argc = argc, .depth = 1};
    if (argc)
        e->arg = assay_arena_alloc(p->r->arena, sizeof *e->arg * (size_t)argc);
    for (int i = 0; i < argc; i++) {
        e->arg[i] = arg[i];
        if (arg[i]->depth >= e->depth)
            e->depth = arg[i]->depth + 1;
    }
    if (e->depth > RECIPE_DEPTH_LIMIT + slack(p))
        recipe_fail(p->f, p->r, at, "expected an expression at most %d deep: give parts of it names",
                    RECIPE_DEPTH_LIMIT);
    return e;
}

static syn *binary(parser *p, token at, syn *a, syn *b)
{
    return node(p, SYN_BINARY, at, 2, (syn *[]){a, b});
}

static bool is_one_of(token t, const char *const *signs, int count)
{
    for (int i = 0; i < count; i++)
        if (recipe_is_token(t, signs[i]))
            return true;
    return false;
}

static syn *parse_call(parser *p, token name)
{
    syn *arg[RECIPE_ARGUMENT_LIMIT];
    int argc = 0;
    recipe_expect(p, "(");
    while (!recipe_is_token(*p->t, ")")) {
        if (argc && !recipe_accept(p, ","))
            recipe_expected(p, ", or )");
        if (argc == RECIPE_ARGUMENT_LIMIT)
            recipe_expected(p, "fewer arguments");
        if (recipe_accept(p, "nan")) {
            if (p->t->kind != TOKEN_NUMBER)
                recipe_expected(p, "a code behind nan");
            arg[argc++] = node(p, SYN_NAN, *p->t++, 0, NULL);
        } else {
            arg[argc++] = recipe_parse_expr(p);
        }
    }
    p->t++;
    return node(p, SYN_CALL, name, argc, arg);
}

static syn *parse_primary(parser *p)
{
    static const char *const not_values[] = {"if", "then", "else", "and", "or", "not", "nan", "when"};
    token t = *p->t;
    switch (t.kind) {
    case TOKEN_NUMBER:
        p->t++;
        return node(p, SYN_NUMBER, t, 0, NULL);
    case TOKEN_SHAPE:
        p->t++;
        return node(p, SYN_SHAPE, t, 0, NULL);
    case TOKEN_NAME:
        if (is_one_of(t, not_values, 8))
            break;
        p->t++;
        return recipe_is_token(*p->t, "(") ? parse_call(p, t) : node(p, SYN_NAME, t, 0, NULL);
    default:
        if (recipe_accept(p, "(")) {
            syn *e = recipe_parse_expr(p);
            recipe_expect(p, ")");
            return e;
        }
    }
    recipe_expected(p, "a value");
}

static syn *parse_unary(parser *p)
{
    token at = *p->t;
    if (!recipe_accept(p, "-"))
        return parse_primary(p);
    if (++p->depth > RECIPE_DEPTH_LIMIT + slack(p))
        recipe_expected(p, "fewer signs in a row");
    syn *e = parse_unary(p);
    p->depth--;
    return node(p, SYN_NEG, at, 1, &e);
}

static syn *parse_term(parser *p)
{
    static const char *const signs[] = {"*", "/", "%"};
    syn *e = parse_unary(p);
    while (is_one_of(*p->t, signs, 3)) {
        token at = *p->t++;
        e = binary(p, at, e, parse_unary(p));
    }
    return e;
}

static syn *parse_sum(parser *p)
{
    static const char *const signs[] = {"+", "-"};
    syn *e = parse_term(p);
    while (is_one_of(*p->t, signs, 2)) {
        token at = *p->t++;
        e = binary(p, at, e, parse_term(p));
    }
    return e;
}

static syn *parse_bit(parser *p)
{
    static const char *const signs[] = {"&", "|", "<<", ">>"};
    syn *e = parse_sum(p);
    if (!is_one_of(*p->t, signs, 4))
        return e;
    token at = *p->t++;
    e = binary(p, at, e, parse_sum(p));
    if (is_one_of(*p->t, signs, 4))
        recipe_fail(p->f, p->r, *p->t, "write parentheses between bit operators");
    return e;
}

static syn *parse_not(parser *p)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    token at = *p->t;
    if (recipe_accept(p, "not")) {
        if (++p->depth > RECIPE_DEPTH_LIMIT + slack(p))
            recipe_expected(p, "fewer nots in a row");
        syn *e = parse_not(p);
        p->depth--;
        return node(p, SYN_NOT, at, 1, &e);
    }
    syn *e = parse_bit(p);
    if (!is_one_of(*p->t, signs, 6))
        return e;
    at = *p->t++;
    return binary(p, at, e, parse_bit(p));
}

static syn *parse_and(parser *p)
{
    syn *e = parse_not(p);
    while (recipe_is_token(*p->t, "and")) {
        token at = *p->t++;
        e = binary(p, at, e, parse_not(p));
    }
    return e;
}

static syn *parse_or(parser *p)
{
    syn *e = parse_and(p);
    while (recipe_is_token(*p->t, "or")) {
        token at = *p->t++;
        e = binary(p, at, e, parse_and(p));
    }
    return e;
}

static syn *parse_if(parser *p, token at)
{
    syn *part[3];
    part[0] = recipe_parse_expr(p);
    recipe_expect(p, "then");
    part[1] = recipe_parse_expr(p);
    recipe_expect(p, "else");
    part[2] = recipe_parse_expr(p);
    return node(p, SYN_IF, at, 3, part);
}

syn *recipe_parse_expr(parser *p)
{
    if (++p->depth > RECIPE_DEPTH_LIMIT + slack(p))
        recipe_expected(p, "an expression that nests less: give parts of it names");
    token at = *p->t;
    syn *e = recipe_accept(p, "if") ? parse_if(p, at) : parse_or(p);
    p->depth--;
    return e;
}
