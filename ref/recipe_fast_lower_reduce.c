/* Reductions and transforms. */
#include <assert.h>
#include <string.h>

#include "recipe_fast.h"

static bool is(assay_type t, const char *name)
{
    return t.kind == ASSAY_T_FORMAT && !strcmp(t.format->name, name);
}

/* A reduction over `over` in tiles of `tile`. combine: joins partial results in any order; none: the
 * operands must be seen together, so local ones are collected before a global reduction. */
static int reduce(assay_fast *f, fast_kernel kernel, fast_kernel combine, uint8_t lane,
                  fast_params params, assay_tile over, assay_tile tile, int argc, const int *arg)
{
    fast_node n;
    memset(&n, 0, sizeof n);
    n.kind = FAST_REDUCE;
    n.lane = lane;
    n.tile = tile;
    n.global = tile.rows == 0;
    n.kernel = kernel;
    n.params = params;
    n.value = -1;
    n.argc = argc;
    for (int k = 0; k < argc; k++) {
        int a = fast_on_tile(f, arg[k], over);
        if (a < 0)
            return -1;
        if (n.global && over.rows != 0 && !combine) {
            fast_node collect;
            memset(&collect, 0, sizeof collect);
            collect.kind = FAST_COLLECT;
            collect.lane = f->nodes[a].lane;
            collect.tile = over;
            collect.global = true;
            collect.value = -1;
            collect.argc = 1;
            collect.arg[0] = a;
            a = fast_add(f, &collect);
        }
        n.arg[k] = a;
    }
    if (n.global && over.rows != 0)
        n.combine = combine;
    return fast_add(f, &n);
}

static int simple(assay_fast *f, fast_kernel_id kernel, fast_kernel_id combine, uint8_t lane,
                  uint64_t word, assay_tile over, assay_tile tile, int arg)
{
    return reduce(f, fast_kernel_for(f, kernel), fast_kernel_for(f, combine), lane, fast_word(word), over,
                  tile, 1, &arg);
}

int fast_reduce_any(assay_fast *f, int node, assay_tile over, assay_tile tile)
{
    return simple(f, FAST_K_FOLD_ANY, FAST_K_OR_32, FAST_LANE_32, 0, over, tile, node);
}

/* Magnitude bits of f16, bf16, f32 or f64 as integers. */
static int lower_amax(assay_fast *f, const assay_expr *e, assay_tile tile, int arg)
{
    assay_tile over = e->u.reduce.over;
    bool nan_wins = e->op == ASSAY_OP_RED_AMAX_NAN;
    if (is(e->type, "f64")) {
        int node = simple(f, nan_wins ? FAST_K_AMAX_NAN_64 : FAST_K_AMAX_64, FAST_K_MAX_U64,
                          FAST_LANE_64, 0, over, tile, arg);
        return fast_canonical(f, node, e->type.format, nan_wins);
    }
    if (is(e->type, "f32")) {
        int node = simple(f, nan_wins ? FAST_K_AMAX_NAN_32 : FAST_K_AMAX_32, FAST_K_MAX_U32,
                          FAST_LANE_32, 0, over, tile, arg);
        return fast_canonical(f, node, e->type.format, nan_wins);
    }
    assert(is(e->type, "f16") || is(e->type, "bf16"));
    uint64_t infinity = assay_format_inf_code(e->type.format, false);
    int node = simple(f, nan_wins ? FAST_K_AMAX_NAN_16 : FAST_K_AMAX_16, FAST_K_MAX_U16,
                      FAST_LANE_16, nan_wins ? 0 : infinity, over, tile, arg);
    if (!nan_wins)
        return node;
    int wide = fast_unary(f, FAST_K_ZEXT_16_32, FAST_LANE_32, node);
    int is_nan = fast_binary(f, FAST_K_LT_U32, FAST_LANE_32,
                             fast_constant(f, FAST_LANE_32, infinity), wide);
    int nan = fast_constant(f, FAST_LANE_16, assay_format_nan_code(e->type.format));
    return fast_select(f, FAST_LANE_16, is_nan, nan, node);
}

/* The fold starts from the value that loses to every other: a NaN, the least, the greatest. */
static int lower_fold(assay_fast *f, const assay_expr *e, assay_tile tile, int arg)
{
    assay_tile over = e->u.reduce.over;
    bool max = e->op == ASSAY_OP_RED_MAX;
    switch (e->type.kind) {
    case ASSAY_T_U64:
        return max ? simple(f, FAST_K_FOLD_MAX_U64, FAST_K_MAX_U64, FAST_LANE_64, 0, over, tile, arg)
                   : simple(f, FAST_K_FOLD_MIN_U64, FAST_K_MIN_U64, FAST_LANE_64, UINT64_MAX, over,
                            tile, arg);
    case ASSAY_T_I32:
        return max ? simple(f, FAST_K_FOLD_MAX_I32, FAST_K_MAX_I32, FAST_LANE_32, 0x80000000, over,
                            tile, arg)
                   : simple(f, FAST_K_FOLD_MIN_I32, FAST_K_MIN_I32, FAST_LANE_32, 0x7FFFFFFF, over,
                            tile, arg);
    case ASSAY_T_U32:
        return max ? simple(f, FAST_K_FOLD_MAX_U32, FAST_K_MAX_U32, FAST_LANE_32, 0, over, tile, arg)
                   : simple(f, FAST_K_FOLD_MIN_U32, FAST_K_MIN_U32, FAST_LANE_32, UINT32_MAX, over,
                            tile, arg);
    default:
        break;
    }
    if (is(e->type, "f64"))
        return simple(f, max ? FAST_K_FOLD_MAX_F64 : FAST_K_FOLD_MIN_F64,
                      max ? FAST_K_MAX_64 : FAST_K_MIN_64, FAST_LANE_64,
                      assay_format_nan_code(e->type.format), over, tile, arg);
    int node = simple(f, max ? FAST_K_FOLD_MAX_F32 : FAST_K_FOLD_MIN_F32,
                      max ? FAST_K_MAX_32 : FAST_K_MIN_32, FAST_LANE_32, f->program->nan_code, over,
                      tile, arg);
    return is(e->type, "f32") ? node : fast_narrow(f, node, e->type.format);
}

static int lower_sum(assay_fast *f, const assay_expr *e, assay_tile tile, int argc, const int *arg)
{
    bool wide = is(e->type, "f64"), dot = e->op == ASSAY_OP_RED_DOT;
    fast_kernel k;
    switch (e->u.reduce.order) {
    case ASSAY_SUM_SEQ:
        k = fast_kernel_for(f, dot ? wide ? FAST_K_FOLD_DOT_64 : FAST_K_FOLD_DOT_32
                            : wide ? FAST_K_FOLD_SEQ_64 : FAST_K_FOLD_SEQ_32);
        break;
    case ASSAY_SUM_TREE:
        k = wide ? fast_sum_tree_64 : fast_sum_tree_32;
        break;
    case ASSAY_SUM_PAIRS:
        k = wide ? fast_sum_pairs_64 : fast_sum_pairs_32;
        break;
    default:
        k = dot ? wide ? fast_dot_exact_64 : fast_dot_exact_32
            : wide ? fast_sum_exact_64 : fast_sum_exact_32;
    }
    int node = reduce(f, k, NULL, wide ? FAST_LANE_64 : FAST_LANE_32, fast_word(0),
                      e->u.reduce.over, tile, argc, arg);
    return fast_canonical(f, node, e->type.format, e->nan_matters);
}

int fast_lower_reduce(assay_fast *f, const assay_expr *e, assay_tile context)
{
    assay_tile over = e->u.reduce.over;
    bool amax16 = (e->op == ASSAY_OP_RED_AMAX || e->op == ASSAY_OP_RED_AMAX_NAN) &&
                  (is(e->type, "f16") || is(e->type, "bf16"));
    int arg[2] = {-1, -1};
    for (int k = 0; k < e->argc; k++) {
        assay_type t = e->arg[k]->type;
        arg[k] = fast_lower(f, e->arg[k], over);
        if (t.kind == ASSAY_T_FORMAT && !amax16)
            arg[k] = fast_decode(f, arg[k], t);
        if (is(e->type, "f64") && t.kind == ASSAY_T_FORMAT && !is(t, "f64"))
            arg[k] = fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, arg[k]);
    }
    switch (e->op) {
    case ASSAY_OP_RED_AMAX:
    case ASSAY_OP_RED_AMAX_NAN:
        return lower_amax(f, e, context, arg[0]);
    case ASSAY_OP_RED_MAX:
    case ASSAY_OP_RED_MIN:
        return lower_fold(f, e, context, arg[0]);
    case ASSAY_OP_RED_ANY:
        return fast_reduce_any(f, arg[0], over, context);
    case ASSAY_OP_RED_ALL:
        return simple(f, FAST_K_FOLD_ALL, FAST_K_AND_32, FAST_LANE_32, UINT32_MAX, over, context,
                      arg[0]);
    case ASSAY_OP_RED_COUNT:
        return simple(f, FAST_K_FOLD_COUNT, FAST_K_IADD_32, FAST_LANE_32, 0, over, context, arg[0]);
    default:
        return lower_sum(f, e, context, e->argc, arg);
    }
}

int fast_lower_transform(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const assay_tile element = {1, 1};
    bool rotate = e->op == ASSAY_OP_ROTATE;
    int arg = fast_lower(f, e->arg[0], element);
    arg = fast_on_tile(f, fast_decode(f, arg, e->arg[0]->type), element);
    fast_node n;
    if (arg < 0)
        return -1;
    assert(assay_tile_equal(context, element));
    (void)context;
    memset(&n, 0, sizeof n);
    n.kind = FAST_TRANSFORM;
    n.lane = FAST_LANE_32;
    n.tile = element;
    n.kernel = rotate ? fast_rotate_32 : fast_kernel_for(f, FAST_K_HADAMARD_32);
    n.run = e->u.transform.run;
    n.value = rotate ? e->u.transform.table : -1;
    n.params.word[0] = rotate ? 0 : e->u.transform.mask;
    if (rotate)
        n.params.word[3] = (uint64_t)(uintptr_t)f->program->values[n.value].type.format;
    n.argc = 1;
    n.arg[0] = arg;
    int node = fast_add(f, &n);
    return fast_canonical(f, node, e->type.format, e->nan_matters);
}
