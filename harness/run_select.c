#include "run_select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char **run_split(const char *list, int *count)
{
    char **words = NULL;
    *count = 0;
    while (list && *list) {
        int depth = 0;
        char quote = 0;
        size_t n = 0;
        for (; list[n] && (depth || quote || list[n] != ','); n++) {
            char c = list[n];
            if (quote)
                quote = c == quote ? 0 : quote;
            else if (c == '\'' || c == '"')
                quote = c;
            else if (c == '(' || c == '{')
                depth++;
            else if ((c == ')' || c == '}') && depth)
                depth--;
        }
        size_t from = strspn(list, " ") < n ? strspn(list, " ") : n;
        size_t end = n;
        while (end > from && list[end - 1] == ' ')
            end--;
        if (end > from) {
            words = realloc(words, (size_t)(*count + 1) * sizeof *words);
            words[(*count)++] = strndup(list + from, end - from);
        }
        list += n + (list[n] == ',');
    }
    return words;
}

void run_split_free(char **words, int count)
{
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

static void add_name(run_selection *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->names[i], name))
            return;
    s->names = realloc(s->names, (size_t)(s->count + 1) * sizeof *s->names);
    s->names[s->count++] = strdup(name);
}

static void add_primary(run_selection *s, const assay_recipe *r)
{
    char **names = NULL;
    int n = assay_primary_instances(r, &names);
    for (int i = 0; i < n; i++)
        add_name(s, names[i]);
    run_split_free(names, n > 0 ? n : 0);
}

/* Spaces after commas are a matter of taste. */
static char *without_spaces(const char *text)
{
    char *copy = strdup(text), *to = copy;
    for (; copy && *text; text++)
        if (*text != ' ')
            *to++ = *text;
    if (copy)
        *to = '\0';
    return copy;
}

static int add_matching(run_selection *s, const assay_recipe *r, const char *glob)
{
    char *pattern = without_spaces(glob);
    int matched = 0;
    for (int i = 0; pattern && i < assay_recipe_instance_count(r); i++) {
        char *name = assay_recipe_instance_name(r, i), *plain = name ? without_spaces(name) : NULL;
        if (plain && fnmatch(pattern, plain, 0) == 0) {
            add_name(s, name);
            matched++;
        }
        free(plain);
        free(name);
    }
    free(pattern);
    return matched;
}

/* One recipe against one glob: the number of instances added, or -1. */
static int match_recipe(run_selection *s, const assay_recipe *r, const char *glob)
{
    const char *name = assay_recipe_name(r), *open = strchr(glob, '(');
    int before = s->count;
    if (!open) {
        if (fnmatch(glob, name, 0))
            return 0;
        add_primary(s, r);
        return s->count > before ? s->count - before : 1;
    }
    char *of_recipe = strndup(glob, (size_t)(open - glob));
    bool same = of_recipe && fnmatch(of_recipe, name, 0) == 0;
    free(of_recipe);
    if (!same)
        return 0;
    if (!strcmp(open, "(*)") && assay_recipe_instance_count(r) == 1) { /* no parameters */
        add_primary(s, r);
        return 1;
    }
    return add_matching(s, r, glob);
}

/* `NAME(P=V)`: completed with defaults. */
static int add_instance(run_selection *s, const char *text, assay_error *error)
{
    assay_program *p = run_selected_program(s, text, error);
    if (!p)
        return -1;
    add_name(s, p->name);
    assay_program_free(p);
    return 0;
}

static int match_glob(run_selection *s, const char *glob, assay_error *error)
{
    int matched = 0, count = s->own ? 1 : assay_catalogue_count();
    bool wild = strpbrk(glob, "*?") != NULL;
    if (strchr(glob, '(') && !wild)
        return add_instance(s, glob, error);
    size_t stem = strcspn(glob, "(");
    for (int i = 0; i < count; i++) {
        if (!s->own) { /* without parsing what cannot match */
            char *part = strndup(glob, stem);
            bool may = part && fnmatch(part, assay_catalogue_name(i), 0) == 0;
            free(part);
            if (!may)
                continue;
        }
        assay_recipe *r = s->own ? s->own : assay_catalogue_recipe(i, error);
        if (!r)
            return -1;
        matched += match_recipe(s, r, glob);
    }
    if (!matched)
        return assay_fail(error, "no recipe matches '%s'; `assay recipes` lists them, "
                          "'NAME(*)' takes all instances of one", glob);
    return 0;
}

static char *read_text(const char *path, size_t *size, assay_error *error)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0;
    if (!f) {
        assay_fail(error, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    for (size_t room = 65536; (text = realloc(text, room)); room *= 2) {
        used += fread(text + used, 1, room - used, f);
        if (used < room)
            break;
    }
    if (ferror(f)) {
        assay_fail(error, "%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    fclose(f);
    *size = used;
    return text;
}

static assay_recipe *find_used(void *context, const char *name)
{
    (void)context;
    assay_error error;
    return assay_catalogue_find(name, &error);
}

int run_select(const char *globs, const char *file, run_selection *s, assay_error *error)
{
    *s = (run_selection){0};
    size_t size = 0;
    if (file) {
        assay_recipe *decode = NULL;
        s->own_text = read_text(file, &size, error);
        if (!s->own_text || assay_recipe_parse(s->own_text, size, file, &s->own, &decode, error))
            return -1;
    }
    int count;
    char **words = run_split(globs ? globs : "*", &count);
    int status = 0;
    for (int i = 0; i < count && !status; i++)
        status = match_glob(s, words[i], error) != 0;
    run_split_free(words, count);
    return status ? -1 : 0;
}

void run_selection_free(run_selection *s)
{
    run_split_free(s->names, s->count);
    assay_recipe_free(s->own);
    free(s->own_text);
    *s = (run_selection){0};
}

assay_program *run_selected_program(const run_selection *s, const char *name, assay_error *error)
{
    if (!s->own)
        return assay_catalogue_program(name, error);
    const char *open = strchr(name, '(');
    char *choices = open ? strndup(open + 1, strcspn(open + 1, ")")) : NULL;
    assay_program *p = assay_recipe_instance(s->own, choices, find_used, NULL, error);
    free(choices);
    return p;
}
