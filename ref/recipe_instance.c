/* Parameters: guards, the list of instances, and the choice of one. */
#include <stdlib.h>
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
static void check_guard(const assay_recipe *r, recipe_failure *f, const syn *e)
{
    if (e->kind == SYN_NOT || (e->kind == SYN_BINARY && is_sign(e, logic))) {
        for (int i = 0; i < e->argc; i++)
            check_guard(r, f, e->arg[i]);
        return;
    }
    if (e->kind != SYN_BINARY || !is_sign(e, order))
        recipe_fail(f, r, e->at, "a guard may only compare parameters");
    check_operand(r, f, e->arg[0]);
    check_operand(r, f, e->arg[1]);
}

/* -1, 0, 1; 2: different and without order; 3: a parameter that does not exist here. */
static int compare(const recipe_env *env, const syn *a, const syn *b)
{
    token t[2] = {a->at, b->at};
    for (int i = 0; i < 2; i++) {
        if (t[i].kind != TOKEN_NAME || !recipe_is_param(env->r, t[i].text))
            continue;
        const token *choice = recipe_env_find(env, t[i].text);
        if (!choice)
            return 3;
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
    if (c == 3)
        return false;
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
static void check_require(const assay_recipe *r, recipe_failure *f, const syn *e)
{
    if (!recipe_names_shape(e)) {
        check_guard(r, f, e);
        return;
    }
    if (e->kind == SYN_NOT || (e->kind == SYN_BINARY && is_sign(e, logic)))
        for (int i = 0; i < e->argc; i++)
            check_require(r, f, e->arg[i]);
}

/* ---- the list of instances ---- */

typedef struct {
    assay_recipe *r;
    recipe_failure *f;
    uint8_t choice[RECIPE_PARAM_LIMIT];
    int visits, room;
} walk;

static void keep_instance(walk *w)
{
    assay_recipe *r = w->r;
    recipe_env env = {r, w->choice};
    for (int i = 0; i < r->param_require_count; i++)
        if (recipe_guard_holds(&env, r->param_require_guards[i]) &&
            recipe_require_holds(&env, r->param_requires[i]) == RECIPE_FALSE)
            return;
    if (r->instance_count == RECIPE_INSTANCE_LIMIT)
        recipe_fail(w->f, r, r->head, "expected at most %d instances", RECIPE_INSTANCE_LIMIT);
    size_t n = (size_t)r->param_count;
    if (r->instance_count == w->room) {
        w->room = w->room ? w->room * 2 : 16;
        uint8_t *larger = assay_arena_alloc(r->arena, n * (size_t)w->room + 1);
        if (r->instance_count)
            memcpy(larger, r->instances, n * (size_t)r->instance_count);
        r->instances = larger;
    }
    memcpy(r->instances + n * (size_t)r->instance_count++, w->choice, n);
}

static void visit(walk *w, int param)
{
    assay_recipe *r = w->r;
    if (++w->visits > RECIPE_VISIT_LIMIT)
        recipe_fail(w->f, r, r->head, "expected at most %d combinations of parameters",
                    RECIPE_VISIT_LIMIT);
    if (param == r->param_count) {
        keep_instance(w);
        return;
    }
    const recipe_param *q = &r->params[param];
    recipe_env env = {r, w->choice};
    if (!recipe_guard_holds(&env, q->guard)) {
        visit(w, param + 1);
        return;
    }
    if (recipe_env_find(&env, q->name.text))
        recipe_fail(w->f, r, q->name, "parameter %s is declared twice in one instance",
                    q->name.text);
    for (int i = 0; i < q->choice_count; i++) {
        w->choice[param] = (uint8_t)i;
        visit(w, param + 1);
    }
    w->choice[param] = RECIPE_ABSENT;
}

/* A guard of a parameter may look only at parameters declared before it. */
static void check_earlier(const assay_recipe *r, recipe_failure *f, const syn *e, int param)
{
    for (int i = 0; i < e->argc; i++)
        check_earlier(r, f, e->arg[i], param);
    if (e->kind != SYN_NAME || !recipe_is_param(r, e->at.text))
        return;
    for (int i = 0; i < param; i++)
        if (!strcmp(r->params[i].name.text, e->at.text))
            return;
    recipe_fail(f, r, e->at, "%s has no value here", e->at.text);
}

static void collect_lines(assay_recipe *r, const assay_recipe *from, recipe_failure *f)
{
    for (int i = 0; i < from->line_count; i++) {
        const recipe_line *line = &from->lines[i];
        if (line->kind == LINE_PARAM) {
            if (r->param_count == RECIPE_PARAM_LIMIT)
                recipe_fail(f, r, line->at, "expected at most %d parameters", RECIPE_PARAM_LIMIT);
            *ARENA_PUSH(r->arena, r->params, r->param_count) =
                (recipe_param){line->name, line->guard, line->names, line->name_count};
        } else if (line->kind == LINE_REQUIRE) {
            int n = r->param_require_count;
            *ARENA_PUSH(r->arena, r->param_requires, r->param_require_count) = line->expr;
            *ARENA_PUSH(r->arena, r->param_require_guards, n) = line->guard;
        }
    }
}

static void merge_parameters(assay_recipe *r)
{
    for (int i = 0; i < r->param_count; i++) {
        const recipe_param *q = &r->params[i];
        int at = 0;
        while (at < r->parameter_count && strcmp(r->parameters[at].name, q->name.text))
            at++;
        if (at == r->parameter_count)
            *ARENA_PUSH(r->arena, r->parameters, r->parameter_count) =
                (assay_parameter){.name = q->name.text};
        assay_parameter *m = &r->parameters[at];
        const char **merged = assay_arena_alloc(
            r->arena, sizeof *merged * (size_t)(m->choice_count + q->choice_count));
        int n = 0;
        for (; n < m->choice_count; n++)
            merged[n] = m->choices[n];
        for (int j = 0; j < q->choice_count; j++) {
            int k = 0;
            while (k < n && strcmp(merged[k], q->choices[j].text))
                k++;
            if (k == n)
                merged[n++] = q->choices[j].text;
        }
        m->choices = merged;
        m->choice_count = n;
    }
}

void recipe_list_instances(assay_recipe *r, recipe_failure *f)
{
    if (r->main)
        collect_lines(r, r->main, f);
    collect_lines(r, r, f);
    for (int i = 0; i < r->param_count; i++)
        for (int j = 0; j < r->params[i].choice_count; j++)
            if (recipe_is_param(r, r->params[i].choices[j].text))
                recipe_fail(f, r, r->params[i].choices[j], "%s is also the name of a parameter",
                            r->params[i].choices[j].text);
    for (int i = 0; i < r->line_count; i++) {
        if (r->lines[i].guard)
            check_guard(r, f, r->lines[i].guard);
        if (r->lines[i].section_guard)
            check_guard(r, f, r->lines[i].section_guard);
    }
    for (int i = 0; i < r->param_require_count; i++)
        check_require(r, f, r->param_requires[i]);
    for (int i = 0; i < r->param_count; i++)
        if (r->params[i].guard)
            check_earlier(r, f, r->params[i].guard, i);
    walk w = {.r = r, .f = f};
    memset(w.choice, RECIPE_ABSENT, sizeof w.choice);
    visit(&w, 0);
    if (!r->instance_count)
        recipe_fail(f, r, r->head, "no instance is left");
    merge_parameters(r);
}

char *recipe_env_settings(assay_arena *a, const recipe_env *env)
{
    assay_text t = {0};
    for (int i = 0; i < env->r->param_count; i++) {
        const recipe_param *q = &env->r->params[i];
        if (env->choice[i] == RECIPE_ABSENT || q->choice_count == 1)
            continue;
        assay_text_add(&t, "%s%s=%s", t.length ? ", " : "(", q->name.text,
                       q->choices[env->choice[i]].text);
    }
    if (t.length)
        assay_text_add(&t, ")");
    char *made = assay_text_take(&t);
    char *kept = assay_arena_copy(a, made, strlen(made));
    free(made);
    return kept;
}

/* ---- choosing one ---- */

static void join_choices(assay_text *t, const char *const *words, int count, const char *between)
{
    for (int i = 0; i < count; i++)
        assay_text_add(t, "%s%s", i ? between : "", words[i]);
}

static int no_parameter(const assay_recipe *r, const char *name, assay_error *error)
{
    const char *names[RECIPE_PARAM_LIMIT];
    for (int i = 0; i < r->parameter_count; i++)
        names[i] = r->parameters[i].name;
    assay_text t = {0};
    join_choices(&t, names, r->parameter_count, ", ");
    char *list = assay_text_take(&t);
    const char *near = recipe_nearest(name, names, r->parameter_count);
    assay_fail(error, "%s has no parameter %s: %s%s%s%s%s", r->name, name,
               *list ? "it has " : "it has none", list, near ? "; did you mean " : "",
               near ? near : "", near ? "?" : "");
    free(list);
    return -1;
}

static int no_choice(const assay_recipe *r, const assay_parameter *p, const char *value,
                     assay_error *error)
{
    assay_text t = {0};
    join_choices(&t, p->choices, p->choice_count, " | ");
    char *list = assay_text_take(&t);
    const char *near = recipe_nearest(value, p->choices, p->choice_count);
    assay_fail(error, "%s: %s has no alternative %s: it has %s%s%s%s", r->name, p->name, value, list,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    free(list);
    return -1;
}

static int check_choice(const assay_recipe *r, const char *name, const char *value,
                        assay_error *error)
{
    for (int i = 0; i < r->parameter_count; i++) {
        const assay_parameter *p = &r->parameters[i];
        if (strcmp(p->name, name))
            continue;
        for (int j = 0; j < p->choice_count; j++)
            if (!strcmp(p->choices[j], value))
                return 0;
        return no_choice(r, p, value, error);
    }
    return no_parameter(r, name, error);
}

const uint8_t *recipe_choose(const assay_recipe *r, const char *const *names,
                             const char *const *values, int count, assay_error *error)
{
    for (int i = 0; i < count; i++)
        if (check_choice(r, names[i], values[i], error))
            return NULL;
    for (int n = 0; n < r->instance_count; n++) {
        recipe_env env = {r, r->instances + (size_t)n * (size_t)r->param_count};
        int i = 0;
        for (; i < count; i++) {
            const token *t = recipe_env_find(&env, names[i]);
            if (!t || strcmp(t->text, values[i]))
                break;
        }
        if (i == count)
            return env.choice;
    }
    assay_text t = {0};
    for (int i = 0; i < count; i++)
        assay_text_add(&t, "%s%s=%s", i ? ", " : "", names[i], values[i]);
    char *list = assay_text_take(&t);
    assay_fail(error, "%s has no instance with %s: these do not go together; `assay recipes %s "
                      "--instances` lists those that exist", r->name, list, r->name);
    free(list);
    return NULL;
}
