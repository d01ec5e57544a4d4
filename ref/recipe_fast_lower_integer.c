/* Integers, conversions to them, codes. */
#include "recipe_fast_lower.h"

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

int fast_lower_integer(assay_fast *f, const assay_expr *e, assay_tile context)
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
    int b = fast_to_lane(f, fast_lower(f, e->arg[1], context), e->arg[1]->type, lane);
    const integer_row *row = integers;
    while (row->op != e->op)
        row++;
    fast_kernel_id k = e->type.kind == ASSAY_T_U64   ? row->u64
                       : e->type.kind == ASSAY_T_I32 ? row->i32
                                                     : row->u32;
    return fast_binary(f, k, lane, a, b);
}

/* Bits of an integer or a code in a wider or narrower lane (i32 grows with its sign). */
int fast_to_lane(assay_fast *f, int node, assay_type from, uint8_t lane)
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

int fast_lower_to_integer(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id from_float[WIDTHS][3] = {
        {FAST_K_F32_TO_U32, FAST_K_F32_TO_I32, FAST_K_F32_TO_U64},
        {FAST_K_F64_TO_U32, FAST_K_F64_TO_I32, FAST_K_F64_TO_U64}};
    assay_type from = e->arg[0]->type;
    uint8_t lane = fast_lane(e->type);
    if (from.kind == ASSAY_T_FORMAT && e->op != ASSAY_OP_TO_U8) {
        int width = fast_is_f64(from) ? BITS_64 : BITS_32;
        int to = e->op == ASSAY_OP_TO_U32 ? 0 : e->op == ASSAY_OP_TO_I32 ? 1 : 2;
        return fast_unary(f, from_float[width][to], lane, fast_operand(f, e, 0, context, width));
    }
    int node = fast_lower(f, e->arg[0], context);
    if (from.kind == ASSAY_T_BOOL)
        node = fast_unary_word(f, FAST_K_AND_WORD_32, FAST_LANE_32, node, 1);
    return fast_to_lane(f, node, from, lane);
}

int fast_lower_code(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id cut[] = {FAST_K_AND_WORD_8, FAST_K_AND_WORD_16, FAST_K_AND_WORD_32,
                                          FAST_K_AND_WORD_64};
    assay_type from = e->arg[0]->type;
    uint8_t lane = fast_lane(e->type);
    int width = assay_format_width(e->type.format);
    int node = fast_to_lane(f, fast_lower(f, e->arg[0], context), from, lane);
    if (width == 8 << lane)
        return node;
    return fast_unary_word(f, cut[lane], lane, node, ((uint64_t)1 << width) - 1);
}

int fast_lower_philox(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int arg[4];
    for (int k = 0; k < 4; k++)
        arg[k] = fast_to_lane(f, fast_lower(f, e->arg[k], context), e->arg[k]->type,
                         k < 3 ? FAST_LANE_64 : FAST_LANE_32);
    return fast_compute(f, fast_kernel_for(f, FAST_K_PHILOX), FAST_LANE_32, fast_word(0), 4, arg);
}
