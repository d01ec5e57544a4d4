/* Marks and how they spread; judging with marks, any nan, any zero and the choices of approx. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "recipe_case.h"

#define F32(x) ((union { float f; uint32_t u; }){.f = (x)}.u)

enum { AGREES, DIFFERS, NOT_JUDGED };

/* ---- marks ---- */

/* A marked block value marks the elements that read it, and only through the branch taken. */
START_TEST(marks_spread)
{
    recipe_case c;
    float x[] = {1, 2, 9, 4, 5, 6};
    case_open(&c, "in x : f32\nout s : f32 per 1x2\nout q : f32\nout r : f32\nout t : f32\n"
                  "out u : f32 per tensor\nout v : f32 per tensor\n"
                  "block 1x2:\n  s = amax(x)\n  unspecified s when s == 9\n"
                  "element:\n  q = x + s\n  r = if s > 5 then x else 0\n"
                  "  t = if x > 4 then s else x\n"
                  "tensor:\n  u = amax(s)\n  v = amax(x)\n", 1, 6);
    case_input(&c, "x", x, 6);
    case_run(&c);
    case_expect(&c, "s", (uint64_t[]){F32(2.f), F32(9.f), F32(6.f)}, 3);
    case_expect_marks(&c, "s", (uint8_t[]){0, 1, 0}, 3);
    case_expect_marks(&c, "q", (uint8_t[]){0, 0, 1, 1, 0, 0}, 6);
    case_expect_marks(&c, "r", (uint8_t[]){0, 0, 1, 1, 0, 0}, 6); /* the condition is marked */
    case_expect_marks(&c, "t", (uint8_t[]){0, 0, 1, 0, 0, 0}, 6); /* 4: the other branch */
    case_expect_marks(&c, "u", (uint8_t[]){1}, 1);
    case_expect_marks(&c, "v", (uint8_t[]){0}, 1);
    case_close(&c);
}
END_TEST

/* The mark of a tensor value reaches every tile; an output may be marked before it is assigned;
 * the condition's own mark goes nowhere. */
START_TEST(marks_of_coarser_sections)
{
    recipe_case c;
    float x[] = {1, 2, 3, 4};
    case_open(&c, "in x : f32\nout a : f32 per tensor\nout q : f32\nout p : f32\n"
                  "tensor:\n  a = amax(x)\n  unspecified a when a == 4\n"
                  "  unspecified q when a == 4\n"
                  "element:\n  q = x\n  p = x\n  unspecified p when x == 3 and a == 4\n", 1, 4);
    case_input(&c, "x", x, 4);
    case_run(&c);
    case_expect_marks(&c, "a", (uint8_t[]){1}, 1);
    case_expect_marks(&c, "q", (uint8_t[]){1, 1, 1, 1}, 4);
    case_expect_marks(&c, "p", (uint8_t[]){0, 0, 1, 0}, 4);
    x[3] = 3.5f;
    case_run(&c);
    case_expect_marks(&c, "a", (uint8_t[]){0}, 1);
    case_expect_marks(&c, "q", (uint8_t[]){0, 0, 0, 0}, 4);
    case_expect_marks(&c, "p", (uint8_t[]){0, 0, 0, 0}, 4);
    case_close(&c);
}
END_TEST

START_TEST(marked_outputs_are_not_judged)
{
    recipe_case c;
    float x[] = {1, 9, 3};
    case_open(&c, "in x : f32\nout q : f32\nelement:\n  q = x * 2\n  unspecified q when x == 9\n", 1,
              3);
    case_input(&c, "x", x, 3);
    case_run(&c);
    case_set(&c, "q", 1, 0);
    case_set(&c, "q", 2, F32(5.f));
    case_judge(&c);
    ck_assert_int_eq(case_verdict(&c, "q", 0), AGREES);
    ck_assert_int_eq(case_verdict(&c, "q", 1), NOT_JUDGED);
    ck_assert_int_eq(case_verdict(&c, "q", 2), DIFFERS);
    case_close(&c);
}
END_TEST

/* ---- any nan, any zero ---- */

START_TEST(any_nan_any_zero)
{
    recipe_case c;
    uint32_t x[] = {0x7FC00001, 0x80000000, 0x00000000, 0x7FC00000};
    case_open(&c, "in x : f32\nout n : e4m3 any nan\nout z : f32 any zero\nout b : e5m2 any nan any zero\n"
                  "out s : f32\nelement:\n"
                  "  n = e4m3(x)\n  z = x\n  b = e5m2(x)\n  s = x\n", 1, 4);
    case_input(&c, "x", x, 4);
    case_run(&c);
    case_set(&c, "n", 0, 0xFF);       /* the other NaN */
    case_set(&c, "n", 1, 0x00);       /* +0 for -0: n says nothing of zeros */
    case_set(&c, "n", 2, 0x7F);       /* NaN for a number */
    case_set(&c, "z", 0, 0x7FC00000); /* another NaN: z says nothing of those */
    case_set(&c, "z", 1, 0x00000000);
    case_set(&c, "z", 2, 0x80000000);
    case_set(&c, "z", 3, 0x00000000);
    case_set(&c, "b", 0, 0xFD);
    case_set(&c, "b", 1, 0x00);
    case_set(&c, "b", 2, 0x80);
    case_set(&c, "b", 3, 0x7C);       /* Inf is no NaN */
    case_set(&c, "s", 1, 0x00000000);
    case_judge(&c);
    static const int n[] = {AGREES, DIFFERS, DIFFERS, AGREES}, z[] = {DIFFERS, AGREES, AGREES, DIFFERS},
                     b[] = {AGREES, AGREES, AGREES, DIFFERS}, s[] = {AGREES, DIFFERS, AGREES, AGREES};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(case_verdict(&c, "n", i), n[i]);
        ck_assert_int_eq(case_verdict(&c, "z", i), z[i]);
        ck_assert_int_eq(case_verdict(&c, "b", i), b[i]);
        ck_assert_int_eq(case_verdict(&c, "s", i), s[i]);
    }
    case_close(&c);
}
END_TEST

/* ---- approx ---- */

/* Each element chooses for itself; evaluation takes the middle. */
START_TEST(approx_of_elements)
{
    recipe_case c;
    uint32_t x[] = {0x3F800000, 0xBF800000, 0x00000001, 0x00000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000};
    case_open(&c, "in x : f32\nout q : f32\nelement:\n  q = approx(x, 2)\n", 1, 7);
    case_input(&c, "x", x, 7);
    case_run(&c);
    for (int i = 0; i < 7; i++)
        ck_assert_uint_eq(case_code(&c, "q", i), x[i]);
    static const struct {
        int index;
        uint32_t code;
        int verdict;
    } rows[] = {
        {0, 0x3F800002, AGREES},  {0, 0x3F7FFFFE, AGREES},  {0, 0x3F800003, DIFFERS},
        {0, 0x3F7FFFFD, DIFFERS}, {1, 0xBF800002, AGREES},  {1, 0xBF7FFFFE, AGREES},
        {1, 0xBF7FFFFD, DIFFERS}, {1, 0x3F800000, DIFFERS}, {2, 0x00000000, AGREES},
        {2, 0x00000003, AGREES},  {2, 0x80000001, DIFFERS}, {2, 0x00000004, DIFFERS},
        {3, 0x00000001, DIFFERS}, {3, 0x80000000, DIFFERS}, {4, 0x7F800000, AGREES},
        {4, 0x7F7FFFFD, AGREES},  {4, 0x7F7FFFFC, DIFFERS}, {4, 0x7F800001, DIFFERS},
        {5, 0x7F7FFFFF, DIFFERS}, {6, 0x7FC00001, DIFFERS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        case_set(&c, "q", rows[i].index, rows[i].code);
        case_judge(&c);
        for (int j = 0; j < 7; j++)
            ck_assert_msg(case_verdict(&c, "q", j) == (j == rows[i].index ? rows[i].verdict : AGREES),
                          "row %zu, element %d", i, j);
        case_set(&c, "q", rows[i].index, x[rows[i].index]);
    }
    case_close(&c);
}
END_TEST

/* One choice for each block: its scale and all its elements must go with the same one. */
START_TEST(approx_of_blocks)
{
    recipe_case c;
    float x[] = {1, 1, 1, 1}; /* two blocks of two */
    case_open(&c, "in x : f32\nout s : f32 per 1x2\nout q : f32\n"
                  "block 1x2:\n  a = approx(amax(x), 1)\n  s = a\n"
                  "element:\n  q = x * a\n", 1, 4);
    case_input(&c, "x", x, 4);
    case_run(&c);
    const uint32_t one = 0x3F800000, up = 0x3F800001, down = 0x3F7FFFFF;
    static const uint8_t agree[2] = {0, 0};
    /* block 0 went up, block 1 down, each as a whole */
    case_set(&c, "s", 0, up);
    case_set(&c, "q", 0, up);
    case_set(&c, "q", 1, up);
    case_set(&c, "s", 1, down);
    case_set(&c, "q", 2, down);
    case_set(&c, "q", 3, down);
    case_judge(&c);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(case_verdict(&c, "q", i), AGREES);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(case_verdict(&c, "s", i), agree[i]);
    /* a mixed block 0: no choice fits, so the middle value judges; block 1 still agrees */
    case_set(&c, "q", 1, one);
    case_judge(&c);
    ck_assert_int_eq(case_verdict(&c, "s", 0), DIFFERS);
    ck_assert_int_eq(case_verdict(&c, "q", 0), DIFFERS);
    ck_assert_int_eq(case_verdict(&c, "q", 1), AGREES);
    ck_assert_int_eq(case_verdict(&c, "s", 1), AGREES);
    ck_assert_int_eq(case_verdict(&c, "q", 2), AGREES);
    ck_assert_int_eq(case_verdict(&c, "q", 3), AGREES);
    case_close(&c);
}
END_TEST

/* A tensor choice around element choices: exists for the tensor, for all, exists for the element. */
START_TEST(approx_nested)
{
    recipe_case c;
    float x[] = {1, 1, 1};
    case_open(&c, "in x : f32\nout q : f32\n"
                  "tensor:\n  g = approx(amax(x), 1)\n"
                  "element:\n  q = approx(x * g, 1)\n", 1, 3);
    case_input(&c, "x", x, 3);
    case_run(&c);
    const uint32_t one = 0x3F800000;
    /* g one up: elements may stand at 0, 1, 2 codes above 1 */
    for (uint32_t i = 0; i < 3; i++)
        case_set(&c, "q", i, one + i);
    case_judge(&c);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(case_verdict(&c, "q", i), AGREES);
    /* 2 up and 2 down each have a choice, but not under one g */
    case_set(&c, "q", 0, one - 2);
    case_judge(&c);
    ck_assert_int_eq(case_verdict(&c, "q", 0), DIFFERS);
    ck_assert_int_eq(case_verdict(&c, "q", 1), AGREES); /* within 1 of the middle */
    ck_assert_int_eq(case_verdict(&c, "q", 2), DIFFERS);
    case_close(&c);
}
END_TEST

/* Rows and columns choose apart from each other under one choice of the tensor. */
START_TEST(approx_of_rows_and_columns)
{
    recipe_case c;
    float x[] = {1, 1, 1, 1};
    case_open(&c, "in x : f32\nout r : f32 per row\nout s : f32 per column\n"
                  "tensor:\n  g = approx(amax(x), 1)\n"
                  "row:\n  r = approx(g, 1)\n"
                  "column:\n  s = approx(g, 1)\n", 2, 2);
    case_input(&c, "x", x, 4);
    case_run(&c);
    const uint32_t one = 0x3F800000;
    case_set(&c, "r", 0, one + 2);
    case_set(&c, "r", 1, one);
    case_set(&c, "s", 0, one + 1);
    case_set(&c, "s", 1, one + 2);
    case_judge(&c);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(case_verdict(&c, "r", i), AGREES);
        ck_assert_int_eq(case_verdict(&c, "s", i), AGREES);
    }
    case_set(&c, "s", 1, one - 1);
    case_judge(&c);
    ck_assert_int_eq(case_verdict(&c, "r", 0), DIFFERS);
    ck_assert_int_eq(case_verdict(&c, "r", 1), AGREES);
    case_close(&c);
}
END_TEST

/* A choice that marks an output makes it not judged. */
START_TEST(approx_and_marks)
{
    recipe_case c;
    float x[] = {1, 2};
    case_open(&c, "in x : f32\nout q : u32\n"
                  "element:\n  a = approx(x, 1)\n  q = bits(a)\n"
                  "  unspecified q when bits(a) == 0x3F800001\n", 1, 2);
    case_input(&c, "x", x, 2);
    case_run(&c);
    case_set(&c, "q", 0, 12345);
    case_set(&c, "q", 1, 12345);
    case_judge(&c);
    ck_assert_int_eq(case_verdict(&c, "q", 0), NOT_JUDGED);
    ck_assert_int_eq(case_verdict(&c, "q", 1), DIFFERS);
    case_close(&c);
}
END_TEST

/* What the evaluator answers it judges right; one changed code is one difference. */
START_TEST(own_answers_agree)
{
    static const char *const instances[] = {"te.nvfp4.1d", "te.mxfp8", "te.mxfp4.qat",
                                            "ocp.mx", "alto.nvfp4(two=outer)"};
    enum { M = 128, K = 128 };
    static uint16_t x[M * K];
    for (uint32_t i = 0, z = (uint32_t)checks_seed(); i < M * K; i++) {
        z = z * 1664525u + 1013904223u;
        x[i] = (uint16_t)((z >> 16 & 0x80FF) | (110 + (z >> 9) % 20) << 7);
    }
    for (size_t n = 0; n < sizeof instances / sizeof instances[0]; n++) {
        assay_error error;
        recipe_case c = {.m = M, .k = K};
        c.program = assay_catalogue_program(instances[n], &error);
        ck_assert_msg(c.program != NULL, "%s", error.message);
        case_allocate(&c);
        ck_assert_int_eq(c.program->input_count, 1);
        ck_assert_str_eq(assay_type_name(c.program->values[c.program->inputs[0]].type), "bf16");
        c.inputs[0].data = x;
        case_run(&c);
        const char *codes = NULL; /* the output with one code an element */
        for (int o = 0; o < c.program->output_count; o++)
            if (c.outputs[o].rows == M && c.outputs[o].cols == K)
                codes = c.program->values[c.program->outputs[o]].name;
        ck_assert_ptr_nonnull(codes);
        for (int changed = 0; changed < 2; changed++) {
            if (changed)
                case_set(&c, codes, 3, case_code(&c, codes, 3) ^ 1);
            case_judge(&c);
            int differences = 0;
            for (int o = 0; o < c.program->output_count; o++)
                for (int64_t i = 0; i < c.outputs[o].rows * c.outputs[o].cols; i++) {
                    differences += c.verdicts[o][i] == DIFFERS;
                    ck_assert_int_eq(c.verdicts[o][i] == NOT_JUDGED, c.outputs[o].marks[i]);
                }
            ck_assert_msg(differences == changed, "%s: %d differences", instances[n], differences);
            checks_add(M * K);
        }
        case_close(&c);
    }
}
END_TEST

START_TEST(wrong_shapes_are_refused)
{
    recipe_case c;
    float x[] = {1, 2, 3};
    assay_error error;
    case_open(&c, "in x : f32\nout q : f32\nelement:\n  q = x\n", 1, 3);
    c.inputs[0] = (assay_grid){1, 2, x, NULL};
    ck_assert_int_eq(assay_exact_eval(c.program, 1, 3, c.inputs, c.outputs, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.message, "input x has 1 x 2 values, 1 x 3 are needed"));
    c.inputs[0] = (assay_grid){1, 3, x, NULL};
    assay_grid observed = {3, 1, x, NULL};
    ck_assert_int_eq(assay_exact_judge(c.program, 1, 3, c.inputs, &observed, c.verdicts, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.message, "output q has 3 x 1 values"));
    checks_add(4);
    case_close(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact judge");
    TCase *tests = tcase_create("judge");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, marks_spread);
    tcase_add_test(tests, marks_of_coarser_sections);
    tcase_add_test(tests, marked_outputs_are_not_judged);
    tcase_add_test(tests, any_nan_any_zero);
    tcase_add_test(tests, approx_of_elements);
    tcase_add_test(tests, approx_of_blocks);
    tcase_add_test(tests, approx_nested);
    tcase_add_test(tests, approx_of_rows_and_columns);
    tcase_add_test(tests, approx_and_marks);
    tcase_add_test(tests, own_answers_agree);
    tcase_add_test(tests, wrong_shapes_are_refused);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
