/* Making nodes: equal ones are merged, operands are brought to one tiling. */
#include <stdlib.h>
#include <string.h>

#include "recipe_fast.h"

void *fast_block(assay_fast *f, size_t size)
{
    void **grown = realloc(f->blocks, (size_t)(f->block_count + 1) * sizeof *grown);
    void *block = grown ? calloc(1, size) : NULL;
    if (grown)
        f->blocks = grown;
    if (!block) {
        f->out_of_memory = true;
        return NULL;
    }
    f->blocks[f->block_count++] = block;
    return block;
}

static bool equal(const fast_node *a, const fast_node *b)
{
    return a->kind == b->kind && a->lane == b->lane && a->global == b->global &&
           assay_tile_equal(a->tile, b->tile) && a->argc == b->argc &&
           !memcmp(a->arg, b->arg, sizeof a->arg) && a->kernel == b->kernel &&
           a->value == b->value && !memcmp(&a->params, &b->params, sizeof a->params) &&
           assay_tile_equal(a->run, b->run);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash_of(const fast_node *n)
{
    uint64_t h = mix((uint64_t)n->kind, (uint64_t)(uintptr_t)n->kernel);
    h = mix(mix(h, (uint64_t)n->tile.rows), (uint64_t)n->tile.cols);
    for (int i = 0; i < n->argc; i++)
        h = mix(h, (uint64_t)n->arg[i]);
    h = mix(mix(h, n->params.word[0]), n->params.word[1]);
    return mix(mix(h, (uint64_t)n->value), n->lane);
}

/* Place of a node in the table: of its equal, or free. */
static int *find(assay_fast *f, const fast_node *n)
{
    uint64_t at = hash_of(n);
    for (;; at++) {
        int *place = &f->hash[at & (uint64_t)(f->hash_size - 1)];
        if (*place < 0 || equal(&f->nodes[*place], n))
            return place;
    }
}

static bool grow(assay_fast *f)
{
    int capacity = f->node_capacity ? 2 * f->node_capacity : 64;
    fast_node *nodes = realloc(f->nodes, (size_t)capacity * sizeof *nodes);
    if (nodes)
        f->nodes = nodes;
    int *hash = nodes ? malloc((size_t)capacity * 4 * sizeof *hash) : NULL;
    if (!hash)
        return false;
    free(f->hash);
    f->node_capacity = capacity;
    f->hash = hash;
    f->hash_size = capacity * 4;
    memset(hash, -1, (size_t)f->hash_size * sizeof *hash);
    for (int i = 0; i < f->node_count; i++)
        *find(f, &f->nodes[i]) = i;
    return true;
}

int fast_add(assay_fast *f, const fast_node *n)
{
    for (int i = 0; i < n->argc; i++)
        if (n->arg[i] < 0)
            return -1;
    if (f->out_of_memory || (f->node_count == f->node_capacity && !grow(f))) {
        f->out_of_memory = true;
        return -1;
    }
    int *place = find(f, n);
    if (*place < 0) {
        *place = f->node_count;
        f->nodes[f->node_count++] = *n;
    }
    return *place;
}

/* A zeroed node: padding too, since parameters are compared as memory. */
static fast_node blank(fast_kind kind, uint8_t lane, assay_tile tile)
{
    fast_node n;
    memset(&n, 0, sizeof n);
    n.kind = kind;
    n.lane = lane;
    n.tile = tile;
    n.global = tile.rows == 0;
    n.value = -1;
    return n;
}

fast_params fast_word(uint64_t word)
{
    fast_params p;
    memset(&p, 0, sizeof p);
    p.word[0] = word;
    return p;
}

int fast_constant(assay_fast *f, uint8_t lane, uint64_t bits)
{
    fast_node n = blank(FAST_CONSTANT, lane, (assay_tile){0, 0});
    n.params = fast_word(bits);
    return fast_add(f, &n);
}

int fast_load(assay_fast *f, int value)
{
    const assay_value *v = &f->program->values[value];
    int bytes = assay_type_storage(v->type);
    uint8_t lane = bytes == 1 ? FAST_LANE_8 : bytes == 2 ? FAST_LANE_16
                   : bytes == 4 ? FAST_LANE_32 : FAST_LANE_64;
    fast_node n = blank(FAST_LOAD, lane, v->tile);
    n.value = value;
    int node = fast_add(f, &n);
    if (v->type.kind == ASSAY_T_BOOL)
        return fast_unary(f, FAST_K_BYTE_TO_MASK, FAST_LANE_32, node);
    return node;
}

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* The coarsest tiling on which a value of either tiling is visible. */
assay_tile fast_common_tile(assay_tile a, assay_tile b)
{
    return (assay_tile){gcd(a.rows, b.rows), gcd(a.cols, b.cols)};
}

int fast_on_tile(assay_fast *f, int node, assay_tile tile)
{
    static const fast_kernel_id spread[] = {FAST_K_SPREAD_8, FAST_K_SPREAD_16, FAST_K_SPREAD_32,
                                            FAST_K_SPREAD_64};
    if (node < 0 || assay_tile_equal(f->nodes[node].tile, tile))
        return node;
    uint8_t lane = f->nodes[node].lane;
    fast_node n = blank(FAST_SPREAD, lane, tile);
    n.kernel = fast_kernel_for(f, spread[lane]);
    n.argc = 1;
    n.arg[0] = node;
    return fast_add(f, &n);
}

int fast_compute(assay_fast *f, fast_kernel k, uint8_t lane, fast_params params, int argc,
                 const int *arg)
{
    assay_tile tile = {0, 0};
    for (int i = 0; i < argc; i++) {
        if (arg[i] < 0)
            return -1;
        tile = fast_common_tile(tile, f->nodes[arg[i]].tile);
    }
    fast_node n = blank(FAST_COMPUTE, lane, tile);
    n.kernel = k;
    n.params = params;
    n.argc = argc;
    for (int i = 0; i < argc; i++)
        n.arg[i] = fast_on_tile(f, arg[i], tile);
    return fast_add(f, &n);
}

int fast_unary_word(assay_fast *f, fast_kernel_id k, uint8_t lane, int a, uint64_t word)
{
    return fast_compute(f, fast_kernel_for(f, k), lane, fast_word(word), 1, &a);
}

int fast_unary(assay_fast *f, fast_kernel_id k, uint8_t lane, int a)
{
    return fast_unary_word(f, k, lane, a, 0);
}

int fast_binary(assay_fast *f, fast_kernel_id k, uint8_t lane, int a, int b)
{
    int arg[] = {a, b};
    return fast_compute(f, fast_kernel_for(f, k), lane, fast_word(0), 2, arg);
}

/* Is `b` the same for runs of a multiple of 8 values of `a`'s tiling? */
static bool stands_over_runs(const assay_fast *f, int a, int b)
{
    assay_tile fine = f->nodes[a].tile, coarse = f->nodes[b].tile;
    return coarse.rows != 0 && coarse.cols != 0 && fine.cols != 0 && !assay_tile_equal(fine, coarse) &&
           assay_tile_equal(fast_common_tile(fine, coarse), fine) && coarse.cols / fine.cols % 8 == 0;
}

int fast_scale(assay_fast *f, int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (stands_over_runs(f, b, a)) {
        int swap = a;
        a = b;
        b = swap;
    }
    if (!stands_over_runs(f, a, b))
        return fast_binary(f, FAST_K_MUL_32, FAST_LANE_32, a, b);
    fast_node n = blank(FAST_RUNS, FAST_LANE_32, f->nodes[a].tile);
    n.kernel = fast_kernel_for(f, FAST_K_MUL_RUNS_32);
    n.argc = 2;
    n.arg[0] = a;
    n.arg[1] = b;
    return fast_add(f, &n);
}

int fast_select(assay_fast *f, uint8_t lane, int condition, int yes, int no)
{
    static const fast_kernel_id select[] = {FAST_K_SELECT_8, FAST_K_SELECT_16, FAST_K_SELECT_32,
                                            FAST_K_SELECT_64};
    int arg[] = {condition, yes, no};
    return fast_compute(f, fast_kernel_for(f, select[lane]), lane, fast_word(0), 3, arg);
}
