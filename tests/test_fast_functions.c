/* exp, exp2, log2 and arithmetic in directed modes by the fast evaluator, against MPFR itself. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/recipe_eval.h"
#include "checks.h"
#include "random_program.h"

enum { INPUTS = 60000 };

typedef int (*mpfr_unary)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
typedef int (*mpfr_binary)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static assay_program *line_program(const char *expression)
{
    char text[256];
    assay_error error;
    assay_recipe *recipe = NULL, *decode = NULL;
    snprintf(text, sizeof text, "recipe t.line\nsource \"a test\"\nin a : f32\nin b : f32\nout y : f32\n"
             "out z : f32\nelement:\n  y = %s\n  z = b\n", expression);
    ck_assert_msg(!assay_recipe_parse(text, strlen(text), "t", &recipe, &decode, &error), "%s",
                  error.message);
    assay_program *p = assay_recipe_instance(recipe, "", NULL, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_recipe_free(recipe);
    return p;
}

static void answer(const char *expression, float *a, float *b, float *y)
{
    static float z[INPUTS];
    assay_error error;
    assay_program *p = line_program(expression);
    assay_grid in[] = {{1, INPUTS, a, NULL}, {1, INPUTS, b, NULL}};
    assay_grid out[] = {{1, INPUTS, y, NULL}, {1, INPUTS, z, NULL}};
    assay_fast *f = assay_fast_compile(p, &error);
    ck_assert_msg(f && !assay_fast_eval(f, 1, INPUTS, in, out, &error), "%s", error.message);
    assay_fast_free(f);
    assay_program_free(p);
}

static uint32_t bits_of(float v)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    return isnan(v) ? 0x7FC00000 : u;
}

/* Ordinary numbers, integers (exact results and ties of exp2), neighbours of 1, raw bits. */
static float argument(random_source *r, int64_t i)
{
    uint32_t u = (uint32_t)random_bits(r);
    float v;
    switch (i % 4) {
    case 0:
        return (float)((double)random_below(r, 400000) / 1000 - 200);
    case 1:
        return (float)(random_below(r, 320) - 160) / (float)(1 << random_below(r, 3));
    case 2:
        u = 0x3F800000 + (u & 0xFFF) - 0x800;
        break;
    default:
        break;
    }
    memcpy(&v, &u, 4);
    return v;
}

static const struct {
    const char *expression;
    mpfr_unary exact;
} functions[] = {{"exp(a)", mpfr_exp},   {"exp2(a)", mpfr_exp2}, {"log2(a)", mpfr_log2},
                 {"sqrt(a)", mpfr_sqrt}};
enum { FUNCTIONS = 4 };

START_TEST(correctly_rounded)
{
    static float a[INPUTS], b[INPUTS], y[INPUTS];
    random_source r = {checks_seed() + (uint64_t)_i};
    for (int64_t i = 0; i < INPUTS; i++)
        a[i] = argument(&r, i);
    answer(functions[_i].expression, a, b, y);
    mpfr_t x, z;
    mpfr_init2(x, 24);
    mpfr_init2(z, 300);
    for (int i = 0; i < INPUTS; i++) {
        mpfr_set_flt(x, a[i], MPFR_RNDN);
        functions[_i].exact(z, x, MPFR_RNDN);
        float right = mpfr_get_flt(z, MPFR_RNDN);
        ck_assert_msg(bits_of(y[i]) == bits_of(right), "%s of %a: %a, right is %a",
                      functions[_i].expression, (double)a[i], (double)y[i], (double)right);
    }
    mpfr_clear(x);
    mpfr_clear(z);
    checks_add(INPUTS);
}
END_TEST

/* A quarter of the pairs are subnormal or close to it, a quarter cancel nearly or quite. */
static void pair(random_source *r, float *a, float *b)
{
    uint32_t u = (uint32_t)random_bits(r), v = (uint32_t)random_bits(r);
    int64_t n = random_below(r, 4);
    if (n == 0)
        u &= 0x80FFFFFF, v = (v & 0x807FFFFF) | 0x3F000000;
    if (n == 1)
        v = (u ^ 0x80000000) + (v & 3) - 1;
    memcpy(a, &u, 4);
    memcpy(b, &v, 4);
}

static const struct {
    const char *name;
    mpfr_binary exact;
} operations[] = {{"add", mpfr_add}, {"sub", mpfr_sub}, {"mul", mpfr_mul}, {"div", mpfr_div}};
static const struct {
    const char *name;
    mpfr_rnd_t mode;
} modes[] = {{"even", MPFR_RNDN}, {"zero", MPFR_RNDZ}, {"up", MPFR_RNDU}, {"down", MPFR_RNDD}};

/* mpfr_subnormalize with f32's exponents rounds as f32 does, subnormals included. */
START_TEST(directed_arithmetic)
{
    static float a[INPUTS], b[INPUTS], y[INPUTS];
    char expression[64];
    int op = _i / 4, m = _i % 4;
    random_source r = {checks_seed() + 100 + (uint64_t)_i};
    for (int64_t i = 0; i < INPUTS; i++)
        pair(&r, &a[i], &b[i]);
    snprintf(expression, sizeof expression, "%s(a, b, %s)", operations[op].name, modes[m].name);
    answer(expression, a, b, y);
    mpfr_t x, z, w;
    mpfr_inits2(24, x, z, w, (mpfr_ptr)0);
    for (int i = 0; i < INPUTS; i++) {
        mpfr_set_flt(x, a[i], MPFR_RNDN);
        mpfr_set_flt(z, b[i], MPFR_RNDN);
        mpfr_set_emin(-148);
        mpfr_set_emax(128);
        int t = operations[op].exact(w, x, z, modes[m].mode);
        mpfr_subnormalize(w, mpfr_check_range(w, t, modes[m].mode), modes[m].mode);
        mpfr_set_emin(MPFR_EMIN_DEFAULT);
        mpfr_set_emax(MPFR_EMAX_DEFAULT);
        float right = mpfr_get_flt(w, MPFR_RNDN);
        ck_assert_msg(bits_of(y[i]) == bits_of(right), "%s of %a, %a: %a, right is %a", expression,
                      (double)a[i], (double)b[i], (double)y[i], (double)right);
    }
    mpfr_clears(x, z, w, (mpfr_ptr)0);
    checks_add(INPUTS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fast_functions");
    TCase *tests = tcase_create("against MPFR");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, correctly_rounded, 0, FUNCTIONS);
    tcase_add_loop_test(tests, directed_arithmetic, 0, 16);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
