/* The checker's messages: each file of tests/bad_recipes holds one mistake, and says in its first
 * two lines where (line L column C) and with which text it must be reported. Every text of
 * LANGUAGE.md section 14 occurs. Also: what a checked program contains. */
#include <dirent.h>
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

/* ---- bad recipes ---- */

enum { TEXT_LIMIT = 16384 };
static const char directory[] = "tests/bad_recipes";

static void read_text(const char *path, char *text)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s: run the tests from the root of the repository", path);
    size_t n = fread(text, 1, TEXT_LIMIT - 1, f);
    fclose(f);
    text[n] = 0;
}

static void check_text(const char *text, const char *file, assay_error *error)
{
    assay_recipe *r = NULL, *decode = NULL;
    if (assay_recipe_parse(text, strlen(text), file, &r, &decode, error))
        return;
    int bad = assay_recipe_check(r, find, NULL, error);
    if (!bad && decode)
        bad = assay_recipe_check(decode, find, NULL, error);
    assay_recipe_free(r);
    ck_assert_msg(bad, "%s: no mistake was found", file);
}

/* Line `number` (from 1) of a text, copied. */
static void copy_line(const char *text, int number, char *line, size_t size)
{
    while (--number > 0)
        text = strchr(text, '\n') + 1;
    snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static const char *const table[] = {
    "this character begins no word of the language", "expected ",
    "write parentheses between bit operators", " has no value here", " already has a value",
    " is a word of the language", " is also the name of a parameter", " is not used",
    " gets no value", "cannot round ", " need an explicit conversion", "the condition is not a bool",
    ": round it", "417.5 is not an integer", "there is no function ", " has no attribute ",
    " has no subnormals: ftz means nothing", " belongs to a finer tile: reduce it",
    "nothing finer to reduce here", "a reduction inside a reduction: give the inner one a name",
    " is declared for another tile", "a guard may only compare parameters",
    " is declared twice in one instance", "no instance is left", " is coarser than this tile",
    " was used before it is said to be unspecified",
    "an approx value reaches a reduction over tiles that choose differently: say unspecified",
    "more than 81 choices", " has no parameter ", " = ...", " uses itself",
    " is not a multiple of 2 for pack", "record must be last",
    "a recipe without source is an error: a contract must say whose it is"};
enum { TABLE = sizeof table / sizeof table[0] };

START_TEST(bad_recipes)
{
    bool seen[TABLE] = {false};
    int files = 0;
    DIR *d = opendir(directory);
    ck_assert_msg(d != NULL, "%s: run the tests from the root of the repository", directory);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (!strstr(entry->d_name, ".recipe"))
            continue;
        char path[512], text[TEXT_LIMIT], expected[2048], first[256], second[512], shown[1024];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        read_text(path, text);
        copy_line(text, 1, first, sizeof first);
        copy_line(text, 2, second, sizeof second);
        int line, column;
        ck_assert_int_eq(sscanf(first, "# line %d column %d", &line, &column), 2);
        snprintf(expected, sizeof expected, "%s:%d:%d: error: %s\n", path, line, column, second + 2);
        assay_error error = {""};
        check_text(text, path, &error);
        ck_assert_msg(!strncmp(error.message, expected, strlen(expected)), "wanted %sgot %s",
                      expected, error.message);
        /* The line itself follows, four in, and the caret under the column. */
        copy_line(text, line, shown, sizeof shown);
        const char *rest = error.message + strlen(expected);
        ck_assert_msg(!strncmp(rest, "    ", 4) && !strncmp(rest + 4, shown, strlen(shown)), "%s",
                      error.message);
        rest = strchr(rest, '\n') + 1;
        ck_assert_int_eq((int)strcspn(rest, "^"), column - 1 + 4);
        for (int i = 0; i < TABLE; i++)
            seen[i] = seen[i] || strstr(second, table[i]);
        files++;
        checks_add(3);
    }
    closedir(d);
    ck_assert_int_ge(files, TABLE);
    for (int i = 0; i < TABLE; i++)
        ck_assert_msg(seen[i], "no file of %s shows: %s", directory, table[i]);
}
END_TEST

START_TEST(instance_is_named)
{
    static const char text[] = "recipe a.b\nsource \"s\"\nparam T = f32 | f64\nparam way = a | b\n"
                               "in x : T\nout y : f32\nelement:\n  [way == a] y = f32(x)\n"
                               "  [way == b] y = x\n";
    assay_error error = {""};
    check_text(text, "f", &error);
    ck_assert_str_eq(error.message, "f:9:14: error: y is f32, the value is f64: round it\n"
                                    "      [way == b] y = x\n"
                                    "                 ^\n"
                                    "f:1:8: note: in the instance a.b(T=f64, way=b)");
    checks_add(1);
}
END_TEST

/* ---- checked programs ---- */

static assay_program *program(const char *body)
{
    static assay_error error;
    char text[4096];
    snprintf(text, sizeof text, "recipe a.b\nsource \"s\"\n%s", body);
    assay_recipe *r = NULL;
    ck_assert_msg(!assay_recipe_parse(text, strlen(text), "t", &r, NULL, &error), "%s",
                  error.message);
    assay_program *p = assay_recipe_instance(r, NULL, find, NULL, &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_recipe_free(r); /* the program owns all it needs */
    return p;
}

static const assay_expr *value_of(const assay_program *p, const char *name)
{
    for (int i = 0; i < p->statement_count; i++)
        if (p->statements[i].kind == ASSAY_ASSIGN &&
            !strcmp(p->values[p->statements[i].target].name, name))
            return p->statements[i].expr;
    ck_abort_msg("no %s", name);
}

static void check_constant(const assay_expr *e, const char *type, uint64_t bits)
{
    ck_assert_int_eq(e->op, ASSAY_OP_CONST);
    ck_assert_str_eq(assay_type_name(e->type), type);
    ck_assert_uint_eq(e->u.constant.bits, bits);
    checks_add(1);
}

START_TEST(literals)
{
    assay_program *p = program(
        "in x : f32\nin d : f64\nin h : bf16\nin n : i32 per tensor\nout r : f64\nout S : e8m0\n"
        "out u : u8\nelement:\n"
        "  a = x * 0.1\n  b = d * 0.1\n  c = 1 / 6\n  e = if n < -5 then -1 else n\n"
        "  f = if x > 0 then 0.1 else d\n  g = if x > 0 then 1 else h\n  i = min(0.1, max(0.3, d))\n"
        "  j = -0\n  k = e4m3(0.1)\n  l = 0x1.000001p0\n  m = 2^-149 * x\n  o = u64(n) + 2^63\n"
        "  S = 4\n  u = 255\n"
        "  q = a + b + c + f + g + i + j + k + l + m\n  r = q + f64(e) + f64(o)\n");
    check_constant(value_of(p, "a")->arg[1], "f32", 0x3DCCCCCD);
    check_constant(value_of(p, "b")->arg[1], "f64", 0x3FB999999999999A);
    check_constant(value_of(p, "c")->arg[1], "f32", 0x40C00000);
    check_constant(value_of(p, "e")->arg[0]->arg[1], "i32", 0xFFFFFFFB);
    check_constant(value_of(p, "e")->arg[1], "i32", 0xFFFFFFFF);
    check_constant(value_of(p, "f")->arg[1], "f64", 0x3FB999999999999A);
    check_constant(value_of(p, "g")->arg[1], "f32", 0x3F800000);
    ck_assert_int_eq(value_of(p, "g")->arg[2]->op, ASSAY_OP_WIDEN);
    check_constant(value_of(p, "i")->arg[0], "f64", 0x3FB999999999999A);
    check_constant(value_of(p, "i")->arg[1]->arg[0], "f64", 0x3FD3333333333333);
    check_constant(value_of(p, "j"), "f32", 0x80000000);
    check_constant(value_of(p, "k"), "e4m3", 0x1D); /* 0.1 = 1.6 * 2^-4: 0.1015625 */
    check_constant(value_of(p, "l"), "f32", 0x3F800000); /* half an ulp: to even */
    check_constant(value_of(p, "m")->arg[0], "f32", 1);
    check_constant(value_of(p, "o")->arg[1], "u64", UINT64_C(1) << 63);
    check_constant(value_of(p, "S"), "e8m0", 129);
    ck_assert_int_eq(value_of(p, "u")->op, ASSAY_OP_TO_U8);
    check_constant(value_of(p, "u")->arg[0], "u32", 255);
    assay_program_free(p);
}
END_TEST

START_TEST(attributes)
{
    assay_program *p = program(
        "in x : f64\nout y : f64\nelement:\n  a = x * f32.max\n  b = x * f16.tiny\n"
        "  c = x * e5m2.least\n  d = x * e8m0.max\n  e = x * e2m1.max\n  f = x * bf16.emax\n"
        "  g = x * f64.width\n  h = x * e4m3.bias\n  i = x * e4m3.mant\n  j = x * f32.least\n"
        "  y = a + b + c + d + e + f + g + h + i + j\n");
    static const double values[] = {0x1.fffffep127, 0x1p-14, 0x1p-16, 0x1p127, 6, 127, 64, 7, 3,
                                    0x1p-149};
    for (int i = 0; i < 10; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        check_constant(p->statements[i].expr->arg[1], "f64", bits);
    }
    assay_program_free(p);
}
END_TEST

START_TEST(conversions)
{
    assay_program *p =
        program("in x : bf16\nin q : e4m3\nin d : f64\nout y : f64\nelement:\n  a = x * q\n"
                "  b = -x\n  c = -q\n  e = min(q, q)\n  f = min(q, x)\n  g = abs(d)\n"
                "  h = if x < q then x else x\n  y = a + b + c + e + f + g + h\n");
    const assay_expr *a = value_of(p, "a");
    ck_assert_str_eq(assay_type_name(a->type), "f32");
    ck_assert_int_eq(a->arg[0]->op, ASSAY_OP_WIDEN);
    ck_assert_int_eq(a->arg[1]->op, ASSAY_OP_WIDEN);
    ck_assert_str_eq(assay_type_name(value_of(p, "b")->type), "bf16");
    ck_assert_str_eq(assay_type_name(value_of(p, "c")->type), "f32");
    ck_assert_str_eq(assay_type_name(value_of(p, "e")->type), "e4m3");
    ck_assert_str_eq(assay_type_name(value_of(p, "f")->type), "f32");
    ck_assert_str_eq(assay_type_name(value_of(p, "g")->type), "f64");
    ck_assert_str_eq(assay_type_name(value_of(p, "h")->type), "bf16");
    const assay_expr *y = value_of(p, "y"); /* ((((((a+b)+c)+e)+f)+g)+h): f64 from g on */
    ck_assert_str_eq(assay_type_name(y->type), "f64");
    ck_assert_int_eq(y->arg[0]->arg[0]->op, ASSAY_OP_WIDEN);
    ck_assert_str_eq(assay_type_name(y->arg[0]->arg[0]->arg[0]->type), "f32");
    checks_add(12);
    assay_program_free(p);
}
END_TEST

START_TEST(tilings)
{
    assay_program *p = program(
        "in x : f32\nin A : f32 per tensor\nout S : f32 per 1x64\nout B : f32 per row\n"
        "block 16x16:\n  s = amax(x)\nblock 1x16:\n  t = s + A\nblock 1x64:\n  S = max(t * s)\n"
        "row:\n  B = sum(x + A, tree)\n");
    ck_assert(assay_tile_equal(value_of(p, "s")->u.reduce.over, (assay_tile){1, 1}));
    ck_assert(assay_tile_equal(value_of(p, "s")->tile, (assay_tile){16, 16}));
    ck_assert(assay_tile_equal(value_of(p, "S")->u.reduce.over, (assay_tile){1, 16}));
    ck_assert(assay_tile_equal(value_of(p, "S")->arg[0]->tile, (assay_tile){1, 16}));
    ck_assert(assay_tile_equal(value_of(p, "B")->u.reduce.over, (assay_tile){1, 1}));
    ck_assert_int_eq(value_of(p, "B")->u.reduce.order, ASSAY_SUM_TREE);
    ck_assert(assay_tile_sees((assay_tile){1, 1}, (assay_tile){0, 0}));
    ck_assert(assay_tile_sees((assay_tile){1, 16}, (assay_tile){1, 0}));
    ck_assert(!assay_tile_sees((assay_tile){1, 0}, (assay_tile){1, 16}));
    ck_assert(!assay_tile_sees((assay_tile){1, 64}, (assay_tile){16, 16}));
    ck_assert(!assay_tile_sees((assay_tile){1, 12}, (assay_tile){1, 16}));
    checks_add(11);
    assay_program_free(p);
}
END_TEST

START_TEST(shapes)
{
    assay_program *p = program("in x : f32\nout y : f32\nrequire K % 16 == 0 and K > 0\n"
                               "require M < 5 or M == 2 * K - 8\nelement:\n  y = x\n");
    const char *why = NULL;
    ck_assert(assay_program_admits(p, 4, 16, &why));
    ck_assert(!assay_program_admits(p, 4, 8, &why));
    ck_assert_str_eq(why, "K % 16 == 0 and K > 0");
    ck_assert(!assay_program_admits(p, 4, 0, NULL));
    ck_assert(assay_program_admits(p, 24, 16, &why));
    ck_assert(!assay_program_admits(p, 25, 16, &why));
    ck_assert_str_eq(why, "M < 5 or M == 2 * K - 8");
    assay_program *copy = assay_program_copy(p);
    assay_program_free(p);
    ck_assert(!assay_program_admits(copy, 25, 16, &why));
    ck_assert_str_eq(why, "M < 5 or M == 2 * K - 8");
    assay_program_free(copy);
    checks_add(9);
}
END_TEST

START_TEST(mixed_requires)
{
    /* The parameters decide part of a require: what stays open is about M and K, and an instance
     * whose require is false whatever the shape does not exist. */
    static const char text[] =
        "recipe a.b\nsource \"s\"\nparam way = a | b\nparam n = 8 | 16\n"
        "require way == a or n == 8 and K % n == 0\nin x : f32\nout y : f32\nelement:\n"
        "  [way == a] y = x * n\n  [way == b] y = x\n";
    assay_error error;
    assay_recipe *r = NULL;
    ck_assert(!assay_recipe_parse(text, sizeof text - 1, "t", &r, NULL, &error));
    ck_assert_int_eq(assay_recipe_instance_count(r), 3);
    assay_program *p = assay_recipe_instance(r, "way=a", NULL, NULL, &error);
    ck_assert_int_eq(p->require_count, 0);
    assay_program_free(p);
    p = assay_recipe_instance(r, "way=b", NULL, NULL, &error);
    ck_assert_int_eq(p->require_count, 1);
    ck_assert(strstr(p->canonical, "require K % 8 == 0\n"));
    assay_program_free(p);
    ck_assert_ptr_null(assay_recipe_instance(r, "way=b, n=16", NULL, NULL, &error));
    assay_recipe_free(r);
    checks_add(5);
}
END_TEST

START_TEST(layouts)
{
    assay_program *p = program(
        "in x : f32\nout Q : e2m1\nout S : e4m3 per 1x32\nrequire K % 32 == 0\nblock 1x32:\n"
        "  S = e4m3(amax(x))\nelement:\n  Q = e2m1(x / S)\nlayout x : group 4\n"
        "layout S : transpose, pad 128x4 with 0x7F, swizzle 128x4\n"
        "layout Q, S : record 1x32, S, Q pack halves 32\n");
    ck_assert_int_eq(p->layout_count, 3);
    ck_assert_int_eq(p->layouts[0].steps[0].a, 4);
    const assay_layout *l = &p->layouts[1];
    ck_assert_int_eq(l->step_count, 3);
    ck_assert_int_eq(l->steps[1].a, 128);
    ck_assert_int_eq(l->steps[1].b, 4);
    ck_assert_int_eq(l->steps[1].fill, ASSAY_FILL_VALUE);
    ck_assert_uint_eq(l->steps[1].value, 0x7F);
    ck_assert_int_eq(l->steps[2].op, ASSAY_LAYOUT_SWIZZLE_128X4);
    l = &p->layouts[2];
    ck_assert_int_eq(l->value_count, 2);
    ck_assert_int_eq(l->steps[0].op, ASSAY_LAYOUT_RECORD);
    ck_assert_int_eq(l->record_count, 2);
    ck_assert_str_eq(p->values[l->record[0]].name, "S");
    ck_assert(!l->member_packed[0] && l->member_packed[1]);
    ck_assert_int_eq(l->member_step[1].op, ASSAY_LAYOUT_PACK_HALVES);
    ck_assert_int_eq(l->member_step[1].a, 32);
    ck_assert(strstr(p->canonical, "layout Q, S : record 1x32, S, Q pack halves 32\n"));
    checks_add(16);
    assay_program_free(p);
}
END_TEST

START_TEST(approxes)
{
    assay_program *p =
        program("in x : f32\nout y : f32\nout z : f32 per tensor\ntensor:\n"
                "  t = approx(exp(amax(x)), 1)\n  z = t\nrow:\n  m = amax(x * t)\n"
                "  r = approx(m, 1)\nelement:\n  y = approx(x / t, 4) * r\n");
    ck_assert_int_eq(p->approx_count, 3);
    ck_assert_int_eq(value_of(p, "t")->u.approx.index, 0);
    ck_assert_int_eq(value_of(p, "y")->arg[0]->u.approx.index, 2);
    ck_assert_int_eq(value_of(p, "y")->arg[0]->u.approx.n, 4);
    checks_add(4);
    assay_program_free(p);
}
END_TEST

START_TEST(feeds_and_pads)
{
    assay_program *p = program("in x : bf16 pad 1x16\nin r : f32\nin step : u64 per tensor\n"
                               "out Q : e4m3 any nan any zero\nout r2 : f32 feeds r\nelement:\n"
                               "  t = x + r\n  Q = e4m3(t, stochastic(philox(step, row, col, 0), 8))\n"
                               "  r2 = t - Q\n");
    const assay_value *v = p->values;
    ck_assert_int_eq(p->main_input, 0);
    ck_assert(assay_tile_equal(v[0].pad, (assay_tile){1, 16}));
    ck_assert_int_eq(v[p->outputs[1]].feeds, p->inputs[1]);
    ck_assert(v[p->outputs[0]].any_nan && v[p->outputs[0]].any_zero);
    ck_assert_int_eq(value_of(p, "Q")->argc, 2);
    ck_assert_int_eq(value_of(p, "Q")->u.cast.random_bits, 8);
    ck_assert_int_eq(p->expr_count, 15);
    checks_add(7);
    assay_program_free(p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe_check");
    TCase *tests = tcase_create("check");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, bad_recipes);
    tcase_add_test(tests, instance_is_named);
    tcase_add_test(tests, literals);
    tcase_add_test(tests, attributes);
    tcase_add_test(tests, conversions);
    tcase_add_test(tests, tilings);
    tcase_add_test(tests, shapes);
    tcase_add_test(tests, mixed_requires);
    tcase_add_test(tests, layouts);
    tcase_add_test(tests, approxes);
    tcase_add_test(tests, feeds_and_pads);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
