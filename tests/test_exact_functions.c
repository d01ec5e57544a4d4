/* The functions of the recipe language on special values (C Annex F, hand tables) and on random
 * ones (libm where it is right, the C language's own integers). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "program_builder.h"

enum { MANY = 20000 };

static uint64_t state;

static uint64_t draw(void)
{
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static float f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return isnan(x) ? 0x7FC00000 : bits;
}

static uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return isnan(x) ? UINT64_C(0x7FF8000000000000) : bits;
}

#define F32_NAN 0x7FC00000u
#define F32_INF 0x7F800000u

/* ---- tables: one row a case ---- */

typedef struct {
    assay_op op;
    const char *type, *from; /* of the result; of the arguments */
    uint64_t args[3];
    uint64_t result;
} row;

static uint64_t evaluate(const row *r)
{
    int argc = 0;
    while (argc < 3 && r->from && r->args[argc] != UINT64_MAX)
        argc++;
    const char *types[3] = {r->from, r->op == ASSAY_OP_LDEXP ? "i32" : r->from, r->from};
    const void *args[3] = {&r->args[0], &r->args[1], &r->args[2]};
    uint64_t y = 0;
    eval_elements(r->op, r->type, argc, types, args, &y, 1, NULL, NULL);
    return y;
}

static void check_rows(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t got = evaluate(&rows[i]);
        ck_assert_msg(got == rows[i].result,
                      "row %zu: %" PRIx64 " %" PRIx64 ": want %" PRIx64 ", got %" PRIx64, i,
                      rows[i].args[0], rows[i].args[1], rows[i].result, got);
    }
    checks_add(n);
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

#define NONE UINT64_MAX
#define ONE(op, x, y) {ASSAY_OP_##op, "f32", "f32", {x, NONE, NONE}, y}
#define TWO(op, a, b, y) {ASSAY_OP_##op, "f32", "f32", {a, b, NONE}, y}
#define THREE(op, a, b, c, y) {ASSAY_OP_##op, "f32", "f32", {a, b, c}, y}
#define TO(op, type, x, y) {ASSAY_OP_##op, type, "f32", {x, NONE, NONE}, y}

/* C17 Annex F.10: the special values of exp, exp2, log2, sqrt. */
START_TEST(annex_f)
{
    static const row rows[] = {
        ONE(EXP, 0x00000000, 0x3F800000),    ONE(EXP, 0x80000000, 0x3F800000),
        ONE(EXP, 0xFF800000, 0x00000000),    ONE(EXP, F32_INF, F32_INF),
        ONE(EXP, 0xFFC00001, F32_NAN),       ONE(EXP2, 0x00000000, 0x3F800000),
        ONE(EXP2, 0x80000000, 0x3F800000),   ONE(EXP2, 0xFF800000, 0x00000000),
        ONE(EXP2, F32_INF, F32_INF),         ONE(EXP2, 0x7F800001, F32_NAN),
        ONE(EXP2, 0xC2FE0000, 0x00400000), /* -127 */
        ONE(EXP2, 0xC3150000, 0x00000001), /* -149 */
        ONE(EXP2, 0xC3160000, 0x00000000), /* -150: a tie, to even */
        ONE(EXP2, 0xC315FFFF, 0x00000001), /* above it */
        ONE(EXP2, 0x43000000, F32_INF),    /* 128 */
        ONE(EXP2, 0xFF7FFFFF, 0x00000000),   ONE(EXP2, 0x7F7FFFFF, F32_INF),
        ONE(EXP, 0xFF7FFFFF, 0x00000000),    ONE(EXP, 0x7F7FFFFF, F32_INF),
        ONE(EXP, 0x00000001, 0x3F800000),    ONE(EXP, 0x80000001, 0x3F800000),
        ONE(LOG2, 0x00000000, 0xFF800000),   ONE(LOG2, 0x80000000, 0xFF800000),
        ONE(LOG2, 0x3F800000, 0x00000000),   ONE(LOG2, 0xBF800000, F32_NAN),
        ONE(LOG2, 0xFF800000, F32_NAN),      ONE(LOG2, F32_INF, F32_INF),
        ONE(LOG2, 0x00000001, 0xC3150000),   ONE(LOG2, 0x41000000, 0x40400000),
        ONE(SQRT, 0x80000000, 0x80000000),   ONE(SQRT, 0x80000001, F32_NAN),
        ONE(SQRT, F32_INF, F32_INF),         ONE(SQRT, 0xFF800000, F32_NAN),
        ONE(SQRT, 0x7FFFFFFF, F32_NAN),      ONE(SQRT, 0x40800000, 0x40000000),
    };
    CHECK_ROWS(rows);
}
END_TEST

/* LANGUAGE.md 9: min, max, clamp, sign-bit operations, flush, exponent, conversions. */
START_TEST(selection)
{
    static const row rows[] = {
        TWO(MIN, 0x80000000, 0x00000000, 0x80000000), TWO(MIN, 0x00000000, 0x80000000, 0x80000000),
        TWO(MAX, 0x80000000, 0x00000000, 0x00000000), TWO(MAX, 0x00000000, 0x80000000, 0x00000000),
        TWO(MAX, 0xFFC01234, 0xC0000000, 0xC0000000), TWO(MIN, 0x3F800000, 0x7F800001, 0x3F800000),
        TWO(MAX, 0xFFC01234, 0x7F800001, F32_NAN),    TWO(MIN, 0xFF800000, F32_INF, 0xFF800000),
        TWO(MIN, 0xC0000000, 0xBF800000, 0xC0000000), TWO(MAX, 0x00000001, 0x00000002, 2),
        THREE(CLAMP, 0xFFC01234, 0, 0x3F800000, F32_NAN),
        THREE(CLAMP, 0x80000000, 0, 0x3F800000, 0x80000000), /* -0 < 0 is false */
        THREE(CLAMP, 0xBF800000, 0x80000000, 0x3F800000, 0x80000000),
        THREE(CLAMP, 0x40000000, 0, 0x3F800000, 0x3F800000),
        THREE(CLAMP, 0x40000000, F32_NAN, F32_NAN, 0x40000000),
        THREE(CLAMP, 0x3F000000, 0x3F800000, 0, 0x3F800000), /* below comes first */
        ONE(NEG, 0x7FC00001, 0xFFC00001), ONE(NEG, 0x80000000, 0x00000000),
        ONE(ABS, 0xFFC01234, 0x7FC01234), ONE(ABS, 0x80000001, 0x00000001),
        TWO(COPYSIGN, 0x7FC00001, 0x80000000, 0xFFC00001),
        TWO(COPYSIGN, 0xBF800000, 0x7FC00000, 0x3F800000),
        TO(SIGNBIT, "bool", 0xFFC00000, 1), TO(SIGNBIT, "bool", 0x80000000, 1),
        TO(SIGNBIT, "bool", 0x7F800000, 0), TO(ISNAN, "bool", 0x7F800001, 1),
        TO(ISNAN, "bool", 0xFF800000, 0), TO(ISINF, "bool", 0xFF800000, 1),
        TO(ISINF, "bool", 0x7F800001, 0),
        ONE(FLUSH, 0x807FFFFF, 0x80000000), ONE(FLUSH, 0x00800000, 0x00800000),
        ONE(FLUSH, 0x00000001, 0x00000000), ONE(FLUSH, 0xFF800000, 0xFF800000),
        TO(EXPONENT, "i32", 0x00000000, 0xFFFFFBB4), /* -1100 */
        TO(EXPONENT, "i32", 0x80000000, 0xFFFFFBB4), TO(EXPONENT, "i32", F32_INF, 1024),
        TO(EXPONENT, "i32", 0xFFC00000, 1024), TO(EXPONENT, "i32", 0x00000001, 0xFFFFFF6B),
        TO(EXPONENT, "i32", 0x007FFFFF, 0xFFFFFF81), TO(EXPONENT, "i32", 0xBF7FFFFF, 0xFFFFFFFF),
        TO(TO_U32, "u32", 0xBF800000, 0), TO(TO_U32, "u32", 0x4F800000, 0xFFFFFFFF),
        TO(TO_U32, "u32", 0x4F7FFFFF, 0xFFFFFF00), TO(TO_U32, "u32", 0x7FC00000, 0),
        TO(TO_U32, "u32", 0x402FFFFF, 2), TO(TO_U32, "u32", 0xFF800000, 0),
        TO(TO_I32, "i32", 0x4F000000, 0x7FFFFFFF), TO(TO_I32, "i32", 0xCF000000, 0x80000000),
        TO(TO_I32, "i32", 0xCF000001, 0x80000000), TO(TO_I32, "i32", 0xBFFFFFFF, 0xFFFFFFFF),
        TO(TO_I32, "i32", 0xFFC00000, 0), TO(TO_I32, "i32", F32_INF, 0x7FFFFFFF),
        TO(TO_U64, "u64", 0x5F800000, UINT64_MAX), TO(TO_U64, "u64", 0x5F7FFFFF, 0xFFFFFF0000000000),
        TO(TO_U64, "u64", 0xC0000000, 0), TO(TO_U64, "u64", 0x7F800001, 0),
        TO(BITS, "u32", 0xFFC01234, 0xFFC01234),
    };
    CHECK_ROWS(rows);
}
END_TEST

START_TEST(comparison)
{
    static const uint32_t values[] = {0xFF800000, 0xC0000000, 0x80000001, 0x80000000, 0x00000000,
                                      0x00000001, 0x3F800000, F32_INF,    F32_NAN,    0xFFC00001};
    static const assay_op ops[] = {ASSAY_OP_EQ, ASSAY_OP_NE, ASSAY_OP_LT,
                                   ASSAY_OP_LE, ASSAY_OP_GT, ASSAY_OP_GE};
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
            float a = f32_of(values[i]), b = f32_of(values[j]);
            bool want[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};
            for (int o = 0; o < 6; o++) {
                row r = {ops[o], "bool", "f32", {values[i], values[j], NONE}, want[o]};
                ck_assert_uint_eq(evaluate(&r), want[o]);
            }
        }
    checks_add(600);
}
END_TEST

/* ---- random operands against libm ---- */

static void draw_f32(uint32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t mantissa = (uint32_t)draw() & 0x807FFFFF;
        uint32_t field = draw() % 4 ? 110 + (uint32_t)(draw() % 34) : (uint32_t)(draw() % 256);
        x[i] = mantissa | field << 23;
        if (draw() % 16 == 0) /* integers and halves */
            x[i] = bits_of((float)((int)(draw() % 600) - 300) * 0.5f);
    }
}

static void compare_f32(assay_op op, float (*libm)(float), void (*set)(assay_expr *, const void *),
                        const void *options)
{
    static uint32_t x[MANY], y[MANY];
    static const char *const types[] = {"f32"};
    const void *args[] = {x};
    draw_f32(x, MANY);
    eval_elements(op, "f32", 1, types, args, y, MANY, set, options);
    for (int i = 0; i < MANY; i++) {
        uint32_t want = bits_of(libm(f32_of(x[i])));
        ck_assert_msg(want == y[i], "%s %08x: libm %08x, exact %08x", assay_op_name(op), x[i], want,
                      y[i]);
    }
    checks_add(MANY);
}

/* The f64 function, wrong by less than a unit of f64, rounded once more: right for an f32 unless
 * the true value lies within 2^-29 of a tie, which 20,000 random values do not meet. */
static float exp_by_f64(float x)
{
    return (float)exp((double)x);
}
static float exp2_by_f64(float x)
{
    return (float)exp2((double)x);
}
static float log2_by_f64(float x)
{
    return (float)log2((double)x);
}

START_TEST(transcendental)
{
    state = checks_seed();
    compare_f32(ASSAY_OP_EXP, exp_by_f64, NULL, NULL);
    compare_f32(ASSAY_OP_EXP2, exp2_by_f64, NULL, NULL);
    compare_f32(ASSAY_OP_LOG2, log2_by_f64, NULL, NULL);
    compare_f32(ASSAY_OP_SQRT, sqrtf, NULL, NULL);
}
END_TEST

/* f64 against long double: right unless the f80 value lies next to a tie, which is left out. */
START_TEST(transcendental_f64)
{
    state = checks_seed() + 1;
    static const assay_op ops[] = {ASSAY_OP_EXP, ASSAY_OP_EXP2, ASSAY_OP_LOG2};
    static double x[MANY];
    static uint64_t y[MANY];
    const char *types[] = {"f64"};
    const void *args[] = {x};
    for (int o = 0; o < 3; o++) {
        uint64_t compared = 0;
        for (int i = 0; i < MANY; i++)
            x[i] = ldexp((double)(draw() >> 11), (int)(draw() % 12) - 58) *
                   (o < 2 && draw() % 2 ? -1 : 1);
        eval_elements(ops[o], "f64", 1, types, args, y, MANY, NULL, NULL);
        for (int i = 0; i < MANY; i++) {
            long double v = x[i];
            v = o == 0 ? expl(v) : o == 1 ? exp2l(v) : log2l(v);
            long double slack = fabsl(v) * 0x1p-62L;
            double low = (double)(v - slack), high = (double)(v + slack);
            if (low != high)
                continue;
            ck_assert_msg(bits_of_f64(low) == y[i], "%s %a: libm %a", assay_op_name(ops[o]), x[i],
                          low);
            compared++;
        }
        ck_assert_uint_gt(compared, MANY * 9 / 10);
        checks_add(compared);
    }
}
END_TEST

static void set_mode(assay_expr *e, const void *mode)
{
    e->u.arith.mode = *(const assay_mode *)mode;
}

START_TEST(integers_of_floats)
{
    state = checks_seed() + 2;
    static const struct {
        assay_mode mode;
        float (*libm)(float);
    } rows[] = {{ASSAY_EVEN, rintf},
                {ASSAY_AWAY, roundf},
                {ASSAY_ZERO, truncf},
                {ASSAY_UP, ceilf},
                {ASSAY_DOWN, floorf}};
    for (int i = 0; i < 5; i++)
        compare_f32(ASSAY_OP_RINT, rows[i].libm, set_mode, &rows[i].mode);
    static uint32_t x[MANY], y[MANY];
    static const char *const types[] = {"f32"};
    const void *args[] = {x};
    draw_f32(x, MANY);
    eval_elements(ASSAY_OP_EXPONENT, "i32", 1, types, args, y, MANY, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        if (isfinite(f32_of(x[i])) && f32_of(x[i]) != 0)
            ck_assert_int_eq((int32_t)y[i], ilogbf(f32_of(x[i])));
    checks_add(MANY);
}
END_TEST

START_TEST(powers)
{
    state = checks_seed() + 3;
    static uint32_t x[MANY], y[MANY];
    static int32_t n[MANY];
    static const char *const types[] = {"f32", "i32"}, *const integer[] = {"i32"};
    const void *args[] = {x, n}, *alone[] = {n};
    draw_f32(x, MANY);
    for (int i = 0; i < MANY; i++)
        n[i] = (int32_t)(draw() % 600) - 300;
    n[0] = INT32_MAX;
    n[1] = INT32_MIN;
    eval_elements(ASSAY_OP_LDEXP, "f32", 2, types, args, y, MANY, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        ck_assert_uint_eq(y[i], bits_of(ldexpf(f32_of(x[i]), n[i])));
    eval_elements(ASSAY_OP_POW2, "f32", 1, integer, alone, y, MANY, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        ck_assert_uint_eq(y[i], bits_of(ldexpf(1, n[i])));
    checks_add(2 * MANY);
}
END_TEST

/* ---- integers ---- */

static void check_integer(assay_op op, const char *type, uint64_t a, uint64_t b, uint64_t want)
{
    row r = {op, type, type, {a, b, NONE}, want};
    const char *types[] = {type, type};
    const void *args[] = {&r.args[0], &r.args[1]};
    uint64_t y = 0;
    eval_elements(op, type, 2, types, args, &y, 1, NULL, NULL);
    ck_assert_msg(y == want, "%s %s %" PRIx64 " %" PRIx64 ": want %" PRIx64 ", got %" PRIx64,
                  assay_op_name(op), type, a, b, want, y);
    checks_add(1);
}

static void check_unsigned(const char *type, int width, uint64_t a, uint64_t b)
{
    uint64_t mask = UINT64_MAX >> (64 - width);
    a &= mask;
    b &= mask;
    check_integer(ASSAY_OP_IADD, type, a, b, (a + b) & mask);
    check_integer(ASSAY_OP_ISUB, type, a, b, (a - b) & mask);
    check_integer(ASSAY_OP_IMUL, type, a, b, (a * b) & mask);
    check_integer(ASSAY_OP_IDIV, type, a, b, b ? a / b : 0);
    check_integer(ASSAY_OP_IMOD, type, a, b, b ? a % b : 0);
    check_integer(ASSAY_OP_IAND, type, a, b, a & b);
    check_integer(ASSAY_OP_IOR, type, a, b, a | b);
    check_integer(ASSAY_OP_IXOR, type, a, b, a ^ b);
    check_integer(ASSAY_OP_SHL, type, a, b, b < (uint64_t)width ? (a << b) & mask : 0);
    check_integer(ASSAY_OP_SHR, type, a, b, b < (uint64_t)width ? a >> b : 0);
    check_integer(ASSAY_OP_MIN, type, a, b, a < b ? a : b);
    check_integer(ASSAY_OP_MAX, type, a, b, a > b ? a : b);
}

static void check_signed(int32_t a, int32_t b)
{
    int64_t x = a, y = b;
    uint32_t u = (uint32_t)a, v = (uint32_t)b;
    check_integer(ASSAY_OP_IADD, "i32", u, v, (uint32_t)(x + y));
    check_integer(ASSAY_OP_ISUB, "i32", u, v, (uint32_t)(x - y));
    check_integer(ASSAY_OP_IMUL, "i32", u, v, (uint32_t)(x * y));
    check_integer(ASSAY_OP_IDIV, "i32", u, v, b ? (uint32_t)(x / y) : 0);
    check_integer(ASSAY_OP_IMOD, "i32", u, v, b ? (uint32_t)(x % y) : 0);
    check_integer(ASSAY_OP_SHL, "i32", u, v, v < 32 ? u << v : 0);
    check_integer(ASSAY_OP_SHR, "i32", u, v, (uint32_t)(a >> (v < 32 ? v : 31)));
    check_integer(ASSAY_OP_MIN, "i32", u, v, a < b ? u : v);
    check_integer(ASSAY_OP_MAX, "i32", u, v, a > b ? u : v);
}

START_TEST(integers)
{
    state = checks_seed() + 4;
    static const uint64_t edges[] = {0, 1, 2, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000,
                                     0xFFFFFFFF, 0x8000000000000000, UINT64_MAX - 1};
    for (int i = 0; i < 13; i++)
        for (int j = 0; j < 13; j++) {
            check_unsigned("u32", 32, edges[i], edges[j]);
            check_unsigned("u64", 64, edges[i], edges[j]);
            check_signed((int32_t)(uint32_t)edges[i], (int32_t)(uint32_t)edges[j]);
        }
    for (int i = 0; i < 200; i++) {
        uint64_t a = draw(), b = draw() >> draw() % 64;
        check_unsigned("u32", 32, a, b);
        check_unsigned("u64", 64, a, b);
        check_signed((int32_t)(uint32_t)a, (int32_t)(uint32_t)b);
    }
}
END_TEST

START_TEST(integer_conversions)
{
    static const row rows[] = {
        {ASSAY_OP_TO_U64, "u64", "i32", {0xFFFFFFFF, NONE, NONE}, UINT64_MAX},
        {ASSAY_OP_TO_U64, "u64", "u32", {0xFFFFFFFF, NONE, NONE}, 0xFFFFFFFF},
        {ASSAY_OP_TO_U32, "u32", "u64", {0x123456789ABCDEF0, NONE, NONE}, 0x9ABCDEF0},
        {ASSAY_OP_TO_I32, "i32", "u64", {0x123456789ABCDEF0, NONE, NONE}, 0x9ABCDEF0},
        {ASSAY_OP_TO_I32, "i32", "u32", {0x80000000, NONE, NONE}, 0x80000000},
        {ASSAY_OP_TO_U32, "u32", "bool", {1, NONE, NONE}, 1},
        {ASSAY_OP_TO_U8, "u8", "u32", {0x12345678, NONE, NONE}, 0x78},
        {ASSAY_OP_TO_U8, "u8", "i32", {0xFFFFFFFE, NONE, NONE}, 0xFE},
        {ASSAY_OP_INEG, "i32", "i32", {0x80000000, NONE, NONE}, 0x80000000},
        {ASSAY_OP_INEG, "i32", "i32", {5, NONE, NONE}, 0xFFFFFFFB},
        {ASSAY_OP_CODE, "e2m1", "u32", {0xF7, NONE, NONE}, 0x7},
        {ASSAY_OP_CODE, "bf16", "u32", {0x12347FC1, NONE, NONE}, 0x7FC1},
        {ASSAY_OP_BITS, "u64", "f64", {0xFFF8000000000001, NONE, NONE}, 0xFFF8000000000001},
        {ASSAY_OP_WIDEN, "f32", "e4m3", {0xFF, NONE, NONE}, 0x7FC00000},
        {ASSAY_OP_WIDEN, "f32", "bf16", {0xFFC1, NONE, NONE}, 0x7FC00000},
        {ASSAY_OP_WIDEN, "f32", "e8m0", {0x00, NONE, NONE}, 0x00400000},
        {ASSAY_OP_WIDEN, "f32", "e2m1", {0x8, NONE, NONE}, 0x80000000},
        {ASSAY_OP_WIDEN, "f64", "f32", {0x80000001, NONE, NONE}, 0xB6A0000000000000},
        {ASSAY_OP_CAST, "e4m3", "u32", {417, NONE, NONE}, 0x7D},
        {ASSAY_OP_CAST, "f32", "u64", {0xFFFFFF8000000001, NONE, NONE}, 0x5F800000},
        {ASSAY_OP_CAST, "f32", "i32", {0x80000000, NONE, NONE}, 0xCF000000},
        {ASSAY_OP_CAST, "e2m1", "i32", {0xFFFFFFFE, NONE, NONE}, 0xC},
    };
    CHECK_ROWS(rows);
}
END_TEST

/* Random123's known answers, and Triton's published words for seed 42. */
START_TEST(philox)
{
    static const struct {
        uint64_t key, lo, hi;
        uint32_t words[4];
    } rows[] = {
        {0, 0, 0, {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}},
        {UINT64_C(0x299F31D0A4093822),
         UINT64_C(0x85A308D3243F6A88),
         UINT64_C(0x0370734413198A2E),
         {0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}},
        {42, 0, 0, {2632642643u, 2012563771u, 314527917u, 1463989207u}},
        {42, 1, 0, {4242219303u, 1404726525u, 2207210094u, 1951270651u}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t w = 0; w < 8; w++) {
            program_builder b;
            build_start(&b);
            assay_expr *e = build_op(&b, ASSAY_OP_PHILOX, "u32", build_const(&b, "u64", rows[i].key),
                                     build_const(&b, "u64", rows[i].lo),
                                     build_const(&b, "u64", rows[i].hi));
            e->arg[e->argc++] = build_const(&b, "u64", w);
            build_assign(&b, build_output(&b, "y", "u32", TILE_ELEMENT), e);
            uint32_t y;
            assay_grid output = {1, 1, &y, NULL};
            ck_assert_int_eq(assay_exact_eval(&b.program, 1, 1, NULL, &output, NULL), 0);
            ck_assert_uint_eq(y, rows[i].words[w % 4]);
            checks_add(1);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact functions");
    TCase *tests = tcase_create("functions");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, annex_f);
    tcase_add_test(tests, selection);
    tcase_add_test(tests, comparison);
    tcase_add_test(tests, transcendental);
    tcase_add_test(tests, transcendental_f64);
    tcase_add_test(tests, integers_of_floats);
    tcase_add_test(tests, powers);
    tcase_add_test(tests, integers);
    tcase_add_test(tests, integer_conversions);
    tcase_add_test(tests, philox);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
