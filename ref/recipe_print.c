/* Canonical text (LANGUAGE.md section 15): expressions and statements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

/* What the grammar calls them, from loosest to tightest. */
enum { LEVEL_IF, LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_BIT, LEVEL_SUM, LEVEL_TERM,
       LEVEL_UNARY, LEVEL_PRIMARY };

const char *recipe_tile_text(assay_tile tile, char buffer[48])
{
    static const struct {
        assay_tile tile;
        const char *word;
    } named[] = {{{0, 0}, "tensor"}, {{1, 0}, "row"}, {{0, 1}, "column"}, {{1, 1}, "element"}};
    for (int i = 0; i < 4; i++)
        if (assay_tile_equal(named[i].tile, tile))
            return named[i].word;
    snprintf(buffer, 48, "%" PRId64 "x%" PRId64, tile.rows, tile.cols);
    return buffer;
}

/* ---- options ---- */

void recipe_print_cast_options(assay_text *t, const assay_format *f, const assay_cast *cast,
                               uint32_t f32_nan, const char *random)
{
    assay_cast usual = assay_cast_default(f);
    if (!strcmp(f->name, "f32"))
        usual.nan_code = f32_nan;
    if (cast->mode == ASSAY_STOCHASTIC)
        assay_text_add(t, ", stochastic(%s, %d)", random, cast->random_bits);
    else if (cast->mode != usual.mode)
        assay_text_add(t, ", %s", assay_mode_name(cast->mode));
    if (cast->overflow != usual.overflow)
        assay_text_add(t, ", %s", assay_overflow_name(cast->overflow));
    if (cast->nan_code != usual.nan_code)
        assay_text_add(t, ", nan %" PRIu64, cast->nan_code);
    if (cast->nan_sign)
        assay_text_add(t, ", nan_sign");
    if (cast->ftz)
        assay_text_add(t, ", ftz");
}

/* ---- expressions ---- */

typedef struct {
    const assay_program *p;
    assay_text *t;
} printer;

static void print_expr(const printer *w, const assay_expr *e, int least);

static bool is_binary(const assay_expr *e, int *level, bool *chains)
{
    *chains = false;
    switch (e->op) {
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
        if (e->u.arith.mode != ASSAY_EVEN || e->u.arith.ftz)
            return false;
        *chains = true;
        *level = e->op == ASSAY_OP_ADD || e->op == ASSAY_OP_SUB ? LEVEL_SUM : LEVEL_TERM;
        return true;
    case ASSAY_OP_IADD:
    case ASSAY_OP_ISUB:
        *chains = true;
        *level = LEVEL_SUM;
        return true;
    case ASSAY_OP_IMUL:
    case ASSAY_OP_IDIV:
    case ASSAY_OP_IMOD:
        *chains = true;
        *level = LEVEL_TERM;
        return true;
    case ASSAY_OP_IAND:
    case ASSAY_OP_IOR:
    case ASSAY_OP_SHL:
    case ASSAY_OP_SHR:
        *level = LEVEL_BIT;
        return true;
    case ASSAY_OP_EQ:
    case ASSAY_OP_NE:
    case ASSAY_OP_LT:
    case ASSAY_OP_LE:
    case ASSAY_OP_GT:
    case ASSAY_OP_GE:
        *level = LEVEL_COMPARE;
        return true;
    case ASSAY_OP_AND:
    case ASSAY_OP_OR:
        *chains = true;
        *level = e->op == ASSAY_OP_AND ? LEVEL_AND : LEVEL_OR;
        return true;
    default:
        return false;
    }
}

static const char *sign_of(assay_op op)
{
    switch (op) {
    case ASSAY_OP_ADD:
        return "+";
    case ASSAY_OP_SUB:
        return "-";
    case ASSAY_OP_MUL:
        return "*";
    case ASSAY_OP_DIV:
        return "/";
    default:
        return assay_op_word(op);
    }
}

static int level_of(const assay_expr *e)
{
    int level;
    bool chains;
    if (is_binary(e, &level, &chains))
        return level;
    switch (e->op) {
    case ASSAY_OP_IF:
        return LEVEL_IF;
    case ASSAY_OP_NOT:
        return LEVEL_NOT;
    case ASSAY_OP_NEG:
    case ASSAY_OP_INEG:
        return LEVEL_UNARY;
    case ASSAY_OP_CONST:
        return e->u.constant.text[0] == '-' ? LEVEL_UNARY : LEVEL_PRIMARY;
    case ASSAY_OP_WIDEN:
    case ASSAY_OP_TO_U8:
        return level_of(e->arg[0]);
    default:
        return LEVEL_PRIMARY;
    }
}

static void print_arguments(const printer *w, const assay_expr *e, const char *word)
{
    assay_text_add(w->t, "%s(", word);
    for (int i = 0; i < e->argc; i++) {
        assay_text_add(w->t, i ? ", " : "");
        print_expr(w, e->arg[i], LEVEL_IF);
    }
}

static void print_mode(const printer *w, const assay_expr *e)
{
    if (e->u.arith.mode != ASSAY_EVEN)
        assay_text_add(w->t, ", %s", assay_mode_name(e->u.arith.mode));
    if (e->u.arith.ftz)
        assay_text_add(w->t, ", ftz");
}

static void print_cast(const printer *w, const assay_expr *e)
{
    assay_text_add(w->t, "%s(", e->type.format->name);
    print_expr(w, e->arg[0], LEVEL_IF);
    char *random = e->argc > 1 ? assay_expr_print(w->p, e->arg[1]) : NULL;
    recipe_print_cast_options(w->t, e->type.format, &e->u.cast, w->p->nan_code, random);
    free(random);
    assay_text_add(w->t, ")");
}

static void print_call(const printer *w, const assay_expr *e)
{
    static const char *const orders[] = {[ASSAY_SUM_SEQ] = "seq", [ASSAY_SUM_TREE] = "tree",
                                         [ASSAY_SUM_PAIRS] = "pairs", [ASSAY_SUM_EXACT] = "exact"};
    char shape[48];
    const assay_value *values = w->p->values;
    switch (e->op) {
    case ASSAY_OP_CODE:
        assay_text_add(w->t, "code(%s, ", e->type.format->name);
        print_expr(w, e->arg[0], LEVEL_IF);
        break;
    case ASSAY_OP_AT:
        assay_text_add(w->t, "at(%s, ", values[e->u.value].name);
        print_expr(w, e->arg[0], LEVEL_IF);
        assay_text_add(w->t, ", ");
        print_expr(w, e->arg[1], LEVEL_IF);
        break;
    default:
        print_arguments(w, e, assay_op_word(e->op));
    }
    if ((e->op >= ASSAY_OP_ADD && e->op <= ASSAY_OP_RINT))
        print_mode(w, e);
    else if (e->op == ASSAY_OP_APPROX)
        assay_text_add(w->t, ", %d", e->u.approx.n);
    else if (e->op == ASSAY_OP_RED_SUM || e->op == ASSAY_OP_RED_DOT)
        assay_text_add(w->t, ", %s", orders[e->u.reduce.order]);
    else if (e->op == ASSAY_OP_HADAMARD)
        assay_text_add(w->t, ", %s, %" PRIu32, recipe_tile_text(e->u.transform.run, shape),
                       e->u.transform.mask);
    else if (e->op == ASSAY_OP_ROTATE)
        assay_text_add(w->t, ", %s, %s", recipe_tile_text(e->u.transform.run, shape),
                       values[e->u.transform.table].name);
    assay_text_add(w->t, ")");
}

static void print_binary(const printer *w, const assay_expr *e, int level, bool chains)
{
    /* Operands of comparisons and of bit operators are one level tighter on both sides. */
    print_expr(w, e->arg[0], chains ? level : level + 1);
    assay_text_add(w->t, " %s ", sign_of(e->op));
    print_expr(w, e->arg[1], level + 1);
}

static void print_bare(const printer *w, const assay_expr *e)
{
    int level;
    bool chains;
    if (is_binary(e, &level, &chains)) {
        print_binary(w, e, level, chains);
        return;
    }
    switch (e->op) {
    case ASSAY_OP_CONST:
        assay_text_add(w->t, "%s", e->u.constant.text);
        break;
    case ASSAY_OP_VALUE:
        assay_text_add(w->t, "%s", w->p->values[e->u.value].name);
        break;
    case ASSAY_OP_ROW:
    case ASSAY_OP_COL:
    case ASSAY_OP_INDEX:
    case ASSAY_OP_DIM_M:
    case ASSAY_OP_DIM_K:
        assay_text_add(w->t, "%s", assay_op_word(e->op));
        break;
    case ASSAY_OP_WIDEN:
    case ASSAY_OP_TO_U8:
        print_bare(w, e->arg[0]);
        break;
    case ASSAY_OP_NEG:
    case ASSAY_OP_INEG:
        assay_text_add(w->t, "-");
        print_expr(w, e->arg[0], LEVEL_UNARY);
        break;
    case ASSAY_OP_NOT:
        assay_text_add(w->t, "not ");
        print_expr(w, e->arg[0], LEVEL_NOT);
        break;
    case ASSAY_OP_IF:
        assay_text_add(w->t, "if ");
        print_expr(w, e->arg[0], LEVEL_IF);
        assay_text_add(w->t, " then ");
        print_expr(w, e->arg[1], LEVEL_IF);
        assay_text_add(w->t, " else ");
        print_expr(w, e->arg[2], LEVEL_IF);
        break;
    case ASSAY_OP_CAST:
        print_cast(w, e);
        break;
    default:
        print_call(w, e);
    }
}

static void print_expr(const printer *w, const assay_expr *e, int least)
{
    bool parentheses = level_of(e) < least;
    assay_text_add(w->t, parentheses ? "(" : "");
    print_bare(w, e);
    assay_text_add(w->t, parentheses ? ")" : "");
}

char *assay_expr_print(const assay_program *p, const assay_expr *e)
{
    assay_text t = {0};
    print_expr(&(printer){p, &t}, e, LEVEL_IF);
    return assay_text_take(&t);
}

char *assay_statement_print(const assay_program *p, const assay_statement *s)
{
    assay_text t = {0};
    if (s->kind == ASSAY_ASSIGN) {
        assay_text_add(&t, "%s = ", p->values[s->target].name);
    } else {
        assay_text_add(&t, "unspecified ");
        for (int i = 0; i < s->marked_count; i++)
            assay_text_add(&t, "%s%s", i ? ", " : "", p->values[s->marked[i]].name);
        assay_text_add(&t, " when ");
    }
    print_expr(&(printer){p, &t}, s->expr, LEVEL_IF);
    return assay_text_take(&t);
}
