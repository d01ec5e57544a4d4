/* A failing code as JSON: where, what came, what is right, and why, statement by statement. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "run_judge.h"

enum { INPUTS_SHOWN = 64, STEPS_SHOWN = 120 };

/* Integers and bools have no hex float: their bits stand there. */
static json_t *value_object(assay_type t, uint64_t code)
{
    if (t.kind == ASSAY_T_FORMAT && (assay_format_width(t.format) == 64 ||
                                     code >> assay_format_width(t.format) == 0))
        return json_value(t.format, code);
    char dec[32], bits[32];
    if (t.kind == ASSAY_T_I32)
        snprintf(dec, sizeof dec, "%" PRId32, (int32_t)(uint32_t)code);
    else if (t.kind == ASSAY_T_FORMAT)
        snprintf(dec, sizeof dec, "no code");
    else
        snprintf(dec, sizeof dec, "%" PRIu64, code);
    snprintf(bits, sizeof bits, "0x%" PRIx64, code);
    return json_pack("{s:s, s:s, s:s}", "dec", dec, "hex", bits, "bits", bits);
}

/* The part of every input's grid that belongs to the failing code's region. */
static json_t *inputs_json(const assay_program *p, const assay_case *c, const compare_failure *f)
{
    json_t *list = json_array();
    int64_t r0, r1, c0, c1;
    compare_region(p, c->m, c->k, f->output, f->row, f->col, &r0, &r1, &c0, &c1);
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        const assay_grid *g = &c->inputs[i];
        if (!g->data || v->is_table)
            continue;
        int64_t h = v->tile.rows ? v->tile.rows : c->m + 1, w = v->tile.cols ? v->tile.cols : c->k + 1;
        for (int64_t r = r0 / h; r * h < r1 && r < g->rows; r++)
            for (int64_t s = c0 / w; s * w < c1 && s < g->cols; s++) {
                if (json_array_size(list) >= INPUTS_SHOWN)
                    return list;
                uint64_t code = compare_code(g->data, r * g->cols + s, assay_type_storage(v->type));
                json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:o}", "name", v->name, "row",
                                                      (json_int_t)r, "col", (json_int_t)s, "value",
                                                      value_object(v->type, code)));
            }
    }
    return list;
}

static json_t *note_of(const explain_step *s)
{
    if (s->marked)
        return json_string("not judged");
    if (!s->rounds)
        return NULL;
    char note[512];
    explain_rounding(s, note, sizeof note);
    return json_string(note);
}

static json_t *steps_json(const assay_program *p, const assay_case *c, const compare_failure *f)
{
    json_t *list = json_array();
    assay_tile tile = p->values[p->outputs[f->output]].tile;
    explain_request request = {.program = p, .m = c->m, .k = c->k, .inputs = c->inputs,
                               .row = tile.rows ? f->row * tile.rows : 0,
                               .col = tile.cols ? f->col * tile.cols : 0, .rows = 1, .cols = 1};
    explain_trace trace = {0};
    assay_error error;
    if (explain_collect(&request, &trace, &error)) {
        explain_trace_free(&trace);
        return list;
    }
    for (size_t i = 0; i < trace.count && json_array_size(list) < STEPS_SHOWN; i++) {
        const explain_step *s = &trace.steps[i];
        if (!s->root && (s->expr->op == ASSAY_OP_CONST || s->expr->op == ASSAY_OP_VALUE ||
                         s->expr->op == ASSAY_OP_WIDEN))
            continue;
        char *text = s->root ? assay_statement_print(p, s->statement) : assay_expr_print(p, s->expr);
        json_t *step = json_pack("{s:s, s:i, s:o}", "text", text ? text : "", "depth",
                                 s->root ? 0 : 1, "value", value_object(s->expr->type, s->bits));
        json_t *note = note_of(s);
        if (note)
            json_object_set_new(step, "note", note);
        json_array_append_new(list, step);
        free(text);
    }
    explain_trace_free(&trace);
    return list;
}

json_t *run_failure_json(const assay_program *p, const assay_case *c, const compare_failure *f)
{
    const assay_value *v = &p->values[p->outputs[f->output]];
    json_t *o = json_pack("{s:i, s:I, s:I, s:s, s:I, s:I, s:o, s:o}", "case", f->case_index, "m",
                          (json_int_t)c->m, "k", (json_int_t)c->k, "output", v->name, "row",
                          (json_int_t)f->row, "col", (json_int_t)f->col, "expected",
                          value_object(v->type, f->expected), "got", value_object(v->type, f->got));
    if (c->tag)
        json_object_set_new(o, "tag", json_string(c->tag));
    int64_t distance;
    if (compare_distance(v->type, f->expected, f->got, &distance)) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, distance);
        bool fits = distance > -(INT64_C(1) << 53) && distance < INT64_C(1) << 53;
        json_object_set_new(o, "ulp", fits ? json_integer(distance) : json_string(text));
    } else {
        json_object_set_new(o, "ulp", json_null());
    }
    json_object_set_new(o, "inputs", inputs_json(p, c, f));
    json_object_set_new(o, "steps", steps_json(p, c, f));
    return o;
}
