/* A random expression of a given type. */
#include "random_generator.h"

#include <string.h>

static void call(random_generator *g, const char *name, bool wide, int arguments, bool options, int depth)
{
    random_put(&g->body, "%s(", name);
    for (int k = 0; k < arguments; k++) {
        random_put(&g->body, k ? ", " : "");
        if (k == 0)
            random_first_operand(g, wide, depth);
        else
            random_operand_or_number(g, wide, depth);
    }
    if (options)
        random_arithmetic_options(g, wide);
    random_put(&g->body, ")");
}

static void f32_only(random_generator *g, int depth)
{
    switch (random_below(g->r, 6)) {
    case 0:
        random_put(&g->body, "pow2(");
        random_expression(g, random_kind(ASSAY_T_I32), depth - 1);
        random_put(&g->body, ")");
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
            random_put(&g->body, "approx(");
            random_operand(g, depth);
            random_put(&g->body, ", 1)");
            break;
        }
        call(g, "flush", false, 1, false, depth);
        break;
    default:
        if (!random_transform(g, depth))
            call(g, "sqrt", false, 1, true, depth);
    }
}

static void arithmetic(random_generator *g, bool wide, int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", "*", "/"};
    static const char *const named[] = {"add", "sub", "mul", "div"};
    static const char *const functions[] = {"sqrt", "rint", "exp", "exp2", "log2", "flush"};
    static const char *const rint_modes[] = {"even", "away", "zero", "up", "down"};
    switch (random_below(g->r, wide ? 7 : 9)) {
    case 0:
    case 1:
        random_put(&g->body, "(");
        random_first_operand(g, wide, depth);
        random_put(&g->body, " %s ", binary[random_below(g->r, 6)]);
        random_operand_or_number(g, wide, depth);
        random_put(&g->body, ")");
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
        random_put(&g->body, "%s(", random_chance(g->r, 50) ? "rint" : "ldexp");
        if (g->body.at[g->body.length - 2] == 't') {
            random_first_operand(g, wide, depth);
            random_put(&g->body, ", %s)", rint_modes[random_below(g->r, 5)]);
        } else {
            random_first_operand(g, wide, depth);
            random_put(&g->body, ", ");
            random_expression(g, random_kind(ASSAY_T_I32), depth - 1);
            random_put(&g->body, ")");
        }
        break;
    case 6:
        call(g, "clamp", wide, 3, false, depth);
        break;
    default:
        f32_only(g, depth);
    }
}

static void sign_operation(random_generator *g, assay_type t, int depth)
{
    int64_t n = random_below(g->r, 3);
    random_put(&g->body, n == 0 ? "(-" : n == 1 ? "abs(" : "copysign(");
    random_expression(g, t, depth - 1);
    if (n == 2) {
        random_put(&g->body, ", ");
        random_expression(g, random_chance(g->r, 70) ? t : random_any_format(g), depth - 1);
    }
    random_put(&g->body, ")");
}

static void float_expression(random_generator *g, assay_type t, int depth)
{
    bool wide = random_is(t, "f64"), full = wide || random_is(t, "f32");
    bool keeps_sign = full || random_is(t, "bf16") || random_is(t, "f16");
    int64_t n = random_below(g->r, 20);
    if (n < 3 && random_reduction(g, t, depth))
        return;
    if (full && n < 12)
        arithmetic(g, wide, depth);
    else if (n < 14)
        random_cast(g, t, depth);
    else if (keeps_sign && n < 16)
        sign_operation(g, t, depth);
    else if (n < 17 && random_gather(g, t, depth))
        return;
    else if (n < 18)
        random_least_or_greatest(g, t, depth);
    else if (n < 19)
        random_choice(g, t, depth);
    else {
        random_put(&g->body, "code(%s, ", t.format->name);
        random_expression(g, random_kind(assay_format_width(t.format) > 32 ? ASSAY_T_U64 : ASSAY_T_U32), depth - 1);
        random_put(&g->body, ")");
    }
}

static void integer_operation(random_generator *g, assay_type t, int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", "%", "&", "|", "<<", ">>"};
    int64_t n = random_below(g->r, 11);
    if (n == 10) {
        random_put(&g->body, "(-");
        random_expression(g, t, depth - 1);
        random_put(&g->body, ")");
        return;
    }
    random_put(&g->body, n == 9 ? "xor(" : "(");
    random_expression(g, t, depth - 1);
    if (n == 9)
        random_put(&g->body, ", ");
    else
        random_put(&g->body, " %s ", binary[n]);
    if (random_chance(g->r, 50))
        random_small_integer(g);
    else
        random_expression(g, t, depth - 1);
    random_put(&g->body, ")");
}

static void philox(random_generator *g, int depth)
{
    random_put(&g->body, "philox(");
    for (int k = 0; k < 4; k++) {
        random_put(&g->body, k ? ", " : "");
        if (random_chance(g->r, 40))
            random_small_integer(g);
        else
            random_expression(g, random_kind(k < 3 ? ASSAY_T_U64 : ASSAY_T_U32), depth - 1);
    }
    random_put(&g->body, ")");
}

static void convert_to(random_generator *g, assay_type t, int depth)
{
    random_put(&g->body, "%s(", assay_type_name(t));
    random_expression(g, random_any_type(g), depth - 1);
    random_put(&g->body, ")");
}

static void integer_expression(random_generator *g, assay_type t, int depth)
{
    static const assay_tile element = {1, 1};
    int64_t n = random_below(g->r, 16);
    if (n < 2 && random_reduction(g, t, depth))
        return;
    if (n < 6)
        integer_operation(g, t, depth);
    else if (n < 9)
        convert_to(g, t, depth);
    else if (n < 10)
        random_least_or_greatest(g, t, depth);
    else if (n < 11)
        random_choice(g, t, depth);
    else if (n < 12 && random_gather(g, t, depth))
        return;
    else if (t.kind == ASSAY_T_I32) {
        random_put(&g->body, "exponent(");
        random_expression(g, random_any_format(g), depth - 1);
        random_put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32 && random_chance(g->r, 50)) {
        random_put(&g->body, "bits(");
        random_expression(g, random_narrow_format(g), depth - 1);
        random_put(&g->body, ")");
    } else if (t.kind == ASSAY_T_U32) {
        philox(g, depth);
    } else if (!g->inside && assay_tile_equal(g->here, element) && random_chance(g->r, 40)) {
        random_put(&g->body, "index");
    } else if (random_chance(g->r, 30)) {
        random_put(&g->body, "bits(");
        random_expression(g, random_format("f64"), depth - 1);
        random_put(&g->body, ")");
    } else {
        static const char *const words[] = {"row", "col", "M", "K"};
        random_put(&g->body, "%s", words[random_below(g->r, g->inside ? 4 : 4)]);
    }
}

static void comparison(random_generator *g, int depth)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    bool integers = random_chance(g->r, 35);
    assay_type t = integers ? random_integer_kind(g) : random_kind(ASSAY_T_BOOL);
    bool wide = !integers && random_chance(g->r, 20);
    random_put(&g->body, "(");
    if (integers)
        random_expression(g, t, depth - 1);
    else
        random_first_operand(g, wide, depth);
    random_put(&g->body, " %s ", signs[random_below(g->r, 6)]);
    if (integers && random_chance(g->r, 50))
        random_small_integer(g);
    else if (integers)
        random_expression(g, t, depth - 1);
    else
        random_operand_or_number(g, wide, depth);
    random_put(&g->body, ")");
}

static void bool_expression(random_generator *g, int depth)
{
    assay_type b = random_kind(ASSAY_T_BOOL);
    int64_t n = random_below(g->r, 12);
    if (n < 2 && random_reduction(g, b, depth))
        return;
    if (n < 6) {
        comparison(g, depth);
    } else if (n < 8) {
        static const char *const looks[] = {"isnan", "isinf", "signbit"};
        random_put(&g->body, "%s(", looks[random_below(g->r, 3)]);
        random_expression(g, random_any_format(g), depth - 1);
        random_put(&g->body, ")");
    } else if (n < 9) {
        random_put(&g->body, "(not ");
        random_expression(g, b, depth - 1);
        random_put(&g->body, ")");
    } else if (n < 11) {
        random_put(&g->body, "(");
        random_expression(g, b, depth - 1);
        random_put(&g->body, random_chance(g->r, 50) ? " and " : " or ");
        random_expression(g, b, depth - 1);
        random_put(&g->body, ")");
    } else {
        random_choice(g, b, depth);
    }
}

/* When depth is used up and nothing of the type is at hand. */
static void fallback(random_generator *g, assay_type t)
{
    if (random_is_float(t)) {
        random_put(&g->body, "%s(", t.format->name);
        int v = random_visible(g, random_any_narrow, t);
        if (v >= 0)
            random_read_value(g, v);
        else
            random_number(g);
        random_put(&g->body, ")");
    } else if (t.kind == ASSAY_T_BOOL) {
        random_put(&g->body, "(row %s 3)", random_chance(g->r, 50) ? "<" : ">=");
    } else {
        static const char *const words[] = {"row", "col", "M", "K"};
        random_put(&g->body, "%s(%s)", assay_type_name(t), words[random_below(g->r, 4)]);
    }
}

void random_expression(random_generator *g, assay_type t, int depth)
{
    int v = random_visible(g, random_same_type, t);
    if (depth <= 0 || g->body.length > RANDOM_TEXT / 2 || (v >= 0 && random_chance(g->r, 30))) {
        if (v >= 0)
            random_read_value(g, v);
        else
            fallback(g, t);
        return;
    }
    if (random_is_float(t))
        float_expression(g, t, depth);
    else if (t.kind == ASSAY_T_BOOL)
        bool_expression(g, depth);
    else
        integer_expression(g, t, depth);
}
