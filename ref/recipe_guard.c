/* Guards and requires: what may stand in them, and whether they hold for a choice of parameters. */
#include <string.h>

#include "recipe_syntax.h"

/* ---- names ---- */

bool recipe_is_param(const assay_recipe *r, const char *name)
{
    for (int i = 0; i < r->param_count; i++)
        if (!strcmp(r->params[i].name.text, name))
            return true;
    return false;
}

const token *recipe_env_find(const recipe_env *env, const char *name)
{
    const assay_recipe *r = env->r;
    for (int i = 0; i < r->param_count; i++)
        if (env->choice[i] != RECIPE_ABSENT && !strcmp(r->params[i].name.text, name))
            return &r->params[i].choices[env->choice[i]];
    return NULL;
}

static bool is_alternative(const assay_recipe *r, const char *word)
{
    for (int i = 0; i < r->param_count; i++)
        for (int j = 0; j < r->params[i].choice_count; j++)
            if (!strcmp(r->params[i].choices[j].text, word))
                return true;
    return false;
}

bool recipe_names_shape(const syn *e)
{
    if (e->kind == SYN_NAME)
        return recipe_is_token(e->at, "M") || recipe_is_token(e->at, "K");
    for (int i = 0; i < e->argc; i++)
        if (recipe_names_shape(e->arg[i]))
            return true;
    return false;
}

/* ---- guards ---- */

static bool is_sign(const syn *e, const char *const *signs)
{
    for (; *signs; signs++)
        if (!strcmp(e->at.text, *signs))
            return true;
    return false;
}
static const char *const logic[] = {"and", "or", NULL};
static const char *const order[] = {"==", "!=", "<", "<=", ">", ">=", NULL};

static void check_operand(const assay_recipe *r, recipe_failure *f, const syn *e)
{
    if (e->kind == SYN_NUMBER || e->kind == SYN_SHAPE)
        return;
    if (e->kind == SYN_NAME && (recipe_is_param(r, e->at.text) || is_alternative(r, e->at.text) ||
                                assay_format_find(e->at.text)))
        return;
    recipe_fail(f, r, e->at, "a guard may only compare parameters");
}

/* A guard is comparisons of parameters, numbers, shapes and words under and, or, not. */
void recipe_check_guard(const assay_recipe *r, recipe_failure *f, const syn *e)
{
    if (e->kind == SYN_NOT || (e->kind == SYN_BINARY && is_sign(e, logic))) {
        for (int i = 0; i < e->argc; i++)
            recipe_check_guard(r, f, e->arg[i]);
        return;
    }
    if (e->kind != SYN_BINARY || !is_sign(e, order))
        recipe_fail(f, r, e->at, "a guard may only compare parameters");
    check_operand(r, f, e->arg[0]);
    check_operand(r, f, e->arg[1]);
}

/* -1, 0, 1; 2: different and without order, as what does not exist in this instance is from all. */
static int compare(const recipe_env *env, const syn *a, const syn *b)
{
    token t[2] = {a->at, b->at};
    for (int i = 0; i < 2; i++) {
        if (t[i].kind != TOKEN_NAME || !recipe_is_param(env->r, t[i].text))
            continue;
        const token *choice = recipe_env_find(env, t[i].text);
        if (!choice)
            return 2;
        t[i] = *choice;
    }
    if (t[0].kind != TOKEN_NUMBER || t[1].kind != TOKEN_NUMBER)
        return strcmp(t[0].text, t[1].text) ? 2 : 0;
    mpq_t p, q;
    mpq_init(p);
    mpq_init(q);
    recipe_number_parse(p, t[0].text);
    recipe_number_parse(q, t[1].text);
    int c = mpq_cmp(p, q);
    mpq_clear(p);
    mpq_clear(q);
    return c < 0 ? -1 : c > 0;
}

bool recipe_guard_holds(const recipe_env *env, const syn *e)
{
    if (!e)
        return true;
    if (e->kind == SYN_NOT)
        return !recipe_guard_holds(env, e->arg[0]);
    if (!strcmp(e->at.text, "and"))
        return recipe_guard_holds(env, e->arg[0]) && recipe_guard_holds(env, e->arg[1]);
    if (!strcmp(e->at.text, "or"))
        return recipe_guard_holds(env, e->arg[0]) || recipe_guard_holds(env, e->arg[1]);
    int c = compare(env, e->arg[0], e->arg[1]);
    switch (e->at.text[0]) {
    case '=':
        return c == 0;
    case '!':
        return c != 0;
    case '<':
        return c == -1 || (c == 0 && e->at.text[1]);
    default:
        return c == 1 || (c == 0 && e->at.text[1]);
    }
}

bool recipe_line_exists(const recipe_env *env, const recipe_line *line)
{
    return recipe_guard_holds(env, line->section_guard) && recipe_guard_holds(env, line->guard);
}

recipe_truth recipe_require_holds(const recipe_env *env, const syn *e)
{
    if (!recipe_names_shape(e))
        return recipe_guard_holds(env, e) ? RECIPE_TRUE : RECIPE_FALSE;
    if (e->kind == SYN_NOT) {
        recipe_truth t = recipe_require_holds(env, e->arg[0]);
        return t == RECIPE_OPEN ? t : t == RECIPE_TRUE ? RECIPE_FALSE : RECIPE_TRUE;
    }
    if (e->kind != SYN_BINARY || !is_sign(e, logic))
        return RECIPE_OPEN;
    recipe_truth decides = strcmp(e->at.text, "and") ? RECIPE_TRUE : RECIPE_FALSE;
    recipe_truth a = recipe_require_holds(env, e->arg[0]);
    recipe_truth b = recipe_require_holds(env, e->arg[1]);
    return a == decides || b == decides ? decides : a == RECIPE_OPEN ? a : b;
}

/* What a require says of parameters must be as a guard; what it says of M and K is checked later. */
void recipe_check_require(const assay_recipe *r, recipe_failure *f, const syn *e)
{
    if (!recipe_names_shape(e)) {
        recipe_check_guard(r, f, e);
        return;
    }
    if (e->kind == SYN_NOT || (e->kind == SYN_BINARY && is_sign(e, logic)))
        for (int i = 0; i < e->argc; i++)
            recipe_check_require(r, f, e->arg[i]);
}
