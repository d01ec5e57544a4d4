/* From the word on the command line to a program to start. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_host.h"
#include "worker.h"

enum { PLACES = 16 };

typedef struct {
    char *at[PLACES]; /* folders that may hold NAME.so or NAME/worker.py */
    int count;
} places;

static void add_place(places *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_place(places *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (p->count < PLACES && vasprintf(&p->at[p->count], format, arguments) >= 0)
        p->count++;
    va_end(arguments);
}

/* The folder of the running program, without a slash at the end. */
static void program_folder(char *folder, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", folder, size - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

static places where_to_look(void)
{
    places p = {.count = 0};
    const char *named = getenv("ASSAY_ADAPTERS");
    while (named && *named && p.count < PLACES / 2) {
        size_t n = strcspn(named, ":");
        if (n)
            add_place(&p, "%.*s", (int)n, named);
        named += n + (named[n] == ':');
    }
    char folder[PATH_MAX];
    program_folder(folder, sizeof folder);
    add_place(&p, "%s/adapters", folder);
    add_place(&p, "%s/build/adapters", folder);
    add_place(&p, "%s/../adapters", folder);
    add_place(&p, "%s/../../adapters", folder);
    add_place(&p, "%s/../lib/assay/adapters", folder);
    add_place(&p, "adapters");
    return p;
}

static void free_places(places *p)
{
    for (int i = 0; i < p->count; i++)
        free(p->at[i]);
}

static char *exists(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *exists(const char *format, ...)
{
    char *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&path, format, arguments) < 0)
        path = NULL;
    va_end(arguments);
    if (path && access(path, R_OK)) {
        free(path);
        path = NULL;
    }
    return path;
}

/* ---- interpreters ---- */

static char *interpreter(const char *adapters)
{
    const char *named = getenv("ASSAY_PYTHON");
    if (named && *named)
        return strdup(named);
    char *path = exists("%s/../.venv-vendors/bin/python", adapters);
    if (!path)
        path = exists("%s/../.venv/bin/python", adapters);
    return path ? path : strdup("python3");
}

static char *shared_side(const places *p, const char *adapters)
{
    char *path = exists("%s/worker.py", adapters);
    for (int i = 0; i < p->count && !path; i++)
        path = exists("%s/worker.py", p->at[i]);
    return path;
}

/* ---- the spec ---- */

static void set_host(adapter_spec *s, const char *what)
{
    s->argv[0] = strdup("/proc/self/exe");
    s->argv[1] = strdup(RUN_HOST_FLAG);
    s->argv[2] = strdup(what);
}

static int find_named(adapter_spec *s, assay_error *error)
{
    places p = where_to_look();
    for (int i = 0; i < p.count && !s->argv[0]; i++) {
        if ((s->path = exists("%s/%s.so", p.at[i], s->name))) {
            set_host(s, s->path);
        } else if ((s->path = exists("%s/%s/worker.py", p.at[i], s->name))) {
            s->argv[0] = interpreter(p.at[i]);
            s->argv[1] = strdup("-u");
            s->argv[2] = shared_side(&p, p.at[i]);
            s->argv[3] = strdup(s->path);
            if (!s->argv[2])
                assay_fail(error, "adapter %s: %s is there, but the file worker.py that all workers "
                           "share is in none of the adapter folders", s->name, s->path);
        }
    }
    int status = 0;
    if (!s->argv[0]) {
        char list[1024] = "";
        for (int i = 0; i < p.count; i++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "\n  %s", p.at[i]);
        status = assay_fail(error, "adapter %s: there is neither %s.so nor %s/worker.py in%s\n"
                            "build it (make all), put its folder into $ASSAY_ADAPTERS, or give the "
                            "path of a .so", s->name, s->name, s->name, list);
    } else if (!s->argv[2]) {
        status = -1;
    }
    free_places(&p);
    return status;
}

static int find_file(adapter_spec *s, assay_error *error)
{
    s->path = realpath(s->name, NULL);
    if (!s->path || access(s->path, R_OK))
        return assay_fail(error, "adapter %s: %s; give the path of a shared object that exports "
                          "assay_adapter_main()", s->name, strerror(errno));
    set_host(s, s->path);
    return 0;
}

void adapter_spec_free(adapter_spec *s)
{
    free(s->text), free(s->name), free(s->options), free(s->path);
    for (size_t i = 0; i < sizeof s->argv / sizeof s->argv[0]; i++)
        free(s->argv[i]);
    *s = (adapter_spec){0};
}

/* Quotes around the options keep commas from separating adapters; they are no part of them. */
static char *unquoted(const char *text)
{
    size_t n = strlen(text);
    bool quoted = n >= 2 && (*text == '\'' || *text == '"') && text[n - 1] == *text;
    return quoted ? strndup(text + 1, n - 2) : strdup(text);
}

int adapter_find(const char *text, adapter_spec *s, assay_error *error)
{
    *s = (adapter_spec){.text = strdup(text)};
    const char *so = strstr(text, ".so:"), *colon = so ? so + 3 : strchr(text, ':');
    if (!so && strlen(text) > 3 && !strcmp(text + strlen(text) - 3, ".so"))
        colon = NULL;
    s->name = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
    s->options = unquoted(colon ? colon + 1 : "");
    if (!s->text || !s->name || !s->options)
        return assay_fail(error, "out of memory");
    int status = 0;
    if (run_builtin_find(s->name)) {
        char what[64];
        snprintf(what, sizeof what, "builtin:%.40s", s->name);
        set_host(s, what);
        if (!*s->options)
            status = assay_fail(error, "adapter %s: what follows the colon is missing: %s:%s",
                                s->name, s->name, !strcmp(s->name, "recipe") ? "RECIPE"
                                : !strcmp(s->name, "command") ? "'./tool {in} {out}'" : "FILE");
        s->path = strdup("");
    } else {
        size_t n = strlen(s->name);
        bool file = strchr(s->name, '/') || (n > 3 && !strcmp(s->name + n - 3, ".so"));
        status = file ? find_file(s, error) : find_named(s, error);
    }
    if (status)
        adapter_spec_free(s);
    return status;
}
