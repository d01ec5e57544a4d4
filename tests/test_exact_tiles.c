/* Tiles of the exact evaluator: partial ones, tilings that do not nest, padding, coordinates,
 * gathers, transforms; and sums in each order. Expected values are small integers worked out by
 * hand or by plain loops over them, so that no rounding is in question. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "recipe_case.h"

#define F32(x) ((union { float f; uint32_t u; }){.f = (x)}.u)
#define COUNT(a) ((int64_t)(sizeof(a) / sizeof(a)[0]))

/* ---- sums ---- */

static const char sums[] = "in x : f32\n"
                           "out s : f32 per tensor\nout t : f32 per tensor\n"
                           "out p : f32 per tensor\nout e : f32 per tensor\n"
                           "tensor:\n"
                           "  s = sum(x, seq)\n  t = sum(x, tree)\n"
                           "  p = sum(x, pairs)\n  e = sum(x, exact)\n";

static void check_sums(const float *x, int64_t n, float s, float t, float p, float e)
{
    recipe_case c;
    case_open(&c, sums, 1, n);
    case_input(&c, "x", x, n);
    case_run(&c);
    case_expect(&c, "s", (uint64_t[]){F32(s)}, 1);
    case_expect(&c, "t", (uint64_t[]){F32(t)}, 1);
    case_expect(&c, "p", (uint64_t[]){F32(p)}, 1);
    case_expect(&c, "e", (uint64_t[]){F32(e)}, 1);
    case_close(&c);
}

START_TEST(sum_orders)
{
    const float big = 16777216; /* 2^24: one more is a tie, to even */
    check_sums((float[]){big, 1, -big, 1}, 4, 1, 2, 1, 2);
    check_sums((float[]){big, 1, 1, 1}, 4, big, 16777218, 16777218, 16777220);
    /* tree: 5 terms and three -0: (big + 1) -> big, 1, 1, 1 -> (big + 1), (1 + 1) -> big + 2 */
    check_sums((float[]){big, 1, 1, 1, 1}, 5, big, 16777218, 16777220, 16777220);
    check_sums((float[]){-0.0f, -0.0f, -0.0f}, 3, 0, -0.0f, -0.0f, -0.0f);
    check_sums((float[]){-0.0f}, 1, 0, -0.0f, -0.0f, -0.0f);
    check_sums((float[]){-0.0f, 0}, 2, 0, 0, 0, 0);
    check_sums((float[]){1, -1}, 2, 0, 0, 0, 0);
    /* partial sums overflow, the exact one does not */
    const float huge = 0x1.fffffep127f, inf = __builtin_inff();
    check_sums((float[]){huge, huge, -huge, -huge}, 4, inf, 0, __builtin_nanf(""), 0);
    check_sums(NULL, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(dots)
{
    recipe_case c;
    float a[] = {-1, 0x1.000002p0f}, b[] = {1, 0x1.fffffcp-1f};
    case_open(&c, "in a : f32\nin b : f32\nout s : f32 per tensor\nout e : f32 per tensor\n"
                  "out d : f64 per tensor\n"
                  "tensor:\n  s = dot(a, b, seq)\n  e = dot(a, b, exact)\n"
                  "  d = dot(f64(a), f64(b), seq)\n", 1, 2);
    case_input(&c, "a", a, 2);
    case_input(&c, "b", b, 2);
    case_run(&c);
    /* (1 + 2^-23)(1 - 2^-23) - 1 = -2^-46: the product is not rounded */
    case_expect(&c, "s", (uint64_t[]){F32(-0x1p-46f)}, 1);
    case_expect(&c, "e", (uint64_t[]){F32(-0x1p-46f)}, 1);
    case_expect(&c, "d", (uint64_t[]){UINT64_C(0xBD10000000000000)}, 1);
    case_close(&c);
}
END_TEST

/* ---- reductions over partial tiles, against plain loops over integers ---- */

static int value_at(int64_t i, int64_t j)
{
    return (int)((i * 7 + j * 13) % 31) - 15;
}

static float *integers(int64_t m, int64_t k)
{
    float *x = malloc((size_t)(m * k) * sizeof *x);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < k; j++)
            x[i * k + j] = (float)value_at(i, j);
    return x;
}

static void check_partial(int64_t m, int64_t k, int64_t rows, int64_t cols)
{
    char body[1024];
    snprintf(body, sizeof body,
             "in x : f32\nout a : f32 per %dx%d\nout h : f32 per %dx%d\nout l : f32 per %dx%d\n"
             "out n : u32 per %dx%d\nout y : bool per %dx%d\nout z : bool per %dx%d\n"
             "block %dx%d:\n  a = amax(x)\n  h = max(x)\n  l = min(x)\n  n = count(x > 0)\n"
             "  y = any(x == 15)\n  z = all(x > -15)\n",
             (int)rows, (int)cols, (int)rows, (int)cols, (int)rows, (int)cols, (int)rows, (int)cols,
             (int)rows, (int)cols, (int)rows, (int)cols, (int)rows, (int)cols);
    float *x = integers(m, k);
    recipe_case c;
    case_open(&c, body, m, k);
    case_input(&c, "x", x, m * k);
    case_run(&c);
    int64_t grid_cols = (k + cols - 1) / cols;
    for (int64_t ti = 0; ti * rows < m; ti++)
        for (int64_t tj = 0; tj * cols < k; tj++) {
            int high = -100, low = 100, positive = 0;
            for (int64_t i = ti * rows; i < m && i < (ti + 1) * rows; i++)
                for (int64_t j = tj * cols; j < k && j < (tj + 1) * cols; j++) {
                    int v = value_at(i, j);
                    high = v > high ? v : high;
                    low = v < low ? v : low;
                    positive += v > 0;
                }
            int64_t at = ti * grid_cols + tj;
            int amax = high > -low ? high : -low;
            ck_assert_uint_eq(case_code(&c, "a", at), F32((float)amax));
            ck_assert_uint_eq(case_code(&c, "h", at), F32((float)high));
            ck_assert_uint_eq(case_code(&c, "l", at), F32((float)low));
            ck_assert_uint_eq(case_code(&c, "n", at), (uint64_t)positive);
            ck_assert_uint_eq(case_code(&c, "y", at), high == 15);
            ck_assert_uint_eq(case_code(&c, "z", at), low > -15);
            checks_add(6);
        }
    case_close(&c);
    free(x);
}

START_TEST(partial_tiles)
{
    check_partial(5, 7, 2, 4);
    check_partial(1, 1, 16, 16);
    check_partial(33, 3, 32, 1);
    check_partial(3, 37, 1, 16);
    check_partial(4, 8, 4, 8);
}
END_TEST

/* Outer blocks of 1x6 and inner blocks of 3x3 in a 7 x 13 matrix: neither holds the other. */
START_TEST(tilings_that_do_not_nest)
{
    enum { M = 7, K = 13, ROWS = 3, COLS = 5 };
    float *x = integers(M, K);
    recipe_case c;
    case_open(&c, "in x : f32\nout b : f32 per 3x3\nout q : f32\n"
                  "block 1x6:\n  a = amax(x)\n"
                  "block 3x3:\n  b = max(x + a)\n"
                  "element:\n  q = (x + a) + b\n", M, K);
    case_input(&c, "x", x, M * K);
    case_run(&c);
    int a[M][3] = {{0}}, b[ROWS][COLS];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++)
            a[i][j / 6] = abs(value_at(i, j)) > a[i][j / 6] ? abs(value_at(i, j)) : a[i][j / 6];
    memset(b, 0x80, sizeof b);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++) {
            int v = value_at(i, j) + a[i][j / 6];
            b[i / 3][j / 3] = v > b[i / 3][j / 3] ? v : b[i / 3][j / 3];
        }
    for (int i = 0; i < ROWS * COLS; i++)
        ck_assert_uint_eq(case_code(&c, "b", i), F32((float)b[i / COLS][i % COLS]));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++)
            ck_assert_uint_eq(case_code(&c, "q", i * K + j),
                              F32((float)(value_at(i, j) + a[i][j / 6] + b[i / 3][j / 3])));
    checks_add(ROWS * COLS + M * K);
    case_close(&c);
    free(x);
}
END_TEST

/* A reduction of a reduction's values: rows of blocks, columns of rows. */
START_TEST(reductions_of_blocks)
{
    enum { M = 5, K = 9 };
    float *x = integers(M, K);
    recipe_case c;
    case_open(&c, "in x : f32\nout r : f32 per row\nout s : f32 per tensor\nout t : f32 per column\n"
                  "block 1x4:\n  a = amax(x)\n"
                  "row:\n  r = sum(a, seq)\n"
                  "tensor:\n  s = sum(r, seq)\n"
                  "column:\n  t = sum(x, seq)\n", M, K);
    case_input(&c, "x", x, M * K);
    case_run(&c);
    int total = 0;
    for (int i = 0; i < M; i++) {
        int sum = 0;
        for (int first = 0; first < K; first += 4) {
            int amax = 0;
            for (int j = first; j < K && j < first + 4; j++)
                amax = abs(value_at(i, j)) > amax ? abs(value_at(i, j)) : amax;
            sum += amax;
        }
        ck_assert_uint_eq(case_code(&c, "r", i), F32((float)sum));
        total += sum;
    }
    ck_assert_uint_eq(case_code(&c, "s", 0), F32((float)total));
    for (int j = 0; j < K; j++) {
        int sum = 0;
        for (int i = 0; i < M; i++)
            sum += value_at(i, j);
        ck_assert_uint_eq(case_code(&c, "t", j), F32((float)sum));
    }
    checks_add(M + K + 1);
    case_close(&c);
    free(x);
}
END_TEST

/* ---- shapes ---- */

START_TEST(padding)
{
    float x[15];
    for (int i = 0; i < 15; i++)
        x[i] = (float)(i + 1);
    recipe_case c;
    case_open(&c, "in x : f32 pad 4x4\nin r : f32 per row\nout z : u32 per tensor\n"
                  "out n : u32 per 2x2\nout q : f32\nout m : u64 per tensor\nout w : u64\n"
                  "tensor:\n  z = count(x == 0)\n  m = M * 100 + K\n"
                  "block 2x2:\n  n = count(x == 0)\n"
                  "element:\n  q = x + r\n  w = index\n", 3, 5);
    case_input(&c, "x", x, 15);
    case_input(&c, "r", (float[]){100, 200, 300}, 3);
    case_run(&c);
    case_expect(&c, "z", (uint64_t[]){4 * 8 - 15}, 1);
    case_expect(&c, "m", (uint64_t[]){305}, 1);
    /* rows 0-1: columns 4-5 hold two zeros; row 2 stands above row 3 of zeros */
    case_expect(&c, "n", (uint64_t[]){0, 0, 2, 2, 2, 3}, 6);
    uint64_t q[15], w[15];
    for (int i = 0; i < 15; i++) {
        q[i] = F32((float)(i + 1 + 100 * (i / 5 + 1)));
        w[i] = (uint64_t)i;
    }
    case_expect(&c, "q", q, 15);
    case_expect(&c, "w", w, 15);
    case_close(&c);
}
END_TEST

START_TEST(coordinates)
{
    recipe_case c;
    case_open(&c, "in x : f32\nout b : u64 per 2x3\nout e : u64\n"
                  "block 2x3:\n  s = count(x == 0)\n  b = row * 10 + col + u64(s) * 100\n"
                  "element:\n  e = index * 100 + (row * 10 + col)\n", 3, 4);
    case_run(&c); /* no input given: all +0 */
    case_expect(&c, "b", (uint64_t[]){600, 201, 310, 111}, 4);
    uint64_t e[12];
    for (uint64_t i = 0; i < 12; i++)
        e[i] = i * 100 + i / 4 * 10 + i % 4;
    case_expect(&c, "e", e, 12);
    case_close(&c);
}
END_TEST

START_TEST(empty_matrices)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}};
    for (int s = 0; s < 3; s++) {
        recipe_case c;
        case_open(&c, "in x : f32\nout a : f32 per tensor\nout r : f32 per row\nout q : f32\n"
                      "out n : bool per tensor\nout o : bool per tensor\nout k : u32 per tensor\n"
                      "tensor:\n  a = amax(x)\n  n = any(x == x)\n  o = all(x != x)\n"
                      "  k = count(x == x)\n"
                      "row:\n  r = amax(x)\nelement:\n  q = x + r\n", shapes[s][0], shapes[s][1]);
        case_run(&c);
        case_expect(&c, "a", (uint64_t[]){0}, 1);
        case_expect(&c, "n", (uint64_t[]){0}, 1);
        case_expect(&c, "o", (uint64_t[]){1}, 1);
        case_expect(&c, "k", (uint64_t[]){0}, 1);
        case_expect(&c, "r", (uint64_t[]){0, 0, 0, 0, 0}, shapes[s][0]);
        case_expect(&c, "q", NULL, 0);
        case_close(&c);
    }
}
END_TEST

START_TEST(gathers)
{
    recipe_case c;
    float x[] = {1, 2, 3, 4, 5, 6};
    uint32_t shift[] = {10, 20};
    case_open(&c, "in x : f32\nin t : u32 table 1x2\nout p : f32\nout u : f32\nout v : u32\n"
                  "element:\n  p = at(x, row, col - 1)\n  u = at(x, i32(row) - 1, i32(col))\n"
                  "  v = at(t, 0, col)\n", 2, 3);
    case_input(&c, "x", x, 6);
    case_input(&c, "t", shift, 2);
    case_run(&c);
    case_expect(&c, "p", (uint64_t[]){0, F32(1.f), F32(2.f), 0, F32(4.f), F32(5.f)}, 6);
    case_expect(&c, "u", (uint64_t[]){0, 0, 0, F32(1.f), F32(2.f), F32(3.f)}, 6);
    case_expect(&c, "v", (uint64_t[]){10, 20, 0, 10, 20, 0}, 6);
    case_close(&c);
}
END_TEST

/* ---- transforms ---- */

START_TEST(hadamard_rows)
{
    recipe_case c;
    float x[] = {1, 2, 3, 4, 5, 6};
    case_open(&c, "in x : f32\nout a : f32\nout b : f32\n"
                  "element:\n  a = hadamard(x, 1x4, 0)\n  b = hadamard(x, 1x4, 2)\n", 1, 6);
    case_input(&c, "x", x, 6);
    case_run(&c);
    /* the last run is partial: 5 + 6, 5 - 6 */
    case_expect(&c, "a", (uint64_t[]){F32(10.f), F32(-2.f), F32(-4.f), 0, F32(11.f), F32(-1.f)}, 6);
    /* mask 2: position 1 changes its sign: 1 - 2 + 3 + 4, 1 + 2 + 3 - 4, 1 - 2 - 3 - 4, 1 + 2 - 3 + 4 */
    case_expect(&c, "b", (uint64_t[]){F32(6.f), F32(2.f), F32(-8.f), F32(4.f), F32(-1.f), F32(11.f)},
                6);
    case_close(&c);
}
END_TEST

START_TEST(hadamard_columns_and_specials)
{
    recipe_case c;
    float inf = __builtin_inff();
    float x[] = {16777216, 1, inf, 1, 2, 1, 1, 3, 1, 1, 4, 1}; /* 4 x 3 */
    case_open(&c, "in x : f32\nout a : f32\nelement:\n  a = hadamard(x, 4x1, 0)\n", 4, 3);
    case_input(&c, "x", x, 12);
    case_run(&c);
    uint64_t nan = 0x7FC00000;
    /* column 0: 2^24 + 3 is a tie, to 2^24 + 4; differences are exact or round once */
    case_expect(&c, "a",
                (uint64_t[]){F32(16777220.f), F32(10.f), nan, F32(16777215.f), F32(-2.f), nan,
                             F32(16777215.f), F32(-4.f), nan, F32(16777215.f), 0, nan},
                12);
    case_close(&c);
}
END_TEST

START_TEST(rotations)
{
    recipe_case c;
    float x[] = {1, 10, 100, 1000};
    float w[] = {1, 2, 3, 4}; /* sum over i of W[i, j] e_i */
    case_open(&c, "in x : f32\nin W : f32 table 2x2\nout a : f32\n"
                  "element:\n  a = rotate(x, 1x2, W)\n", 1, 4);
    case_input(&c, "x", x, 4);
    case_input(&c, "W", w, 4);
    case_run(&c);
    case_expect(&c, "a", (uint64_t[]){F32(31.f), F32(42.f), F32(3100.f), F32(4200.f)}, 4);
    case_close(&c);
}
END_TEST

/* ---- NaN in reductions and by declaration ---- */

START_TEST(nan_in_reductions)
{
    recipe_case c;
    uint32_t x[] = {0xFFC00001, F32(-3.f), 0x7F800001, F32(2.f)}, all[] = {0xFFC00001, 0x7FC12345,
                                                                           0xFF800001, 0x7FFFFFFF};
    const char *body = "nan 0x7FFFFFFF\nin x : f32\nout a : f32 per tensor\nout b : f32 per tensor\n"
                       "out h : f32 per tensor\nout l : f32 per tensor\nout y : f32\n"
                       "tensor:\n  a = amax(x)\n  b = amax_nan(x)\n  h = max(x)\n  l = min(x)\n"
                       "element:\n  y = x * 1\n";
    case_open(&c, body, 1, 4);
    case_input(&c, "x", x, 4);
    case_run(&c);
    case_expect(&c, "a", (uint64_t[]){F32(3.f)}, 1);
    case_expect(&c, "b", (uint64_t[]){0x7FFFFFFF}, 1);
    case_expect(&c, "h", (uint64_t[]){F32(2.f)}, 1);
    case_expect(&c, "l", (uint64_t[]){F32(-3.f)}, 1);
    case_expect(&c, "y", (uint64_t[]){0x7FFFFFFF, F32(-3.f), 0x7FFFFFFF, F32(2.f)}, 4);
    case_input(&c, "x", all, 4);
    case_run(&c);
    case_expect(&c, "a", (uint64_t[]){0}, 1);
    case_expect(&c, "b", (uint64_t[]){0x7FFFFFFF}, 1);
    case_expect(&c, "h", (uint64_t[]){0x7FFFFFFF}, 1);
    case_expect(&c, "l", (uint64_t[]){0x7FFFFFFF}, 1);
    case_close(&c);
}
END_TEST

/* Codes of narrow formats are folded as they are; a format without NaN has no value to start from. */
START_TEST(folds_of_codes)
{
    recipe_case c;
    uint8_t x[] = {0x9, 0xF, 0x8, 0x1}, z[] = {0x9, 0xF, 0x8, 0x8}; /* -0.5 -6 -0 0.5 */
    case_open(&c, "in x : e2m1\nout h : e2m1 per 1x2\nout l : e2m1 per 1x2\nout a : f32 per tensor\n"
                  "out m : e2m1 per tensor\nblock 1x2:\n  h = max(x)\n  l = min(x)\n"
                  "tensor:\n  a = amax(x)\n  m = max(x)\n", 1, 4);
    case_input(&c, "x", x, 4);
    case_run(&c);
    case_expect(&c, "h", (uint64_t[]){0x9, 0x1}, 2);
    case_expect(&c, "l", (uint64_t[]){0xF, 0x8}, 2);
    case_expect(&c, "a", (uint64_t[]){F32(6.f)}, 1);
    case_expect(&c, "m", (uint64_t[]){0x1}, 1);
    case_input(&c, "x", z, 4);
    case_run(&c);
    case_expect(&c, "m", (uint64_t[]){0x8}, 1);
    case_close(&c);
}
END_TEST

/* Subnormals of a narrow format are ordinary f32 numbers: ftz does not touch them. */
START_TEST(ftz_of_narrow_operands)
{
    recipe_case c;
    uint8_t x[] = {0x1, 0x9, 0x2}; /* 0.5, a subnormal of e2m1; -0.5; 1 */
    uint8_t s[] = {0x00, 0x01, 0x02}; /* e8m0: 2^-127 is subnormal in f32, 2^-126 is not */
    case_open(&c, "in x : e2m1\nin s : e8m0\nout p : f32\nout q : f32\nelement:\n"
                  "  p = mul(x, 1, ftz)\n  q = mul(s, 1, ftz)\n", 1, 3);
    case_input(&c, "x", x, 3);
    case_input(&c, "s", s, 3);
    case_run(&c);
    case_expect(&c, "p", (uint64_t[]){F32(0.5f), F32(-0.5f), F32(1.f)}, 3);
    case_expect(&c, "q", (uint64_t[]){0, F32(0x1p-126f), F32(0x1p-125f)}, 3);
    case_close(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact tiles");
    TCase *tests = tcase_create("tiles");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, sum_orders);
    tcase_add_test(tests, dots);
    tcase_add_test(tests, partial_tiles);
    tcase_add_test(tests, tilings_that_do_not_nest);
    tcase_add_test(tests, reductions_of_blocks);
    tcase_add_test(tests, padding);
    tcase_add_test(tests, coordinates);
    tcase_add_test(tests, empty_matrices);
    tcase_add_test(tests, gathers);
    tcase_add_test(tests, hadamard_rows);
    tcase_add_test(tests, hadamard_columns_and_specials);
    tcase_add_test(tests, rotations);
    tcase_add_test(tests, nan_in_reductions);
    tcase_add_test(tests, folds_of_codes);
    tcase_add_test(tests, ftz_of_narrow_operands);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
