/* + - * / fma sqrt of the exact evaluator against the machine's own floating-point unit: f32 and
 * f64, to nearest and directed, subnormals kept and flushed. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "program_builder.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

enum { BATCH = 4096 };

static const struct {
    assay_op op;
    int argc;
} operations[] = {{ASSAY_OP_ADD, 2}, {ASSAY_OP_SUB, 2}, {ASSAY_OP_MUL, 2},
                  {ASSAY_OP_DIV, 2}, {ASSAY_OP_FMA, 3}, {ASSAY_OP_SQRT, 1}};
enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

/* ---- operands ---- */

static uint64_t state;

static uint64_t draw(void)
{
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Exponents near the lower end, the upper end, the middle (of range and of half the range, so that
 * products land near the ends), any bits, few significand bits, special codes. */
static uint64_t draw_operand(const assay_format *f)
{
    int m = f->mantissa_bits;
    uint64_t fields = UINT64_C(1) << f->exponent_bits, bias = (uint64_t)f->bias;
    uint64_t mantissa = draw() & ((UINT64_C(1) << m) - 1), field;
    switch (draw() % 8) {
    case 0:
        field = draw() % (uint64_t)(m + 6);
        break;
    case 1:
        field = fields - 1 - draw() % (uint64_t)(m + 6);
        break;
    case 2:
        field = bias - 4 + draw() % 8;
        break;
    case 3:
        field = bias / 2 - 14 + draw() % 28;
        break;
    case 4:
        field = bias + bias / 2 - 14 + draw() % 28;
        break;
    case 5:
        field = draw() % fields;
        break;
    case 6: /* few bits: exact results and ties */
        field = bias - 30 + draw() % 60;
        mantissa &= ~UINT64_C(0) << (m - (int)(draw() % 6));
        break;
    default:
        field = draw() % 2 ? 0 : fields - 1;
        mantissa = draw() % 3 ? mantissa & 1 : mantissa;
    }
    uint64_t sign = draw() & 1;
    return (sign << f->exponent_bits | field) << m | (mantissa & ((UINT64_C(1) << m) - 1));
}

/* ---- the machine's answers; volatile operands keep them where they are ---- */

static float machine_f32(assay_op op, float x, float y, float z)
{
    volatile float a = x, b = y, c = z;
    volatile float r = 0;
    switch (op) {
    case ASSAY_OP_ADD:
        r = a + b;
        break;
    case ASSAY_OP_SUB:
        r = a - b;
        break;
    case ASSAY_OP_MUL:
        r = a * b;
        break;
    case ASSAY_OP_DIV:
        r = a / b;
        break;
    case ASSAY_OP_FMA:
        r = fmaf(a, b, c);
        break;
    default:
        r = sqrtf(a);
    }
    return r;
}

static double machine_f64(assay_op op, double x, double y, double z)
{
    volatile double a = x, b = y, c = z;
    volatile double r = 0;
    switch (op) {
    case ASSAY_OP_ADD:
        r = a + b;
        break;
    case ASSAY_OP_SUB:
        r = a - b;
        break;
    case ASSAY_OP_MUL:
        r = a * b;
        break;
    case ASSAY_OP_DIV:
        r = a / b;
        break;
    case ASSAY_OP_FMA:
        r = fma(a, b, c);
        break;
    default:
        r = sqrt(a);
    }
    return r;
}

static uint64_t machine(const assay_format *f, assay_op op, const uint64_t *args)
{
    if (!strcmp(f->name, "f64")) {
        double a[3], y;
        memcpy(a, args, sizeof a);
        y = machine_f64(op, a[0], a[1], a[2]);
        uint64_t bits;
        memcpy(&bits, &y, 8);
        return isnan(y) ? UINT64_C(0x7FF8000000000000) : bits;
    }
    float a[3], y;
    for (int k = 0; k < 3; k++) {
        uint32_t code = (uint32_t)args[k];
        memcpy(&a[k], &code, 4);
    }
    y = machine_f32(op, a[0], a[1], a[2]);
    uint32_t bits;
    memcpy(&bits, &y, 4);
    return isnan(y) ? 0x7FC00000 : bits;
}

/* ---- one operation, one mode, many operands ---- */

typedef struct {
    assay_mode mode;
    bool ftz;
} arith_options;

static void set_arith(assay_expr *e, const void *options)
{
    const arith_options *o = options;
    e->u.arith.mode = o->mode;
    e->u.arith.ftz = o->ftz;
}

static uint64_t get(const void *from, int64_t i, size_t size)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)from + (size_t)i * size, size);
    return code;
}

/* An fma whose product nearly or exactly cancels the addend. */
static void aim_at_cancellation(const assay_format *f, uint64_t *args)
{
    uint64_t product = machine(f, ASSAY_OP_MUL, args);
    args[2] = product ^ (UINT64_C(1) << (f->exponent_bits + f->mantissa_bits));
    if (draw() % 2)
        args[2] += draw() % 3 - 1;
}

static void compare_batch(const assay_format *f, int operation, arith_options options,
                          uint64_t (*expected)(const assay_format *, assay_op, const uint64_t *,
                                               arith_options))
{
    size_t size = (size_t)assay_format_storage(f);
    assay_op op = operations[operation].op;
    int argc = operations[operation].argc;
    static uint64_t args[BATCH][3];
    static char columns[3][BATCH * 8], results[BATCH * 8];
    const char *types[3] = {f->name, f->name, f->name};
    const void *columns_of[3] = {columns[0], columns[1], columns[2]};
    for (int64_t i = 0; i < BATCH; i++) {
        for (int k = 0; k < 3; k++)
            args[i][k] = draw_operand(f);
        if (op == ASSAY_OP_FMA && draw() % 2)
            aim_at_cancellation(f, args[i]);
        if (op == ASSAY_OP_ADD && draw() % 4 == 0)
            args[i][1] = args[i][0] ^ (UINT64_C(1) << (8 * size - 1));
        for (int k = 0; k < 3; k++)
            memcpy(columns[k] + (size_t)i * size, &args[i][k], size);
    }
    eval_elements(op, f->name, argc, types, columns_of, results, BATCH, set_arith, &options);
    for (int64_t i = 0; i < BATCH; i++) {
        uint64_t want = expected(f, op, args[i], options), got = get(results, i, size);
        ck_assert_msg(want == got, "%s %s %s%s %" PRIx64 " %" PRIx64 " %" PRIx64
                      ": machine %" PRIx64 ", exact %" PRIx64, f->name, assay_op_name(op),
                      assay_mode_name(options.mode), options.ftz ? " ftz" : "", args[i][0],
                      args[i][1], args[i][2], want, got);
    }
    checks_add(BATCH);
}

/* ASSAY_MANY multiplies the number of random operands. */
static int batches(int usual)
{
    const char *many = getenv("ASSAY_MANY");
    return usual * (many && *many ? atoi(many) : 1);
}

static uint64_t by_machine(const assay_format *f, assay_op op, const uint64_t *args,
                           arith_options options)
{
    static const int rounding[] = {[ASSAY_EVEN] = FE_TONEAREST,
                                   [ASSAY_ZERO] = FE_TOWARDZERO,
                                   [ASSAY_UP] = FE_UPWARD,
                                   [ASSAY_DOWN] = FE_DOWNWARD};
    fesetround(rounding[options.mode]);
    uint64_t code = machine(f, op, args);
    fesetround(FE_TONEAREST);
    return code;
}

START_TEST(nearest)
{
    state = checks_seed();
    static const char *const formats[] = {"f32", "f64"};
    for (int n = batches(18); n > 0; n--)
        for (int i = 0; i < 2 * OPERATION_COUNT; i++)
            compare_batch(assay_format_find(formats[i % 2]), i / 2,
                          (arith_options){ASSAY_EVEN, false}, by_machine);
}
END_TEST

START_TEST(directed)
{
    state = checks_seed() + 1;
    static const char *const formats[] = {"f32", "f64"};
    static const assay_mode modes[] = {ASSAY_ZERO, ASSAY_UP, ASSAY_DOWN};
    for (int n = batches(2); n > 0; n--)
        for (int i = 0; i < 2 * OPERATION_COUNT; i++)
            for (int m = 0; m < 3; m++)
                compare_batch(assay_format_find(formats[i % 2]), i / 2,
                              (arith_options){modes[m], false}, by_machine);
}
END_TEST

/* An x86 with FTZ and DAZ set judges tininess after rounding with unbounded exponent, as the
 * specification's `ftz` does. */
#if defined __x86_64__
__attribute__((target("fma"))) static float fused(float a, float b, float c)
{
    return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}

static uint64_t by_flushing_machine(const assay_format *f, assay_op op, const uint64_t *args,
                                    arith_options options)
{
    (void)options;
    float a[3], y;
    for (int k = 0; k < 3; k++) {
        uint32_t code = (uint32_t)args[k];
        memcpy(&a[k], &code, 4);
    }
    unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040);
    if (op == ASSAY_OP_FMA) {
        volatile float x = a[0], z = a[1], w = a[2];
        volatile float r = fused(x, z, w);
        y = r;
    } else {
        y = machine_f32(op, a[0], a[1], a[2]);
    }
    _mm_setcsr(saved);
    uint32_t bits;
    memcpy(&bits, &y, 4);
    bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    (void)f;
    return nan ? 0x7FC00000 : bits;
}

START_TEST(flushed)
{
    state = checks_seed() + 2;
    bool fma_unit = __builtin_cpu_supports("fma");
    for (int n = batches(6); n > 0; n--)
        for (int i = 0; i < OPERATION_COUNT; i++)
            if (operations[i].op != ASSAY_OP_FMA || fma_unit)
                compare_batch(assay_format_find("f32"), i, (arith_options){ASSAY_EVEN, true},
                              by_flushing_machine);
}
END_TEST
#endif

/* Readings of an H200: mul.rn.ftz.f32 and fma.rn.ftz.f32 at the bottom of the range. */
START_TEST(flushed_on_a_gpu)
{
    static const uint32_t rows[][3] = {
        {0x3F7FFFFF, 0x00800000, 0x00000000}, {0x3F000000, 0x00FFFFFF, 0x00000000},
        {0x20000001, 0x1FFFFFFE, 0x00800000}, {0xBF7FFFFF, 0x00800000, 0x80000000},
        {0x3FFFFFFF, 0x00400000, 0x00000000}, {0x3F800001, 0x007FFFFF, 0x00000000},
        {0x00800000, 0x3F800000, 0x00800000},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    uint32_t a[ROWS], b[ROWS], zero[ROWS] = {0}, y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        a[i] = rows[i][0];
        b[i] = rows[i][1];
    }
    const char *types[] = {"f32", "f32", "f32"};
    const void *args[] = {a, b, zero};
    arith_options ftz = {ASSAY_EVEN, true}, kept = {ASSAY_EVEN, false};
    eval_elements(ASSAY_OP_MUL, "f32", 2, types, args, y, ROWS, set_arith, &ftz);
    for (int i = 0; i < ROWS; i++)
        ck_assert_uint_eq(y[i], rows[i][2]);
    eval_elements(ASSAY_OP_MUL, "f32", 2, types, args, y, 1, set_arith, &kept);
    ck_assert_uint_eq(y[0], 0x00800000);
    eval_elements(ASSAY_OP_FMA, "f32", 3, types, args, y, ROWS, set_arith, &ftz);
    for (int i = 0; i < ROWS; i++) /* -0 + +0 is +0, a flushed -2^-126 (1 - tiny) is -0 */
        ck_assert_uint_eq(y[i], rows[i][2]);
    checks_add(2 * ROWS + 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact arithmetic");
    TCase *tests = tcase_create("against the machine");
    tcase_set_timeout(tests, 3600);
    tcase_add_test(tests, nearest);
    tcase_add_test(tests, directed);
#if defined __x86_64__
    tcase_add_test(tests, flushed);
#endif
    tcase_add_test(tests, flushed_on_a_gpu);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
