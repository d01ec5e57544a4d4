/* `layout NAMES : step, step`: the checked form that ref/layout runs. */
#include <string.h>

#include "recipe_check.h"

static int layout_value(checker *c, token name)
{
    int v = check_find(c, name.text);
    if (v < 0 || c->p->values[v].role == ASSAY_LOCAL)
        check_fail(c, name, "%s has no value here", name.text);
    return v;
}

/* ---- arguments of a step ---- */

static const token *argument(checker *c, const layout_step_syntax *s, int i, const char *what)
{
    if (i >= s->argc)
        check_fail(c, s->op, "expected %s behind %s", what, s->op.text);
    return &s->arg[i];
}

static void no_more(checker *c, const layout_step_syntax *s, int count)
{
    if (s->argc > count)
        check_fail(c, s->arg[count], "expected , or the end of the line");
}

static void read_shape(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    token t = *argument(c, s, 0, "a shape");
    assay_tile tile = check_shape(c, t);
    to->a = tile.rows;
    to->b = tile.cols;
}

static uint64_t read_number(checker *c, const layout_step_syntax *s, int i, uint64_t least,
                            uint64_t most, const char *what)
{
    syn number = {.kind = SYN_NAME, .at = *argument(c, s, i, what)};
    if (number.at.kind == TOKEN_NUMBER)
        number.kind = SYN_NUMBER;
    return check_constant(c, &number, least, most, what);
}

static bool word_is(checker *c, token t, const char *word)
{
    token s = check_substitute(c, t);
    return s.kind == TOKEN_NAME && !strcmp(s.text, word);
}

/* ---- one function a step ---- */

static void step_plain(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    (void)to;
    no_more(c, s, 0);
}

static void step_shape(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    read_shape(c, s, to);
    if (!to->a || !to->b)
        check_fail(c, s->arg[0], "expected a shape RxC");
    no_more(c, s, 1);
}

static void step_pad(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    read_shape(c, s, to);
    if (!to->a || !to->b)
        check_fail(c, s->arg[0], "expected a shape RxC");
    token fill = *argument(c, s, 1, "with V, any or keep");
    no_more(c, s, word_is(c, fill, "with") ? 3 : 2);
    if (word_is(c, fill, "any")) {
        to->fill = ASSAY_FILL_ANY;
    } else if (word_is(c, fill, "keep")) {
        to->fill = ASSAY_FILL_KEEP;
    } else if (word_is(c, fill, "with")) {
        to->fill = ASSAY_FILL_VALUE;
        to->value = read_number(c, s, 2, 0, UINT64_MAX, "a code");
    } else {
        check_fail(c, fill, "expected with V, any or keep");
    }
}

static void step_swizzle(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    read_shape(c, s, to);
    if (to->b != 4 || (to->a != 128 && to->a != 8))
        check_fail(c, s->arg[0], "expected 128x4 or 8x4");
    to->op = to->a == 128 ? ASSAY_LAYOUT_SWIZZLE_128X4 : ASSAY_LAYOUT_SWIZZLE_8X4;
    no_more(c, s, 1);
}

static void step_group(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    to->a = (int64_t)read_number(c, s, 0, 1, 1 << 20, "a number of columns");
    no_more(c, s, 1);
}

static void step_pack(checker *c, const layout_step_syntax *s, assay_layout_step *to)
{
    token how = *argument(c, s, 0, "low, high, halves or e5m6");
    bool halves = word_is(c, how, "halves");
    if (halves) {
        to->op = ASSAY_LAYOUT_PACK_HALVES;
        to->a = (int64_t)read_number(c, s, 1, 2, 1 << 20, "an even number of codes");
        if (to->a % 2)
            check_fail(c, s->arg[1], "expected an even number of codes");
    } else if (word_is(c, how, "low")) {
        to->op = ASSAY_LAYOUT_PACK_LOW;
    } else if (word_is(c, how, "high")) {
        to->op = ASSAY_LAYOUT_PACK_HIGH;
    } else if (word_is(c, how, "e5m6")) {
        to->op = ASSAY_LAYOUT_PACK_E5M6;
    } else {
        check_fail(c, how, "expected low, high, halves or e5m6");
    }
    no_more(c, s, halves ? 2 : 1);
}

static const struct {
    const char *word;
    void (*read)(checker *c, const layout_step_syntax *s, assay_layout_step *to);
    assay_layout_op op;
} steps[] = {
    {"transpose", step_plain, ASSAY_LAYOUT_TRANSPOSE},
    {"replicate", step_shape, ASSAY_LAYOUT_REPLICATE},
    {"pad", step_pad, ASSAY_LAYOUT_PAD},
    {"swizzle", step_swizzle, ASSAY_LAYOUT_SWIZZLE_128X4},
    {"group", step_group, ASSAY_LAYOUT_GROUP},
    {"pack", step_pack, ASSAY_LAYOUT_PACK_LOW},
    {"record", step_shape, ASSAY_LAYOUT_RECORD},
};

static assay_layout_step read_step(checker *c, const layout_step_syntax *s)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (!word_is(c, s->op, steps[i].word))
            continue;
        assay_layout_step to = {.op = steps[i].op};
        steps[i].read(c, s, &to);
        return to;
    }
    check_fail(c, s->op, "expected a layout step: transpose, replicate, pad, swizzle, group, pack or "
                         "record");
}

/* ---- does a packed row come out even? ---- */

/* Columns of the codes in front of `step` for an M x K matrix. */
static int64_t columns_before(const assay_program *p, const assay_layout *l, int value, int step,
                              int64_t m, int64_t k)
{
    const assay_value *v = &p->values[value];
    int64_t rows = v->is_table ? v->table_rows : assay_tiles_along(m, v->tile.rows);
    int64_t cols = v->is_table ? v->table_cols : assay_tiles_along(k, v->tile.cols);
    for (int i = 0; i < step; i++) {
        const assay_layout_step *s = &l->steps[i];
        if (s->op == ASSAY_LAYOUT_TRANSPOSE) {
            int64_t swap = rows;
            rows = cols;
            cols = swap;
        } else if (s->op == ASSAY_LAYOUT_PAD) {
            rows = assay_tiles_along(rows, s->a) * s->a;
            cols = assay_tiles_along(cols, s->b) * s->b;
        } else if (s->op == ASSAY_LAYOUT_REPLICATE) {
            rows *= s->a; /* cropped later, to what divides as the matrix does */
            cols *= s->b;
        }
    }
    return cols;
}

/* An error if shapes are admitted, but none whose rows pack evenly. */
static void check_even(checker *c, const assay_layout *l, int value, int step, int multiple,
                       token at)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32, 64, 96, 128, 256,
                                    512, 1024};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    bool admitted = false;
    for (int i = 0; i < SIZES; i++) {
        for (int j = 0; j < SIZES; j++) {
            if (!assay_program_admits(c->p, sizes[i], sizes[j], NULL))
                continue;
            admitted = true;
            if (columns_before(c->p, l, value, step, sizes[i], sizes[j]) % multiple == 0)
                return;
        }
    }
    if (admitted)
        check_fail(c, at, "C is not a multiple of %d for pack", multiple);
}

static void check_pack(checker *c, const assay_layout *l, int value, int step,
                       const assay_layout_step *pack, token at)
{
    assay_type type = c->p->values[value].type;
    int width = type.format ? assay_format_width(type.format) : 8 * assay_type_storage(type);
    if (pack->op == ASSAY_LAYOUT_PACK_E5M6)
        check_even(c, l, value, step, 8, at);
    else if (pack->op == ASSAY_LAYOUT_PACK_HALVES)
        check_even(c, l, value, step, (int)pack->a, at);
    else if (pack->op == ASSAY_LAYOUT_PACK_LOW || pack->op == ASSAY_LAYOUT_PACK_HIGH)
        if (width == 4 || width == 6)
            check_even(c, l, value, step, width == 4 ? 2 : 4, at);
}

/* ---- lines ---- */

static void read_members(checker *c, const recipe_line *line, int first, assay_layout *l)
{
    for (int i = first; i < line->step_count; i++) {
        const layout_step_syntax *s = &line->steps[i];
        bool known = false;
        for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++)
            known = known || !strcmp(s->op.text, steps[j].word);
        if (known)
            check_fail(c, line->steps[first - 1].op, "record must be last");
        if (l->record_count == ASSAY_LAYOUT_MEMBERS)
            check_fail(c, s->op, "expected at most %d values in a record", ASSAY_LAYOUT_MEMBERS);
        int n = l->record_count++;
        l->record[n] = layout_value(c, s->op);
        l->member_packed[n] = s->argc > 0;
        if (!s->argc)
            continue;
        layout_step_syntax pack = {.op = s->arg[0], .arg = s->arg + 1, .argc = s->argc - 1};
        if (!word_is(c, pack.op, "pack"))
            check_fail(c, pack.op, "expected pack");
        l->member_step[n] = read_step(c, &pack);
    }
    if (!l->record_count)
        check_fail(c, line->steps[first - 1].op, "expected the values of the record");
}

static bool is_record(const assay_layout *l)
{
    return l->step_count && l->steps[l->step_count - 1].op == ASSAY_LAYOUT_RECORD;
}

/* Two lines for one value would be two answers to where its bytes lie; in a record its bytes may
 * come once more. */
static void check_once(checker *c, const recipe_line *line, const assay_layout *l)
{
    for (int i = 0; i < l->value_count && !is_record(l); i++)
        for (const assay_layout *other = c->p->layouts; other < l; other++)
            for (int j = 0; j < other->value_count && !is_record(other); j++)
                if (other->values[j] == l->values[i])
                    check_fail(c, line->names[i], "%s already has a layout", line->names[i].text);
}

static void check_layout(checker *c, const recipe_line *line)
{
    assay_layout *l = ARENA_PUSH(c->arena, c->p->layouts, c->p->layout_count);
    *l = (assay_layout){0};
    for (int i = 0; i < line->name_count; i++) {
        if (i == ASSAY_LAYOUT_MEMBERS)
            check_fail(c, line->names[i], "expected at most %d values", ASSAY_LAYOUT_MEMBERS);
        l->values[l->value_count++] = layout_value(c, line->names[i]);
    }
    for (int i = 0; i < line->step_count; i++) {
        if (l->step_count == ASSAY_LAYOUT_STEPS)
            check_fail(c, line->steps[i].op, "expected at most %d steps", ASSAY_LAYOUT_STEPS);
        assay_layout_step step = read_step(c, &line->steps[i]);
        for (int j = 0; j < l->value_count; j++)
            check_pack(c, l, l->values[j], i, &step, line->steps[i].op);
        l->steps[l->step_count++] = step;
        if (step.op == ASSAY_LAYOUT_RECORD) {
            read_members(c, line, i + 1, l);
            return;
        }
    }
    check_once(c, line, l);
}

void check_layouts(checker *c, const assay_recipe *r)
{
    for (int i = 0; i < r->line_count; i++)
        if (r->lines[i].kind == LINE_LAYOUT && recipe_line_exists(&c->scope->env, &r->lines[i]))
            check_layout(c, &r->lines[i]);
}
