/* After the statements: what nobody reads, numbers of nodes, where the bits of a NaN show. */
#include <string.h>

#include "recipe_check.h"

/* ---- liveness ---- */

/* Counts the values that an expression reads. */
static void each_value(const assay_expr *e, int *reads)
{
    if (e->op == ASSAY_OP_VALUE || e->op == ASSAY_OP_AT)
        reads[e->u.value]++;
    if (e->op == ASSAY_OP_ROTATE)
        reads[e->u.transform.table]++;
    for (int i = 0; i < e->argc; i++)
        each_value(e->arg[i], reads);
}

/* Keeps of a mark that came with a use what is still read. */
static bool keep_marked(checker *c, assay_statement *s, const int *reads)
{
    int kept = 0;
    for (int i = 0; i < s->marked_count; i++) {
        int v = s->marked[i];
        bool live = !c->facts[v].from_use || reads[v];
        if (live)
            s->marked[kept++] = v;
    }
    s->marked_count = kept;
    return kept > 0;
}

/* Backwards: every read of a value comes after it, so its count is final when it is reached. */
static void find_live(checker *c, bool *keep, int *reads)
{
    for (int i = c->p->statement_count - 1; i >= 0; i--) {
        assay_statement *s = &c->p->statements[i];
        if (s->kind == ASSAY_MARK)
            keep[i] = keep_marked(c, s, reads);
        else
            keep[i] = !c->facts[s->target].from_use || reads[s->target];
        if (keep[i])
            each_value(s->expr, reads);
    }
}

static void check_unused(checker *c, const int *reads)
{
    int first = -1;
    for (int v = 0; v < c->p->value_count; v++) {
        const value_facts *f = &c->facts[v];
        if (c->p->values[v].role == ASSAY_OUTPUT || f->from_use || reads[v])
            continue;
        if (first < 0 || f->at.line < c->facts[first].at.line)
            first = v;
    }
    if (first >= 0)
        check_fail(c, c->facts[first].at, "%s is not used", c->p->values[first].name);
}

static void renumber(assay_expr *e, const int *to)
{
    if (e->op == ASSAY_OP_VALUE || e->op == ASSAY_OP_AT)
        e->u.value = to[e->u.value];
    if (e->op == ASSAY_OP_ROTATE)
        e->u.transform.table = to[e->u.transform.table];
    for (int i = 0; i < e->argc; i++)
        renumber(e->arg[i], to);
}

static void drop(checker *c, const bool *keep, const int *reads, int *to)
{
    assay_program *p = c->p;
    int values = 0, statements = 0;
    for (int v = 0; v < p->value_count; v++) {
        to[v] = values;
        if (c->facts[v].from_use && !reads[v])
            continue;
        p->values[values] = p->values[v];
        c->facts[values++] = c->facts[v];
    }
    p->value_count = c->fact_count = values;
    for (int i = 0; i < p->statement_count; i++) {
        if (!keep[i])
            continue;
        assay_statement *s = &p->statements[statements];
        *s = p->statements[i];
        renumber(s->expr, to);
        for (int j = 0; j < s->marked_count; j++)
            s->marked[j] = to[s->marked[j]];
        if (s->kind == ASSAY_ASSIGN) {
            s->target = to[s->target];
            p->values[s->target].statement = statements;
        }
        statements++;
    }
    p->statement_count = statements;
    for (int i = 0; i < p->input_count; i++)
        p->inputs[i] = to[p->inputs[i]];
    for (int i = 0; i < p->output_count; i++)
        p->outputs[i] = to[p->outputs[i]];
    for (int v = 0; v < p->value_count; v++)
        if (p->values[v].feeds >= 0)
            p->values[v].feeds = to[p->values[v].feeds];
    if (p->main_input >= 0)
        p->main_input = to[p->main_input];
}

void check_live(checker *c)
{
    size_t values = (size_t)c->p->value_count + 1;
    size_t statements = (size_t)c->p->statement_count + 1;
    bool *keep = assay_arena_alloc(c->arena, sizeof *keep * statements);
    int *reads = assay_arena_alloc(c->arena, sizeof *reads * values);
    int *to = assay_arena_alloc(c->arena, sizeof *to * values);
    find_live(c, keep, reads);
    check_unused(c, reads);
    drop(c, keep, reads, to);
}

/* ---- numbers ---- */

static void number(assay_expr *e, int *ids, int *approxes)
{
    for (int i = 0; i < e->argc; i++)
        number(e->arg[i], ids, approxes);
    e->id = (*ids)++;
    if (e->op == ASSAY_OP_APPROX)
        e->u.approx.index = (*approxes)++;
}

void check_number_nodes(checker *c)
{
    assay_program *p = c->p;
    p->expr_count = p->approx_count = 0;
    for (int i = 0; i < p->statement_count; i++)
        number(p->statements[i].expr, &p->expr_count, &p->approx_count);
    for (int i = 0; i < p->require_count; i++)
        number(p->requires[i], &p->expr_count, &p->approx_count);
}

/* ---- NaN bits ---- */

/* Is the NaN of argument i seen in the bits of the node, given that the node's own are seen? */
static bool shows(const assay_expr *e, int i)
{
    switch (e->op) {
    case ASSAY_OP_BITS:
    case ASSAY_OP_SIGNBIT:
        return true;
    case ASSAY_OP_COPYSIGN:
        return i == 1 || e->nan_matters;
    case ASSAY_OP_CAST:
        return i == 0 && e->u.cast.nan_sign;
    case ASSAY_OP_IF:
        return i > 0 && e->nan_matters;
    case ASSAY_OP_NEG:
    case ASSAY_OP_ABS:
    case ASSAY_OP_FLUSH:
    case ASSAY_OP_APPROX:
    case ASSAY_OP_RED_MAX: /* of one value alone */
    case ASSAY_OP_RED_MIN:
        return e->nan_matters;
    default: /* everything else makes the canonical NaN, or none */
        return false;
    }
}

static void spread(assay_expr *e, bool matters, bool *values)
{
    e->nan_matters = matters && e->type.kind == ASSAY_T_FORMAT;
    if (e->op == ASSAY_OP_VALUE && e->nan_matters)
        values[e->u.value] = true;
    for (int i = 0; i < e->argc; i++)
        spread(e->arg[i], shows(e, i), values);
}

void check_nan_matters(checker *c)
{
    assay_program *p = c->p;
    bool *values = assay_arena_alloc(c->arena, (size_t)p->value_count + 1);
    for (int i = 0; i < p->output_count; i++)
        values[p->outputs[i]] = !p->values[p->outputs[i]].any_nan;
    for (int i = p->statement_count - 1; i >= 0; i--) {
        const assay_statement *s = &p->statements[i];
        spread(s->expr, s->kind == ASSAY_ASSIGN && values[s->target], values);
    }
}
