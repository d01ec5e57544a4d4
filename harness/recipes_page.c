/* Blocks are run by the exact evaluator with the default instance. */
#include "recipes_page.h"

#include <stdlib.h>
#include <string.h>

#include "eval_plan.h"
#include "explain.h"

/* ---- blocks: a few values at the start of a block, and what becomes of them ---- */

enum { GIVEN = 8 }; /* values of a block that are listed; the rest is `rest` */

/* "max", "least": the format's largest and least positive value. A format that has not a value
 * has not the block. */
static const struct {
    const char *what;
    const char *values[GIVEN];
    const char *rest;
} blocks[] = {
    {"an ordinary block", {"1", "2.5", "-3", "0.25", "6", "-0.75", "0.125", "-0"}, "0"},
    {"all zero", {"0", "-0", "0", "0", "0", "0", "0", "0"}, "0"},
    {"ties of E2M1 under scale 1", {"6", "0.25", "0.75", "1.25", "1.75", "2.5", "3.5", "-5"}, "0"},
    {"one NaN among numbers", {"nan", "1", "-2", "3", "0", "-0", "4", "6"}, "1"},
    {"nothing but NaN", {"nan", "nan", "nan", "nan", "nan", "nan", "nan", "nan"}, "nan"},
    {"one Inf among numbers", {"inf", "1", "-2", "3", "0", "-0", "4", "-inf"}, "1"},
    {"the largest value", {"max", "-max", "1", "-1", "0", "-0", "4", "6"}, "0"},
    {"the least positive value", {"least", "-least", "least", "least", "0", "-0", "0", "0"}, "0"},
    {"2^-20 and below", {"0x1p-20", "-0x1p-21", "0x1p-23", "0x1p-30", "0", "-0", "0x1.8p-21", "0"}, "0"},
    {"five binades apart", {"448", "32", "-2", "0.125", "0x1p-7", "-0x1p-11", "0", "-0"}, "0"},
};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

typedef struct {
    const assay_program *p;
    int64_t m, k;
    bool down;                     /* the values lie down the first column */
    assay_grid *inputs, *outputs;
} block_run;

static bool admits(const assay_program *p, int64_t *m, int64_t *k)
{
    enum { FURTHER = 256 };
    for (int64_t i = 0; i <= FURTHER; i++)
        for (int64_t j = 0; j <= FURTHER; j++)
            if (assay_program_admits(p, *m + i, *k + j, NULL)) {
                *m += i;
                *k += j;
                return true;
            }
    return false;
}

/* One block of the largest tile, GIVEN values at least. */
static bool choose_shape(block_run *run)
{
    int64_t rows = 1, cols = 1;
    for (int s = 0; s < run->p->statement_count; s++) {
        assay_tile t = run->p->statements[s].tile;
        rows = t.rows > rows ? t.rows : rows;
        cols = t.cols > cols ? t.cols : cols;
    }
    run->down = rows > 1 && cols == 1;
    run->m = run->down && rows < GIVEN ? GIVEN : rows;
    run->k = !run->down && cols < GIVEN ? GIVEN : cols;
    return admits(run->p, &run->m, &run->k) && run->m * run->k <= 1 << 16;
}

static bool parse(assay_type type, const char *text, uint64_t *code)
{
    assay_error unused;
    const char *word = text + (*text == '-');
    bool max = !strcmp(word, "max");
    if (!max && strcmp(word, "least"))
        return eval_parse_value(type, text, code, &unused) == 0;
    if (type.kind != ASSAY_T_FORMAT)
        return false;
    *code = max ? assay_format_max_code(type.format) : 1;
    if (*text == '-')
        *code |= UINT64_C(1) << (assay_format_width(type.format) - 1);
    return true;
}

static void put(const assay_grid *g, int size, int64_t i, uint64_t code)
{
    memcpy((char *)g->data + i * size, &code, (size_t)size);
}

static uint64_t get(const assay_grid *g, int size, int64_t i)
{
    uint64_t code = 0;
    memcpy(&code, (const char *)g->data + i * size, (size_t)size);
    return code;
}

static bool fill_elements(const block_run *run, const assay_value *v, const assay_grid *g, int block)
{
    int size = assay_type_storage(v->type);
    uint64_t code;
    if (!parse(v->type, blocks[block].rest, &code))
        return false;
    for (int64_t i = 0; i < g->rows * g->cols; i++)
        put(g, size, i, code);
    for (int64_t i = 0; i < GIVEN; i++)
        if (!parse(v->type, blocks[block].values[i], &code))
            return false;
        else
            put(g, size, run->down ? i * g->cols : i, code);
    return true;
}

/* Inputs beside the main one: A and amax are what their name says of the block (Inf and NaN count as
 * 1), integers 0, other numbers 1; elements like the main input's. */
static bool fill_further(const block_run *run, const assay_value *v, const assay_grid *g, int block)
{
    uint64_t code = 0;
    if (v->type.kind == ASSAY_T_FORMAT && v->tile.rows == 1 && v->tile.cols == 1 && !v->is_table)
        return fill_elements(run, v, g, block);
    if (v->type.kind == ASSAY_T_FORMAT) {
        double largest = 0;
        for (int i = 0; i < GIVEN; i++) {
            double x = strtod(blocks[block].values[i], NULL);
            x = x < 0 ? -x : x;
            largest = x > largest && x <= 448 ? x : largest;
        }
        char text[64] = "1";
        if (!strcmp(v->name, "A") || strstr(v->name, "amax"))
            snprintf(text, sizeof text, "%a", largest);
        if (!parse(v->type, text, &code))
            return false;
    }
    for (int64_t i = 0; i < g->rows * g->cols; i++)
        put(g, assay_type_storage(v->type), i, code);
    return true;
}

static bool is_fed(const assay_program *p, int input)
{
    for (int i = 0; i < p->output_count; i++)
        if (p->values[p->outputs[i]].feeds == input)
            return true;
    return false;
}

static bool make_grids(block_run *run)
{
    const assay_program *p = run->p;
    run->inputs = calloc((size_t)p->input_count + 1, sizeof *run->inputs);
    run->outputs = calloc((size_t)p->output_count + 1, sizeof *run->outputs);
    for (int i = 0; run->inputs && run->outputs && i < p->input_count + p->output_count; i++) {
        bool out = i >= p->input_count;
        int value = out ? p->outputs[i - p->input_count] : p->inputs[i];
        assay_grid *g = out ? &run->outputs[i - p->input_count] : &run->inputs[i];
        assay_value_shape(&p->values[value], run->m, run->k, &g->rows, &g->cols);
        size_t n = (size_t)(g->rows * g->cols) + 1;
        if (out || !is_fed(p, value))
            g->data = calloc(n, (size_t)assay_type_storage(p->values[value].type));
        g->marks = out ? calloc(n, 1) : NULL;
    }
    return run->inputs && run->outputs;
}

static void free_grids(block_run *run)
{
    for (int i = 0; run->inputs && i < run->p->input_count; i++)
        free(run->inputs[i].data);
    for (int i = 0; run->outputs && i < run->p->output_count; i++) {
        free(run->outputs[i].data);
        free(run->outputs[i].marks);
    }
    free(run->inputs);
    free(run->outputs);
}

/* The values of a grid that belong to the listed elements, each once. */
static json_t *listed(const block_run *run, const assay_value *v, const assay_grid *g)
{
    bool element = v->tile.rows == 1 && v->tile.cols == 1 && !v->is_table;
    json_t *list = json_array();
    int64_t n = element ? GIVEN : g->rows > 0 && g->cols > 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = run->down && element ? i * g->cols : i;
        explain_value text;
        explain_value_text(v->type, get(g, assay_type_storage(v->type), at), &text);
        json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "dec", text.decimal, "bits", text.bits,
                                              "judged", !(g->marks && g->marks[at])));
    }
    return list;
}

static json_t *run_block(block_run *run, int block)
{
    const assay_program *p = run->p;
    assay_error unused;
    json_t *inputs = json_object(), *outputs = json_object();
    bool good = true;
    for (int i = 0; i < p->input_count && good; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        assay_grid *g = &run->inputs[i];
        if (!g->data)
            continue;
        good = p->inputs[i] == p->main_input ? fill_elements(run, v, g, block)
                                             : fill_further(run, v, g, block);
        json_object_set_new(inputs, v->name, listed(run, v, g));
    }
    good = good && assay_exact_eval(p, run->m, run->k, run->inputs, run->outputs, &unused) == 0;
    for (int i = 0; i < p->output_count && good; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        json_object_set_new(outputs, v->name, listed(run, v, &run->outputs[i]));
    }
    json_t *result = good ? json_pack("{s:s, s:s, s:O, s:O}", "what", blocks[block].what, "rest",
                                      blocks[block].rest, "inputs", inputs, "outputs", outputs)
                          : NULL;
    json_decref(inputs);
    json_decref(outputs);
    return result;
}

static json_t *all_blocks(const assay_program *p)
{
    block_run run = {.p = p};
    json_t *list = json_array();
    if (p->main_input >= 0 && choose_shape(&run) && make_grids(&run))
        for (int i = 0; i < BLOCKS; i++) {
            json_t *block = run_block(&run, i);
            if (block)
                json_array_append_new(list, block);
        }
    free_grids(&run);
    return list;
}

/* ---- the comments' own words ---- */

/* Does this comment line ("# ...") go on with what the lines before it said? Not if it begins with a
 * label of its own, "# word:"; after `checked:` only if the line before ended in a comma or so. */
static bool goes_on(const char *line, char last, bool list)
{
    const char *first = line + 1 + strspn(line + 1, " ");
    size_t n = strcspn(first, " \n");
    return *line == '#' && n && first[n - 1] != ':' && (!list || last == ',' || last == ';');
}

/* The text from `word` in a comment to the end of what it says, or NULL. */
static char *from_comments(const char *text, const char *word, bool list)
{
    const char *start = text;
    while ((start = strstr(start, word))) {
        const char *line = start;
        while (line > text && line[-1] != '\n')
            line--;
        if (*line == '#' && start[-1] == ' ')
            break;
        start++;
    }
    if (!start)
        return NULL;
    start += strlen(word);
    char *out = malloc(strlen(start) + 1), *to = out;
    const char *line = start + strspn(start, " ");
    while (out) {
        size_t n = strcspn(line, "\n");
        memcpy(to, line, n);
        to += n;
        line += n;
        if (!*line || !goes_on(line + 1, to > out ? to[-1] : 0, list))
            break;
        *to++ = ' ';
        line += 1 + strspn(line + 1, "# ");
    }
    if (out)
        *to = 0;
    return out;
}

static void add_comment(json_t *o, const char *key, const char *text, const char *word)
{
    char *found = from_comments(text, word, !strcmp(key, "checked"));
    json_object_set_new(o, key, found ? json_string(found) : json_null());
    free(found);
}

/* ---- the page ---- */

void recipes_page_add(json_t *o, const assay_recipe *r, const assay_program *p)
{
    json_t *layout = json_array();
    for (const char *line = p->canonical; *line; line += strcspn(line, "\n") + 1)
        if (!strncmp(line, "layout ", 7))
            json_array_append_new(layout, json_stringn(line + 7, strcspn(line + 7, "\n")));
    json_object_set_new(o, "instance", json_string(p->name));
    json_object_set_new(o, "layout", layout);
    json_object_set_new(o, "layout_sha256", json_string(p->layout_sha256));
    add_comment(o, "checked", assay_recipe_text(r), "checked:");
    add_comment(o, "traps", assay_recipe_text(r), "Traps:");
    json_object_set_new(o, "blocks", all_blocks(p));
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* "# " and words, broken before column 100. */
static void print_wrapped(const char *label, const char *text)
{
    enum { WIDTH = 98 };
    size_t column = (size_t)printf("# %-10s", label);
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > 12 && column + 1 + n > WIDTH)
            column = (size_t)printf("\n# %-10s", "") - 1;
        column += (size_t)printf(" %.*s", (int)n, text);
        text += n + strspn(text + n, " ");
    }
    putchar('\n');
}

static void print_values(const char *key, const json_t *list)
{
    printf("#   %-8s", key);
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        bool judged = json_is_true(json_object_get(v, "judged"));
        printf(" %s%s", text_of(v, "dec"), judged ? "" : " (not judged)");
    }
    if (json_array_size(list) == 1 && *text_of(json_array_get(list, 0), "bits"))
        printf("   %s", text_of(json_array_get(list, 0), "bits"));
    putchar('\n');
}

static void print_ports(const char *what, const json_t *list)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        json_t *tile = json_object_get(v, "tile"), *size;
        char text[80] = "";
        size_t j;
        json_array_foreach(tile, j, size) {
            size_t n = strlen(text);
            if (json_is_integer(size))
                snprintf(text + n, sizeof text - n, "%s%lld", j ? "x" : "",
                         (long long)json_integer_value(size));
            else
                snprintf(text + n, sizeof text - n, "%s*", j ? "x" : "");
        }
        printf("# %-10s %-8s %-8s %s %s\n", i ? "" : what, text_of(v, "name"), text_of(v, "type"),
               tile ? "one for each" : "a table", tile ? text : "");
    }
}

void recipes_page_print(const json_t *o, const assay_recipe *r)
{
    const char *key;
    size_t i;
    json_t *v, *list;
    fputs(assay_recipe_text(r), stdout);
    printf("\n# ---- beyond the text: comments, so this page is a recipe file ----\n");
    print_wrapped("default", text_of(o, "instance"));
    print_wrapped("sha256", text_of(o, "sha256"));
    fputs("# systems   ", stdout);
    json_array_foreach(json_object_get(o, "systems"), i, v)
        printf("%s %s", i ? "," : "", json_string_value(v));
    putchar('\n');
    print_ports("inputs", json_object_get(o, "inputs"));
    print_ports("outputs", json_object_get(o, "outputs"));
    json_array_foreach(json_object_get(o, "layout"), i, v)
        print_wrapped(i ? "" : "layout", json_string_value(v));
    if (*text_of(o, "traps"))
        print_wrapped("traps", text_of(o, "traps"));
    json_array_foreach(json_object_get(o, "blocks"), i, v) {
        printf("#\n# %s; all other values are %s\n", text_of(v, "what"), text_of(v, "rest"));
        json_object_foreach(json_object_get(v, "inputs"), key, list)
            print_values(key, list);
        json_object_foreach(json_object_get(v, "outputs"), key, list)
            print_values(key, list);
    }
}
