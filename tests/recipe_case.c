#include "recipe_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static int find(const assay_program *p, const int *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(p->values[list[i]].name, name))
            return i;
    ck_abort_msg("no value %s", name);
    return -1;
}

static int output_index(const recipe_case *c, const char *name)
{
    return find(c->program, c->program->outputs, c->program->output_count, name);
}

static int storage_of(const recipe_case *c, int output)
{
    return assay_type_storage(c->program->values[c->program->outputs[output]].type);
}

void case_open(recipe_case *c, const char *body, int64_t m, int64_t k)
{
    assay_error error;
    char text[8192];
    int n = snprintf(text, sizeof text, "recipe t\nsource \"test\"\n%s", body);
    ck_assert_int_lt(n, (int)sizeof text);
    *c = (recipe_case){.m = m, .k = k};
    assay_recipe *decode = NULL;
    int status = assay_recipe_parse(text, (size_t)n, "test", &c->recipe, &decode, &error);
    ck_assert_msg(status == 0, "%s", error.message);
    c->program = assay_recipe_instance(c->recipe, "", NULL, NULL, &error);
    ck_assert_msg(c->program != NULL, "%s", error.message);
    case_allocate(c);
}

void case_allocate(recipe_case *c)
{
    const assay_program *p = c->program;
    ck_assert_int_le(p->input_count, CASE_GRIDS);
    ck_assert_int_le(p->output_count, CASE_GRIDS);
    for (int i = 0; i < p->input_count; i++)
        assay_value_shape(&p->values[p->inputs[i]], c->m, c->k, &c->inputs[i].rows, &c->inputs[i].cols);
    for (int i = 0; i < p->output_count; i++) {
        assay_grid *g = &c->outputs[i];
        assay_value_shape(&p->values[p->outputs[i]], c->m, c->k, &g->rows, &g->cols);
        size_t codes = (size_t)(g->rows * g->cols);
        g->data = calloc(codes + 1, (size_t)storage_of(c, i));
        g->marks = calloc(codes + 1, 1);
        c->verdicts[i] = calloc(codes + 1, 1);
    }
}

void case_close(recipe_case *c)
{
    for (int i = 0; i < c->program->output_count; i++) {
        free(c->outputs[i].data);
        free(c->outputs[i].marks);
        free(c->verdicts[i]);
    }
    assay_program_free(c->program);
    if (c->recipe)
        assay_recipe_free(c->recipe);
}

void case_input(recipe_case *c, const char *name, const void *codes, int64_t n)
{
    int i = find(c->program, c->program->inputs, c->program->input_count, name);
    ck_assert_int_eq(n, c->inputs[i].rows * c->inputs[i].cols);
    c->inputs[i].data = (void *)(uintptr_t)codes;
}

void case_run(recipe_case *c)
{
    assay_error error;
    int status = assay_exact_eval(c->program, c->m, c->k, c->inputs, c->outputs, &error);
    ck_assert_msg(status == 0, "%s", error.message);
}

uint64_t case_code(const recipe_case *c, const char *name, int64_t index)
{
    int i = output_index(c, name);
    size_t size = (size_t)storage_of(c, i);
    uint64_t code = 0;
    memcpy(&code, (const char *)c->outputs[i].data + (size_t)index * size, size);
    return code;
}

bool case_mark(const recipe_case *c, const char *name, int64_t index)
{
    return c->outputs[output_index(c, name)].marks[index];
}

void case_expect(const recipe_case *c, const char *name, const uint64_t *codes, int64_t n)
{
    int o = output_index(c, name);
    ck_assert_int_eq(n, c->outputs[o].rows * c->outputs[o].cols);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(case_code(c, name, i) == codes[i],
                      "%s %" PRId64 ": want 0x%" PRIx64 ", got 0x%" PRIx64, name, i, codes[i],
                      case_code(c, name, i));
    checks_add((uint64_t)n);
}

void case_expect_marks(const recipe_case *c, const char *name, const uint8_t *marks, int64_t n)
{
    int o = output_index(c, name);
    ck_assert_int_eq(n, c->outputs[o].rows * c->outputs[o].cols);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(case_mark(c, name, i) == (marks[i] != 0), "mark of %s %" PRId64 ": want %d",
                      name, i, marks[i]);
    checks_add((uint64_t)n);
}

void case_judge(recipe_case *c)
{
    assay_error error;
    int status =
        assay_exact_judge(c->program, c->m, c->k, c->inputs, c->outputs, c->verdicts, &error);
    ck_assert_msg(status == 0, "%s", error.message);
}

void case_set(recipe_case *c, const char *name, int64_t index, uint64_t code)
{
    int i = output_index(c, name);
    size_t size = (size_t)storage_of(c, i);
    memcpy((char *)c->outputs[i].data + (size_t)index * size, &code, size);
}

int case_verdict(const recipe_case *c, const char *name, int64_t index)
{
    checks_add(1);
    return c->verdicts[output_index(c, name)][index];
}
