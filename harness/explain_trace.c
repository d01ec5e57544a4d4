/* Collects what the exact evaluator shows into steps. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

/* By node: how far inside a reduction or transform it stands. */
typedef enum { OUTSIDE, OPERAND, INSIDE } standing;

typedef struct {
    explain_trace *trace;
    unsigned char *standing; /* by expr id */
    uint64_t operands[EXPLAIN_OPERANDS];
    int64_t operand_count;
    mpfr_t low, high, gap;
} collector;

static bool gathers(assay_op op)
{
    return (op >= ASSAY_OP_RED_AMAX && op <= ASSAY_OP_RED_DOT) || op == ASSAY_OP_HADAMARD ||
           op == ASSAY_OP_ROTATE;
}

static void mark_standing(collector *c, const assay_expr *e, standing s)
{
    c->standing[e->id] = (unsigned char)s;
    standing below = s != OUTSIDE ? INSIDE : gathers(e->op) ? OPERAND : OUTSIDE;
    for (int k = 0; k < e->argc; k++)
        mark_standing(c, e->arg[k], below);
}

static void set_code(mpfr_ptr to, const assay_format *f, uint64_t code)
{
    assay_exact x;
    assay_exact_init(&x);
    assay_exact_set_code(&x, f, code);
    mpfr_set(to, x.v, MPFR_RNDZ);
    assay_exact_clear(&x);
}

/* Where the value before rounding lies between its two neighbours. */
static void place_between(collector *c, explain_step *s, const assay_exact *x)
{
    const assay_format *f = s->expr->type.format;
    set_code(c->low, f, s->below);
    set_code(c->high, f, s->above);
    mpfr_sub(c->gap, c->high, c->low, MPFR_RNDN);
    mpfr_sub(c->low, x->v, c->low, MPFR_RNDN);
    mpfr_div(c->low, c->low, c->gap, MPFR_RNDN);
    mpfr_snprintf(s->place, sizeof s->place, "%.9Rg", c->low);
}

static void see_rounding(collector *c, explain_step *s, const assay_exact *x)
{
    const assay_format *f = s->expr->type.format;
    s->rounds = x->class_ != ASSAY_EXACT_NAN;
    if (x->class_ != ASSAY_EXACT_FINITE)
        return;
    assay_cast cast = assay_cast_default(f);
    cast.overflow = ASSAY_SAT;
    assay_rounded nearest = assay_round(f, x, &cast, 0);
    cast.mode = ASSAY_DOWN;
    s->below = assay_round(f, x, &cast, 0).code;
    cast.mode = ASSAY_UP;
    s->above = assay_round(f, x, &cast, 0).code;
    s->inexact = nearest.inexact;
    s->tie = nearest.tie;
    s->beyond = s->inexact && s->below == s->above;
    if (!s->inexact)
        return;
    mpfr_snprintf(s->exact, sizeof s->exact, "%.15Rg", x->v);
    if (!s->beyond)
        place_between(c, s, x);
}

static explain_step *add_step(explain_trace *t)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        explain_step *grown = realloc(t->steps, capacity * sizeof *grown);
        if (!grown) {
            t->no_memory = true;
            return NULL;
        }
        t->steps = grown;
        t->capacity = capacity;
    }
    return &t->steps[t->count++];
}

static void take_operands(collector *c, explain_step *s)
{
    int64_t kept = c->operand_count < EXPLAIN_OPERANDS ? c->operand_count : EXPLAIN_OPERANDS;
    s->operand_count = c->operand_count;
    s->operands = malloc((size_t)kept * sizeof *s->operands + 1);
    if (s->operands)
        memcpy(s->operands, c->operands, (size_t)kept * sizeof *s->operands);
    else
        c->trace->no_memory = true;
    c->operand_count = 0;
}

static void see(void *context, const assay_seen *seen)
{
    collector *c = context;
    standing s = c->standing[seen->expr->id];
    if (s == OPERAND) {
        if (c->operand_count < EXPLAIN_OPERANDS)
            c->operands[c->operand_count] = seen->bits;
        c->operand_count++;
    }
    if (s != OUTSIDE || c->trace->no_memory)
        return;
    explain_step *step = add_step(c->trace);
    if (!step)
        return;
    *step = (explain_step){.statement = seen->statement,
                           .expr = seen->expr,
                           .row = seen->tile_row,
                           .col = seen->tile_col,
                           .root = seen->depth == 0,
                           .marked = seen->marked,
                           .bits = seen->bits};
    if (seen->exact)
        see_rounding(c, step, seen->exact);
    if (gathers(seen->expr->op))
        take_operands(c, step);
}

int explain_collect(const explain_request *r, explain_trace *trace, assay_error *error)
{
    const assay_program *p = r->program;
    *trace = (explain_trace){0};
    collector c = {.trace = trace, .standing = calloc((size_t)p->expr_count + 1, 1)};
    if (!c.standing)
        return assay_fail(error, "out of memory");
    mpfr_inits2(2 * ASSAY_EXACT_PRECISION, c.low, c.high, c.gap, (mpfr_ptr)NULL);
    for (int s = 0; s < p->statement_count; s++)
        mark_standing(&c, p->statements[s].expr, OUTSIDE);
    int status = assay_exact_explain_region(p, r->m, r->k, r->inputs, r->row, r->col, r->rows,
                                            r->cols, see, &c, error);
    if (status == 0 && trace->no_memory)
        status = assay_fail(error, "out of memory");
    mpfr_clears(c.low, c.high, c.gap, (mpfr_ptr)NULL);
    free(c.standing);
    if (status)
        explain_trace_free(trace);
    return status;
}

void explain_trace_free(explain_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        free(trace->steps[i].operands);
    free(trace->steps);
    *trace = (explain_trace){0};
}

void explain_value_text(assay_type type, uint64_t bits, explain_value *v)
{
    *v = (explain_value){{0}, {0}, {0}};
    int digits = 2 * assay_type_storage(type);
    switch (type.kind) {
    case ASSAY_T_FORMAT:
        value_decimal(type.format, bits, v->decimal, sizeof v->decimal);
        value_hex(type.format, bits, v->hex, sizeof v->hex);
        value_bits(type.format, bits, v->bits, sizeof v->bits);
        return;
    case ASSAY_T_BOOL:
        snprintf(v->decimal, sizeof v->decimal, "%s", bits ? "true" : "false");
        return;
    case ASSAY_T_I32:
        snprintf(v->decimal, sizeof v->decimal, "%" PRId32, (int32_t)(uint32_t)bits);
        break;
    default:
        snprintf(v->decimal, sizeof v->decimal, "%" PRIu64, bits);
    }
    snprintf(v->bits, sizeof v->bits, "0x%0*" PRIx64, digits, bits);
}

void explain_section(assay_tile tile, char *buffer, size_t size)
{
    if (tile.rows == 1 && tile.cols == 1)
        snprintf(buffer, size, "element");
    else if (!tile.rows && !tile.cols)
        snprintf(buffer, size, "tensor");
    else if (tile.rows == 1 && !tile.cols)
        snprintf(buffer, size, "row");
    else if (!tile.rows && tile.cols == 1)
        snprintf(buffer, size, "column");
    else
        snprintf(buffer, size, "block %" PRId64 "x%" PRId64, tile.rows, tile.cols);
}
