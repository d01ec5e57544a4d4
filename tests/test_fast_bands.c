/* The fast evaluator in bands, on threads, in a hostile floating-point environment: always the
 * answers of one whole evaluation. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "../ref/recipe_fast.h"
#include "checks.h"
#include "random_program.h"

static const char *const texts[] = {
    ("recipe t.a\nsource \"a test\"\nin x : bf16\nout Q : e2m1\nout S : e4m3 per 1x16\n"
    "out A : f32 per tensor\nout C : u32 per column\ntensor:\n  A = amax(x)\nblock 1x16:\n"
    "  S = e4m3(amax(x) / max(A, 1))\nelement:\n  Q = e2m1(x / S)\n  unspecified Q when isinf(x)\n"
    "column:\n  C = count(x > 1)\n"),
    ("recipe t.b\nsource \"a test\"\nin x : f32 pad 32x32\nin s : f32 per row\nout Y : f32\n"
    "out T : f32 per 32x32\nout Z : f32 per tensor\nblock 32x32:\n  T = sum(x, seq)\nrow:\n"
    "  r = amax(x) + s\nelement:\n  Y = x * r / T\ntensor:\n  Z = sum(T, pairs)\n"),
    ("recipe t.c\nsource \"a test\"\nin x : f16\nin k : u64 per tensor\nout Q : e5m2\nout H : f32\n"
    "out L : f32 per 3x7\nelement:\n  Q = e5m2(x, stochastic(philox(k, index / 4, row, u32(col)), 16))\n"
    "  H = hadamard(x, 8x1, 90)\nblock 3x7:\n  m = max(x)\n  L = m / 3\n"),
    ("recipe t.d\nsource \"a test\"\nin x : bf16\nin t : f32 table 4x4\nout Y : f32\nout R : f32\n"
    "element:\n  Y = at(x, row + 1, col) * at(t, 1, 2)\n  R = rotate(x, 1x4, t)\n"),
};
enum { TEXTS = 4 };

static assay_program *program_of(const char *text)
{
    assay_error error;
    assay_recipe *recipe = NULL, *decode = NULL;
    ck_assert_msg(!assay_recipe_parse(text, strlen(text), "t", &recipe, &decode, &error), "%s",
                  error.message);
    assay_program *p = assay_recipe_instance(recipe, "", NULL, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_recipe_free(recipe);
    return p;
}

static void check_same(const assay_program *p, const random_case *c, int copy, const char *how)
{
    for (int o = 0; o < p->output_count; o++) {
        const assay_grid *a = &c->outputs[0][o], *b = &c->outputs[copy][o];
        const assay_value *v = &p->values[p->outputs[o]];
        size_t n = (size_t)(a->rows * a->cols);
        ck_assert_msg(!memcmp(a->data, b->data, n * (size_t)assay_type_storage(v->type)), "%s: %s",
                      how, v->name);
        ck_assert_msg(!memcmp(a->marks, b->marks, n), "%s: marks of %s", how, v->name);
        checks_add(n);
    }
}

/* The part of a grid that belongs to rows first .. of the matrix; all of it for whole tilings. */
static void part_of(const assay_program *p, int value, const assay_grid *whole, int64_t first,
                    int64_t rows, assay_grid *part)
{
    const assay_value *v = &p->values[value];
    *part = *whole;
    if (v->is_table || v->tile.rows == 0)
        return;
    int64_t from = first / v->tile.rows;
    part->rows = (first + rows + v->tile.rows - 1) / v->tile.rows - from;
    part->data = (uint8_t *)whole->data +
                 (size_t)(from * whole->cols) * (size_t)assay_type_storage(v->type);
    part->marks = whole->marks ? whole->marks + from * whole->cols : NULL;
}

typedef struct {
    const assay_program *p;
    const random_case *c;
    const assay_fast *f;
    assay_fast_run *run;
    int copy, pass;
    int64_t band, next;
    pthread_mutex_t lock;
    int failed;
} job;

static void *work(void *context)
{
    job *j = context;
    assay_grid in[8], out[8];
    assay_error error;
    for (;;) {
        pthread_mutex_lock(&j->lock);
        int64_t first = j->next;
        j->next += j->band;
        pthread_mutex_unlock(&j->lock);
        if (first >= j->c->m)
            return NULL;
        int64_t rows = j->c->m - first < j->band ? j->c->m - first : j->band;
        for (int i = 0; i < j->p->input_count; i++)
            part_of(j->p, j->p->inputs[i], &j->c->inputs[i], first, rows, &in[i]);
        for (int o = 0; o < j->p->output_count; o++)
            part_of(j->p, j->p->outputs[o], &j->c->outputs[j->copy][o], first, rows, &out[o]);
        if (assay_fast_band(j->run, j->pass, first, rows, in, out, &error))
            j->failed = 1;
    }
}

/* As a streaming caller does it: banded inputs are not given at begin. */
static void by_bands(const assay_program *p, const random_case *c, const assay_fast *f, int copy,
                     int64_t band, int threads)
{
    assay_grid given[8];
    assay_error error;
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        given[i] = c->inputs[i];
        if (!v->is_table && v->tile.rows != 0)
            given[i].data = NULL;
    }
    job j = {.p = p, .c = c, .f = f, .copy = copy, .band = band};
    j.run = assay_fast_begin(f, c->m, c->k, given, c->outputs[copy], &error);
    ck_assert_msg(j.run != NULL, "%s", error.message);
    pthread_mutex_init(&j.lock, NULL);
    for (j.pass = 0; j.pass < assay_fast_passes(f); j.pass++) {
        pthread_t other[4];
        j.next = 0;
        for (int t = 1; t < threads; t++)
            ck_assert(!pthread_create(&other[t], NULL, work, &j));
        work(&j);
        for (int t = 1; t < threads; t++)
            pthread_join(other[t], NULL);
        ck_assert(!j.failed && !assay_fast_pass_end(j.run, j.pass, &error));
    }
    assay_fast_end(j.run);
    pthread_mutex_destroy(&j.lock);
}

START_TEST(bands_and_threads)
{
    static const int64_t shapes[][2] = {{1000, 96}, {333, 65}, {1, 7}, {4096, 16}, {70, 5000}};
    assay_error error;
    assay_program *p = program_of(texts[_i]);
    assay_fast *f = assay_fast_compile(p, &error);
    ck_assert_msg(f != NULL, "%s", error.message);
    random_source r = {checks_seed() + (uint64_t)_i};
    for (int s = 0; s < 5; s++) {
        random_case *c = random_case_new(&r, p, shapes[s][0], shapes[s][1]);
        ck_assert(!assay_fast_eval(f, c->m, c->k, c->inputs, c->outputs[0], &error));
        int64_t usual = assay_fast_band_rows(f, c->m, c->k);
        int64_t small = f->single_band ? c->m : 96; /* a multiple of all tile heights here */
        by_bands(p, c, f, 1, usual, 1);
        check_same(p, c, 1, "bands of the usual size");
        if (_i == 2)
            small = 24;
        by_bands(p, c, f, 2, small, 3);
        check_same(p, c, 2, "small bands on three threads");
        random_case_free(c, p);
    }
    assay_fast_free(f);
    assay_program_free(p);
}
END_TEST

/* Flush-to-zero and another rounding mode in the calling thread change nothing, and stay. */
START_TEST(hostile_environment)
{
#ifdef __SSE2__
    assay_error error;
    assay_program *p = program_of(texts[_i]);
    assay_fast *f = assay_fast_compile(p, &error);
    random_source r = {checks_seed() + 9};
    random_case *c = random_case_new(&r, p, 40, 64);
    ck_assert(!assay_fast_eval(f, c->m, c->k, c->inputs, c->outputs[0], &error));
    unsigned saved = _mm_getcsr();
    _mm_setcsr(0xFFC0); /* FTZ, DAZ, toward zero */
    int failed = assay_fast_eval(f, c->m, c->k, c->inputs, c->outputs[1], &error);
    unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    ck_assert(!failed);
    ck_assert_uint_eq(after & 0xFFC0, 0xFFC0);
    check_same(p, c, 1, "with FTZ, DAZ, toward zero");
    random_case_free(c, p);
    assay_fast_free(f);
    assay_program_free(p);
#endif
}
END_TEST

START_TEST(selftest)
{
    assay_error error;
    ck_assert(!assay_fast_selftest(&error));
#ifdef __SSE2__
    static const unsigned hostile[] = {0x9F80, 0x1FC0, 0x3F80, 0x5F80, 0x7F80};
    unsigned saved = _mm_getcsr();
    for (int i = 0; i < 5; i++) { /* FTZ, DAZ, down, up, toward zero */
        _mm_setcsr(hostile[i]);
        int noticed = assay_fast_selftest(&error);
        _mm_setcsr(saved);
        ck_assert_msg(noticed == -1, "MXCSR %x passes unnoticed", hostile[i]);
    }
#endif
    checks_add(6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fast_bands");
    TCase *tests = tcase_create("runs");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, bands_and_threads, 0, TEXTS);
    tcase_add_loop_test(tests, hostile_environment, 0, TEXTS);
    tcase_add_test(tests, selftest);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
