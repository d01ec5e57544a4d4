/* The shapes that a contract admits: its requires, evaluated on M and K. */
#include "recipe_check.h"

static uint64_t value(const assay_expr *e, uint64_t m, uint64_t k)
{
    uint64_t a = e->argc > 0 && e->op != ASSAY_OP_IF ? value(e->arg[0], m, k) : 0;
    uint64_t b = e->argc > 1 && e->op != ASSAY_OP_IF ? value(e->arg[1], m, k) : 0;
    switch (e->op) {
    case ASSAY_OP_CONST:
        return e->u.constant.bits;
    case ASSAY_OP_DIM_M:
        return m;
    case ASSAY_OP_DIM_K:
        return k;
    case ASSAY_OP_TO_U64:
        return a;
    case ASSAY_OP_IADD:
        return a + b;
    case ASSAY_OP_ISUB:
        return a - b;
    case ASSAY_OP_IMUL:
        return a * b;
    case ASSAY_OP_IDIV:
        return b ? a / b : 0;
    case ASSAY_OP_IMOD:
        return b ? a % b : 0;
    case ASSAY_OP_INEG:
        return 0 - a;
    case ASSAY_OP_IAND:
        return a & b;
    case ASSAY_OP_IOR:
        return a | b;
    case ASSAY_OP_IXOR:
        return a ^ b;
    case ASSAY_OP_SHL:
        return b < 64 ? a << b : 0;
    case ASSAY_OP_SHR:
        return b < 64 ? a >> b : 0;
    case ASSAY_OP_MIN:
        return a < b ? a : b;
    case ASSAY_OP_MAX:
        return a > b ? a : b;
    case ASSAY_OP_EQ:
        return a == b;
    case ASSAY_OP_NE:
        return a != b;
    case ASSAY_OP_LT:
        return a < b;
    case ASSAY_OP_LE:
        return a <= b;
    case ASSAY_OP_GT:
        return a > b;
    case ASSAY_OP_GE:
        return a >= b;
    case ASSAY_OP_AND:
        return a && b;
    case ASSAY_OP_OR:
        return a || b;
    case ASSAY_OP_NOT:
        return !a;
    case ASSAY_OP_IF:
        return value(e->arg[value(e->arg[0], m, k) ? 1 : 2], m, k);
    default: /* check_requires admits nothing else */
        return 0;
    }
}

/* May this node stand in a require: u64 and bool, without the tensor's values? */
bool recipe_shape_node(const assay_expr *e)
{
    bool type = e->type.kind == ASSAY_T_U64 || e->type.kind == ASSAY_T_BOOL;
    bool op = e->op == ASSAY_OP_CONST || e->op == ASSAY_OP_DIM_M || e->op == ASSAY_OP_DIM_K ||
              e->op == ASSAY_OP_MIN || e->op == ASSAY_OP_MAX || e->op == ASSAY_OP_IF ||
              e->op == ASSAY_OP_TO_U64 || (e->op >= ASSAY_OP_IADD && e->op <= ASSAY_OP_NOT);
    for (int i = 0; i < e->argc; i++)
        op = op && recipe_shape_node(e->arg[i]);
    return type && op;
}

bool assay_program_admits(const assay_program *p, int64_t m, int64_t k, const char **why)
{
    const program_memory *memory = p->arena;
    for (int i = 0; i < p->require_count; i++) {
        if (value(p->requires[i], (uint64_t)m, (uint64_t)k))
            continue;
        if (why)
            *why = memory && memory->require_text ? memory->require_text[i] : "a require line";
        return false;
    }
    return true;
}
