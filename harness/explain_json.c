/* The steps as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

/* Floats three ways; integers as numbers, or strings where a double cannot hold them. */
static json_t *value_of(assay_type type, uint64_t bits)
{
    switch (type.kind) {
    case ASSAY_T_FORMAT:
        return json_value(type.format, bits);
    case ASSAY_T_BOOL:
        return json_boolean(bits != 0);
    case ASSAY_T_I32:
        return json_integer((int32_t)(uint32_t)bits);
    default:
        if (bits <= UINT64_C(1) << 53)
            return json_integer((json_int_t)bits);
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, bits);
        return json_string(text);
    }
}

static void add_rounding(json_t *step, const explain_step *s)
{
    json_object_set_new(step, "inexact", json_boolean(s->inexact));
    if (!s->inexact)
        return;
    json_object_set_new(step, "exact", json_string(s->exact));
    json_object_set_new(step, "tie", json_boolean(s->tie));
    json_object_set_new(step, "below", value_of(s->expr->type, s->below));
    if (s->beyond) {
        json_object_set_new(step, "beyond", json_true());
        return;
    }
    json_object_set_new(step, "above", value_of(s->expr->type, s->above));
    json_object_set_new(step, "place", json_string(s->place));
}

static void add_operands(json_t *step, const explain_step *s)
{
    json_t *list = json_array();
    int64_t kept = s->operand_count < EXPLAIN_OPERANDS ? s->operand_count : EXPLAIN_OPERANDS;
    for (int64_t i = 0; i < kept; i++)
        json_array_append_new(list, value_of(s->expr->arg[i % s->expr->argc]->type, s->operands[i]));
    json_object_set_new(step, "operands", list);
    json_object_set_new(step, "operand_count", json_integer(s->operand_count));
}

static json_t *step_of(const assay_program *p, const explain_step *s)
{
    bool assigns = s->root && s->statement->kind == ASSAY_ASSIGN;
    char *text = assay_expr_print(p, s->expr);
    json_t *step = json_object();
    json_object_set_new(step, "expr", json_string(text ? text : ""));
    if (assigns)
        json_object_set_new(step, "name", json_string(p->values[s->statement->target].name));
    json_object_set_new(step, "type", json_string(assay_type_name(s->expr->type)));
    json_object_set_new(step, "value", value_of(s->expr->type, s->bits));
    if (s->rounds)
        add_rounding(step, s);
    if (s->operands)
        add_operands(step, s);
    if (s->marked)
        json_object_set_new(step, "marked", json_true());
    free(text);
    return step;
}

static json_t *input_of(const explain_request *r, int input)
{
    const assay_value *v = &r->program->values[r->program->inputs[input]];
    const assay_grid *g = &r->inputs[input];
    int size = assay_type_storage(v->type);
    json_t *values = json_array();
    for (int64_t i = 0; g->data && i < g->rows * g->cols; i++) {
        int64_t row = i / g->cols, col = i % g->cols;
        bool touches = v->is_table || ((!v->tile.rows || (row * v->tile.rows < r->row + r->rows &&
                                                          (row + 1) * v->tile.rows > r->row)) &&
                                       (!v->tile.cols || (col * v->tile.cols < r->col + r->cols &&
                                                          (col + 1) * v->tile.cols > r->col)));
        if (!touches)
            continue;
        uint64_t bits = 0;
        memcpy(&bits, (const char *)g->data + i * size, (size_t)size);
        json_array_append_new(values, json_pack("{sIsIso}", "row", (json_int_t)row, "col",
                                                (json_int_t)col, "value", value_of(v->type, bits)));
    }
    return json_pack("{ssssso}", "name", v->name, "type", assay_type_name(v->type), "values", values);
}

static json_t *statement_of(const assay_program *p, const assay_statement *s)
{
    char section[64];
    explain_section(s->tile, section, sizeof section);
    char *line = assay_statement_print(p, s);
    json_t *statement =
        json_pack("{sssssO}", "section", section, "text", line ? line : "", "tiles", json_null());
    json_object_set_new(statement, "tiles", json_array());
    free(line);
    return statement;
}

json_t *explain_json(const explain_request *r, assay_error *error)
{
    explain_trace t;
    if (explain_collect(r, &t, error))
        return NULL;
    const assay_program *p = r->program;
    json_t *inputs = json_array(), *statements = json_array(), *tiles = NULL, *steps = NULL;
    for (int i = 0; i < p->input_count; i++)
        json_array_append_new(inputs, input_of(r, i));
    const assay_statement *last = NULL;
    for (size_t i = 0; i < t.count; i++) {
        const explain_step *s = &t.steps[i];
        if (s->statement != last) {
            json_t *statement = statement_of(p, s->statement);
            tiles = json_object_get(statement, "tiles");
            json_array_append_new(statements, statement);
            last = s->statement;
            steps = NULL;
        }
        if (!steps) {
            json_t *tile = json_pack("{sIsIso}", "row", (json_int_t)s->row, "col",
                                     (json_int_t)s->col, "steps", json_array());
            steps = json_object_get(tile, "steps");
            json_array_append_new(tiles, tile);
        }
        json_array_append_new(steps, step_of(p, s));
        if (s->root)
            steps = NULL;
    }
    json_t *document = json_pack(
        "{sssssIsIsosososo}", "recipe", p->name, "sha256", p->sha256, "m", (json_int_t)r->m, "k",
        (json_int_t)r->k, "first", json_pack("[II]", (json_int_t)r->row, (json_int_t)r->col), "shape",
        json_pack("[II]", (json_int_t)r->rows, (json_int_t)r->cols), "inputs", inputs, "statements",
        statements);
    explain_trace_free(&t);
    if (!document)
        assay_fail(error, "out of memory");
    return document;
}
