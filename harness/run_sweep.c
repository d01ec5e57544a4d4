/* --sweep f32: all 2^32 inputs of a cast, in chunks, on all cores: each thread has an adapter process
 * of its own, and the fast engine's answer to compare with. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "run_sweep.h"

enum { CRASHES = 5, RECHECKS = 4, RECHECK_EVERY = 128 };

/* Can every f32 stand alone? One element input, element outputs. */
static bool is_cast_from_f32(const assay_program *p)
{
    bool ok = p->input_count == 1 && p->main_input == p->inputs[0] &&
              p->values[p->main_input].type.format == assay_format_find("f32") &&
              assay_program_admits(p, SWEEP_ROWS, SWEEP_COLS, NULL);
    for (int i = 0; i < p->value_count && ok; i++)
        ok = assay_tile_equal(p->values[i].tile, (assay_tile){1, 1});
    return ok;
}

/* ---- one chunk ---- */

typedef struct {
    sweep *sweep;
    worker w;
    bool open;
    uint32_t *inputs;
    assay_grid *right, *observed;
    pthread_t thread;
    bool started;
} sweeper;

/* The n-th chunk to do: bits reversed, so that every binade is visited early and faults show soon. */
static int chunk_at(int n)
{
    int chunk = 0;
    for (int bit = 1; bit < SWEEP_CHUNKS; bit *= 2)
        chunk = 2 * chunk + (n & bit ? 1 : 0);
    return chunk;
}

static int take_chunk(sweep *s)
{
    int chunk = -1;
    pthread_mutex_lock(&s->lock);
    int shard = s->run->o->shard - 1, shards = s->run->o->shards;
    while (s->next < SWEEP_CHUNKS &&
           (s->done[chunk_at(s->next)] || chunk_at(s->next) % shards != shard))
        s->next++;
    if (s->next < SWEEP_CHUNKS && !s->give_up && !run_stop)
        chunk = chunk_at(s->next++);
    pthread_mutex_unlock(&s->lock);
    return chunk;
}

/* A failure of a chunk, explained on the one input that shows it. */
static json_t *explain(const sweep *s, const uint32_t *inputs, compare_failure f)
{
    uint32_t input = inputs[f.row * SWEEP_COLS + f.col];
    assay_grid in = {1, 1, &input, NULL};
    assay_case c = {.tag = "sweep", .m = 1, .k = 1, .inputs = &in};
    f.row = f.col = 0;
    if (!assay_program_admits(s->program, 1, 1, NULL))
        return NULL;
    return run_failure_json(s->program, &c, &f);
}

static void merge(sweep *s, int chunk, const uint32_t *inputs, const compare_tally *t,
                  verdict_kind kind, const char *reason)
{
    run_verdict *v = &s->verdict;
    pthread_mutex_lock(&s->lock);
    if (kind >= VERDICT_ERROR) {
        v->broken_cases++;
        s->give_up |= ++s->crashes >= CRASHES || kind == VERDICT_HANG;
    }
    if (kind != VERDICT_PASS)
        verdict_worsen(v, kind, "inputs from 0x%08" PRIx32 ": %s", inputs[0], reason);
    compare_add(&v->tally, t);
    if (t->first.set) {
        uint32_t input = inputs[t->first.row * SWEEP_COLS + t->first.col];
        if (!v->first || input < s->first_input) {
            json_decref(v->first);
            v->first = explain(s, inputs, t->first);
            s->first_input = input;
        }
        if (!v->smallest || t->smallest.magnitude < s->smallest) {
            json_decref(v->smallest);
            v->smallest = explain(s, inputs, t->smallest);
            s->smallest = t->smallest.magnitude;
        }
    }
    int64_t most = s->run->o->max_failures;
    s->give_up |= most && v->tally.mismatched_cases >= most;
    s->done[chunk] = true;
    s->finished++;
    pthread_mutex_unlock(&s->lock);
}

/* false: stopped, or the harness failed. */
static bool do_chunk(sweeper *t, int chunk)
{
    sweep *s = t->sweep;
    const assay_program *p = s->program;
    int64_t n = (int64_t)SWEEP_ROWS * SWEEP_COLS;
    for (int64_t i = 0; i < n; i++)
        t->inputs[i] = (uint32_t)((int64_t)chunk * n + i);
    assay_grid in = {SWEEP_ROWS, SWEEP_COLS, t->inputs, NULL};
    assay_case c = {.tag = "sweep", .m = SWEEP_ROWS, .k = SWEEP_COLS, .inputs = &in,
                    .outputs = t->right};
    compare_tally tally;
    assay_error error = {"out of memory"};
    char reason[WORKER_MESSAGE] = "";
    verdict_kind kind = VERDICT_PASS;
    bool stopped = false, ok = compare_init(&tally, p) == 0;
    if (!ok || assay_fast_eval(s->fast, SWEEP_ROWS, SWEEP_COLS, &in, t->right, &error)) {
        pthread_mutex_lock(&s->lock);
        s->failed = s->give_up = true;
        s->error = error;
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    /* One call a chunk, its poison in turn; called again where it differs, and now and then. */
    worker_outcome o = worker_run(&t->w, p, SWEEP_ROWS, SWEEP_COLS, &in, t->observed,
                                  chunk % 2 ? 0xFF : 0x7F, false);
    int same = 1;
    if (o == WORKER_DONE)
        same = compare_case(&tally, &c, chunk, t->observed, &error);
    bool again = o != WORKER_DONE || chunk % RECHECK_EVERY == 0;
    if (same == 0) {
        pthread_mutex_lock(&s->lock);
        again |= s->rechecked++ < RECHECKS;
        pthread_mutex_unlock(&s->lock);
    }
    if (again && o != WORKER_STOPPED)
        kind = run_case(&t->w, p, &c, t->observed, s->run->o->repeat, false, &stopped, reason,
                        sizeof reason);
    if (kind == VERDICT_PASS && o != WORKER_DONE && !stopped && o != WORKER_STOPPED) {
        kind = VERDICT_NONDETERMINISTIC;
        snprintf(reason, sizeof reason, "broke once (%s) and answered the second time",
                 worker_outcome_name(o));
    }
    stopped |= o == WORKER_STOPPED;
    if (!stopped)
        merge(s, chunk, t->inputs, &tally, kind, reason);
    compare_free(&tally);
    return !stopped;
}

static void *sweeper_main(void *argument)
{
    sweeper *t = argument;
    sweep *s = t->sweep;
    assay_error error;
    worker_limits limits = {s->run->o->time_limit, s->run->o->memory_limit, &run_stop};
    t->open = worker_init(&t->w, &s->adapter->spec, &limits, &error) == 0;
    for (int i = 0; t->open && i < s->program->output_count; i++)
        t->right[i].marks = calloc((size_t)SWEEP_ROWS, SWEEP_COLS);
    int chunk;
    while (t->open && (chunk = take_chunk(s)) >= 0 && do_chunk(t, chunk))
        ;
    pthread_mutex_lock(&s->lock);
    if (!t->open)
        s->failed = s->give_up = true, s->error = error;
    else if (s->verdict.kind >= VERDICT_ERROR && !s->verdict.printed)
        s->verdict.printed = worker_printed(&t->w);
    pthread_mutex_unlock(&s->lock);
    if (t->open)
        worker_free(&t->w); /* by the thread that started it: the child dies with its thread */
    return NULL;
}

/* ---- all chunks ---- */

static bool start_sweeper(sweep *s, sweeper *t)
{
    t->sweep = s;
    t->inputs = malloc((size_t)SWEEP_ROWS * SWEEP_COLS * sizeof *t->inputs);
    t->right = run_observed_new(s->program, SWEEP_ROWS, SWEEP_COLS);
    t->observed = run_observed_new(s->program, SWEEP_ROWS, SWEEP_COLS);
    if (t->inputs && t->right && t->observed)
        t->started = pthread_create(&t->thread, NULL, sweeper_main, t) == 0;
    return t->started;
}

static void end_sweeper(sweep *s, sweeper *t)
{
    for (int i = 0; t->right && i < s->program->output_count; i++)
        free(t->right[i].marks);
    run_observed_free(t->right, s->program->output_count);
    run_observed_free(t->observed, s->program->output_count);
    free(t->inputs);
}

/* Draws and saves until all chunks are done. */
static void watch(sweep *s, run_state *run)
{
    double start = monotonic_seconds(), saved = start;
    int before = s->finished;
    char what[256];
    snprintf(what, sizeof what, "%.60s  %.180s", s->adapter->spec.text, s->program->name);
    for (bool over = false; !over;) {
        usleep(50000);
        pthread_mutex_lock(&s->lock);
        int finished = s->finished;
        over = finished == s->mine || s->give_up || run_stop;
        pthread_mutex_unlock(&s->lock);
        double t = monotonic_seconds(), spent = t - start;
        double rate = (double)(finished - before) * SWEEP_ROWS * SWEEP_COLS / (spent + 1e-9);
        double left = rate > 0 ? (double)(s->mine - finished) * SWEEP_ROWS * SWEEP_COLS / rate : 0;
        run_progress(run, what, (double)finished / (s->mine ? s->mine : 1), rate, left);
        assay_error error;
        if (t - saved > 5) {
            sweep_save(s, &error);
            saved = t;
        }
    }
}

static void sweep_chunks(sweep *s, run_state *run)
{
    int threads = run->o->threads > 0 ? run->o->threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    sweeper *all = calloc((size_t)threads, sizeof *all);
    bool any = false;
    for (int i = 0; all && i < threads; i++)
        any |= start_sweeper(s, &all[i]);
    if (any)
        watch(s, run);
    else
        s->failed = true, assay_fail(&s->error, "no memory or no threads for a sweep");
    for (int i = 0; all && i < threads; i++) {
        if (all[i].started)
            pthread_join(all[i].thread, NULL);
        end_sweeper(s, &all[i]);
    }
    free(all);
}

static void say_domain(const sweep *s, run_verdict *v)
{
    uint64_t inputs = (uint64_t)s->finished * SWEEP_ROWS * SWEEP_COLS;
    v->domain_size = inputs;
    if (s->finished == SWEEP_CHUNKS)
        snprintf(v->domain, sizeof v->domain, "all 2^32 inputs");
    else if (s->finished == s->mine)
        snprintf(v->domain, sizeof v->domain, "part %d of %d of the 2^32 inputs", s->run->o->shard,
                 s->run->o->shards);
    else
        snprintf(v->domain, sizeof v->domain, "%" PRIu64 " of the 2^32 inputs: not finished", inputs);
}

static int sweep_one(run_state *run, run_adapter *a, const assay_program *p)
{
    sweep *s = calloc(1, sizeof *s);
    assay_error error;
    if (!s || verdict_init(&s->verdict, a->spec.text, p, "sweep f32")) {
        free(s);
        return complain(STATUS_FILE, "out of memory");
    }
    s->run = run, s->adapter = a, s->program = p;
    pthread_mutex_init(&s->lock, NULL);
    for (int i = 0; i < SWEEP_CHUNKS; i++)
        s->mine += i % run->o->shards == run->o->shard - 1;
    s->fast = assay_fast_compile(p, &error);
    if (!s->fast) {
        free(s);
        return complain(STATUS_FILE, "%s", error.message);
    }
    sweep_restore(s);
    double start = monotonic_seconds();
    if (s->finished < s->mine)
        sweep_chunks(s, run);
    run_verdict *v = &s->verdict;
    v->seconds += monotonic_seconds() - start;
    int status = STATUS_OK;
    if (s->failed)
        status = complain(STATUS_FILE, "%s: %s", p->name, s->error.message);
    if (sweep_save(s, &error))
        status = status_worst(status, complain(STATUS_FILE, "%s", error.message));
    run->stopped |= run_stop != 0;
    say_domain(s, v);
    verdict_conclude(v);
    if (v->kind == VERDICT_PASS && s->finished < s->mine && !run->stopped)
        verdict_worsen(v, VERDICT_ERROR, "the sweep did not finish");
    if (s->finished || v->kind != VERDICT_ERROR)
        status = status_worst(status, run_take_verdict(run, a, v));
    else
        verdict_free(v);
    assay_fast_free(s->fast);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return status;
}

int run_sweep(run_state *run)
{
    int status = STATUS_OK, casts = 0;
    for (int i = 0; i < run->selection.count && !run->stopped; i++) {
        assay_error error;
        assay_program *p = run_selected_program(&run->selection, run->selection.names[i], &error);
        if (!p)
            return status_worst(status, complain(STATUS_FILE, "%s", error.message));
        bool cast = is_cast_from_f32(p);
        casts += cast;
        for (int j = 0; cast && j < run->o->adapter_count && !run->stopped; j++)
            if (run_supported(run, &run->adapters[j], p, "sweep f32"))
                status = status_worst(status, sweep_one(run, &run->adapters[j], p));
        assay_program_free(p);
    }
    char *path = sweep_checkpoint_path(run);
    if (path && !run->stopped)
        unlink(path);
    free(path);
    if (!casts)
        return status_worst(status, complain(STATUS_USAGE, "--sweep f32: none of the recipes is a "
                                             "cast from f32; e.g. --recipe 'cast.nvidia(*)'"));
    return status;
}
