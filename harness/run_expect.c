/* --expect: the verdicts of an earlier run against these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "run.h"

static char *key_of(const json_t *verdict)
{
    const char *part[3];
    static const char *const names[3] = {"adapter", "recipe", "class"};
    for (int i = 0; i < 3; i++) {
        part[i] = json_string_value(json_object_get(verdict, names[i]));
        part[i] = part[i] ? part[i] : "";
    }
    char *key = NULL;
    return asprintf(&key, "%s\t%s\t%s", part[0], part[1], part[2]) < 0 ? NULL : key;
}

int run_expect_load(run_state *s, assay_error *error)
{
    if (!s->o->expect)
        return 0;
    json_error_t where;
    json_t *root = json_load_file(s->o->expect, 0, &where);
    if (!root && json_error_code(&where) == json_error_cannot_open_file)
        return assay_fail(error, "%s: cannot be read: %s; give the file that an earlier run wrote "
                          "with -o", s->o->expect, strerror(errno));
    const json_t *list = json_object_get(root, "verdicts");
    if (!json_is_array(list)) {
        json_decref(root);
        return assay_fail(error, "%s:%d: no results of assay run: %s; give the file that an earlier "
                          "run wrote with -o", s->o->expect, root ? 1 : where.line,
                          root ? "it has no verdicts" : where.text);
    }
    s->expected = json_object();
    s->met = json_object();
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        char *key = key_of(v);
        if (key)
            json_object_set(s->expected, key, json_object_get(v, "verdict"));
        free(key);
    }
    json_decref(root);
    return 0;
}

static bool good(const json_t *verdict)
{
    const char *word = json_string_value(verdict);
    return word && (!strcmp(word, "pass") || !strcmp(word, "acceptable"));
}

const char *run_expect_compare(run_state *s, const json_t *verdict)
{
    if (!s->expected)
        return NULL;
    char *key = key_of(verdict);
    const json_t *before = key ? json_object_get(s->expected, key) : NULL;
    const json_t *now = json_object_get(verdict, "verdict");
    const char *word = "NEW";
    if (before) {
        json_object_set_new(s->met, key, json_true());
        word = json_equal(before, now)       ? "SAME"
               : good(now) && !good(before)  ? "FIX"
               : !good(now) && good(before)  ? "REGRESSION"
                                             : "SAME";
    }
    free(key);
    return word;
}

int run_expect_missing(run_state *s)
{
    const char *key;
    json_t *before;
    int missing = 0;
    json_object_foreach(s->expected, key, before) {
        if (json_object_get(s->met, key))
            continue;
        char *copy = strdup(key), *rest = copy;
        const char *adapter = strsep(&rest, "\t"), *recipe = strsep(&rest, "\t");
        fprintf(stderr, "assay: MISSING: %s  %s  %s (was %s)\n", adapter, recipe, rest,
                json_string_value(before));
        free(copy);
        missing++;
    }
    return missing ? STATUS_DIFFERS : STATUS_OK;
}
