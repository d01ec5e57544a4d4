/* Casts and decodes of the fast evaluator, format by format, against ref/round and the format table:
 * all bf16 patterns, f32 around every boundary, random f32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"
#include "checks.h"
#include "random_program.h"

enum { INPUTS = 65536 + 40960 };

static assay_program *element_program(const char *statement, const char *in, const char *out)
{
    char text[512];
    assay_error error;
    assay_recipe *recipe = NULL, *decode = NULL;
    snprintf(text, sizeof text, "recipe t.cast\nsource \"a test\"\nin x : %s\nin r : u32\nout y : %s\n"
             "out z : u32\nelement:\n  y = %s\n  z = r\n", in, out, statement);
    ck_assert_msg(!assay_recipe_parse(text, strlen(text), "t", &recipe, &decode, &error), "%s",
                  error.message);
    assay_program *p = assay_recipe_instance(recipe, "", NULL, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_recipe_free(recipe);
    return p;
}

/* y = the program's answers for n inputs x (in one row) and random words r. */
static void answer(const assay_program *p, int64_t n, void *x, uint32_t *r, void *y)
{
    static uint32_t z[INPUTS];
    assay_error error;
    assay_grid in[] = {{1, n, x, NULL}, {1, n, r, NULL}};
    assay_grid out[] = {{1, n, y, NULL}, {1, n, z, NULL}};
    assay_fast *f = assay_fast_compile(p, &error);
    ck_assert_msg(f != NULL, "%s", error.message);
    ck_assert_msg(!assay_fast_eval(f, 1, n, in, out, &error), "%s", error.message);
    assay_fast_free(f);
}

static uint32_t f32_bits(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Boundaries between neighbouring codes, the codes themselves, and f32 beside them; the rest raw. */
static void fill(const assay_format *f, random_source *r, uint32_t *x, uint32_t *words)
{
    int64_t n = 0, least = assay_ordinal_min(f), most = assay_ordinal_max(f);
    for (; n < 65536; n++)
        x[n] = (uint32_t)n << 16;
    for (; n + 9 < INPUTS - 4096; n += 10) {
        int64_t at = least + random_below(r, most - least);
        double a = assay_decode_double(f, assay_ordinal_code(f, at));
        double b = assay_decode_double(f, assay_ordinal_code(f, at + 1));
        for (int k = 0; k < 10; k++)
            x[n + k] = f32_bits(k < 5 ? (a + b) / 2 : a) + (uint32_t)(k % 5) - 2;
    }
    for (; n < INPUTS; n++)
        x[n] = (uint32_t)random_bits(r);
    for (n = 0; n < INPUTS; n++)
        words[n] = (uint32_t)random_bits(r);
}

static void check_cast(const assay_format *f, const char *options, const assay_cast *cast,
                       uint32_t *x, uint32_t *words)
{
    static uint64_t y[INPUTS];
    char statement[128];
    snprintf(statement, sizeof statement, "%s(x%s)", f->name, options);
    assay_program *p = element_program(statement, "f32", f->name);
    answer(p, INPUTS, x, words, y);
    assay_program_free(p);
    int size = assay_format_storage(f);
    assay_exact v;
    assay_exact_init(&v);
    for (int64_t i = 0; i < INPUTS; i++) {
        uint64_t got = 0;
        memcpy(&got, (uint8_t *)y + i * size, (size_t)size);
        assay_exact_set_code(&v, assay_format_find("f32"), x[i]);
        uint64_t right = assay_round(f, &v, cast, words[i]).code;
        ck_assert_msg(got == right, "%s of %08x with %08x: %llx, right is %llx", statement, x[i],
                      words[i], (unsigned long long)got, (unsigned long long)right);
    }
    assay_exact_clear(&v);
    checks_add(INPUTS);
}

/* Each format: the default, and one set of options by its place in the table and the seed. */
START_TEST(casts)
{
    static uint32_t x[INPUTS], words[INPUTS];
    const assay_format *f = &assay_formats[_i];
    random_source r = {checks_seed() + (uint64_t)_i};
    if (assay_format_width(f) > 32)
        return;
    fill(f, &r, x, words);
    for (int round = 0; round < 3; round++) {
        char options[128] = "";
        assay_cast cast = assay_cast_default(f);
        if (round > 0) {
            cast.mode = (assay_mode)((_i + round * 4) % ASSAY_MODE_COUNT);
            cast.overflow = (assay_overflow)((_i / 3 + round) % 3);
            cast.random_bits = (uint8_t)(1 + (_i * 7 + round) % 32);
            cast.nan_sign = round == 2;
            cast.ftz = round == 2 && assay_format_has_subnormals(f);
            char mode[64];
            snprintf(mode, sizeof mode, "stochastic(r, %d)", cast.random_bits);
            if (cast.mode != ASSAY_STOCHASTIC)
                snprintf(mode, sizeof mode, "%s", assay_mode_name(cast.mode));
            snprintf(options, sizeof options, ", %s, %s%s%s", mode,
                     assay_overflow_name(cast.overflow), cast.nan_sign ? ", nan_sign" : "",
                     cast.ftz ? ", ftz" : "");
        }
        check_cast(f, options, &cast, x, words);
    }
}
END_TEST

START_TEST(decodes)
{
    static uint64_t codes[65536];
    static uint32_t words[65536], y[65536];
    const assay_format *f = &assay_formats[_i];
    int width = assay_format_width(f), size = assay_format_storage(f);
    if (width > 16)
        return;
    int64_t n = (int64_t)1 << width;
    for (int64_t i = 0; i < n; i++)
        memcpy((uint8_t *)codes + i * size, &i, (size_t)size);
    assay_program *p = element_program("f32(x)", f->name, "f32");
    answer(p, n, codes, words, y);
    assay_program_free(p);
    for (int64_t i = 0; i < n; i++) {
        bool nan = assay_decode(f, (uint64_t)i).class_ == ASSAY_CLASS_NAN;
        uint32_t right = nan ? 0x7FC00000 : f32_bits(assay_decode_double(f, (uint64_t)i));
        ck_assert_msg(y[i] == right, "%s code %llx: %08x, right is %08x", f->name, (long long)i, y[i],
                      right);
    }
    checks_add((uint64_t)n);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fast_cast");
    TCase *tests = tcase_create("formats");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, casts, 0, (int)assay_format_count);
    tcase_add_loop_test(tests, decodes, 0, (int)assay_format_count);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
