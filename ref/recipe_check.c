/* One instance of a recipe -> a checked program: declarations, statements, the order of checks. */
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
        if (strcmp(s->alias_name[i], name.text))
            continue;
        c->facts[s->alias_value[i]].mentioned = true;
        return s->alias_value[i];
    }
    int v = check_find(c, name.text);
    if (v < 0)
        check_fail(c, name, "%s has no value here", name.text);
    if (c->p->values[v].role != ASSAY_INPUT)
        check_fail(c, name, "expected the name of an input");
    c->facts[v].mentioned = true;
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

/* ---- declarations ---- */

static void declare_in(checker *c, const recipe_line *line)
{
    assay_type type = check_type(c, line->type);
    if (type.kind == ASSAY_T_U8)
        check_fail(c, line->type, "expected another type: u8 is for outputs only");
    assay_tile tile = {1, 1}, pad = {1, 1};
    if (line->place != PLACE_ELEMENT)
        tile = check_shape(c, line->shape);
    if (line->pad.text)
        pad = check_shape(c, line->pad);
    if (!pad.rows || !pad.cols || (line->pad.text && line->place == PLACE_TABLE))
        check_fail(c, line->pad, "expected a shape RxC of an input that is no table");
    if (line->place == PLACE_TABLE && (!tile.rows || !tile.cols))
        check_fail(c, line->shape, "expected the rows and columns of the table, RxC");
    int v = check_new_value(c, line->name, ASSAY_INPUT, type, tile);
    assay_value *value = &c->p->values[v];
    value->pad = pad;
    if (line->place == PLACE_TABLE) {
        value->is_table = true;
        value->table_rows = tile.rows;
        value->table_cols = tile.cols;
        value->tile = (assay_tile){0, 0};
    }
    *ARENA_PUSH(c->arena, c->p->inputs, c->p->input_count) = v;
    bool element = line->place == PLACE_ELEMENT || assay_tile_equal(tile, (assay_tile){1, 1});
    if (c->p->main_input < 0 && element && !value->is_table)
        c->p->main_input = v;
}

static void declare_out(checker *c, const recipe_line *line)
{
    assay_tile tile = {1, 1};
    if (line->place == PLACE_PER)
        tile = check_shape(c, line->shape);
    int v = check_new_value(c, line->name, ASSAY_OUTPUT, check_type(c, line->type), tile);
    c->p->values[v].any_nan = line->any_nan;
    c->p->values[v].any_zero = line->any_zero;
    c->facts[v].declared_output = true;
    *ARENA_PUSH(c->arena, c->p->outputs, c->p->output_count) = v;
}

static void declare_feeds(checker *c, const recipe_line *line)
{
    if (line->kind != LINE_OUT || !line->feeds.text)
        return;
    assay_value *out = &c->p->values[check_find(c, line->name.text)];
    int v = check_find_input(c, line->feeds);
    const assay_value *in = &c->p->values[v];
    if (!assay_type_equal(in->type, out->type))
        check_fail(c, line->feeds, "%s is %s, the value is %s: round it", in->name,
                   assay_type_name(in->type), assay_type_name(out->type));
    if (!assay_tile_equal(in->tile, out->tile) || in->is_table)
        check_fail(c, line->feeds, "%s is declared for another tile", in->name);
    for (int i = 0; i < c->p->output_count; i++)
        if (c->p->values[c->p->outputs[i]].feeds == v)
            check_fail(c, line->feeds, "%s already has a value", in->name);
    out->feeds = v;
}

static void declare_nan(checker *c, token t)
{
    const assay_format *f = assay_format_find("f32");
    mpq_t q;
    mpq_init(q);
    recipe_number_parse(q, t.text);
    bool fits = mpz_cmp_ui(mpq_denref(q), 1) == 0 && mpz_sizeinbase(mpq_numref(q), 2) <= 32;
    uint64_t code = mpz_get_ui(mpq_numref(q));
    mpq_clear(q);
    if (!fits || assay_decode(f, code).class_ != ASSAY_CLASS_NAN)
        check_fail(c, t, "expected the code of an f32 NaN");
    c->p->nan_code = (uint32_t)code;
}

/* The recipe's nan; a decode part without one has its recipe's. */
void check_find_nan(checker *c, const assay_recipe *r)
{
    if (r->main)
        check_find_nan(c, r->main);
    for (int i = 0; i < r->line_count; i++)
        if (r->lines[i].kind == LINE_NAN && recipe_line_exists(&c->scope->env, &r->lines[i]))
            declare_nan(c, r->lines[i].name);
}

/* What is left of a require once its parameters are decided; it is open. */
static const syn *open_part(const recipe_env *env, const syn *e)
{
    if (e->kind != SYN_BINARY || (strcmp(e->at.text, "and") && strcmp(e->at.text, "or")))
        return e;
    recipe_truth a = recipe_require_holds(env, e->arg[0]);
    recipe_truth b = recipe_require_holds(env, e->arg[1]);
    return a != RECIPE_OPEN ? open_part(env, e->arg[1])
                            : b != RECIPE_OPEN ? open_part(env, e->arg[0]) : e;
}

/* The condition of an open require: halves that the parameters decide are left out. */
static assay_expr *check_require(checker *c, const syn *e)
{
    e = open_part(&c->scope->env, e);
    bool both = e->kind == SYN_BINARY && (!strcmp(e->at.text, "and") || !strcmp(e->at.text, "or"));
    if (!both && e->kind != SYN_NOT)
        return check_condition(c, e);
    assay_expr *arg[2] = {NULL, NULL};
    for (int i = 0; i < e->argc; i++)
        arg[i] = check_require(c, e->arg[i]);
    assay_op op = !both ? ASSAY_OP_NOT : strcmp(e->at.text, "and") ? ASSAY_OP_OR : ASSAY_OP_AND;
    return check_node(c, op, check_kind_type(ASSAY_T_BOOL), e->at, e->argc, arg);
}

void check_requires(checker *c, const assay_recipe *r)
{
    if (r->main)
        check_requires(c, r->main);
    assay_tile before = c->tile;
    c->shapes_only = true;
    c->tile = (assay_tile){0, 0};
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        if (line->kind != LINE_REQUIRE || !recipe_line_exists(&c->scope->env, line) ||
            recipe_require_holds(&c->scope->env, line->expr) != RECIPE_OPEN)
            continue;
        assay_expr *e = check_require(c, line->expr);
        if (!recipe_shape_node(e))
            check_fail(c, line->expr->at, "expected a condition of whole numbers on M and K");
        *ARENA_PUSH(c->arena, c->p->requires, c->p->require_count) = e;
    }
    c->shapes_only = false;
    c->tile = before;
}

/* ---- a decode part's inputs: the outputs that it reads ---- */

static bool names(const syn *e, const char *name)
{
    if (!e)
        return false;
    if (e->kind == SYN_NAME && !strcmp(e->at.text, name))
        return true;
    for (int i = 0; i < e->argc; i++)
        if (names(e->arg[i], name))
            return true;
    return false;
}

bool check_reads(checker *c, const assay_recipe *r, const char *name)
{
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        if (!recipe_line_exists(&c->scope->env, line))
            continue;
        bool found = line->kind != LINE_REQUIRE && names(line->expr, name);
        for (int j = 0; j < line->bind_count; j++)
            found = found || names(line->bind[j], name);
        if (found)
            return true;
    }
    return false;
}

static void declare_decoded(checker *c, const assay_recipe *r)
{
    if (!r->main)
        return;
    for (int i = 0; i < r->main->line_count; i++) {
        recipe_line line = r->main->lines[i];
        if (line.kind != LINE_OUT || !recipe_line_exists(&c->scope->env, &line) ||
            !check_reads(c, r, line.name.text))
            continue;
        assay_type type = check_type(c, line.type);
        if (type.kind == ASSAY_T_U8) /* read as numbers */
            line.type = (token){TOKEN_NAME, "u32", line.type.line, line.type.column};
        line.any_nan = line.any_zero = false;
        declare_in(c, &line);
    }
}

static void declare(checker *c, const assay_recipe *r)
{
    check_find_nan(c, r);
    declare_decoded(c, r);
    for (int i = 0; i < r->line_count; i++) {
        const recipe_line *line = &r->lines[i];
        if (!recipe_line_exists(&c->scope->env, line))
            continue;
        if (line->kind == LINE_IN)
            declare_in(c, line);
        else if (line->kind == LINE_OUT)
            declare_out(c, line);
    }
    for (int i = 0; i < r->line_count; i++)
        if (recipe_line_exists(&c->scope->env, &r->lines[i]))
            declare_feeds(c, &r->lines[i]);
    check_requires(c, r);
}

/* ---- statements ---- */

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

void check_statement_assign(checker *c, const recipe_line *line)
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
                check_statement_assign(c, line);
            else
                check_mark(c, line);
        }
    }
    for (int v = 0; v < c->p->value_count; v++)
        if (c->facts[v].declared_output && !c->facts[v].assigned &&
            find_full(c, c->scope->prefix, c->p->values[v].name + strlen(c->scope->prefix)) == v)
            check_fail(c, c->facts[v].at, "%s gets no value",
                       c->p->values[v].name + strlen(c->scope->prefix));
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
    declare(c, r);
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
    recipe_failure failure = {.error = error};
    assay_arena *arena = assay_arena_new();
    checker *c = assay_arena_alloc(arena, sizeof *c);
    scope *top = assay_arena_alloc(arena, sizeof *top);
    *top = (scope){.r = r, .env = {r, choice}, .prefix = ""};
    top->file = assay_arena_copy(arena, r->file, strlen(r->file));
    *c = (checker){.f = &failure, .arena = arena, .scope = top, .find = find,
                   .find_context = context};
    c->p = assay_arena_alloc(arena, sizeof *c->p);
    program_memory *memory = assay_arena_alloc(arena, sizeof *memory);
    memory->arena = arena;
    c->p->arena = memory;
    c->p->main_input = -1;
    c->p->nan_code = 0x7FC00000;
    if (!setjmp(failure.jump)) {
        name_program(c, r);
        check_all(c, r);
    }
    finish(c, r, &top->env, true);
    if (failure.failed) {
        assay_arena_free(arena);
        return NULL;
    }
    assay_program_identify(c->p);
    return c->p;
}
