/* Signs, classes, comparisons, min and max. */
#include "recipe_fast_lower.h"

/* A format whose sign is moved in its own code; others are decoded first. */
static bool keeps_code(assay_type t)
{
    return fast_is_format(t, "f32") || fast_is_f64(t) || fast_is_format(t, "f16") || fast_is_format(t, "bf16");
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

int fast_lower_sign(assay_fast *f, const assay_expr *e, assay_tile context)
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

int fast_lower_class(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id kernels[3][WIDTHS] = {
        {FAST_K_ISNAN_32, FAST_K_ISNAN_64},
        {FAST_K_ISINF_32, FAST_K_ISINF_64},
        {FAST_K_EXPONENT_32, FAST_K_EXPONENT_64}};
    int which = e->op == ASSAY_OP_ISNAN ? 0 : e->op == ASSAY_OP_ISINF ? 1 : 2;
    int width = fast_is_f64(e->arg[0]->type) ? BITS_64 : BITS_32;
    return fast_unary(f, kernels[which][width], FAST_LANE_32, fast_operand(f, e, 0, context, width));
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
        return fast_negate(f, fast_binary(f, same, FAST_LANE_32, a, b));
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

int fast_lower_compare(assay_fast *f, const assay_expr *e, assay_tile context)
{
    if (e->arg[0]->type.kind != ASSAY_T_FORMAT)
        return compare_integers(f, e, fast_lower(f, e->arg[0], context),
                                fast_lower(f, e->arg[1], context));
    int width = fast_is_f64(e->arg[0]->type) || fast_is_f64(e->arg[1]->type) ? BITS_64 : BITS_32;
    int a = fast_operand(f, e, 0, context, width), b = fast_operand(f, e, 1, context, width);
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
int fast_lower_select(assay_fast *f, const assay_expr *e, assay_tile context)
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
    int width = fast_is_f64(e->type) ? BITS_64 : BITS_32;
    int arg[] = {fast_operand(f, e, 0, context, width), fast_operand(f, e, 1, context, width)};
    fast_kernel_id k = width ? largest ? FAST_K_MAX_64 : FAST_K_MIN_64
                             : largest ? FAST_K_MAX_32 : FAST_K_MIN_32;
    uint64_t nan = width ? assay_format_nan_code(e->type.format) : f->program->nan_code;
    int node = width ? -1 : select_constant(f, largest, arg);
    if (node < 0)
        node = fast_compute(f, fast_kernel_for(f, k), width ? FAST_LANE_64 : FAST_LANE_32,
                            fast_word(nan), 2, arg);
    if (width == BITS_64 || fast_is_format(e->type, "f32"))
        return node;
    return fast_narrow(f, node, e->type.format);
}
