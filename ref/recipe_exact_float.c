/* Float operations: operands decoded exactly, one MPFR call toward zero, one rounding. */
#include <assert.h>

#include "recipe_exact.h"

/* ---- codes ---- */

void exact_load(mpfr_ptr to, const assay_format *f, uint64_t code)
{
    assay_parts parts = assay_decode(f, code);
    if (parts.class_ == ASSAY_CLASS_NAN) {
        mpfr_set_nan(to);
        return;
    }
    if (parts.class_ == ASSAY_CLASS_INFINITY)
        mpfr_set_inf(to, 1);
    else
        mpfr_set_ui_2exp(to, parts.significand, parts.exponent, MPFR_RNDZ);
    if (parts.negative)
        mpfr_setsign(to, to, 1, MPFR_RNDZ);
}

uint64_t exact_nan(const exact_run *run, const assay_format *f)
{
    return f == run->f32 ? run->program->nan_code : assay_format_nan_code(f);
}

bool exact_is_nan(const assay_format *f, uint64_t code)
{
    return assay_decode(f, code).class_ == ASSAY_CLASS_NAN;
}

bool exact_op_computes(assay_op op)
{
    switch (op) {
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_FMA:
    case ASSAY_OP_SQRT:
    case ASSAY_OP_RINT:
    case ASSAY_OP_EXP:
    case ASSAY_OP_EXP2:
    case ASSAY_OP_LOG2:
    case ASSAY_OP_LDEXP:
    case ASSAY_OP_EXPONENT:
    case ASSAY_OP_ISINF:
    case ASSAY_OP_ISNAN:
    case ASSAY_OP_EQ:
    case ASSAY_OP_NE:
    case ASSAY_OP_LT:
    case ASSAY_OP_LE:
    case ASSAY_OP_GT:
    case ASSAY_OP_GE:
        return true;
    default:
        return false;
    }
}

bool exact_op_rounds(assay_op op)
{
    return (op >= ASSAY_OP_ADD && op <= ASSAY_OP_RINT) || op == ASSAY_OP_EXP ||
           op == ASSAY_OP_EXP2 || op == ASSAY_OP_LOG2 || op == ASSAY_OP_LDEXP ||
           op == ASSAY_OP_POW2 || op == ASSAY_OP_CAST || op == ASSAY_OP_DIV_FULL ||
           op == ASSAY_OP_HADAMARD || op == ASSAY_OP_ROTATE;
}

/* ---- the one rounding ---- */

static assay_cast even_cast(const exact_run *run, const assay_format *f)
{
    return (assay_cast){
        .mode = ASSAY_EVEN, .overflow = ASSAY_NOSAT, .nan_code = exact_nan(run, f)};
}

uint64_t exact_encode(exact_run *run, const assay_format *f, int ternary)
{
    assay_cast cast = even_cast(run, f);
    assay_exact_from_mpfr(&run->x, ternary);
    return assay_round(f, &run->x, &cast, 0).code;
}

/* Toward zero MPFR gives +0 for an exact cancellation; mode `down` wants -0 there. Both terms of
 * one sign keep it in every mode. */
static void sign_zero_sum(exact_run *run, assay_mode mode, bool a_negative, bool b_negative)
{
    if (mode == ASSAY_DOWN && mpfr_zero_p(run->x.v) && a_negative != b_negative)
        mpfr_setsign(run->x.v, run->x.v, 1, MPFR_RNDZ);
}

/* ftz: an operand that is subnormal in the operation's format counts as zero of its sign. (It may
 * be read from a narrower one, whose subnormals are normal numbers of f.) */
static void flush_operand(mpfr_ptr v, const assay_format *f)
{
    if (mpfr_regular_p(v) && mpfr_get_exp(v) - 1 < assay_format_emin(f))
        mpfr_set_zero(v, mpfr_signbit(v) ? -1 : 1);
}

static int arithmetic(exact_run *run, assay_op op, assay_mode mode)
{
    mpfr_ptr v = run->x.v;
    mpfr_srcptr a = run->a, b = run->b, c = run->c;
    int ternary;
    switch (op) {
    case ASSAY_OP_ADD:
        ternary = mpfr_add(v, a, b, MPFR_RNDZ);
        sign_zero_sum(run, mode, mpfr_signbit(a), mpfr_signbit(b));
        return ternary;
    case ASSAY_OP_SUB:
        ternary = mpfr_sub(v, a, b, MPFR_RNDZ);
        sign_zero_sum(run, mode, mpfr_signbit(a), !mpfr_signbit(b));
        return ternary;
    case ASSAY_OP_FMA:
        ternary = mpfr_fma(v, a, b, c, MPFR_RNDZ);
        sign_zero_sum(run, mode, mpfr_signbit(a) != mpfr_signbit(b), mpfr_signbit(c));
        return ternary;
    case ASSAY_OP_MUL:
        return mpfr_mul(v, a, b, MPFR_RNDZ);
    case ASSAY_OP_DIV:
        return mpfr_div(v, a, b, MPFR_RNDZ);
    default:
        assert(op == ASSAY_OP_SQRT);
        return mpfr_sqrt(v, a, MPFR_RNDZ);
    }
}

static uint64_t arithmetic_op(exact_run *run, const assay_expr *e, const exact_operand *args)
{
    const assay_format *f = e->type.format;
    bool ftz = e->u.arith.ftz;
    mpfr_ptr to[3] = {run->a, run->b, run->c};
    for (int k = 0; k < e->argc; k++) {
        exact_load(to[k], args[k].format, args[k].bits);
        if (ftz)
            flush_operand(to[k], f);
    }
    int ternary = arithmetic(run, e->op, e->u.arith.mode);
    assay_exact_from_mpfr(&run->x, ternary);
    assay_cast cast = even_cast(run, f);
    cast.mode = e->u.arith.mode;
    return (ftz ? assay_round_flush(f, &run->x, &cast) : assay_round(f, &run->x, &cast, 0)).code;
}

uint64_t exact_add(exact_run *run, const assay_format *f, uint64_t a, uint64_t b)
{
    exact_load(run->a, f, a);
    exact_load(run->b, f, b);
    return exact_encode(run, f, mpfr_add(run->x.v, run->a, run->b, MPFR_RNDZ));
}

uint64_t exact_fma(exact_run *run, const assay_format *f, uint64_t a, uint64_t b, uint64_t c)
{
    exact_load(run->a, f, a);
    exact_load(run->b, f, b);
    exact_load(run->c, f, c);
    return exact_encode(run, f, mpfr_fma(run->x.v, run->a, run->b, run->c, MPFR_RNDZ));
}

/* The integer near run->a in a rounding mode; every integer in reach has fewer than 160 bits. */
static void round_to_integer(exact_run *run, assay_mode mode)
{
    mpfr_ptr v = run->x.v;
    switch (mode) {
    case ASSAY_AWAY:
        mpfr_round(v, run->a);
        return;
    case ASSAY_ZERO:
        mpfr_trunc(v, run->a);
        return;
    case ASSAY_UP:
        mpfr_ceil(v, run->a);
        return;
    case ASSAY_DOWN:
        mpfr_floor(v, run->a);
        return;
    default:
        assert(mode == ASSAY_EVEN);
        mpfr_roundeven(v, run->a);
    }
}

/* ---- selection and classification: no rounding ---- */

/* A number wins over NaN; -0 < +0. */
uint64_t exact_select(exact_run *run, const assay_format *f, bool maximum, uint64_t a, uint64_t b)
{
    exact_load(run->a, f, a);
    exact_load(run->b, f, b);
    if (mpfr_nan_p(run->a))
        return mpfr_nan_p(run->b) ? exact_nan(run, f) : b;
    if (mpfr_nan_p(run->b))
        return a;
    int order = mpfr_cmp(run->a, run->b);
    if (order == 0)
        order = (mpfr_signbit(run->b) != 0) - (mpfr_signbit(run->a) != 0);
    return (maximum ? order >= 0 : order <= 0) ? a : b;
}

bool exact_compare(exact_run *run, assay_op op, const exact_operand *args)
{
    exact_load(run->a, args[0].format, args[0].bits);
    exact_load(run->b, args[1].format, args[1].bits);
    switch (op) {
    case ASSAY_OP_EQ:
        return mpfr_equal_p(run->a, run->b);
    case ASSAY_OP_NE:
        return !mpfr_equal_p(run->a, run->b);
    case ASSAY_OP_LT:
        return mpfr_less_p(run->a, run->b);
    case ASSAY_OP_LE:
        return mpfr_lessequal_p(run->a, run->b);
    case ASSAY_OP_GT:
        return mpfr_greater_p(run->a, run->b);
    default:
        assert(op == ASSAY_OP_GE);
        return mpfr_greaterequal_p(run->a, run->b);
    }
}

/* if v < lo then lo else if v > hi then hi else v; a NaN passes. */
static uint64_t clamp(exact_run *run, const assay_format *f, const exact_operand *args)
{
    exact_load(run->a, args[0].format, args[0].bits);
    exact_load(run->b, args[1].format, args[1].bits);
    exact_load(run->c, args[2].format, args[2].bits);
    if (mpfr_nan_p(run->a))
        return exact_nan(run, f);
    if (mpfr_less_p(run->a, run->b))
        return args[1].bits;
    return mpfr_greater_p(run->a, run->c) ? args[2].bits : args[0].bits;
}

static uint64_t flush(const exact_run *run, const assay_format *f, uint64_t code)
{
    assay_class class_ = assay_decode(f, code).class_;
    if (class_ == ASSAY_CLASS_NAN)
        return exact_nan(run, f);
    return class_ == ASSAY_CLASS_SUBNORMAL ? code & assay_format_sign_bit(f) : code;
}

/* floor(log2 |v|) as an i32; 0 -> -1100; Inf, NaN -> 1024. */
static uint64_t exponent(exact_run *run, exact_operand v)
{
    exact_load(run->a, v.format, v.bits);
    long e = mpfr_zero_p(run->a) ? -1100 : mpfr_number_p(run->a) ? mpfr_get_exp(run->a) - 1 : 1024;
    return (uint32_t)e;
}

/* Into another format without a rounding: the value is one of its codes. */
static uint64_t widen(exact_run *run, const assay_format *f, exact_operand v)
{
    assay_cast cast = even_cast(run, f);
    assay_exact_set_code(&run->x, v.format, v.bits);
    assay_rounded r = assay_round(f, &run->x, &cast, 0);
    assert(!r.inexact);
    return r.code;
}

uint64_t exact_cast(exact_run *run, const assay_expr *e, uint64_t bits, uint64_t random)
{
    assay_type from = e->arg[0]->type;
    if (from.kind == ASSAY_T_FORMAT)
        assay_exact_set_code(&run->x, from.format, bits);
    else if (from.kind == ASSAY_T_I32)
        assay_exact_set_i64(&run->x, exact_signed(from, bits));
    else
        assay_exact_set_u64(&run->x, bits);
    return assay_round(e->type.format, &run->x, &e->u.cast, random).code;
}

/* ---- functions of numbers ---- */

static uint64_t function(exact_run *run, const assay_expr *e, const exact_operand *args)
{
    const assay_format *f = e->type.format;
    mpfr_ptr v = run->x.v;
    if (args[0].format)
        exact_load(run->a, args[0].format, args[0].bits);
    switch (e->op) {
    case ASSAY_OP_RINT:
        round_to_integer(run, e->u.arith.mode);
        return exact_encode(run, f, 0);
    case ASSAY_OP_EXP:
        return exact_encode(run, f, mpfr_exp(v, run->a, MPFR_RNDZ));
    case ASSAY_OP_EXP2:
        return exact_encode(run, f, mpfr_exp2(v, run->a, MPFR_RNDZ));
    case ASSAY_OP_LOG2:
        return exact_encode(run, f, mpfr_log2(v, run->a, MPFR_RNDZ));
    case ASSAY_OP_LDEXP:
        return exact_encode(
            run, f,
            mpfr_mul_2si(v, run->a, exact_signed(e->arg[1]->type, args[1].bits), MPFR_RNDZ));
    default:
        assert(e->op == ASSAY_OP_POW2);
        return exact_encode(
            run, f, mpfr_set_si_2exp(v, 1, exact_signed(e->arg[0]->type, args[0].bits), MPFR_RNDZ));
    }
}

uint64_t exact_float_op(exact_run *run, const assay_expr *e, const exact_operand *args)
{
    uint64_t a = args[0].bits;
    const assay_format *from = args[0].format;
    uint64_t sign = from ? assay_format_sign_bit(from) : 0;
    switch (e->op) {
    case ASSAY_OP_WIDEN:
        return widen(run, e->type.format, args[0]);
    case ASSAY_OP_NEG:
        return a ^ sign;
    case ASSAY_OP_ABS:
        return a & ~sign;
    case ASSAY_OP_SIGNBIT:
        return (a & sign) != 0;
    case ASSAY_OP_COPYSIGN: {
        bool negative = (args[1].bits & assay_format_sign_bit(args[1].format)) != 0;
        return (a & ~sign) | (negative ? sign : 0);
    }
    case ASSAY_OP_ISNAN:
        return exact_is_nan(from, a);
    case ASSAY_OP_ISINF:
        return assay_decode(from, a).class_ == ASSAY_CLASS_INFINITY;
    case ASSAY_OP_EXPONENT:
        return exponent(run, args[0]);
    case ASSAY_OP_FLUSH:
        return flush(run, e->type.format, a);
    case ASSAY_OP_CLAMP:
        return clamp(run, e->type.format, args);
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_FMA:
    case ASSAY_OP_SQRT:
        return arithmetic_op(run, e, args);
    default:
        return function(run, e, args);
    }
}
