/* Nodes -> passes: what is made when, and in which register. */
#include <stdlib.h>
#include <string.h>

#include "recipe_fast.h"

enum { EXTENT_CAP = 1 << 30 }; /* strips of so many rows or columns span any matrix */

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static int64_t lcm(int64_t a, int64_t b)
{
    int64_t r = a / gcd(a, b);
    return r > EXTENT_CAP / b ? EXTENT_CAP : r * b;
}

/* A value for a whole row is the same in every strip of the row, unless it is gathered from it. */
static void include_tile(assay_fast *f, assay_tile t, bool reduced)
{
    if (t.rows != 0)
        f->unit_rows = lcm(f->unit_rows, t.rows);
    if (t.cols == 0)
        f->unit_cols = reduced ? 0 : f->unit_cols;
    else if (f->unit_cols != 0)
        f->unit_cols = lcm(f->unit_cols, t.cols);
}

static void need(const assay_fast *f, bool *needed, int node)
{
    if (node < 0 || needed[node])
        return;
    needed[node] = true;
    for (int k = 0; k < f->nodes[node].argc; k++)
        need(f, needed, f->nodes[node].arg[k]);
}

/* Does a global node read inputs that come with the bands? */
static bool reads_bands(const assay_fast *f, const fast_node *n)
{
    if (n->kind != FAST_GATHER)
        return false;
    const assay_value *v = &f->program->values[n->value];
    return !v->is_table && v->tile.rows != 0;
}

static void set_ready(assay_fast *f)
{
    for (int i = 0; i < f->node_count; i++) { /* operands come first */
        fast_node *n = &f->nodes[i];
        n->ready = n->global && reads_bands(f, n);
        for (int k = 0; k < n->argc; k++) {
            const fast_node *a = &f->nodes[n->arg[k]];
            int ready = a->ready + (n->global && !a->global);
            if (ready > n->ready)
                n->ready = ready;
        }
    }
}

static int count_passes(const assay_fast *f)
{
    int passes = 1;
    for (int o = 0; o < f->output_count; o++) {
        int of[] = {f->outputs[o].node, f->outputs[o].mark};
        for (int k = 0; k < 2; k++) {
            if (of[k] < 0)
                continue;
            const fast_node *n = &f->nodes[of[k]];
            int end = n->ready + (n->global ? 0 : 1);
            passes = end > passes ? end : passes;
        }
    }
    return passes;
}

/* A global node that takes local values out of the strips of a pass. */
static bool takes_from_strips(const assay_fast *f, int node)
{
    const fast_node *n = &f->nodes[node];
    return n->global && n->argc > 0 && !f->nodes[n->arg[0]].global;
}

/* Local nodes are needed anew in each pass. */
static void need_in_pass(const assay_fast *f, bool *needed, int node)
{
    if (node < 0 || needed[node] || f->nodes[node].global)
        return;
    needed[node] = true;
    for (int k = 0; k < f->nodes[node].argc; k++)
        need_in_pass(f, needed, f->nodes[node].arg[k]);
}

static int output_in_place(const assay_fast *f, int node)
{
    const fast_node *n = &f->nodes[node];
    if (n->kind == FAST_LOAD)
        return -1;
    for (int o = 0; o < f->output_count; o++)
        if (f->outputs[o].node == node)
            return o;
    return -1;
}

static bool is_pinned(const assay_fast *f, const fast_node *n)
{
    if (n->kind != FAST_SPREAD)
        return false;
    const fast_node *a = &f->nodes[n->arg[0]];
    return a->global && a->tile.cols == 0;
}

/* Registers: one is free again after the last step that reads it, for the same tiling and lane. */
static void assign_slots(assay_fast *f, fast_pass *pass, int *last, int *slot, bool *busy)
{
    for (int s = 0; s < pass->step_count; s++) {
        fast_step *step = &pass->steps[s];
        const fast_node *n = &f->nodes[step->node];
        step->slot = -1;
        if (!n->global) {
            int use = step->pinned ? pass->slot_count : 0; /* a register of its own */
            for (; use < pass->slot_count; use++) {
                const fast_node *owner = &f->nodes[pass->slot_node[use]];
                if (!busy[use] && owner->lane == n->lane && assay_tile_equal(owner->tile, n->tile))
                    break;
            }
            if (use == pass->slot_count)
                pass->slot_count++;
            pass->slot_node[use] = step->node;
            busy[use] = true;
            step->slot = slot[step->node] = use;
        }
        for (int k = 0; k < n->argc; k++) {
            int a = n->arg[k];
            if (!f->nodes[a].global && last[a] == s)
                busy[slot[a]] = false;
        }
    }
}

static bool plan_pass(assay_fast *f, int index, const bool *needed)
{
    fast_pass *pass = &f->passes[index];
    size_t n = (size_t)f->node_count + 1;
    bool *here = calloc(n, sizeof *here), *busy = calloc(n, sizeof *busy);
    int *last = malloc(n * sizeof *last), *slot = malloc(n * sizeof *slot);
    pass->steps = calloc(n, sizeof *pass->steps);
    pass->slot_node = calloc(n, sizeof *pass->slot_node);
    bool ok = here && busy && last && slot && pass->steps && pass->slot_node;
    bool final = index == f->pass_count - 1;
    for (int i = 0; ok && i < f->node_count; i++)
        if (needed[i] && takes_from_strips(f, i) && f->nodes[i].ready == index + 1) {
            here[i] = true;
            need_in_pass(f, here, f->nodes[i].arg[0]);
        }
    for (int o = 0; ok && final && o < f->output_count; o++) {
        need_in_pass(f, here, f->outputs[o].node);
        need_in_pass(f, here, f->outputs[o].mark);
    }
    for (int i = 0; ok && i < f->node_count; i++)
        if (here[i]) {
            fast_step *step = &pass->steps[pass->step_count];
            step->node = i;
            step->pinned = is_pinned(f, &f->nodes[i]);
            step->output = final && !step->pinned ? output_in_place(f, i) : -1;
            last[i] = pass->step_count;
            for (int k = 0; k < f->nodes[i].argc; k++)
                last[f->nodes[i].arg[k]] = pass->step_count;
            pass->step_count++;
        }
    for (int s = 0; ok && s < pass->step_count; s++) /* kept to the end of the strip, or longer */
        if (pass->steps[s].pinned)
            last[pass->steps[s].node] = -1;
    for (int o = 0; ok && final && o < f->output_count; o++) {
        last[f->outputs[o].node] = -1;
        if (f->outputs[o].mark >= 0)
            last[f->outputs[o].mark] = -1;
    }
    if (ok)
        assign_slots(f, pass, last, slot, busy);
    free(here);
    free(busy);
    free(last);
    free(slot);
    return ok;
}

/* Strip and band sizes follow from the tilings of local nodes; padding from the inputs. */
static void set_units(assay_fast *f, const bool *needed)
{
    f->unit_rows = f->unit_cols = f->pad_rows = f->pad_cols = 1;
    for (int i = 0; i < f->program->input_count; i++) {
        assay_tile pad = f->program->values[f->program->inputs[i]].pad;
        f->pad_rows = pad.rows > 1 ? lcm(f->pad_rows, pad.rows) : f->pad_rows;
        f->pad_cols = pad.cols > 1 ? lcm(f->pad_cols, pad.cols) : f->pad_cols;
    }
    for (int i = 0; i < f->node_count; i++) {
        const fast_node *n = &f->nodes[i];
        if (!needed[i] || (n->global && n->kind != FAST_COLLECT))
            continue;
        include_tile(f, n->tile, n->kind == FAST_REDUCE);
        if (n->kind == FAST_TRANSFORM)
            include_tile(f, n->run, false);
    }
}

int fast_schedule(assay_fast *f, assay_error *error)
{
    bool *needed = calloc((size_t)f->node_count + 1, sizeof *needed);
    f->globals = calloc((size_t)f->node_count + 1, sizeof *f->globals);
    bool ok = needed && f->globals;
    for (int o = 0; ok && o < f->output_count; o++) {
        need(f, needed, f->outputs[o].node);
        need(f, needed, f->outputs[o].mark);
    }
    if (ok) {
        set_ready(f);
        set_units(f, needed);
        f->pass_count = count_passes(f);
        f->passes = calloc((size_t)f->pass_count, sizeof *f->passes);
        ok = f->passes != NULL;
        for (int i = 0; i < f->node_count; i++)
            if (needed[i] && f->nodes[i].global)
                f->globals[f->global_count++] = i;
    }
    for (int p = 0; ok && p < f->pass_count; p++)
        ok = plan_pass(f, p, needed);
    free(needed);
    return ok ? 0
              : assay_fail(error, "out of memory for the fast evaluator of %s", f->program->name);
}
