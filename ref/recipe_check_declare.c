/* Declarations: inputs, outputs, nan, require; the inputs of a decode part. */
#include <string.h>

#include "recipe_check.h"

/* Evaluators hold a table, and a matrix up to its padding, in memory. */
enum { MOST_ELEMENTS = 1 << 20 };

static void check_size(checker *c, token at, assay_tile shape, const char *what)
{
    if (shape.rows > 0 && shape.cols > MOST_ELEMENTS / shape.rows)
        check_fail(c, at, "expected a %s of at most %d elements", what, MOST_ELEMENTS);
}

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
    check_size(c, line->pad, pad, "pad");
    if (line->place == PLACE_TABLE)
        check_size(c, line->shape, tile, "table");
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
    for (int i = 0; i < r->line_count; i++) { /* its own name is not its recipe's output */
        const recipe_line *line = &r->lines[i];
        bool own = line->kind == LINE_IN || line->kind == LINE_OUT || line->kind == LINE_ASSIGN;
        if (own && !strcmp(line->name.text, name) && recipe_line_exists(&c->scope->env, line))
            return false;
    }
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

void check_declarations(checker *c, const assay_recipe *r)
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
