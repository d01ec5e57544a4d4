/* Choosing an instance by the values of some parameters. */
#include <stdlib.h>
#include <string.h>

#include "recipe_syntax.h"

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
