/* The exact evaluation of a whole program: memory of its values, tiles, statements in order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_exact.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "codes in grids are little-endian");

/* Exact sums: from the least product of two f64 to the greatest, with room for 2^63 terms. */
enum { OPERAND_PRECISION = 64, WIDE_PRECISION = 2 * (1074 + 1024) + 64 };

/* ---- codes in memory ---- */

static uint64_t read_code(const uint8_t *data, int64_t index, int storage)
{
    uint64_t code = 0;
    switch (storage) {
    case 1:
        return data[index];
    case 2:
        memcpy(&code, data + 2 * index, 2);
        return code;
    case 4:
        memcpy(&code, data + 4 * index, 4);
        return code;
    default:
        memcpy(&code, data + 8 * index, 8);
        return code;
    }
}

static void write_code(uint8_t *data, int64_t index, int storage, uint64_t code)
{
    memcpy(data + index * storage, &code, (size_t)storage);
}

uint64_t exact_read_at(const exact_run *run, int value, int64_t row, int64_t col)
{
    const exact_store *s = &run->stores[value];
    if (row < 0 || col < 0 || row >= s->rows || col >= s->cols)
        return 0;
    if (s->data)
        return read_code(s->data, row * s->cols + col, s->storage);
    if (!s->given || row >= s->given_rows || col >= s->given_cols)
        return 0;
    return read_code(s->given, row * s->given_cols + col, s->storage);
}

/* ---- tiles ---- */

exact_region exact_tile_region(const exact_run *run, assay_tile tile, int64_t row, int64_t col)
{
    exact_region r = {0, 0, run->rows, run->cols};
    if (tile.rows) {
        r.row = row * tile.rows;
        r.rows = run->rows - r.row < tile.rows ? run->rows - r.row : tile.rows;
    }
    if (tile.cols) {
        r.col = col * tile.cols;
        r.cols = run->cols - r.col < tile.cols ? run->cols - r.col : tile.cols;
    }
    return r;
}

static void tiles_along(int64_t first, int64_t extent, int64_t side, int64_t *begin, int64_t *end)
{
    *begin = side ? first / side : 0;
    *end = side ? (first + extent + side - 1) / side : 1;
}

exact_range exact_tiles(assay_tile tile, exact_region region)
{
    exact_range r;
    tiles_along(region.row, region.rows, tile.rows, &r.row, &r.row_end);
    tiles_along(region.col, region.cols, tile.cols, &r.col, &r.col_end);
    return r;
}

void assay_value_shape(const assay_value *v, int64_t m, int64_t k, int64_t *rows, int64_t *cols)
{
    *rows = v->is_table ? v->table_rows : assay_tiles_along(m, v->tile.rows);
    *cols = v->is_table ? v->table_cols : assay_tiles_along(k, v->tile.cols);
}

/* ---- marks ---- */

bool exact_is_marked(const exact_run *run, int value, int64_t row, int64_t col)
{
    const exact_store *s = &run->stores[value];
    if (s->marks && s->marks[row * s->cols + col])
        return true;
    const assay_program *p = run->program;
    assay_tile tile = p->values[value].tile;
    for (int i = run->mark_start[value]; i < run->mark_start[value + 1]; i++) {
        const assay_statement *mark = &p->statements[run->mark_list[i]];
        int64_t r = exact_outer_index(tile.rows, row, mark->tile.rows);
        int64_t c = exact_outer_index(tile.cols, col, mark->tile.cols);
        int64_t cols = assay_tiles_along(run->cols, mark->tile.cols);
        if (run->conditions[run->mark_list[i]][r * cols + c])
            return true;
    }
    return false;
}

exact_cell exact_read(const exact_run *run, int value, const exact_spot *at)
{
    assay_tile tile = run->program->values[value].tile;
    int64_t row = exact_outer_index(at->tile.rows, at->row, tile.rows);
    int64_t col = exact_outer_index(at->tile.cols, at->col, tile.cols);
    const exact_store *s = &run->stores[value];
    exact_cell cell = {s->data ? read_code(s->data, row * s->cols + col, s->storage)
                               : exact_read_at(run, value, row, col),
                       false};
    if (s->marks)
        cell.marked = exact_is_marked(run, value, row, col);
    return cell;
}

/* Lists for each value the statements that mark it. */
static bool list_marks(exact_run *run)
{
    const assay_program *p = run->program;
    int n = 0;
    for (int s = 0; s < p->statement_count; s++)
        n += p->statements[s].kind == ASSAY_MARK ? p->statements[s].marked_count : 0;
    run->mark_start = calloc((size_t)p->value_count + 1, sizeof *run->mark_start);
    run->mark_list = calloc((size_t)n + 1, sizeof *run->mark_list);
    if (!run->mark_start || !run->mark_list)
        return false;
    int at = 0;
    for (int v = 0; v < p->value_count; v++) {
        run->mark_start[v] = at;
        for (int s = 0; s < p->statement_count; s++)
            for (int i = 0; p->statements[s].kind == ASSAY_MARK && i < p->statements[s].marked_count;
                 i++)
                if (p->statements[s].marked[i] == v)
                    run->mark_list[at++] = s;
    }
    run->mark_start[p->value_count] = at;
    return true;
}

/* ---- memory ---- */

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t t = x % y;
        x = y;
        y = t;
    }
    return a / x * b;
}

/* The matrix is extended to multiples of what the inputs say. */
static void extend(exact_run *run)
{
    const assay_program *p = run->program;
    int64_t rows = 1, cols = 1;
    for (int i = 0; i < p->input_count; i++) {
        assay_tile pad = p->values[p->inputs[i]].pad;
        rows = common_multiple(rows, pad.rows > 0 ? pad.rows : 1);
        cols = common_multiple(cols, pad.cols > 0 ? pad.cols : 1);
    }
    run->rows = assay_tiles_along(run->m, rows) * rows;
    run->cols = assay_tiles_along(run->k, cols) * cols;
}

static void *zeros(int64_t rows, int64_t cols, int64_t size)
{
    int64_t count, bytes;
    if (__builtin_mul_overflow(rows, cols, &count) || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return calloc((size_t)(bytes ? bytes : 1), 1);
}

static bool make_store(exact_run *run, int value, bool marks)
{
    const assay_value *v = &run->program->values[value];
    exact_store *s = &run->stores[value];
    assay_value_shape(v, run->rows, run->cols, &s->rows, &s->cols);
    s->storage = assay_type_storage(v->type);
    if (v->role == ASSAY_INPUT)
        return true;
    s->data = zeros(s->rows, s->cols, s->storage);
    s->marks = marks ? zeros(s->rows, s->cols, 1) : NULL;
    return s->data && (!marks || s->marks);
}

static bool make_condition(exact_run *run, int statement)
{
    const assay_statement *s = &run->program->statements[statement];
    if (s->kind != ASSAY_MARK)
        return true;
    run->conditions[statement] = zeros(assay_tiles_along(run->rows, s->tile.rows),
                                       assay_tiles_along(run->cols, s->tile.cols), 1);
    return run->conditions[statement] != NULL;
}

static bool make_memory(exact_run *run)
{
    const assay_program *p = run->program;
    run->stores = calloc((size_t)p->value_count + 1, sizeof *run->stores);
    run->conditions = calloc((size_t)p->statement_count + 1, sizeof *run->conditions);
    if (!run->stores || !run->conditions || !list_marks(run))
        return false;
    bool marks = run->mark_start[p->value_count] > 0;
    for (int v = 0; v < p->value_count; v++)
        if (!make_store(run, v, marks))
            return false;
    for (int s = 0; s < p->statement_count; s++)
        if (!make_condition(run, s))
            return false;
    return true;
}

/* The caller's inputs, whose grids must have the shape that M x K gives them. */
static int take_inputs(exact_run *run, const assay_grid *inputs, assay_error *error)
{
    const assay_program *p = run->program;
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        exact_store *s = &run->stores[p->inputs[i]];
        assay_value_shape(v, run->m, run->k, &s->given_rows, &s->given_cols);
        s->given = inputs[i].data;
        if (s->given && (inputs[i].rows != s->given_rows || inputs[i].cols != s->given_cols))
            return assay_fail(error,
                              "%s: input %s has %lld x %lld values, %lld x %lld are needed for a "
                              "%lld x %lld matrix",
                              p->name, v->name, (long long)inputs[i].rows,
                              (long long)inputs[i].cols, (long long)s->given_rows,
                              (long long)s->given_cols, (long long)run->m, (long long)run->k);
    }
    return 0;
}

int exact_run_begin(exact_run *run, const assay_program *p, int64_t m, int64_t k,
                    const assay_grid *inputs, assay_error *error)
{
    *run = (exact_run){.program = p, .m = m, .k = k, .f32 = assay_format_find("f32")};
    mpfr_inits2(OPERAND_PRECISION, run->a, run->b, run->c, (mpfr_ptr)NULL);
    mpfr_init2(run->wide, WIDE_PRECISION);
    assay_exact_init(&run->x);
    extend(run);
    int status = make_memory(run) ? take_inputs(run, inputs, error)
                                  : assay_fail(error, "%s: no memory for a %lld x %lld matrix",
                                               p->name, (long long)m, (long long)k);
    if (status)
        exact_run_end(run);
    return status;
}

void exact_run_end(exact_run *run)
{
    for (int v = 0; run->stores && v < run->program->value_count; v++) {
        free(run->stores[v].data);
        free(run->stores[v].marks);
    }
    for (int s = 0; run->conditions && s < run->program->statement_count; s++)
        free(run->conditions[s]);
    free(run->stores);
    free(run->conditions);
    free(run->mark_start);
    free(run->mark_list);
    mpfr_clears(run->a, run->b, run->c, run->wide, (mpfr_ptr)NULL);
    assay_exact_clear(&run->x);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* what exp and log2 left to this thread */
}

/* ---- statements ---- */

void exact_statement(exact_run *run, int statement, exact_region region)
{
    const assay_statement *s = &run->program->statements[statement];
    exact_range range = exact_tiles(s->tile, region);
    exact_store *store = s->kind == ASSAY_ASSIGN ? &run->stores[s->target] : NULL;
    int64_t cols = assay_tiles_along(run->cols, s->tile.cols);
    run->statement = s;
    run->cache.expr = NULL; /* operands may have changed since */
    for (int64_t i = range.row; i < range.row_end; i++)
        for (int64_t j = range.col; j < range.col_end; j++) {
            exact_spot at = {s->tile, i, j};
            exact_cell cell = exact_node(run, s->expr, &at);
            if (!store) {
                run->conditions[statement][i * cols + j] = cell.bits != 0;
                continue;
            }
            write_code(store->data, i * cols + j, store->storage, cell.bits);
            if (store->marks)
                store->marks[i * cols + j] = cell.marked;
        }
}

int exact_statements(exact_run *run, assay_error *error)
{
    const assay_program *p = run->program;
    for (int s = 0; s < p->statement_count; s++)
        exact_statement(run, s, exact_whole(run));
    if (run->out_of_memory)
        return assay_fail(error, "%s: no memory for the terms of a sum", p->name);
    return 0;
}

void exact_output(const exact_run *run, int value, const assay_grid *to)
{
    const exact_store *s = &run->stores[value];
    int64_t rows, cols;
    assay_value_shape(&run->program->values[value], run->m, run->k, &rows, &cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            write_code(to->data, i * cols + j, s->storage,
                       read_code(s->data, i * s->cols + j, s->storage));
            if (to->marks)
                to->marks[i * cols + j] = exact_is_marked(run, value, i, j);
        }
}

int assay_exact_eval(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                     const assay_grid *outputs, assay_error *error)
{
    exact_run run;
    if (exact_run_begin(&run, p, m, k, inputs, error))
        return -1;
    int status = exact_statements(&run, error);
    for (int i = 0; status == 0 && i < p->output_count; i++)
        if (outputs[i].data)
            exact_output(&run, p->outputs[i], &outputs[i]);
    exact_run_end(&run);
    return status;
}
