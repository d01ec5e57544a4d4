/* `use N(...) as q : x = e`: the statements of another recipe's instance, inlined. */
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

static const assay_recipe *find_used(checker *c, const recipe_line *line)
{
    for (const scope *s = c->scope; s; s = s->outer)
        if (!strcmp(s->r->name, line->name.text))
            check_fail(c, line->name, "%s uses itself", line->name.text);
    if (c->depth == RECIPE_USE_LIMIT || ++c->uses > RECIPE_LINE_LIMIT)
        check_fail(c, line->name, "expected uses at most %d deep and fewer than %d of them",
                   RECIPE_USE_LIMIT, RECIPE_LINE_LIMIT);
    const assay_recipe *r = c->find ? c->find(c->find_context, line->name.text) : NULL;
    if (!r)
        check_fail(c, line->name, "there is no recipe %s", line->name.text);
    return r;
}

static const uint8_t *choose(checker *c, const recipe_line *line, const assay_recipe *r)
{
    const char **names = assay_arena_alloc(c->arena, sizeof *names * (size_t)(line->set_count + 1));
    const char **values = assay_arena_alloc(c->arena, sizeof *values * (size_t)(line->set_count + 1));
    for (int i = 0; i < line->set_count; i++) {
        names[i] = line->set_names[i].text;
        values[i] = check_substitute(c, line->set_values[i]).text;
        if (!recipe_is_param(r, names[i]))
            check_fail(c, line->set_names[i], "%s has no parameter %s", r->name, names[i]);
    }
    assay_error why;
    const uint8_t *choice = recipe_choose(r, names, values, line->set_count, &why);
    if (!choice)
        check_fail(c, line->name, "%s", why.message);
    return choice;
}

static int find_binding(const recipe_line *line, const char *input)
{
    for (int i = 0; i < line->bind_count; i++)
        if (!strcmp(line->bind_names[i].text, input))
            return i;
    return -1;
}

/* The user's input that a binding names outright, or -1. */
static int plain_input(checker *c, const syn *e)
{
    if (e->kind != SYN_NAME)
        return -1;
    const scope *s = c->scope;
    for (int i = 0; i < s->alias_count; i++)
        if (!strcmp(s->alias_name[i], e->at.text))
            return s->alias_value[i];
    int v = check_find(c, e->at.text);
    return v >= 0 && c->p->values[v].role == ASSAY_INPUT ? v : -1;
}

static void add_alias(checker *c, scope *inner, const char *name, int value)
{
    int n = inner->alias_count;
    *ARENA_PUSH(c->arena, inner->alias_name, inner->alias_count) = name;
    *ARENA_PUSH(c->arena, inner->alias_value, n) = value;
}

/* One input of the used recipe: an assignment in the user's scope, under the inner name. */
static void bind(checker *c, scope *inner, const recipe_line *use, const recipe_line *in)
{
    scope *outer = c->scope;
    int at = find_binding(use, in->name.text);
    if (at < 0)
        check_fail(c, use->name, "%s needs %s = ...", inner->r->name, in->name.text);
    const syn *e = use->bind[at];
    int plain = plain_input(c, e);
    c->scope = inner;
    assay_type type = check_type(c, in->type);
    assay_tile tile = in->place == PLACE_ELEMENT ? (assay_tile){1, 1} : check_shape(c, in->shape);
    c->scope = outer;
    const assay_value *same = plain < 0 ? NULL : &c->p->values[plain];
    if (in->place == PLACE_TABLE) {
        if (!same || !same->is_table || !assay_type_equal(same->type, type) ||
            same->table_rows != tile.rows || same->table_cols != tile.cols)
            check_fail(c, e->at, "expected the name of a table of %s, %s", check_type_name(type),
                       in->shape.text);
        add_alias(c, inner, in->name.text, plain);
        return;
    }
    if (in->pad.text)
        check_fail(c, use->bind_names[at], "expected an input without pad: a recipe that pads cannot "
                                           "be used");
    if (same && !same->is_table && assay_type_equal(same->type, type) &&
        assay_tile_equal(same->tile, tile))
        add_alias(c, inner, in->name.text, plain);
    c->tile = tile;
    assay_expr *value = check_expr(c, e);
    c->scope = inner;
    int v = check_new_value(c, in->name, ASSAY_LOCAL, type, tile);
    c->scope = outer;
    check_assign(c, v, use->bind_names[at], value, true);
}

static void declare_outputs(checker *c, const assay_recipe *r)
{
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        if (line->kind != LINE_OUT || !recipe_line_exists(&c->scope->env, line))
            continue;
        assay_tile tile =
            line->place == PLACE_ELEMENT ? (assay_tile){1, 1} : check_shape(c, line->shape);
        assay_type type = check_type(c, line->type);
        if (type.kind == ASSAY_T_U8)
            check_fail(c, line->type, "expected another type: outputs of u8 cannot be used");
        int v = check_new_value(c, line->name, ASSAY_LOCAL, type, tile);
        c->facts[v].declared_output = true;
    }
}

/* Binds the inputs of the used recipe: its `in` lines; of a decode part also the outputs of its
 * recipe that it reads. */
static void bind_lines(checker *c, scope *inner, const recipe_line *use, const assay_recipe *r,
                       line_kind kind, const assay_recipe *reader)
{
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *in = &r->lines[i];
        if (in->kind != kind || !recipe_line_exists(&inner->env, in))
            continue;
        if (reader) {
            scope *outer = c->scope;
            c->scope = inner;
            bool reads = check_reads(c, reader, in->name.text);
            c->scope = outer;
            if (!reads)
                continue;
        }
        bind(c, inner, use, in);
    }
}

static void check_binding_names(checker *c, scope *inner, const recipe_line *use)
{
    for (int i = 0; i < use->bind_count; i++) {
        const char *name = use->bind_names[i].text;
        const char *full = assay_arena_format(c->arena, "%s%s", inner->prefix, name);
        bool found = false;
        for (int v = 0; v < c->p->value_count; v++)
            found = found || !strcmp(c->p->values[v].name, full);
        for (int j = 0; j < inner->alias_count; j++)
            found = found || !strcmp(inner->alias_name[j], name);
        if (!found)
            check_fail(c, use->bind_names[i], "%s has no input %s", inner->r->name, name);
    }
}

static void check_same_nan(checker *c, scope *inner, const recipe_line *use)
{
    uint32_t own = c->p->nan_code;
    c->p->nan_code = 0x7FC00000;
    scope *outer = c->scope;
    c->scope = inner;
    check_find_nan(c, inner->r);
    c->scope = outer;
    uint32_t used = c->p->nan_code;
    c->p->nan_code = own;
    if (used != own)
        check_fail(c, use->name, "%s has the NaN 0x%08X, this recipe has 0x%08X: say the same nan",
                   inner->r->name, used, own);
}

void check_use(checker *c, const recipe_line *line)
{
    scope *outer = c->scope;
    const assay_recipe *r = find_used(c, line);
    if (recipe_is_param(outer->r, line->alias.text))
        check_fail(c, line->alias, "%s is also the name of a parameter", line->alias.text);
    scope *inner = assay_arena_alloc(c->arena, sizeof *inner);
    *inner = (scope){.r = r,
                     .env = {r, choose(c, line, r)},
                     .prefix = assay_arena_format(c->arena, "%s%s.", outer->prefix, line->alias.text),
                     .file = check_keep(c, r->file),
                     .outer = outer,
                     .use = line->name};
    for (int v = 0; v < c->p->value_count; v++)
        if (!strncmp(c->p->values[v].name, inner->prefix, strlen(inner->prefix)))
            check_fail(c, line->alias, "%s already has a value", line->alias.text);
    check_same_nan(c, inner, line);
    if (r->main)
        bind_lines(c, inner, line, r->main, LINE_OUT, r);
    bind_lines(c, inner, line, r, LINE_IN, NULL);
    check_binding_names(c, inner, line);
    c->scope = inner;
    c->depth++;
    declare_outputs(c, r);
    check_requires(c, r);
    check_body(c, r);
    c->depth--;
    c->scope = outer;
}
