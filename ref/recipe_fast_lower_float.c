/* Float arithmetic and functions. */
#include <assert.h>

#include "recipe_fast_lower.h"

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

int fast_lower_arithmetic(assay_fast *f, const assay_expr *e, assay_tile context)
{
    const arithmetic_row *row = arithmetic;
    while (row->op != e->op)
        row++;
    int width = fast_is_f64(e->type) ? BITS_64 : BITS_32, arg[3];
    uint8_t lane = width == BITS_64 ? FAST_LANE_64 : FAST_LANE_32;
    for (int k = 0; k < e->argc; k++)
        arg[k] = fast_operand(f, e, k, context, width);
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

int fast_lower_rint(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const fast_kernel_id rint[WIDTHS][5] = {
        {FAST_K_RINT_EVEN_32, FAST_K_RINT_AWAY_32, FAST_K_RINT_ZERO_32, FAST_K_RINT_UP_32,
         FAST_K_RINT_DOWN_32},
        {FAST_K_RINT_EVEN_64, FAST_K_RINT_AWAY_64, FAST_K_RINT_ZERO_64, FAST_K_RINT_UP_64,
         FAST_K_RINT_DOWN_64}};
    int width = fast_is_f64(e->type) ? BITS_64 : BITS_32, mode;
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
                      fast_operand(f, e, 0, context, width));
}

/* Operations with one kernel for each width. */
int fast_lower_function(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int width = fast_is_f64(e->type) ? BITS_64 : BITS_32, arg[3];
    uint8_t lane = width == BITS_64 ? FAST_LANE_64 : FAST_LANE_32;
    for (int k = 0; k < e->argc; k++)
        arg[k] = e->arg[k]->type.kind == ASSAY_T_I32 ? fast_lower(f, e->arg[k], context)
                                                     : fast_operand(f, e, k, context, width);
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
int fast_lower_div_full(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int a = fast_operand(f, e, 0, context, BITS_32), b = fast_operand(f, e, 1, context, BITS_32);
    int scale = fast_compute(f, fast_div_full_scale, FAST_LANE_32, fast_word(0), 1, &b);
    int inverse = fast_compute(f, fast_div_full_rcp, FAST_LANE_32, fast_word(0), 1, &b);
    return fast_scale(f, fast_scale(f, a, scale), inverse);
}
