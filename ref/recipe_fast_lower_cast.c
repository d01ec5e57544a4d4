/* Casts and decodes: which kernel, with which numbers. */
#include <assert.h>
#include <string.h>

#include "recipe_fast.h"

static bool is(const assay_format *f, const char *name)
{
    return !strcmp(f->name, name);
}

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* ---- decode ---- */

/* All codes of a format as f32 bits; a NaN keeps its sign. */
static const uint32_t *decode_table(assay_fast *f, const assay_format *format)
{
    uint64_t codes = (uint64_t)1 << assay_format_width(format);
    uint32_t *table = fast_block(f, (codes < 256 ? 256 : codes) * sizeof *table);
    for (uint64_t code = 0; table && code < codes; code++) {
        assay_parts parts = assay_decode(format, code);
        float v = (float)assay_decode_double(format, code);
        memcpy(&table[code], &v, 4);
        if (parts.class_ == ASSAY_CLASS_NAN)
            table[code] = 0x7FC00000 | (parts.negative ? 0x80000000 : 0);
    }
    return table;
}

/* One table a format in a program. */
static const uint32_t *table_of(assay_fast *f, const assay_format *format)
{
    for (int i = 0; i < f->table_count; i++)
        if (f->tables[i].format == format)
            return f->tables[i].table;
    if (f->table_count == FAST_TABLES)
        return decode_table(f, format); /* correct, only not shared */
    f->tables[f->table_count].format = format;
    f->tables[f->table_count].table = decode_table(f, format);
    return f->tables[f->table_count++].table;
}

int fast_decode(assay_fast *f, int node, assay_type t)
{
    assert(t.kind == ASSAY_T_FORMAT);
    const assay_format *from = t.format;
    if (is(from, "f32") || is(from, "f64"))
        return node;
    if (is(from, "bf16"))
        return fast_unary(f, FAST_K_BF16_TO_F32, FAST_LANE_32, node);
    if (is(from, "f16"))
        return fast_unary(f, FAST_K_F16_TO_F32, FAST_LANE_32, node);
    if (is(from, "tf32"))
        return fast_unary(f, FAST_K_TF32_TO_F32, FAST_LANE_32, node);
    assert(assay_format_width(from) <= 12);
    fast_kernel_id k = assay_format_storage(from) == 1 ? FAST_K_TABLE_8 : FAST_K_TABLE_16;
    return fast_unary_word(f, k, FAST_LANE_32, node, address(table_of(f, from)));
}

/* ---- f32 -> formats of at most 22 fraction bits ---- */

/* Magnitude code of an overflow; LANGUAGE.md 8. `odd` takes max itself if its code is odd. */
static uint32_t overflow_code(const assay_format *to, const assay_cast *cast, bool negative,
                              bool infinite)
{
    uint64_t magnitude = ~assay_format_sign_bit(to);
    uint64_t max = assay_format_max_code(to);
    bool inward = !infinite && to->kind == ASSAY_KIND_FLOAT &&
                  (cast->mode == ASSAY_ZERO || cast->mode == (negative ? ASSAY_UP : ASSAY_DOWN) ||
                   (cast->mode == ASSAY_ODD && (max & 1)));
    if (cast->overflow == ASSAY_SAT || (cast->overflow == ASSAY_SATFIN && !infinite) || inward)
        return (uint32_t)max;
    if (assay_format_has_inf(to))
        return (uint32_t)(assay_format_inf_code(to, false) & magnitude);
    return (uint32_t)(assay_format_has_nan(to) ? assay_format_nan_code(to) : max);
}

static void set_threshold(fast_cast *c, assay_mode mode, bool is_signed)
{
    const uint32_t never = 0x7FFFFFFF;
    switch (mode) {
    case ASSAY_AWAY:
        c->half_mask = UINT32_MAX;
        c->threshold[0] = c->threshold[1] = UINT32_MAX; /* half - 1 */
        break;
    case ASSAY_TIES_ZERO:
        c->half_mask = UINT32_MAX;
        break;
    case ASSAY_ZERO:
        c->threshold[0] = c->threshold[1] = never;
        break;
    case ASSAY_UP:
        c->threshold[1] = is_signed ? never : 0;
        break;
    case ASSAY_DOWN:
        c->threshold[0] = never;
        c->threshold[1] = is_signed ? 0 : never;
        break;
    case ASSAY_ODD:
        c->odd_mask = 0x80000000;
        break;
    default:
        c->half_mask = UINT32_MAX;
        c->even_mask = 1;
    }
}

static void set_range(fast_cast *c, const assay_format *to, const assay_cast *cast)
{
    uint32_t sign = (uint32_t)assay_format_sign_bit(to);
    c->max = (uint32_t)assay_format_max_code(to);
    c->over[0] = overflow_code(to, cast, false, false);
    c->over[1] = overflow_code(to, cast, to->is_signed, false);
    c->infinity = overflow_code(to, cast, false, true);
    c->nan = (uint32_t)cast->nan_code;
    c->nan_sign = cast->nan_sign ? sign : 0;
    c->sign = sign;
    c->zero_sign = assay_format_has_negative_zero(to) ? sign : 0;
}

/* The numbers of a float format for the column kernels; false: they do not cover it. */
static bool describe(fast_params *params, const assay_format *to, const assay_cast *cast)
{
    int emin = assay_format_emin(to);
    uint32_t m = to->mantissa_bits;
    if (to->kind != ASSAY_KIND_FLOAT || m > 22 || emin < -126 || emin - (int)m + 23 > 127)
        return false;
    memset(params, 0, sizeof *params);
    fast_cast *c = &params->cast;
    c->fraction_bits = m;
    c->drop = 23 - m;
    c->emin = (uint32_t)(emin + 127);
    c->rebias = (c->emin - 1) << m;
    c->least_normal = c->emin << 23;
    c->magic = (uint32_t)(emin - (int)m + 23 + 127) << 23;
    c->flush_below = cast->ftz ? 1u << m : 0;
    c->random_bits = cast->random_bits;
    set_range(c, to, cast);
    set_threshold(c, cast->mode, to->is_signed);
    return true;
}

/* Does LIMIT do the work of EVEN? */
static bool is_limit(const fast_cast *c)
{
    return c->over[0] == c->infinity && c->over[1] == c->infinity && c->infinity - c->max <= 1 &&
           c->flush_below == 0 && c->zero_sign == c->sign && c->rebias % 2 == 0;
}

static bool describe_power(fast_params *params, const assay_format *to, const assay_cast *cast)
{
    if (to->kind != ASSAY_KIND_POWER || cast->mode == ASSAY_STOCHASTIC)
        return false;
    memset(params, 0, sizeof *params);
    fast_cast *c = &params->cast;
    set_range(c, to, cast);
    switch (cast->mode) {
    case ASSAY_EVEN: /* no even code: a tie goes up */
    case ASSAY_AWAY:
        c->magic = 0x400000;
        c->least_normal = 0x600000;
        break;
    case ASSAY_TIES_ZERO:
        c->magic = 0x3FFFFF;
        c->least_normal = 0x600001;
        break;
    case ASSAY_UP:
        c->magic = 0x7FFFFF;
        c->least_normal = 0x400001;
        break;
    default:
        c->least_normal = 0x800000;
    }
    return cast->mode != ASSAY_ODD;
}

static bool describe_integer(fast_params *params, const assay_format *to, const assay_cast *cast)
{
    if (to->kind != ASSAY_KIND_INTEGER || cast->mode != ASSAY_EVEN || assay_format_width(to) > 8)
        return false;
    memset(params, 0, sizeof *params);
    params->cast.max = (uint32_t)assay_format_max_code(to);
    params->cast.sign = (uint32_t)assay_format_sign_bit(to);
    params->cast.nan = (uint32_t)cast->nan_code;
    params->cast.magic = (uint32_t)(127 - assay_format_emin(to)) << 23;
    return true;
}

static int scalar_cast(assay_fast *f, const assay_format *to, const assay_cast *cast, int node,
                       int random, fast_kernel kernel)
{
    fast_scalar_cast *c = fast_block(f, sizeof *c);
    if (!c)
        return -1;
    c->to = to;
    c->cast = *cast;
    int arg[] = {node, random};
    assay_type t = {ASSAY_T_FORMAT, to};
    return fast_compute(f, kernel, fast_lane(t), fast_word(address(c)),
                        cast->mode == ASSAY_STOCHASTIC ? 2 : 1, arg);
}

/* random: u64 lanes, or -1. */
static int cast_f32(assay_fast *f, const assay_format *to, const assay_cast *cast, int node,
                    int random)
{
    static const fast_kernel_id even[] = {FAST_K_EVEN_8, FAST_K_EVEN_16, FAST_K_EVEN_32};
    static const fast_kernel_id limit[] = {FAST_K_LIMIT_8, FAST_K_LIMIT_16, FAST_K_LIMIT_32};
    static const fast_kernel_id mode[] = {FAST_K_MODE_8, FAST_K_MODE_16, FAST_K_MODE_32};
    static const fast_kernel_id stochastic[] = {FAST_K_STOCHASTIC_8, FAST_K_STOCHASTIC_16,
                                                FAST_K_STOCHASTIC_32};
    fast_params params;
    uint8_t lane = fast_lane((assay_type){ASSAY_T_FORMAT, to});
    bool plain = cast->overflow == ASSAY_NOSAT && !cast->ftz && !cast->nan_sign;
    if (is(to, "f32") && plain)
        return fast_unary_word(f, FAST_K_CANON_32, FAST_LANE_32, node, cast->nan_code);
    if (is(to, "f64") && plain)
        return fast_unary_word(f, FAST_K_CANON_64, FAST_LANE_64,
                               fast_unary(f, FAST_K_F32_TO_F64, FAST_LANE_64, node),
                               cast->nan_code);
    if (describe_power(&params, to, cast))
        return fast_compute(f, fast_kernel_for(f, FAST_K_POWER_8), lane, params, 1, &node);
    if (describe_integer(&params, to, cast))
        return fast_compute(f, fast_kernel_for(f, FAST_K_INTEGER_8), lane, params, 1, &node);
    if (!describe(&params, to, cast) ||
        (cast->mode == ASSAY_STOCHASTIC && cast->random_bits > 32))
        return scalar_cast(f, to, cast, node, random, fast_cast_f32);
    if (cast->mode == ASSAY_STOCHASTIC) {
        int arg[] = {node, fast_unary(f, FAST_K_TRUNC_64_32, FAST_LANE_32, random)};
        return fast_compute(f, fast_kernel_for(f, stochastic[lane]), lane, params, 2, arg);
    }
    int least = assay_format_emin(to) - to->mantissa_bits;
    if (lane == FAST_LANE_8 && least >= -126 && is_limit(&params.cast) &&
        (cast->mode == ASSAY_AWAY || cast->mode == ASSAY_TIES_ZERO)) {
        params.cast.magic = (uint32_t)(127 - least) << 23;
        return fast_compute(f, fast_kernel_for(f, cast->mode == ASSAY_AWAY ? FAST_K_AWAY_8
                                                                          : FAST_K_TIES_ZERO_8),
                            lane, params, 1, &node);
    }
    fast_kernel_id k = cast->mode != ASSAY_EVEN ? mode[lane]
                       : is_limit(&params.cast) ? limit[lane]
                                                : even[lane];
    return fast_compute(f, fast_kernel_for(f, k), lane, params, 1, &node);
}

static int cast_f64(assay_fast *f, const assay_format *to, const assay_cast *cast, int node,
                    int random)
{
    bool plain = cast->overflow == ASSAY_NOSAT && !cast->ftz && !cast->nan_sign;
    if (is(to, "f64") && plain)
        return fast_unary_word(f, FAST_K_CANON_64, FAST_LANE_64, node, cast->nan_code);
    if (is(to, "f32") && plain && cast->mode == ASSAY_EVEN)
        return fast_unary_word(f, FAST_K_CANON_32, FAST_LANE_32,
                               fast_unary(f, FAST_K_F64_TO_F32, FAST_LANE_32, node),
                               cast->nan_code);
    fast_params unused;
    if (cast->mode != ASSAY_STOCHASTIC && to->mantissa_bits <= 21 &&
        (describe(&unused, to, cast) || describe_power(&unused, to, cast)))
        return cast_f32(f, to, cast, fast_unary(f, FAST_K_F64_TO_ODD_F32, FAST_LANE_32, node), -1);
    return scalar_cast(f, to, cast, node, random, fast_cast_f64);
}

/* Integers below 2^53 are exact in f64, those of 32 bits always. */
static int cast_integer(assay_fast *f, const assay_format *to, const assay_cast *cast,
                        assay_type from, int node, int random)
{
    bool even = cast->mode == ASSAY_EVEN;
    switch (from.kind) {
    case ASSAY_T_I32:
        if (is(to, "f32") && even)
            return fast_unary(f, FAST_K_I32_TO_F32, FAST_LANE_32, node);
        if (is(to, "f64"))
            return fast_unary(f, FAST_K_I32_TO_F64, FAST_LANE_64, node);
        return scalar_cast(f, to, cast, node, random, fast_cast_i32);
    case ASSAY_T_U64:
        if (is(to, "f32") && even)
            return fast_unary(f, FAST_K_U64_TO_F32, FAST_LANE_32, node);
        if (is(to, "f64") && even)
            return fast_unary(f, FAST_K_U64_TO_F64, FAST_LANE_64, node);
        return scalar_cast(f, to, cast, node, random, fast_cast_u64);
    default:
        if (f->out_of_memory || node < 0)
            return -1;
        if (f->nodes[node].lane == FAST_LANE_8)
            node = fast_unary(f, FAST_K_ZEXT_8_32, FAST_LANE_32, node);
        if (from.kind == ASSAY_T_BOOL)
            node = fast_unary_word(f, FAST_K_AND_WORD_32, FAST_LANE_32, node, 1);
        if (is(to, "f32") && even)
            return fast_unary(f, FAST_K_U32_TO_F32, FAST_LANE_32, node);
        if (is(to, "f64"))
            return fast_unary(f, FAST_K_U32_TO_F64, FAST_LANE_64, node);
        return scalar_cast(f, to, cast, fast_unary(f, FAST_K_ZEXT_32_64, FAST_LANE_64, node),
                           random, fast_cast_u64);
    }
}

int fast_lower_cast(assay_fast *f, const assay_expr *e, assay_tile context)
{
    const assay_format *to = e->type.format;
    const assay_cast *cast = &e->u.cast;
    assay_type from = e->arg[0]->type;
    int node = fast_lower(f, e->arg[0], context), random = -1;
    if (cast->mode == ASSAY_STOCHASTIC) {
        random = fast_lower(f, e->arg[1], context);
        if (random >= 0 && f->nodes[random].lane == FAST_LANE_32)
            random = fast_unary(f, FAST_K_ZEXT_32_64, FAST_LANE_64, random);
        if (random < 0)
            return -1;
    }
    if (from.kind != ASSAY_T_FORMAT)
        return cast_integer(f, to, cast, from, node, random);
    if (is(from.format, "f64"))
        return cast_f64(f, to, cast, node, random);
    return cast_f32(f, to, cast, fast_decode(f, node, from), random);
}

int fast_narrow(assay_fast *f, int node, const assay_format *to)
{
    assay_cast exact = assay_cast_default(to);
    exact.overflow = ASSAY_NOSAT;
    return cast_f32(f, to, &exact, node, -1);
}
