/* Program -> nodes: leaves, choices, and which file makes what of the rest. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_fast_lower.h"

bool fast_is_format(assay_type t, const char *name)
{
    return t.kind == ASSAY_T_FORMAT && !strcmp(t.format->name, name);
}

bool fast_is_f64(assay_type t)
{
    return fast_is_format(t, "f64");
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
int fast_operand(assay_fast *f, const assay_expr *e, int k, assay_tile context, int width)
{
    int node = fast_decode(f, fast_lower(f, e->arg[k], context), e->arg[k]->type);
    if (width == BITS_64 && !fast_is_f64(e->arg[k]->type))
        return fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, node);
    return node;
}

int fast_negate(assay_fast *f, int mask)
{
    return fast_unary_word(f, FAST_K_XOR_WORD_32, FAST_LANE_32, mask, UINT32_MAX);
}

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
        arg[k] = fast_to_lane(f, fast_lower(f, e->arg[k], context), e->arg[k]->type, FAST_LANE_64);
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
        return fast_negate(f, a);
    return fast_binary(f, e->op == ASSAY_OP_AND ? FAST_K_AND_32 : FAST_K_OR_32, FAST_LANE_32, a,
                       fast_lower(f, e->arg[1], context));
}

static int lower_bits(assay_fast *f, const assay_expr *e, assay_tile context)
{
    return fast_to_lane(f, fast_lower(f, e->arg[0], context), e->arg[0]->type, fast_lane(e->type));
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
    if (fast_is_f64(e->type) && !fast_is_f64(e->arg[0]->type))
        node = fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, node);
    if (!fast_is_f64(e->type) && !fast_is_format(e->type, "f32"))
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
        return fast_canonical(f, fast_lower_arithmetic(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_RINT:
        return fast_canonical(f, fast_lower_rint(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_EXP:
    case ASSAY_OP_EXP2:
    case ASSAY_OP_LOG2:
    case ASSAY_OP_LDEXP:
    case ASSAY_OP_POW2:
    case ASSAY_OP_FLUSH:
    case ASSAY_OP_CLAMP:
    case ASSAY_OP_RCP_APPROX:
        return fast_canonical(f, fast_lower_function(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_DIV_FULL:
        return fast_canonical(f, fast_lower_div_full(f, e, context), e->type.format, e->nan_matters);
    case ASSAY_OP_APPROX: /* the middle value */
        return fast_canonical(f, fast_lower(f, e->arg[0], context), e->type.format, e->nan_matters);
    case ASSAY_OP_NEG:
    case ASSAY_OP_ABS:
    case ASSAY_OP_COPYSIGN:
    case ASSAY_OP_SIGNBIT:
        return fast_lower_sign(f, e, context);
    case ASSAY_OP_ISNAN:
    case ASSAY_OP_ISINF:
    case ASSAY_OP_EXPONENT:
        return fast_lower_class(f, e, context);
    case ASSAY_OP_MIN:
    case ASSAY_OP_MAX:
        return fast_lower_select(f, e, context);
    case ASSAY_OP_IF:
        return lower_if(f, e, context);
    case ASSAY_OP_CAST:
        return fast_lower_cast(f, e, context);
    case ASSAY_OP_BITS:
        return lower_bits(f, e, context);
    case ASSAY_OP_CODE:
        return fast_lower_code(f, e, context);
    case ASSAY_OP_TO_U8:
    case ASSAY_OP_TO_U32:
    case ASSAY_OP_TO_I32:
    case ASSAY_OP_TO_U64:
        return fast_lower_to_integer(f, e, context);
    case ASSAY_OP_EQ:
    case ASSAY_OP_NE:
    case ASSAY_OP_LT:
    case ASSAY_OP_LE:
    case ASSAY_OP_GT:
    case ASSAY_OP_GE:
        return fast_lower_compare(f, e, context);
    case ASSAY_OP_AND:
    case ASSAY_OP_OR:
    case ASSAY_OP_NOT:
        return lower_logic(f, e, context);
    case ASSAY_OP_AT:
        return lower_gather(f, e, context);
    case ASSAY_OP_PHILOX:
        return fast_lower_philox(f, e, context);
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
        return fast_lower_integer(f, e, context);
    }
}
