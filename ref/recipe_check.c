/* One instance of a recipe -> a checked program: names, the order of checks. */
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

const char *check_keep(checker *c, const char *text)
{
    return assay_arena_copy(c->arena, text, strlen(text));
}

/* ---- names ---- */

token check_substitute(checker *c, token t)
{
    if (t.kind != TOKEN_NAME || !recipe_is_param(c->scope->r, t.text))
        return t;
    const token *choice = recipe_env_find(&c->scope->env, t.text);
    if (!choice)
        check_fail(c, t, "%s has no value here", t.text);
    return *choice;
}

assay_tile check_shape(checker *c, token t)
{
    token s = check_substitute(c, t);
    assay_tile tile;
    if (s.kind == TOKEN_NUMBER || !recipe_shape_parse(s.text, &tile))
        check_fail(c, t, "expected a shape");
    return tile;
}

assay_type check_type(checker *c, token t)
{
    static const struct {
        const char *name;
        assay_type_kind kind;
    } others[] = {{"u8", ASSAY_T_U8}, {"u32", ASSAY_T_U32}, {"i32", ASSAY_T_I32},
                  {"u64", ASSAY_T_U64}, {"bool", ASSAY_T_BOOL}};
    token s = check_substitute(c, t);
    for (int i = 0; i < 5; i++)
        if (s.kind == TOKEN_NAME && !strcmp(others[i].name, s.text))
            return check_kind_type(others[i].kind);
    const assay_format *f = s.kind == TOKEN_NAME ? assay_format_find(s.text) : NULL;
    if (!f)
        check_fail(c, t, "expected a type");
    return check_format_type(f);
}

static int find_full(checker *c, const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    for (int v = 0; v < c->p->value_count; v++) {
        const char *have = c->p->values[v].name;
        if (!strncmp(have, prefix, n) && !strcmp(have + n, name))
            return v;
    }
    return -1;
}

int check_find(checker *c, const char *name)
{
    return find_full(c, c->scope->prefix, name);
}

int check_find_input(checker *c, token name)
{
    const scope *s = c->scope;
    for (int i = 0; i < s->alias_count; i++) {
        if (!strcmp(s->alias_name[i], name.text))
            return s->alias_value[i];
    }
    int v = check_find(c, name.text);
    if (v < 0)
        check_fail(c, name, "%s has no value here", name.text);
    if (c->p->values[v].role != ASSAY_INPUT)
        check_fail(c, name, "expected the name of an input");
    return v;
}

int check_new_value(checker *c, token name, assay_value_role role, assay_type type, assay_tile tile)
{
    if (recipe_is_param(c->scope->r, name.text))
        check_fail(c, name, "%s is also the name of a parameter", name.text);
    if (check_find(c, name.text) >= 0)
        check_fail(c, name, "%s already has a value", name.text);
    if (c->p->value_count >= 2 * RECIPE_LINE_LIMIT)
        check_fail(c, name, "expected at most %d values", 2 * RECIPE_LINE_LIMIT);
    int v = c->p->value_count;
    *ARENA_PUSH(c->arena, c->p->values, c->p->value_count) = (assay_value){
        .name = assay_arena_format(c->arena, "%s%s", c->scope->prefix, name.text),
        .role = role,
        .type = type,
        .tile = tile,
        .pad = {1, 1},
        .feeds = -1,
        .statement = -1,
        .place = {c->scope->file, name.line, name.column}};
    *ARENA_PUSH(c->arena, c->facts, c->fact_count) =
        (value_facts){.at = name, .from_use = c->scope->outer != NULL,
                      .assigned = role == ASSAY_INPUT};
    return v;
}

/* ---- the whole ---- */

static void name_program(checker *c, const assay_recipe *r)
{
    assay_program *p = c->p;
    const recipe_env *env = &c->scope->env;
    p->recipe = check_keep(c, r->name);
    p->family = check_keep(c, r->family);
    p->summary = check_keep(c, r->summary);
    p->source = check_keep(c, r->source);
    const char *settings = r->canonical ? r->settings : recipe_env_settings(c->arena, env);
    p->name = assay_arena_format(c->arena, "%s%s", r->name, settings);
    for (int i = 0; i < r->param_count; i++)
        if (env->choice[i] != RECIPE_ABSENT)
            *ARENA_PUSH(c->arena, p->choices, p->choice_count) =
                (assay_choice){check_keep(c, r->params[i].name.text),
                               check_keep(c, r->params[i].choices[env->choice[i]].text),
                               r->params[i].choice_count == 1};
}

static void keep_require_texts(checker *c)
{
    program_memory *memory = c->p->arena;
    size_t count = (size_t)c->p->require_count;
    memory->require_text = assay_arena_alloc(c->arena, (count + 1) * sizeof(char *));
    int kept = 0;
    for (int i = 0; i < c->p->require_count; i++) {
        char *text = assay_expr_print(c->p, c->p->requires[i]);
        int same = 0;
        while (same < kept && strcmp(memory->require_text[same], text))
            same++;
        if (same == kept) {
            c->p->requires[kept] = c->p->requires[i];
            memory->require_text[kept++] = check_keep(c, text);
        }
        free(text);
    }
    c->p->require_count = kept;
}

static void check_all(checker *c, const assay_recipe *r)
{
    check_declarations(c, r);
    check_body(c, r);
    check_live(c);
    check_approx(c);
    check_layouts(c, r);
    keep_require_texts(c);
    check_number_nodes(c);
    check_nan_matters(c);
}

static void finish(checker *c, const assay_recipe *r, const recipe_env *env, bool note)
{
    for (int i = 0; i < c->literal_count; i++)
        mpq_clear(c->literals[i].q);
    if (!c->f->failed)
        return;
    for (scope *s = c->scope; s->outer; s = s->outer)
        recipe_note(c->f->error, "%s:%d:%d: note: used here", s->outer->r->file, s->use.line,
                    s->use.column);
    const char *settings = note ? recipe_env_settings(c->arena, env) : "";
    if (*settings)
        recipe_note(c->f->error, "%s:%d:%d: note: in the instance %s%s", r->file, r->head.line,
                    r->head.column, r->name, settings);
}

assay_program *recipe_check_instance(const assay_recipe *r, const uint8_t *choice,
                                     assay_recipe_finder find, void *context, assay_error *error)
{
    assay_arena *arena = assay_arena_new();
    recipe_failure *failure = assay_arena_alloc(arena, sizeof *failure);
    failure->error = error;
    checker *c = assay_arena_alloc(arena, sizeof *c);
    scope *top = assay_arena_alloc(arena, sizeof *top);
    *top = (scope){.r = r, .env = {r, choice}, .prefix = ""};
    top->file = assay_arena_copy(arena, r->file, strlen(r->file));
    *c = (checker){.f = failure, .arena = arena, .scope = top, .find = find,
                   .find_context = context};
    c->p = assay_arena_alloc(arena, sizeof *c->p);
    program_memory *memory = assay_arena_alloc(arena, sizeof *memory);
    memory->arena = arena;
    c->p->arena = memory;
    c->p->main_input = -1;
    c->p->nan_code = 0x7FC00000;
    if (!setjmp(failure->jump)) {
        name_program(c, r);
        check_all(c, r);
    }
    finish(c, r, &top->env, true);
    if (failure->failed) {
        assay_arena_free(arena);
        return NULL;
    }
    assay_program_identify(c->p);
    return c->p;
}
