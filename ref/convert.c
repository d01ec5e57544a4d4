/* The fast conversion of one value. Integers only: rounding is an addition to the discarded bits
 * whose carry runs into the code, unlike ref/round, which cuts and then decides.
 *
 * A number is sig * 2^(e - 52), 2^52 <= sig < 2^53. Its magnitude is written as `extended`: the
 * target's magnitude code (as if its exponent field had no end) followed by `shift` more bits. */
#include "convert.h"

#include <assert.h>
#include <string.h>

#include "format_inline.h"

enum { SIG_BITS = 53, FRACTION = 52 };
#define HIDDEN ((uint64_t)1 << FRACTION)

typedef struct {
    assay_class class_; /* SUBNORMAL is not used: numbers are normalized */
    bool negative;
    int e;
    uint64_t sig;
} number;

/* significand * 2^exponent, significand > 0 below 2^53, normalized. */
static number normalized(bool negative, uint64_t significand, int exponent)
{
    int up = __builtin_clzll(significand) - (64 - SIG_BITS);
    return (number){ASSAY_CLASS_NORMAL, negative, exponent - up + FRACTION, significand << up};
}

/* From IEEE fields: width of the fraction, and the fields themselves. */
static number from_fields(bool negative, int bits, int bias, int field, int top, uint64_t fraction)
{
    if (field == top)
        return (number){fraction ? ASSAY_CLASS_NAN : ASSAY_CLASS_INFINITY, negative, 0, 0};
    if (field != 0)
        return (number){ASSAY_CLASS_NORMAL, negative, field - bias,
                        HIDDEN | fraction << (FRACTION - bits)};
    if (fraction != 0)
        return normalized(negative, fraction, 1 - bias - bits);
    return (number){ASSAY_CLASS_ZERO, negative, 0, 0};
}

static uint64_t signed_code(const assay_format *f, bool negative, uint64_t magnitude)
{
    uint64_t sign = format_sign_bit(f);
    if (!negative)
        return magnitude;
    if (f->kind == ASSAY_KIND_INTEGER)
        return (0 - magnitude) & (2 * sign - 1);
    return magnitude == 0 && !format_has_negative_zero(f) ? 0 : magnitude | sign;
}

/* A magnitude beyond the largest one. */
static assay_rounded too_large(const assay_format *f, const assay_cast *cast, bool negative,
                               bool infinite)
{
    bool power = f->kind == ASSAY_KIND_POWER, integer = f->kind == ASSAY_KIND_INTEGER;
    uint64_t max = format_max_code(f);
    bool inward = cast->mode == ASSAY_ZERO || cast->mode == (negative ? ASSAY_UP : ASSAY_DOWN) ||
                  (cast->mode == ASSAY_ODD && max % 2 == 1);
    bool clip = cast->overflow == ASSAY_SAT || (!infinite && cast->overflow == ASSAY_SATFIN) ||
                (!infinite && inward && !power) || !format_has_nan(f);
    int8_t outward = negative ? -1 : 1;
    if (clip)
        return (assay_rounded){.code = signed_code(f, negative, max + (integer && negative)),
                               .ternary = (int8_t)-outward, .inexact = true, .overflow = true};
    if (format_has_inf(f))
        return (assay_rounded){.code = format_inf_code(f, negative),
                               .ternary = infinite ? 0 : outward, .inexact = !infinite,
                               .overflow = true};
    return (assay_rounded){.code = signed_code(f, negative, format_nan_code(f)),
                           .inexact = true, .overflow = true};
}

/* The addend for the deterministic modes; at least one bit is discarded. `odd` is not an addition
 * of a constant: it adds one unit exactly when the kept part is even and something is discarded. */
static uint64_t addend(const assay_format *f, assay_mode mode, bool negative, uint64_t extended,
                       int shift)
{
    uint64_t half = (uint64_t)1 << (shift - 1), all = 2 * half - 1;
    uint64_t last = (extended >> shift) & 1;
    switch (mode) {
    case ASSAY_EVEN:
        return f->kind == ASSAY_KIND_POWER ? half : half - 1 + last;
    case ASSAY_AWAY:
        return half;
    case ASSAY_TIES_ZERO:
        return half - 1;
    case ASSAY_UP:
        return negative ? 0 : all;
    case ASSAY_DOWN:
        return negative ? all : 0;
    case ASSAY_ODD:
        return last ? 0 : all;
    case ASSAY_ZERO:
    case ASSAY_STOCHASTIC:
        break;
    }
    return 0;
}

/* 1 if adding the n random bits to the first n discarded bits of sig * 2^-shift carries out. */
static uint64_t stochastic_carry(uint64_t discarded, int shift, int n, uint64_t random)
{
    assert(n >= 1 && n <= 63);
    uint64_t t = n >= shift ? discarded << (n - shift)
                 : shift - n < 64 ? discarded >> (shift - n) : 0;
    return (t + (random & (((uint64_t)1 << n) - 1))) >> n;
}

static assay_rounded convert_finite(const assay_format *f, number x, const assay_cast *cast,
                                    uint64_t random)
{
    int emin = format_emin(f);
    bool integer = f->kind == ASSAY_KIND_INTEGER, power = f->kind == ASSAY_KIND_POWER;
    uint64_t max = format_max_code(f) + (integer && x.negative);

    /* 1. Where the code's last bit lies in sig, and what stands above sig. */
    int above = integer || x.e < emin ? 0 : x.e - emin;
    int shift = integer ? FRACTION - (x.e - emin)
                        : FRACTION - f->mantissa_bits + (x.e < emin ? emin - x.e : 0);
    if (power && x.e < emin)
        return (assay_rounded){.ternary = 1, .inexact = true, .underflow = true};
    if (integer && shift <= 0)
        return too_large(f, cast, x.negative, false);
    uint64_t extended = ((uint64_t)above << FRACTION) + x.sig - (power ? HIDDEN : 0);
    uint64_t discarded = shift >= 64 ? x.sig : extended & (((uint64_t)1 << shift) - 1);

    /* 2. Add and cut. From 62 bits on sig is below a quarter of a unit: any such value will do. */
    uint64_t magnitude, kept;
    if (cast->mode == ASSAY_STOCHASTIC) {
        kept = shift >= 64 ? 0 : extended >> shift;
        magnitude = kept + stochastic_carry(discarded, shift, cast->random_bits, random);
    } else {
        if (shift > 62)
            shift = 62;
        kept = extended >> shift;
        magnitude = shift == 0 ? extended
                               : (extended + addend(f, cast->mode, x.negative, extended, shift)) >> shift;
    }
    assay_rounded r = {.inexact = discarded != 0};
    r.tie = shift >= 1 && shift <= 62 && discarded == (uint64_t)1 << (shift - 1) && kept <= max;

    /* 3. The range. */
    if (magnitude > max) {
        bool tie = r.tie;
        r = too_large(f, cast, x.negative, false);
        r.tie = tie;
        return r;
    }
    uint64_t normal = power ? 0 : integer ? 1 : (uint64_t)1 << f->mantissa_bits;
    if (cast->ftz && f->kind == ASSAY_KIND_FLOAT && magnitude < normal && magnitude != 0) {
        magnitude = kept = 0;
        r.inexact = true;
    }
    r.underflow = r.inexact && magnitude < normal;
    r.code = signed_code(f, x.negative, magnitude);
    if (r.inexact)
        r.ternary = (magnitude > kept) != x.negative ? 1 : -1;
    return r;
}

static assay_rounded convert_number(const assay_format *f, number x, const assay_cast *cast,
                                    uint64_t random)
{
    bool nan_negative = x.negative;
    x.negative = x.negative && f->is_signed;
    switch (x.class_) {
    case ASSAY_CLASS_NAN: {
        bool sign = cast->nan_sign && nan_negative && f->kind == ASSAY_KIND_FLOAT;
        return (assay_rounded){.code = cast->nan_code | (sign ? format_sign_bit(f) : 0)};
    }
    case ASSAY_CLASS_INFINITY:
        return too_large(f, cast, x.negative, true);
    case ASSAY_CLASS_ZERO:
        if (f->kind == ASSAY_KIND_POWER)
            return (assay_rounded){.ternary = 1, .inexact = true, .underflow = true};
        return (assay_rounded){.code = signed_code(f, x.negative, 0)};
    default:
        return convert_finite(f, x, cast, random);
    }
}

assay_rounded assay_convert_f64(const assay_format *f, uint64_t bits, const assay_cast *cast,
                                uint64_t random)
{
    number x = from_fields(bits >> 63, 52, 1023, (int)(bits >> 52 & 0x7FF), 0x7FF,
                           bits & (HIDDEN - 1));
    return convert_number(f, x, cast, random);
}

assay_rounded assay_convert_f32(const assay_format *f, uint32_t bits, const assay_cast *cast,
                                uint64_t random)
{
    number x = from_fields(bits >> 31, 23, 127, (int)(bits >> 23 & 0xFF), 0xFF, bits & 0x7FFFFF);
    return convert_number(f, x, cast, random);
}

assay_rounded assay_convert_code(const assay_format *to, const assay_format *from, uint64_t code,
                                 const assay_cast *cast, uint64_t random)
{
    assay_parts parts = assay_decode(from, code);
    number x = {parts.class_, parts.negative, 0, 0};
    if (parts.class_ == ASSAY_CLASS_NORMAL || parts.class_ == ASSAY_CLASS_SUBNORMAL)
        x = normalized(parts.negative, parts.significand, parts.exponent);
    return convert_number(to, x, cast, random);
}
