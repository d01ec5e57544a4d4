/* The static limits of `approx` (LANGUAGE.md section 11): which choices meet in which values. */
#include "recipe_check.h"

enum { SET_LIMIT = 8 }; /* 3^4 = 81: more than four at once are too many already */

/* The approx nodes whose choice a value depends on. */
typedef struct {
    int count;
    struct {
        const assay_expr *node;
        assay_tile tile;
    } of[SET_LIMIT];
} choice_set;

typedef struct {
    checker *c;
    choice_set *values;
} approx_walk;

static token place_of(const assay_place *p)
{
    return (token){.kind = TOKEN_NAME, .line = p->line, .column = p->column};
}

static void merge(const approx_walk *w, choice_set *to, const choice_set *from, token at)
{
    for (int i = 0; i < from->count; i++) {
        int j = 0;
        while (j < to->count && to->of[j].node != from->of[i].node)
            j++;
        if (j < to->count)
            continue;
        for (j = 0; j < to->count; j++) {
            assay_tile a = to->of[j].tile, b = from->of[i].tile;
            if (!assay_tile_sees(a, b) && !assay_tile_sees(b, a))
                check_fail(w->c, at, "approx values of tiles that do not nest meet here: say "
                                     "unspecified");
        }
        if (to->count == SET_LIMIT)
            check_fail(w->c, at, "more than 81 choices");
        to->of[to->count++] = from->of[i];
    }
    int64_t choices = 1;
    for (int i = 0; i < to->count; i++)
        choices *= 2 * (int64_t)to->of[i].node->u.approx.n + 1;
    if (choices > 81)
        check_fail(w->c, at, "more than 81 choices");
}

/* The tile over which a node gathers values, if it does. */
static bool gathers(const assay_expr *e, assay_tile *tile)
{
    bool transform = e->op == ASSAY_OP_HADAMARD || e->op == ASSAY_OP_ROTATE;
    *tile = transform ? e->u.transform.run : e->tile;
    return transform || e->op >= ASSAY_OP_RED_AMAX;
}

static choice_set walk_expr(const approx_walk *w, const assay_expr *e)
{
    choice_set set = {0};
    token at = place_of(&e->place);
    if (e->op == ASSAY_OP_VALUE)
        return w->values[e->u.value];
    for (int i = 0; i < e->argc; i++) {
        choice_set below = walk_expr(w, e->arg[i]);
        merge(w, &set, &below, at);
    }
    assay_tile tile;
    if (gathers(e, &tile))
        for (int i = 0; i < set.count; i++)
            if (!assay_tile_sees(tile, set.of[i].tile))
                check_fail(w->c, at, "an approx value reaches a reduction over tiles that choose "
                                     "differently: say unspecified");
    if (e->op == ASSAY_OP_APPROX) {
        choice_set own = {.count = 1};
        own.of[0].node = e;
        own.of[0].tile = e->tile;
        merge(w, &set, &own, at);
    }
    return set;
}

void check_approx(checker *c)
{
    assay_program *p = c->p;
    approx_walk w = {c, assay_arena_alloc(c->arena, sizeof(choice_set) *
                                                        ((size_t)p->value_count + 1))};
    for (int i = 0; i < p->statement_count; i++) {
        const assay_statement *s = &p->statements[i];
        choice_set set = walk_expr(&w, s->expr);
        if (s->kind == ASSAY_ASSIGN)
            w.values[s->target] = set;
    }
}
