/* Deep copies of programs. */
#include <string.h>

#include "recipe_check.h"

static const char *copy_text(assay_arena *a, const char *text)
{
    return text ? assay_arena_copy(a, text, strlen(text)) : NULL;
}

static void *copy_array(assay_arena *a, const void *from, int count, size_t element)
{
    size_t size = (size_t)count * element;
    void *to = assay_arena_alloc(a, size + 1);
    if (size)
        memcpy(to, from, size);
    return to;
}

static assay_expr *copy_expr(assay_arena *a, const assay_expr *e)
{
    assay_expr *n = copy_array(a, e, 1, sizeof *e);
    for (int i = 0; i < e->argc; i++)
        n->arg[i] = copy_expr(a, e->arg[i]);
    if (e->op == ASSAY_OP_CONST)
        n->u.constant.text = copy_text(a, e->u.constant.text);
    n->place.file = copy_text(a, e->place.file);
    return n;
}

static void copy_tables(assay_arena *a, assay_program *to, const assay_program *p)
{
    to->choices = copy_array(a, p->choices, p->choice_count, sizeof *p->choices);
    for (int i = 0; i < p->choice_count; i++) {
        to->choices[i].name = copy_text(a, p->choices[i].name);
        to->choices[i].choice = copy_text(a, p->choices[i].choice);
    }
    to->values = copy_array(a, p->values, p->value_count, sizeof *p->values);
    for (int i = 0; i < p->value_count; i++) {
        to->values[i].name = copy_text(a, p->values[i].name);
        to->values[i].place.file = copy_text(a, p->values[i].place.file);
    }
    to->inputs = copy_array(a, p->inputs, p->input_count, sizeof *p->inputs);
    to->outputs = copy_array(a, p->outputs, p->output_count, sizeof *p->outputs);
    to->layouts = copy_array(a, p->layouts, p->layout_count, sizeof *p->layouts);
}

assay_program *assay_program_copy(const assay_program *p)
{
    assay_arena *a = assay_arena_new();
    const program_memory *old = p->arena;
    program_memory *memory = assay_arena_alloc(a, sizeof *memory);
    assay_program *to = copy_array(a, p, 1, sizeof *p);
    memory->arena = a;
    to->arena = memory;
    to->recipe = copy_text(a, p->recipe);
    to->family = copy_text(a, p->family);
    to->name = copy_text(a, p->name);
    to->summary = copy_text(a, p->summary);
    to->source = copy_text(a, p->source);
    to->canonical = p->canonical ? assay_arena_copy(a, p->canonical, strlen(p->canonical)) : NULL;
    copy_tables(a, to, p);
    to->statements = copy_array(a, p->statements, p->statement_count, sizeof *p->statements);
    for (int i = 0; i < p->statement_count; i++) {
        assay_statement *s = &to->statements[i];
        s->expr = copy_expr(a, s->expr);
        s->marked = copy_array(a, s->marked, s->marked_count, sizeof *s->marked);
        s->place.file = copy_text(a, s->place.file);
    }
    to->requires = copy_array(a, p->requires, p->require_count, sizeof *p->requires);
    memory->require_text =
        assay_arena_alloc(a, ((size_t)p->require_count + 1) * sizeof *memory->require_text);
    for (int i = 0; i < p->require_count; i++) {
        to->requires[i] = copy_expr(a, p->requires[i]);
        memory->require_text[i] =
            old && old->require_text ? copy_text(a, old->require_text[i]) : "a require line";
    }
    return to;
}
