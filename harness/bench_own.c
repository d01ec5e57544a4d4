/* The library's own rows: casts, recipes by either engine, and memory's copy rate beside them. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "command.h"

/* ---- timing ---- */

typedef int (*work)(void *context);

/* Processor time of this thread: what others do on a shared machine does not count. */
static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rates of `runs` runs, each of as many repetitions as fill a twentieth of a second. 0, or what the
 * work returned. */
static int measure(const bench *b, work f, void *context, int64_t elements, double *rates)
{
    int status = f(context); /* memory is touched, caches are warm */
    double start = thread_seconds();
    if (!status)
        status = f(context);
    double once = thread_seconds() - start;
    int repeat = once > 0.05 ? 1 : once > 1e-6 ? (int)(0.05 / once) + 1 : 50000;
    for (int run = 0; !status && run < b->runs; run++) {
        start = thread_seconds();
        for (int i = 0; !status && i < repeat; i++)
            status = f(context);
        double seconds = thread_seconds() - start;
        rates[run] = (double)elements * repeat / (seconds > 0 ? seconds : 1e-9) / 1e6;
    }
    return status;
}

/* ---- inputs ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* About normal, deviation 1: the sum of 12 uniform numbers. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 3; i++) {
        uint64_t r = next_random(state);
        for (int k = 0; k < 4; k++)
            sum += (double)(r >> (16 * k) & 0xFFFF) / 65536;
    }
    return sum;
}

static uint64_t input_code(const assay_value *v, uint64_t *state)
{
    if (v->type.kind == ASSAY_T_BOOL)
        return next_random(state) & 1;
    if (v->type.kind != ASSAY_T_FORMAT)
        return next_random(state) & 0xFFFF;
    double x = normal(state);
    bool element = v->tile.rows == 1 && v->tile.cols == 1;
    assay_cast cast = assay_cast_default(v->type.format);
    uint64_t bits;
    x = element ? x : fabs(x) + 1; /* scales and maxima: ordinary positive numbers */
    memcpy(&bits, &x, 8);
    return assay_convert_f64(v->type.format, bits, &cast, 0).code;
}

/* ---- recipes ---- */

typedef struct {
    const assay_program *p;
    assay_fast *fast; /* NULL: the exact engine */
    int64_t m, k;
    assay_grid *inputs, *outputs;
} evaluation;

static int evaluate(void *context)
{
    evaluation *e = context;
    assay_error error;
    int failed = e->fast ? assay_fast_eval(e->fast, e->m, e->k, e->inputs, e->outputs, &error)
                         : assay_exact_eval(e->p, e->m, e->k, e->inputs, e->outputs, &error);
    return failed ? complain(STATUS_FILE, "%s", error.message) : STATUS_OK;
}

static bool allocate(const assay_program *p, int value, int64_t m, int64_t k, assay_grid *g)
{
    const assay_value *v = &p->values[value];
    assay_value_shape(v, m, k, &g->rows, &g->cols);
    g->data = malloc((size_t)(g->rows * g->cols + 1) * (size_t)assay_type_storage(v->type));
    return g->data != NULL;
}

static bool make_grids(evaluation *e)
{
    const assay_program *p = e->p;
    uint64_t state = 1;
    e->inputs = calloc((size_t)p->input_count + 1, sizeof *e->inputs);
    e->outputs = calloc((size_t)p->output_count + 1, sizeof *e->outputs);
    bool ok = e->inputs && e->outputs;
    for (int o = 0; ok && o < p->output_count; o++)
        ok = allocate(p, p->outputs[o], e->m, e->k, &e->outputs[o]);
    for (int i = 0; ok && i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        size_t size = (size_t)assay_type_storage(v->type);
        ok = allocate(p, p->inputs[i], e->m, e->k, &e->inputs[i]);
        for (int64_t j = 0; ok && j < e->inputs[i].rows * e->inputs[i].cols; j++) {
            uint64_t code = input_code(v, &state);
            memcpy((uint8_t *)e->inputs[i].data + (size_t)j * size, &code, size);
        }
    }
    return ok;
}

static void free_grids(evaluation *e)
{
    for (int i = 0; e->inputs && i < e->p->input_count; i++)
        free(e->inputs[i].data);
    for (int o = 0; e->outputs && o < e->p->output_count; o++)
        free(e->outputs[o].data);
    free(e->inputs);
    free(e->outputs);
}

/* A shape of `elements` that the contract admits: 2^n columns, or fewer, or one that it names. */
static bool choose_shape(evaluation *e, int64_t elements)
{
    for (int64_t k = elements >= 1 << 20 ? 4096 : 1024; k >= 16; k /= 2) {
        e->k = k;
        e->m = elements / k;
        if (assay_program_admits(e->p, e->m, e->k, NULL))
            return true;
    }
    return false;
}

static int bench_engine(bench *b, const assay_program *p, const char *operation, bool exact,
                        int64_t elements)
{
    double rates[BENCH_RUNS_MAX];
    assay_error error;
    evaluation e = {.p = p};
    const char *engine = exact ? "exact" : "fast";
    if (!choose_shape(&e, elements)) {
        bench_absent(b, operation, engine, "no shape of the benchmark is admitted");
        return STATUS_OK;
    }
    e.fast = exact ? NULL : assay_fast_compile(p, &error);
    int status = STATUS_OK;
    if (!exact && !e.fast)
        status = complain(STATUS_FILE, "%s", error.message);
    else if (!make_grids(&e))
        status = complain(STATUS_FILE, "out of memory for the benchmark of %s", p->name);
    else
        status = measure(b, evaluate, &e, e.m * e.k, rates);
    if (!status)
        bench_add(b, operation, exact ? "assay exact" : "assay fast", ASSAY_VERSION, e.m * e.k, rates,
                  b->runs);
    free_grids(&e);
    assay_fast_free(e.fast);
    return status;
}

static int bench_instance(bench *b, const char *name)
{
    enum { FAST_ELEMENTS = 1 << 22, EXACT_ELEMENTS = 1 << 16 };
    assay_error error;
    assay_program *p = assay_catalogue_program(name, &error);
    if (!p)
        return complain(STATUS_USAGE, "%s", error.message);
    int status = bench_engine(b, p, p->name, false, FAST_ELEMENTS);
    if (!strcmp(p->recipe, "te.nvfp4.1d") || (b->glob && !status))
        status = status_worst(status, bench_engine(b, p, p->name, true, EXACT_ELEMENTS));
    assay_program_free(p);
    return status;
}

int bench_recipes(bench *b)
{
    int status = STATUS_OK, matched = 0;
    if (b->glob && strchr(b->glob, '(') && !strpbrk(b->glob, "*?["))
        return bench_instance(b, b->glob);
    for (int i = 0; i < assay_catalogue_count(); i++) {
        const char *name = assay_catalogue_name(i);
        if (b->glob && fnmatch(b->glob, name, 0))
            continue;
        matched++;
        status = status_worst(status, bench_instance(b, name));
    }
    if (!matched)
        return complain(STATUS_USAGE, "no recipe matches '%s': `assay recipes` lists them", b->glob);
    return status;
}

/* ---- casts ---- */

enum { CAST_ELEMENTS = 1 << 22 }; /* as adapters/peers_bench.py */

typedef struct {
    const assay_format *f;
    assay_cast cast;
    uint32_t *from;
    uint8_t *to;
} conversion;

static int convert(void *context)
{
    conversion *c = context;
    assay_convert_f32_array(c->f, &c->cast, c->from, c->to, CAST_ELEMENTS);
    return 0;
}

static int copy(void *context)
{
    conversion *c = context;
    memcpy(c->to, c->from, CAST_ELEMENTS * sizeof *c->from);
    __asm__ volatile("" : : "r"(c->to) : "memory"); /* the copy is made each time */
    return 0;
}

/* The same conversion by the fast evaluator: the recipe that is nothing but this cast. */
static int bench_cast_recipe(bench *b, const char *operation, const char *format)
{
    char name[96];
    assay_error error;
    snprintf(name, sizeof name, "cast.ieee(F=%s, T=f32)", format);
    assay_program *p = assay_catalogue_program(name, &error);
    if (!p)
        return complain(STATUS_FILE, "%s", error.message);
    int status = bench_engine(b, p, operation, false, CAST_ELEMENTS);
    assay_program_free(p);
    return status;
}

int bench_casts(bench *b)
{
    int status = STATUS_OK;
    static const char *const formats[] = {"e4m3", "e5m2", "e2m1", "e8m0", "bf16", "f16"};
    double rates[BENCH_RUNS_MAX];
    uint64_t state = 1;
    conversion c = {.from = malloc(CAST_ELEMENTS * sizeof *c.from),
                    .to = malloc(CAST_ELEMENTS * sizeof *c.from)};
    if (!c.from || !c.to) {
        free(c.from);
        free(c.to);
        return complain(STATUS_FILE, "out of memory for the benchmark of casts");
    }
    for (int i = 0; i < CAST_ELEMENTS; i++)
        c.from[i] = (uint32_t)next_random(&state); /* raw bits: no branch can be learnt */
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char operation[64];
        c.f = assay_format_find(formats[i]);
        c.cast = assay_cast_default(c.f);
        snprintf(operation, sizeof operation, "cast f32 -> %s", formats[i]);
        measure(b, convert, &c, CAST_ELEMENTS, rates);
        bench_add(b, operation, "assay convert", ASSAY_VERSION, CAST_ELEMENTS, rates, b->runs);
        status = status_worst(status, bench_cast_recipe(b, operation, formats[i]));
    }
    measure(b, copy, &c, CAST_ELEMENTS, rates);
    bench_add(b, "copy of f32", "memcpy", "", CAST_ELEMENTS, rates, b->runs);
    free(c.from);
    free(c.to);
    return status;
}
