/* The steps as a page to read: the recipe's line, then the numbers under it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

enum { LABEL = 30, DECIMAL = 15, HEX = 16, LISTED = 16 };

/* ---- one step ---- */

static void print_value(FILE *to, assay_type type, uint64_t bits)
{
    explain_value v;
    explain_value_text(type, bits, &v);
    if (*v.bits)
        fprintf(to, "%-*s %-*s %s", DECIMAL, v.decimal, HEX, v.hex, v.bits);
    else
        fputs(v.decimal, to);
}

/* Close to an end or to the middle a rounded fraction would mislead: say on which side. */
void explain_rounding(const explain_step *s, char *text, size_t size)
{
    explain_value below, above;
    explain_value_text(s->expr->type, s->below, &below);
    explain_value_text(s->expr->type, s->above, &above);
    double place = strtod(s->place, NULL);
    if (!s->inexact)
        snprintf(text, size, "exact");
    else if (s->beyond)
        snprintf(text, size, "%s lies beyond the greatest value %s", s->exact, below.decimal);
    else if (s->tie)
        snprintf(text, size, "a tie, exactly between %s and %s", below.decimal, above.decimal);
    else if (place < 1e-6)
        snprintf(text, size, "%s lies just above %s (next: %s)", s->exact, below.decimal,
                 above.decimal);
    else if (place > 1 - 1e-6)
        snprintf(text, size, "%s lies just below %s (next down: %s)", s->exact, above.decimal,
                 below.decimal);
    else if (place > 0.5 - 1e-6 && place < 0.5 + 1e-6)
        snprintf(text, size, "%s lies just %s the middle of %s and %s", s->exact,
                 place < 0.5 ? "below" : "above", below.decimal, above.decimal);
    else if (assay_format_width(s->expr->type.format) > 16)
        snprintf(text, size, "%s lies %.4f of the way from %s to %s", s->exact, place, below.bits,
                 above.bits);
    else
        snprintf(text, size, "%s lies %.4f of the way from %s (%s) to %s (%s)", s->exact, place,
                 below.decimal, below.bits, above.decimal, above.bits);
}

static void print_operands(FILE *to, const explain_step *s)
{
    const assay_expr *arg = s->expr->arg[0];
    int64_t listed = s->operand_count < LISTED ? s->operand_count : LISTED;
    fprintf(to, "   of %" PRId64 ":", s->operand_count);
    for (int64_t i = 0; i < listed; i++) {
        explain_value v;
        const assay_expr *a = s->expr->argc > 1 ? s->expr->arg[i % s->expr->argc] : arg;
        explain_value_text(a->type, s->operands[i], &v);
        fprintf(to, " %s", v.decimal);
    }
    if (listed < s->operand_count)
        fputs(" ...", to);
}

static void print_step(FILE *to, const assay_program *p, const explain_step *s)
{
    bool assigns = s->root && s->statement->kind == ASSAY_ASSIGN;
    char *text = assigns ? NULL : assay_expr_print(p, s->expr);
    const char *label = assigns ? p->values[s->statement->target].name : text ? text : "?";
    fprintf(to, "    %-*s = ", LABEL, label);
    print_value(to, s->expr->type, s->bits);
    if (s->rounds) {
        char rounding[512];
        explain_rounding(s, rounding, sizeof rounding);
        fprintf(to, "   %s%s", s->inexact ? "rounded: " : "", rounding);
    }
    if (s->operands)
        print_operands(to, s);
    if (s->marked)
        fputs("   [not judged]", to);
    fputc('\n', to);
    free(text);
}

/* ---- one tile of a statement: steps first .. end-1 ---- */

/* Literals and silent widenings say nothing new; a value is shown at its first use. */
static bool shown(const explain_step *steps, size_t first, size_t i)
{
    const explain_step *s = &steps[i];
    if (s->root)
        return true;
    if (s->expr->op == ASSAY_OP_CONST || s->expr->op == ASSAY_OP_WIDEN)
        return false;
    if (s->expr->op != ASSAY_OP_VALUE)
        return true;
    for (size_t j = first; j < i; j++)
        if (steps[j].expr->op == ASSAY_OP_VALUE && steps[j].expr->u.value == s->expr->u.value)
            return false;
    return true;
}

static char *tile_text(const assay_program *p, const explain_trace *t, size_t first, size_t end)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    for (size_t i = first; i < end; i++)
        if (shown(t->steps, first, i))
            print_step(to, p, &t->steps[i]);
    return fclose(to) == 0 ? text : NULL;
}

/* ---- the tiles of a statement, those with the same numbers together ---- */

typedef struct {
    char *text;
    uint64_t hash;
    int64_t row, col;
    bool printed;
} tile_page;

static uint64_t hash_of(const char *text)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return h;
}

static void print_group(FILE *to, tile_page *pages, size_t n, size_t first, bool many)
{
    if (many) {
        int listed = 0, all = 0;
        fputs("   at", to);
        for (size_t i = first; i < n; i++) {
            if (pages[i].hash != pages[first].hash || strcmp(pages[i].text, pages[first].text))
                continue;
            pages[i].printed = true;
            if (all++ < LISTED && ++listed)
                fprintf(to, " [%" PRId64 ", %" PRId64 "]", pages[i].row, pages[i].col);
        }
        if (all > listed)
            fprintf(to, " ... %d in all", all);
        fputc('\n', to);
    }
    fputs(pages[first].text, to);
}

static size_t tile_end(const explain_trace *t, size_t first)
{
    while (!t->steps[first].root)
        first++;
    return first + 1;
}

/* Prints all tiles of the statement at step `first`; the step behind them. */
static size_t print_statement(FILE *to, const explain_request *r, const explain_trace *t,
                              size_t first)
{
    const assay_statement *s = t->steps[first].statement;
    size_t n = 0, capacity = 0, at = first;
    tile_page *pages = NULL;
    while (at < t->count && t->steps[at].statement == s) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            tile_page *grown = realloc(pages, capacity * sizeof *pages);
            if (!grown)
                break;
            pages = grown;
        }
        size_t end = tile_end(t, at);
        char *text = tile_text(r->program, t, at, end);
        if (!text)
            break;
        pages[n++] = (tile_page){text, hash_of(text), t->steps[end - 1].row, t->steps[end - 1].col,
                                 false};
        at = end;
    }
    bool many = assay_tiles_along(r->m, s->tile.rows) * assay_tiles_along(r->k, s->tile.cols) > 1;
    for (size_t i = 0; i < n; i++) {
        if (!pages[i].printed)
            print_group(to, pages, n, i, many);
        pages[i].printed = true;
    }
    for (size_t i = 0; i < n; i++)
        free(pages[i].text);
    free(pages);
    while (at < t->count && t->steps[at].statement == s)
        at++;
    return at;
}

/* ---- the page ---- */

static uint64_t code_of(const assay_grid *g, int64_t i, int64_t j, int size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)g->data + (i * g->cols + j) * size, (size_t)size);
    return bits;
}

/* One row of an input's values; equal neighbours share a line. */
static void print_input_row(FILE *to, const assay_value *v, const assay_grid *g, int64_t i, int64_t j,
                            int64_t col_end)
{
    int size = assay_type_storage(v->type);
    for (int64_t next; j < col_end; j = next) {
        char label[96];
        uint64_t bits = code_of(g, i, j, size);
        for (next = j + 1; next < col_end && code_of(g, i, next, size) == bits;)
            next++;
        if (next == j + 1)
            snprintf(label, sizeof label, "%s[%" PRId64 ", %" PRId64 "]", v->name, i, j);
        else
            snprintf(label, sizeof label, "%s[%" PRId64 ", %" PRId64 "..%" PRId64 "]", v->name, i, j,
                     next - 1);
        fprintf(to, "    %-*s = ", LABEL, label);
        print_value(to, v->type, bits);
        fputc('\n', to);
    }
}

/* First and end coordinate along one side of the tiles that touch the elements asked about. */
static void tiles_touched(int64_t side, int64_t first, int64_t extent, int64_t *begin, int64_t *end)
{
    *begin = side ? first / side : 0;
    *end = side ? (first + extent - 1) / side + 1 : 1;
}

static void print_input(FILE *to, const explain_request *r, int input)
{
    const assay_value *v = &r->program->values[r->program->inputs[input]];
    const assay_grid *g = &r->inputs[input];
    char place[64];
    explain_section(v->tile, place, sizeof place);
    fprintf(to, "in %s : %s", v->name, assay_type_name(v->type));
    if (v->is_table)
        fprintf(to, " table %" PRId64 "x%" PRId64 "\n", v->table_rows, v->table_cols);
    else
        fprintf(to, " per %s\n", strncmp(place, "block ", 6) ? place : place + 6);
    if (!g->data)
        fputs("    +0 everywhere\n", to);
    if (v->is_table || !g->data)
        return;
    int64_t row, row_end, col, col_end;
    tiles_touched(v->tile.rows, r->row, r->rows, &row, &row_end);
    tiles_touched(v->tile.cols, r->col, r->cols, &col, &col_end);
    for (int64_t i = row; i < row_end && i < g->rows; i++)
        print_input_row(to, v, g, i, col, col_end < g->cols ? col_end : g->cols);
}

static void print_page(FILE *to, const explain_request *r, const explain_trace *t)
{
    const assay_program *p = r->program;
    fprintf(to, "%s\n", p->name);
    if (p->summary && *p->summary)
        fprintf(to, "%s\n", p->summary);
    fprintf(to, "source: %s\n", p->source ? p->source : "");
    fprintf(to, "elements [%" PRId64 ", %" PRId64 "] to [%" PRId64 ", %" PRId64 "] of %" PRId64
                " x %" PRId64 ";  name = decimal, hex float, bits\n\n",
            r->row, r->col, r->row + r->rows - 1, r->col + r->cols - 1, r->m, r->k);
    for (int i = 0; i < p->input_count; i++)
        print_input(to, r, i);
    const assay_statement *last = NULL;
    for (size_t i = 0; i < t->count;) {
        const assay_statement *s = t->steps[i].statement;
        char section[64];
        explain_section(s->tile, section, sizeof section);
        if (!last || !assay_tile_equal(last->tile, s->tile))
            fprintf(to, "\n%s:\n", section);
        char *line = assay_statement_print(p, s);
        fprintf(to, "  %s\n", line ? line : "?");
        free(line);
        i = print_statement(to, r, t, i);
        last = s;
    }
}

char *explain_text(const explain_request *r, assay_error *error)
{
    explain_trace trace;
    if (explain_collect(r, &trace, error))
        return NULL;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to)
        print_page(to, r, &trace);
    if (!to || fclose(to) != 0) {
        free(text);
        text = NULL;
        assay_fail(error, "out of memory");
    }
    explain_trace_free(&trace);
    return text;
}
