/* Block recipes, each wrong in one way. Floats are floats: every operation rounds once. */
#include <stdlib.h>

#include "faulty.h"

static float number(const assay_tensor *t, int64_t i, int64_t j)
{
    return (float)tensor_get(t, i, j);
}

/* Largest magnitude in part of a row; a NaN loses. */
static float amax_of(const assay_tensor *x, int64_t i, int64_t from, int64_t to)
{
    float a = 0;
    for (int64_t j = from; j < to && j < x->cols; j++)
        a = fmaxf(a, fabsf(number(x, i, j)));
    return a;
}

/* Smallest power of two that is not below v, as an E8M0 code. */
static unsigned e8m0_up(float v)
{
    if (isnan(v))
        return 0xFF;
    if (isinf(v))
        return 0xFE;
    if (v <= ldexpf(1, -127))
        return 0;
    int e = ilogbf(v);
    e += v > ldexpf(1, e);
    return e > 127 ? 0xFE : (unsigned)(e + 127);
}

static double e8m0_value(unsigned code)
{
    return code == 0xFF ? NAN : ldexp(1, (int)code - 127);
}

static unsigned clamp_scale(int e)
{
    return (unsigned)(e < -127 ? 0 : e > 127 ? 254 : e + 127);
}

/* ---- ocp.mx: 32 elements under the largest power of two that the rule allows ---- */

static unsigned mx_scale(const fault *f, const narrow *format, float a, bool rceil)
{
    int top = ilogb(format->max), k = a > 0 ? (isinf(a) ? 1024 : ilogbf(a)) : -1100;
    if (rceil) {
        double q = (double)a / format->max; /* exact enough: 53 bits of a quotient of 24-bit numbers */
        if (!(q > 0))
            return 0;
        int e = ilogb(q);
        if (f->which == MX_NEAREST_SCALE) /* nearest power of two instead of the next one up */
            return clamp_scale(e + (ldexp(q, -e) > 1.41421356 ? 1 : 0));
        return clamp_scale(e + (q > ldexp(1, e) ? 1 : 0));
    }
    switch (f->which) {
    case MX_DIVIDE_FIRST: /* the exponent of a / max instead of a's, less max's */
        return clamp_scale(a > 0 ? ilogb(a / format->max) : -127);
    case MX_TRUNCATED_LOG: /* log2 cut toward zero: scales below 1 are one too large */
        return clamp_scale(a > 0 && !isinf(a) ? (int)log2((double)a) - top : k - top);
    case MX_BF16_AMAX: { /* the amax is rounded to bf16 before its exponent is taken */
        const narrow *b = narrow_find("bf16");
        float rounded = (float)narrow_decode(b, narrow_encode(b, a, NOSAT, b->nan));
        return clamp_scale((rounded > 0 ? isinf(rounded) ? 128 : ilogbf(rounded) : -1100) - top);
    }
    default:
        return clamp_scale(k - top);
    }
}

/* Rows run together: a block may begin in one row and end in the next. */
static float straddling_amax(const assay_tensor *x, int64_t i, int64_t block)
{
    float a = 0;
    int64_t from = i * x->cols + block * 32;
    from = from / 32 * 32; /* of the flattened tensor */
    for (int64_t n = from; n < from + 32 && n < x->rows * x->cols; n++)
        a = fmaxf(a, fabsf(number(x, n / x->cols, n % x->cols)));
    return a;
}

/* The block runs down the column. */
static float column_amax(const assay_tensor *x, int64_t i, int64_t j)
{
    float a = 0;
    for (int64_t r = i / 32 * 32; r < (i / 32 + 1) * 32 && r < x->rows; r++)
        a = fmaxf(a, fabsf(number(x, r, j)));
    return a;
}

assay_answer ocp_mx_run(const fault *f, const call *c)
{
    const narrow *format = narrow_find(assay_contract_setting(c->contract, "F"));
    bool rceil = setting_is(c, "rule", "rceil");
    if (strcmp(c->contract->recipe, "ocp.mx") || !format || (!rceil && !setting_is(c, "rule", "floor")))
        return ASSAY_UNSUPPORTED;
    if (f->which == MX_NEAREST_SCALE && !rceil)
        return ASSAY_UNSUPPORTED;
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q"), *s = call_output(c, "S");
    for (int64_t i = 0; x && i < x->rows; i++)
        for (int64_t b = 0; b < s->cols; b++) {
            float a = f->which == MX_STRADDLES    ? straddling_amax(x, i, b)
                      : f->which == MX_WRONG_AXIS ? column_amax(x, i, b * 32)
                                                  : amax_of(x, i, b * 32, b * 32 + 32);
            unsigned code = mx_scale(f, format, a, rceil);
            tensor_set(s, i, b, code);
            for (int64_t j = b * 32; j < b * 32 + 32 && j < x->cols; j++)
                tensor_set(q, i, j, narrow_encode(format, number(x, i, j) / (float)e8m0_value(code),
                                                  SAT, format->nan));
        }
    return ASSAY_DONE;
}

/* ---- te.mxfp8, generic kernel, rows ---- */

static void mxfp8_store(const fault *f, const assay_tensor *s, int64_t i, int64_t b, unsigned code)
{
    int64_t at;
    switch (f->which) {
    case MXFP8_SCALES_TRANSPOSED:
        at = b * s->rows + i;
        tensor_set(s, at / s->cols, at % s->cols, code);
        break;
    case MXFP8_SCALE_STRIDE: /* the row stride of a padded buffer, though this one is not */
        ((uint8_t *)s->data)[i * ((s->cols + 3) / 4 * 4) + b] = (uint8_t)code;
        break;
    default:
        tensor_set(s, i, b, code);
    }
}

assay_answer te_mxfp8_run(const fault *f, const call *c)
{
    const narrow *format = narrow_find(assay_contract_setting(c->contract, "F"));
    if (strcmp(c->contract->recipe, "te.mxfp8") || !format || !setting_is(c, "tile", "1x32") ||
        !setting_is(c, "kernel", "generic"))
        return ASSAY_UNSUPPORTED;
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q"), *s = call_output(c, "S");
    for (int64_t i = 0; x && i < x->rows; i++)
        for (int64_t b = 0; b < s->cols; b++) {
            float a = amax_of(x, i, b * 32, b * 32 + 32);
            if (f->which == MXFP8_NAN_AMAX)
                for (int64_t j = b * 32; j < b * 32 + 32 && j < x->cols; j++)
                    a = isnan(number(x, i, j)) ? NAN : a;
            float v = a * (1 / (float)format->max);
            unsigned code = e8m0_up(v);
            if (f->which == MXFP8_FLOOR) /* down instead of up */
                code = isnan(v) || isinf(v) ? code : v > 0 ? clamp_scale(ilogbf(v)) : 0;
            float r = (float)(1 / e8m0_value(code));
            if (f->which == MXFP8_UNROUNDED) /* codes by the scale before it was rounded up */
                r = v > 0 && !isinf(v) && v >= 0x1p-126f ? 1 / v : r;
            if (f->which == MXFP8_EDGE_RECIPROCAL) /* made of the exponent bits alone */
                r = code == 0 ? 1 : code == 0xFE ? 0 : r;
            mxfp8_store(f, s, i, b, code);
            for (int64_t j = b * 32; j < b * 32 + 32 && j < x->cols; j++)
                tensor_set(q, i, j, narrow_encode(format, number(x, i, j) * r, SAT, 0x7F));
        }
    return ASSAY_DONE;
}

/* ---- te.nvfp4.1d and te.nvfp4 (1x16, exact): 16 elements, under one scale of the tensor ---- */

static float tensor_amax(const assay_tensor *x)
{
    float a = 0;
    for (int64_t i = 0; i < x->rows; i++)
        a = fmaxf(a, amax_of(x, i, 0, x->cols));
    return a;
}

static float least(float a, float b)
{
    return fminf(a, b); /* a number wins over a NaN */
}

static float block_scale(const fault *f, float a, float g, float amax)
{
    switch (f->which) {
    case NVFP4_REASSOCIATED: /* (amax / 6) * G */
        return least((a / 6) * g, 0x1.FFFFFEp127f);
    case NVFP4_ZERO_BLOCK: /* a block of zeros counts as if its largest element were 1 */
        return least((a == 0 && amax > 0 ? 1 : a) * (g * (1 / 6.0f)), 0x1.FFFFFEp127f);
    default:
        return least(a * (g * (1 / 6.0f)), 0x1.FFFFFEp127f);
    }
}

assay_answer te_nvfp4_run(const fault *f, const call *c)
{
    bool given = !strcmp(c->contract->recipe, "te.nvfp4");
    bool ours = given ? setting_is(c, "tile", "1x16") && setting_is(c, "math", "exact")
                      : !strcmp(c->contract->recipe, "te.nvfp4.1d");
    if (!ours || (f->which == NVFP4_GLOBAL_BYTES && !given))
        return ASSAY_UNSUPPORTED;
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q"), *s = call_output(c, "S");
    if (!x)
        return ASSAY_DONE;
    const narrow *e4m3 = narrow_find("e4m3"), *e2m1 = narrow_find("e2m1");
    float amax = given ? number(call_input(c, "A"), 0, 0) : tensor_amax(x);
    if (!given)
        tensor_set(call_output(c, "A"), 0, 0, to_bits(amax));
    if (f->which == NVFP4_GLOBAL_BYTES) /* the first two bytes of the f32 are taken for a bf16 */
        amax = from_bits(to_bits(amax) << 16);
    float g = least(2688 / amax, 0x1.FFFFFEp127f);
    g = amax == 0 || g == 0 ? 1 : g;
    if (f->which == NVFP4_NO_GLOBAL)
        g = 1;
    float d = 1 / g;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t b = 0; b < s->cols; b++) {
            int64_t from = b * 16, width = 16;
            if (f->which == NVFP4_BLOCK_32) /* two blocks share one maximum */
                from = from / 32 * 32, width = 32;
            float v = block_scale(f, amax_of(x, i, from, from + width), g, amax);
            bool unsaturated = f->which == NVFP4_NO_CLAMP || f->which == NVFP4_ZERO_BLOCK;
            unsigned code = narrow_encode(e4m3, v, unsaturated ? NOSAT : SAT, 0x7F);
            float stored = (float)narrow_decode(e4m3, code);
            float divisor = (f->which == NVFP4_UNROUNDED ? v : stored) * d;
            float r = least(1 / divisor, 0x1.FFFFFEp127f);
            tensor_set(s, i, b, code);
            for (int64_t j = b * 16; j < b * 16 + 16 && j < x->cols; j++) {
                float y = f->which == NVFP4_DIVIDES ? number(x, i, j) / divisor : number(x, i, j) * r;
                tensor_set(q, i, j, narrow_encode(e2m1, y, SAT, 0x7));
            }
        }
    return ASSAY_DONE;
}

/* ---- te.fp8.current: one scale of the tensor ---- */

assay_answer te_fp8_run(const fault *f, const call *c)
{
    const narrow *format = narrow_find(assay_contract_setting(c->contract, "F"));
    if (strcmp(c->contract->recipe, "te.fp8.current") || !format || !setting_is(c, "po2", "no") ||
        !setting_is(c, "eps", "0"))
        return ASSAY_UNSUPPORTED;
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q");
    if (!x)
        return ASSAY_DONE;
    float a = tensor_amax(x), max = f->which == FP8_MAX_240 ? 240 : (float)format->max;
    float s = least(max / a, 0x1.FFFFFEp127f);
    if (f->which == FP8_NO_CAP) /* a tiny amax makes an infinite scale */
        s = max / a;
    if (f->which != FP8_ZERO_NAN && (a == 0 || isinf(a)))
        s = 1;
    if (f->which == FP8_ZERO_NAN)
        s = max / a;
    tensor_set(call_output(c, "A"), 0, 0, to_bits(a));
    tensor_set(call_output(c, "S"), 0, 0, to_bits(s));
    tensor_set(call_output(c, "I"), 0, 0, to_bits(1 / s));
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) {
            float v = number(x, i, j);
            float y = f->which == FP8_DIVIDES && a > 0 && !isinf(a) ? v / (a / max) : v * s;
            tensor_set(q, i, j, narrow_encode(format, y, SAT, 0x7F));
        }
    return ASSAY_DONE;
}
