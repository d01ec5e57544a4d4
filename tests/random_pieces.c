/* Pieces of random expressions: types, values at hand, numbers, casts, gathers, reductions. */
#include "random_generator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint64_t random_bits(random_source *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int64_t random_below(random_source *r, int64_t n)
{
    return (int64_t)(random_bits(r) % (uint64_t)n);
}

bool random_chance(random_source *r, int percent)
{
    return random_below(r, 100) < percent;
}

void random_put(random_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at + t->length, sizeof t->at - t->length, format, arguments);
    va_end(arguments);
    t->length += (size_t)n;
    if (t->length >= sizeof t->at) /* too long: cut; the parser will refuse it */
        t->length = sizeof t->at - 1;
}
assay_type random_kind(assay_type_kind k)
{
    return (assay_type){k, NULL};
}

assay_type random_format(const char *name)
{
    return (assay_type){ASSAY_T_FORMAT, assay_format_find(name)};
}

bool random_is_float(assay_type t)
{
    return t.kind == ASSAY_T_FORMAT;
}

bool random_is(assay_type t, const char *name)
{
    return random_is_float(t) && !strcmp(t.format->name, name);
}

assay_type random_any_format(random_generator *g)
{
    static const char *const often[] = {"f32", "f32", "bf16", "bf16", "f16", "e4m3", "e2m1", "e8m0",
                                        "e5m2"};
    if (random_chance(g->r, 70))
        return random_format(often[random_below(g->r, 9)]);
    return (assay_type){ASSAY_T_FORMAT,
                        &assay_formats[random_below(g->r, (int64_t)assay_format_count)]};
}

assay_type random_narrow_format(random_generator *g)
{
    assay_type t = random_any_format(g);
    return random_is(t, "f64") ? random_format("bf16") : t;
}

assay_type random_integer_kind(random_generator *g)
{
    static const assay_type_kind kinds[] = {ASSAY_T_U32, ASSAY_T_I32, ASSAY_T_U64};
    return random_kind(kinds[random_below(g->r, 3)]);
}

assay_type random_any_type(random_generator *g)
{
    int64_t n = random_below(g->r, 20);
    if (n < 8)
        return random_format("f32");
    if (n < 10)
        return random_format("f64");
    if (n < 15)
        return random_any_format(g);
    return n < 18 ? random_integer_kind(g) : random_kind(ASSAY_T_BOOL);
}
/* ---- leaves ---- */

bool random_same_type(const random_value *v, assay_type t)
{
    return assay_type_equal(v->type, t);
}
bool random_any_narrow(const random_value *v, assay_type t)
{
    (void)t;
    return random_is_float(v->type) && !random_is(v->type, "f64");
}

/* A value that may be read here, or -1. */
int random_visible(random_generator *g, random_wanted want, assay_type t)
{
    int found = -1, seen = 0;
    for (int i = 0; i < g->count; i++) {
        const random_value *v = &g->values[i];
        if (!v->is_table && want(v, t) && assay_tile_sees(g->here, v->tile) &&
            random_below(g->r, ++seen) == 0)
            found = i;
    }
    return found;
}

void random_read_value(random_generator *g, int i)
{
    g->values[i].is_used = true;
    random_put(&g->body, "%s", g->values[i].name);
}

/* A value of a finer tiling that tiles this one, or -1. */
int random_finer(random_generator *g, bool (*want)(assay_type))
{
    int found = -1, seen = 0;
    for (int i = 0; i < g->count; i++) {
        const random_value *v = &g->values[i];
        if (!v->is_table && want(v->type) && assay_tile_sees(v->tile, g->here) &&
            !assay_tile_equal(v->tile, g->here) && random_below(g->r, ++seen) == 0)
            found = i;
    }
    return found;
}

void random_number(random_generator *g)
{
    static const char *const some[] = {"0", "1", "2", "0.5", "6", "448", "1.5", "0.1", "1e-4", "2^-126",
                                       "0x1.8p-3", "3", "f32.max", "f32.tiny", "bf16.max", "e4m3.max",
                                       "2688", "2^-149", "0x1.fffffep-1", "1e30", "2^127", "0.75"};
    random_put(&g->body, "%s", some[random_below(g->r, (int64_t)(sizeof some / sizeof some[0]))]);
}

void random_small_integer(random_generator *g)
{
    static const int some[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 23, 31, 32, 63, 127, 255};
    random_put(&g->body, "%d", some[random_below(g->r, 15)]);
}
/* ---- pieces ---- */

/* A float operand that keeps the arithmetic in f32. */
void random_operand(random_generator *g, int depth)
{
    int v = random_visible(g, random_any_narrow, random_kind(ASSAY_T_BOOL));
    if (v >= 0 && random_chance(g->r, depth > 0 ? 40 : 90))
        random_read_value(g, v);
    else
        random_expression(g, random_chance(g->r, 60) ? random_format("f32") : random_narrow_format(g), depth - 1);
}

void random_wide_operand(random_generator *g, int depth)
{
    random_expression(g, random_format("f64"), depth - 1);
}

void random_operand_or_number(random_generator *g, bool wide, int depth)
{
    if (random_chance(g->r, 25))
        random_number(g);
    else if (wide && random_chance(g->r, 50))
        random_wide_operand(g, depth);
    else
        random_operand(g, depth);
}

void random_first_operand(random_generator *g, bool wide, int depth)
{
    if (wide)
        random_wide_operand(g, depth);
    else
        random_operand(g, depth);
}

static const char *directed(random_generator *g)
{
    static const char *const modes[] = {"even", "away", "ties_zero", "zero", "up", "down", "odd"};
    return modes[random_below(g->r, 7)];
}

void random_arithmetic_options(random_generator *g, bool wide)
{
    if (random_chance(g->r, 40))
        random_put(&g->body, ", %s", directed(g));
    if (!wide && random_chance(g->r, 40))
        random_put(&g->body, ", ftz");
}

static void cast_options(random_generator *g, const assay_format *f, int depth)
{
    static const char *const overflow[] = {"sat", "satfin", "nosat"};
    if (random_chance(g->r, 50))
        return;
    if (random_chance(g->r, 30)) {
        random_put(&g->body, ", stochastic(");
        random_expression(g, random_kind(random_chance(g->r, 80) ? ASSAY_T_U32 : ASSAY_T_U64), depth - 1);
        random_put(&g->body, ", %d)", (int)(random_chance(g->r, 70) ? 1 + random_below(g->r, 32)
                                                             : 1 + random_below(g->r, 63)));
    } else if (random_chance(g->r, 60)) {
        random_put(&g->body, ", %s", directed(g));
    }
    if (random_chance(g->r, 50))
        random_put(&g->body, ", %s", overflow[random_below(g->r, 3)]);
    if (random_chance(g->r, 15))
        random_put(&g->body, ", nan 0x%x",
            (unsigned)(random_bits(g->r) & ((1u << (assay_format_width(f) > 31 ? 31
                                                    : assay_format_width(f))) - 1)));
    if (random_chance(g->r, 15))
        random_put(&g->body, ", nan_sign");
    if (assay_format_has_subnormals(f) && random_chance(g->r, 15))
        random_put(&g->body, ", ftz");
}

void random_cast(random_generator *g, assay_type t, int depth)
{
    random_put(&g->body, "%s(", t.format->name);
    int64_t n = random_below(g->r, 10);
    if (n < 7)
        random_operand(g, depth);
    else if (n < 8)
        random_wide_operand(g, depth);
    else
        random_expression(g, random_integer_kind(g), depth - 1);
    cast_options(g, t.format, depth);
    random_put(&g->body, ")");
}

void random_choice(random_generator *g, assay_type t, int depth)
{
    random_put(&g->body, "(if ");
    random_expression(g, random_kind(ASSAY_T_BOOL), depth - 1);
    random_put(&g->body, " then ");
    random_expression(g, t, depth - 1);
    random_put(&g->body, " else ");
    random_expression(g, t, depth - 1);
    random_put(&g->body, ")");
}

void random_least_or_greatest(random_generator *g, assay_type t, int depth)
{
    random_put(&g->body, random_chance(g->r, 50) ? "min(" : "max(");
    random_expression(g, t, depth - 1);
    random_put(&g->body, ", ");
    random_expression(g, t, depth - 1);
    random_put(&g->body, ")");
}

/* An input's code of type t at some place, if there is an input of that type. */
bool random_gather(random_generator *g, assay_type t, int depth)
{
    for (int i = 0; i < g->count; i++) {
        random_value *v = &g->values[i];
        if (!v->is_input || !assay_type_equal(v->type, t) || !random_chance(g->r, 50))
            continue;
        v->is_used = true;
        random_put(&g->body, "at(%s, ", v->name);
        for (int k = 0; k < 2; k++) {
            if (random_chance(g->r, 40))
                random_put(&g->body, "%s", random_chance(g->r, 50) ? "row" : "col");
            else if (random_chance(g->r, 50))
                random_small_integer(g);
            else
                random_expression(g, random_integer_kind(g), depth - 1);
            random_put(&g->body, k == 0 ? ", " : ")");
        }
        return true;
    }
    return false;
}

/* The operand of a reduction: something of type t made from a value of the finer tiling. */
static void reduced(random_generator *g, int v, assay_type t, int depth)
{
    assay_tile here = g->here;
    const random_value *of = &g->values[v];
    g->here = of->tile;
    g->inside = true;
    if (assay_type_equal(of->type, t) && random_chance(g->r, 50)) {
        random_read_value(g, v);
    } else if (t.kind == ASSAY_T_BOOL) {
        random_put(&g->body, random_is_float(of->type) ? "(" : "(f32(");
        random_read_value(g, v);
        random_put(&g->body, random_is_float(of->type) ? " <= " : ") <= ");
        random_operand_or_number(g, false, depth);
        random_put(&g->body, ")");
    } else if (random_is_float(t)) {
        random_put(&g->body, "%s(", t.format->name);
        random_read_value(g, v);
        random_put(&g->body, ")");
        if (random_is(t, "f32") || random_is(t, "f64")) {
            random_put(&g->body, random_chance(g->r, 50) ? " * " : " - ");
            random_operand(g, depth);
        }
    } else {
        random_put(&g->body, "(%s(", assay_type_name(t));
        random_read_value(g, v);
        random_put(&g->body, ") + ");
        random_expression(g, t, depth - 1);
        random_put(&g->body, ")");
    }
    g->here = here;
    g->inside = false;
}

static bool not_bool(assay_type t)
{
    return t.kind != ASSAY_T_BOOL;
}

bool random_reduction(random_generator *g, assay_type t, int depth)
{
    static const char *const orders[] = {"seq", "tree", "pairs", "exact"};
    int v = g->inside ? -1 : random_finer(g, not_bool);
    if (v < 0)
        return false;
    bool wide_or_f32 = random_is(t, "f32") || random_is(t, "f64");
    int64_t n = random_below(g->r, 8);
    if (wide_or_f32 && n < 2) {
        random_put(&g->body, "sum(");
        reduced(g, v, t, depth);
        random_put(&g->body, ", %s)", orders[random_below(g->r, 4)]);
    } else if (wide_or_f32 && n < 3) {
        random_put(&g->body, "dot(");
        reduced(g, v, t, depth);
        random_put(&g->body, ", ");
        reduced(g, v, t, depth);
        random_put(&g->body, ", %s)", random_chance(g->r, 50) ? "seq" : "exact");
    } else if ((wide_or_f32 || random_is(t, "bf16") || random_is(t, "f16")) && n < 6) {
        random_put(&g->body, random_chance(g->r, 70) ? "amax(" : "amax_nan(");
        reduced(g, v, t, depth);
        random_put(&g->body, ")");
    } else if (t.kind == ASSAY_T_BOOL) {
        random_put(&g->body, random_chance(g->r, 50) ? "any(" : "all(");
        reduced(g, v, t, depth);
        random_put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32 && n < 4) {
        random_put(&g->body, "count(");
        reduced(g, v, random_kind(ASSAY_T_BOOL), depth);
        random_put(&g->body, ")");
    } else {
        random_put(&g->body, random_chance(g->r, 50) ? "min(" : "max(");
        reduced(g, v, t, depth);
        random_put(&g->body, ")");
    }
    return true;
}

bool random_transform(random_generator *g, int depth)
{
    static const assay_tile element = {1, 1};
    if (g->inside || !assay_tile_equal(g->here, element) || !random_chance(g->r, 60))
        return false;
    for (int i = 0; i < g->count; i++)
        if (g->values[i].is_table && random_is_float(g->values[i].type) && random_chance(g->r, 80)) {
            int64_t n = g->values[i].table;
            bool row = random_chance(g->r, 60);
            g->inside = true;
            random_put(&g->body, "rotate(");
            random_operand(g, depth);
            random_put(&g->body, ", %lldx%lld, ", row ? 1LL : (long long)n, row ? (long long)n : 1LL);
            random_read_value(g, i);
            random_put(&g->body, ")");
            g->inside = false;
            return true;
        }
    int64_t n = 2 << random_below(g->r, 5);
    bool row = random_chance(g->r, 60);
    g->inside = true;
    random_put(&g->body, "hadamard(");
    random_operand(g, depth);
    random_put(&g->body, ", %lldx%lld, %llu)", row ? 1LL : (long long)n, row ? (long long)n : 1LL,
        (unsigned long long)(random_bits(g->r) & (((uint64_t)1 << n) - 1)));
    g->inside = false;
    return true;
}
