/* Judging observed outputs by the contract: marks, any nan, any zero, and the choices of approx.
 *
 * The approx nodes form a forest: a node of it owns the approxes of one tiling, and below it are
 * those of finer tilings that meet them in some statement. A tile of a node agrees if some choice
 * for its approxes makes the outputs decided by it agree and lets every tile of every child inside
 * agree in its turn. A statement is evaluated at the node that decides the last approx it depends
 * on, restricted to the tile in hand. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_exact.h"

typedef struct choice_node choice_node;
struct choice_node {
    assay_tile tile;
    bool *owns;            /* by approx: chosen here */
    int *limit;            /* by approx: n */
    bool *statements;      /* by statement: evaluated here */
    bool *outputs;         /* by output: compared here */
    choice_node *child, *sibling;
};

typedef struct {
    exact_run run;
    const assay_grid *observed;
    int approxes;
    assay_tile *tiles;     /* by approx: tiling of its section */
    int *limits;           /* by approx: n */
    bool *needs;           /* [statement * approxes + approx] depends on it */
    bool *output_needs;    /* [output * approxes + approx] */
    int *choices;
} judge;

/* ---- what depends on which approx ---- */

static void merge(bool *to, const bool *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] |= from[i];
}

/* What a reader of a value depends on: its assignment, and the conditions of its marks. */
static void needs_of_value(const judge *g, int value, bool *to)
{
    const exact_run *run = &g->run;
    int s = run->program->values[value].statement;
    if (s >= 0)
        merge(to, g->needs + (ptrdiff_t)s * g->approxes, g->approxes);
    for (int i = run->mark_start[value]; i < run->mark_start[value + 1]; i++)
        merge(to, g->needs + (ptrdiff_t)run->mark_list[i] * g->approxes, g->approxes);
}

static void needs_of_expr(judge *g, const assay_expr *e, assay_tile tile, bool *to)
{
    if (e->op == ASSAY_OP_VALUE || e->op == ASSAY_OP_AT)
        needs_of_value(g, e->u.value, to);
    if (e->op == ASSAY_OP_APPROX) {
        int index = e->u.approx.index;
        assert(index >= 0 && index < g->approxes);
        g->tiles[index] = tile;
        g->limits[index] = e->u.approx.n;
        to[index] = true;
    }
    for (int k = 0; k < e->argc; k++)
        needs_of_expr(g, e->arg[k], tile, to);
}

static void find_needs(judge *g)
{
    const assay_program *p = g->run.program;
    for (int s = 0; s < p->statement_count; s++)
        needs_of_expr(g, p->statements[s].expr, p->statements[s].tile,
                      g->needs + (ptrdiff_t)s * g->approxes);
    for (int o = 0; o < p->output_count; o++)
        needs_of_value(g, p->outputs[o], g->output_needs + (ptrdiff_t)o * g->approxes);
}

/* ---- the forest ---- */

static void free_forest(choice_node *n)
{
    while (n) {
        choice_node *next = n->sibling;
        free_forest(n->child);
        free(n->owns);
        free(n->statements);
        free(n->outputs);
        free(n);
        n = next;
    }
}

static bool touches(const bool *a, const bool *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] && b[i])
            return true;
    return false;
}

/* Grows `group` to all approxes of `open` that meet one of it, directly or through others. */
static void close_group(const judge *g, const bool *open, bool *group)
{
    const assay_program *p = g->run.program;
    int rows = p->statement_count + p->output_count;
    for (bool grew = true; grew;) {
        grew = false;
        for (int r = 0; r < rows; r++) {
            const bool *needs = r < p->statement_count
                                    ? g->needs + (ptrdiff_t)r * g->approxes
                                    : g->output_needs +
                                          (ptrdiff_t)(r - p->statement_count) * g->approxes;
            if (!touches(needs, group, g->approxes))
                continue;
            for (int a = 0; a < g->approxes; a++)
                if (needs[a] && open[a] && !group[a])
                    group[a] = grew = true;
        }
    }
}

/* An approx of the group whose tiling every other one of it sees; -1: there is none. */
static int coarsest(const judge *g, const bool *group)
{
    for (int a = 0; a < g->approxes; a++) {
        bool coarse = group[a];
        for (int b = 0; coarse && b < g->approxes; b++)
            coarse = !group[b] || assay_tile_sees(g->tiles[b], g->tiles[a]);
        if (coarse)
            return a;
    }
    return -1;
}

/* Decided by these choices: something of it is chosen here, and nothing of it is still open. */
static bool decided(const bool *needs, const bool *owns, const bool *left_open, int n)
{
    return touches(needs, owns, n) && !touches(needs, left_open, n);
}

static choice_node *build_forest(judge *g, const bool *open, assay_error *error);

/* Splits the group into the node's own approxes and those left to its children. */
static choice_node *build_node(judge *g, const bool *group, assay_error *error)
{
    const assay_program *p = g->run.program;
    int n = g->approxes, top = coarsest(g, group);
    if (top < 0) {
        assay_fail(error,
                   "%s: approx values of tilings that do not nest are joined by a third one: "
                   "say unspecified",
                   p->name);
        return NULL;
    }
    choice_node *node = calloc(1, sizeof *node);
    bool *rest = calloc((size_t)n, sizeof *rest);
    if (node) {
        node->owns = calloc((size_t)n, sizeof *node->owns);
        node->statements = calloc((size_t)p->statement_count + 1, sizeof *node->statements);
        node->outputs = calloc((size_t)p->output_count + 1, sizeof *node->outputs);
    }
    if (!rest || !node || !node->owns || !node->statements || !node->outputs) {
        free(rest);
        free_forest(node);
        assay_fail(error, "%s: no memory for the choices of approx", p->name);
        return NULL;
    }
    node->tile = g->tiles[top];
    node->limit = g->limits;
    bool more = false;
    for (int a = 0; a < n; a++) {
        node->owns[a] = group[a] && assay_tile_equal(g->tiles[a], node->tile);
        rest[a] = group[a] && !node->owns[a];
        more |= rest[a];
    }
    for (int s = 0; s < p->statement_count; s++)
        node->statements[s] = decided(g->needs + (ptrdiff_t)s * n, node->owns, rest, n);
    for (int o = 0; o < p->output_count; o++)
        node->outputs[o] = decided(g->output_needs + (ptrdiff_t)o * n, node->owns, rest, n);
    if (more && !(node->child = build_forest(g, rest, error))) {
        free_forest(node);
        node = NULL;
    }
    free(rest);
    return node;
}

/* One tree for each group of approxes that meet; NULL and `error`. `open` is not empty. */
static choice_node *build_forest(judge *g, const bool *open, assay_error *error)
{
    size_t n = (size_t)g->approxes;
    choice_node *forest = NULL;
    bool *left = malloc(n), *group = malloc(n);
    bool failed = !left || !group;
    if (failed)
        assay_fail(error, "%s: no memory for the choices of approx", g->run.program->name);
    else
        memcpy(left, open, n);
    for (int a = 0; !failed && a < g->approxes; a++) {
        if (!left[a])
            continue;
        memset(group, 0, n);
        group[a] = true;
        close_group(g, left, group);
        choice_node *node = build_node(g, group, error);
        failed = node == NULL;
        if (node) {
            node->sibling = forest;
            forest = node;
        }
        for (int b = 0; b < g->approxes; b++)
            left[b] = left[b] && !group[b];
    }
    free(left);
    free(group);
    if (failed) {
        free_forest(forest);
        return NULL;
    }
    return forest;
}

/* ---- agreement ---- */

static uint64_t code_at(const void *data, int64_t index, int storage)
{
    uint64_t code = 0;
    memcpy(&code, (const uint8_t *)data + index * storage, (size_t)storage);
    return code;
}

static bool agrees(const assay_value *v, uint64_t expected, uint64_t observed)
{
    if (expected == observed)
        return true;
    if (v->type.kind != ASSAY_T_FORMAT || (!v->any_nan && !v->any_zero))
        return false;
    int width = assay_format_width(v->type.format);
    if (width < 64 && observed >> width)
        return false;
    assay_class a = assay_decode(v->type.format, expected).class_;
    assay_class b = assay_decode(v->type.format, observed).class_;
    return a == b && ((v->any_nan && a == ASSAY_CLASS_NAN) || (v->any_zero && a == ASSAY_CLASS_ZERO));
}

/* 0 agrees, 1 differs, 2 not judged. */
static uint8_t verdict_at(const judge *g, int output, int64_t i, int64_t j)
{
    int value = g->run.program->outputs[output];
    const assay_value *v = &g->run.program->values[value];
    const exact_store *s = &g->run.stores[value];
    if (s->marks && exact_is_marked(&g->run, value, i, j))
        return 2;
    const assay_grid *seen = &g->observed[output];
    return !agrees(v, exact_read_at(&g->run, value, i, j),
                   code_at(seen->data, i * seen->cols + j, s->storage));
}

static bool output_agrees(const judge *g, int output, exact_region region)
{
    const assay_grid *seen = &g->observed[output];
    if (!seen->data)
        return true;
    exact_range range =
        exact_tiles(g->run.program->values[g->run.program->outputs[output]].tile, region);
    for (int64_t i = range.row; i < range.row_end && i < seen->rows; i++)
        for (int64_t j = range.col; j < range.col_end && j < seen->cols; j++)
            if (verdict_at(g, output, i, j) == 1)
                return false;
    return true;
}

/* ---- the search ---- */

static bool forest_agrees(judge *g, const choice_node *forest, exact_region region, bool fall_back);

static void evaluate_node(judge *g, const choice_node *node, exact_region region)
{
    for (int s = 0; s < g->run.program->statement_count; s++)
        if (node->statements[s])
            exact_statement(&g->run, s, region);
}

/* The next combination of a node's choices: each runs 0, 1, -1, 2, -2, ...; false after the last. */
static bool next_choice(judge *g, const choice_node *node)
{
    for (int a = 0; a < g->approxes; a++) {
        if (!node->owns[a])
            continue;
        int c = g->choices[a];
        g->choices[a] = c > 0 ? -c : 1 - c;
        if (g->choices[a] <= node->limit[a])
            return true;
        g->choices[a] = 0;
    }
    return false;
}

static bool tile_agrees(judge *g, const choice_node *node, exact_region tile)
{
    for (int a = 0; a < g->approxes; a++)
        if (node->owns[a])
            g->choices[a] = 0;
    do {
        evaluate_node(g, node, tile);
        bool agreed = true;
        for (int o = 0; agreed && o < g->run.program->output_count; o++)
            agreed = !node->outputs[o] || output_agrees(g, o, tile);
        if (agreed && forest_agrees(g, node->child, tile, false))
            return true;
    } while (next_choice(g, node));
    return false;
}

/* Does every tile of every tree in the region agree? With `fall_back` a tile that does not is left
 * at its middle values, under which the trees below it are searched, and so are the other tiles. */
static bool forest_agrees(judge *g, const choice_node *forest, exact_region region, bool fall_back)
{
    bool all = true;
    for (const choice_node *n = forest; n; n = n->sibling) {
        exact_range range = exact_tiles(n->tile, region);
        for (int64_t i = range.row; i < range.row_end; i++)
            for (int64_t j = range.col; j < range.col_end; j++) {
                exact_region tile = exact_tile_region(&g->run, n->tile, i, j);
                if (tile_agrees(g, n, tile))
                    continue;
                if (!fall_back)
                    return false;
                all = false;
                evaluate_node(g, n, tile); /* the search left the choices at the middle */
                forest_agrees(g, n->child, tile, true);
            }
    }
    return all;
}

/* ---- the whole ---- */

static int make_choices(judge *g, assay_error *error)
{
    const assay_program *p = g->run.program;
    size_t n = (size_t)p->approx_count;
    g->approxes = p->approx_count;
    g->tiles = calloc(n, sizeof *g->tiles);
    g->limits = calloc(n, sizeof *g->limits);
    g->choices = calloc(n, sizeof *g->choices);
    g->needs = calloc(n * ((size_t)p->statement_count + 1), sizeof *g->needs);
    g->output_needs = calloc(n * ((size_t)p->output_count + 1), sizeof *g->output_needs);
    bool *open = calloc(n, sizeof *open);
    int status = -1;
    if (g->tiles && g->limits && g->choices && g->needs && g->output_needs && open) {
        find_needs(g);
        memset(open, 1, n * sizeof *open);
        choice_node *forest = build_forest(g, open, error);
        if (forest) {
            g->run.choices = g->choices;
            forest_agrees(g, forest, exact_whole(&g->run), true);
            free_forest(forest);
            status = g->run.out_of_memory
                         ? assay_fail(error, "%s: no memory for the terms of a sum", p->name)
                         : 0;
        }
    } else {
        assay_fail(error, "%s: no memory for the choices of approx", p->name);
    }
    free(open);
    return status;
}

static int check_observed(const judge *g, assay_error *error)
{
    const assay_program *p = g->run.program;
    for (int o = 0; o < p->output_count; o++) {
        int64_t rows, cols;
        const assay_value *v = &p->values[p->outputs[o]];
        assay_value_shape(v, g->run.m, g->run.k, &rows, &cols);
        const assay_grid *seen = &g->observed[o];
        if (seen->data && (seen->rows != rows || seen->cols != cols))
            return assay_fail(error, "%s: output %s has %lld x %lld values, %lld x %lld are needed",
                              p->name, v->name, (long long)seen->rows, (long long)seen->cols,
                              (long long)rows, (long long)cols);
    }
    return 0;
}

static void write_verdicts(const judge *g, uint8_t *const *verdict)
{
    for (int o = 0; o < g->run.program->output_count; o++) {
        const assay_grid *seen = &g->observed[o];
        for (int64_t i = 0; seen->data && verdict[o] && i < seen->rows; i++)
            for (int64_t j = 0; j < seen->cols; j++)
                verdict[o][i * seen->cols + j] = verdict_at(g, o, i, j);
    }
}

int assay_exact_judge(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                      const assay_grid *observed, uint8_t *const *verdict, assay_error *error)
{
    judge g = {.observed = observed};
    if (exact_run_begin(&g.run, p, m, k, inputs, error))
        return -1;
    int status = check_observed(&g, error);
    if (status == 0)
        status = exact_statements(&g.run, error);
    if (status == 0 && p->approx_count > 0)
        status = make_choices(&g, error);
    if (status == 0)
        write_verdicts(&g, verdict);
    free(g.tiles);
    free(g.limits);
    free(g.choices);
    free(g.needs);
    free(g.output_needs);
    exact_run_end(&g.run);
    return status;
}
