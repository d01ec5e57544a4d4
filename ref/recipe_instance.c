/* The list of a recipe's instances. */
#include <stdlib.h>
#include <string.h>

#include "recipe_syntax.h"

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
            recipe_check_guard(r, f, r->lines[i].guard);
        if (r->lines[i].section_guard)
            recipe_check_guard(r, f, r->lines[i].section_guard);
    }
    for (int i = 0; i < r->param_require_count; i++)
        recipe_check_require(r, f, r->param_requires[i]);
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
