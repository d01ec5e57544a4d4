#include "vector_jobs.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ref/assay.h"

int vector_jobs_add(vector_jobs *jobs, const char *recipe, const char *class_, uint64_t seed,
                    bool is_default)
{
    if (jobs->count == jobs->capacity) {
        int capacity = jobs->capacity ? 2 * jobs->capacity : 256;
        vector_job *grown = realloc(jobs->list, (size_t)capacity * sizeof *grown);
        if (!grown)
            return -1;
        jobs->list = grown;
        jobs->capacity = capacity;
    }
    char *name = strdup(recipe);
    if (!name)
        return -1;
    jobs->list[jobs->count++] = (vector_job){.recipe = name, .class_ = class_, .seed = seed,
                                             .is_default = is_default};
    return 0;
}

static int add_classes(vector_jobs *jobs, const char *recipe, const char *class_, uint64_t seed,
                       bool is_default)
{
    for (int i = 0; i < assay_class_count; i++) {
        const char *name = assay_classes[i].name;
        if (strcmp(name, "real") && (!class_ || !strcmp(class_, name)) &&
            vector_jobs_add(jobs, recipe, name, seed, is_default))
            return -1;
    }
    return 0;
}

/* The contracts that were picked before: numerics and layout. */
typedef struct {
    char (*list)[130];
    int count;
} contracts;

static bool is_new(contracts *seen, const assay_program *p)
{
    char key[130];
    snprintf(key, sizeof key, "%s%s", p->sha256, p->layout_sha256);
    for (int i = 0; i < seen->count; i++)
        if (!strcmp(seen->list[i], key))
            return false;
    memcpy(seen->list[seen->count++], key, sizeof key);
    return true;
}

/* Instances of one recipe that are the same contract (a decoder does not care how the codes were
 * rounded) count once. */
static int add_primary(vector_jobs *jobs, const assay_recipe *r, const char *class_, uint64_t seed,
                       assay_error *error)
{
    char **names, *first = assay_recipe_instance_name(r, 0);
    int n = assay_primary_instances(r, &names), failed = 0;
    contracts seen = {.list = calloc((size_t)n + 1, sizeof *seen.list)};
    for (int i = 0; i < n; i++) {
        assay_program *p = failed || !seen.list ? NULL : assay_catalogue_program(names[i], error);
        failed = failed || !p ||
                 (is_new(&seen, p) && add_classes(jobs, names[i], class_, seed,
                                                  first && !strcmp(first, names[i])));
        assay_program_free(p);
        free(names[i]);
    }
    free(seen.list);
    free(names);
    free(first);
    return failed ? -1 : 0;
}

static int add_matching(vector_jobs *jobs, const assay_recipe *r, const char *pattern,
                        const char *class_, uint64_t seed)
{
    int n = assay_recipe_instance_count(r), failed = 0;
    for (int i = 0; i < n && !failed; i++) {
        char *name = assay_recipe_instance_name(r, i);
        if (name && !fnmatch(pattern, name, 0))
            failed = add_classes(jobs, name, class_, seed, i == 0);
        free(name);
    }
    return failed;
}

int vector_jobs_pick(vector_jobs *jobs, const char *pattern, const char *class_, uint64_t seed,
                     assay_error *error)
{
    int before = jobs->count, failed = 0;
    size_t name_length = strcspn(pattern, "(");
    const char *rest = pattern + name_length;
    char *name = strndup(pattern, name_length);
    if (!name)
        return assay_fail(error, "out of memory");
    for (int i = 0; i < assay_catalogue_count() && !failed; i++) {
        if (fnmatch(name, assay_catalogue_name(i), 0))
            continue;
        assay_recipe *r = assay_catalogue_recipe(i, error);
        if (!r) {
            free(name);
            return -1;
        }
        if (!*rest || !strcmp(rest, "(*)"))
            failed = add_primary(jobs, r, class_, seed, error);
        else if (strpbrk(rest, "*?["))
            failed = add_matching(jobs, r, pattern, class_, seed);
        else {
            assay_program *p = assay_catalogue_program(pattern, error);
            failed = !p || add_classes(jobs, p->name, class_, seed, false);
            assay_program_free(p);
        }
    }
    free(name);
    if (failed)
        return -1;
    return jobs->count > before ? 0
                                : assay_fail(error, "no recipe matches '%s'; `assay recipes` lists "
                                             "them", pattern);
}

void vector_jobs_free(vector_jobs *jobs)
{
    for (int i = 0; i < jobs->count; i++) {
        free(jobs->list[i].recipe);
        free(jobs->list[i].failure);
    }
    free(jobs->list);
    *jobs = (vector_jobs){0};
}

/* ---- running ---- */

static volatile sig_atomic_t interrupted; /* the only way in for a signal */

static void on_signal(int number)
{
    interrupted = number;
}

static void catch_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct {
    vector_jobs *jobs;
    const char *directory;
    bool (*keep)(const vector_job *);
    atomic_int next, done;
    pthread_mutex_t catalogue; /* parses on demand, one at a time */
    bool bar;
} pool;

static int make_file(const pool *w, vector_job *job, const assay_vector_set *set, assay_error *error)
{
    char *name = manifest_file_name(job->recipe, job->class_), *path = NULL;
    if (!name || asprintf(&path, "%s/%s", w->directory, name) < 0)
        path = NULL;
    free(name);
    if (!path)
        return assay_fail(error, "out of memory");
    int failed = assay_vectors_write(set, path, error) ||
                 manifest_hash_file(path, job->sha256, &job->bytes, error);
    if (!w->keep || !w->keep(job))
        unlink(path);
    free(path);
    return failed ? -1 : 0;
}

static int make_set(pool *w, vector_job *job, assay_error *error)
{
    pthread_mutex_lock(&w->catalogue);
    assay_program *p = assay_catalogue_program(job->recipe, error);
    pthread_mutex_unlock(&w->catalogue);
    if (!p)
        return -1;
    memcpy(job->identity, p->sha256, sizeof job->identity);
    assay_vector_set *set = assay_vectors_make(p, job->class_, job->seed, error);
    if (!set)
        return -1;
    job->cases = set->case_count;
    int failed = set->case_count ? make_file(w, job, set, error) : 0;
    assay_vectors_free(set);
    return failed;
}

static void *work(void *context)
{
    pool *w = context;
    for (int i; !interrupted && (i = atomic_fetch_add(&w->next, 1)) < w->jobs->count;) {
        assay_error error = {""};
        vector_job *job = &w->jobs->list[i];
        if (make_set(w, job, &error))
            job->failure = strdup(error.message);
        int done = atomic_fetch_add(&w->done, 1) + 1;
        if (w->bar)
            fprintf(stderr, "\r%d of %d sets", done, w->jobs->count);
    }
    mpfr_free_cache();
    return NULL;
}

/* Memory if there is some: nothing here has to last. */
static int make_temporary(char *path, size_t size, assay_error *error)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/assay-vectors-XXXXXX",
             base && *base ? base : !access("/dev/shm", W_OK) ? "/dev/shm" : "/tmp");
    return mkdtemp(path) ? 0 : assay_fail(error, "%s: cannot be made: %s", path, strerror(errno));
}

int vector_jobs_run(vector_jobs *jobs, const char *directory, bool (*keep)(const vector_job *),
                    int threads, assay_error *error)
{
    enum { THREADS = 64 };
    pthread_t ids[THREADS];
    char temporary[4096];
    int started = 0;
    if (!directory && make_temporary(temporary, sizeof temporary, error))
        return -1;
    struct stat there;
    if (directory && mkdir(directory, 0777) && errno != EEXIST)
        return assay_fail(error, "%s: cannot be made: %s", directory, strerror(errno));
    if (directory && (stat(directory, &there) || !S_ISDIR(there.st_mode)))
        return assay_fail(error, "%s: is no directory: give another --dir", directory);
    pool w = {.jobs = jobs, .directory = directory ? directory : temporary, .keep = keep,
              .bar = isatty(STDERR_FILENO) != 0};
    pthread_mutex_init(&w.catalogue, NULL);
    catch_signals(on_signal);
    while (started < threads - 1 && started < THREADS &&
           !pthread_create(&ids[started], NULL, work, &w))
        started++;
    work(&w);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_mutex_destroy(&w.catalogue);
    if (w.bar)
        fprintf(stderr, "\r%40s\r", "");
    if (!directory)
        rmdir(temporary);
    catch_signals(SIG_DFL);
    if (interrupted) { /* the shell sees that a signal ended us */
        fprintf(stderr, "assay: interrupted after %d of %d sets; MANIFEST is as it was\n",
                atomic_load(&w.done), jobs->count);
        raise(interrupted);
    }
    return 0;
}
