/* assay vectors make|check|list: golden vector sets and their manifest. */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "vector_jobs.h"

static const char help[] =
    "usage: assay vectors make|check|list [OPTIONS]\n\n"
    "Golden vectors: inputs of each class with the exact answers of the primary instances.\n"
    "  make    makes them; writes MANIFEST and the sets that are kept (all of them with --dir)\n"
    "  check   makes everything in MANIFEST anew and names each set that changed\n"
    "  list    what MANIFEST holds\n\n"
    "  --dir D          the directory (vectors/golden)\n"
    "  --recipe GLOB    only these recipes or instances: 'te.*', 'te.nvfp4(T=f32, *)'\n"
    "  --class NAME     only this class: special sweep16 edges random heavy shapes\n"
    "  --seed N         of the generators (1)\n"
    "  --threads N      default: all cores\n"
    "  --json           on standard output\n\n"
    "Example: assay vectors make --recipe te.nvfp4.1d --class edges --dir /tmp/vectors\n";

typedef struct {
    const char *action, *directory, *recipe, *class_;
    uint64_t seed;
    bool seed_given, own_directory, json;
    int threads;
} options;

enum { KEPT_BYTES = 128 * 1024, SHOWN = 3 /* failures with their reasons; the rest are counted */ };

/* What the repository keeps: small sets of each recipe's first instance; all else is made on demand. */
static bool is_kept(const vector_job *job)
{
    return job->is_default && job->bytes <= KEPT_BYTES &&
           (!strcmp(job->class_, "special") || !strcmp(job->class_, "edges"));
}

static bool keep_all(const vector_job *job)
{
    (void)job;
    return true;
}

static char *manifest_path(const options *o)
{
    char *path = NULL;
    return asprintf(&path, "%s/MANIFEST", o->directory) < 0 ? NULL : path;
}

/* Does a row belong to what the options pick? */
static bool picked(const options *o, const manifest_row *row)
{
    if (o->class_ && strcmp(o->class_, row->class_))
        return false;
    if (o->seed_given && o->seed != row->seed)
        return false;
    if (!o->recipe || !fnmatch(o->recipe, row->recipe, 0))
        return true;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->recipe, "("), row->recipe);
    return !fnmatch(o->recipe, name, 0);
}

static json_t *json_row(const char *recipe, const char *class_, uint64_t seed, int cases,
                        int64_t bytes, const char *sha256, const char *identity)
{
    return json_pack("{s:s, s:s, s:I, s:i, s:I, s:s, s:s}", "recipe", recipe, "class", class_, "seed",
                     (json_int_t)seed, "cases", cases, "bytes", (json_int_t)bytes, "sha256", sha256,
                     "identity", identity);
}

/* ---- make ---- */

static int report_made(const options *o, const vector_jobs *jobs)
{
    int status = STATUS_OK, sets = 0, failed = 0;
    int64_t cases = 0, bytes = 0;
    json_t *list = json_array();
    for (int i = 0; i < jobs->count; i++) {
        const vector_job *job = &jobs->list[i];
        if (job->failure) {
            failed++;
            if (failed <= SHOWN)
                complain(STATUS_FILE, "%s %s: %s", job->recipe, job->class_, job->failure);
            status = STATUS_FILE;
        } else if (job->cases) {
            sets++;
            cases += job->cases;
            bytes += job->bytes;
            json_array_append_new(list, json_row(job->recipe, job->class_, job->seed, job->cases,
                                                 job->bytes, job->sha256, job->identity));
        }
    }
    fprintf(stderr, "assay: %d sets, %" PRId64 " cases, %.1f MB; %d failed\n", sets, cases,
            (double)bytes / 1e6, failed);
    if (sets == 0 && failed == 0)
        status = complain(STATUS_USAGE, "no class has cases for these recipes");
    if (o->json)
        return status_worst(status, print_json(list));
    json_decref(list);
    return status;
}

/* Rows of what was made; rows that the options did not pick stay. */
static int update_manifest(const options *o, const vector_jobs *jobs, const char *path)
{
    manifest m = {0};
    assay_error error;
    bool whole = !o->recipe && !o->class_;
    if (!whole && !access(path, F_OK) && manifest_read(&m, path, &error))
        return complain(STATUS_FILE, "%s", error.message);
    int failed = 0;
    for (int i = 0; i < jobs->count && !failed; i++) {
        const vector_job *job = &jobs->list[i];
        manifest_row row = {.seed = job->seed, .cases = job->cases, .bytes = job->bytes,
                            .kept = o->own_directory || is_kept(job), .recipe = job->recipe};
        if (job->failure || !job->cases)
            continue;
        memcpy(row.sha256, job->sha256, sizeof row.sha256);
        memcpy(row.identity, job->identity, sizeof row.identity);
        snprintf(row.class_, sizeof row.class_, "%s", job->class_);
        failed = manifest_put(&m, &row, &error);
    }
    if (!failed)
        failed = manifest_write(&m, path, &error);
    manifest_free(&m);
    return failed ? complain(STATUS_FILE, "%s", error.message) : STATUS_OK;
}

static int make(const options *o)
{
    vector_jobs jobs = {0};
    assay_error error;
    char *path = manifest_path(o);
    int status = path ? STATUS_OK : complain(STATUS_FILE, "out of memory");
    if (!status && vector_jobs_pick(&jobs, o->recipe ? o->recipe : "*", o->class_, o->seed, &error))
        status = complain(STATUS_USAGE, "%s", error.message);
    if (!status && vector_jobs_run(&jobs, o->directory, o->own_directory ? keep_all : is_kept,
                                   o->threads, &error))
        status = complain(STATUS_FILE, "%s", error.message);
    if (!status) {
        status = report_made(o, &jobs);
        status = status_worst(status, update_manifest(o, &jobs, path));
    }
    vector_jobs_free(&jobs);
    free(path);
    return status;
}

/* ---- check ---- */

/* Is the kept file there, with the bytes that the manifest names? */
static int check_file(const options *o, const manifest_row *row)
{
    char *name = manifest_file_name(row->recipe, row->class_), *path = NULL, hex[65];
    assay_error error;
    int64_t bytes;
    int status = STATUS_OK;
    if (!name || asprintf(&path, "%s/%s", o->directory, name) < 0)
        status = complain(STATUS_FILE, "out of memory");
    else if (manifest_hash_file(path, hex, &bytes, &error))
        status = complain(STATUS_FILE, "%s", error.message);
    else if (strcmp(hex, row->sha256))
        status = complain(STATUS_FILE, "%s: its SHA-256 is %.16s, MANIFEST says %.16s: restore it, or "
                          "`assay vectors make`", path, hex, row->sha256);
    free(name);
    free(path);
    return status;
}

static int check_job(const vector_job *job, const manifest_row *row, json_t *changed)
{
    char why[512];
    if (!job->failure && !strcmp(job->sha256, row->sha256))
        return STATUS_OK;
    if (job->failure)
        snprintf(why, sizeof why, "%.500s", job->failure);
    else if (strcmp(job->identity, row->identity))
        snprintf(why, sizeof why, "the recipe changed: identity %.12s is now %.12s", row->identity,
                 job->identity);
    else if (job->cases == 0)
        snprintf(why, sizeof why, "the class has no case for it any more");
    else
        snprintf(why, sizeof why, "the recipe is the same (%.12s): its layout, the generator or an "
                 "evaluator changed", row->identity);
    json_array_append_new(changed, json_pack("{s:s, s:s, s:s, s:s, s:s}", "recipe", row->recipe,
                                             "class", row->class_, "was", row->sha256, "is",
                                             job->sha256, "why", why));
    return complain(STATUS_DIFFERS, "changed: %s %s: %s", row->recipe, row->class_, why);
}

static int check_rows(const options *o, const manifest *m, vector_jobs *jobs)
{
    int status = STATUS_OK, n = 0;
    assay_error error;
    for (int i = 0; i < m->count; i++)
        if (picked(o, &m->rows[i]) &&
            vector_jobs_add(jobs, m->rows[i].recipe, m->rows[i].class_, m->rows[i].seed, false))
            return complain(STATUS_FILE, "out of memory");
    if (jobs->count == 0)
        return complain(STATUS_USAGE, "MANIFEST has no such set");
    if (vector_jobs_run(jobs, NULL, NULL, o->threads, &error))
        return complain(STATUS_FILE, "%s", error.message);
    json_t *changed = json_array();
    for (int i = 0; i < m->count; i++) {
        if (!picked(o, &m->rows[i]))
            continue;
        status = status_worst(status, check_job(&jobs->list[n++], &m->rows[i], changed));
        if (m->rows[i].kept)
            status = status_worst(status, check_file(o, &m->rows[i]));
    }
    fprintf(stderr, "assay: %d sets made anew, %zu changed\n", n, json_array_size(changed));
    if (o->json)
        return status_worst(status, print_json(json_pack("{s:i, s:o}", "sets", n, "changed",
                                                         changed)));
    json_decref(changed);
    return status;
}

static int read_manifest(const options *o, manifest *m)
{
    assay_error error;
    char *path = manifest_path(o);
    if (!path)
        return complain(STATUS_FILE, "out of memory");
    int failed = manifest_read(m, path, &error);
    free(path);
    return failed ? complain(STATUS_FILE, "%s", error.message) : STATUS_OK;
}

static int check(const options *o)
{
    manifest m;
    vector_jobs jobs = {0};
    int status = read_manifest(o, &m);
    if (status != STATUS_OK)
        return status;
    status = check_rows(o, &m, &jobs);
    vector_jobs_free(&jobs);
    manifest_free(&m);
    return status;
}

/* ---- list ---- */

static int list(const options *o)
{
    manifest m;
    int status = read_manifest(o, &m);
    if (status != STATUS_OK)
        return status;
    json_t *rows = json_array();
    for (int i = 0; i < m.count; i++) {
        const manifest_row *r = &m.rows[i];
        if (!picked(o, r))
            continue;
        json_array_append_new(rows, json_row(r->recipe, r->class_, r->seed, r->cases, r->bytes,
                                             r->sha256, r->identity));
        if (!o->json)
            printf("%.16s  %-8s %5d cases %9" PRId64 " bytes  %s  %s\n", r->sha256, r->class_,
                   r->cases, r->bytes, r->kept ? "kept" : "made", r->recipe);
    }
    manifest_free(&m);
    if (o->json)
        return print_json(rows);
    json_decref(rows);
    return finish_output();
}

/* ---- options ---- */

enum { DIR_OPTION = 256, RECIPE, CLASS, SEED, THREADS, JSON, HELP };

static const struct option long_options[] = {
    {"dir", required_argument, NULL, DIR_OPTION}, {"recipe", required_argument, NULL, RECIPE},
    {"class", required_argument, NULL, CLASS},    {"seed", required_argument, NULL, SEED},
    {"threads", required_argument, NULL, THREADS}, {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},            {NULL, 0, NULL, 0}};

static int read_number(const char *text, uint64_t low, uint64_t high, uint64_t *n)
{
    char *end;
    errno = 0;
    *n = strtoull(text, &end, 0);
    return errno || end == text || *end || *text == '-' || *n < low || *n > high ? -1 : 0;
}

static int read_option(options *o, int c)
{
    uint64_t n;
    switch (c) {
    case DIR_OPTION:
        if (!*optarg)
            return complain(STATUS_USAGE, "--dir: give the name of a directory");
        o->directory = optarg;
        o->own_directory = strcmp(optarg, "vectors/golden") != 0;
        return STATUS_OK;
    case RECIPE: o->recipe = optarg; return STATUS_OK;
    case CLASS:
        o->class_ = optarg;
        if (!assay_class_find(optarg) || !strcmp(optarg, "real"))
            return complain(STATUS_USAGE, "--class %s: it is special, sweep16, edges, random, heavy or "
                            "shapes", optarg);
        return STATUS_OK;
    case SEED:
        o->seed_given = true;
        if (read_number(optarg, 0, INT64_MAX, &o->seed))
            return complain(STATUS_USAGE, "--seed %s: a whole number", optarg);
        return STATUS_OK;
    case THREADS:
        if (read_number(optarg, 1, 64, &n))
            return complain(STATUS_USAGE, "--threads %s: a number from 1 to 64", optarg);
        o->threads = (int)n;
        return STATUS_OK;
    case JSON: o->json = true; return STATUS_OK;
    default: return complain(STATUS_USAGE, "`assay vectors --help` lists the options");
    }
}

int cmd_vectors(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    options o = {.directory = "vectors/golden", .seed = 1,
                 .threads = cores < 1 ? 1 : cores > 64 ? 64 : (int)cores};
    int c;
    optind = 0;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h' || c == HELP) {
            fputs(help, stdout);
            return finish_output();
        }
        if (read_option(&o, c) != STATUS_OK)
            return STATUS_USAGE;
    }
    o.action = optind < argc ? argv[optind++] : "";
    if (optind < argc)
        return complain(STATUS_USAGE, "'%s': one action at a time", argv[optind]);
    if (!strcmp(o.action, "make"))
        return make(&o);
    if (!strcmp(o.action, "check"))
        return check(&o);
    if (!strcmp(o.action, "list"))
        return list(&o);
    return complain(STATUS_USAGE, "vectors '%s': give make, check or list", o.action);
}
