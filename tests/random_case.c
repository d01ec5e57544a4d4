/* Random matrices: specials, ties, subnormals, ordinary values, raw bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/convert.h"
#include "random_program.h"

static uint64_t low_bits(int n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static uint64_t nearest(const assay_format *f, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    assay_cast cast = assay_cast_default(f);
    return assay_convert_f64(f, bits, &cast, 0).code;
}

/* Of a few binades around 1, or of any. */
static double ordinary(random_source *r)
{
    double v = ldexp(1 + (double)random_below(r, 64) / 64, (int)random_below(r, 13) - 6);
    if (random_chance(r, 10))
        v = ldexp(v, (int)random_below(r, 300) - 160);
    return random_chance(r, 50) ? -v : v;
}

/* Halfway between two neighbouring codes of some narrow format, times a power of two. */
static double tie(random_source *r)
{
    const assay_format *f;
    do
        f = &assay_formats[random_below(r, (int64_t)assay_format_count)];
    while (assay_format_width(f) > 16);
    int64_t least = assay_ordinal_min(f), most = assay_ordinal_max(f);
    int64_t at = least + random_below(r, most - least);
    double a = assay_decode_double(f, assay_ordinal_code(f, at));
    double b = assay_decode_double(f, assay_ordinal_code(f, at + 1));
    double v = (a + b) / 2;
    return random_chance(r, 50) ? v : ldexp(v, (int)random_below(r, 9) - 4);
}

static uint64_t float_code(random_source *r, const assay_format *f)
{
    int width = assay_format_width(f);
    uint64_t code, mask = low_bits(width);
    switch (random_below(r, 8)) {
    case 0:
        return random_bits(r) & mask;
    case 1: /* specials and both ends of the range */
        switch (random_below(r, 5)) {
        case 0:
            code = assay_format_nan_code(f);
            break;
        case 1:
            code = assay_format_has_inf(f) ? assay_format_inf_code(f, false) : 0;
            break;
        case 2:
            code = assay_format_max_code(f);
            break;
        case 3:
            code = (uint64_t)1 << f->mantissa_bits; /* the least normal */
            break;
        default:
            code = (uint64_t)random_below(r, 2);
        }
        return (code ^ (random_chance(r, 50) ? assay_format_sign_bit(f) : 0)) & mask;
    case 2: /* subnormals, where there are some */
        code = random_bits(r) & low_bits(f->mantissa_bits);
        return code | (random_chance(r, 50) ? assay_format_sign_bit(f) : 0);
    case 3:
        return (nearest(f, tie(r)) + (uint64_t)random_below(r, 3) - 1) & mask;
    default:
        return nearest(f, ordinary(r));
    }
}

uint64_t random_code(random_source *r, assay_type t)
{
    switch (t.kind) {
    case ASSAY_T_FORMAT:
        return float_code(r, t.format);
    case ASSAY_T_BOOL:
        return (uint64_t)random_below(r, 2);
    default: {
        int width = 8 * assay_type_storage(t);
        uint64_t v = random_bits(r) & low_bits(width);
        if (random_chance(r, 50))
            v >>= random_below(r, width);
        return random_chance(r, 10) ? low_bits(width) - (v & 7) : v;
    }
    }
}

static assay_grid new_grid(const assay_value *v, int64_t m, int64_t k, size_t *bytes)
{
    assay_grid g = {0, 0, NULL, NULL};
    assay_value_shape(v, m, k, &g.rows, &g.cols);
    *bytes = (size_t)(g.rows * g.cols) * (size_t)assay_type_storage(v->type);
    g.data = malloc(*bytes + 1);
    if (!g.data)
        abort();
    return g;
}

random_case *random_case_new(random_source *r, const assay_program *p, int64_t m, int64_t k)
{
    random_case *c = calloc(1, sizeof *c);
    size_t bytes;
    c->m = m;
    c->k = k;
    c->inputs = calloc((size_t)p->input_count + 1, sizeof *c->inputs);
    for (int i = 0; i < p->input_count; i++) {
        const assay_value *v = &p->values[p->inputs[i]];
        size_t size = (size_t)assay_type_storage(v->type);
        c->inputs[i] = new_grid(v, m, k, &bytes);
        bool raw = random_chance(r, 10);
        for (int64_t j = 0; j < c->inputs[i].rows * c->inputs[i].cols; j++) {
            uint64_t code = random_code(r, v->type);
            if (raw && v->type.kind == ASSAY_T_FORMAT)
                code = random_bits(r) & low_bits(assay_format_width(v->type.format));
            memcpy((uint8_t *)c->inputs[i].data + (size_t)j * size, &code, size);
        }
    }
    for (int copy = 0; copy < RANDOM_COPIES; copy++) {
        c->outputs[copy] = calloc((size_t)p->output_count + 1, sizeof *c->outputs[copy]);
        for (int o = 0; o < p->output_count; o++) {
            assay_grid *g = &c->outputs[copy][o];
            *g = new_grid(&p->values[p->outputs[o]], m, k, &bytes);
            memset(g->data, 0x5A + 0x11 * copy, bytes);
            g->marks = malloc((size_t)(g->rows * g->cols) + 1);
            memset(g->marks, 0x5A + 0x11 * copy, (size_t)(g->rows * g->cols));
        }
    }
    return c;
}

void random_case_free(random_case *c, const assay_program *p)
{
    for (int i = 0; i < p->input_count; i++)
        free(c->inputs[i].data);
    free(c->inputs);
    for (int copy = 0; copy < RANDOM_COPIES; copy++) {
        for (int o = 0; o < p->output_count; o++) {
            free(c->outputs[copy][o].data);
            free(c->outputs[copy][o].marks);
        }
        free(c->outputs[copy]);
    }
    free(c);
}
