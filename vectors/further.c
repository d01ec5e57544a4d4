/* Inputs beside the main one: scales, random words, seeds, residuals, tables. */
#include <math.h>
#include <string.h>

#include "generate.h"

bool vectors_has_further(const assay_program *p)
{
    return p->input_count > (p->main_input >= 0 ? 1 : 0);
}

/* Largest finite magnitude of the main input in the tile of v that holds (i, j) of v's grid. */
static double amax_of(const assay_case *c, const assay_program *p, const assay_value *v, int64_t i,
                      int64_t j)
{
    const assay_value *x = vectors_main(p);
    const assay_grid *g = &c->inputs[vectors_main_index(p)];
    int storage = assay_type_storage(x->type);
    int64_t row = v->tile.rows ? i * v->tile.rows : 0, col = v->tile.cols ? j * v->tile.cols : 0;
    int64_t row_end = v->tile.rows ? row + v->tile.rows : c->m;
    int64_t col_end = v->tile.cols ? col + v->tile.cols : c->k;
    double amax = 0;
    for (int64_t r = row; r < row_end && r < c->m; r++)
        for (int64_t s = col; s < col_end && s < c->k; s++) {
            uint64_t code = grid_get(g, storage, r * c->k + s);
            double value = code_is_finite(x->type.format, code)
                               ? fabs(assay_decode_double(x->type.format, code))
                               : 0;
            if (value > amax)
                amax = value;
        }
    return amax;
}

/* The largest value of the narrowest element output: what a scale divides by. */
static double output_max(const assay_program *p)
{
    double max = 1;
    int width = 64;
    for (int i = 0; i < p->output_count; i++) {
        const assay_value *v = &p->values[p->outputs[i]];
        if (v->type.kind == ASSAY_T_FORMAT && assay_format_width(v->type.format) < width) {
            width = assay_format_width(v->type.format);
            max = assay_decode_double(v->type.format, assay_format_max_code(v->type.format));
        }
    }
    return max;
}

static int exponent_of(double v)
{
    int e = 0;
    if (v > 0)
        frexp(v, &e);
    return e - 1;
}

/* A scale for an encoder: the amax itself, or something near it or its reciprocal. */
static uint64_t encoder_scale(const assay_format *f, double amax, double max, int variant,
                              vectors_rng *r)
{
    uint64_t random = vectors_next(r);
    switch (variant) {
    case 0: return code_near(f, amax);
    case 1: return code_make(f, false, exponent_of(amax), random);
    case 2: return code_near(f, amax > 0 ? max / amax : 1);
    default: return code_make(f, false, exponent_of(amax) + (int)(random & 3) - 1, 0);
    }
}

/* A scale for a decoder, which knows no amax: from powers of two to the whole range. */
static uint64_t decoder_scale(const assay_format *f, int variant, vectors_rng *r)
{
    uint64_t a = vectors_next(r), b = vectors_next(r);
    int emin = assay_format_emin(f), emax = assay_format_emax(f);
    switch (variant) {
    case VARIANT_NEAR: return code_make(f, false, (int)(a % 5) - 2, 0);
    case 0: return code_make(f, false, (int)(a % 17) - 8, 0);
    case 1: return code_make(f, false, (int)(a % 41) - 20, b);
    case 2: return code_make(f, false, emin + (int)(a % (uint64_t)(emax - emin + 1)), b);
    default: return code_near(f, 1);
    }
}

static uint64_t float_code(const assay_case *c, const assay_program *p, const assay_value *v,
                           int64_t n, int64_t i, int64_t j, int variant, vectors_rng *r)
{
    const assay_format *f = v->type.format;
    int width = assay_format_width(f);
    if (width <= 8) { /* every code in turn, in an order that is no ramp */
        uint64_t all = (uint64_t)1 << width;
        if (variant == VARIANT_NEAR)
            return all / 2 + (uint64_t)n * 3 % 5;
        return ((uint64_t)n * 77 + (uint64_t)variant * 5) % all;
    }
    if (v->tile.rows == 1 && v->tile.cols == 1) { /* a residual: nothing, or smaller than x */
        uint64_t a = vectors_next(r), b = vectors_next(r);
        return variant == 0 ? 0 : code_make(f, a & 1, -6 - (int)(a >> 1 & 7), b);
    }
    return vectors_encodes(p) ? encoder_scale(f, amax_of(c, p, v, i, j), output_max(p), variant, r)
                              : decoder_scale(f, variant, r);
}

/* A Hadamard matrix in the usual variant, else random signs and magnitudes. */
static uint64_t table_code(const assay_value *v, int64_t i, int64_t j, int variant, vectors_rng *r)
{
    const assay_format *f = v->type.format;
    if (variant != 0)
        return code_ordinary(f, r);
    return code_near(f, __builtin_parityll((unsigned long long)(i & j)) ? -1 : 1);
}

static uint64_t integer_code(const assay_value *v, int variant, vectors_rng *r)
{
    uint64_t random = vectors_next(r);
    static const uint64_t special[] = {0, UINT64_MAX, 1, (uint64_t)1 << 63, (uint64_t)1 << 31};
    if (v->type.kind == ASSAY_T_BOOL)
        return random & 1;
    if (variant >= VARIANT_SPECIAL)
        random = special[(variant - VARIANT_SPECIAL) % 5];
    return v->type.kind == ASSAY_T_U64 ? random : random & UINT32_MAX;
}

static uint64_t special_code(const assay_value *v, int64_t n, int variant)
{
    special_value list[SPECIAL_VALUES];
    int count = special_values(v->type.format, list);
    return list[(variant - VARIANT_SPECIAL + n) % count].code;
}

void vectors_fill_further(assay_case *c, const assay_program *p, int variant, vectors_rng *r)
{
    for (int input = 0; input < p->input_count; input++) {
        const assay_value *v = &p->values[p->inputs[input]];
        assay_grid *g = &c->inputs[input];
        int storage = assay_type_storage(v->type);
        if (p->inputs[input] == p->main_input)
            continue;
        for (int64_t n = 0; n < g->rows * g->cols; n++) {
            int64_t i = n / g->cols, j = n % g->cols;
            uint64_t code;
            if (v->type.kind != ASSAY_T_FORMAT)
                code = integer_code(v, variant, r);
            else if (variant >= VARIANT_SPECIAL)
                code = special_code(v, n, variant);
            else if (v->is_table)
                code = table_code(v, i, j, variant, r);
            else
                code = float_code(c, p, v, n, i, j, variant, r);
            grid_set(g, storage, n, code);
        }
    }
}
