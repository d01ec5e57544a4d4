/* Recipes and their instances for `assay eval`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../vectors/dtype.h"
#include "command.h"
#include "eval_plan.h"

static char *read_text(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    size_t capacity = 1 << 16, n;
    char *text = malloc(capacity);
    *length = 0;
    while (text && (n = fread(text + *length, 1, capacity - *length, in)) > 0) {
        *length += n;
        if (*length == capacity) {
            char *grown = realloc(text, capacity *= 2);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    if (text && ferror(in)) {
        free(text);
        text = NULL;
    }
    int why = errno;
    fclose(in);
    errno = why;
    return text;
}

static int load_file(const eval_options *o, eval_recipe *r)
{
    size_t length;
    assay_error error;
    char *text = read_text(o->recipe_file, &length);
    if (!text)
        return complain(STATUS_FILE, "%s: cannot be read: %s", o->recipe_file, strerror(errno));
    int failed = assay_recipe_parse(text, length, o->recipe_file, &r->recipe, &r->decode, &error);
    free(text);
    if (failed)
        return complain(STATUS_FILE, "%s", error.message);
    r->owned = r->recipe;
    return STATUS_OK;
}

static int load_catalogue(const char *name, eval_recipe *r)
{
    assay_error error;
    r->recipe = assay_catalogue_find(name, &error);
    if (!r->recipe)
        return complain(STATUS_USAGE, "%s", error.message);
    char *decode = NULL;
    if (asprintf(&decode, "%s.decode", name) >= 0)
        r->decode = assay_catalogue_find(decode, &error);
    free(decode);
    return STATUS_OK;
}

int eval_recipe_load(const eval_options *o, eval_recipe *r)
{
    *r = (eval_recipe){.choices = "", .text = strdup(o->recipe ? o->recipe : "")};
    if (!r->text)
        return complain(STATUS_FILE, "out of memory");
    char *open = strchr(r->text, '('), *close = strrchr(r->text, ')');
    if (open) {
        if (!close || close < open || close[1])
            return complain(STATUS_USAGE, "'%s': write an instance as NAME(P=V, ...)", o->recipe);
        *open = *close = 0;
        r->choices = open + 1;
    }
    int status = o->recipe_file ? load_file(o, r) : load_catalogue(r->text, r);
    if (status != STATUS_OK || !o->recipe_file || !*r->text)
        return status;
    if (!strcmp(r->text, assay_recipe_name(r->recipe)))
        return STATUS_OK;
    if (r->decode && !strcmp(r->text, assay_recipe_name(r->decode)) && !o->decode) {
        r->recipe = r->decode;
        r->decode = NULL;
        return STATUS_OK;
    }
    return complain(STATUS_USAGE, "%s holds the recipe %s, not %s", o->recipe_file,
                    assay_recipe_name(r->recipe), r->text);
}

static assay_recipe *find_in_catalogue(void *context, const char *name)
{
    (void)context;
    return assay_catalogue_find(name, NULL);
}

static const assay_parameter *parameter_of(const assay_recipe *r, const char *name)
{
    const assay_parameter *all;
    int n = r ? assay_recipe_parameters(r, &all) : 0;
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

/* "a" and "b" -> "a, b"; frees a. */
static char *join(char *a, const char *name, const char *value)
{
    char *joined = NULL;
    if (a && asprintf(&joined, "%s%s%s=%s", a, *a ? ", " : "", name, value) < 0)
        joined = NULL;
    free(a);
    return joined;
}

/* Does a list "P=V, Q=W" name P? */
static bool names(const char *choices, const char *parameter)
{
    size_t n = strlen(parameter);
    for (const char *at = choices; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (!strncmp(at, parameter, n) && at[n + strspn(at + n, " ")] == '=')
            return true;
    }
    return false;
}

/* The user's choices: those in parentheses, then --set of parameters. */
static char *user_choices(eval_plan *plan)
{
    char *choices = strdup(plan->recipe.choices);
    for (int i = 0; choices && i < plan->options->set_count; i++) {
        eval_setting *s = &plan->options->sets[i];
        if (parameter_of(plan->recipe.recipe, s->name)) {
            s->used = true;
            choices = join(choices, s->name, s->value);
        }
    }
    return choices;
}

/* The decode part of an instance: the same parameters, the user's for its own. */
static assay_program *decode_of(eval_plan *plan, const assay_program *p, assay_error *error)
{
    const assay_recipe *r = plan->recipe.decode;
    if (!r) {
        assay_fail(error, "%s has no decode part: leave out --decode", p->recipe);
        return NULL;
    }
    char *choices = strdup("");
    for (int i = 0; choices && i < p->choice_count; i++)
        if (!p->choices[i].derived && parameter_of(r, p->choices[i].name))
            choices = join(choices, p->choices[i].name, p->choices[i].choice);
    for (int i = 0; choices && i < plan->options->set_count; i++) {
        eval_setting *s = &plan->options->sets[i];
        if (parameter_of(r, s->name) && !names(choices, s->name)) {
            s->used = true;
            choices = join(choices, s->name, s->value);
        }
    }
    assay_program *decode = NULL;
    if (choices)
        decode = assay_recipe_instance(r, choices, find_in_catalogue, NULL, error);
    else
        assay_fail(error, "out of memory");
    free(choices);
    return decode;
}

/* Takes `choices`; the instance goes into the plan's cache. */
static const eval_instance *instance_make(eval_plan *plan, char *choices, assay_error *error)
{
    for (const eval_instance *i = plan->instances; choices && i; i = i->next)
        if (!strcmp(i->choices, choices)) {
            free(choices);
            return i;
        }
    eval_instance *made = calloc(1, sizeof *made);
    if (!made || !choices) {
        free(made);
        free(choices);
        assay_fail(error, "out of memory");
        return NULL;
    }
    made->choices = choices;
    made->program = assay_recipe_instance(plan->recipe.recipe, choices, find_in_catalogue, NULL,
                                          error);
    bool good = made->program != NULL;
    if (good && !plan->options->exact)
        good = (made->fast = assay_fast_compile(made->program, error)) != NULL;
    if (good && plan->options->decode)
        good = (made->decode = decode_of(plan, made->program, error)) != NULL;
    if (good && made->decode && !plan->options->exact)
        good = (made->decode_fast = assay_fast_compile(made->decode, error)) != NULL;
    if (!good) {
        assay_fast_free(made->fast);
        assay_program_free(made->decode);
        assay_program_free(made->program);
        free(made->choices);
        free(made);
        return NULL;
    }
    made->next = plan->instances;
    plan->instances = made;
    return made;
}

static bool takes(const eval_instance *i, const char *dtype)
{
    const assay_program *p = i->program;
    return p->main_input >= 0 && dtype_fits(p->values[p->main_input].type, dtype);
}

static const eval_instance *with_choice(eval_plan *plan, const char *choices,
                                        const assay_parameter *p, const char *dtype)
{
    const char *word = dtype_word(dtype);
    assay_error ignored;
    if (!word || names(choices, p->name))
        return NULL;
    for (int i = 0; i < p->choice_count; i++)
        if (!strcmp(p->choices[i], word)) {
            const eval_instance *made =
                instance_make(plan, join(strdup(choices), p->name, word), &ignored);
            return made && takes(made, dtype) ? made : NULL;
        }
    return NULL;
}

const eval_instance *eval_instance_for(eval_plan *plan, const char *dtype, assay_error *why)
{
    char *choices = user_choices(plan);
    const eval_instance *base = choices ? instance_make(plan, strdup(choices), why) : NULL;
    const eval_instance *found = base && takes(base, dtype) ? base : NULL;
    const assay_parameter *all, *t = parameter_of(plan->recipe.recipe, "T");
    int n = assay_recipe_parameters(plan->recipe.recipe, &all);
    if (base && !found && t)
        found = with_choice(plan, choices, t, dtype);
    for (int i = 0; base && !found && i < n; i++)
        found = with_choice(plan, choices, &all[i], dtype);
    if (base && !found) {
        const assay_program *p = base->program;
        if (p->main_input < 0)
            assay_fail(why, "%s has no input with one value an element", p->name);
        else
            assay_fail(why, "its dtype is %s, input %s of %s is %s", dtype,
                       p->values[p->main_input].name, p->name,
                       assay_type_name(p->values[p->main_input].type));
    }
    free(choices);
    return found;
}

int eval_parse_value(assay_type type, const char *text, uint64_t *code, assay_error *error)
{
    bool hex = !strncmp(text, "0x", 2) || !strncmp(text, "0X", 2);
    char *end;
    int width = type.kind == ASSAY_T_FORMAT ? assay_format_width(type.format)
                                            : 8 * assay_type_storage(type);
    if (type.kind == ASSAY_T_FORMAT && (!hex || strpbrk(text, "pP."))) {
        assay_exact x;
        assay_exact_init(&x);
        bool good = assay_exact_parse(&x, text);
        assay_cast cast = assay_cast_default(type.format);
        *code = good ? assay_round(type.format, &x, &cast, 0).code : 0;
        assay_exact_clear(&x);
        return good ? 0 : assay_fail(error, "'%s' is not a number", text);
    }
    errno = 0;
    *code = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    bool negative = *text == '-' && type.kind == ASSAY_T_I32 && (int64_t)*code >= INT32_MIN;
    if (negative)
        *code = (uint32_t)*code;
    if (errno || end == text || *end || (*text == '-' && !negative) ||
        (width < 64 && *code >> width))
        return assay_fail(error, "'%s' is not a value of %s", text, assay_type_name(type));
    return 0;
}
