#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../ref/assay.h"

static const double WRITE_EVERY = 2; /* seconds */

int write_file_atomically(const char *path, const char *text, size_t size, assay_error *error)
{
    char *temporary = NULL;
    struct stat there;
    bool special = stat(path, &there) == 0 && !S_ISREG(there.st_mode); /* a pipe, a device */
    if ((special ? asprintf(&temporary, "%s", path)
                 : asprintf(&temporary, "%s.%d.tmp", path, (int)getpid())) < 0)
        return assay_fail(error, "%s: out of memory", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0;
    for (size_t done = 0; ok && done < size;) {
        ssize_t n = write(fd, text + done, size - done);
        if (n < 0 && errno != EINTR)
            ok = false;
        done += n > 0 ? (size_t)n : 0;
    }
    int why = errno;
    if (fd >= 0 && close(fd) && ok)
        ok = false, why = errno;
    if (ok && !special && rename(temporary, path))
        ok = false, why = errno;
    if (!ok) {
        if (!special)
            unlink(temporary);
        assay_fail(error, "%s: cannot be written: %s; make room, or give another place", path,
                   strerror(why));
    }
    free(temporary);
    return ok ? 0 : -1;
}

/* ---- the document ---- */

static json_t *host_object(void)
{
    char cpu[256] = "unknown", line[512];
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8))) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(cpu, sizeof cpu, "%.200s", colon + (colon[1] == ' ' ? 2 : 1));
            break;
        }
    }
    if (f)
        fclose(f);
    struct utsname u;
    char system[256] = "unknown";
    if (uname(&u) == 0)
        snprintf(system, sizeof system, "%.60s %.60s %.60s", u.sysname, u.release, u.machine);
    return json_pack("{s:s, s:i, s:s}", "cpu", cpu, "cores", (int)sysconf(_SC_NPROCESSORS_ONLN),
                     "system", system);
}

int results_init(results *r, const char *path, int argc, char **argv, assay_error *error)
{
    char started[32];
    time_t t = time(NULL);
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    *r = (results){.path = path ? strdup(path) : NULL, .started = monotonic_seconds()};
    json_t *command = json_array(), *counts = json_object();
    json_array_append_new(command, json_string("assay"));
    for (int i = 0; i < argc; i++)
        json_array_append_new(command, json_string(argv[i]));
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(counts, verdict_name((verdict_kind)v), json_integer(0));
    json_object_set_new(counts, "cases", json_integer(0));
    json_object_set_new(counts, "elements", json_integer(0));
    r->root = json_pack("{s:s, s:o, s:s, s:f, s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "version",
                        ASSAY_VERSION, "command", command, "started", started, "seconds", 0.0,
                        "host", host_object(), "device", "host", "adapters", json_array(),
                        "recipes", json_array(), "verdicts", json_array(), "counts", counts,
                        "complete", 0);
    if (!r->root)
        return assay_fail(error, "out of memory");
    return path ? results_write(r, false, error) : 0;
}

void results_free(results *r)
{
    json_decref(r->root);
    free(r->path);
}

void results_add_adapter(results *r, const adapter_spec *spec, const assay_description *d,
                         const char *error)
{
    json_t *a = json_pack("{s:s}", "name", spec->text);
    if (*spec->options)
        json_object_set_new(a, "options", json_string(spec->options));
    if (*spec->path)
        json_object_set_new(a, "path", json_string(spec->path));
    if (error) {
        json_object_set_new(a, "error", json_string(error));
    } else {
        json_object_set_new(a, "library", json_string(d->library));
        json_object_set_new(a, "version", json_string(d->version));
        json_object_set_new(a, "device", json_string(d->device));
        if (strcmp(d->device, "host") && strcasecmp(d->device, "cpu") && *d->device &&
            strcmp(d->device, "recorded"))
            json_object_set_new(r->root, "device", json_string(d->device));
    }
    json_array_append_new(json_object_get(r->root, "adapters"), a);
}

static json_t *names(const assay_program *p, const int *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_string(p->values[values[i]].name));
    return list;
}

void results_add_recipe(results *r, const assay_program *p)
{
    json_t *list = json_object_get(r->root, "recipes"), *old;
    size_t i;
    json_array_foreach(list, i, old)
        if (!strcmp(json_string_value(json_object_get(old, "name")), p->name))
            return;
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", p->name, "recipe", p->recipe,
                          "family", p->family, "sha256", p->sha256, "inputs",
                          names(p, p->inputs, p->input_count), "outputs",
                          names(p, p->outputs, p->output_count));
    if (p->summary)
        json_object_set_new(o, "summary", json_string(p->summary));
    if (p->source)
        json_object_set_new(o, "source", json_string(p->source));
    json_array_append_new(list, o);
}

static void count(json_t *counts, const char *key, json_int_t more)
{
    json_t *n = json_object_get(counts, key);
    json_integer_set(n, json_integer_value(n) + more);
}

int results_add_verdict(results *r, json_t *verdict, assay_error *error)
{
    json_t *counts = json_object_get(r->root, "counts");
    count(counts, json_string_value(json_object_get(verdict, "verdict")), 1);
    count(counts, "cases", json_integer_value(json_object_get(verdict, "cases")));
    count(counts, "elements", json_integer_value(json_object_get(verdict, "elements")));
    json_array_append_new(json_object_get(r->root, "verdicts"), verdict);
    if (!r->path || monotonic_seconds() - r->written < WRITE_EVERY)
        return 0;
    return results_write(r, false, error);
}

int results_write(results *r, bool complete, assay_error *error)
{
    json_object_set_new(r->root, "complete", json_boolean(complete));
    json_real_set(json_object_get(r->root, "seconds"), monotonic_seconds() - r->started);
    if (!r->path)
        return 0;
    char *text = json_dumps(r->root, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    if (!text)
        return assay_fail(error, "%s: out of memory", r->path);
    size_t n = strlen(text);
    text[n] = '\n';
    int status = write_file_atomically(r->path, text, n + 1, error);
    free(text);
    r->written = monotonic_seconds();
    return status;
}
