/* Matrices that a program admits, and the blocks in them that share a scale. */
#include "generate.h"

enum { ROW_LANES = 256, TENSOR_ROWS = 8, TENSOR_COLS = 128 };

static int64_t area(assay_tile t)
{
    return (t.rows ? t.rows : 1 << 20) * (t.cols ? t.cols : 1 << 20);
}

static void consider(assay_tile *best, assay_tile t)
{
    if (area(t) > 1 && (area(*best) == 1 || area(t) < area(*best)))
        *best = t;
}

static assay_tile finest_block(const assay_program *p)
{
    assay_tile best = {1, 1};
    for (int i = 0; i < p->statement_count; i++)
        consider(&best, p->statements[i].tile);
    for (int i = 0; i < p->value_count; i++)
        if (!p->values[i].is_table)
            consider(&best, p->values[i].tile);
    return best;
}

bool vectors_admit(const assay_program *p, int64_t *m, int64_t *k)
{
    int64_t best = -1, best_m = 0, best_k = 0;
    for (int64_t a = 1; a <= 256; a *= 2)
        for (int64_t b = 1; b <= 256; b *= 2) {
            int64_t mm = (*m + a - 1) / a * a, kk = (*k + b - 1) / b * b;
            if ((best < 0 || mm * kk < best) && assay_program_admits(p, mm, kk, NULL)) {
                best = mm * kk;
                best_m = mm;
                best_k = kk;
            }
        }
    if (best >= 0) {
        *m = best_m;
        *k = best_k;
    }
    return best >= 0;
}

vectors_blocks vectors_blocks_of(const assay_program *p, int64_t m, int64_t k)
{
    vectors_blocks b = {.tile = finest_block(p), .m = m, .k = k};
    b.any = area(b.tile) > 1;
    if (!b.any)
        b.tile = (assay_tile){0, 0};
    b.side_rows = b.tile.rows ? b.tile.rows : m;
    b.side_cols = b.tile.cols ? b.tile.cols : k;
    b.grid_rows = assay_tiles_along(m, b.tile.rows);
    b.grid_cols = assay_tiles_along(k, b.tile.cols);
    if (b.side_rows > m)
        b.side_rows = m;
    if (b.side_cols > k)
        b.side_cols = k;
    b.blocks = b.grid_rows * b.grid_cols;
    b.lanes = b.side_rows * b.side_cols;
    return b;
}

bool vectors_blocks_make(const assay_program *p, int64_t blocks, int64_t limit, vectors_blocks *b)
{
    assay_tile t = finest_block(p);
    int64_t m, k, wide = blocks < 8 ? blocks : 8, deep = (blocks + wide - 1) / wide;
    if (area(t) == 1 || (t.rows == 0 && t.cols == 0)) {
        m = TENSOR_ROWS;
        k = area(t) == 1 ? TENSOR_COLS / 4 : TENSOR_COLS;
    } else if (t.rows == 1) {
        m = t.cols ? deep : blocks;
        k = t.cols ? t.cols * wide : ROW_LANES;
    } else if (t.cols == 1) {
        m = t.rows ? t.rows * wide : ROW_LANES;
        k = t.rows ? deep : blocks;
    } else {
        m = t.rows ? t.rows : TENSOR_ROWS;
        k = t.cols ? t.cols * blocks : TENSOR_COLS;
        /* Partial blocks do as well as whole ones where whole ones are too large. */
        if (m * k > limit && assay_program_admits(p, 1, k, NULL))
            m = 1;
        if (m * k > limit && t.cols && limit / m >= t.cols)
            k = limit / m / t.cols * t.cols;
        else if (m * k > limit && t.cols)
            k = t.cols;
    }
    if (!vectors_admit(p, &m, &k))
        return false;
    *b = vectors_blocks_of(p, m, k);
    return b->lanes > 0;
}

int64_t vectors_lane(const vectors_blocks *b, int64_t block, int64_t lane)
{
    int64_t rows = b->tile.rows ? b->tile.rows : b->m, cols = b->tile.cols ? b->tile.cols : b->k;
    int64_t row = block / b->grid_cols * rows + lane / b->side_cols;
    int64_t col = block % b->grid_cols * cols + lane % b->side_cols;
    return row < b->m && col < b->k ? row * b->k + col : -1;
}

/* Does the block's corner coincide with the corner of its tile of tiling u? */
static bool is_first(const vectors_blocks *b, int64_t block, assay_tile u)
{
    int64_t row = block / b->grid_cols * (b->tile.rows ? b->tile.rows : b->m);
    int64_t col = block % b->grid_cols * (b->tile.cols ? b->tile.cols : b->k);
    bool several = (u.rows == 0 ? b->grid_rows > 1 : u.rows > b->side_rows && b->grid_rows > 1) ||
                   (u.cols == 0 ? b->grid_cols > 1 : u.cols > b->side_cols && b->grid_cols > 1);
    return several && (u.rows ? row % u.rows == 0 : row == 0) &&
           (u.cols ? col % u.cols == 0 : col == 0);
}

bool vectors_is_anchor(const assay_program *p, const vectors_blocks *b, int64_t block)
{
    if (!b->any)
        return false;
    for (int i = 0; i < p->statement_count; i++) {
        assay_tile u = p->statements[i].tile;
        if (!assay_tile_equal(u, b->tile) && area(u) > area(b->tile) &&
            assay_tile_sees(b->tile, u) && is_first(b, block, u))
            return true;
    }
    return false;
}
