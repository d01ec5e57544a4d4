/* Integers of the recipe language: wrap modulo 2^width, total everywhere (LANGUAGE.md 4, 9). */
#include <Random123/philox.h>
#include <assert.h>

#include "recipe_exact.h"

static int width_of(assay_type t)
{
    return t.kind == ASSAY_T_U64 ? 64 : t.kind == ASSAY_T_BOOL ? 1 : t.kind == ASSAY_T_U8 ? 8 : 32;
}

static uint64_t wrap(assay_type t, uint64_t u)
{
    int width = width_of(t);
    return width == 64 ? u : u & ((UINT64_C(1) << width) - 1);
}

/* The value; a u64 of 2^63 and more comes out negative. */
int64_t exact_signed(assay_type t, uint64_t bits)
{
    return t.kind == ASSAY_T_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
}

bool exact_op_is_integer(assay_op op)
{
    return op >= ASSAY_OP_IADD && op <= ASSAY_OP_SHR;
}

static uint64_t divide(assay_type t, uint64_t a, uint64_t b, bool remainder)
{
    if (b == 0)
        return 0;
    if (t.kind != ASSAY_T_I32)
        return remainder ? a % b : a / b;
    int64_t x = exact_signed(t, a), y = exact_signed(t, b); /* 64 bits: no overflow */
    return wrap(t, (uint64_t)(remainder ? x % y : x / y));
}

/* Counts are values of their own type; a negative one is beyond every width. */
static uint64_t shift(const assay_expr *e, uint64_t a, uint64_t b)
{
    int width = width_of(e->type);
    uint64_t count = (uint64_t)exact_signed(e->arg[1]->type, b);
    bool beyond = count >= (uint64_t)width;
    if (e->op == ASSAY_OP_SHL)
        return beyond ? 0 : wrap(e->type, a << count);
    if (e->type.kind != ASSAY_T_I32)
        return beyond ? 0 : a >> count;
    bool negative = (a >> 31) & 1;
    if (beyond)
        return negative ? 0xFFFFFFFFu : 0;
    uint64_t filled = negative ? a | ~UINT64_C(0xFFFFFFFF) : a;
    return wrap(e->type, filled >> count);
}

uint64_t exact_integer_op(const assay_expr *e, const uint64_t *args)
{
    uint64_t a = args[0], b = args[1];
    assay_type t = e->type;
    switch (e->op) {
    case ASSAY_OP_IADD:
        return wrap(t, a + b);
    case ASSAY_OP_ISUB:
        return wrap(t, a - b);
    case ASSAY_OP_IMUL:
        return wrap(t, a * b);
    case ASSAY_OP_IDIV:
        return divide(t, a, b, false);
    case ASSAY_OP_IMOD:
        return divide(t, a, b, true);
    case ASSAY_OP_INEG:
        return wrap(t, 0 - a);
    case ASSAY_OP_IAND:
        return a & b;
    case ASSAY_OP_IOR:
        return a | b;
    case ASSAY_OP_IXOR:
        return a ^ b;
    case ASSAY_OP_SHL:
    case ASSAY_OP_SHR:
        return shift(e, a, b);
    default:
        assert(false && "an integer operation");
        return 0;
    }
}

static int order_of(assay_type t, uint64_t a, uint64_t b)
{
    if (t.kind == ASSAY_T_I32) {
        int64_t x = exact_signed(t, a), y = exact_signed(t, b);
        return (x > y) - (x < y);
    }
    return (a > b) - (a < b);
}

bool exact_compare_integers(assay_op op, assay_type t, uint64_t a, uint64_t b)
{
    int order = order_of(t, a, b);
    switch (op) {
    case ASSAY_OP_EQ:
        return order == 0;
    case ASSAY_OP_NE:
        return order != 0;
    case ASSAY_OP_LT:
        return order < 0;
    case ASSAY_OP_LE:
        return order <= 0;
    case ASSAY_OP_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

uint64_t exact_select_integer(assay_type t, bool maximum, uint64_t a, uint64_t b)
{
    int order = order_of(t, a, b);
    return (maximum ? order >= 0 : order <= 0) ? a : b;
}

/* Floats: toward zero, saturating, NaN -> 0 (MPFR's own conversion does just that). */
static uint64_t float_to_integer(exact_run *run, assay_type to, const assay_format *f, uint64_t code)
{
    exact_load(run->a, f, code);
    if (to.kind == ASSAY_T_I32) {
        long i = mpfr_get_si(run->a, MPFR_RNDZ);
        i = i > INT32_MAX ? INT32_MAX : i < INT32_MIN ? INT32_MIN : i;
        return wrap(to, (uint64_t)i);
    }
    unsigned long u = mpfr_get_ui(run->a, MPFR_RNDZ);
    return to.kind == ASSAY_T_U32 && u > UINT32_MAX ? UINT32_MAX : u;
}

uint64_t exact_to_integer(exact_run *run, const assay_expr *e, uint64_t bits)
{
    assay_type from = e->arg[0]->type;
    if (from.kind == ASSAY_T_FORMAT)
        return float_to_integer(run, e->type, from.format, bits);
    return wrap(e->type, (uint64_t)exact_signed(from, bits));
}

uint32_t exact_philox(uint64_t key, uint64_t lo, uint64_t hi, uint64_t word)
{
    philox4x32_key_t k = {{(uint32_t)key, (uint32_t)(key >> 32)}};
    philox4x32_ctr_t c = {
        {(uint32_t)lo, (uint32_t)(lo >> 32), (uint32_t)hi, (uint32_t)(hi >> 32)}};
    return philox4x32_R(10, c, k).v[word % 4];
}
