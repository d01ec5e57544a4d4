/* The language's operations that stand for instructions, and its casts, against recorded answers:
 * rcp.approx and div.full of an H200, ceilings of log2f, AMD's conversions by its emulator. */
#include <math.h>

#include "recorded.h"

/* Evaluates a recipe of one line over n cases (M = 1), on both engines, against `want`. */
static void check_line(const char *line, int64_t n, const uint32_t *a, const uint32_t *b,
                       const uint32_t *want, const char *what)
{
    char text[256];
    snprintf(text, sizeof text,
             "recipe line\nsource \"a test\"\nnan 0x7FFFFFFF\nin a : f32\n%sout y : f32\n"
             "element:\n  y = %s\n",
             b ? "in b : f32\n" : "", line);
    assay_error error = {0};
    assay_recipe *recipe = NULL, *decode = NULL;
    int rc = assay_recipe_parse(text, strlen(text), "line", &recipe, &decode, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    assay_program *p = assay_recipe_instance(recipe, NULL, NULL, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_grid inputs[2] = {{1, n, (void *)(uintptr_t)a, NULL}, {1, n, (void *)(uintptr_t)b, NULL}};
    for (int e = 0; e < ENGINES; e++) {
        assay_grid y = new_grid(&p->values[p->outputs[0]], 1, n);
        ck_assert_msg(engines[e].eval(p, 1, n, inputs, &y, &error) == 0, "%s", error.message);
        tally t = {.what = engines[e].name};
        compare(&p->values[p->outputs[0]], &y, want, false, &t);
        printf("%-44s %-7s %8" PRIu64 " compared, %" PRIu64 " different\n", what, engines[e].name,
               t.compared, t.different);
        checks_add(t.compared);
        ck_assert_uint_eq(t.different, 0);
        free_grids(&y, 1);
    }
    assay_program_free(p);
    assay_recipe_free(recipe);
}

static const uint32_t *words(const safetensors_file *f, const char *name, int64_t *n)
{
    const safetensors_tensor *t = need(f, name);
    uint32_t *copy = malloc((size_t)t->size);
    memcpy(copy, t->data, (size_t)t->size);
    *n = t->size / 4;
    return copy;
}

/* All mantissas of [1, 2), and two other binades for the scaling. */
START_TEST(rcp_approx)
{
    safetensors_file *file = open_recorded("h200.rcp_approx");
    const int8_t *delta = need(file, "D")->data;
    const int64_t n = (int64_t)1 << 23;
    uint32_t *x = malloc((size_t)n * 4), *y = malloc((size_t)n * 4);
    static const uint32_t binades[] = {127, 1, 252};
    uint32_t field = binades[_i];
    for (int64_t i = 0; i < n; i++) {
        uint32_t one = 127u << 23 | (uint32_t)i;
        float v, r;
        memcpy(&v, &one, 4);
        r = 1.0f / v; /* the FPU's own, correctly rounded */
        memcpy(&y[i], &r, 4);
        y[i] = (uint32_t)((int64_t)y[i] + delta[i]) + ((127 - field) << 23);
        x[i] = field << 23 | (uint32_t)i;
    }
    char what[64];
    snprintf(what, sizeof what, "rcp.approx.ftz, exponent field %u", field);
    check_line("rcp_approx(a)", n, x, NULL, y, what);
    free(x);
    free(y);
    safetensors_close(file);
}
END_TEST

START_TEST(div_full)
{
    safetensors_file *file = open_recorded("h200.div_full");
    int64_t n;
    const uint32_t *a = words(file, "A", &n), *b = words(file, "B", &n);
    const uint32_t *full = words(file, "FULL", &n), *rn = words(file, "RN", &n);
    check_line("div_full(a, b)", n, a, b, full, "div.full");
    check_line("a / b", n, a, b, rn, "div.rn");
    free((void *)(uintptr_t)a);
    free((void *)(uintptr_t)b);
    free((void *)(uintptr_t)full);
    free((void *)(uintptr_t)rn);
    safetensors_close(file);
}
END_TEST

/* log2f of CUDA is not correctly rounded everywhere, but no ceiling differs: so torchao's scale. */
START_TEST(log2_ceilings)
{
    safetensors_file *file = open_recorded("h200.log2_exp2");
    int64_t n;
    const uint32_t *x = words(file, "X", &n), *l = words(file, "L_log2f", &n);
    uint32_t *want = malloc((size_t)n * 4);
    for (int64_t i = 0; i < n; i++) {
        float v;
        memcpy(&v, &l[i], 4);
        v = ceilf(v);
        memcpy(&want[i], &v, 4);
    }
    check_line("rint(log2(a), up)", n, x, NULL, want, "ceiling of log2f");
    free((void *)(uintptr_t)x);
    free((void *)(uintptr_t)l);
    free(want);
    safetensors_close(file);
}
END_TEST

/* ---- AMD's emulator ---- */

static const struct {
    const char *file, *format, *overflow;
    int column;       /* of the CSV */
    int random_bits;  /* 0: nearest, the low byte from x, the next from y; else x with the seed */
} emulator_rows[] = {
    {"amd_emulator.cvt_gfx942.csv", "e4m3fnuz", "sat", 4, 0},
    {"amd_emulator.cvt_gfx942.csv", "e4m3fnuz", "sat", 5, 20},
    {"amd_emulator.cvt_gfx942.csv", "e5m2fnuz", "sat", 6, 0},
    {"amd_emulator.cvt_gfx942.csv", "e5m2fnuz", "sat", 7, 21},
    {"amd_emulator.cvt_gfx950.csv", "e4m3", "sat", 4, 0},
    {"amd_emulator.cvt_gfx950.csv", "e4m3", "sat", 5, 20},
    {"amd_emulator.cvt_gfx950.csv", "e5m2", "nosat", 6, 0},
    {"amd_emulator.cvt_gfx950.csv", "e5m2", "nosat", 7, 21},
};

/* Reads x, y, seed and one column; returns the number of rows. */
static int64_t read_csv(const char *name, int column, uint32_t *x, uint32_t *y, uint32_t *seed,
                        uint32_t *out, int64_t limit)
{
    FILE *f = fopen(recorded_path(name), "r");
    ck_assert_msg(f != NULL, "%s is not unpacked: make recorded", recorded_path(name));
    char line[512];
    int64_t n = -1; /* the header */
    while (fgets(line, sizeof line, f) && n < limit) {
        char *rest = line;
        for (int c = 0; n >= 0 && c <= column; c++) {
            uint32_t v = (uint32_t)strtoul(rest, &rest, 16);
            rest++;
            if (c < 3)
                (c == 0 ? x : c == 1 ? y : seed)[n] = v;
            if (c == column)
                out[n] = v;
        }
        n++;
    }
    fclose(f);
    return n;
}

/* Is the emulator's answer one that counts? Not for NaN codes (compared as NaN), nor for
 * stochastic rounding below half the least code, where it always answers zero. */
static bool emulator_counts(const assay_format *f, uint32_t x, bool stochastic)
{
    double v = fabs(assay_decode_double(assay_format_find("f32"), x));
    double least = assay_decode_double(f, 1);
    double most = assay_decode_double(f, assay_format_max_code(f));
    return !stochastic || v == 0 || (v >= least / 2 && v <= most);
}

START_TEST(amd_emulator)
{
    enum { LIMIT = 8192 };
    static uint32_t x[LIMIT], y[LIMIT], seed[LIMIT], out[LIMIT];
    const int bits = emulator_rows[_i].random_bits;
    const assay_format *format = assay_format_find(emulator_rows[_i].format);
    int64_t n = read_csv(emulator_rows[_i].file, emulator_rows[_i].column, x, y, seed, out, LIMIT);
    ck_assert_int_eq(n, LIMIT);
    char instance[128], random[16];
    snprintf(random, sizeof random, ", n=%d", bits);
    snprintf(instance, sizeof instance, "cast.ieee(F=%s, T=f32, round=%s, over=%s%s)", format->name,
             bits ? "stochastic" : "even", emulator_rows[_i].overflow, bits ? random : "");
    assay_program *p = program(instance);
    for (int64_t i = 0; bits && i < n; i++)
        seed[i] >>= 32 - bits; /* the top bits of the register are used */
    uint64_t compared = 0, different = 0;
    for (int e = 0; e < ENGINES; e++)
        for (int half = 0; half < (bits ? 1 : 2); half++) {
            assay_grid in[2] = {{1, n, half ? y : x, NULL}, {1, n, seed, NULL}};
            assay_grid q = new_grid(&p->values[p->outputs[0]], 1, n);
            assay_error error = {0};
            ck_assert_msg(engines[e].eval(p, 1, n, in, &q, &error) == 0, "%s", error.message);
            for (int64_t i = 0; i < n; i++) {
                uint64_t want = code_at(q.data, i, 1), got = out[i] >> 8 * half & 0xFF;
                if (!emulator_counts(format, half ? y[i] : x[i], bits > 0))
                    continue;
                compared++;
                bool nan = assay_decode(format, want).class_ == ASSAY_CLASS_NAN &&
                           assay_decode(format, got).class_ == ASSAY_CLASS_NAN;
                if (want != got && !nan && different++ < SHOWN)
                    printf("  %s: x %08X, recipe %02" PRIX64 ", emulator %02" PRIX64 "\n", p->name,
                           half ? y[i] : x[i], want, got);
            }
            free_grids(&q, 1);
        }
    printf("%-52s %8" PRIu64 " compared, %" PRIu64 " different\n", p->name, compared, different);
    checks_add(compared);
    ck_assert_uint_gt(compared, 1000);
    ck_assert_uint_eq(different, 0);
    assay_program_free(p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorded instructions");
    TCase *c = tcase_create("an H200's");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, rcp_approx, 0, 3);
    tcase_add_test(c, div_full);
    tcase_add_test(c, log2_ceilings);
    suite_add_tcase(suite, c);
    c = tcase_create("AMD's emulator");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, amd_emulator, 0, sizeof emulator_rows / sizeof emulator_rows[0]);
    suite_add_tcase(suite, c);
    return checks_main(suite);
}
