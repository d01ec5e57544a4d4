/* Tokens -> lines: the first line, declarations, sections, layouts; the decode part. */
#include <stdlib.h>
#include <string.h>

#include "recipe_syntax.h"

static token need(parser *p, token_kind kind, const char *what)
{
    if (p->t->kind != kind)
        recipe_expected(p, what);
    return *p->t++;
}

static void end_line(parser *p)
{
    if (p->t->kind == TOKEN_END)
        return;
    need(p, TOKEN_NEWLINE, "the end of the line");
}

/* A name that the recipe makes: not a word of the language. */
static token new_name(parser *p, const char *what)
{
    token t = need(p, TOKEN_NAME, what);
    if (recipe_is_word(t.text))
        recipe_fail(p->f, p->r, t, "%s is a word of the language", t.text);
    return t;
}

static token alternative(parser *p)
{
    token t = *p->t;
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_NUMBER && t.kind != TOKEN_SHAPE)
        recipe_expected(p, "a number, a shape or a word");
    p->t++;
    return t;
}

static token shape_word(parser *p)
{
    if (p->t->kind != TOKEN_SHAPE && p->t->kind != TOKEN_NAME)
        recipe_expected(p, "a shape");
    return *p->t++;
}

static void parse_place(parser *p, recipe_line *line)
{
    if (recipe_accept(p, "per")) {
        line->place = PLACE_PER;
        line->shape = shape_word(p);
    } else if (recipe_accept(p, "table")) {
        line->place = PLACE_TABLE;
        line->shape = shape_word(p);
    }
}

static void parse_in(parser *p, recipe_line *line)
{
    line->kind = LINE_IN;
    line->name = new_name(p, "the name of an input");
    recipe_expect(p, ":");
    line->type = need(p, TOKEN_NAME, "a type");
    parse_place(p, line);
    if (recipe_accept(p, "pad"))
        line->pad = shape_word(p);
}

static void parse_out(parser *p, recipe_line *line)
{
    line->kind = LINE_OUT;
    line->name = new_name(p, "the name of an output");
    recipe_expect(p, ":");
    line->type = need(p, TOKEN_NAME, "a type");
    token place = *p->t;
    parse_place(p, line);
    if (line->place == PLACE_TABLE)
        recipe_fail(p->f, p->r, place, "expected per: only inputs are tables");
    while (recipe_accept(p, "any")) {
        if (recipe_accept(p, "nan"))
            line->any_nan = true;
        else if (recipe_accept(p, "zero"))
            line->any_zero = true;
        else
            recipe_expected(p, "nan or zero");
    }
    if (recipe_accept(p, "feeds"))
        line->feeds = need(p, TOKEN_NAME, "the name of an input");
}

static void parse_param(parser *p, recipe_line *line)
{
    line->kind = LINE_PARAM;
    line->name = new_name(p, "the name of a parameter");
    if (strchr(line->name.text, '.'))
        recipe_fail(p->f, p->r, line->name, "expected a name without a dot");
    recipe_expect(p, "=");
    do {
        if (line->name_count == RECIPE_CHOICE_LIMIT)
            recipe_expected(p, "fewer alternatives");
        token t = alternative(p);
        for (int i = 0; i < line->name_count; i++)
            if (!strcmp(line->names[i].text, t.text))
                recipe_fail(p->f, p->r, t, "expected another alternative: %s is there already",
                            t.text);
        *ARENA_PUSH(p->r->arena, line->names, line->name_count) = t;
    } while (recipe_accept(p, "|"));
}

static void parse_use_settings(parser *p, recipe_line *line)
{
    if (!recipe_accept(p, "("))
        return;
    while (!recipe_is_token(*p->t, ")")) {
        if (line->set_count)
            recipe_expect(p, ",");
        int n = line->set_count;
        *ARENA_PUSH(p->r->arena, line->set_names, line->set_count) =
            need(p, TOKEN_NAME, "the name of a parameter");
        recipe_expect(p, "=");
        *ARENA_PUSH(p->r->arena, line->set_values, n) = alternative(p);
    }
    p->t++;
}

static void parse_use(parser *p, recipe_line *line)
{
    line->kind = LINE_USE;
    line->name = need(p, TOKEN_NAME, "the name of a recipe");
    parse_use_settings(p, line);
    recipe_expect(p, "as");
    line->alias = new_name(p, "a name for what is used");
    recipe_expect(p, ":");
    do {
        int n = line->bind_count;
        *ARENA_PUSH(p->r->arena, line->bind_names, line->bind_count) =
            need(p, TOKEN_NAME, "the name of an input");
        recipe_expect(p, "=");
        *ARENA_PUSH(p->r->arena, line->bind, n) = recipe_parse_expr(p);
    } while (recipe_accept(p, ","));
}

static void parse_names(parser *p, recipe_line *line)
{
    do
        *ARENA_PUSH(p->r->arena, line->names, line->name_count) =
            need(p, TOKEN_NAME, "the name of a value");
    while (recipe_accept(p, ","));
}

static recipe_line *new_line(parser *p, syn *guard)
{
    int limit = p->r->canonical ? 4 * RECIPE_LINE_LIMIT : RECIPE_LINE_LIMIT;
    if (p->r->line_count == limit)
        recipe_expected(p, "fewer lines in one recipe");
    recipe_line *line = ARENA_PUSH(p->r->arena, p->r->lines, p->r->line_count);
    *line = (recipe_line){.at = *p->t, .guard = guard};
    return line;
}

static syn *parse_guard(parser *p)
{
    if (!recipe_accept(p, "["))
        return NULL;
    syn *guard = recipe_parse_expr(p);
    recipe_expect(p, "]");
    return guard;
}

/* A declaration, if the next line is one. */
static bool parse_declaration(parser *p, syn *guard)
{
    static const char *const first[] = {"source", "nan", "require", "param", "in", "out"};
    int which = 0;
    while (which < 6 && !recipe_is_token(*p->t, first[which]))
        which++;
    if (which == 6)
        return false;
    recipe_line *line = new_line(p, guard);
    p->t++;
    switch (which) {
    case 0:
        line->kind = LINE_SOURCE;
        line->name = need(p, TOKEN_STRING, "a string");
        break;
    case 1:
        line->kind = LINE_NAN;
        line->name = need(p, TOKEN_NUMBER, "a code of f32");
        break;
    case 2:
        line->kind = LINE_REQUIRE;
        line->expr = recipe_parse_expr(p);
        break;
    case 3:
        parse_param(p, line);
        break;
    case 4:
        parse_in(p, line);
        break;
    default:
        parse_out(p, line);
    }
    end_line(p);
    return true;
}

static void parse_statement(parser *p, recipe_line *line)
{
    if (recipe_accept(p, "unspecified")) {
        line->kind = LINE_MARK;
        parse_names(p, line);
        recipe_expect(p, "when");
    } else {
        line->kind = LINE_ASSIGN;
        line->name = *p->t;
        p->t++;
        recipe_expect(p, "=");
        if (recipe_is_word(line->name.text))
            recipe_fail(p->f, p->r, line->name, "%s is a word of the language", line->name.text);
    }
    line->expr = recipe_parse_expr(p);
    end_line(p);
}

static bool starts_section(token t)
{
    return recipe_is_token(t, "tensor") || recipe_is_token(t, "row") ||
           recipe_is_token(t, "column") || recipe_is_token(t, "element") ||
           recipe_is_token(t, "block");
}

/* Does a statement begin here (as against a section, use, layout, decode, the end)? */
static bool starts_statement(const token *t)
{
    return t->kind == TOKEN_NAME &&
           (recipe_is_token(*t, "unspecified") || recipe_is_token(t[1], "="));
}

static void parse_section(parser *p, syn *guard)
{
    token shape = *p->t++;
    if (recipe_is_token(shape, "block"))
        shape = shape_word(p);
    recipe_expect(p, ":");
    need(p, TOKEN_NEWLINE, "the end of the line");
    for (;;) {
        const token *start = p->t;
        syn *own = parse_guard(p);
        if (!starts_statement(p->t)) {
            p->t = start;
            return;
        }
        recipe_line *line = new_line(p, own);
        line->section_guard = guard;
        line->shape = shape;
        parse_statement(p, line);
    }
}

/* A section, `use` or `layout`, if the next line is one. */
static bool parse_body(parser *p, syn *guard)
{
    if (starts_section(*p->t)) {
        parse_section(p, guard);
        return true;
    }
    bool use = recipe_is_token(*p->t, "use");
    if (!use && !recipe_is_token(*p->t, "layout"))
        return false;
    recipe_line *line = new_line(p, guard);
    p->t++;
    if (use) {
        parse_use(p, line);
    } else {
        line->kind = LINE_LAYOUT;
        parse_names(p, line);
        recipe_expect(p, ":");
        recipe_parse_layout(p, line);
    }
    end_line(p);
    return true;
}

void recipe_parse_layout(parser *p, recipe_line *line)
{
    do {
        layout_step_syntax *step = ARENA_PUSH(p->r->arena, line->steps, line->step_count);
        *step = (layout_step_syntax){.op = need(p, TOKEN_NAME, "a layout step")};
        while (p->t->kind == TOKEN_NAME || p->t->kind == TOKEN_NUMBER ||
               p->t->kind == TOKEN_SHAPE)
            *ARENA_PUSH(p->r->arena, step->arg, step->argc) = *p->t++;
    } while (recipe_accept(p, ","));
}

void recipe_parse_part(parser *p)
{
    bool body = false;
    for (;;) {
        if (p->t->kind == TOKEN_END || recipe_is_token(*p->t, "decode"))
            return;
        syn *guard = parse_guard(p);
        token at = *p->t;
        if (parse_body(p, guard)) {
            body = body || !recipe_is_token(at, "use");
        } else if (body || !parse_declaration(p, guard)) {
            recipe_expected(p, body ? "a section, use, layout or decode"
                                    : "a declaration, a section, use, layout or decode");
        }
    }
}
