/* `unspecified A, B when c`: what a section says is not judged. */
#include "recipe_check.h"

static int check_marked(checker *c, token name)
{
    int v = check_find(c, name.text);
    const value_facts *f = v < 0 ? NULL : &c->facts[v];
    if (!f || c->p->values[v].role == ASSAY_INPUT || (!f->assigned && !f->declared_output))
        check_fail(c, name, "%s has no value here", name.text);
    if (!assay_tile_sees(c->p->values[v].tile, c->tile))
        check_fail(c, name, "%s is coarser than this tile", name.text);
    if (f->read)
        check_fail(c, name, "%s was used before it is said to be unspecified", name.text);
    return v;
}

void check_mark(checker *c, const recipe_line *line)
{
    if (c->p->statement_count == RECIPE_LINE_LIMIT)
        check_fail(c, line->at, "expected at most %d statements", RECIPE_LINE_LIMIT);
    assay_statement s = {.kind = ASSAY_MARK, .tile = c->tile, .target = -1,
                         .place = {c->scope->file, line->at.line, line->at.column}};
    for (int i = 0; i < line->name_count; i++) {
        int v = check_marked(c, line->names[i]);
        *ARENA_PUSH(c->arena, s.marked, s.marked_count) = v;
    }
    c->in_mark = true;
    s.expr = check_condition(c, line->expr);
    c->in_mark = false;
    *ARENA_PUSH(c->arena, c->p->statements, c->p->statement_count) = s;
}
