/* Recipes and programs as objects: parsing, instances by name, copies, small tables. */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

/* ---- tables ---- */

#define OP_NAME(name, arity, word) #name,
#define OP_WORD(name, arity, word) word,
static const char *const op_names[] = {ASSAY_OPS(OP_NAME)};
static const char *const op_words[] = {ASSAY_OPS(OP_WORD)};

const char *assay_op_name(assay_op op)
{
    return op_names[op];
}
const char *assay_op_word(assay_op op)
{
    return op_words[op];
}

int assay_type_storage(assay_type t)
{
    static const int bytes[] = {[ASSAY_T_U8] = 1, [ASSAY_T_U32] = 4, [ASSAY_T_I32] = 4,
                                [ASSAY_T_U64] = 8, [ASSAY_T_BOOL] = 1};
    return t.kind == ASSAY_T_FORMAT ? assay_format_storage(t.format) : bytes[t.kind];
}

const char *assay_type_name(assay_type t)
{
    static const char *const words[] = {[ASSAY_T_U8] = "u8", [ASSAY_T_U32] = "u32",
                                        [ASSAY_T_I32] = "i32", [ASSAY_T_U64] = "u64",
                                        [ASSAY_T_BOOL] = "bool"};
    return t.kind == ASSAY_T_FORMAT ? t.format->name : words[t.kind];
}

/* ---- parsing ---- */

static assay_recipe *new_recipe(assay_arena *arena, const char *text, size_t length,
                                const char *file)
{
    assay_recipe *r = assay_arena_alloc(arena, sizeof *r);
    r->arena = arena;
    r->text = assay_arena_copy(arena, text, length);
    r->file = assay_arena_copy(arena, file, strlen(file));
    r->summary = r->source = r->settings = "";
    return r;
}

/* "(P=V, ...)" of a canonical first line, as text. */
static void parse_settings(parser *p)
{
    assay_text t = {0};
    recipe_expect(p, "(");
    do {
        if (p->t->kind != TOKEN_NAME || !recipe_is_token(p->t[1], "=") ||
            p->t[2].kind == TOKEN_NEWLINE || p->t[2].kind == TOKEN_END) {
            free(assay_text_take(&t));
            recipe_expected(p, "P=V");
        }
        assay_text_add(&t, "%s%s=%s", t.length ? ", " : "(", p->t->text, p->t[2].text);
        p->t += 3;
    } while (recipe_accept(p, ","));
    assay_text_add(&t, ")");
    char *made = assay_text_take(&t);
    p->r->settings = assay_arena_copy(p->r->arena, made, strlen(made));
    free(made);
    recipe_expect(p, ")");
}

static void end_line(parser *p)
{
    if (p->t->kind != TOKEN_NEWLINE)
        recipe_expected(p, "the end of the line");
    p->t++;
}

static void parse_head(parser *p)
{
    assay_recipe *r = p->r;
    recipe_expect(p, "recipe");
    if (p->t->kind != TOKEN_NAME)
        recipe_expected(p, "the name of the recipe");
    r->head = *p->t;
    r->name = r->head.text;
    r->family = assay_arena_copy(r->arena, r->name, strcspn(r->name, "."));
    p->t++;
    if (r->canonical && recipe_is_token(*p->t, "("))
        parse_settings(p);
    end_line(p);
    if (p->t->kind == TOKEN_STRING) {
        r->summary = p->t->text;
        p->t++;
        end_line(p);
    }
}

static void need_source(parser *p)
{
    assay_recipe *r = p->r;
    for (int i = 0; i < r->line_count; i++) {
        if (r->lines[i].kind != LINE_SOURCE)
            continue;
        if (r->lines[i].guard)
            recipe_fail(p->f, r, r->lines[i].at, "expected a source without a guard");
        r->source = r->lines[i].name.text;
        return;
    }
    if (!r->main && !r->canonical)
        recipe_fail(p->f, r, r->head,
                    "a recipe without source is an error: a contract must say whose it is");
    if (r->main)
        r->source = r->main->source;
}

/* A parameter must occur somewhere besides its own declaration. */
static void check_parameters_used(parser *p, const token *first, const assay_recipe *r)
{
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        size_t n = line->kind == LINE_PARAM ? strlen(line->name.text) : 0;
        bool used = n == 0;
        for (const token *t = first; !used && t->kind != TOKEN_END; t++)
            used = t->kind == TOKEN_NAME && !strncmp(t->text, line->name.text, n) &&
                   (t->text[n] == 0 || t->text[n] == '.') &&
                   (t == first || !recipe_is_token(t[-1], "param"));
        if (!used)
            recipe_fail(p->f, p->r, line->name, "%s is not used", line->name.text);
    }
}

static void parse_all(parser *p, size_t length)
{
    assay_recipe *r = p->r;
    size_t limit = r->canonical ? 64 * (size_t)RECIPE_TEXT_LIMIT : RECIPE_TEXT_LIMIT;
    if (length > limit)
        recipe_fail(p->f, r, (token){.line = 1, .column = 1}, "expected at most %d bytes of text",
                    RECIPE_TEXT_LIMIT);
    int count;
    const token *first = p->t = recipe_lex(r, p->f, length, &count);
    parse_head(p);
    recipe_parse_part(p);
    const token *end = p->t;
    need_source(p);
    recipe_list_instances(r, p->f);
    if (recipe_accept(p, "decode")) {
        end_line(p);
        assay_recipe *d = assay_arena_alloc(r->arena, sizeof *d);
        *d = (assay_recipe){.arena = r->arena, .file = r->file, .text = r->text,
                            .family = r->family, .summary = r->summary, .settings = "", .main = r,
                            .canonical = r->canonical, .head = *end};
        d->name = assay_arena_format(r->arena, "%s.decode", r->name);
        p->r = d;
        recipe_parse_part(p);
        need_source(p);
        recipe_list_instances(d, p->f);
        check_parameters_used(p, end, d);
        r->decode = d;
        p->r = r;
    }
    if (p->t->kind != TOKEN_END)
        recipe_expected(p, "the end of the file: one decode part is the last");
    check_parameters_used(p, first, r);
}

static int parse(const char *text, size_t length, const char *file, bool canonical,
                 assay_recipe **recipe, assay_recipe **decode, assay_error *error)
{
    assay_recipe *r = new_recipe(assay_arena_new(), text, length, file);
    recipe_failure *failure = assay_arena_alloc(r->arena, sizeof *failure);
    failure->error = error;
    r->canonical = canonical;
    parser *p = assay_arena_alloc(r->arena, sizeof *p);
    *p = (parser){.r = r, .f = failure};
    if (!setjmp(failure->jump))
        parse_all(p, length);
    if (failure->failed) {
        assay_arena_free(r->arena);
        return -1;
    }
    *recipe = r;
    if (decode)
        *decode = r->decode;
    return 0;
}

int assay_recipe_parse(const char *text, size_t length, const char *file, assay_recipe **recipe,
                       assay_recipe **decode, assay_error *error)
{
    return parse(text, length, file, false, recipe, decode, error);
}

int assay_recipe_parse_canonical(const char *text, size_t length, const char *file,
                                 assay_recipe **recipe, assay_error *error)
{
    return parse(text, length, file, true, recipe, NULL, error);
}

void assay_recipe_free(assay_recipe *r)
{
    if (r && !r->main)
        assay_arena_free(r->arena);
}

/* ---- what a recipe says of itself ---- */

const char *assay_recipe_name(const assay_recipe *r)
{
    return r->name;
}
const char *assay_recipe_family(const assay_recipe *r)
{
    return r->family;
}
const char *assay_recipe_summary(const assay_recipe *r)
{
    return r->summary;
}
const char *assay_recipe_source(const assay_recipe *r)
{
    return r->source;
}
const char *assay_recipe_text(const assay_recipe *r)
{
    return r->text;
}

int assay_recipe_parameters(const assay_recipe *r, const assay_parameter **parameters)
{
    *parameters = r->parameters;
    return r->parameter_count;
}

int assay_recipe_instance_count(const assay_recipe *r)
{
    return r->instance_count;
}

char *assay_recipe_instance_name(const assay_recipe *r, int i)
{
    recipe_env env = {r, r->instances + (size_t)i * (size_t)r->param_count};
    assay_arena *a = assay_arena_new();
    assay_text t = {0};
    assay_text_add(&t, "%s%s", r->name, recipe_env_settings(a, &env));
    assay_arena_free(a);
    return assay_text_take(&t);
}

/* ---- instances ---- */

/* Cuts "T=bf16, tile=1x16" into names and values; -1 and a message if it is something else. */
static int cut_choices(char *text, const char **names, const char **values, assay_error *error)
{
    int count = 0;
    char *s = text + strspn(text, " \t");
    while (*s) {
        size_t n = strcspn(s, "=, \t"), gap = strspn(s + n, " \t");
        if (!n || s[n + gap] != '=' || count == RECIPE_PARAM_LIMIT)
            return assay_fail(error, "'%s': parameters are written P=V, P=V", s);
        char *v = s + n + gap + 1;
        v += strspn(v, " \t");
        size_t m = strcspn(v, "=, \t");
        gap = strspn(v + m, " \t");
        if (!m || (v[m + gap] && v[m + gap] != ','))
            return assay_fail(error, "'%s': parameters are written P=V, P=V", s);
        bool more = v[m + gap] == ',';
        s[n] = 0;
        names[count] = s;
        values[count++] = v;
        s = v + m + gap + more;
        v[m] = 0;
        s += strspn(s, " \t");
    }
    return count;
}

assay_program *assay_recipe_instance(const assay_recipe *r, const char *choices,
                                     assay_recipe_finder find, void *context, assay_error *error)
{
    const char *names[RECIPE_PARAM_LIMIT], *values[RECIPE_PARAM_LIMIT];
    assay_arena *a = assay_arena_new();
    char *text = assay_arena_copy(a, choices ? choices : "", choices ? strlen(choices) : 0);
    int count = cut_choices(text, names, values, error);
    const uint8_t *choice = count < 0 ? NULL : recipe_choose(r, names, values, count, error);
    assay_arena_free(a);
    return choice ? recipe_check_instance(r, choice, find, context, error) : NULL;
}

int assay_recipe_check(const assay_recipe *r, assay_recipe_finder find, void *context,
                       assay_error *error)
{
    for (int i = 0; i < r->instance_count; i++) {
        const uint8_t *choice = r->instances + (size_t)i * (size_t)r->param_count;
        assay_program *p = recipe_check_instance(r, choice, find, context, error);
        if (!p)
            return -1;
        assay_program_free(p);
    }
    return 0;
}

void assay_program_free(assay_program *p)
{
    if (p && p->arena)
        assay_arena_free(((program_memory *)p->arena)->arena);
}
