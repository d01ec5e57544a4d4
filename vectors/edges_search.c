#include "edges_search.h"

#include <stdlib.h>
#include <string.h>

#include "set_memory.h"

enum { GRID_BINADES = 26, GRID_STEPS = 16, PROBES = 320, ELEMENTS = 1 << 18, ROUNDS = 64 };

int edges_search_open(edges_search *s, const assay_vector_set *set, assay_error *error)
{
    const assay_value *x = vectors_main(set->program);
    *s = (edges_search){.program = set->program, .seed = set->seed, .format = x->type.format,
                        .storage = assay_type_storage(x->type),
                        .main = vectors_main_index(set->program)};
    s->top = assay_ordinal(s->format, assay_format_max_code(s->format));
    s->fast = assay_fast_compile(set->program, error);
    return s->fast ? 0 : -1;
}

void edges_search_close(edges_search *s)
{
    assay_fast_free(s->fast);
}

void edges_add(edges_found *found, int64_t at)
{
    if (found->count == found->capacity) {
        found->capacity = found->capacity ? 2 * found->capacity : 64;
        found->at = realloc(found->at, (size_t)found->capacity * sizeof *found->at);
        if (!found->at)
            abort();
    }
    found->at[found->count++] = at;
}

int64_t edges_ordinal(const edges_search *s, int exponent, uint64_t fraction)
{
    return assay_ordinal(s->format, code_make(s->format, false, exponent, fraction));
}

bool edges_has_coarse(const edges_search *s)
{
    vectors_blocks b;
    for (int i = 0; i < s->program->input_count; i++) {
        const assay_value *v = &s->program->values[s->program->inputs[i]];
        if (v->type.kind == ASSAY_T_FORMAT && !v->is_table && (v->tile.rows != 1 || v->tile.cols != 1))
            return true;
    }
    if (!vectors_blocks_make(s->program, 16, ELEMENTS, &b))
        return false;
    for (int64_t block = 0; block < b.blocks; block++)
        if (vectors_is_anchor(s->program, &b, block))
            return true;
    return false;
}

void edges_put(const edges_search *s, assay_case *c, const vectors_blocks *b, int64_t block,
               int64_t lane, int64_t magnitude, bool negative)
{
    int64_t at = vectors_lane(b, block, lane);
    uint64_t code = assay_ordinal_code(s->format, magnitude > s->top ? s->top : magnitude);
    if (at >= 0)
        grid_set(&c->inputs[s->main], s->storage, at,
                 negative ? code_negate(s->format, code) : code);
}

void edges_put_anchors(const edges_search *s, assay_case *c, const vectors_blocks *b, int64_t coarse)
{
    for (int64_t block = 0; block < b->blocks && coarse; block++)
        if (vectors_is_anchor(s->program, b, block))
            edges_put(s, c, b, block, 0, coarse, block & 1);
}

int64_t *edges_free_blocks(const edges_search *s, const vectors_blocks *b, int64_t *n)
{
    int64_t *list = malloc((size_t)b->blocks * sizeof *list);
    *n = 0;
    for (int64_t block = 0; list && block < b->blocks; block++)
        if (!vectors_is_anchor(s->program, b, block))
            list[(*n)++] = block;
    return list;
}

void edges_fill_further(const edges_search *s, assay_case *c)
{
    vectors_rng r = vectors_rng_of(s->seed, "edges: further inputs");
    vectors_fill_further(c, s->program, 0, &r);
}

/* ---- probing ---- */

typedef struct {
    int64_t block, lane, index; /* where the probe stands; index of its answer */
    int64_t low, high, now;     /* low < high; now: the magnitude that stands there */
    uint64_t key;               /* the answer at low */
    int config;
} probe;

typedef struct {
    const edges_search *search;
    assay_vector_set scratch; /* one case, filled anew for each question */
    set_memory memory;
    vectors_blocks blocks;
    bool of_blocks;           /* keys: outputs of the block's tiling, not of elements */
} questions;

static void questions_close(questions *q)
{
    for (int i = 0; i < q->memory.count; i++)
        free(q->memory.blocks[i]);
    free(q->memory.blocks);
}

static int questions_open(questions *q, assay_error *error)
{
    q->scratch = (assay_vector_set){.program = (assay_program *)(uintptr_t)q->search->program,
                                    .seed = q->search->seed, .arena = &q->memory};
    return vectors_add_case(&q->scratch, "", q->blocks.m, q->blocks.k)
               ? 0
               : assay_fail(error, "no matrix for the search");
}

static int ask(questions *q, assay_error *error)
{
    assay_case *c = &q->scratch.cases[0];
    edges_fill_further(q->search, c);
    return assay_fast_eval(q->search->fast, c->m, c->k, c->inputs, c->outputs, error);
}

/* A hash of the answers that belong to one element or one block. */
static uint64_t key_at(const questions *q, int64_t index)
{
    const assay_program *p = q->search->program;
    const assay_case *c = &q->scratch.cases[0];
    uint64_t key = 0;
    for (int i = 0; i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        bool element = v->tile.rows == 1 && v->tile.cols == 1;
        if (q->of_blocks ? !assay_tile_equal(v->tile, q->blocks.tile) : !element)
            continue;
        uint64_t code = grid_get(&c->outputs[i], assay_type_storage(v->type), index);
        key = (key ^ code) * 0x9e3779b97f4a7c15u + (uint64_t)i + 1;
    }
    return key;
}

static void put_probe(questions *q, const probe *p)
{
    edges_put(q->search, &q->scratch.cases[0], &q->blocks, p->block, p->lane, p->now,
              (p->block + p->lane) & 1);
}

/* Neighbouring probes of one config whose answers differ enclose a boundary; narrows each down. */
static int narrow(questions *q, probe *probes, int n, edges_found *found, assay_error *error)
{
    probe *open = malloc(((size_t)n + 1) * sizeof *open);
    int count = 0;
    if (!open)
        return assay_fail(error, "out of memory");
    for (int i = 0; i + 1 < n; i++) {
        const probe *a = &probes[i], *b = &probes[i + 1];
        if (a->config != b->config || a->now >= b->now || key_at(q, a->index) == key_at(q, b->index))
            continue;
        open[count] = *a;
        open[count].low = a->now;
        open[count].high = b->now;
        open[count++].key = key_at(q, a->index);
    }
    int failed = 0;
    for (int round = 0; round < ROUNDS && !failed; round++) {
        bool any = false;
        for (int i = 0; i < count; i++) {
            open[i].now = open[i].low + (open[i].high - open[i].low) / 2;
            any = any || open[i].high - open[i].low > 1;
            put_probe(q, &open[i]);
        }
        if (!any)
            break;
        failed = ask(q, error);
        for (int i = 0; i < count && !failed; i++)
            if (open[i].high - open[i].low > 1) {
                bool same = key_at(q, open[i].index) == open[i].key;
                *(same ? &open[i].low : &open[i].high) = open[i].now;
            }
    }
    for (int i = 0; i < count && !failed; i++)
        edges_add(&found[open[i].config], open[i].low);
    free(open);
    return failed;
}

/* The i-th of n magnitudes between a and the bottom of the range that matters below it. */
static int64_t grid_point(const edges_search *s, int64_t amax, int64_t i, int64_t n)
{
    int64_t binade = (int64_t)1 << s->format->mantissa_bits;
    int64_t low = amax - GRID_BINADES * binade;
    if (low < 0)
        low = 0;
    return low + (int64_t)((double)(amax - low) * (double)i / (double)(n - 1));
}

int edges_of_elements(const edges_search *s, int64_t coarse, const int64_t *amax, int n,
                      edges_found *found, assay_error *error)
{
    questions q = {.search = s};
    int64_t wanted = GRID_BINADES * GRID_STEPS, usable;
    if (!vectors_blocks_make(s->program, 4, ELEMENTS, &q.blocks))
        return 0;
    int64_t each = q.blocks.lanes > 1 ? (wanted + q.blocks.lanes - 2) / (q.blocks.lanes - 1) : 1;
    if (!vectors_blocks_make(s->program, (each * n * 5 + 3) / 4 + 2, ELEMENTS, &q.blocks) ||
        questions_open(&q, error)) {
        questions_close(&q);
        return 0;
    }
    int64_t *blocks = edges_free_blocks(s, &q.blocks, &usable);
    probe *probes = calloc((size_t)(q.blocks.blocks * q.blocks.lanes) + 1, sizeof *probes);
    int count = 0, failed = !blocks || !probes ? assay_fail(error, "out of memory") : 0;
    assay_case *c = &q.scratch.cases[0];
    edges_put_anchors(s, c, &q.blocks, coarse);
    each = usable / n < each ? usable / n : each;
    for (int config = 0; config < n && !failed && usable; config++) {
        int64_t slots = (each ? each : 1) * (q.blocks.lanes - 1);
        int64_t points = slots < wanted ? slots : wanted;
        for (int64_t i = 0; i < points && points > 1; i++) {
            int64_t ordinal = config * (each ? each : 1) + i / (q.blocks.lanes - 1);
            if (ordinal >= usable)
                break;
            int64_t block = blocks[ordinal], top = block % q.blocks.lanes;
            int64_t lane = (top + 1 + i % (q.blocks.lanes - 1)) % q.blocks.lanes;
            edges_put(s, c, &q.blocks, block, top, amax[config], block & 1);
            probe *p = &probes[count];
            *p = (probe){.block = block, .lane = lane, .config = config,
                         .index = vectors_lane(&q.blocks, block, lane),
                         .now = grid_point(s, amax[config], i, points)};
            if (p->index >= 0) {
                put_probe(&q, p);
                count++;
            }
        }
    }
    if (!failed)
        failed = ask(&q, error) || narrow(&q, probes, count, found, error);
    free(blocks);
    free(probes);
    questions_close(&q);
    return failed;
}

/* Magnitudes for a block's amax: dense around the middle of the range or below `coarse`. */
static void amax_grid(const edges_search *s, int64_t coarse, edges_found *grid)
{
    int64_t binade = (int64_t)1 << s->format->mantissa_bits, middle = edges_ordinal(s, -16, 0);
    int64_t top = coarse ? coarse : s->top;
    for (int64_t at = 1; at <= top;) {
        edges_add(grid, at);
        bool dense = coarse ? at > coarse - GRID_BINADES * binade
                            : at >= middle && at < middle + 28 * binade;
        at += dense ? (binade + GRID_STEPS - 1) / GRID_STEPS : (binade + 2) / 3;
    }
    edges_add(grid, top);
}

int edges_of_scales(const edges_search *s, int64_t coarse, edges_found *found, assay_error *error)
{
    questions q = {.search = s, .of_blocks = true};
    edges_found grid = {0};
    int64_t usable = 0;
    amax_grid(s, coarse, &grid);
    if (!vectors_blocks_make(s->program, grid.count * 5 / 4 + 2, ELEMENTS * 4, &q.blocks) ||
        q.blocks.blocks < 2 || questions_open(&q, error)) {
        free(grid.at);
        questions_close(&q);
        return 0;
    }
    int64_t *blocks = edges_free_blocks(s, &q.blocks, &usable);
    probe *probes = calloc((size_t)usable + 1, sizeof *probes);
    int count = 0, failed = !blocks || !probes ? assay_fail(error, "out of memory") : 0;
    int64_t stride = usable ? (grid.count + usable - 1) / usable : 1;
    edges_put_anchors(s, &q.scratch.cases[0], &q.blocks, coarse);
    for (int64_t i = 0; i * stride < grid.count && i < usable && !failed; i++) {
        probe *p = &probes[count++];
        *p = (probe){.block = blocks[i], .lane = blocks[i] % q.blocks.lanes, .index = blocks[i],
                     .now = grid.at[i * stride]};
        put_probe(&q, p);
    }
    if (!failed)
        failed = ask(&q, error) || narrow(&q, probes, count, found, error);
    free(grid.at);
    free(blocks);
    free(probes);
    questions_close(&q);
    return failed;
}
