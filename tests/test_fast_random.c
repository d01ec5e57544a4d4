/* The two evaluators on random programs and random matrices: codes and marks agree bit for bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/recipe_fast.h"
#include "checks.h"
#include "random_program.h"

enum { PROGRAMS = 10000, MATRICES = 2, BATCHES = 20 };

static int64_t random_extent(random_source *r, int64_t usual)
{
    if (random_chance(r, 3))
        return 0;
    return random_chance(r, 15) ? 1 + random_below(r, 3 * usual) : 1 + random_below(r, usual);
}

static void print_difference(const assay_program *p, const random_case *c, int copy, int output,
                             int64_t at)
{
    const assay_value *v = &p->values[p->outputs[output]];
    size_t size = (size_t)assay_type_storage(v->type);
    const assay_grid *exact = &c->outputs[0][output], *fast = &c->outputs[copy][output];
    uint64_t a = 0, b = 0;
    memcpy(&a, (uint8_t *)exact->data + (size_t)at * size, size);
    memcpy(&b, (uint8_t *)fast->data + (size_t)at * size, size);
    printf("%lld x %lld, %s at (%lld, %lld): exact %#llx mark %d, fast%s %#llx mark %d\n",
           (long long)c->m, (long long)c->k, v->name, (long long)(at / exact->cols),
           (long long)(at % exact->cols), (unsigned long long)a, exact->marks[at],
           copy == 2 ? " (baseline)" : "", (unsigned long long)b, fast->marks[at]);
    char *line = assay_statement_print(p, &p->statements[v->statement]);
    printf("  %s\n", line);
    free(line);
}

/* Comparisons made; -1 if the engines disagree. */
static int64_t compare(const assay_program *p, const random_case *c, int copy)
{
    int64_t count = 0;
    for (int o = 0; o < p->output_count; o++) {
        const assay_grid *a = &c->outputs[0][o], *b = &c->outputs[copy][o];
        size_t size = (size_t)assay_type_storage(p->values[p->outputs[o]].type);
        for (int64_t i = 0; i < a->rows * a->cols; i++, count++)
            if (memcmp((uint8_t *)a->data + (size_t)i * size, (uint8_t *)b->data + (size_t)i * size,
                       size) || a->marks[i] != b->marks[i]) {
                print_difference(p, c, copy, o, i);
                return -1;
            }
    }
    return count;
}

/* Comparisons made on one matrix; -1 on a disagreement or a failure of either engine. */
static int64_t judge(const assay_program *p, const random_case *c)
{
    static assay_error error;
    int64_t count = 0;
    if (assay_exact_eval(p, c->m, c->k, c->inputs, c->outputs[0], &error)) {
        printf("exact: %s\n", error.message);
        return -1;
    }
    for (int copy = 1; copy < RANDOM_COPIES; copy++) {
        assay_fast *f = fast_compile_baseline(p, copy == 2, &error);
        int status = f ? assay_fast_eval(f, c->m, c->k, c->inputs, c->outputs[copy], &error) : -1;
        assay_fast_free(f);
        if (status) {
            printf("fast: %s\n", error.message);
            return -1;
        }
        int64_t n = compare(p, c, copy);
        if (n < 0)
            return -1;
        count += n;
    }
    return count;
}

static assay_program *program_of(const char *text, assay_recipe **recipe, assay_error *error)
{
    assay_recipe *decode = NULL;
    *recipe = NULL;
    if (assay_recipe_parse(text, strlen(text), "random", recipe, &decode, error))
        return NULL;
    return assay_recipe_instance(*recipe, "", random_program_finder, NULL, error);
}

/* Nodes of each operation in the programs of a batch: none may be missing. */
static uint64_t operations[ASSAY_OP_COUNT];

static void count_operations(const assay_expr *e)
{
    operations[e->op]++;
    for (int k = 0; k < e->argc; k++)
        count_operations(e->arg[k]);
}

/* A program that the checker accepts, from one seed; counts the refused ones. */
static bool judge_seed(uint64_t seed, uint64_t *accepted, uint64_t *checks)
{
    static char text[RANDOM_TEXT];
    static assay_error error;
    random_source r = {seed};
    assay_recipe *recipe;
    random_program(&r, text);
    assay_program *p = program_of(text, &recipe, &error);
    bool good = true;
    if (!p && getenv("ASSAY_REFUSED"))
        printf("%s\n", error.message);
    for (int i = 0; p && i < p->statement_count; i++)
        count_operations(p->statements[i].expr);
    for (int i = 0; p && good && i < MATRICES; i++) {
        random_case *c = random_case_new(&r, p, random_extent(&r, 6), random_extent(&r, 20));
        int64_t n = judge(p, c);
        good = n >= 0;
        *checks += (uint64_t)(n < 0 ? 0 : n);
        random_case_free(c, p);
    }
    if (!good)
        printf("ASSAY_SEED_ONE=%llu gives this program:\n%s\n", (unsigned long long)seed, text);
    *accepted += p != NULL;
    if (p)
        assay_program_free(p);
    assay_recipe_free(recipe);
    return good;
}

START_TEST(random_programs)
{
    uint64_t accepted = 0, checks = 0, tried = 0, bad = 0;
    uint64_t base = checks_seed() * 1000003u + (uint64_t)_i * 1000000007u;
    const char *one = getenv("ASSAY_SEED_ONE");
    if (one) {
        ck_assert(judge_seed(strtoull(one, NULL, 0), &accepted, &checks));
        return;
    }
    while (accepted < PROGRAMS / BATCHES && bad < 3) {
        bad += !judge_seed(base + tried, &accepted, &checks);
        ck_assert_msg(++tried < 20 * PROGRAMS / BATCHES, "too few programs are well typed");
    }
    checks_add(checks);
    printf("batch %d: %llu programs of %llu texts, %llu comparisons\n", _i,
           (unsigned long long)accepted, (unsigned long long)tried, (unsigned long long)checks);
    fflush(stdout);
    ck_assert_msg(bad == 0, "the engines disagree: see the programs above");
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        ck_assert_msg(operations[op] > 0, "no program has %s", assay_op_name((assay_op)op));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fast_random");
    TCase *tests = tcase_create("random");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, random_programs, 0, BATCHES);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
