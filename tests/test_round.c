/* The exact encoder against a search of the decoded table (formats of at most 16 bits: every code,
 * every midpoint, every midpoint +- 2^-100, all modes and overflow rules), against MPFR's own
 * conversions (f32, f64), and against facts measured on hardware and derived by hand. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../ref/round.h"
#include "checks.h"

static const assay_format *find(const char *name)
{
    const assay_format *f = assay_format_find(name);
    ck_assert_msg(f != NULL, "no format %s", name);
    return f;
}

/* ---- the oracle: sorted magnitudes of one sign, and one value beyond them ---- */

typedef struct {
    const assay_format *f;
    int count;                /* finite magnitudes of this sign */
    double value[65536 + 1];  /* ascending; value[count]: the next one with unbounded exponent */
    uint64_t code[65536 + 1]; /* with the sign; code[count]: never a result, for its parity */
} table;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Magnitudes are distinct, so a code is found again by searching the sorted values. */
static void make_table(table *t, const assay_format *f, bool negative)
{
    t->f = f;
    t->count = 0;
    uint64_t codes = (uint64_t)1 << assay_format_width(f);
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t code = 0; code < codes; code++) {
            double v = assay_decode_double(f, code);
            bool zero_stands_in = v == 0 && !assay_format_has_negative_zero(f);
            if (!isfinite(v) || (!!signbit(v) != negative && !zero_stands_in))
                continue;
            v = fabs(v);
            if (pass == 0) {
                t->value[t->count++] = v;
            } else {
                double *at = bsearch(&v, t->value, (size_t)t->count, sizeof v, by_value);
                t->code[at - t->value] = code;
            }
        }
        qsort(t->value, (size_t)t->count, sizeof t->value[0], by_value);
    }
    double max = t->value[t->count - 1];
    int unit = f->kind == ASSAY_KIND_INTEGER ? -f->bias : ilogb(max) - f->mantissa_bits;
    t->value[t->count] = max + ldexp(1, unit);
    t->code[t->count] = t->code[t->count - 1] + 1;
}

/* What the table says of one magnitude: between value[low] and its successor. */
typedef struct {
    int low;
    bool exact, tie, above_half;
    mpfr_t place; /* distance from value[low], in gaps */
} found;

static void search(const table *t, mpfr_srcptr magnitude, found *s)
{
    int low = 0, high = t->count; /* value[low] <= magnitude, or low is the least */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (mpfr_cmp_d(magnitude, t->value[middle]) >= 0)
            low = middle;
        else
            high = middle;
    }
    s->low = low;
    double gap = t->value[low + 1] - t->value[low];
    mpfr_sub_d(s->place, magnitude, t->value[low], MPFR_RNDN); /* exact: 1200 bits */
    s->exact = mpfr_zero_p(s->place);
    mpfr_div_2si(s->place, s->place, ilogb(gap), MPFR_RNDN);   /* gaps are powers of two */
    int half = mpfr_cmp_d(s->place, 0.5);
    s->tie = half == 0;
    s->above_half = half > 0;
}

static bool takes_upper(const table *t, const found *s, const assay_cast *cast, bool negative,
                        uint64_t random)
{
    bool odd_low = t->code[s->low] & 1;
    switch (cast->mode) {
    case ASSAY_EVEN:
        return s->above_half || (s->tie && (odd_low || t->f->kind == ASSAY_KIND_POWER));
    case ASSAY_AWAY:
        return s->above_half || s->tie;
    case ASSAY_TIES_ZERO:
        return s->above_half;
    case ASSAY_ZERO:
        return false;
    case ASSAY_UP:
        return !negative;
    case ASSAY_DOWN:
        return negative;
    case ASSAY_ODD:
        return !odd_low;
    case ASSAY_STOCHASTIC: {
        mpfr_t scaled;
        mpfr_init2(scaled, 1200);
        mpfr_mul_2ui(scaled, s->place, cast->random_bits, MPFR_RNDN);
        uint64_t t_ = mpfr_get_ui(scaled, MPFR_RNDZ), n = (uint64_t)1 << cast->random_bits;
        mpfr_clear(scaled);
        return random % n + t_ >= n;
    }
    }
    return false;
}

/* LANGUAGE.md 8 for a value beyond the largest one. */
static uint64_t beyond(const table *t, const assay_cast *cast, bool negative, bool infinite)
{
    const assay_format *f = t->f;
    uint64_t max = t->code[t->count - 1], sign = negative ? assay_format_sign_bit(f) : 0;
    bool toward_zero = cast->mode == ASSAY_ZERO || (cast->mode == ASSAY_UP && negative) ||
                       (cast->mode == ASSAY_DOWN && !negative) || (cast->mode == ASSAY_ODD && max & 1);
    if (f->kind == ASSAY_KIND_INTEGER || cast->overflow == ASSAY_SAT)
        return max;
    if (!infinite && cast->overflow == ASSAY_SATFIN)
        return max;
    if (!infinite && toward_zero && f->kind != ASSAY_KIND_POWER)
        return max;
    if (assay_format_has_inf(f))
        return assay_format_inf_code(f, negative);
    return assay_format_has_nan(f) ? assay_format_nan_code(f) | sign : max;
}

static assay_rounded expected(const table *t, mpfr_srcptr value, const found *s,
                              const assay_cast *cast, bool negative, uint64_t random)
{
    const assay_format *f = t->f;
    assay_rounded r = {.inexact = !s->exact};
    double result;
    if (f->kind == ASSAY_KIND_POWER && mpfr_cmpabs_ui(value, 0) >= 0 && s->low == 0 &&
        mpfr_sgn(s->place) < 0) {
        r.code = 0; /* below the least power of two */
        r.underflow = true;
        result = t->value[0];
    } else {
        int index = s->low + (!s->exact && takes_upper(t, s, cast, negative, random) ? 1 : 0);
        bool far = mpfr_cmp_ui(s->place, 1) >= 0;
        r.tie = s->tie;
        if (index >= t->count || far) {
            r.overflow = r.inexact = true;
            r.code = beyond(t, cast, negative, false);
            result = fabs(assay_decode_double(f, r.code));
        } else {
            r.code = t->code[index];
            result = t->value[index];
            assay_class c = assay_decode(f, r.code).class_;
            r.underflow = r.inexact && (c == ASSAY_CLASS_ZERO || c == ASSAY_CLASS_SUBNORMAL);
        }
    }
    if (r.inexact && !isnan(result)) {
        mpfr_t magnitude;
        mpfr_init2(magnitude, 1200);
        mpfr_abs(magnitude, value, MPFR_RNDN);
        int above = isinf(result) ? 1 : -mpfr_cmp_d(magnitude, result);
        mpfr_clear(magnitude);
        r.ternary = (int8_t)((above > 0) != negative ? 1 : -1);
    }
    return r;
}

/* One exact value (1200 bits) given to both, truncated to the encoder's precision with a sticky
 * bit; all modes and overflow rules. */
typedef struct {
    table *positive, *negative;
    assay_exact x;
    mpfr_t wide;
    found s;
} bench;

static void compare(bench *b, uint64_t salt)
{
    const assay_format *f = b->positive->f;
    bool negative = mpfr_signbit(b->wide) && f->is_signed;
    const table *t = negative ? b->negative : b->positive;
    mpfr_t magnitude;
    mpfr_init2(magnitude, 1200);
    mpfr_abs(magnitude, b->wide, MPFR_RNDN);
    search(t, magnitude, &b->s);
    mpfr_clear(magnitude);
    assay_exact_from_mpfr(&b->x, mpfr_set(b->x.v, b->wide, MPFR_RNDZ));
    assay_cast cast = assay_cast_default(f);
    cast.random_bits = (uint8_t)(1 + salt % 40);
    uint64_t random = salt * 0x9E3779B97F4A7C15u >> 7;
    for (int mode = 0; mode < ASSAY_MODE_COUNT; mode++)
        for (int overflow = ASSAY_SAT; overflow <= ASSAY_NOSAT; overflow++) {
            cast.mode = (assay_mode)mode;
            cast.overflow = (assay_overflow)overflow;
            assay_rounded want = expected(t, b->wide, &b->s, &cast, negative, random);
            assay_rounded got = assay_round(f, &b->x, &cast, random);
            if (want.code != got.code || want.ternary != got.ternary || want.tie != got.tie ||
                want.inexact != got.inexact || want.overflow != got.overflow ||
                want.underflow != got.underflow) {
                mpfr_printf("%s: %Ra %s %s\n", f->name, b->wide, assay_mode_name(cast.mode),
                            assay_overflow_name(cast.overflow));
                ck_abort_msg("%s %s %s: table 0x%" PRIx64 " %d flags %d%d%d%d, round 0x%" PRIx64
                             " %d flags %d%d%d%d", f->name, assay_mode_name(cast.mode),
                             assay_overflow_name(cast.overflow), want.code, want.ternary, want.tie,
                             want.inexact, want.overflow, want.underflow, got.code, got.ternary,
                             got.tie, got.inexact, got.overflow, got.underflow);
            }
        }
    checks_add(ASSAY_MODE_COUNT * 3);
}

/* value + sign * 2^exponent, with the sign of the whole turned by `negative`. */
static void compare_near(bench *b, double value, int exponent, int sign, bool negative,
                         uint64_t salt)
{
    mpfr_set_si_2exp(b->wide, sign, exponent, MPFR_RNDN);
    mpfr_add_d(b->wide, b->wide, value, MPFR_RNDN);
    if (mpfr_zero_p(b->wide))
        mpfr_set_zero(b->wide, 1);
    if (negative)
        mpfr_neg(b->wide, b->wide, MPFR_RNDN);
    compare(b, salt);
}

static void compare_interval(bench *b, const table *t, int i, bool negative, int tiny)
{
    uint64_t salt = (uint64_t)i * 7 + negative;
    double low = t->value[i], middle = low + (t->value[i + 1] - low) / 2;
    compare_near(b, low, 0, 0, negative, salt);
    compare_near(b, middle, 0, 0, negative, salt + 1);
    compare_near(b, middle, tiny, 1, negative, salt + 2);
    compare_near(b, middle, tiny, -1, negative, salt + 3);
}

START_TEST(search_of_the_table)
{
    const assay_format *f = &assay_formats[_i];
    if (assay_format_width(f) > 16)
        return;
    bench b = {malloc(sizeof(table)), malloc(sizeof(table)), .s.low = 0};
    make_table(b.positive, f, false);
    make_table(b.negative, f, f->is_signed);
    assay_exact_init(&b.x);
    mpfr_init2(b.wide, 1200);
    mpfr_init2(b.s.place, 1200);
    /* +-2^-100, but relative to the least code where the format goes that low */
    int tiny = ilogb(b.positive->value[1]) - 100;
    for (int i = 0; i < b.positive->count; i++) {
        compare_interval(&b, b.positive, i, false, tiny);
        if (i < b.negative->count)
            compare_interval(&b, b.negative, i, true, tiny);
        else
            compare_interval(&b, b.positive, i, true, tiny); /* unsigned: |v| */
    }
    if (f->is_signed && f->kind == ASSAY_KIND_INTEGER)
        compare_interval(&b, b.negative, b.negative->count - 1, true, tiny);
    double next = b.positive->value[b.positive->count];
    for (int i = 0; i < 24; i++) { /* the successor of max, and far above */
        double factor = i < 16 ? 1 + i / 16.0 : ldexp(1, i - 14);
        compare_near(&b, next * factor, 0, 0, i & 1, (uint64_t)i);
        compare_near(&b, next * factor, tiny, -1, !(i & 1), (uint64_t)i);
    }
    for (int i = 1; i < 60; i++) /* far below the least code */
        compare_near(&b, 0, ilogb(b.positive->value[1]) - i * i, 1, i & 1, (uint64_t)i);
    mpfr_clear(b.wide);
    mpfr_clear(b.s.place);
    assay_exact_clear(&b.x);
    free(b.positive);
    free(b.negative);
}
END_TEST

/* ---- f32 and f64 against MPFR's conversions ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = (*state ^ *state >> 29) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 32;
}

static uint64_t bits_of(double d, bool single)
{
    uint64_t bits;
    float s = (float)d;
    uint32_t bits32;
    if (!single) {
        memcpy(&bits, &d, sizeof bits);
        return bits;
    }
    memcpy(&bits32, &s, sizeof bits32);
    return bits32;
}

START_TEST(mpfr_get_d_and_get_flt)
{
    static const struct {
        assay_mode mode;
        mpfr_rnd_t rnd;
    } modes[] = {{ASSAY_EVEN, MPFR_RNDN}, {ASSAY_ZERO, MPFR_RNDZ}, {ASSAY_UP, MPFR_RNDU},
                 {ASSAY_DOWN, MPFR_RNDD}};
    bool single = _i;
    const assay_format *f = find(single ? "f32" : "f64");
    int low = single ? -155 : -1080, span = single ? 290 : 2110;
    uint64_t state = checks_seed() + (uint64_t)_i;
    assay_exact x;
    assay_exact_init(&x);
    for (int i = 0; i < 300000; i++) {
        mpz_t z;
        mpz_init_set_ui(z, next_random(&state));
        mpz_mul_2exp(z, z, 64);
        if (i & 1) /* otherwise the low half is zero: ties and exact values */
            mpz_add_ui(z, z, next_random(&state));
        else
            mpz_fdiv_q_2exp(z, z, 64 + 10 + (unsigned)i % 32);
        long exponent = low + (long)(next_random(&state) % (uint64_t)span);
        mpfr_set_z_2exp(x.v, z, exponent - (long)mpz_sizeinbase(z, 2), MPFR_RNDZ);
        mpz_clear(z);
        if (next_random(&state) & 1)
            mpfr_neg(x.v, x.v, MPFR_RNDZ);
        assay_exact_from_mpfr(&x, 0);
        assay_cast cast = assay_cast_default(f);
        for (int m = 0; m < 4; m++) {
            cast.mode = modes[m].mode;
            double want = single ? (double)mpfr_get_flt(x.v, modes[m].rnd)
                                 : mpfr_get_d(x.v, modes[m].rnd);
            assay_rounded got = assay_round(f, &x, &cast, 0);
            if (got.code != bits_of(want, single))
                ck_abort_msg("%s %s: %a: MPFR 0x%" PRIx64 ", round 0x%" PRIx64, f->name,
                             assay_mode_name(cast.mode), want, bits_of(want, single), got.code);
            ck_assert_int_eq(got.ternary, mpfr_cmp_d(x.v, want) > 0 ? -1
                                          : mpfr_cmp_d(x.v, want) < 0 ? 1 : 0);
        }
        checks_add(8);
    }
    assay_exact_clear(&x);
}
END_TEST

/* ---- facts ---- */

typedef struct {
    const char *format, *value, *mode, *overflow;
    uint64_t code;
} fact;

/* bugs.md starter vectors; cuda.md 1.2 and 1.3; te.md 0.2 and 0.3; measured.md. */
static const fact facts[] = {
    {"e2m1", "0.25", "even", "sat", 0}, {"e2m1", "0.75", "even", "sat", 2},
    {"e2m1", "1.25", "even", "sat", 2}, {"e2m1", "1.75", "even", "sat", 4},
    {"e2m1", "2.5", "even", "sat", 4}, {"e2m1", "3.5", "even", "sat", 6},
    {"e2m1", "5", "even", "sat", 6}, {"e2m1", "-0.25", "even", "sat", 8},
    {"e2m1", "-0", "even", "sat", 8}, {"e2m1", "nan", "even", "sat", 7},
    {"e2m1", "-nan", "even", "sat", 7}, {"e2m1", "-inf", "even", "sat", 0xF},
    {"e2m1", "5.999", "zero", "sat", 6}, {"e2m1", "1e9", "zero", "sat", 7},
    {"e2m3", "nan", "even", "sat", 0x1F}, {"e3m2", "nan", "even", "sat", 0x1F},
    {"e2m3", "0x1p-4", "even", "sat", 0}, {"e3m2", "0x1p-5", "even", "sat", 0},
    {"e3m2", "-29", "even", "sat", 0x3F}, {"e2m3", "7.75", "even", "sat", 0x1F},
    {"e5m2", "9", "even", "sat", 0x48}, {"e5m2", "1.125", "even", "sat", 0x3C},
    {"e5m2", "0x1p-80", "even", "sat", 0}, {"e5m2", "61440", "even", "nosat", 0x7C},
    {"e5m2", "61439", "even", "nosat", 0x7B}, {"e5m2", "-61440", "even", "nosat", 0xFC},
    {"e5m2", "inf", "even", "sat", 0x7B}, {"e5m2", "inf", "even", "satfin", 0x7C},
    {"e5m2", "1e9", "even", "satfin", 0x7B}, {"e5m2", "0x1p-17", "even", "sat", 0},
    {"e4m3", "0x1.d02b4ap0", "even", "sat", 0x3F}, /* bits 3FE815A5 */
    {"e4m3", "0x1.100002p0", "even", "sat", 0x39}, /* bits 3F880001 */
    {"e4m3", "0x1.effffep-5", "even", "sat", 0x17}, /* bits 3D77FFFF */
    {"e4m3", "256", "even", "sat", 0x78}, {"e4m3", "300", "even", "sat", 0x79},
    {"e4m3", "320", "even", "sat", 0x7A}, {"e4m3", "416", "even", "sat", 0x7D},
    {"e4m3", "304", "even", "sat", 0x7A}, {"e4m3", "0.0015", "even", "sat", 1},
    {"e4m3", "464", "even", "sat", 0x7E}, {"e4m3", "464", "even", "nosat", 0x7E},
    {"e4m3", "465", "even", "sat", 0x7E}, {"e4m3", "465", "even", "nosat", 0x7F},
    {"e4m3", "-465", "even", "nosat", 0xFF}, {"e4m3", "-inf", "even", "nosat", 0xFF},
    {"e4m3", "-inf", "even", "satfin", 0xFF}, {"e4m3", "-inf", "even", "sat", 0xFE},
    {"e4m3", "-nan", "even", "nosat", 0x7F}, {"e4m3", "0x1p-10", "even", "sat", 0},
    {"e4m3", "0x1.000002p-10", "even", "sat", 1}, {"e4m3", "-0x1p-10", "even", "sat", 0x80},
    {"e4m3", "470", "zero", "nosat", 0x7E}, {"e4m3", "500", "zero", "nosat", 0x7E},
    {"e4m3", "470", "up", "nosat", 0x7F}, {"e4m3", "-470", "up", "nosat", 0xFE},
    {"e4m3fnuz", "-1e-8", "even", "sat", 0}, {"e4m3fnuz", "-0", "even", "sat", 0},
    {"e4m3fnuz", "nan", "even", "sat", 0x80}, {"e4m3fnuz", "inf", "even", "nosat", 0x80},
    {"e4m3fnuz", "inf", "even", "sat", 0x7F}, {"e5m2fnuz", "-1e9", "even", "nosat", 0x80},
    {"e8m0", "0", "zero", "sat", 0}, {"e8m0", "0x1p-127", "up", "sat", 0},
    {"e8m0", "0x1.8p-127", "zero", "sat", 0}, {"e8m0", "0x1.8p-127", "up", "sat", 1},
    {"e8m0", "0x1p-126", "up", "sat", 1}, {"e8m0", "0x1.000002p-126", "up", "sat", 2},
    {"e8m0", "1", "up", "sat", 0x7F}, {"e8m0", "1.5", "zero", "sat", 0x7F},
    {"e8m0", "1.5", "up", "sat", 0x80}, {"e8m0", "1.5", "even", "sat", 0x80},
    {"e8m0", "3", "even", "sat", 0x81}, {"e8m0", "1.5", "ties_zero", "sat", 0x7F},
    {"e8m0", "-3", "zero", "sat", 0x80}, {"e8m0", "-3", "up", "sat", 0x81},
    {"e8m0", "0x1p127", "up", "nosat", 0xFE}, {"e8m0", "0x1.1p127", "up", "nosat", 0xFF},
    {"e8m0", "0x1.1p127", "up", "sat", 0xFE}, {"e8m0", "0x1.fp127", "zero", "nosat", 0xFE},
    {"e8m0", "0x1p128", "zero", "nosat", 0xFF}, {"e8m0", "inf", "zero", "sat", 0xFE},
    {"e8m0", "-inf", "zero", "satfin", 0xFF}, {"e8m0", "nan", "up", "sat", 0xFF},
    {"ue5m3", "114688", "even", "nosat", 0xFE}, {"ue5m3", "1e9", "even", "nosat", 0xFF},
    {"ue4m3", "-1", "even", "sat", 0x38}, {"ue4m3", "nan", "even", "sat", 0x7F},
    {"mxint8", "0.0234375", "even", "sat", 2}, {"mxint8", "-1.9921875", "even", "sat", 0x80},
    {"mxint8", "nan", "even", "sat", 0}, {"mxint8", "-inf", "even", "nosat", 0x80},
    {"int4", "7.5", "even", "sat", 7}, {"int4", "-0.5", "even", "sat", 0},
    {"int4", "-2.5", "away", "sat", 0xD},
    {"f16", "65519", "even", "nosat", 0x7BFF}, {"f16", "65520", "even", "nosat", 0x7C00},
    {"bf16", "nan", "even", "nosat", 0x7FC0}, {"f32", "0.1", "even", "nosat", 0x3DCCCCCD},
    {"f32", "1e39", "odd", "nosat", 0x7F7FFFFF}, {"f32", "1e39", "down", "nosat", 0x7F7FFFFF},
    {"f32", "1e39", "even", "nosat", 0x7F800000}, {"f64", "0.1", "even", "nosat", 0x3FB999999999999A},
    {"f64", "2.4e-324", "even", "nosat", 0}, {"f64", "2.5e-324", "even", "nosat", 1},
    {"f64", "1e-99999999999999999999", "up", "nosat", 1},
};

START_TEST(known_facts)
{
    const fact *x = &facts[_i];
    const assay_format *f = find(x->format);
    assay_exact v;
    assay_exact_init(&v);
    assay_cast cast = assay_cast_default(f);
    ck_assert(assay_exact_parse(&v, x->value));
    ck_assert(assay_mode_find(x->mode, &cast.mode));
    ck_assert(assay_overflow_find(x->overflow, &cast.overflow));
    assay_rounded got = assay_round(f, &v, &cast, 0);
    ck_assert_msg(got.code == x->code, "%s(%s, %s %s): 0x%" PRIx64 ", must be 0x%" PRIx64, x->format,
                  x->value, x->mode, x->overflow, got.code, x->code);
    checks_add(1);
    assay_exact_clear(&v);
}
END_TEST

/* NaN options: LANGUAGE.md 8, `nan` and `nan_sign`. */
START_TEST(nan_options)
{
    static const struct {
        const char *format;
        bool negative, nan_sign;
        uint64_t nan, code;
    } cases[] = {{"e4m3", true, true, 0x7F, 0xFF}, {"e4m3", false, true, 0x7F, 0x7F},
                 {"e5m2", true, false, 0x7F, 0x7F}, {"e2m1", true, true, 7, 0xF},
                 {"e2m1", false, false, 0, 0},      {"ue4m3", true, true, 0x7F, 0x7F},
                 {"mxint8", true, true, 0, 0},      {"e4m3fnuz", true, true, 0x80, 0x80}};
    assay_exact x;
    assay_exact_init(&x);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const assay_format *f = find(cases[i].format);
        assay_cast cast = assay_cast_default(f);
        cast.nan_code = cases[i].nan;
        cast.nan_sign = cases[i].nan_sign;
        assay_exact_set_nan(&x, cases[i].negative);
        ck_assert_uint_eq(assay_round(f, &x, &cast, 0).code, cases[i].code);
        checks_add(1);
    }
    assay_exact_clear(&x);
}
END_TEST

/* mul.rn.ftz.f32 as measured on an H200 (measured.md): operands that are subnormal count as zero,
 * which is the evaluator's part; here the product is rounded and flushed. */
START_TEST(arithmetic_flush)
{
    static const uint32_t cases[][3] = {{0x3F7FFFFF, 0x00800000, 0x00000000},
                                        {0x3F000000, 0x00FFFFFF, 0x00000000},
                                        {0x20000001, 0x1FFFFFFE, 0x00800000},
                                        {0xBF7FFFFF, 0x00800000, 0x80000000},
                                        {0x3F800000, 0x00800000, 0x00800000},
                                        {0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000}};
    const assay_format *f32 = find("f32");
    assay_exact a, b;
    assay_exact_init(&a);
    assay_exact_init(&b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assay_exact_set_code(&a, f32, cases[i][0]);
        assay_exact_set_code(&b, f32, cases[i][1]);
        assay_exact_from_mpfr(&a, mpfr_mul(a.v, a.v, b.v, MPFR_RNDZ));
        assay_cast cast = assay_cast_default(f32);
        assay_rounded got = assay_round_flush(f32, &a, &cast);
        ck_assert_msg(got.code == cases[i][2], "%08x * %08x = %08x, must be %08x", cases[i][0],
                      cases[i][1], (uint32_t)got.code, cases[i][2]);
        checks_add(1);
    }
    assay_exact_clear(&a);
    assay_exact_clear(&b);
}
END_TEST

/* `ftz` of a cast acts after rounding: what rounds up to the least normal stays. */
START_TEST(cast_flush)
{
    static const fact cases[] = {{"e4m3", "0x1.cp-7", "even", "sat", 0},
                                 {"e4m3", "-0x1.cp-7", "even", "sat", 0x80},
                                 {"e4m3", "0x1.f8p-7", "even", "sat", 8},
                                 {"e4m3", "0x1p-6", "even", "sat", 8},
                                 {"e5m2fnuz", "-0x1p-16", "even", "sat", 0}};
    assay_exact x;
    assay_exact_init(&x);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const assay_format *f = find(cases[i].format);
        assay_cast cast = assay_cast_default(f);
        cast.ftz = true;
        ck_assert(assay_exact_parse(&x, cases[i].value));
        ck_assert_uint_eq(assay_round(f, &x, &cast, 0).code, cases[i].code);
        checks_add(1);
    }
    assay_exact_clear(&x);
}
END_TEST

START_TEST(parsing)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1}, {"-2.5", -2.5}, {".5", 0.5}, {"5.", 5}, {"1e3", 1000}, {"1E-1", 0.1},
                {"0x1.8p3", 12}, {"-0x.8p0", -0.5}, {"0x10", 16}, {"2^-3", 0.125}, {"+7", 7},
                {"-2^2", -4}, {"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}};
    static const char *const bad[] = {"", "-", ".", "1e", "0x", "0xp3", "1.5x", "0x1.8p", "2^",
                                      "1 ", " 1", "1,5", "nanx", "infinit", "--1", "1e5.5", "0b1"};
    assay_exact x;
    assay_exact_init(&x);
    const assay_format *f64 = find("f64");
    assay_cast cast = assay_cast_default(f64);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(assay_exact_parse(&x, good[i].text), "%s is not parsed", good[i].text);
        ck_assert(assay_decode_double(f64, assay_round(f64, &x, &cast, 0).code) == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!assay_exact_parse(&x, bad[i]), "'%s' is parsed", bad[i]);
    ck_assert(assay_exact_parse(&x, "-nan") && x.class_ == ASSAY_EXACT_NAN && x.negative);
    checks_add(sizeof good / sizeof good[0] + sizeof bad / sizeof bad[0] + 1);
    assay_exact_clear(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("round");
    TCase *tests = tcase_create("round");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, search_of_the_table, 0, (int)assay_format_count);
    tcase_add_loop_test(tests, mpfr_get_d_and_get_flt, 0, 2);
    tcase_add_loop_test(tests, known_facts, 0, (int)(sizeof facts / sizeof facts[0]));
    tcase_add_test(tests, nan_options);
    tcase_add_test(tests, arithmetic_flush);
    tcase_add_test(tests, cast_flush);
    tcase_add_test(tests, parsing);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
