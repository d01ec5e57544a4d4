/* The exact encoder: (value toward zero, sticky bit) -> code. One function for every format.
 *
 * Steps: 1. specials; 2. cut the magnitude into (magnitude code as if exponents had no bound, half
 * bit, rest, leading discarded bits); 3. decide whether it goes up; 4. judge overflow on the code;
 * 5. flush, sign, flags. A magnitude code is monotonic in the value and neighbours differ by one,
 * across binades too, so step 3 is an increment and "even" is the code's last bit. */
#include "round.h"

#include <assert.h>
#include <string.h>

#include "format_inline.h"

_Static_assert(GMP_NUMB_BITS == 64, "the encoder reads significands in limbs of 64 bits");

assay_cast assay_cast_default(const assay_format *f)
{
    bool wide = format_width(f) > 16 || !strcmp(f->name, "f16") || !strcmp(f->name, "bf16");
    return (assay_cast){.mode = ASSAY_EVEN,
                        .overflow = wide ? ASSAY_NOSAT : ASSAY_SAT,
                        .nan_code = format_nan_code(f)};
}

/* The magnitude, cut at the format's quantum. */
typedef struct {
    uint64_t code;     /* of the largest magnitude <= |x|; may lie above the format's max */
    bool half, rest;   /* the first discarded bit; any later bit, sticky included */
    uint64_t fraction; /* the first 64 discarded bits, for stochastic rounding */
} cut;

/* Cuts |x| after `kept` leading bits; kept <= 0: |x| lies below the quantum. */
static cut cut_after(const assay_exact *x, long kept)
{
    const mp_limb_t *limbs = mpfr_custom_get_significand(x->v);
    long n = (mpfr_get_prec(x->v) + 63) / 64;
    uint64_t high = limbs[n - 1], low = n > 1 ? limbs[n - 2] : 0;
    bool rest = x->sticky;
    for (long i = n - 3; i >= 0; i--)
        rest |= limbs[i] != 0;
    assert(kept < 64 && high >> 63);
    if (kept < 0)
        return (cut){.rest = true, .fraction = kept > -64 ? high >> -kept : 0};
    if (kept == 0)
        return (cut){.half = true, .rest = rest || high << 1 || low, .fraction = high};
    uint64_t after = high << kept | low >> (64 - kept);
    return (cut){.code = high >> (64 - kept),
                 .half = after >> 63,
                 .rest = rest || after << 1 || low << kept,
                 .fraction = after};
}

/* Exponent e of |x| = 1.xxx * 2^e; far below every format for a zero with a sticky bit. */
static long exponent_of(const assay_exact *x)
{
    return mpfr_zero_p(x->v) ? INT32_MIN : (long)mpfr_get_exp(x->v) - 1;
}

/* Far above or below the format the code stands for "beyond" only. */
static cut cut_magnitude(const assay_format *f, const assay_exact *x, long e)
{
    if (mpfr_zero_p(x->v))
        return (cut){.rest = x->sticky};
    if (e > format_emax(f) + 1)
        return (cut){.code = format_max_code(f) + 2, .rest = true};
    long emin = format_emin(f), m = f->mantissa_bits;
    if (f->kind == ASSAY_KIND_INTEGER)
        return cut_after(x, e - emin + 1);
    long below = e < emin ? emin - e : 0;
    cut c = cut_after(x, m + 1 - below);
    if (f->kind == ASSAY_KIND_POWER) /* here e >= emin: codes count powers of two from emin */
        c.code += (uint64_t)(e - emin) - 1;
    else if (!below)
        c.code += (uint64_t)(e - emin) << m;
    return c;
}

static bool goes_up(const assay_format *f, const assay_cast *cast, cut c, bool negative,
                    uint64_t random)
{
    if (!c.half && !c.rest)
        return false;
    switch (cast->mode) {
    case ASSAY_EVEN: /* e8m0 has no even code: a tie goes up */
        return c.half && (c.rest || (c.code & 1) || f->kind == ASSAY_KIND_POWER);
    case ASSAY_AWAY:
        return c.half;
    case ASSAY_TIES_ZERO:
        return c.half && c.rest;
    case ASSAY_ZERO:
        return false;
    case ASSAY_UP:
        return !negative;
    case ASSAY_DOWN:
        return negative;
    case ASSAY_ODD:
        return !(c.code & 1);
    case ASSAY_STOCHASTIC: {
        int n = cast->random_bits;
        assert(n >= 1 && n <= 63);
        uint64_t r = random & (((uint64_t)1 << n) - 1);
        return (r + (c.fraction >> (64 - n))) >> n != 0;
    }
    }
    assert(false && "a rounding mode");
    return false;
}

/* Where a finite value beyond max goes in a mode that does not saturate. e8m0 has a rule of its
 * own: NaN whatever the mode. `odd` takes the one of max and its successor with an odd code. */
static bool overflow_stays(const assay_format *f, const assay_cast *cast, bool negative)
{
    if (f->kind == ASSAY_KIND_POWER)
        return false;
    switch (cast->mode) {
    case ASSAY_ZERO:
        return true;
    case ASSAY_UP:
        return negative;
    case ASSAY_DOWN:
        return !negative;
    case ASSAY_ODD:
        return format_max_code(f) & 1;
    default:
        return false;
    }
}

/* The result of a magnitude above max; `infinite`: the value is an infinity. */
static assay_rounded overflowed(const assay_format *f, const assay_cast *cast, bool negative,
                                bool infinite)
{
    uint64_t sign = negative ? format_sign_bit(f) : 0;
    assay_rounded r = {.overflow = true, .inexact = true};
    bool stays = cast->overflow == ASSAY_SAT || f->specials == ASSAY_SPECIAL_NONE ||
                 (!infinite && (cast->overflow == ASSAY_SATFIN || overflow_stays(f, cast, negative)));
    if (stays && f->kind == ASSAY_KIND_INTEGER) {
        r.code = negative ? sign : format_max_code(f);
        r.ternary = negative ? 1 : -1;
    } else if (stays) {
        r.code = format_max_code(f) | sign;
        r.ternary = negative ? 1 : -1;
    } else if (format_has_inf(f)) {
        r.code = format_inf_code(f, negative);
        r.ternary = (int8_t)(infinite ? 0 : negative ? -1 : 1);
        r.inexact = !infinite;
    } else {
        r.code = format_nan_code(f) | sign;
    }
    return r;
}

static uint64_t with_sign(const assay_format *f, uint64_t magnitude, bool negative)
{
    uint64_t sign = format_sign_bit(f);
    if (!negative || (magnitude == 0 && !format_has_negative_zero(f)))
        return magnitude;
    return f->kind == ASSAY_KIND_INTEGER ? 2 * sign - magnitude : magnitude | sign;
}

static assay_rounded round_nan(const assay_format *f, const assay_exact *x, const assay_cast *cast)
{
    assay_rounded r = {.code = cast->nan_code};
    if (cast->nan_sign && x->negative && f->kind == ASSAY_KIND_FLOAT)
        r.code |= format_sign_bit(f);
    return r;
}

assay_rounded assay_round(const assay_format *f, const assay_exact *x, const assay_cast *cast,
                          uint64_t random)
{
    if (x->class_ == ASSAY_EXACT_NAN)
        return round_nan(f, x, cast);
    if (x->class_ == ASSAY_EXACT_INF)
        return overflowed(f, cast, x->negative && f->is_signed, true);

    bool negative = mpfr_signbit(x->v) && f->is_signed;
    long e = exponent_of(x);
    if (f->kind == ASSAY_KIND_POWER && e < format_emin(f)) /* zero included: no code below */
        return (assay_rounded){.code = 0, .ternary = 1, .inexact = true, .underflow = true};

    cut c = cut_magnitude(f, x, e);
    uint64_t max = format_max_code(f) + (f->kind == ASSAY_KIND_INTEGER && negative ? 1 : 0);
    bool up = goes_up(f, cast, c, negative, random);
    bool tie = c.half && !c.rest && c.code <= max;
    uint64_t magnitude = c.code + (up ? 1 : 0);
    if (magnitude > max) {
        assay_rounded r = overflowed(f, cast, negative, false);
        r.tie = tie;
        return r;
    }

    assay_rounded r = {.inexact = c.half || c.rest, .tie = tie};
    uint64_t least_normal = f->kind == ASSAY_KIND_FLOAT ? (uint64_t)1 << f->mantissa_bits
                            : f->kind == ASSAY_KIND_INTEGER ? 1 : 0;
    if (cast->ftz && f->kind == ASSAY_KIND_FLOAT && magnitude && magnitude < least_normal) {
        magnitude = 0;
        up = false;
        r.inexact = true;
    }
    r.code = with_sign(f, magnitude, negative);
    r.ternary = (int8_t)(!r.inexact ? 0 : up != negative ? 1 : -1);
    r.underflow = r.inexact && magnitude < least_normal;
    return r;
}

assay_rounded assay_round_flush(const assay_format *f, const assay_exact *x, const assay_cast *cast)
{
    long e = exponent_of(x), emin = format_emin(f);
    assert(f->kind == ASSAY_KIND_FLOAT);
    if (x->class_ != ASSAY_EXACT_FINITE || e >= emin || (mpfr_zero_p(x->v) && !x->sticky))
        return assay_round(f, x, cast, 0);

    bool negative = mpfr_signbit(x->v) && f->is_signed;
    bool reaches_normal = false;
    if (e == emin - 1) { /* only from here can rounding to full precision reach the least normal */
        cut c = cut_after(x, f->mantissa_bits + 1);
        uint64_t carried = c.code + (goes_up(f, cast, c, negative, 0) ? 1 : 0);
        reaches_normal = carried >> (f->mantissa_bits + 1) != 0;
    }
    uint64_t magnitude = reaches_normal ? (uint64_t)1 << f->mantissa_bits : 0;
    return (assay_rounded){.code = with_sign(f, magnitude, negative),
                           .ternary = reaches_normal != negative ? 1 : -1,
                           .inexact = true,
                           .underflow = !reaches_normal};
}

static const char *const mode_names[ASSAY_MODE_COUNT] = {
    [ASSAY_EVEN] = "even", [ASSAY_AWAY] = "away", [ASSAY_TIES_ZERO] = "ties_zero",
    [ASSAY_ZERO] = "zero", [ASSAY_UP] = "up",     [ASSAY_DOWN] = "down",
    [ASSAY_ODD] = "odd",   [ASSAY_STOCHASTIC] = "stochastic",
};
static const char *const overflow_names[] = {
    [ASSAY_SAT] = "sat", [ASSAY_SATFIN] = "satfin", [ASSAY_NOSAT] = "nosat"};

const char *assay_mode_name(assay_mode m)
{
    return mode_names[m];
}

const char *assay_overflow_name(assay_overflow o)
{
    return overflow_names[o];
}

bool assay_mode_find(const char *word, assay_mode *m)
{
    for (int i = 0; i < ASSAY_MODE_COUNT; i++)
        if (!strcmp(word, mode_names[i])) {
            *m = (assay_mode)i;
            return true;
        }
    return false;
}

bool assay_overflow_find(const char *word, assay_overflow *o)
{
    for (int i = ASSAY_SAT; i <= ASSAY_NOSAT; i++)
        if (!strcmp(word, overflow_names[i])) {
            *o = (assay_overflow)i;
            return true;
        }
    return false;
}
