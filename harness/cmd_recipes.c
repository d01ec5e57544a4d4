/* assay recipes: the catalogue, one recipe's text and instances, checking a recipe file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "recipes_diff.h"
#include "recipes_page.h"

static const char help[] =
    "usage: assay recipes [NAME] [--json] [--instances]\n"
    "       assay recipes --diff A B [--json]\n"
    "       assay recipes --check FILE...\n"
    "\n"
    "Without a name: the recipes of the catalogue. NAME: one recipe's text, then its\n"
    "formats, bytes, traps, and what becomes of some blocks, as comments; NAME(P=V, ...): the\n"
    "canonical text of that instance and its identity.\n"
    "\n"
    "  --json        one JSON document: name, family, summary, source, inputs, outputs, params,\n"
    "                instances, sha256 (of the default instance), systems\n"
    "  --instances   the names of all instances of NAME, one a line; with --json and without NAME:\n"
    "                `instances` is these names, not their count\n"
    "  --diff A B    in words, where two instances part; status 0: the same numerics and bytes\n"
    "  --check FILE  parse and check recipe files, every instance of each\n"
    "\n"
    "example: assay recipes 'te.nvfp4(T=f32, tile=16x16)'\n";

static assay_recipe *find(void *context, const char *name)
{
    (void)context;
    assay_error unused;
    return assay_catalogue_find(name, &unused);
}

/* ---- JSON ---- */

static json_t *json_values(const assay_program *p, const int *which, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const assay_value *v = &p->values[which[i]];
        json_t *o = json_pack("{s:s, s:s}", "name", v->name, "type", assay_type_name(v->type));
        assay_tile t = v->is_table ? (assay_tile){v->table_rows, v->table_cols} : v->tile;
        json_t *tile = json_array();
        json_array_append_new(tile, t.rows ? json_integer(t.rows) : json_string("*"));
        json_array_append_new(tile, t.cols ? json_integer(t.cols) : json_string("*"));
        json_object_set_new(o, v->is_table ? "table" : "tile", tile);
        if (v->feeds >= 0)
            json_object_set_new(o, "feeds", json_string(p->values[v->feeds].name));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_parameters(const assay_recipe *r)
{
    const assay_parameter *parameters;
    int count = assay_recipe_parameters(r, &parameters);
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *choices = json_array();
        for (int j = 0; j < parameters[i].choice_count; j++)
            json_array_append_new(choices, json_string(parameters[i].choices[j]));
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", parameters[i].name, "choices", choices));
    }
    return list;
}

static json_t *json_instances(const assay_recipe *r)
{
    json_t *list = json_array();
    for (int i = 0; i < assay_recipe_instance_count(r); i++) {
        char *name = assay_recipe_instance_name(r, i);
        json_array_append_new(list, json_string(name));
        free(name);
    }
    return list;
}

static json_t *json_recipe(const assay_recipe *r, const assay_program *p, bool instances)
{
    json_t *count = instances ? json_instances(r) : json_integer(assay_recipe_instance_count(r));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "name", assay_recipe_name(r),
                     "family", assay_recipe_family(r), "summary", assay_recipe_summary(r), "source",
                     assay_recipe_source(r), "inputs",
                     json_values(p, p->inputs, p->input_count), "outputs",
                     json_values(p, p->outputs, p->output_count), "params", json_parameters(r),
                     "instances", count, "sha256", p->sha256);
}

/* The vendors whose default instance is this contract: the recipe's own family first, then those of
 * other recipes of the list with the same identity. */
static void add_systems(json_t *list)
{
    size_t i, j;
    json_t *a, *b;
    json_array_foreach(list, i, a) {
        json_t *systems = json_array();
        json_array_append(systems, json_object_get(a, "family"));
        json_array_foreach(list, j, b) {
            bool same = json_equal(json_object_get(a, "sha256"), json_object_get(b, "sha256"));
            size_t k = 0;
            while (k < json_array_size(systems) &&
                   !json_equal(json_array_get(systems, k), json_object_get(b, "family")))
                k++;
            if (same && k == json_array_size(systems))
                json_array_append(systems, json_object_get(b, "family"));
        }
        json_object_set_new(a, "systems", systems);
    }
}

/* A recipe that is broken is reported and left out; the others are listed all the same. */
static json_t *json_catalogue(bool instances, int *status)
{
    json_t *list = json_array();
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_error error;
        assay_recipe *r = assay_catalogue_recipe(i, &error);
        assay_program *p = r ? assay_recipe_instance(r, NULL, find, NULL, &error) : NULL;
        if (p)
            json_array_append_new(list, json_recipe(r, p, instances));
        else
            *status = complain(STATUS_FILE, "%s", error.message);
        assay_program_free(p);
    }
    add_systems(list);
    return list;
}

static int list_json(bool instances)
{
    int status = STATUS_OK;
    json_t *list = json_catalogue(instances, &status);
    return status_worst(print_json(list), status);
}

/* One recipe as the list has it, with its text and the rest of its page; NULL if it is broken. */
static json_t *describe(const assay_recipe *r, int *status)
{
    json_t *list = json_catalogue(false, status), *o, *found = NULL;
    size_t i;
    json_array_foreach(list, i, o)
        if (!strcmp(json_string_value(json_object_get(o, "name")), assay_recipe_name(r)))
            found = json_incref(o);
    json_decref(list);
    assay_error error;
    assay_program *p = found ? assay_recipe_instance(r, NULL, find, NULL, &error) : NULL;
    if (p) {
        json_object_set_new(found, "text", json_string(assay_recipe_text(r)));
        recipes_page_add(found, r, p);
    }
    assay_program_free(p);
    return found;
}

static int show_page(const assay_recipe *r, bool json)
{
    int status = STATUS_OK;
    json_t *o = describe(r, &status);
    if (!o)
        return status;
    if (json)
        return status_worst(print_json(o), status);
    recipes_page_print(o, r);
    json_decref(o);
    return status_worst(finish_output(), status);
}

/* ---- text ---- */

static int list_text(void)
{
    int status = STATUS_OK;
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_error error;
        const assay_recipe *r = assay_catalogue_recipe(i, &error);
        if (r)
            printf("%-30s %6d  %s\n", assay_recipe_name(r), assay_recipe_instance_count(r),
                   assay_recipe_summary(r));
        else
            status = complain(STATUS_FILE, "%s", error.message);
    }
    return status_worst(finish_output(), status);
}

static int print_instances(const assay_recipe *r, bool json)
{
    if (json)
        return print_json(json_instances(r));
    for (int i = 0; i < assay_recipe_instance_count(r); i++) {
        char *name = assay_recipe_instance_name(r, i);
        puts(name);
        free(name);
    }
    return finish_output();
}

static int print_program(const char *instance, bool json)
{
    assay_error error;
    assay_program *p = assay_catalogue_program(instance, &error);
    if (!p)
        return complain(STATUS_USAGE, "%s", error.message);
    int status;
    if (json) {
        status = print_json(json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", p->name, "sha256",
                                      p->sha256, "layout_sha256", p->layout_sha256, "text",
                                      p->canonical, "inputs",
                                      json_values(p, p->inputs, p->input_count), "outputs",
                                      json_values(p, p->outputs, p->output_count)));
    } else {
        printf("%s# sha256 %s, layout %s\n", p->canonical, p->sha256, p->layout_sha256);
        status = finish_output();
    }
    assay_program_free(p);
    return status;
}

static int show(const char *name, bool json, bool instances)
{
    assay_error error;
    if (strchr(name, '('))
        return print_program(name, json);
    const assay_recipe *r = assay_catalogue_find(name, &error);
    if (!r)
        return complain(STATUS_USAGE, "%s", error.message);
    if (instances)
        return print_instances(r, json);
    return show_page(r, json);
}

/* ---- checking ---- */

static char *read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = NULL;
    size_t used = 0, room = 0, n;
    do {
        if (used == room) {
            room = room ? room * 2 : 1 << 16;
            char *larger = realloc(text, room);
            if (!larger) {
                free(text);
                fclose(f);
                return NULL;
            }
            text = larger;
        }
        n = fread(text + used, 1, room - used, f);
        used += n;
    } while (n && used <= 1 << 20);
    int bad = ferror(f);
    int why = errno;
    fclose(f);
    *length = used;
    if (bad) {
        free(text);
        errno = why;
        return NULL;
    }
    return text;
}

static int check_file(const char *path)
{
    size_t length;
    errno = 0;
    char *text = read_file(path, &length);
    if (!text)
        return complain(STATUS_FILE, "%s: %s", path, strerror(errno ? errno : ENOMEM));
    assay_error error;
    assay_recipe *r, *decode = NULL;
    int bad = assay_recipe_parse(text, length, path, &r, &decode, &error);
    free(text);
    if (bad) {
        fprintf(stderr, "%s\n", error.message);
        return STATUS_FILE;
    }
    bad = assay_recipe_check(r, find, NULL, &error) ||
          (decode && assay_recipe_check(decode, find, NULL, &error));
    if (bad)
        fprintf(stderr, "%s\n", error.message);
    else
        printf("%s: %s, %d instance%s%s\n", path, assay_recipe_name(r),
               assay_recipe_instance_count(r), assay_recipe_instance_count(r) == 1 ? "" : "s",
               decode ? ", and its decode part" : "");
    assay_recipe_free(r);
    return bad ? STATUS_FILE : STATUS_OK;
}

typedef struct {
    bool json, instances, check, diff, help;
    char **words;
    int count;
} recipes_options;

static int read_options(int argc, char **argv, recipes_options *o)
{
    static const char *const names[] = {"--json", "--instances", "--check", "--diff", "--help", "-h"};
    bool *const places[] = {&o->json, &o->instances, &o->check, &o->diff, &o->help, &o->help};
    enum { NAMES = sizeof names / sizeof *names };
    int status = STATUS_OK;
    for (int i = 1; i < argc; i++) {
        int n = 0;
        while (n < NAMES && strcmp(argv[i], names[n]))
            n++;
        if (n < NAMES)
            *places[n] = true;
        else if (argv[i][0] == '-' && argv[i][1])
            status = complain(STATUS_USAGE, "recipes: there is no option '%s'; see --help", argv[i]);
        else
            o->words[o->count++] = argv[i];
    }
    if (status != STATUS_OK || o->help)
        return status;
    if (o->diff && (o->check || o->instances || o->count != 2))
        return complain(STATUS_USAGE, "recipes: --diff needs the names of two recipes; see --help");
    if (o->check && o->count < 1)
        return complain(STATUS_USAGE, "recipes: --check needs a file; see --help");
    if (!o->check && !o->diff && (o->count > 1 || (o->instances && !o->count && !o->json)))
        return complain(STATUS_USAGE, "recipes: give one recipe's name; see --help");
    return STATUS_OK;
}

static int act(const recipes_options *o)
{
    int status = STATUS_OK;
    if (o->help) {
        fputs(help, stdout);
        return finish_output();
    }
    if (o->diff)
        return recipes_diff_print(o->words[0], o->words[1], o->json);
    if (o->check) {
        for (int i = 0; i < o->count; i++)
            status = status_worst(status, check_file(o->words[i]));
        return status;
    }
    if (o->count)
        return show(o->words[0], o->json, o->instances);
    return o->json ? list_json(o->instances) : list_text();
}

int cmd_recipes(int argc, char **argv)
{
    recipes_options o = {.words = malloc(sizeof *o.words * (size_t)argc)};
    if (!o.words)
        return complain(STATUS_FILE, "out of memory");
    int status = read_options(argc, argv, &o);
    if (status == STATUS_OK)
        status = act(&o);
    free(o.words);
    return status;
}
