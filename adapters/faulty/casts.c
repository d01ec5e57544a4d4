/* Conversions, each wrong in one way. */
#include <emmintrin.h>

#include "faulty.h"

/* What a cast is to do, from the contract. */
typedef struct {
    const narrow *f;
    overflow over;
    unsigned nan;
} target;

static target target_of(const call *c)
{
    target t = {.f = narrow_find(assay_contract_setting(c->contract, "F"))};
    t.over = setting_is(c, "over", "nosat") ? NOSAT : setting_is(c, "over", "satfin") ? SATFIN : SAT;
    if (t.f)
        t.nan = !strcmp(c->contract->recipe, "cast.nvidia") && t.f->has_nan ? 0x7F : t.f->nan;
    return t;
}

/* ---- one value ---- */

static unsigned ties_up(const target *t, double v) /* add half, cut off: no test for even */
{
    double a = fabs(v);
    if (isnan(v) || isinf(v))
        return narrow_encode(t->f, v, t->over, t->nan);
    int e = narrow_exponent(t->f, a);
    double q = floor(ldexp(a, t->f->mantissa_bits - e) + 0.5);
    return narrow_finish(t->f, narrow_code(t->f, q, e), v, t->over, t->nan);
}

/* Only the five bits below the guard bit are looked at for stickiness. */
static unsigned sticky_lost(const target *t, double v)
{
    uint32_t bits = to_bits((float)v), keep = 23 - (uint32_t)t->f->mantissa_bits - 6;
    if (isnan(v))
        return t->nan;
    return narrow_encode(t->f, from_bits(bits & ~((1u << keep) - 1)), t->over, t->nan);
}

static unsigned through(const char *between, const target *t, double v)
{
    const narrow *b = narrow_find(between);
    if (isnan(v))
        return t->nan;
    return narrow_encode(t->f, narrow_decode(b, narrow_encode(b, v, NOSAT, b->nan)), t->over, t->nan);
}

/* Rounds to the mantissa first, as for a normal number, then once more to the subnormal step. */
static unsigned subnormal_twice(const target *t, double v)
{
    double a = fabs(v);
    if (isnan(v) || isinf(v) || a == 0 || a >= ldexp(1, 1 - t->f->bias))
        return narrow_encode(t->f, v, t->over, t->nan);
    int e = ilogb(a);
    double once = ldexp(nearbyint(ldexp(a, t->f->mantissa_bits - e)), e - t->f->mantissa_bits);
    return narrow_encode(t->f, copysign(once, v), t->over, t->nan);
}

/* The exponent field of the top binade counts as too large. */
static unsigned top_binade(const target *t, double v)
{
    if (!isnan(v) && fabs(v) >= ldexp(1, ilogb(t->f->max)))
        v = copysign(t->f->max, v);
    return narrow_encode(t->f, v, t->over, t->nan);
}

/* 64-bit shift whose count the machine takes modulo 64. */
static unsigned shift_wraps(const target *t, double v)
{
    double a = fabs(v);
    int least = 1 - t->f->bias, e = a > 0 && !isinf(a) ? ilogb(a) : least;
    if (isnan(v) || isinf(v) || a == 0 || e >= least)
        return narrow_encode(t->f, v, t->over, t->nan);
    uint64_t m = (uint64_t)ldexp(a, 23 - e);
    unsigned shift = (unsigned)(23 - t->f->mantissa_bits + (least - e));
    if (shift < 60)
        return narrow_encode(t->f, v, t->over, t->nan);
    return narrow_finish(t->f, (unsigned)(m >> (shift & 63)), v, t->over, t->nan);
}

static unsigned wrong_binade(const target *t, double v)
{
    if (fabs(v) < ldexp(1, 1 - t->f->bias))
        v /= 2;
    return narrow_encode(t->f, v, t->over, t->nan);
}

static unsigned flush(const target *t, double v)
{
    unsigned code = narrow_encode(t->f, v, t->over, t->nan);
    double back = narrow_decode(t->f, code);
    return fabs(back) < ldexp(1, 1 - t->f->bias) ? narrow_encode(t->f, copysign(0, v), SAT, 0) : code;
}

static unsigned cast_one(const target *t, int which, double v)
{
    unsigned sign = 1u << (t->f->exponent_bits + t->f->mantissa_bits);
    switch (which) {
    case CAST_TIES_UP:
        return ties_up(t, v);
    case CAST_STICKY_LOST:
        return sticky_lost(t, v);
    case CAST_DOUBLE_F16:
        return through("f16", t, v);
    case CAST_DOUBLE_BF16:
        return through("bf16", t, v);
    case CAST_SUBNORMAL_TWICE:
        return subnormal_twice(t, v);
    case CAST_TOP_BINADE:
        return top_binade(t, v);
    case CAST_NO_SATURATION:
        return narrow_encode(t->f, v, NOSAT, t->nan);
    case CAST_SATURATES:
        return narrow_encode(t->f, v, SAT, t->nan);
    case CAST_NAN_FINITE: /* no test for NaN: as if it were a very large number */
        return isnan(v) ? narrow_encode(t->f, t->f->max, SAT, 0)
                        : narrow_encode(t->f, v, t->over, t->nan);
    case CAST_NEGATIVE_ZERO_NAN:
        return v == 0 && signbit(v) ? sign | (sign - 1) : narrow_encode(t->f, v, t->over, t->nan);
    case CAST_NEGATIVE_ZERO_LOST:
        return v == 0 ? 0 : narrow_encode(t->f, v, t->over, t->nan);
    case CAST_NEGATIVE_UNDERFLOW: { /* the sign stays when the magnitude is gone */
        unsigned code = narrow_encode(t->f, v, t->over, t->nan);
        return code == 0 && signbit(v) && !isnan(v) ? sign : code;
    }
    case CAST_FLUSH:
        return flush(t, v);
    case CAST_SHIFT_WRAPS:
        return shift_wraps(t, v);
    case CAST_WRONG_BINADE:
        return wrong_binade(t, v);
    case CAST_FNUZ_BIAS: { /* e4m3 is taken for e4m3fnuz */
        const narrow *fnuz = narrow_find(t->f->mantissa_bits == 3 ? "e4m3fnuz" : "e5m2fnuz");
        return narrow_encode(fnuz, v, t->over, fnuz->nan);
    }
    default:
        return narrow_encode(t->f, v, t->over, t->nan);
    }
}

/* ---- stochastic: add n random bits below the step, cut off ---- */

static unsigned stochastic(const target *t, int which, double v, uint32_t r, int n)
{
    double a = fabs(v);
    if (isnan(v) || isinf(v))
        return narrow_encode(t->f, v, t->over, t->nan);
    int e = narrow_exponent(t->f, a);
    double x = ldexp(a, t->f->mantissa_bits - e), below = floor(x);
    double part = floor(ldexp(x - below, n));
    uint64_t random = n == 32 ? r : r & ((1u << n) - 1);
    if (which == CAST_SR_BIASED) /* aligned too low to reach the bit that is kept */
        random >>= 4;
    if (which == CAST_SR_IGNORES_BITS) /* the seed is zero: always the same pattern */
        random = 0x5A5A5A5Au & (n == 32 ? ~0u : (1u << n) - 1);
    double q = below + (part + (double)random >= ldexp(1, n) ? 1 : 0);
    if (which == CAST_SR_ZERO) /* the instruction is missing on this device: a message and zeros */
        return 0;
    return narrow_finish(t->f, narrow_code(t->f, q, e), v, t->over, t->nan);
}

static assay_answer stochastic_run(const fault *f, const call *c, const target *t)
{
    const assay_tensor *x = call_input(c, "x"), *r = call_input(c, "r"), *q = call_output(c, "Q");
    const char *bits = assay_contract_setting(c->contract, "n");
    int n = 0;
    for (; bits && *bits; bits++)
        n = 10 * n + (*bits - '0');
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            tensor_set(q, i, j, stochastic(t, f->which, tensor_get(x, i, j),
                                           (uint32_t)tensor_code(r, i, j), n));
    return ASSAY_DONE;
}

/* ---- where results go ---- */

/* Copies that believe the input to be dense and on 16-byte boundaries. */
static void aligned_load(const assay_tensor *x)
{
    size_t bytes = (size_t)(x->rows * x->row_stride * x->code_bytes);
    __m128i sum = _mm_setzero_si128();
    for (size_t i = 0; i + 16 <= bytes; i += 16) {
        __m128i v;
        __asm__ volatile("movdqa %1, %0" : "=x"(v) : "m"(*((const char(*)[16])x->data + i / 16)));
        sum = _mm_xor_si128(sum, v);
    }
    __asm__ volatile("" : : "x"(sum));
}

static void place(const fault *f, const assay_tensor *q, int64_t i, int64_t j, unsigned code)
{
    int64_t at = i * q->cols + j;
    switch (f->which) {
    case CAST_INDEX_TRUNCATED: /* the index is kept in too few bits */
        at &= 0xFFF;
        tensor_set(q, at / q->cols, at % q->cols, code);
        break;
    case CAST_STRIDE_IGNORED:
        memcpy((char *)q->data + at * q->code_bytes, &code, (size_t)q->code_bytes);
        break;
    case CAST_NIBBLES_SWAPPED:
        tensor_set(q, i, (j ^ 1) < q->cols ? j ^ 1 : j, code);
        break;
    case CAST_PACKED: /* two codes a byte, though a code has a byte to itself */
        if (j % 2 == 0)
            tensor_set(q, i, j / 2, code);
        else
            tensor_set(q, i, j / 2, tensor_code(q, i, j / 2) | code << 4);
        break;
    case CAST_TRANSPOSED:
        at = j * q->rows + i;
        tensor_set(q, at / q->cols, at % q->cols, code);
        break;
    case CAST_TAIL_NOT_WRITTEN:
        if (j < q->cols / 16 * 16)
            tensor_set(q, i, j, code);
        break;
    default:
        tensor_set(q, i, j, code);
    }
}

assay_answer cast_run(const fault *f, const call *c)
{
    target t = target_of(c);
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q");
    bool ours = !strcmp(c->contract->recipe, "cast.ieee") || !strcmp(c->contract->recipe, "cast.nvidia");
    if (!ours || !t.f || t.f->mantissa_bits > 3 || setting_is(c, "T", "f64"))
        return ASSAY_UNSUPPORTED;
    if (f->which == CAST_FNUZ_BIAS && (t.f->fnuz || !t.f->has_nan))
        return ASSAY_UNSUPPORTED;
    bool random = setting_is(c, "round", "stochastic");
    bool wants_random = f->which >= CAST_SR_BIASED && f->which <= CAST_SR_ZERO;
    if (!random && (!setting_is(c, "round", "even") || wants_random))
        return ASSAY_UNSUPPORTED;
    if (!x) /* only asked whether */
        return ASSAY_DONE;
    if (random)
        return stochastic_run(f, c, &t);
    if (f->which == CAST_ALIGNED_LOAD)
        aligned_load(x);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            place(f, q, i, j, cast_one(&t, f->which, tensor_get(x, i, j)));
    return ASSAY_DONE;
}

/* ---- e8m0 ---- */

static unsigned e8m0_one(int which, double v, bool up, overflow o)
{
    double a = fabs(v);
    if (isnan(v))
        return 0xFF;
    if (isinf(v))
        return o == SAT ? 0xFE : 0xFF;
    if (a <= ldexp(1, -127))
        return which == E8M0_SIGN && signbit(v) ? 0x80 : 0;
    int e = ilogb(a);
    double m = ldexp(a, -e); /* in [1, 2) */
    bool raise = up ? m > 1 : m >= 1.5;
    if (which == E8M0_EVEN_CODE && m == 1.5) /* the exponent's last bit decides the tie */
        raise = (e + 127) & 1;
    if (which == E8M0_UP_FOR_NEAREST)
        raise = m > 1;
    unsigned code = (unsigned)(e + 127 + raise);
    if (code > 0xFE)
        code = o == NOSAT ? 0xFF : 0xFE;
    return which == E8M0_SIGN && signbit(v) ? code | 0x80 : code;
}

assay_answer e8m0_run(const fault *f, const call *c)
{
    const assay_tensor *x = call_input(c, "x"), *q = call_output(c, "Q");
    bool up = setting_is(c, "round", "up");
    if (strcmp(c->contract->recipe, "cast.e8m0") || (!up && !setting_is(c, "round", "even")) ||
        setting_is(c, "T", "f64"))
        return ASSAY_UNSUPPORTED;
    overflow o = setting_is(c, "over", "nosat") ? NOSAT : setting_is(c, "over", "satfin") ? SATFIN : SAT;
    for (int64_t i = 0; x && i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            tensor_set(q, i, j, e8m0_one(f->which, tensor_get(x, i, j), up, o));
    return ASSAY_DONE;
}

/* ---- decoding ---- */

static double decode_scale(int which, unsigned code)
{
    if (which == DECODE_SCALE_ZERO) /* the byte is shifted into the exponent of a float */
        return from_bits(code << 23);
    if (which == DECODE_SCALE_LSB)
        code |= 1;
    if (code == 0xFF)
        return which == DECODE_SCALE_NAN ? 2143289344.0 : NAN; /* NaN's bits, taken as an integer */
    return ldexp(1, (int)code - 127);
}

static double decode_code(const narrow *f, int which, unsigned code)
{
    unsigned top = 1u << (f->exponent_bits + f->mantissa_bits);
    if (which == DECODE_FNUZ_NAN && f->fnuz && code == 0x80)
        return -0.0;
    if (which == DECODE_NEGATIVE_ZERO && code == top && !f->fnuz)
        return 0.0;
    double v = narrow_decode(f, code);
    if (which == DECODE_RESERVED && !f->fnuz && (isnan(v) || isinf(v))) { /* rebias, no test */
        unsigned m = code & ((1u << f->mantissa_bits) - 1);
        double a = ldexp(m + (1u << f->mantissa_bits),
                         (int)((code & (top - 1)) >> f->mantissa_bits) - f->bias - f->mantissa_bits);
        return code & top ? -a : a;
    }
    return v;
}

/* The decode parts: cast.ieee.decode and cast.e8m0.decode. */
assay_answer decode_run(const fault *f, const call *c)
{
    bool scale = !strcmp(c->contract->recipe, "cast.e8m0.decode");
    const narrow *from = narrow_find(assay_contract_setting(c->contract, "F"));
    const assay_tensor *q = call_input(c, "Q"), *y = call_output(c, "y");
    bool ours = scale ? setting_is(c, "D", "f32")
                      : !strcmp(c->contract->recipe, "cast.ieee.decode") && from &&
                            from->mantissa_bits <= 3;
    if (!ours || scale != (f->which >= DECODE_SCALE_ZERO))
        return ASSAY_UNSUPPORTED;
    for (int64_t i = 0; q && i < q->rows; i++)
        for (int64_t j = 0; j < q->cols; j++) {
            unsigned code = (unsigned)tensor_code(q, i, j);
            double v = scale ? decode_scale(f->which, code) : decode_code(from, f->which, code);
            uint64_t bits = 0;
            float single = (float)v;
            if (isnan(v))
                bits = scale ? 0x7FC00000u : UINT64_C(0x7FF8000000000000);
            else if (scale)
                memcpy(&bits, &single, sizeof single);
            else
                memcpy(&bits, &v, sizeof v);
            tensor_set(y, i, j, bits);
        }
    return ASSAY_DONE;
}
