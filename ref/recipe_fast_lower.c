/* Program -> nodes: each operation of the language as kernels. Casts, reductions and marks have
 * files of their own. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_fast.h"

enum { BITS_32, BITS_64, WIDTHS };

static bool is_format(assay_type t, const char *name)
{
    return t.kind == ASSAY_T_FORMAT && !strcmp(t.format->name, name);
}

static bool is_f64(assay_type t)
{
    return is_format(t, "f64");
}

uint8_t fast_lane(assay_type t)
{
    if (t.kind == ASSAY_T_BOOL)
        return FAST_LANE_32;
    switch (assay_type_storage(t)) {
    case 1:
        return FAST_LANE_8;
    case 2:
        return FAST_LANE_16;
    case 4:
        return FAST_LANE_32;
    default:
        return FAST_LANE_64;
    }
}

int fast_canonical(assay_fast *f, int node, const assay_format *format, bool wanted)
{
    if (!wanted)
        return node;
    if (!strcmp(format->name, "f64"))
        return fast_unary_word(f, FAST_K_CANON_64, FAST_LANE_64, node, assay_format_nan_code(format));
    assert(!strcmp(format->name, "f32"));
    return fast_unary_word(f, FAST_K_CANON_32, FAST_LANE_32, node, f->program->nan_code);
}

/* An operand as f32 or f64 (width), whatever format it has. */
static int operand(assay_fast *f, const assay_expr *e, int k, assay_tile context, int width)
{
    int node = fast_decode(f, fast_lower(f, e->arg[k], context), e->arg[k]->type);
    if (width == BITS_64 && !is_f64(e->arg[k]->type))
        return fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, node);
    return node;
}

/* ---- float arithmetic ---- */

typedef struct {
    assay_op op;
    fast_kernel_id plain[WIDTHS];
    fast_kernel soft[WIDTHS];
} arithmetic_row;

static const arithmetic_row arithmetic[] = {
    {ASSAY_OP_ADD, {FAST_K_ADD_32, FAST_K_ADD_64}, {fast_soft_add_32, fast_soft_add_64}},
    {ASSAY_OP_SUB, {FAST_K_SUB_32, FAST_K_SUB_64}, {fast_soft_sub_32, fast_soft_sub_64}},
    {ASSAY_OP_MUL, {FAST_K_MUL_32, FAST_K_MUL_64}, {fast_soft_mul_32, fast_soft_mul_64}},
    {ASSAY_OP_DIV, {FAST_K_DIV_32, FAST_K_DIV_64}, {fast_soft_div_32, fast_soft_div_64}},
    {ASSAY_OP_FMA, {FAST_K_FMA_32, FAST_K_FMA_64}, {fast_soft_fma_32, fast_soft_fma_64}},
    {ASSAY_OP_SQRT, {FAST_K_SQRT_32, FAST_K_SQRT_64}, {fast_soft_sqrt_32, fast_soft_sqrt_64}},
};

static int ftz_in_columns(assay_fast *f, const assay_expr *e, int *arg)
{
    if (e->op == ASSAY_OP_MUL)
        return fast_binary(f, FAST_K_FTZ_MUL_32, FAST_LANE_32, arg[0], arg[1]);
    if (e->op == ASSAY_OP_SUB)
        arg[1] = fast_unary_word(f, FAST_K_XOR_WORD_32, FAST_LANE_32, arg[1], 0x80000000);
    return fast_binary(f, FAST_K_FTZ_ADD_32, FAST_LANE_32, arg[0], arg[1]);
}

static int lower_arithmetic(assay_fast *f, const assay_expr *e, assay_tile context)
{
    const arithmetic_row *row = arithmetic;
    while (row->op != e->op)
        row++;
    int width = is_f64(e->type) ? BITS_64 : BITS_32, arg[3];
    uint8_t lane = width == BITS_64 ? FAST_LANE_64 : FAST_LANE_32;
    for (int k = 0; k < e->argc; k++)
        arg[k] = operand(f, e, k, context, width);
    bool even = e->u.arith.mode == ASSAY_EVEN, ftz = e->u.arith.ftz;
    fast_params params = fast_word(0);
    if (even && !ftz && e->op == ASSAY_OP_MUL && width == BITS_32)
        return fast_scale(f, arg[0], arg[1]);
    if (even && !ftz)
        return fast_compute(f, fast_kernel_for(f, row->plain[width]), lane, params, e->argc, arg);
    if (even && width == BITS_32 &&
        (e->op == ASSAY_OP_MUL || e->op == ASSAY_OP_ADD || e->op == ASSAY_OP_SUB))
        return ftz_in_columns(f, e, arg);
    params.word[0] = (uint64_t)e->u.arith.mode;
    params.word[1] = ftz;
    return fast_compute(f, row->soft[width], lane, params, e->argc, arg);
}

static int lower_rint(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id rint[WIDTHS][5] = {
        {FAST_K_RINT_EVEN_32, FAST_K_RINT_AWAY_32, FAST_K_RINT_ZERO_32, FAST_K_RINT_UP_32,
         FAST_K_RINT_DOWN_32},
        {FAST_K_RINT_EVEN_64, FAST_K_RINT_AWAY_64, FAST_K_RINT_ZERO_64, FAST_K_RINT_UP_64,
         FAST_K_RINT_DOWN_64}};
    int width = is_f64(e->type) ? BITS_64 : BITS_32, mode;
    switch (e->u.arith.mode) {
    case ASSAY_AWAY:
        mode = 1;
        break;
    case ASSAY_ZERO:
        mode = 2;
        break;
    case ASSAY_UP:
        mode = 3;
        break;
    case ASSAY_DOWN:
        mode = 4;
        break;
    default:
        assert(e->u.arith.mode == ASSAY_EVEN);
        mode = 0;
    }
    return fast_unary(f, rint[width][mode], width == BITS_64 ? FAST_LANE_64 : FAST_LANE_32,
                      operand(f, e, 0, context, width));
}

/* Operations with one kernel for each width. */
static int lower_function(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int width = is_f64(e->type) ? BITS_64 : BITS_32, arg[3];
    uint8_t lane = width == BITS_64 ? FAST_LANE_64 : FAST_LANE_32;
    for (int k = 0; k < e->argc; k++)
        arg[k] = e->arg[k]->type.kind == ASSAY_T_I32 ? fast_lower(f, e->arg[k], context)
                                                     : operand(f, e, k, context, width);
    fast_kernel k;
    switch (e->op) {
    case ASSAY_OP_EXP:
        k = width ? fast_exp_64 : fast_kernel_for(f, FAST_K_EXP_32);
        break;
    case ASSAY_OP_EXP2:
        k = width ? fast_exp2_64 : fast_exp2_32;
        break;
    case ASSAY_OP_LOG2:
        k = width ? fast_log2_64 : fast_kernel_for(f, FAST_K_LOG2_32);
        break;
    case ASSAY_OP_LDEXP:
        k = width ? fast_ldexp_64 : fast_kernel_for(f, FAST_K_LDEXP_32);
        break;
    case ASSAY_OP_POW2:
        k = fast_kernel_for(f, FAST_K_POW2_32);
        break;
    case ASSAY_OP_FLUSH:
        k = fast_kernel_for(f, width ? FAST_K_FLUSH_64 : FAST_K_FLUSH_32);
        break;
    case ASSAY_OP_CLAMP:
        k = fast_kernel_for(f, width ? FAST_K_CLAMP_64 : FAST_K_CLAMP_32);
        break;
    default:
        assert(e->op == ASSAY_OP_RCP_APPROX);
        k = fast_rcp_approx;
    }
    return fast_compute(f, k, lane, fast_word(0), e->argc, arg);
}

/* (a * s(b)) * rcp(b * s(b)): what depends on b alone is made on b's tiling. */
static int lower_div_full(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int a = operand(f, e, 0, context, BITS_32), b = operand(f, e, 1, context, BITS_32);
    int scale = fast_compute(f, fast_div_full_scale, FAST_LANE_32, fast_word(0), 1, &b);
    int inverse = fast_compute(f, fast_div_full_rcp, FAST_LANE_32, fast_word(0), 1, &b);
    return fast_scale(f, fast_scale(f, a, scale), inverse);
}

/* ---- signs, classes, comparisons ---- */

/* A format whose sign is moved in its own code; others are decoded first. */
static bool keeps_code(assay_type t)
{
    return is_format(t, "f32") || is_f64(t) || is_format(t, "f16") || is_format(t, "bf16");
}

static const fast_kernel_id flip[] = {0, FAST_K_XOR_WORD_16, FAST_K_XOR_WORD_32,
                                      FAST_K_XOR_WORD_64};
static const fast_kernel_id mask[] = {0, FAST_K_AND_WORD_16, FAST_K_AND_WORD_32,
                                      FAST_K_AND_WORD_64};
static const fast_kernel_id copy[] = {0, FAST_K_COPYSIGN_16, FAST_K_COPYSIGN_32,
                                      FAST_K_COPYSIGN_64};
static const fast_kernel_id test[] = {0, FAST_K_TEST_16, FAST_K_TEST_32, FAST_K_TEST_64};

/* The sign bit of a value of any format, as a mask. */
static int sign_of(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int node = fast_lower(f, e, context);
    if (!keeps_code(e->type))
        node = fast_decode(f, node, e->type);
    uint8_t lane = keeps_code(e->type) ? fast_lane(e->type) : FAST_LANE_32;
    return fast_unary_word(f, test[lane], FAST_LANE_32, node, (uint64_t)1 << ((8u << lane) - 1));
}

static int copysign_across(assay_fast *f, const assay_expr *e, assay_tile context)
{
    uint8_t lane = fast_lane(e->type);
    uint64_t sign = (uint64_t)1 << ((8u << lane) - 1);
    int plus = fast_unary_word(f, mask[lane], lane, fast_lower(f, e->arg[0], context), sign - 1);
    int minus = fast_unary_word(f, flip[lane], lane, plus, sign);
    return fast_select(f, lane, sign_of(f, e->arg[1], context), minus, plus);
}

static int lower_sign(assay_fast *f, const assay_expr *e, assay_tile context)
{
    if (e->op == ASSAY_OP_COPYSIGN && !assay_type_equal(e->arg[0]->type, e->arg[1]->type))
        return copysign_across(f, e, context);
    bool own = keeps_code(e->arg[0]->type);
    uint8_t lane = own ? fast_lane(e->arg[0]->type) : FAST_LANE_32;
    int arg[2];
    for (int k = 0; k < e->argc; k++) {
        arg[k] = fast_lower(f, e->arg[k], context);
        if (!own)
            arg[k] = fast_decode(f, arg[k], e->arg[k]->type);
    }
    uint64_t sign = (uint64_t)1 << ((8u << lane) - 1);
    switch (e->op) {
    case ASSAY_OP_NEG:
        return fast_unary_word(f, flip[lane], lane, arg[0], sign);
    case ASSAY_OP_ABS:
        return fast_unary_word(f, mask[lane], lane, arg[0], sign - 1);
    case ASSAY_OP_COPYSIGN:
        return fast_binary(f, copy[lane], lane, arg[0], arg[1]);
    default:
        return sign_of(f, e->arg[0], context);
    }
}

static int lower_class(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id kernels[3][WIDTHS] = {
        {FAST_K_ISNAN_32, FAST_K_ISNAN_64},
        {FAST_K_ISINF_32, FAST_K_ISINF_64},
        {FAST_K_EXPONENT_32, FAST_K_EXPONENT_64}};
    int which = e->op == ASSAY_OP_ISNAN ? 0 : e->op == ASSAY_OP_ISINF ? 1 : 2;
    int width = is_f64(e->arg[0]->type) ? BITS_64 : BITS_32;
    return fast_unary(f, kernels[which][width], FAST_LANE_32, operand(f, e, 0, context, width));
}

static int negate_mask(assay_fast *f, int node)
{
    return fast_unary_word(f, FAST_K_XOR_WORD_32, FAST_LANE_32, node, UINT32_MAX);
}

static int compare_integers(assay_fast *f, const assay_expr *e, int a, int b)
{
    assay_type_kind kind = e->arg[0]->type.kind;
    bool wide = kind == ASSAY_T_U64, is_signed = kind == ASSAY_T_I32;
    fast_kernel_id less = wide ? FAST_K_LT_U64 : is_signed ? FAST_K_LT_I32 : FAST_K_LT_U32;
    fast_kernel_id at_most = wide ? FAST_K_LE_U64 : is_signed ? FAST_K_LE_I32 : FAST_K_LE_U32;
    fast_kernel_id same = wide ? FAST_K_EQ_64 : FAST_K_EQ_32;
    switch (e->op) {
    case ASSAY_OP_EQ:
        return fast_binary(f, same, FAST_LANE_32, a, b);
    case ASSAY_OP_NE:
        return negate_mask(f, fast_binary(f, same, FAST_LANE_32, a, b));
    case ASSAY_OP_LT:
        return fast_binary(f, less, FAST_LANE_32, a, b);
    case ASSAY_OP_LE:
        return fast_binary(f, at_most, FAST_LANE_32, a, b);
    case ASSAY_OP_GT:
        return fast_binary(f, less, FAST_LANE_32, b, a);
    default:
        return fast_binary(f, at_most, FAST_LANE_32, b, a);
    }
}

static int lower_compare(assay_fast *f, const assay_expr *e, assay_tile context)
{
    if (e->arg[0]->type.kind != ASSAY_T_FORMAT)
        return compare_integers(f, e, fast_lower(f, e->arg[0], context),
                                fast_lower(f, e->arg[1], context));
    int width = is_f64(e->arg[0]->type) || is_f64(e->arg[1]->type) ? BITS_64 : BITS_32;
    int a = operand(f, e, 0, context, width), b = operand(f, e, 1, context, width);
    switch (e->op) {
    case ASSAY_OP_EQ:
        return fast_binary(f, width ? FAST_K_EQ_F64 : FAST_K_EQ_F32, FAST_LANE_32, a, b);
    case ASSAY_OP_NE:
        return fast_binary(f, width ? FAST_K_NE_F64 : FAST_K_NE_F32, FAST_LANE_32, a, b);
    case ASSAY_OP_LT:
        return fast_binary(f, width ? FAST_K_LT_F64 : FAST_K_LT_F32, FAST_LANE_32, a, b);
    case ASSAY_OP_LE:
        return fast_binary(f, width ? FAST_K_LE_F64 : FAST_K_LE_F32, FAST_LANE_32, a, b);
    case ASSAY_OP_GT:
        return fast_binary(f, width ? FAST_K_LT_F64 : FAST_K_LT_F32, FAST_LANE_32, b, a);
    default:
        return fast_binary(f, width ? FAST_K_LE_F64 : FAST_K_LE_F32, FAST_LANE_32, b, a);
    }
}

/* min or max with a constant for which the plain comparison is right; -1 if there is none. */
static int select_constant(assay_fast *f, bool largest, const int *arg)
{
    for (int k = 0; k < 2; k++) {
        if (arg[0] < 0 || arg[1] < 0 || f->nodes[arg[k]].kind != FAST_CONSTANT)
            continue;
        uint64_t word = f->nodes[arg[k]].params.word[0];
        bool nan = (word & 0x7FFFFFFF) > 0x7F800000;
        if (!nan && word != (largest ? 0x80000000 : 0))
            return fast_unary_word(f, largest ? FAST_K_MAX_WORD_32 : FAST_K_MIN_WORD_32,
                                   FAST_LANE_32, arg[1 - k], word);
    }
    return -1;
}

/* min, max. Floats other than f32 and f64: chosen as f32, and back to the code, exactly. */
static int lower_select(assay_fast *f, const assay_expr *e, assay_tile context)
{
    bool largest = e->op == ASSAY_OP_MAX;
    if (e->type.kind != ASSAY_T_FORMAT) {
        fast_kernel_id k = e->type.kind == ASSAY_T_U64   ? largest ? FAST_K_MAX_U64 : FAST_K_MIN_U64
                           : e->type.kind == ASSAY_T_I32 ? largest ? FAST_K_MAX_I32 : FAST_K_MIN_I32
                           : largest                     ? FAST_K_MAX_U32
                                                         : FAST_K_MIN_U32;
        return fast_binary(f, k, fast_lane(e->type), fast_lower(f, e->arg[0], context),
                           fast_lower(f, e->arg[1], context));
    }
    int width = is_f64(e->type) ? BITS_64 : BITS_32;
    int arg[] = {operand(f, e, 0, context, width), operand(f, e, 1, context, width)};
    fast_kernel_id k = width ? largest ? FAST_K_MAX_64 : FAST_K_MIN_64
                             : largest ? FAST_K_MAX_32 : FAST_K_MIN_32;
    uint64_t nan = width ? assay_format_nan_code(e->type.format) : f->program->nan_code;
    int node = width ? -1 : select_constant(f, largest, arg);
    if (node < 0)
        node = fast_compute(f, fast_kernel_for(f, k), width ? FAST_LANE_64 : FAST_LANE_32,
                            fast_word(nan), 2, arg);
    if (width == BITS_64 || is_format(e->type, "f32"))
        return node;
    return fast_narrow(f, node, e->type.format);
}

/* ---- integers ---- */

typedef struct {
    assay_op op;
    fast_kernel_id u32, i32, u64;
} integer_row;

static const integer_row integers[] = {
    {ASSAY_OP_IADD, FAST_K_IADD_32, FAST_K_IADD_32, FAST_K_IADD_64},
    {ASSAY_OP_ISUB, FAST_K_ISUB_32, FAST_K_ISUB_32, FAST_K_ISUB_64},
    {ASSAY_OP_IMUL, FAST_K_IMUL_32, FAST_K_IMUL_32, FAST_K_IMUL_64},
    {ASSAY_OP_IDIV, FAST_K_IDIV_U32, FAST_K_IDIV_I32, FAST_K_IDIV_U64},
    {ASSAY_OP_IMOD, FAST_K_IMOD_U32, FAST_K_IMOD_I32, FAST_K_IMOD_U64},
    {ASSAY_OP_IAND, FAST_K_AND_32, FAST_K_AND_32, FAST_K_AND_64},
    {ASSAY_OP_IOR, FAST_K_OR_32, FAST_K_OR_32, FAST_K_OR_64},
    {ASSAY_OP_IXOR, FAST_K_XOR_32, FAST_K_XOR_32, FAST_K_XOR_64},
    {ASSAY_OP_SHL, FAST_K_SHL_32, FAST_K_SHL_32, FAST_K_SHL_64},
    {ASSAY_OP_SHR, FAST_K_SHR_U32, FAST_K_SHR_I32, FAST_K_SHR_U64},
};

static int to_lane(assay_fast *f, int node, assay_type from, uint8_t lane);

/* i32: the operand's negative values are moved up by `by` - 1 first, for division truncates. */
static int divide_signed(assay_fast *f, bool modulo, int a, uint32_t by)
{
    int sign = fast_binary(f, FAST_K_SHR_I32, FAST_LANE_32, a, fast_constant(f, FAST_LANE_32, 31));
    int shift = fast_constant(f, FAST_LANE_32, (uint64_t)__builtin_ctz(by));
    int up = fast_binary(f, FAST_K_IADD_32, FAST_LANE_32, a,
                         fast_unary_word(f, FAST_K_AND_WORD_32, FAST_LANE_32, sign, by - 1));
    if (!modulo)
        return fast_binary(f, FAST_K_SHR_I32, FAST_LANE_32, up, shift);
    return fast_binary(f, FAST_K_ISUB_32, FAST_LANE_32, a,
                       fast_unary_word(f, FAST_K_AND_WORD_32, FAST_LANE_32, up, ~(by - 1)));
}

/* Division by a constant power of two, as a shift and a mask; -1 if it is none. */
static int divide_by_power(assay_fast *f, const assay_expr *e, int a)
{
    uint64_t by = e->arg[1]->u.constant.bits;
    bool modulo = e->op == ASSAY_OP_IMOD;
    if (e->arg[1]->op != ASSAY_OP_CONST || by == 0 || (by & (by - 1)) != 0 ||
        (e->type.kind == ASSAY_T_I32 && by >= 0x80000000))
        return -1;
    if (e->type.kind == ASSAY_T_I32)
        return divide_signed(f, modulo, a, (uint32_t)by);
    bool wide = e->type.kind == ASSAY_T_U64;
    uint8_t lane = wide ? FAST_LANE_64 : FAST_LANE_32;
    if (modulo)
        return fast_unary_word(f, wide ? FAST_K_AND_WORD_64 : FAST_K_AND_WORD_32, lane, a, by - 1);
    if (wide)
        return fast_unary_word(f, FAST_K_SHR_WORD_64, lane, a, (uint64_t)__builtin_ctzll(by));
    return fast_binary(f, FAST_K_SHR_U32, lane, a,
                       fast_constant(f, lane, (uint64_t)__builtin_ctzll(by)));
}

static int lower_integer(assay_fast *f, const assay_expr *e, assay_tile context)
{
    uint8_t lane = fast_lane(e->type);
    int a = fast_lower(f, e->arg[0], context);
    if (e->op == ASSAY_OP_INEG)
        return fast_binary(f, lane == FAST_LANE_64 ? FAST_K_ISUB_64 : FAST_K_ISUB_32, lane,
                           fast_constant(f, lane, 0), a);
    if (e->op == ASSAY_OP_IDIV || e->op == ASSAY_OP_IMOD) {
        int easy = divide_by_power(f, e, a);
        if (easy >= 0)
            return easy;
    }
    int b = to_lane(f, fast_lower(f, e->arg[1], context), e->arg[1]->type, lane);
    const integer_row *row = integers;
    while (row->op != e->op)
        row++;
    fast_kernel_id k = e->type.kind == ASSAY_T_U64   ? row->u64
                       : e->type.kind == ASSAY_T_I32 ? row->i32
                                                     : row->u32;
    return fast_binary(f, k, lane, a, b);
}

/* Bits of an integer or a code in a wider or narrower lane (i32 grows with its sign). */
static int to_lane(assay_fast *f, int node, assay_type from, uint8_t lane)
{
    if (node < 0)
        return -1;
    uint8_t have = f->nodes[node].lane;
    if (have < FAST_LANE_32 && lane > have) {
        node = fast_unary(f, have == FAST_LANE_8 ? FAST_K_ZEXT_8_32 : FAST_K_ZEXT_16_32,
                          FAST_LANE_32, node);
        have = FAST_LANE_32;
    }
    if (lane == FAST_LANE_64 && have == FAST_LANE_32)
        return fast_unary(f, from.kind == ASSAY_T_I32 ? FAST_K_SEXT_32_64 : FAST_K_ZEXT_32_64,
                          FAST_LANE_64, node);
    if (have == FAST_LANE_64 && lane < FAST_LANE_64) {
        node = fast_unary(f, FAST_K_TRUNC_64_32, FAST_LANE_32, node);
        have = FAST_LANE_32;
    }
    if (have == FAST_LANE_32 && lane < FAST_LANE_32)
        return fast_unary(f, lane == FAST_LANE_8 ? FAST_K_TRUNC_32_8 : FAST_K_TRUNC_32_16, lane,
                          node);
    return node;
}

static int lower_to_integer(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id from_float[WIDTHS][3] = {
        {FAST_K_F32_TO_U32, FAST_K_F32_TO_I32, FAST_K_F32_TO_U64},
        {FAST_K_F64_TO_U32, FAST_K_F64_TO_I32, FAST_K_F64_TO_U64}};
    assay_type from = e->arg[0]->type;
    uint8_t lane = fast_lane(e->type);
    if (from.kind == ASSAY_T_FORMAT && e->op != ASSAY_OP_TO_U8) {
        int width = is_f64(from) ? BITS_64 : BITS_32;
        int to = e->op == ASSAY_OP_TO_U32 ? 0 : e->op == ASSAY_OP_TO_I32 ? 1 : 2;
        return fast_unary(f, from_float[width][to], lane, operand(f, e, 0, context, width));
    }
    int node = fast_lower(f, e->arg[0], context);
    if (from.kind == ASSAY_T_BOOL)
        node = fast_unary_word(f, FAST_K_AND_WORD_32, FAST_LANE_32, node, 1);
    return to_lane(f, node, from, lane);
}

static int lower_code(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id cut[] = {FAST_K_AND_WORD_8, FAST_K_AND_WORD_16, FAST_K_AND_WORD_32,
                                          FAST_K_AND_WORD_64};
    assay_type from = e->arg[0]->type;
    uint8_t lane = fast_lane(e->type);
    int width = assay_format_width(e->type.format);
    int node = to_lane(f, fast_lower(f, e->arg[0], context), from, lane);
    if (width == 8 << lane)
        return node;
    return fast_unary_word(f, cut[lane], lane, node, ((uint64_t)1 << width) - 1);
}

static int lower_philox(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int arg[4];
    for (int k = 0; k < 4; k++)
        arg[k] = to_lane(f, fast_lower(f, e->arg[k], context), e->arg[k]->type,
                         k < 3 ? FAST_LANE_64 : FAST_LANE_32);
    return fast_compute(f, fast_kernel_for(f, FAST_K_PHILOX), FAST_LANE_32, fast_word(0), 4, arg);
}

/* ---- leaves ---- */

/* A tile's row is the same along the row of tiles, its column down the column. */
static int coordinate(assay_fast *f, bool row, assay_tile context)
{
    fast_node n;
    memset(&n, 0, sizeof n);
    n.kind = FAST_COORDINATE;
    n.lane = FAST_LANE_64;
    n.tile = row ? (assay_tile){context.rows, 0} : (assay_tile){0, context.cols};
    n.global = n.tile.rows == 0;
    n.value = -1;
    n.kernel = fast_kernel_for(f, row ? FAST_K_ROW_64 : FAST_K_COL_64);
    return fast_add(f, &n);
}

/* M and K are known when a run begins; the run fills them in (word[0]: 1 for M, 2 for K). */
static int extent(assay_fast *f, assay_op op)
{
    fast_node n;
    memset(&n, 0, sizeof n);
    n.kind = FAST_CONSTANT;
    n.lane = FAST_LANE_64;
    n.global = true;
    n.value = -1;
    n.params.word[1] = op == ASSAY_OP_DIM_M ? 1 : 2;
    return fast_add(f, &n);
}

static int lower_index(assay_fast *f, assay_tile context)
{
    int start = fast_binary(f, FAST_K_IMUL_64, FAST_LANE_64, coordinate(f, true, context),
                            extent(f, ASSAY_OP_DIM_K));
    return fast_binary(f, FAST_K_IADD_64, FAST_LANE_64, start, coordinate(f, false, context));
}

static int lower_gather(assay_fast *f, const assay_expr *e, assay_tile context)
{
    const assay_value *v = &f->program->values[e->u.value];
    int arg[2];
    for (int k = 0; k < 2; k++)
        arg[k] = to_lane(f, fast_lower(f, e->arg[k], context), e->arg[k]->type, FAST_LANE_64);
    if (!v->is_table && v->tile.rows != 0)
        f->single_band = true;
    fast_node n;
    if (arg[0] < 0 || arg[1] < 0)
        return -1;
    memset(&n, 0, sizeof n);
    n.kind = FAST_GATHER;
    n.lane = v->type.kind == ASSAY_T_BOOL ? FAST_LANE_8 : fast_lane(v->type);
    n.tile = fast_common_tile(f->nodes[arg[0]].tile, f->nodes[arg[1]].tile);
    n.global = n.tile.rows == 0;
    n.value = e->u.value;
    n.kernel = fast_gather;
    n.argc = 2;
    for (int k = 0; k < 2; k++)
        n.arg[k] = fast_on_tile(f, arg[k], n.tile);
    int node = fast_add(f, &n);
    return v->type.kind == ASSAY_T_BOOL ? fast_unary(f, FAST_K_BYTE_TO_MASK, FAST_LANE_32, node)
                                        : node;
}

static int lower_if(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int condition = fast_lower(f, e->arg[0], context);
    int yes = fast_lower(f, e->arg[1], context), no = fast_lower(f, e->arg[2], context);
    return fast_select(f, fast_lane(e->type), condition, yes, no);
}

static int lower_logic(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int a = fast_lower(f, e->arg[0], context);
    if (e->op == ASSAY_OP_NOT)
        return negate_mask(f, a);
    return fast_binary(f, e->op == ASSAY_OP_AND ? FAST_K_AND_32 : FAST_K_OR_32, FAST_LANE_32, a,
                       fast_lower(f, e->arg[1], context));
}

static int lower_bits(assay_fast *f, const assay_expr *e, assay_tile context)
{
    return to_lane(f, fast_lower(f, e->arg[0], context), e->arg[0]->type, fast_lane(e->type));
}

static int lower_constant(assay_fast *f, const assay_expr *e)
{
    uint64_t bits = e->u.constant.bits;
    if (e->type.kind == ASSAY_T_BOOL)
        bits = bits ? UINT32_MAX : 0;
    return fast_constant(f, fast_lane(e->type), bits);
}

static int lower_widen(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int node = fast_lower(f, e->arg[0], context);
    if (assay_type_equal(e->arg[0]->type, e->type))
        return node;
    node = fast_decode(f, node, e->arg[0]->type);
    if (is_f64(e->type) && !is_f64(e->arg[0]->type))
        node = fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, node);
    if (!is_f64(e->type) && !is_format(e->type, "f32"))
        return fast_narrow(f, node, e->type.format);
    return fast_canonical(f, node, e->type.format, e->nan_matters);
}

int fast_lower(assay_fast *f, const assay_expr *e, assay_tile context)
{
    switch (e->op) {
    case ASSAY_OP_CONST:
        return lower_constant(f, e);
    case ASSAY_OP_VALUE:
        return f->value_node[e->u.value];
    case ASSAY_OP_ROW:
    case ASSAY_OP_COL:
        return coordinate(f, e->op == ASSAY_OP_ROW, context);
    case ASSAY_OP_INDEX:
        return lower_index(f, context);
    case ASSAY_OP_DIM_M:
    case ASSAY_OP_DIM_K:
        return extent(f, e->op);
    case ASSAY_OP_WIDEN:
        return lower_widen(f, e, context);
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_FMA:
    case ASSAY_OP_SQRT:
        return fast_canonical(f, lower_arithmetic(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_RINT:
        return fast_canonical(f, lower_rint(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_EXP:
    case ASSAY_OP_EXP2:
    case ASSAY_OP_LOG2:
    case ASSAY_OP_LDEXP:
    case ASSAY_OP_POW2:
    case ASSAY_OP_FLUSH:
    case ASSAY_OP_CLAMP:
    case ASSAY_OP_RCP_APPROX:
        return fast_canonical(f, lower_function(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_DIV_FULL:
        return fast_canonical(f, lower_div_full(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_APPROX: /* the middle value */
        return fast_canonical(f, fast_lower(f, e->arg[0], context), e->type.format, e->nan_matters);
    case ASSAY_OP_NEG:
    case ASSAY_OP_ABS:
    case ASSAY_OP_COPYSIGN:
    case ASSAY_OP_SIGNBIT:
        return lower_sign(f, e, context);
    case ASSAY_OP_ISNAN:
    case ASSAY_OP_ISINF:
    case ASSAY_OP_EXPONENT:
        return lower_class(f, e, context);
    case ASSAY_OP_MIN:
    case ASSAY_OP_MAX:
        return lower_select(f, e, context);
    case ASSAY_OP_IF:
        return lower_if(f, e, context);
    case ASSAY_OP_CAST:
        return fast_lower_cast(f, e, context);
    case ASSAY_OP_BITS:
        return lower_bits(f, e, context);
    case ASSAY_OP_CODE:
        return lower_code(f, e, context);
    case ASSAY_OP_TO_U8:
    case ASSAY_OP_TO_U32:
    case ASSAY_OP_TO_I32:
    case ASSAY_OP_TO_U64:
        return lower_to_integer(f, e, context);
    case ASSAY_OP_EQ:
    case ASSAY_OP_NE:
    case ASSAY_OP_LT:
    case ASSAY_OP_LE:
    case ASSAY_OP_GT:
    case ASSAY_OP_GE:
        return lower_compare(f, e, context);
    case ASSAY_OP_AND:
    case ASSAY_OP_OR:
    case ASSAY_OP_NOT:
        return lower_logic(f, e, context);
    case ASSAY_OP_AT:
        return lower_gather(f, e, context);
    case ASSAY_OP_PHILOX:
        return lower_philox(f, e, context);
    case ASSAY_OP_HADAMARD:
    case ASSAY_OP_ROTATE:
        return fast_lower_transform(f, e, context);
    case ASSAY_OP_RED_AMAX:
    case ASSAY_OP_RED_AMAX_NAN:
    case ASSAY_OP_RED_MAX:
    case ASSAY_OP_RED_MIN:
    case ASSAY_OP_RED_ANY:
    case ASSAY_OP_RED_ALL:
    case ASSAY_OP_RED_COUNT:
    case ASSAY_OP_RED_SUM:
    case ASSAY_OP_RED_DOT:
        return fast_lower_reduce(f, e, context);
    default:
        return lower_integer(f, e, context);
    }
}
