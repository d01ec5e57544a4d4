/* assay_exact_explain: every node, arguments first, in the tiles that hold an element. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "recipe_case.h"

#define F32(x) ((union { float f; uint32_t u; }){.f = (x)}.u)

enum { SEEN = 64 };

typedef struct {
    assay_op op[SEEN];
    int depth[SEEN];
    uint64_t bits[SEEN];
    int64_t row[SEEN], col[SEEN];
    bool marked[SEEN], exact[SEEN], sticky[SEEN];
    int count;
} log_of_nodes;

static void see(void *context, const assay_seen *s)
{
    log_of_nodes *l = context;
    ck_assert_int_lt(l->count, SEEN);
    int i = l->count++;
    l->op[i] = s->expr->op;
    l->depth[i] = s->depth;
    l->bits[i] = s->bits;
    l->row[i] = s->tile_row;
    l->col[i] = s->tile_col;
    l->marked[i] = s->marked;
    l->exact[i] = s->exact != NULL;
    l->sticky[i] = s->exact && s->exact->sticky;
}

static const char body[] = "in x : f32\nout a : f32 per 1x2\nout q : e4m3\n"
                           "block 1x2:\n  a = amax(x) / 3\n  unspecified a when a > 100\n"
                           "element:\n  q = e4m3(x * a)\n";

static void expect(const log_of_nodes *l, int i, assay_op op, int depth, uint64_t bits)
{
    ck_assert_msg(l->op[i] == op && l->depth[i] == depth && l->bits[i] == bits,
                  "node %d: %s at depth %d is %" PRIx64, i, assay_op_name(l->op[i]), l->depth[i],
                  l->bits[i]);
    checks_add(1);
}

START_TEST(one_element)
{
    recipe_case c;
    float x[] = {1, 2, 3, 600};
    log_of_nodes l = {.count = 0};
    assay_error error;
    case_open(&c, body, 1, 4);
    case_input(&c, "x", x, 4);
    int status = assay_exact_explain(c.program, 1, 4, c.inputs, 0, 2, see, &l, &error);
    ck_assert_msg(status == 0, "%s", error.message);
    /* a = amax(x) / 3: two operands, the reduction, the literal, the quotient */
    expect(&l, 0, ASSAY_OP_VALUE, 2, F32(3.f));
    expect(&l, 1, ASSAY_OP_VALUE, 2, F32(600.f));
    expect(&l, 2, ASSAY_OP_RED_AMAX, 1, F32(600.f));
    expect(&l, 3, ASSAY_OP_CONST, 1, F32(3.f));
    expect(&l, 4, ASSAY_OP_DIV, 0, F32(200.f));
    ck_assert(l.exact[4] && !l.sticky[4] && !l.exact[2]);
    ck_assert(l.marked[4] && !l.marked[2]); /* marked by the line below */
    ck_assert_int_eq(l.col[0], 2);          /* elements in their grid, the block in its own */
    ck_assert_int_eq(l.col[1], 3);
    ck_assert_int_eq(l.col[4], 1);
    /* the condition, then q */
    expect(&l, 7, ASSAY_OP_GT, 0, 1);
    expect(&l, 8, ASSAY_OP_VALUE, 2, F32(3.f));
    expect(&l, 9, ASSAY_OP_VALUE, 2, F32(200.f));
    expect(&l, 10, ASSAY_OP_MUL, 1, F32(600.f));
    expect(&l, 11, ASSAY_OP_CAST, 0, 0x7E);
    ck_assert(l.marked[9] && l.marked[10] && l.marked[11] && !l.marked[8]);
    ck_assert_int_eq(l.count, 12);
    checks_add(8);
    case_close(&c);
}
END_TEST

START_TEST(a_region)
{
    recipe_case c;
    float x[] = {1, 2, 3, 4, 5, 6};
    log_of_nodes l = {.count = 0};
    assay_error error;
    case_open(&c, body, 2, 3);
    case_input(&c, "x", x, 6);
    int status =
        assay_exact_explain_region(c.program, 2, 3, c.inputs, 0, 1, 2, 2, see, &l, &error);
    ck_assert_msg(status == 0, "%s", error.message);
    int quotients = 0, casts = 0;
    for (int i = 0; i < l.count; i++) {
        quotients += l.op[i] == ASSAY_OP_DIV;
        if (l.op[i] == ASSAY_OP_CAST) {
            ck_assert_int_eq(l.row[i], casts / 2);
            ck_assert_int_eq(l.col[i], 1 + casts % 2);
            casts++;
        }
    }
    ck_assert_int_eq(quotients, 4); /* blocks 0 and 1 of either row touch columns 1 and 2 */
    ck_assert_int_eq(casts, 4);
    checks_add(6);
    static const int64_t outside[][4] = {{0, 0, 1, 4}, {-1, 0, 1, 1}, {2, 0, 1, 1}, {0, 0, 0, 1}};
    for (int i = 0; i < 4; i++) {
        const int64_t *o = outside[i];
        ck_assert_int_eq(assay_exact_explain_region(c.program, 2, 3, c.inputs, o[0], o[1], o[2], o[3],
                                                    see, &l, &error), -1);
        checks_add(1);
    }
    case_close(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact explain");
    TCase *tests = tcase_create("explain");
    tcase_add_test(tests, one_element);
    tcase_add_test(tests, a_region);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
