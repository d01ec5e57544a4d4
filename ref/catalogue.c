/* The recipes built into the library: an index by name, each text parsed when it is first wanted.
 * The index and the parsed recipes are a cache of constant data behind a lock, kept to the end. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_check.h"

extern const struct {
    const char *file;
    const unsigned char *text;
    size_t size;
} assay_catalogue_data[];
extern const int assay_catalogue_data_count;

typedef struct {
    char *name;
    int text;              /* index into assay_catalogue_data */
    bool decode;
    assay_recipe *recipe;  /* once parsed */
} entry;

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    entry *entries;
    int count;
} catalogue = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* The first word of a line, without parsing: where it begins, and how long it is. */
static const char *line_word(const char *line, size_t *length)
{
    line += strspn(line, " \t");
    *length = strcspn(line, " \t\r\n#(");
    return line;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static char *scan_name(const char *text)
{
    size_t n;
    for (const char *line = text; *line; line = next_line(line)) {
        const char *word = line_word(line, &n);
        if (n != 6 || strncmp(word, "recipe", 6))
            continue;
        word = line_word(word + n, &n);
        char *name = calloc(n + 1, 1);
        if (name)
            memcpy(name, word, n);
        return name;
    }
    return NULL;
}

static bool scan_decode(const char *text)
{
    size_t n;
    for (const char *line = text; *line; line = next_line(line)) {
        const char *word = line_word(line, &n);
        if (n == 6 && !strncmp(word, "decode", 6))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void make_index(void)
{
    int texts = assay_catalogue_data_count;
    entry *main_entries = calloc((size_t)texts + 1, sizeof(entry));
    entry *all = calloc(2 * (size_t)texts + 1, sizeof(entry));
    if (!main_entries || !all)
        abort();
    int found = 0, count = 0;
    for (int i = 0; i < texts; i++) {
        char *name = scan_name((const char *)assay_catalogue_data[i].text);
        if (name)
            main_entries[found++] = (entry){.name = name, .text = i};
    }
    qsort(main_entries, (size_t)found, sizeof(entry), by_name);
    for (int i = 0; i < found; i++) {
        entry e = main_entries[i];
        all[count++] = e;
        if (!scan_decode((const char *)assay_catalogue_data[e.text].text))
            continue;
        size_t n = strlen(e.name);
        char *name = malloc(n + sizeof ".decode");
        if (!name)
            abort();
        memcpy(name, e.name, n);
        memcpy(name + n, ".decode", sizeof ".decode");
        all[count++] = (entry){.name = name, .text = e.text, .decode = true};
    }
    free(main_entries);
    catalogue.entries = all;
    catalogue.count = count;
}

static void need_index(void)
{
    pthread_once(&catalogue.once, make_index);
}

int assay_catalogue_count(void)
{
    need_index();
    return catalogue.count;
}

const char *assay_catalogue_name(int i)
{
    need_index();
    return catalogue.entries[i].name;
}

/* Parses the text of entry i if that was not done before; the lock is held. */
static int parse_entry(int i, assay_error *error)
{
    entry *e = &catalogue.entries[i];
    if (e->recipe)
        return 0;
    int text = e->text;
    assay_recipe *recipe, *decode;
    if (assay_recipe_parse((const char *)assay_catalogue_data[text].text,
                           assay_catalogue_data[text].size, assay_catalogue_data[text].file,
                           &recipe, &decode, error))
        return -1;
    for (int j = 0; j < catalogue.count; j++)
        if (catalogue.entries[j].text == text)
            catalogue.entries[j].recipe = catalogue.entries[j].decode ? decode : recipe;
    return 0;
}

assay_recipe *assay_catalogue_recipe(int i, assay_error *error)
{
    need_index();
    pthread_mutex_lock(&catalogue.lock);
    int bad = parse_entry(i, error);
    assay_recipe *r = catalogue.entries[i].recipe;
    pthread_mutex_unlock(&catalogue.lock);
    return bad ? NULL : r;
}

assay_recipe *assay_catalogue_find(const char *name, assay_error *error)
{
    need_index();
    const char **names = malloc(sizeof *names * ((size_t)catalogue.count + 1));
    if (!names)
        abort();
    for (int i = 0; i < catalogue.count; i++) {
        names[i] = catalogue.entries[i].name;
        if (!strcmp(names[i], name)) {
            free(names);
            return assay_catalogue_recipe(i, error);
        }
    }
    const char *near = recipe_nearest(name, names, catalogue.count);
    assay_fail(error, "there is no recipe '%s'%s%s%s; `assay recipes` lists them", name,
               near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
    free(names);
    return NULL;
}

static assay_recipe *find_in_catalogue(void *context, const char *name)
{
    (void)context;
    assay_error unused;
    return assay_catalogue_find(name, &unused);
}

assay_program *assay_catalogue_program(const char *instance, assay_error *error)
{
    size_t n = strcspn(instance, "("), length = strlen(instance);
    while (length && (instance[length - 1] == ' ' || instance[length - 1] == '\n'))
        length--;
    size_t end = n;
    while (end && instance[end - 1] == ' ')
        end--;
    bool settings = instance[n] == '(';
    if (settings && instance[length - 1] != ')') {
        assay_fail(error, "'%s': an instance is written NAME(P=V, ...)", instance);
        return NULL;
    }
    assay_arena *a = assay_arena_new();
    char *name = assay_arena_copy(a, instance, end);
    char *choices =
        settings ? assay_arena_copy(a, instance + n + 1, length - n - 2) : NULL;
    assay_recipe *r = assay_catalogue_find(name, error);
    assay_program *p =
        r ? assay_recipe_instance(r, choices, find_in_catalogue, NULL, error) : NULL;
    assay_arena_free(a);
    return p;
}
