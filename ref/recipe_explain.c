/* Every node of every statement in chosen tiles, for `explain`. */
#include "recipe_exact.h"

/* Tiles of a statement that touch a region of elements, whether or not they lie inside it. */
static void see_statement(exact_run *run, const assay_statement *s, exact_region region)
{
    exact_range range = exact_tiles(s->tile, region);
    run->statement = s;
    for (int64_t i = range.row; i < range.row_end; i++)
        for (int64_t j = range.col; j < range.col_end; j++) {
            exact_spot at = {s->tile, i, j};
            exact_node(run, s->expr, &at);
        }
}

int assay_exact_explain_region(const assay_program *p, int64_t m, int64_t k,
                               const assay_grid *inputs, int64_t row, int64_t col, int64_t rows,
                               int64_t cols, void (*see)(void *, const assay_seen *), void *context,
                               assay_error *error)
{
    if (row < 0 || col < 0 || rows < 1 || cols < 1 || row > m - rows || col > k - cols)
        return assay_fail(error,
                          "%s: elements %lld..%lld, %lld..%lld: a %lld x %lld matrix has none there",
                          p->name, (long long)row, (long long)(row + rows - 1), (long long)col,
                          (long long)(col + cols - 1), (long long)m, (long long)k);
    exact_run run;
    if (exact_run_begin(&run, p, m, k, inputs, error))
        return -1;
    int status = exact_statements(&run, error);
    run.see = see;
    run.see_context = context;
    for (int s = 0; status == 0 && s < p->statement_count; s++)
        see_statement(&run, &p->statements[s], (exact_region){row, col, rows, cols});
    exact_run_end(&run);
    return status;
}

int assay_exact_explain(const assay_program *p, int64_t m, int64_t k, const assay_grid *inputs,
                        int64_t row, int64_t col, void (*see)(void *, const assay_seen *),
                        void *context, assay_error *error)
{
    return assay_exact_explain_region(p, m, k, inputs, row, col, 1, 1, see, context, error);
}
