/* Inputs on which plausible implementations part, with answers derived by hand: both evaluators. */
#include <ctype.h>

#include "recorded.h"
#include "witnesses_block.h"
#include "witnesses_cast.h"

enum { CODES = 512, UNIT = 128 };

/* One list "c c*n _ nan ?": values, and how each is compared. */
typedef struct {
    uint64_t code[CODES];
    char kind[CODES]; /* '=' a code, '_' any, 'n' a NaN, '?' marked */
    int n;
} code_list;

static void read_list(const char *text, code_list *list)
{
    list->n = 0;
    while (*text && *text != ';') {
        if (isspace((unsigned char)*text)) {
            text++;
            continue;
        }
        char kind = '=', *rest = NULL;
        uint64_t code = 0;
        if (*text == '_' || *text == '?')
            kind = *text++;
        else if (!strncmp(text, "nan", 3)) {
            kind = 'n';
            text += 3;
        } else {
            code = strtoull(text, &rest, 16);
            ck_assert_ptr_ne(rest, text);
            text = rest;
        }
        long repeat = 1;
        if (*text == '*') {
            repeat = strtol(text + 1, &rest, 10);
            text = rest;
        }
        while (repeat-- > 0) {
            ck_assert_int_lt(list->n, CODES);
            list->kind[list->n] = kind;
            list->code[list->n++] = code;
        }
    }
}

/* The list after "NAME=" (or "NAME|=") in "A=1 2; B=3"; false if there is none. */
static bool find_list(const char *text, const char *name, code_list *list)
{
    size_t length = strlen(name);
    for (; text; text = strchr(text, ';'), text = text ? text + 1 : NULL) {
        text += strspn(text, " ");
        if (!strncmp(text, name, length) && (text[length] == '=' || text[length] == '|')) {
            read_list(strchr(text, '=') + 1, list);
            return true;
        }
    }
    return false;
}

static int count_lists(const char *text)
{
    int n = 1;
    for (; *text; text++)
        n += *text == ';';
    return n;
}

static void put_codes(assay_grid *g, const assay_value *v, const code_list *list)
{
    int bytes = assay_type_storage(v->type);
    for (int i = 0; i < list->n; i++)
        memcpy((char *)g->data + i * bytes, &list->code[i], (size_t)bytes);
}

static bool listed(const assay_value *v, char kind, uint64_t want, uint64_t got, bool marked)
{
    if (kind == '_')
        return true;
    if (kind == '?' || marked)
        return kind == '?' && marked;
    if (kind == 'n')
        return assay_decode(v->type.format, got).class_ == ASSAY_CLASS_NAN;
    return want == got;
}

static void check_outputs(const witness *w, const char *engine, const assay_program *p,
                          const assay_grid *outputs)
{
    int found = 0;
    for (int i = 0; i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        code_list list;
        if (!find_list(w->outputs, v->name, &list))
            continue;
        found++;
        ck_assert_int_le(list.n, outputs[i].rows * outputs[i].cols);
        for (int c = 0; c < list.n; c++) {
            uint64_t got = code_at(outputs[i].data, c, assay_type_storage(v->type));
            ck_assert_msg(listed(v, list.kind[c], list.code[c], got, outputs[i].marks[c]),
                          "%s: %s (%s): %s[%d] is %" PRIX64 "%s, must be %c %" PRIX64, w->recipe,
                          w->tag, engine, v->name, c, got, outputs[i].marks[c] ? " (marked)" : "",
                          list.kind[c], list.code[c]);
        }
        checks_add((uint64_t)list.n);
    }
    ck_assert_msg(found == count_lists(w->outputs), "%s: an output that the recipe does not have",
                  w->tag);
}

static void check_witness(const witness *w)
{
    assay_program *p = program(w->recipe);
    assay_grid inputs[VALUES], outputs[VALUES];
    code_list list;
    int64_t n = UNIT;
    for (int i = 0; i < p->input_count; i++)
        if (find_list(w->inputs, p->values[p->inputs[i]].name, &list) && list.n > n)
            n = (list.n + UNIT - 1) / UNIT * UNIT;
    bool column = strstr(w->inputs, "|=");
    int64_t m = column ? n : 1, k = column ? 1 : n;
    if (find_list(w->inputs, "M", &list)) {
        m = (int64_t)list.code[0];
        k = UNIT;
    }
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        inputs[i] = new_grid(v, m, k);
        ck_assert_msg(find_list(w->inputs, v->name, &list), "%s: no input %s", w->tag, v->name);
        ck_assert_int_le(list.n, inputs[i].rows * inputs[i].cols);
        put_codes(&inputs[i], v, &list);
    }
    for (int e = 0; e < ENGINES; e++) {
        for (int i = 0; i < p->output_count; i++)
            outputs[i] = new_grid(&p->values[p->outputs[i]], m, k);
        assay_error error = {0};
        ck_assert_msg(engines[e].eval(p, m, k, inputs, outputs, &error) == 0, "%s: %s", w->recipe,
                      error.message);
        check_outputs(w, engines[e].name, p, outputs);
        free_grids(outputs, p->output_count);
    }
    free_grids(inputs, p->input_count);
    assay_program_free(p);
}

START_TEST(casts)
{
    check_witness(&cast_witnesses[_i]);
}
END_TEST

START_TEST(blocks)
{
    check_witness(&block_witnesses[_i]);
}
END_TEST

/* Does a row of the table name this recipe? */
static bool names_recipe(const witness *rows, size_t count, const char *recipe)
{
    size_t n = strlen(recipe);
    for (size_t i = 0; i < count; i++)
        if (!strncmp(rows[i].recipe, recipe, n) && strchr("(", rows[i].recipe[n]))
            return true; /* strchr also finds the end of a name without parameters */
    return false;
}

static bool has_witness(const char *recipe)
{
    size_t casts_count = sizeof cast_witnesses / sizeof cast_witnesses[0];
    size_t blocks_count = sizeof block_witnesses / sizeof block_witnesses[0];
    return names_recipe(cast_witnesses, casts_count, recipe) ||
           names_recipe(block_witnesses, blocks_count, recipe);
}

/* Every recipe says in a comment what checks it; one that says "witness table" has a row there. */
START_TEST(every_recipe_is_checked)
{
    static const char *const others[] = {"recorded answers", "adapter", "on a CPU"};
    for (int i = 0; i < assay_catalogue_count(); i++) {
        assay_error error = {0};
        const assay_recipe *r = assay_catalogue_recipe(i, &error);
        ck_assert_msg(r != NULL, "%s", error.message);
        const char *name = assay_recipe_name(r), *text = assay_recipe_text(r);
        if (strstr(name, ".decode"))
            continue;
        const char *checked = strstr(text, "# checked: ");
        ck_assert_msg(checked != NULL, "%s: no line \"# checked: ...\"", name);
        bool by_other = false;
        for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
            by_other = by_other || strstr(checked, others[o]);
        ck_assert_msg(by_other || has_witness(name), "%s: nothing checks it", name);
        if (strstr(checked, "witness table"))
            ck_assert_msg(has_witness(name), "%s: no row in the witness table", name);
        checks_add(1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("witnesses");
    TCase *c = tcase_create("casts");
    tcase_add_loop_test(c, casts, 0, sizeof cast_witnesses / sizeof cast_witnesses[0]);
    suite_add_tcase(suite, c);
    c = tcase_create("blocks");
    tcase_add_loop_test(c, blocks, 0, sizeof block_witnesses / sizeof block_witnesses[0]);
    suite_add_tcase(suite, c);
    c = tcase_create("catalogue");
    tcase_add_test(c, every_recipe_is_checked);
    suite_add_tcase(suite, c);
    return checks_main(suite);
}
