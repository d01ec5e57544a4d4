/* The values of two programs are paired: by name; outputs and inputs that are left, in order, by type
 * and tiling; locals that are left, by equal expressions over paired values. Then pairs are compared
 * statement by statement, and the first nodes that differ say why. */
#include "recipes_diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"

typedef struct {
    const assay_program *a, *b;
    int *of_b;    /* value of b -> value of a, or -1 */
    bool *paired; /* value of a */
    json_t *list;
} comparison;

/* ---- expressions ---- */

static bool same_details(const comparison *c, const assay_expr *a, const assay_expr *b)
{
    switch (a->op) {
    case ASSAY_OP_CONST:
        return a->u.constant.bits == b->u.constant.bits;
    case ASSAY_OP_VALUE:
    case ASSAY_OP_AT:
        return c->of_b[b->u.value] == a->u.value;
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_FMA:
    case ASSAY_OP_SQRT:
    case ASSAY_OP_RINT:
        return a->u.arith.mode == b->u.arith.mode && a->u.arith.ftz == b->u.arith.ftz;
    case ASSAY_OP_CAST:
        return a->u.cast.mode == b->u.cast.mode && a->u.cast.overflow == b->u.cast.overflow &&
               a->u.cast.nan_code == b->u.cast.nan_code && a->u.cast.nan_sign == b->u.cast.nan_sign &&
               a->u.cast.ftz == b->u.cast.ftz && a->u.cast.random_bits == b->u.cast.random_bits;
    case ASSAY_OP_APPROX:
        return a->u.approx.n == b->u.approx.n;
    case ASSAY_OP_HADAMARD:
    case ASSAY_OP_ROTATE:
        return assay_tile_equal(a->u.transform.run, b->u.transform.run) &&
               (a->op == ASSAY_OP_HADAMARD ? a->u.transform.mask == b->u.transform.mask
                                           : c->of_b[b->u.transform.table] == a->u.transform.table);
    case ASSAY_OP_RED_SUM:
    case ASSAY_OP_RED_DOT:
        return a->u.reduce.order == b->u.reduce.order;
    default:
        return true;
    }
}

/* The first pair of nodes that differ, in order of evaluation; false if none does. */
static bool first_difference(const comparison *c, const assay_expr *a, const assay_expr *b,
                             const assay_expr **in_a, const assay_expr **in_b)
{
    if (a->op == b->op && a->argc == b->argc)
        for (int i = 0; i < a->argc; i++)
            if (first_difference(c, a->arg[i], b->arg[i], in_a, in_b))
                return true;
    if (a->op == b->op && a->argc == b->argc && assay_type_equal(a->type, b->type) &&
        same_details(c, a, b))
        return false;
    *in_a = a;
    *in_b = b;
    return true;
}

static bool same_expr(const comparison *c, const assay_expr *a, const assay_expr *b)
{
    const assay_expr *x, *y;
    return assay_tile_equal(a->tile, b->tile) && !first_difference(c, a, b, &x, &y);
}

/* ---- words ---- */

static char *words_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *words_of(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return text;
}

static char *cast_words(const assay_expr *a, const assay_expr *b)
{
    const assay_cast *x = &a->u.cast, *y = &b->u.cast;
    const char *f = assay_type_name(a->type);
    if (!assay_type_equal(a->type, b->type))
        return words_of("A rounds to %s, B to %s", f, assay_type_name(b->type));
    if (x->mode != y->mode)
        return words_of("A rounds to %s with mode %s, B with %s", f, assay_mode_name(x->mode),
                        assay_mode_name(y->mode));
    if (x->overflow != y->overflow)
        return words_of("on overflow of %s A does %s, B %s", f, assay_overflow_name(x->overflow),
                        assay_overflow_name(y->overflow));
    if (x->random_bits != y->random_bits)
        return words_of("A rounds to %s with %d random bits, B with %d", f, x->random_bits,
                        y->random_bits);
    if (x->ftz != y->ftz)
        return words_of("%s flushes subnormals of %s to zero, the other keeps them",
                        x->ftz ? "A" : "B", f);
    if (x->nan_sign != y->nan_sign)
        return words_of("%s keeps a NaN's sign in %s, the other does not", x->nan_sign ? "A" : "B", f);
    return words_of("a NaN becomes code 0x%" PRIX64 " of %s in A, 0x%" PRIX64 " in B", x->nan_code, f,
                    y->nan_code);
}

/* The text between the backquotes: an expression in one program's names. */
static char *plain_words(const comparison *c, const assay_expr *a, const assay_expr *b)
{
    char *x = assay_expr_print(c->a, a), *y = assay_expr_print(c->b, b);
    char *words = NULL;
    if (x && y)
        words = words_of(strcmp(x, y) ? "A has `%s` where B has `%s`"
                                      : "`%s` is another value in A than `%s` in B", x, y);
    free(x);
    free(y);
    return words;
}

static char *arith_words(const assay_expr *a, const assay_expr *b)
{
    const char *word = assay_op_word(a->op);
    if (a->u.arith.mode != b->u.arith.mode)
        return words_of("%s rounds with mode %s in A, %s in B", word, assay_mode_name(a->u.arith.mode),
                        assay_mode_name(b->u.arith.mode));
    return words_of("%s flushes subnormals in %s only", word, a->u.arith.ftz ? "A" : "B");
}

static char *difference_words(const comparison *c, const assay_expr *a, const assay_expr *b)
{
    if (a->op != b->op || a->argc != b->argc)
        return plain_words(c, a, b);
    if (a->op == ASSAY_OP_CAST)
        return cast_words(a, b);
    if (!assay_type_equal(a->type, b->type)) {
        char *text = assay_expr_print(c->a, a);
        char *words = words_of("`%s` is %s in A, %s in B", text ? text : "?", assay_type_name(a->type),
                               assay_type_name(b->type));
        free(text);
        return words;
    }
    if (a->op >= ASSAY_OP_ADD && a->op <= ASSAY_OP_RINT)
        return arith_words(a, b);
    return plain_words(c, a, b);
}

static const char *kind_of(const assay_value *v)
{
    if (v->role != ASSAY_OUTPUT)
        return "step";
    return v->tile.rows == 1 && v->tile.cols == 1 ? "element" : "scale";
}

/* `words` is taken over; a, b may be NULL. */
static void add(comparison *c, const char *what, const char *name, char *words, const char *a,
                const char *b)
{
    json_t *o = json_pack("{s:s, s:s, s:s}", "what", what, "name", name, "words",
                          words ? words : "differs");
    if (a)
        json_object_set_new(o, "a", json_string(a));
    if (b)
        json_object_set_new(o, "b", json_string(b));
    json_array_append_new(c->list, o);
    free(words);
}

/* ---- pairing ---- */

static void pair(comparison *c, int a, int b)
{
    c->of_b[b] = a;
    c->paired[a] = true;
}

static const assay_expr *expr_of(const assay_program *p, int value)
{
    int s = p->values[value].statement;
    return s < 0 ? NULL : p->statements[s].expr;
}

static void pair_by_name(comparison *c)
{
    for (int b = 0; b < c->b->value_count; b++)
        for (int a = 0; a < c->a->value_count && c->of_b[b] < 0; a++)
            if (!c->paired[a] && c->a->values[a].role == c->b->values[b].role &&
                !strcmp(c->a->values[a].name, c->b->values[b].name))
                pair(c, a, b);
}

static bool may_correspond(const comparison *c, int a, int b)
{
    const assay_value *x = &c->a->values[a], *y = &c->b->values[b];
    if (c->paired[a] || x->role != y->role || !assay_tile_equal(x->tile, y->tile) ||
        !assay_type_equal(x->type, y->type) || x->is_table != y->is_table)
        return false;
    const assay_expr *e = expr_of(c->a, a), *f = expr_of(c->b, b);
    return x->role != ASSAY_LOCAL || (e && f && same_expr(c, e, f));
}

/* Inputs and outputs first: the locals' expressions are compared over them. Pairs of locals make
 * more pairs possible, in the order in which they are assigned. */
static void pair_the_rest(comparison *c)
{
    for (int local = 0; local < 2; local++)
        for (int b = 0; b < c->b->value_count; b++)
            for (int a = 0; a < c->a->value_count && c->of_b[b] < 0; a++)
                if ((c->b->values[b].role == ASSAY_LOCAL) == local && may_correspond(c, a, b))
                    pair(c, a, b);
}

/* ---- comparing ---- */

static void describe(const assay_value *v, char *text, size_t size)
{
    char tile[48];
    explain_section(v->tile, tile, sizeof tile);
    snprintf(text, size, "%s per %s%s%s", assay_type_name(v->type), tile, v->any_nan ? " any nan" : "",
             v->any_zero ? " any zero" : "");
}

static char *statement_text(const assay_program *p, int s)
{
    return s < 0 ? NULL : assay_statement_print(p, &p->statements[s]);
}

static void compare_declarations(comparison *c, const assay_value *x, const assay_value *y)
{
    char a[128], b[128];
    describe(x, a, sizeof a);
    describe(y, b, sizeof b);
    const char *what = x->role == ASSAY_INPUT ? "input" : x->role == ASSAY_OUTPUT ? "output" : "step";
    if (strcmp(a, b))
        add(c, what, x->name, words_of("%s in A, %s in B", a, b), NULL, NULL);
    if (x->role != ASSAY_LOCAL && strcmp(x->name, y->name))
        add(c, what, x->name, words_of("is called %s in B; compared with it", y->name), NULL, NULL);
    if (!assay_tile_equal(x->pad, y->pad))
        add(c, what, x->name, words_of("is extended to multiples of %" PRId64 "x%" PRId64 " in A, of %"
                                       PRId64 "x%" PRId64 " in B", x->pad.rows, x->pad.cols, y->pad.rows,
                                       y->pad.cols), NULL, NULL);
}

static void compare_pair(comparison *c, int a, int b)
{
    const assay_value *x = &c->a->values[a], *y = &c->b->values[b];
    compare_declarations(c, x, y);
    const assay_expr *e = expr_of(c->a, a), *f = expr_of(c->b, b), *in_a, *in_b;
    if (!e || !f || !first_difference(c, e, f, &in_a, &in_b))
        return;
    char *s = statement_text(c->a, x->statement), *t = statement_text(c->b, y->statement);
    add(c, kind_of(x), x->name, difference_words(c, in_a, in_b), s, t);
    free(s);
    free(t);
}

static void only_in(comparison *c, const char *side, const assay_program *p, int value)
{
    const assay_value *v = &p->values[value];
    const char *what = v->role == ASSAY_INPUT ? "input" : kind_of(v);
    char text[128], *statement = statement_text(p, v->statement);
    describe(v, text, sizeof text);
    char *words = words_of("%s has no such value (%s)", *side == 'A' ? "B" : "A", text);
    add(c, what, v->name, words, *side == 'A' ? statement : NULL, *side == 'B' ? statement : NULL);
    free(statement);
}

static void compare_value(comparison *c, int a)
{
    int b = 0;
    while (b < c->b->value_count && c->of_b[b] != a)
        b++;
    if (b < c->b->value_count)
        compare_pair(c, a, b);
    else
        only_in(c, "A", c->a, a);
}

/* Inputs, then in order of assignment: the first difference is the one from which others follow. */
static void compare_values(comparison *c)
{
    for (int i = 0; i < c->a->input_count; i++)
        compare_value(c, c->a->inputs[i]);
    for (int s = 0; s < c->a->statement_count; s++)
        if (c->a->statements[s].kind == ASSAY_ASSIGN)
            compare_value(c, c->a->statements[s].target);
    for (int b = 0; b < c->b->value_count; b++)
        if (c->of_b[b] < 0)
            only_in(c, "B", c->b, b);
}

/* Lines of canonical text that begin with `word` (after indentation); the i-th, malloc'd. */
static char *line_of(const char *text, const char *word, int i)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *start = line + strspn(line, " ");
        if (!strncmp(start, word, strlen(word)) && i-- == 0)
            return strndup(start, strcspn(start, "\n"));
    }
    return NULL;
}

static bool has_line(const char *text, const char *word, const char *wanted)
{
    bool found = false;
    char *line;
    for (int i = 0; !found && (line = line_of(text, word, i)); i++) {
        found = !strcmp(line, wanted);
        free(line);
    }
    return found;
}

/* Lines of one kind as sets: each one that the other program has not. */
static void compare_lines(comparison *c, const char *what, const char *word)
{
    const char *texts[2] = {c->a->canonical, c->b->canonical};
    for (int side = 0; side < 2; side++) {
        char *line;
        for (int i = 0; (line = line_of(texts[side], word, i)); i++) {
            if (!has_line(texts[!side], word, line))
                add(c, what, "", words_of("only %s says `%s`", side ? "B" : "A", line),
                    side ? NULL : line, side ? line : NULL);
            free(line);
        }
    }
}

json_t *recipes_diff(const assay_program *a, const assay_program *b)
{
    comparison c = {.a = a, .b = b, .list = json_array()};
    c.of_b = malloc(((size_t)b->value_count + 1) * sizeof *c.of_b);
    c.paired = calloc((size_t)a->value_count + 1, sizeof *c.paired);
    if (c.of_b && c.paired && c.list && strcmp(a->sha256, b->sha256)) {
        for (int i = 0; i < b->value_count; i++)
            c.of_b[i] = -1;
        pair_by_name(&c);
        pair_the_rest(&c);
        if (a->nan_code != b->nan_code)
            add(&c, "nan", "", words_of("the NaN that arithmetic gives is 0x%08" PRIX32 " in A, 0x%08"
                                        PRIX32 " in B", a->nan_code, b->nan_code), NULL, NULL);
        compare_lines(&c, "require", "require ");
        compare_values(&c);
        compare_lines(&c, "mark", "unspecified ");
        if (!json_array_size(c.list))
            add(&c, "step", "", words_of("the same steps in another order, or under other names"), NULL,
                NULL);
    }
    if (c.list)
        compare_lines(&c, "layout", "layout ");
    free(c.of_b);
    free(c.paired);
    return c.list;
}

/* ---- the command ---- */

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void print_difference(const json_t *d)
{
    const char *what = text_of(d, "what"), *name = text_of(d, "name");
    printf("\n%s%s%s: %s\n", what, *name ? " " : "", name, text_of(d, "words"));
    if (strchr("se", *what) && *text_of(d, "a"))
        printf("    A  %s\n", text_of(d, "a"));
    if (strchr("se", *what) && *text_of(d, "b"))
        printf("    B  %s\n", text_of(d, "b"));
}

static void print_text(const assay_program *a, const assay_program *b, const json_t *list)
{
    bool numerics = !strcmp(a->sha256, b->sha256), bytes = !strcmp(a->layout_sha256, b->layout_sha256);
    printf("A  %s\nB  %s\n", a->name, b->name);
    if (numerics)
        printf("\nthe same numerics (sha256 %s)%s\n", a->sha256,
               bytes ? " and the same bytes" : "; the bytes are laid out differently");
    size_t i;
    json_t *d;
    json_array_foreach(list, i, d)
        print_difference(d);
}

int recipes_diff_print(const char *name_a, const char *name_b, bool json)
{
    assay_error error;
    assay_program *a = assay_catalogue_program(name_a, &error);
    assay_program *b = a ? assay_catalogue_program(name_b, &error) : NULL;
    if (!a || !b) {
        assay_program_free(a);
        return complain(STATUS_USAGE, "%s", error.message);
    }
    json_t *list = recipes_diff(a, b);
    bool numerics = !strcmp(a->sha256, b->sha256), bytes = !strcmp(a->layout_sha256, b->layout_sha256);
    int status = numerics && bytes ? STATUS_OK : STATUS_DIFFERS;
    if (json) {
        json_t *document = json_pack(
            "{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}, s:b, s:b, s:O}", "a", "name", a->name, "sha256",
            a->sha256, "layout_sha256", a->layout_sha256, "b", "name", b->name, "sha256", b->sha256,
            "layout_sha256", b->layout_sha256, "same_numerics", numerics, "same_bytes", bytes,
            "differences", list);
        status = status_worst(print_json(document), status);
    } else {
        print_text(a, b, list);
        status = status_worst(finish_output(), status);
    }
    json_decref(list);
    assay_program_free(a);
    assay_program_free(b);
    return status;
}
