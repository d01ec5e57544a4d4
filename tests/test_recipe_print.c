/* Canonical text: it parses back to itself and prints unchanged, over the whole catalogue and over
 * handwritten recipes; equal contracts have equal identities, different ones have not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"
#include "checks.h"

static assay_recipe *find(void *context, const char *name)
{
    (void)context;
    assay_error unused;
    return assay_catalogue_find(name, &unused);
}

static assay_recipe *parse(const char *text)
{
    assay_error error;
    assay_recipe *r = NULL;
    ck_assert_msg(!assay_recipe_parse(text, strlen(text), "sample", &r, NULL, &error), "%s",
                  error.message);
    return r;
}

static assay_program *instance(const assay_recipe *r, const char *choices)
{
    assay_error error;
    assay_program *p = assay_recipe_instance(r, choices, find, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    return p;
}

/* The canonical text of p, parsed and printed again, is the same text with the same identities; so
 * is that of a copy. */
static void check_fixed_point(const assay_program *p)
{
    assay_error error;
    assay_recipe *r = NULL;
    ck_assert_msg(!assay_recipe_parse_canonical(p->canonical, strlen(p->canonical), "canonical", &r,
                                                &error),
                  "%s\n%s", error.message, p->canonical);
    assay_program *again = assay_recipe_instance(r, NULL, NULL, NULL, &error);
    ck_assert_msg(again != NULL, "%s\n%s", error.message, p->canonical);
    ck_assert_str_eq(p->canonical, again->canonical);
    ck_assert_str_eq(p->sha256, again->sha256);
    ck_assert_str_eq(p->layout_sha256, again->layout_sha256);
    ck_assert_str_eq(p->name, again->name);
    ck_assert_int_eq(p->value_count, again->value_count);
    ck_assert_int_eq(p->statement_count, again->statement_count);
    ck_assert_int_eq(p->approx_count, again->approx_count);
    assay_program *copy = assay_program_copy(p);
    char *printed = assay_program_print(copy);
    ck_assert_str_eq(p->canonical, printed);
    free(printed);
    assay_program_free(copy);
    assay_program_free(again);
    assay_recipe_free(r);
    checks_add(3);
}

START_TEST(catalogue_is_fixed_point)
{
    assay_error error;
    assay_recipe *r = assay_catalogue_recipe(_i, &error);
    ck_assert_msg(r != NULL, "%s", error.message);
    ck_assert_str_eq(assay_recipe_name(r), assay_catalogue_name(_i));
    int count = assay_recipe_instance_count(r);
    int step = count > 400 ? count / 400 : 1; /* all of them run in assay_recipe_check */
    for (int i = 0; i < count; i += step) {
        char *name = assay_recipe_instance_name(r, i);
        assay_program *p = assay_catalogue_program(name, &error);
        ck_assert_msg(p != NULL, "%s: %s", name, error.message);
        ck_assert_str_eq(p->name, name);
        check_fixed_point(p);
        assay_program_free(p);
        free(name);
    }
}
END_TEST

START_TEST(catalogue_checks)
{
    assay_error error;
    assay_recipe *r = assay_catalogue_recipe(_i, &error);
    ck_assert_msg(r != NULL, "%s", error.message);
    ck_assert_msg(!assay_recipe_check(r, find, NULL, &error), "%s", error.message);
    checks_add((uint64_t)assay_recipe_instance_count(r));
}
END_TEST

/* ---- single lines: what is written, what is printed ---- */

static const struct {
    const char *written, *printed;
} expressions[] = {
    /* parentheses only where the grammar needs them */
    {"((x + (y)))", "x + y"},
    {"(x + y) + z", "x + y + z"},
    {"x + (y + z)", "x + (y + z)"},
    {"x - (y - z)", "x - (y - z)"},
    {"(x * y) / z", "x * y / z"},
    {"x * (y / z)", "x * (y / z)"},
    {"(x + y) * z", "(x + y) * z"},
    {"x + (y * z)", "x + y * z"},
    {"-(x + y)", "-(x + y)"},
    {"-(x) * y", "-x * y"},
    {"-(-x)", "--x"},
    {"- (- (3)) * x", "3 * x"},
    {"x - -3", "x - -3"},
    {"x * -0", "x * -0"},
    {"(if x < y then x else y) + z", "(if x < y then x else y) + z"},
    {"if x < y then if y < z then x else y else if z == 0 then y else z",
     "if x < y then if y < z then x else y else if z == 0 then y else z"},
    {"if (not (x < y)) then x else y", "if not x < y then x else y"},
    {"if not (x < y and y < z) then x else y", "if not (x < y and y < z) then x else y"},
    {"if (x < y or y < z) and (z == 0) then x else y",
     "if (x < y or y < z) and z == 0 then x else y"},
    {"if x < y or (y < z and z == 0) then x else y", "if x < y or y < z and z == 0 then x else y"},
    {"f32((bits(x) & 255) << 3)", "f32((bits(x) & 255) << 3)"},
    {"f32(if (bits(x) & 1) == 1 then 1 else 2)", "f32(if bits(x) & 1 == 1 then 1 else 2)"},
    {"f32(if bits(x) & 1 == 1 then 1 else 2)", "f32(if bits(x) & 1 == 1 then 1 else 2)"},
    /* named operations without options are operators; options in one order */
    {"add(x, mul(y, z))", "x + y * z"},
    {"sub(x, y, ftz, zero)", "sub(x, y, zero, ftz)"},
    {"div(x, y, even)", "x / y"},
    {"sqrt(x, up)", "sqrt(x, up)"},
    {"rint(x, even) + rint(y, down)", "rint(x) + rint(y, down)"},
    {"f32(e4m3(x, nan_sign, nosat, nan 0x7E, odd))",
     "f32(e4m3(x, odd, nosat, nan 126, nan_sign))"},
    {"f32(e4m3(x, even, sat, nan 0x7F))", "f32(e4m3(x))"},
    {"f32(bf16(x, sat, ftz))", "f32(bf16(x, sat, ftz))"},
    {"f32(e2m1(x, stochastic(bits(y), 24)))", "f32(e2m1(x, stochastic(bits(y), 24)))"},
    /* numbers */
    {"x * 448.0", "x * 448"},
    {"x * 0.5", "x * 0.5"},
    {"x * 0.0009765625", "x * 0.0009765625"},
    {"x * 0.00048828125", "x * 2^-11"},
    {"x * 0x1.80p-12", "x * 0x1.8p-12"},
    {"x * 0.1", "x * 1e-1"},
    {"x * 12.340", "x * 1234e-2"},
    {"x * 1e-4", "x * 1e-4"},
    {"x * 18446744073709551615", "x * 18446744073709551615"},
    {"x * 18446744073709551616", "x * 2^64"},
    {"x * 1e30", "x * 0x1.93e5939a08ce9dbd48p99"},
    {"x * f32.max", "x * 0x1.fffffep127"},
    {"x * e4m3.max", "x * 448"},
    {"x * e4m3.tiny", "x * 0.015625"},
    {"x * e4m3.tiny * e2m1.least", "x * 0.015625 * 0.5"},
    {"x * e8m0.least", "x * 2^-127"},
    {"x * e4m3.emax + e4m3.mant * e5m2.bias - bf16.width", "x * 8 + 3 * 15 - 16"},
    {"f32(e4m3(0.1, zero))", "f32(e4m3(1e-1, zero))"},
    {"x * f32(0.1)", "x * f32(1e-1)"},
    {"f32(bits(x) | 0x80000000)", "f32(bits(x) | 2147483648)"},
    {"f32(i32(-5) + i32(x))", "f32(i32(-5) + i32(x))"},
    {"code(f32, 0x7F800000)", "code(f32, 2139095040)"},
    {"copysign(x, y)", "copysign(x, y)"},
    {"clamp(x, -1, 1)", "clamp(x, -1, 1)"},
    {"fma(x, y, 0)", "fma(x, y, 0)"},
    {"hadamard(x, 1x16, 0xACE1)", "hadamard(x, 1x16, 44257)"},
    {"f32(philox(u64(bits(x)), row, col, 2))", "f32(philox(u64(bits(x)), row, col, 2))"},
    {"at(x, i32(row) - 1, col)", "at(x, i32(row) - 1, col)"},
    {"f32(u32(x) % 7)", "f32(u32(x) % 7)"},
    {"f32(xor(index, 3))", "f32(xor(index, 3))"},
};

START_TEST(expression_prints)
{
    char text[1024];
    const char *written = expressions[_i].written, *printed = expressions[_i].printed;
    snprintf(text, sizeof text,
             "recipe a.b\nsource \"s\"\nin x : f32\nin y : f32\nin z : f32\nout r : f32\n"
             "element:\n  k = x + y + z\n  v = %s\n  r = k + v\n",
             written);
    assay_recipe *r = parse(text);
    assay_program *p = instance(r, NULL);
    char *line = assay_statement_print(p, &p->statements[1]);
    ck_assert_str_eq(line + strlen("v = "), printed);
    free(line);
    check_fixed_point(p);
    assay_program_free(p);
    assay_recipe_free(r);
    checks_add(1);
}
END_TEST

/* ---- whole recipes ---- */

/* Block-scaled FP4 under a given tensor maximum, in the manner of te.nvfp4. */
static const char sample[] =
    "recipe demo.fp4\n"
    "\"FP4 in runs of sixteen, an E4M3 scale each.\"\n"
    "source \"written for this test\"\n"
    "param T = bf16 | f32\n"
    "param cut = 1x16 | 16x1 | 16x16      # the shape of a scale's tile\n"
    "param way = slow | quick\n"
    "nan 0x7FFFFFFF\n"
    "require K % 16 == 0 and M % 16 == 0\n"
    "in w : T\n"
    "in top : f32 per tensor\n"
    "out Q : e2m1\n"
    "out S : e4m3 per cut any nan\n"
    "tensor:\n"
    "  h = min(f32.max, 6 * 448 / top)\n"
    "  H = if h == 0 or top == 0 then 1 else h\n"
    "  [way == slow] back = 1 / H\n"
    "block cut:\n"
    "  S = e4m3(min(H * (1 / 6) * amax(w), f32.max))\n"
    "  [way == slow] f = min(1 / (back * S), f32.max)\n"
    "  [way == quick] f = bf16(min(H / S, bf16.max))\n"
    "\n"
    "element:\n"
    "  [way == slow] Q = e2m1(f * w)\n"
    "  [way == quick] Q = e2m1(fma(w, f, 0))\n"
    "[cut != 16x1] layout Q : pack low\n"
    "[cut == 16x1] layout Q : transpose, pack low\n"
    "[cut == 16x16] layout S : replicate 16x1, pad 128x4 keep\n"
    "decode\n"
    "param D = bf16 | f32\n"
    "in top : f32 per tensor\n"
    "out v : D\n"
    "block cut:\n"
    "  g = S * top * (1 / 2688)\n"
    "element:\n"
    "  v = D(g * Q)\n";

START_TEST(sample_prints)
{
    static const char canonical[] =
        "recipe demo.fp4(T=f32, cut=16x16, way=quick)\n"
        "nan 2147483647\n"
        "in w : f32\n"
        "in top : f32 per tensor\n"
        "out Q : e2m1\n"
        "out S : e4m3 per 16x16 any nan\n"
        "require K % 16 == 0 and M % 16 == 0\n"
        "tensor:\n"
        "  h = min(0x1.fffffep127, 6 * 448 / top)\n"
        "  H = if h == 0 or top == 0 then 1 else h\n"
        "block 16x16:\n"
        "  S = e4m3(min(H * (1 / 6) * amax(w), 0x1.fffffep127))\n"
        "  f = bf16(min(H / S, 0x1.fep127))\n"
        "element:\n"
        "  Q = e2m1(fma(w, f, 0))\n"
        "layout Q : pack low\n"
        "layout S : replicate 16x1, pad 128x4 keep\n";
    assay_recipe *r = parse(sample);
    assay_program *p = instance(r, " way=quick,T=f32 ,cut = 16x16");
    ck_assert_str_eq(p->canonical, canonical);
    assay_program_free(p);
    ck_assert_int_eq(assay_recipe_instance_count(r), 12);
    for (int i = 0; i < 12; i++) {
        char *name = assay_recipe_instance_name(r, i);
        *strchr(name, ')') = 0;
        p = instance(r, strchr(name, '(') + 1);
        check_fixed_point(p);
        assay_program_free(p);
        free(name);
    }
    assay_recipe_free(r);
}
END_TEST

START_TEST(decode_prints)
{
    static const char canonical[] = "recipe demo.fp4.decode(T=bf16, cut=1x16, way=slow, D=f32)\n"
                                    "nan 2147483647\n"
                                    "in Q : e2m1\n"
                                    "in S : e4m3 per 1x16\n"
                                    "in top : f32 per tensor\n"
                                    "out v : f32\n"
                                    "require K % 16 == 0 and M % 16 == 0\n"
                                    "block 1x16:\n"
                                    "  g = S * top * (1 / 2688)\n"
                                    "element:\n"
                                    "  v = f32(g * Q)\n";
    assay_error error;
    assay_recipe *r = NULL, *d = NULL;
    ck_assert(!assay_recipe_parse(sample, sizeof sample - 1, "sample", &r, &d, &error));
    ck_assert_ptr_nonnull(d);
    assay_program *p = instance(d, "D=f32");
    ck_assert_str_eq(p->canonical, canonical);
    ck_assert_str_eq(p->values[p->main_input].name, "Q");
    check_fixed_point(p);
    assay_program_free(p);
    assay_recipe_free(r);
}
END_TEST

static void identity(const char *text, const char *choices, char numerics[65], char layout[65])
{
    assay_recipe *r = parse(text);
    assay_program *p = instance(r, choices);
    memcpy(numerics, p->sha256, 65);
    memcpy(layout, p->layout_sha256, 65);
    check_fixed_point(p);
    assay_program_free(p);
    assay_recipe_free(r);
}

START_TEST(identities)
{
    static const char one[] = "recipe a.cast\n\"One.\"\nsource \"A\"\nin x : f32\nout Q : e4m3\n"
                              "element:\n  Q = e4m3(min(x, 448), nosat)\nlayout Q : transpose\n";
    static const char two[] =
        "recipe b.other # with parameters and blank lines\nsource \"B\"\n\n"
        "param F = e5m2 | e4m3\nparam T = f16 | f32\nparam over = sat | nosat\n"
        "param unused_here = p | q\n"
        "in x : T\n  out Q : F\nelement:\n\n"
        "[unused_here == p]   Q =   F( min(x,F.max) ,over)\n"
        "[unused_here == q]   Q = F(x)\n";
    static const char three[] = "recipe a.cast\nsource \"A\"\nin x : f32\nout Q : e4m3\n"
                                "element:\n  Q = e4m3(min(x, 449), nosat)\n";
    char a[65], b[65], c[65], la[65], lb[65], lc[65];
    identity(one, NULL, a, la);
    identity(two, "F=e4m3, T=f32, over=nosat", b, lb);
    identity(three, "", c, lc);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    ck_assert_str_ne(la, lb);
    ck_assert_str_eq(lb, lc);
    /* SHA-256 of nothing: no layout line. */
    ck_assert_str_eq(lb, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    checks_add(5);
}
END_TEST

/* ---- use ---- */

static assay_recipe *inner_recipe;
static assay_recipe *find_inner(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "t.inner") ? NULL : inner_recipe;
}

START_TEST(use_prints)
{
    static const char inner[] = "recipe t.inner\nsource \"A\"\nparam F = e4m3 | e5m2\n"
                                "require K % 8 == 0\nin x : f32\nin g : f64 per tensor\n"
                                "in W : f32 table 4x4\n"
                                "out Q : F\nout y : f32\nout n : i32 per row\n"
                                "row:\n  n = 3\n"
                                "element:\n  u = x * g\n  Q = F(u)\n"
                                "  unspecified Q when isnan(x)\n  y = Q\n";
    static const char outer[] =
        "recipe t.outer\nsource \"A\"\nparam G = e5m2 | e4m3\nin x : bf16\nin V : f32 table 4x4\n"
        "require K % 8 == 0\nrequire M > 1\nout r : f32\n"
        "use t.inner(F=G) as q : x = x, g = 0.1, W = V\n"
        "element:\n  r = q.y + at(V, 0, 1)\n";
    static const char canonical[] = "recipe t.outer(G=e4m3)\n"
                                    "in x : bf16\n"
                                    "in V : f32 table 4x4\n"
                                    "out r : f32\n"
                                    "require K % 8 == 0\n"
                                    "require M > 1\n"
                                    "element:\n"
                                    "  q.x = f32(x)\n"
                                    "tensor:\n"
                                    "  q.g = f64(1e-1)\n"
                                    "element:\n"
                                    "  q.u = q.x * q.g\n"
                                    "  q.Q = e4m3(q.u)\n"
                                    "  unspecified q.Q when isnan(q.x)\n"
                                    "  q.y = f32(q.Q)\n"
                                    "  r = q.y + at(V, 0, 1)\n";
    inner_recipe = parse(inner);
    assay_recipe *r = parse(outer);
    assay_error error;
    assay_program *p = assay_recipe_instance(r, "G=e4m3", find_inner, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    ck_assert_str_eq(p->canonical, canonical);
    check_fixed_point(p);
    assay_program_free(p);
    assay_recipe_free(r);
    assay_recipe_free(inner_recipe);
    checks_add(1);
}
END_TEST

/* ---- nan_matters: the bits of a NaN show in some places only ---- */

START_TEST(nan_shows)
{
    static const char text[] = "recipe a.b\nsource \"s\"\nin x : f32\nout Q : e4m3\nout y : f32\n"
                               "out z : bf16 any nan\nelement:\n  a = x * 2\n  Q = e4m3(a)\n"
                               "  b = x * 3\n  y = if signbit(x + 1) then b else -x\n"
                               "  z = bf16(x * 4)\n";
    assay_recipe *r = parse(text);
    assay_program *p = instance(r, NULL);
    static const bool shown[] = {false, true, true, true, false};
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(p->statements[i].expr->nan_matters, shown[i]);
    const assay_expr *choose = p->statements[3].expr; /* y */
    ck_assert(choose->arg[0]->arg[0]->nan_matters);   /* x + 1 under signbit */
    ck_assert(choose->arg[2]->nan_matters);           /* -x */
    assay_program_free(p);
    assay_recipe_free(r);
    checks_add(7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe_print");
    TCase *tests = tcase_create("print");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, catalogue_is_fixed_point, 0, assay_catalogue_count());
    tcase_add_loop_test(tests, catalogue_checks, 0, assay_catalogue_count());
    tcase_add_loop_test(tests, expression_prints, 0, sizeof expressions / sizeof expressions[0]);
    tcase_add_test(tests, sample_prints);
    tcase_add_test(tests, decode_prints);
    tcase_add_test(tests, identities);
    tcase_add_test(tests, use_prints);
    tcase_add_test(tests, nan_shows);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
