/* Marks "not judged" (LANGUAGE.md 11) as boolean nodes; and the program as a whole. */
#include <stdlib.h>

#include "recipe_fast.h"

static int either(assay_fast *f, int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return fast_binary(f, FAST_K_OR_32, FAST_LANE_32, a, b);
}

/* Through the condition, and the branch taken. */
static int mark_of_if(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int yes = fast_mark(f, e->arg[1], context), no = fast_mark(f, e->arg[2], context);
    int taken = -1;
    if (yes >= 0 || no >= 0) {
        int never = fast_constant(f, FAST_LANE_32, 0);
        taken = fast_select(f, FAST_LANE_32, fast_lower(f, e->arg[0], context),
                            yes < 0 ? never : yes, no < 0 ? never : no);
    }
    return either(f, fast_mark(f, e->arg[0], context), taken);
}

static int mark_of_arguments(assay_fast *f, const assay_expr *e, assay_tile context)
{
    int mark = -1;
    for (int k = 0; k < e->argc; k++)
        mark = either(f, mark, fast_mark(f, e->arg[k], context));
    return mark;
}

int fast_mark(assay_fast *f, const assay_expr *e, assay_tile context)
{
    static const assay_tile element = {1, 1};
    switch (e->op) {
    case ASSAY_OP_VALUE:
        return either(f, f->value_mark[e->u.value], f->pending_mark[e->u.value]);
    case ASSAY_OP_IF:
        return mark_of_if(f, e, context);
    case ASSAY_OP_HADAMARD:
    case ASSAY_OP_ROTATE: {
        int mark = fast_mark(f, e->arg[0], element);
        if (mark < 0)
            return -1;
        mark = fast_reduce_any(f, mark, element, e->u.transform.run);
        return mark;
    }
    case ASSAY_OP_RED_AMAX:
    case ASSAY_OP_RED_AMAX_NAN:
    case ASSAY_OP_RED_MAX:
    case ASSAY_OP_RED_MIN:
    case ASSAY_OP_RED_ANY:
    case ASSAY_OP_RED_ALL:
    case ASSAY_OP_RED_COUNT:
    case ASSAY_OP_RED_SUM:
    case ASSAY_OP_RED_DOT: {
        int mark = mark_of_arguments(f, e, e->u.reduce.over);
        return mark < 0 ? -1 : fast_reduce_any(f, mark, e->u.reduce.over, context);
    }
    default:
        return mark_of_arguments(f, e, context);
    }
}

static void lower_statement(assay_fast *f, const assay_statement *s)
{
    if (s->kind == ASSAY_ASSIGN) {
        f->value_node[s->target] = fast_lower(f, s->expr, s->tile);
        f->value_mark[s->target] = fast_mark(f, s->expr, s->tile);
        return;
    }
    int condition = fast_lower(f, s->expr, s->tile);
    for (int i = 0; i < s->marked_count; i++) {
        int *mark = &f->pending_mark[s->marked[i]];
        *mark = either(f, *mark, condition);
    }
}

/* An output's codes and marks on the output's own tiling, in the lanes of its grid. */
static fast_output lower_output(assay_fast *f, int value)
{
    const assay_value *v = &f->program->values[value];
    fast_output o = {.value = value, .mark = -1};
    o.node = f->value_node[value];
    if (v->type.kind == ASSAY_T_BOOL)
        o.node = fast_unary(f, FAST_K_MASK_TO_8, FAST_LANE_8, o.node);
    o.node = fast_on_tile(f, o.node, v->tile);
    int mark = either(f, f->value_mark[value], f->pending_mark[value]);
    if (mark >= 0)
        o.mark = fast_on_tile(f, fast_unary(f, FAST_K_MASK_TO_8, FAST_LANE_8, mark), v->tile);
    return o;
}

int fast_lower_program(assay_fast *f, assay_error *error)
{
    const assay_program *p = f->program;
    size_t n = (size_t)p->value_count + 1;
    f->value_node = malloc(n * sizeof(int));
    f->value_mark = malloc(n * sizeof(int));
    f->pending_mark = malloc(n * sizeof(int));
    f->outputs = calloc((size_t)p->output_count + 1, sizeof *f->outputs);
    if (!f->value_node || !f->value_mark || !f->pending_mark || !f->outputs)
        return assay_fail(error, "out of memory for the fast evaluator of %s", p->name);
    for (int v = 0; v < p->value_count; v++) {
        bool loaded = p->values[v].role == ASSAY_INPUT && !p->values[v].is_table;
        f->value_mark[v] = f->pending_mark[v] = -1;
        f->value_node[v] = loaded ? fast_load(f, v) : -1;
    }
    for (int s = 0; s < p->statement_count; s++)
        lower_statement(f, &p->statements[s]);
    f->output_count = p->output_count;
    for (int o = 0; o < p->output_count; o++)
        f->outputs[o] = lower_output(f, p->outputs[o]);
    if (f->out_of_memory)
        return assay_fail(error, "out of memory for the fast evaluator of %s", p->name);
    return 0;
}
