/* The grammar's corners: what the parser takes, what it refuses, instances and how they are chosen,
 * hostile texts, the catalogue's index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/assay.h"
#include "checks.h"

static assay_recipe *parse_bytes(const char *text, size_t length, assay_error *error)
{
    assay_recipe *r = NULL;
    *error = (assay_error){""};
    return assay_recipe_parse(text, length, "t", &r, NULL, error) ? NULL : r;
}

static assay_recipe *parse(const char *text)
{
    assay_error error;
    assay_recipe *r = parse_bytes(text, strlen(text), &error);
    ck_assert_msg(r != NULL, "%s\n%s", error.message, text);
    return r;
}

/* ---- texts that are right ---- */

static const char *const good[] = {
    /* comments, blank lines, indentation, CR LF, no newline at the end */
    "# first\n\n   recipe a.b # name\n\nsource \"s\" # no \"more\"\nin x : f32\nout y : f32\n\n"
    "element:\n\n\ty = x",
    "recipe a.b\r\nsource \"s\"\r\nin x : f32\r\nout y : f32\r\nelement:\r\n  y = x\r\n",
    "recipe a.b\nsource \"é, 128×4, 中\" # and ∞ here\nin x : f32\nout y : f32\nelement:\n y = x\n",
    /* a newline inside parentheses ends nothing */
    "recipe a.b\nsource \"s\"\nin x : f32\nout y : f32\nelement:\n  y = max(\n    x, # one\n"
    "    (x +\n 1))\n",
    /* names: dots, digits behind dots, words of the language as alternatives */
    "recipe te.nvfp4.1d.4over6\nsource \"s\"\nparam way = exact | max | row\nin x : f32\n"
    "out y : f32\nelement:\n  [way == exact] y = x\n  [way == max] y = x + 1\n"
    "  [way == row] y = -x\n",
    /* parameters as type, shape, format, option, number, reduction order */
    "recipe a.b\nsource \"s\"\nparam T = f32 | bf16\nparam F = e4m3 | e5m2\n"
    "param tile = row | tensor | column | 1x16\nparam m = even | zero\nparam o = sat | nosat\n"
    "param n = 1 | 2^-3 | 0x1.8p3\nparam s = tree | pairs\nin x : T\nout Q : F\n"
    "out S : f32 per tile\nblock tile:\n  S = sum(x * n, s)\nelement:\n"
    "  Q = F(min(x, F.max), m, o)\n",
    /* guards: shapes, numbers by value, words, and, or, not, parentheses; a whole section */
    "recipe a.b\nsource \"s\"\nparam w = 1 | 16\nparam t = 1x16 | 16x1\nin x : f32\nout y : f32\n"
    "[w == 16.0 and (t == 1x16 or not w != 16)] element:\n  y = x\n[w < 2] element:\n  y = -x\n",
    /* a guarded parameter, one derived, one declared in two lines */
    "recipe a.b\nsource \"s\"\nparam mode = a | b\n[mode == a] param F = e4m3\n"
    "[mode == b] param F = e5m2 | e2m1\nin x : f32\nout Q : F\nelement:\n  Q = F(x)\n",
    /* a parameter that does not exist in an instance differs from everything */
    "recipe a.b\nsource \"s\"\nparam mode = a | b\n[mode == a] param n = 1 | 2\nin x : f32\n"
    "out y : f32\nelement:\n  [n != 1 and n != 2] y = x\n  [n == 1 or n > 1] y = -x\n",
    /* a section twice, sections out of order of size, an empty one */
    "recipe a.b\nsource \"s\"\nin x : f32\nout y : f32\nrow:\nelement:\n  a = x * 2\nrow:\n"
    "  m = amax(a)\nelement:\n  y = a / m\n",
    /* every kind of number */
    "recipe a.b\nsource \"s\"\nin x : f32\nout y : f32\nelement:\n"
    "  y = x + 0 + 1e3 + 1.5E-7 + 0x7F + 0X1p3 + 0x1.8P-2 + 2^-126 + 2^3 + 007 + 1e+2\n",
    /* words of layout steps and parameters are ordinary names elsewhere */
    "recipe a.b\nsource \"s\"\nin record : f32\nout low : e2m1\nelement:\n  keep = record * 2\n"
    "  low = e2m1(keep)\nlayout low : pack low\n",
    "recipe a.b\nsource \"s\"\nin x : f32\nin i : u32 per row\nout y : f32 per row\nrow:\n"
    "  y = f32(max(i * u32(max(bits(x)) % 3), 7))\n",
};

START_TEST(good_texts)
{
    assay_error error;
    assay_recipe *r = parse(good[_i]);
    ck_assert_msg(!assay_recipe_check(r, NULL, NULL, &error), "%s\n%s", error.message, good[_i]);
    assay_recipe_free(r);
    checks_add(1);
}
END_TEST

/* ---- texts that are wrong at once ---- */

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "t:1:1: error: expected recipe"},
    {"\n\n", "t:3:1: error: expected recipe"},
    {"receipt a\n", "t:1:1: error: expected recipe"},
    {"recipe\n", "t:1:7: error: expected the name of the recipe"},
    {"recipe a b\n", "t:1:10: error: expected the end of the line"},
    {"recipe a(T=f32)\n", "t:1:9: error: expected the end of the line"},
    {"recipe a\nsource s\n", "t:2:8: error: expected a string"},
    {"recipe a\nsource \"s\"\nnan none\n", "t:3:5: error: expected a code of f32"},
    {"recipe a\nsource \"s\"\nparam P\n", "t:3:8: error: expected ="},
    {"recipe a\nsource \"s\"\nparam P = \n", "t:3:11: error: expected a number, a shape or a word"},
    {"recipe a\nsource \"s\"\nparam P = a | a\n", "t:3:15: error: expected another alternative"},
    {"recipe a\nsource \"s\"\nparam a.b = c\n", "t:3:7: error: expected a name without a dot"},
    {"recipe a\nsource \"s\"\nin x\n", "t:3:5: error: expected :"},
    {"recipe a\nsource \"s\"\nin x : f32 per\n", "t:3:15: error: expected a shape"},
    {"recipe a\nsource \"s\"\nout x : f32 any one\n", "t:3:17: error: expected nan or zero"},
    {"recipe a\nsource \"s\"\nout x : f32 table 2x2\n", "t:3:13: error: expected per"},
    {"recipe a\nsource \"s\"\nblock :\n", "t:3:7: error: expected a shape"},
    {"recipe a\nsource \"s\"\nelement: y = 1\n", "t:3:10: error: expected the end of the line"},
    {"recipe a\nsource \"s\"\nelement:\n  y\n", "t:4:3: error: expected a section"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 1\nin x : f32\n", "t:5:1: error: expected a section"},
    {"recipe a\nsource \"s\"\n[x == 1 element:\n", "t:3:9: error: expected ]"},
    {"recipe a\nsource \"s\"\nelement:\n  unspecified when 1\n", "t:4:20: error: expected when"},
    {"recipe a\nsource \"s\"\nuse b as : x = 1\n", "t:3:10: error: expected a name"},
    {"recipe a\nsource \"s\"\nlayout Q pack low\n", "t:3:10: error: expected :"},
    {"recipe a\nsource \"s\"\nelement:\n  y = f(nan x)\n", "t:4:13: error: expected a code"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 0x\n", "t:4:7: error: expected hexadecimal digits"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 1.\n", "t:4:7: error: expected a digit"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 0x1.8\n", "t:4:7: error: expected a power of two"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 12a\n", "t:4:7: error: expected a number or a shape"},
    {"recipe a\nsource \"s\"\nelement:\n  y = 3^2\n", "t:4:7: error: expected a number or a shape"},
    {"recipe a\nsource \"s\"\ndecode\nout y : f32\ndecode\n", "t:5:1: error: expected the end of the"},
    {"recipe a\nsource \"s\xff\"\n", "t:2:10: error: this character begins no word"},
    {"recipe a\n# \xc0\x80\n", "t:2:3: error: this character begins no word"},
    {"recipe a\nsource \"s\"\n[1 == 1] source \"t\"\n", NULL},
};

START_TEST(wrong_texts)
{
    assay_error error;
    assay_recipe *r = parse_bytes(wrong[_i].text, strlen(wrong[_i].text), &error);
    if (!wrong[_i].message) { /* a second source is harmless */
        ck_assert_ptr_nonnull(r);
        assay_recipe_free(r);
        return;
    }
    ck_assert_ptr_null(r);
    ck_assert_msg(!strncmp(error.message, wrong[_i].message, strlen(wrong[_i].message)),
                  "wanted %s\ngot %s", wrong[_i].message, error.message);
    checks_add(1);
}
END_TEST

/* ---- hostile texts: a message, in little time and memory ---- */

static void refuse(char *text, size_t length)
{
    assay_error error;
    assay_recipe *r = parse_bytes(text, length, &error);
    if (r) {
        ck_assert(assay_recipe_check(r, NULL, NULL, &error));
        assay_recipe_free(r);
    }
    ck_assert_msg(strstr(error.message, ": error: "), "%s", error.message);
    ck_assert_uint_lt(strlen(error.message), 2000);
    free(text);
    checks_add(1);
}

static void refuse_repeated(const char *before, const char *again, int times, const char *after)
{
    size_t n = strlen(again), size = strlen(before) + n * (size_t)times + strlen(after) + 1;
    char *text = malloc(size), *s = text + sprintf(text, "%s", before);
    for (int i = 0; i < times; i++, s += n)
        memcpy(s, again, n);
    strcpy(s, after);
    refuse(text, strlen(text));
}

#define START "recipe a\nsource \"s\"\nin x : f32\nout y : f32\n"
START_TEST(hostile_texts)
{
    refuse_repeated(START "element:\n  y = ", "(", 100000, "x");
    refuse_repeated(START "element:\n  y = ", "-", 100000, "x\n");
    refuse_repeated(START "element:\n  y = x", " + x", 50000, "\n");
    refuse_repeated(START "element:\n  y = if ", "not ", 50000, "x < 1 then 1 else 2\n");
    refuse_repeated(START "element:\n  y = ", "if x < 1 then ", 10000, "1\n");
    refuse_repeated(START "element:\n  y = ", "if x < 1 then 1 else ", 10000, "1\n");
    refuse_repeated(START "element:\n  y = ", "abs(", 50000, "x\n");
    refuse_repeated(START "element:\n  y = max(x", ", x", 50000, ")\n");
    refuse_repeated(START "[", "not ", 50000, "a == 1] element:\n");
    refuse_repeated(START "element:\n  y = 1", "0", 100000, "\n");
    refuse_repeated(START "element:\n", "  y = x\n", 20000, "");
    refuse_repeated("recipe a\nsource \"s\"\nparam P = a0", " | b", 300, "\n");
    refuse_repeated("recipe a\nsource \"", "x", 300000, "\"\n");
    refuse_repeated("recipe a\n", "\n", 300000, "");
    refuse_repeated("recipe ", "a", 200000, "\n");
}
END_TEST

START_TEST(too_many_instances)
{
    char text[8192], *s = text + sprintf(text, "recipe a\nsource \"s\"\n");
    for (int i = 0; i < 60; i++)
        s += sprintf(s, "param P%d = 1 | 2 | 3\n", i);
    s += sprintf(s, "in x : f32\nout y : f32\nelement:\n  y = x");
    for (int i = 0; i < 60; i++)
        s += sprintf(s, " * P%d", i);
    strcpy(s, "\n");
    assay_error error;
    ck_assert_ptr_null(parse_bytes(text, strlen(text), &error));
    ck_assert_msg(strstr(error.message, "expected at most 65536 instances"), "%s", error.message);
    /* The same when a require throws all of them away. */
    memmove(text + 32, text + 20, strlen(text + 20) + 1);
    memcpy(text + 20, "require 1>2\n", 12);
    ck_assert_ptr_null(parse_bytes(text, strlen(text), &error));
    ck_assert_msg(strstr(error.message, "combinations of parameters"), "%s", error.message);
    checks_add(2);
}
END_TEST

START_TEST(no_byte_breaks_it)
{
    /* Every byte at every place of a small text, and every prefix of it. */
    static const char base[] = "recipe a\nsource \"s\"\nin x : f32\nout y : e4m3 per 1x16\n"
                               "block 1x16:\n  y = e4m3(amax(x) * 2^-3, up)\n";
    assay_error error;
    char text[sizeof base];
    for (size_t i = 0; i < sizeof base - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, base, sizeof base);
            text[i] = (char)byte;
            assay_recipe *r = parse_bytes(text, sizeof base - 1, &error);
            if (r)
                assay_recipe_check(r, NULL, NULL, &error);
            assay_recipe_free(r);
        }
        assay_recipe_free(parse_bytes(base, i, &error));
    }
    checks_add((sizeof base - 1) * 256);
}
END_TEST

/* ---- instances ---- */

static const char family[] =
    "recipe a.fam\n\"Summary.\"\nsource \"s\"\nparam mode = soft | hard\nparam T = f32 | bf16\n"
    "[mode == hard] param tile = 1x16 | 1x32\n[mode == soft] param one = 5\n"
    "require mode == soft or T == f32 or tile == 1x32\nin x : T\nout y : f32\nelement:\n"
    "  [mode == soft] y = x * one\n[mode == hard] block tile:\n  m = amax(x)\n"
    "[mode == hard] element:\n  y = m\n";

START_TEST(instances)
{
    static const char *const names[] = {
        "a.fam(mode=soft, T=f32)", "a.fam(mode=soft, T=bf16)",
        "a.fam(mode=hard, T=f32, tile=1x16)", "a.fam(mode=hard, T=f32, tile=1x32)",
        "a.fam(mode=hard, T=bf16, tile=1x32)"};
    assay_recipe *r = parse(family);
    ck_assert_int_eq(assay_recipe_instance_count(r), 5);
    for (int i = 0; i < 5; i++) {
        char *name = assay_recipe_instance_name(r, i);
        ck_assert_str_eq(name, names[i]);
        free(name);
    }
    ck_assert_str_eq(assay_recipe_name(r), "a.fam");
    ck_assert_str_eq(assay_recipe_family(r), "a");
    ck_assert_str_eq(assay_recipe_summary(r), "Summary.");
    ck_assert_str_eq(assay_recipe_source(r), "s");
    ck_assert_str_eq(assay_recipe_text(r), family);
    const assay_parameter *parameters;
    ck_assert_int_eq(assay_recipe_parameters(r, &parameters), 4);
    ck_assert_str_eq(parameters[2].name, "tile");
    ck_assert_int_eq(parameters[2].choice_count, 2);
    ck_assert_str_eq(parameters[2].choices[1], "1x32");
    assay_recipe_free(r);
    checks_add(14);
}
END_TEST

static const struct {
    const char *choices, *name, *message;
} chosen[] = {
    {NULL, "a.fam(mode=soft, T=f32)", NULL},
    {"", "a.fam(mode=soft, T=f32)", NULL},
    {"T=bf16", "a.fam(mode=soft, T=bf16)", NULL},
    {"  T = bf16 ,mode=hard ", "a.fam(mode=hard, T=bf16, tile=1x32)", NULL},
    {"tile=1x16", "a.fam(mode=hard, T=f32, tile=1x16)", NULL},
    {"one=5", "a.fam(mode=soft, T=f32)", NULL},
    {"Tile=1x16", NULL, "a.fam has no parameter Tile: it has mode, T, tile, one; did you mean tile?"},
    {"mode=hart", NULL, "a.fam: mode has no alternative hart: it has soft | hard; did you mean hard?"},
    {"mode=hard, T=bf16, tile=1x16", NULL,
     "a.fam has no instance with mode=hard, T=bf16, tile=1x16: these do not go together; `assay "
     "recipes a.fam --instances` lists those that exist"},
    {"mode", NULL, "'mode': parameters are written P=V, P=V"},
    {"mode=", NULL, "'mode=': parameters are written P=V, P=V"},
    {"mode=soft T=f32", NULL, "'mode=soft T=f32': parameters are written P=V, P=V"},
    {",", NULL, "',': parameters are written P=V, P=V"},
};

START_TEST(choices)
{
    assay_recipe *r = parse(family);
    assay_error error = {""};
    assay_program *p = assay_recipe_instance(r, chosen[_i].choices, NULL, NULL, &error);
    if (chosen[_i].name) {
        ck_assert_msg(p != NULL, "%s", error.message);
        ck_assert_str_eq(p->name, chosen[_i].name);
        ck_assert_str_eq(p->recipe, "a.fam");
    } else {
        ck_assert_ptr_null(p);
        ck_assert_str_eq(error.message, chosen[_i].message);
    }
    assay_program_free(p);
    assay_recipe_free(r);
    checks_add(1);
}
END_TEST

START_TEST(derived_choices)
{
    assay_recipe *r = parse(family);
    assay_error error;
    assay_program *p = assay_recipe_instance(r, NULL, NULL, NULL, &error);
    ck_assert_int_eq(p->choice_count, 3);
    ck_assert_str_eq(p->choices[2].name, "one");
    ck_assert_str_eq(p->choices[2].choice, "5");
    ck_assert(p->choices[2].derived && !p->choices[0].derived);
    assay_program_free(p);
    assay_recipe_free(r);
    checks_add(4);
}
END_TEST

/* ---- the catalogue ---- */

START_TEST(catalogue)
{
    assay_error error = {""};
    int count = assay_catalogue_count();
    ck_assert_int_gt(count, 10);
    for (int i = 0; i < count; i++) {
        const char *name = assay_catalogue_name(i);
        assay_recipe *r = assay_catalogue_recipe(i, &error);
        ck_assert_msg(r != NULL, "%s", error.message);
        ck_assert_str_eq(assay_recipe_name(r), name);
        ck_assert_ptr_eq(r, assay_catalogue_find(name, &error));
        if (strstr(name, ".decode"))
            ck_assert(!strncmp(name, assay_catalogue_name(i - 1), strlen(name) - 7));
        else
            ck_assert(*assay_recipe_summary(r) && *assay_recipe_source(r));
    }
    ck_assert_ptr_null(assay_catalogue_find("ocp.mxx", &error));
    ck_assert_str_eq(error.message,
                     "there is no recipe 'ocp.mxx': did you mean ocp.mx?; `assay recipes` lists them");
    ck_assert_ptr_null(assay_catalogue_program("ocp.mx(F=e4m3", &error));
    assay_program *p = assay_catalogue_program("ocp.mx", &error);
    ck_assert_msg(p != NULL, "%s", error.message);
    assay_program *q = assay_catalogue_program(p->name, &error);
    ck_assert_msg(q != NULL, "%s", error.message);
    ck_assert_str_eq(p->sha256, q->sha256);
    assay_program_free(p);
    assay_program_free(q);
    checks_add((uint64_t)count * 3 + 4);
}
END_TEST

START_TEST(tables)
{
    ck_assert_str_eq(assay_op_name(ASSAY_OP_RED_AMAX), "RED_AMAX");
    ck_assert_str_eq(assay_op_word(ASSAY_OP_RED_AMAX), "amax");
    ck_assert_int_eq(assay_type_storage((assay_type){ASSAY_T_U64, NULL}), 8);
    ck_assert_int_eq(assay_type_storage((assay_type){ASSAY_T_BOOL, NULL}), 1);
    ck_assert_int_eq(assay_type_storage((assay_type){ASSAY_T_FORMAT, assay_format_find("bf16")}), 2);
    ck_assert_str_eq(assay_type_name((assay_type){ASSAY_T_I32, NULL}), "i32");
    checks_add(6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recipe_parse");
    TCase *tests = tcase_create("parse");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, good_texts, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(tests, wrong_texts, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tests, hostile_texts);
    tcase_add_test(tests, too_many_instances);
    tcase_add_test(tests, no_byte_breaks_it);
    tcase_add_test(tests, instances);
    tcase_add_loop_test(tests, choices, 0, sizeof chosen / sizeof chosen[0]);
    tcase_add_test(tests, derived_choices);
    tcase_add_test(tests, catalogue);
    tcase_add_test(tests, tables);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
