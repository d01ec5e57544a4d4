/* A random recipe, a statement at a time: every operation, every kind of tiling, marks, `use`. */
#include "random_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- text ---- */

typedef struct {
    char at[RANDOM_TEXT];
    size_t length;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at + t->length, sizeof t->at - t->length, format, arguments);
    va_end(arguments);
    t->length += (size_t)n;
    if (t->length >= sizeof t->at) /* too long: cut; the parser will refuse it */
        t->length = sizeof t->at - 1;
}

/* ---- the program under way ---- */

typedef struct {
    char name[16];
    assay_type type;
    assay_tile tile;
    bool is_input, is_table, is_output, is_used;
    int64_t table;   /* side of a square table */
    assay_tile pad;
    char declared[16]; /* outputs: the declared type */
} value;

enum { VALUES = 96, TILES = 5 };

typedef struct {
    random_source *r;
    value values[VALUES];
    int count;
    assay_tile tiles[TILES];
    assay_tile here;  /* the section's tiling, inside a reduction the operand's */
    bool inside;
    int approx;       /* how many more approx may come */
    text body;
} generator;

static void expression(generator *g, assay_type t, int depth);

static assay_type kind(assay_type_kind k)
{
    return (assay_type){k, NULL};
}

static assay_type format(const char *name)
{
    return (assay_type){ASSAY_T_FORMAT, assay_format_find(name)};
}

static bool is_float(assay_type t)
{
    return t.kind == ASSAY_T_FORMAT;
}

static bool is(assay_type t, const char *name)
{
    return is_float(t) && !strcmp(t.format->name, name);
}

static assay_type any_format(generator *g)
{
    static const char *const often[] = {"f32", "f32", "bf16", "bf16", "f16", "e4m3", "e2m1", "e8m0",
                                        "e5m2"};
    if (random_chance(g->r, 70))
        return format(often[random_below(g->r, 9)]);
    return (assay_type){ASSAY_T_FORMAT,
                        &assay_formats[random_below(g->r, (int64_t)assay_format_count)]};
}

static assay_type narrow_format(generator *g)
{
    assay_type t = any_format(g);
    return is(t, "f64") ? format("bf16") : t;
}

static assay_type integer_kind(generator *g)
{
    static const assay_type_kind kinds[] = {ASSAY_T_U32, ASSAY_T_I32, ASSAY_T_U64};
    return kind(kinds[random_below(g->r, 3)]);
}

static assay_type any_type(generator *g)
{
    int64_t n = random_below(g->r, 20);
    if (n < 8)
        return format("f32");
    if (n < 10)
        return format("f64");
    if (n < 15)
        return any_format(g);
    return n < 18 ? integer_kind(g) : kind(ASSAY_T_BOOL);
}

/* ---- leaves ---- */

typedef bool (*wanted)(const value *v, assay_type t);

static bool same_type(const value *v, assay_type t)
{
    return assay_type_equal(v->type, t);
}
static bool any_narrow(const value *v, assay_type t)
{
    (void)t;
    return is_float(v->type) && !is(v->type, "f64");
}

/* A value that may be read here, or -1. */
static int visible(generator *g, wanted want, assay_type t)
{
    int found = -1, seen = 0;
    for (int i = 0; i < g->count; i++) {
        const value *v = &g->values[i];
        if (!v->is_table && want(v, t) && assay_tile_sees(g->here, v->tile) &&
            random_below(g->r, ++seen) == 0)
            found = i;
    }
    return found;
}

static void read_value(generator *g, int i)
{
    g->values[i].is_used = true;
    put(&g->body, "%s", g->values[i].name);
}

/* A value of a finer tiling that tiles this one, or -1. */
static int finer(generator *g, bool (*want)(assay_type))
{
    int found = -1, seen = 0;
    for (int i = 0; i < g->count; i++) {
        const value *v = &g->values[i];
        if (!v->is_table && want(v->type) && assay_tile_sees(v->tile, g->here) &&
            !assay_tile_equal(v->tile, g->here) && random_below(g->r, ++seen) == 0)
            found = i;
    }
    return found;
}

static void number(generator *g)
{
    static const char *const some[] = {"0", "1", "2", "0.5", "6", "448", "1.5", "0.1", "1e-4", "2^-126",
                                       "0x1.8p-3", "3", "f32.max", "f32.tiny", "bf16.max", "e4m3.max",
                                       "2688", "2^-149", "0x1.fffffep-1", "1e30", "2^127", "0.75"};
    put(&g->body, "%s", some[random_below(g->r, (int64_t)(sizeof some / sizeof some[0]))]);
}

static void small_integer(generator *g)
{
    static const int some[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 23, 31, 32, 63, 127, 255};
    put(&g->body, "%d", some[random_below(g->r, 15)]);
}

/* ---- pieces ---- */

/* A float operand that keeps the arithmetic in f32. */
static void operand(generator *g, int depth)
{
    int v = visible(g, any_narrow, kind(ASSAY_T_BOOL));
    if (v >= 0 && random_chance(g->r, depth > 0 ? 40 : 90))
        read_value(g, v);
    else
        expression(g, random_chance(g->r, 60) ? format("f32") : narrow_format(g), depth - 1);
}

static void wide_operand(generator *g, int depth)
{
    expression(g, format("f64"), depth - 1);
}

static void operand_or_number(generator *g, bool wide, int depth)
{
    if (random_chance(g->r, 25))
        number(g);
    else if (wide && random_chance(g->r, 50))
        wide_operand(g, depth);
    else
        operand(g, depth);
}

static void first_operand(generator *g, bool wide, int depth)
{
    if (wide)
        wide_operand(g, depth);
    else
        operand(g, depth);
}

static const char *directed(generator *g)
{
    static const char *const modes[] = {"even", "away", "ties_zero", "zero", "up", "down", "odd"};
    return modes[random_below(g->r, 7)];
}

static void arithmetic_options(generator *g, bool wide)
{
    if (random_chance(g->r, 40))
        put(&g->body, ", %s", directed(g));
    if (!wide && random_chance(g->r, 40))
        put(&g->body, ", ftz");
}

static void cast_options(generator *g, const assay_format *f, int depth)
{
    static const char *const overflow[] = {"sat", "satfin", "nosat"};
    if (random_chance(g->r, 50))
        return;
    if (random_chance(g->r, 30)) {
        put(&g->body, ", stochastic(");
        expression(g, kind(random_chance(g->r, 80) ? ASSAY_T_U32 : ASSAY_T_U64), depth - 1);
        put(&g->body, ", %d)", (int)(random_chance(g->r, 70) ? 1 + random_below(g->r, 32)
                                                             : 1 + random_below(g->r, 63)));
    } else if (random_chance(g->r, 60)) {
        put(&g->body, ", %s", directed(g));
    }
    if (random_chance(g->r, 50))
        put(&g->body, ", %s", overflow[random_below(g->r, 3)]);
    if (random_chance(g->r, 15))
        put(&g->body, ", nan 0x%x",
            (unsigned)(random_bits(g->r) & ((1u << (assay_format_width(f) > 31 ? 31
                                                    : assay_format_width(f))) - 1)));
    if (random_chance(g->r, 15))
        put(&g->body, ", nan_sign");
    if (assay_format_has_subnormals(f) && random_chance(g->r, 15))
        put(&g->body, ", ftz");
}

static void cast(generator *g, assay_type t, int depth)
{
    put(&g->body, "%s(", t.format->name);
    int64_t n = random_below(g->r, 10);
    if (n < 7)
        operand(g, depth);
    else if (n < 8)
        wide_operand(g, depth);
    else
        expression(g, integer_kind(g), depth - 1);
    cast_options(g, t.format, depth);
    put(&g->body, ")");
}

static void choice(generator *g, assay_type t, int depth)
{
    put(&g->body, "(if ");
    expression(g, kind(ASSAY_T_BOOL), depth - 1);
    put(&g->body, " then ");
    expression(g, t, depth - 1);
    put(&g->body, " else ");
    expression(g, t, depth - 1);
    put(&g->body, ")");
}

static void least_or_greatest(generator *g, assay_type t, int depth)
{
    put(&g->body, random_chance(g->r, 50) ? "min(" : "max(");
    expression(g, t, depth - 1);
    put(&g->body, ", ");
    expression(g, t, depth - 1);
    put(&g->body, ")");
}

/* An input's code of type t at some place, if there is an input of that type. */
static bool gather(generator *g, assay_type t, int depth)
{
    for (int i = 0; i < g->count; i++) {
        value *v = &g->values[i];
        if (!v->is_input || !assay_type_equal(v->type, t) || !random_chance(g->r, 50))
            continue;
        v->is_used = true;
        put(&g->body, "at(%s, ", v->name);
        for (int k = 0; k < 2; k++) {
            if (random_chance(g->r, 40))
                put(&g->body, "%s", random_chance(g->r, 50) ? "row" : "col");
            else if (random_chance(g->r, 50))
                small_integer(g);
            else
                expression(g, integer_kind(g), depth - 1);
            put(&g->body, k == 0 ? ", " : ")");
        }
        return true;
    }
    return false;
}

/* The operand of a reduction: something of type t made from a value of the finer tiling. */
static void reduced(generator *g, int v, assay_type t, int depth)
{
    assay_tile here = g->here;
    const value *of = &g->values[v];
    g->here = of->tile;
    g->inside = true;
    if (assay_type_equal(of->type, t) && random_chance(g->r, 50)) {
        read_value(g, v);
    } else if (t.kind == ASSAY_T_BOOL) {
        put(&g->body, is_float(of->type) ? "(" : "(f32(");
        read_value(g, v);
        put(&g->body, is_float(of->type) ? " <= " : ") <= ");
        operand_or_number(g, false, depth);
        put(&g->body, ")");
    } else if (is_float(t)) {
        put(&g->body, "%s(", t.format->name);
        read_value(g, v);
        put(&g->body, ")");
        if (is(t, "f32") || is(t, "f64")) {
            put(&g->body, random_chance(g->r, 50) ? " * " : " - ");
            operand(g, depth);
        }
    } else {
        put(&g->body, "(%s(", assay_type_name(t));
        read_value(g, v);
        put(&g->body, ") + ");
        expression(g, t, depth - 1);
        put(&g->body, ")");
    }
    g->here = here;
    g->inside = false;
}

static bool not_bool(assay_type t)
{
    return t.kind != ASSAY_T_BOOL;
}

static bool reduction(generator *g, assay_type t, int depth)
{
    static const char *const orders[] = {"seq", "tree", "pairs", "exact"};
    int v = g->inside ? -1 : finer(g, not_bool);
    if (v < 0)
        return false;
    bool wide_or_f32 = is(t, "f32") || is(t, "f64");
    int64_t n = random_below(g->r, 8);
    if (wide_or_f32 && n < 2) {
        put(&g->body, "sum(");
        reduced(g, v, t, depth);
        put(&g->body, ", %s)", orders[random_below(g->r, 4)]);
    } else if (wide_or_f32 && n < 3) {
        put(&g->body, "dot(");
        reduced(g, v, t, depth);
        put(&g->body, ", ");
        reduced(g, v, t, depth);
        put(&g->body, ", %s)", random_chance(g->r, 50) ? "seq" : "exact");
    } else if ((wide_or_f32 || is(t, "bf16") || is(t, "f16")) && n < 6) {
        put(&g->body, random_chance(g->r, 70) ? "amax(" : "amax_nan(");
        reduced(g, v, t, depth);
        put(&g->body, ")");
    } else if (t.kind == ASSAY_T_BOOL) {
        put(&g->body, random_chance(g->r, 50) ? "any(" : "all(");
        reduced(g, v, t, depth);
        put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32 && n < 4) {
        put(&g->body, "count(");
        reduced(g, v, kind(ASSAY_T_BOOL), depth);
        put(&g->body, ")");
    } else {
        put(&g->body, random_chance(g->r, 50) ? "min(" : "max(");
        reduced(g, v, t, depth);
        put(&g->body, ")");
    }
    return true;
}

static bool transform(generator *g, int depth)
{
    static const assay_tile element = {1, 1};
    if (g->inside || !assay_tile_equal(g->here, element) || !random_chance(g->r, 60))
        return false;
    for (int i = 0; i < g->count; i++)
        if (g->values[i].is_table && is_float(g->values[i].type) && random_chance(g->r, 30)) {
            int64_t n = g->values[i].table;
            bool row = random_chance(g->r, 60);
            g->inside = true;
            put(&g->body, "rotate(");
            operand(g, depth);
            put(&g->body, ", %lldx%lld, ", row ? 1LL : (long long)n, row ? (long long)n : 1LL);
            read_value(g, i);
            put(&g->body, ")");
            g->inside = false;
            return true;
        }
    int64_t n = 2 << random_below(g->r, 5);
    bool row = random_chance(g->r, 60);
    g->inside = true;
    put(&g->body, "hadamard(");
    operand(g, depth);
    put(&g->body, ", %lldx%lld, %llu)", row ? 1LL : (long long)n, row ? (long long)n : 1LL,
        (unsigned long long)(random_bits(g->r) & (((uint64_t)1 << n) - 1)));
    g->inside = false;
    return true;
}

/* ---- expressions of one type ---- */

static void call(generator *g, const char *name, bool wide, int arguments, bool options, int depth)
{
    put(&g->body, "%s(", name);
    for (int k = 0; k < arguments; k++) {
        put(&g->body, k ? ", " : "");
        if (k == 0)
            first_operand(g, wide, depth);
        else
            operand_or_number(g, wide, depth);
    }
    if (options)
        arithmetic_options(g, wide);
    put(&g->body, ")");
}

static void f32_only(generator *g, int depth)
{
    switch (random_below(g->r, 6)) {
    case 0:
        put(&g->body, "pow2(");
        expression(g, kind(ASSAY_T_I32), depth - 1);
        put(&g->body, ")");
        break;
    case 1:
        call(g, "rcp_approx", false, 1, false, depth);
        break;
    case 2:
        call(g, "div_full", false, 2, false, depth);
        break;
    case 3:
        if (g->approx > 0 && !g->inside) {
            g->approx--;
            put(&g->body, "approx(");
            operand(g, depth);
            put(&g->body, ", 1)");
            break;
        }
        call(g, "flush", false, 1, false, depth);
        break;
    default:
        if (!transform(g, depth))
            call(g, "sqrt", false, 1, true, depth);
    }
}

static void arithmetic(generator *g, bool wide, int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", "*", "/"};
    static const char *const named[] = {"add", "sub", "mul", "div"};
    static const char *const functions[] = {"sqrt", "rint", "exp", "exp2", "log2", "flush"};
    static const char *const rint_modes[] = {"even", "away", "zero", "up", "down"};
    switch (random_below(g->r, wide ? 7 : 9)) {
    case 0:
    case 1:
        put(&g->body, "(");
        first_operand(g, wide, depth);
        put(&g->body, " %s ", binary[random_below(g->r, 6)]);
        operand_or_number(g, wide, depth);
        put(&g->body, ")");
        break;
    case 2:
        call(g, named[random_below(g->r, 4)], wide, 2, true, depth);
        break;
    case 3:
        call(g, "fma", wide, 3, true, depth);
        break;
    case 4:
        call(g, functions[random_below(g->r, 6)], wide, 1, false, depth);
        break;
    case 5:
        put(&g->body, "%s(", random_chance(g->r, 50) ? "rint" : "ldexp");
        if (g->body.at[g->body.length - 2] == 't') {
            first_operand(g, wide, depth);
            put(&g->body, ", %s)", rint_modes[random_below(g->r, 5)]);
        } else {
            first_operand(g, wide, depth);
            put(&g->body, ", ");
            expression(g, kind(ASSAY_T_I32), depth - 1);
            put(&g->body, ")");
        }
        break;
    case 6:
        call(g, "clamp", wide, 3, false, depth);
        break;
    default:
        f32_only(g, depth);
    }
}

static void sign_operation(generator *g, assay_type t, int depth)
{
    int64_t n = random_below(g->r, 3);
    put(&g->body, n == 0 ? "(-" : n == 1 ? "abs(" : "copysign(");
    expression(g, t, depth - 1);
    if (n == 2) {
        put(&g->body, ", ");
        expression(g, random_chance(g->r, 70) ? t : any_format(g), depth - 1);
    }
    put(&g->body, ")");
}

static void float_expression(generator *g, assay_type t, int depth)
{
    bool wide = is(t, "f64"), full = wide || is(t, "f32");
    bool keeps_sign = full || is(t, "bf16") || is(t, "f16");
    int64_t n = random_below(g->r, 20);
    if (n < 3 && reduction(g, t, depth))
        return;
    if (full && n < 12)
        arithmetic(g, wide, depth);
    else if (n < 14)
        cast(g, t, depth);
    else if (keeps_sign && n < 16)
        sign_operation(g, t, depth);
    else if (n < 17 && gather(g, t, depth))
        return;
    else if (n < 18)
        least_or_greatest(g, t, depth);
    else if (n < 19)
        choice(g, t, depth);
    else {
        put(&g->body, "code(%s, ", t.format->name);
        expression(g, kind(assay_format_width(t.format) > 32 ? ASSAY_T_U64 : ASSAY_T_U32), depth - 1);
        put(&g->body, ")");
    }
}

static void integer_operation(generator *g, assay_type t, int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", "%", "&", "|", "<<", ">>"};
    int64_t n = random_below(g->r, 11);
    if (n == 10) {
        put(&g->body, "(-");
        expression(g, t, depth - 1);
        put(&g->body, ")");
        return;
    }
    put(&g->body, n == 9 ? "xor(" : "(");
    expression(g, t, depth - 1);
    if (n == 9)
        put(&g->body, ", ");
    else
        put(&g->body, " %s ", binary[n]);
    if (random_chance(g->r, 50))
        small_integer(g);
    else
        expression(g, t, depth - 1);
    put(&g->body, ")");
}

static void philox(generator *g, int depth)
{
    put(&g->body, "philox(");
    for (int k = 0; k < 4; k++) {
        put(&g->body, k ? ", " : "");
        if (random_chance(g->r, 40))
            small_integer(g);
        else
            expression(g, kind(k < 3 ? ASSAY_T_U64 : ASSAY_T_U32), depth - 1);
    }
    put(&g->body, ")");
}

static void convert_to(generator *g, assay_type t, int depth)
{
    put(&g->body, "%s(", assay_type_name(t));
    expression(g, any_type(g), depth - 1);
    put(&g->body, ")");
}

static void integer_expression(generator *g, assay_type t, int depth)
{
    static const assay_tile element = {1, 1};
    int64_t n = random_below(g->r, 16);
    if (n < 2 && reduction(g, t, depth))
        return;
    if (n < 6)
        integer_operation(g, t, depth);
    else if (n < 9)
        convert_to(g, t, depth);
    else if (n < 10)
        least_or_greatest(g, t, depth);
    else if (n < 11)
        choice(g, t, depth);
    else if (n < 12 && gather(g, t, depth))
        return;
    else if (t.kind == ASSAY_T_I32) {
        put(&g->body, "exponent(");
        expression(g, any_format(g), depth - 1);
        put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32 && random_chance(g->r, 50)) {
        put(&g->body, "bits(");
        expression(g, narrow_format(g), depth - 1);
        put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32) {
        philox(g, depth);
    } else if (!g->inside && assay_tile_equal(g->here, element) && random_chance(g->r, 40)) {
        put(&g->body, "index");
    } else if (random_chance(g->r, 30)) {
        put(&g->body, "bits(");
        expression(g, format("f64"), depth - 1);
        put(&g->body, ")");
    } else {
        static const char *const words[] = {"row", "col", "M", "K"};
        put(&g->body, "%s", words[random_below(g->r, g->inside ? 4 : 4)]);
    }
}

static void comparison(generator *g, int depth)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    bool integers = random_chance(g->r, 35);
    assay_type t = integers ? integer_kind(g) : kind(ASSAY_T_BOOL);
    bool wide = !integers && random_chance(g->r, 20);
    put(&g->body, "(");
    if (integers)
        expression(g, t, depth - 1);
    else
        first_operand(g, wide, depth);
    put(&g->body, " %s ", signs[random_below(g->r, 6)]);
    if (integers && random_chance(g->r, 50))
        small_integer(g);
    else if (integers)
        expression(g, t, depth - 1);
    else
        operand_or_number(g, wide, depth);
    put(&g->body, ")");
}

static void bool_expression(generator *g, int depth)
{
    assay_type b = kind(ASSAY_T_BOOL);
    int64_t n = random_below(g->r, 12);
    if (n < 2 && reduction(g, b, depth))
        return;
    if (n < 6) {
        comparison(g, depth);
    } else if (n < 8) {
        static const char *const looks[] = {"isnan", "isinf", "signbit"};
        put(&g->body, "%s(", looks[random_below(g->r, 3)]);
        expression(g, any_format(g), depth - 1);
        put(&g->body, ")");
    } else if (n < 9) {
        put(&g->body, "(not ");
        expression(g, b, depth - 1);
        put(&g->body, ")");
    } else if (n < 11) {
        put(&g->body, "(");
        expression(g, b, depth - 1);
        put(&g->body, random_chance(g->r, 50) ? " and " : " or ");
        expression(g, b, depth - 1);
        put(&g->body, ")");
    } else {
        choice(g, b, depth);
    }
}

/* When depth is used up and nothing of the type is at hand. */
static void fallback(generator *g, assay_type t)
{
    if (is_float(t)) {
        put(&g->body, "%s(", t.format->name);
        int v = visible(g, any_narrow, t);
        if (v >= 0)
            read_value(g, v);
        else
            number(g);
        put(&g->body, ")");
    } else if (t.kind == ASSAY_T_BOOL) {
        put(&g->body, "(row %s 3)", random_chance(g->r, 50) ? "<" : ">=");
    } else {
        static const char *const words[] = {"row", "col", "M", "K"};
        put(&g->body, "%s(%s)", assay_type_name(t), words[random_below(g->r, 4)]);
    }
}

static void expression(generator *g, assay_type t, int depth)
{
    int v = visible(g, same_type, t);
    if (depth <= 0 || g->body.length > RANDOM_TEXT / 2 || (v >= 0 && random_chance(g->r, 30))) {
        if (v >= 0)
            read_value(g, v);
        else
            fallback(g, t);
        return;
    }
    if (is_float(t))
        float_expression(g, t, depth);
    else if (t.kind == ASSAY_T_BOOL)
        bool_expression(g, depth);
    else
        integer_expression(g, t, depth);
}

/* ---- declarations, sections ---- */

static value *add_value(generator *g, const char *prefix, assay_type t, assay_tile tile)
{
    value *v = &g->values[g->count];
    memset(v, 0, sizeof *v);
    snprintf(v->name, sizeof v->name, "%s%d", prefix, g->count++);
    v->type = t;
    v->tile = tile;
    v->pad = (assay_tile){1, 1};
    return v;
}

static assay_tile block(generator *g)
{
    static const int rows[] = {1, 1, 1, 1, 2, 3, 4, 8, 16, 32};
    static const int cols[] = {1, 2, 3, 4, 8, 16, 16, 32, 32, 5};
    return (assay_tile){rows[random_below(g->r, 10)], cols[random_below(g->r, 10)]};
}

static void choose_tiles(generator *g)
{
    static const assay_tile named[] = {{1, 1}, {0, 0}, {1, 0}, {0, 1}};
    for (int i = 0; i < TILES; i++)
        g->tiles[i] = i > 0 && random_chance(g->r, 50) ? named[random_below(g->r, 4)] : block(g);
    g->tiles[0] = (assay_tile){1, 1};
}

static void add_inputs(generator *g)
{
    static const assay_tile element = {1, 1};
    value *x = add_value(g, "x", any_format(g), element);
    x->is_input = true;
    if (random_chance(g->r, 20))
        x->pad = block(g);
    for (int64_t n = random_below(g->r, 4); n > 0; n--) {
        value *v = add_value(g, "s", random_chance(g->r, 60) ? any_format(g) : any_type(g),
                             g->tiles[random_below(g->r, TILES)]);
        v->is_input = true;
    }
    if (random_chance(g->r, 30)) {
        value *v = add_value(g, "w", any_format(g), element);
        v->is_input = v->is_table = true;
        v->table = 2 << random_below(g->r, 4);
    }
}

static void put_tile(text *t, assay_tile tile, bool section)
{
    if (tile.rows == 1 && tile.cols == 1)
        put(t, "element");
    else if (tile.rows == 0 && tile.cols == 0)
        put(t, "tensor");
    else if (tile.cols == 0)
        put(t, "row");
    else if (tile.rows == 0)
        put(t, "column");
    else
        put(t, "%s%lldx%lld", section ? "block " : "", (long long)tile.rows, (long long)tile.cols);
}

/* A statement; some become outputs at once, some are marked. */
static void statement(generator *g)
{
    assay_type t = any_type(g);
    char name[16];
    snprintf(name, sizeof name, "v%d", g->count);
    put(&g->body, "  %s = ", name);
    expression(g, t, 1 + (int)random_below(g->r, 3));
    put(&g->body, "\n");
    value *v = add_value(g, "v", t, g->here);
    if (random_chance(g->r, 15)) {
        assay_tile here = g->here;
        put(&g->body, "  unspecified %s when ", name);
        expression(g, kind(ASSAY_T_BOOL), 2);
        put(&g->body, "\n");
        g->here = here;
    }
    v->is_output = random_chance(g->r, 40);
    snprintf(v->declared, sizeof v->declared, "%s", assay_type_name(t));
    if (is_float(t) && random_chance(g->r, 10)) {
        snprintf(v->declared, sizeof v->declared, is(t, "f64") || random_chance(g->r, 30) ? "f64" : "f32");
        if (v->is_output)
            v->type = format(v->declared);
    } else if ((t.kind == ASSAY_T_U32 || t.kind == ASSAY_T_BOOL) && random_chance(g->r, 20)) {
        snprintf(v->declared, sizeof v->declared, "u8");
        if (v->is_output)
            v->type = kind(ASSAY_T_U8);
    }
}

static const char *const used_names[] = {"random.block", "random.scaled"};
static const char *const used_texts[] = {
    "recipe random.block\nsource \"a test\"\nparam F = e4m3 | e2m1\nin y : f32\nout Q : F\n"
    "out S : e8m0 per 1x8\nblock 1x8:\n  S = e8m0(amax(y) / F.max, up)\nelement:\n  Q = F(y / S)\n",
    "recipe random.scaled\nsource \"a test\"\nin y : bf16\nin g : f32 per tensor\nout Z : bf16\n"
    "out C : u32 per row\nelement:\n  Z = bf16(y * g)\n  unspecified Z when isnan(y)\nrow:\n"
    "  C = count(Z > 1)\n",
};

assay_recipe *random_program_finder(void *context, const char *name)
{
    static assay_recipe *parsed[2];
    (void)context;
    for (int i = 0; i < 2; i++) {
        if (strcmp(name, used_names[i]))
            continue;
        if (!parsed[i])
            assay_recipe_parse(used_texts[i], strlen(used_texts[i]), used_names[i], &parsed[i], NULL,
                               NULL);
        return parsed[i];
    }
    return NULL;
}

static void use_block(generator *g)
{
    g->here = (assay_tile){1, 1};
    bool scaled = random_chance(g->r, 50);
    int n = g->count;
    if (scaled) {
        put(&g->body, "use random.scaled as q%d : y = ", n);
        expression(g, format("bf16"), 2);
        put(&g->body, ", g = ");
        g->here = (assay_tile){0, 0};
        expression(g, format("f32"), 2);
    } else {
        put(&g->body, "use random.block(F=%s) as q%d : y = ", random_chance(g->r, 50) ? "e4m3" : "e2m1",
            n);
        expression(g, format("f32"), 2);
    }
    put(&g->body, "\n");
    value *v = add_value(g, "q", scaled ? format("bf16") : format("e8m0"),
                         scaled ? (assay_tile){1, 1} : (assay_tile){1, 8});
    snprintf(v->name, sizeof v->name, "q%d.%s", n, scaled ? "Z" : "S");
}

static void section(generator *g)
{
    g->here = g->tiles[random_below(g->r, TILES)];
    put_tile(&g->body, g->here, true);
    put(&g->body, ":\n");
    for (int64_t n = 1 + random_below(g->r, 3); n > 0 && g->count < VALUES - 2; n--)
        statement(g);
}

static void declare(const generator *g, text *head)
{
    for (int i = 0; i < g->count; i++) {
        const value *v = &g->values[i];
        if (v->name[0] == 'q' || (v->is_input && !v->is_used))
            continue;
        if (!v->is_input && !v->is_output && v->is_used)
            continue;
        put(head, "%s %s : %s", v->is_input ? "in" : "out", v->name,
            v->is_input || !v->is_output ? assay_type_name(v->type) : v->declared);
        if (v->is_table) {
            put(head, " table %lldx%lld", (long long)v->table, (long long)v->table);
        } else if (v->tile.rows != 1 || v->tile.cols != 1) {
            put(head, " per ");
            put_tile(head, v->tile, false);
        }
        if (v->pad.rows != 1 || v->pad.cols != 1)
            put(head, " pad %lldx%lld", (long long)v->pad.rows, (long long)v->pad.cols);
        put(head, "\n");
    }
}

void random_program(random_source *r, char *to)
{
    generator *g = calloc(1, sizeof *g);
    text *head = calloc(1, sizeof *head);
    if (!g || !head)
        abort();
    g->r = r;
    g->approx = random_chance(r, 20) ? 2 : 0;
    choose_tiles(g);
    add_inputs(g);
    if (random_chance(r, 20))
        use_block(g);
    for (int64_t n = 2 + random_below(r, 5); n > 0; n--)
        section(g);
    put(head, "recipe random.program\nsource \"a test\"\n");
    if (random_chance(r, 30))
        put(head, "nan 0x7FFFFFFF\n");
    declare(g, head);
    put(head, "%s", g->body.at);
    memcpy(to, head->at, RANDOM_TEXT);
    free(g);
    free(head);
}
