/* ref/convert (integers) against ref/round (MPFR): every format, mode and overflow rule, on all
 * bf16 and f16 patterns and on every boundary of the format and its surroundings in f32 and f64. */
#include <string.h>

#include "../ref/convert.h"
#include "checks.h"

static const assay_format *find(const char *name)
{
    const assay_format *f = assay_format_find(name);
    ck_assert_msg(f != NULL, "no format %s", name);
    return f;
}

/* Everything an assay_rounded says, as one number. */
static uint64_t packed(assay_rounded r)
{
    return r.code << 8 ^ (uint64_t)((r.ternary + 1) | r.inexact << 2 | r.overflow << 3 |
                                    r.underflow << 4 | r.tie << 5);
}

static void expect_equal(const assay_format *f, const assay_format *from, uint64_t bits,
                         const assay_exact *x, const assay_cast *cast, uint64_t random,
                         assay_rounded got)
{
    assay_rounded want = assay_round(f, x, cast, random);
    if (packed(want) == packed(got) && want.code == got.code)
        return;
    ck_abort_msg("%s bits 0x%" PRIx64 " -> %s, %s %s nan 0x%" PRIx64 " sign %d ftz %d random 0x%" PRIx64
                 "/%d: round says 0x%" PRIx64 " ternary %d flags %d%d%d%d, convert 0x%" PRIx64
                 " ternary %d flags %d%d%d%d",
                 from->name, bits, f->name, assay_mode_name(cast->mode),
                 assay_overflow_name(cast->overflow), cast->nan_code, cast->nan_sign, cast->ftz,
                 random, cast->random_bits, want.code, want.ternary, want.inexact, want.overflow,
                 want.underflow, want.tie, got.code, got.ternary, got.inexact, got.overflow,
                 got.underflow, got.tie);
}

/* One source value, all modes x overflow rules; the remaining options turn with `turn`. */
static void compare_all(const assay_format *f, const assay_format *from, uint64_t bits,
                        assay_exact *x, uint64_t turn)
{
    assay_exact_set_code(x, from, bits);
    assay_cast cast = assay_cast_default(f);
    cast.nan_sign = turn & 1;
    cast.ftz = turn % 3 == 0;
    cast.random_bits = (uint8_t)(1 + turn % 63);
    uint64_t random = turn * 0x9E3779B97F4A7C15u;
    for (int mode = 0; mode < ASSAY_MODE_COUNT; mode++)
        for (int overflow = ASSAY_SAT; overflow <= ASSAY_NOSAT; overflow++) {
            cast.mode = (assay_mode)mode;
            cast.overflow = (assay_overflow)overflow;
            assay_rounded got = assay_convert_code(f, from, bits, &cast, random);
            expect_equal(f, from, bits, x, &cast, random, got);
        }
    checks_add(ASSAY_MODE_COUNT * 3);
}

static void sweep16(const assay_format *f, const char *source, uint64_t step)
{
    const assay_format *from = find(source);
    assay_exact x;
    assay_exact_init(&x);
    for (uint64_t bits = 0; bits < 65536; bits += step)
        compare_all(f, from, bits, &x, bits + (uint64_t)assay_format_id(f));
    assay_exact_clear(&x);
}

START_TEST(all_bf16_and_f16_patterns)
{
    const assay_format *f = &assay_formats[_i];
    /* The P3109 rows differ in width and bias alone: a thinner net (coprime to 65,536). */
    uint64_t step = strncmp(f->name, "binary", 6) ? 1 : 7;
    sweep16(f, "bf16", step);
    sweep16(f, "f16", step);
}
END_TEST

/* Every boundary of the format (each code and each midpoint of neighbours, both signs, and the ends)
 * and its four neighbours in the source's grid, where the source can hold it. */
static void around(const assay_format *f, const assay_format *from, double value, assay_exact *x)
{
    assay_cast to_source = assay_cast_default(from);
    to_source.mode = ASSAY_ZERO;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t code = assay_convert_f64(from, bits, &to_source, 0).code;
    int64_t at = assay_ordinal(from, code);
    for (int64_t ulp = -2; ulp <= 2; ulp++)
        if (at + ulp >= assay_ordinal_min(from) && at + ulp <= assay_ordinal_max(from))
            compare_all(f, from, assay_ordinal_code(from, at + ulp), x, (uint64_t)(at + ulp));
}

static void boundaries(const assay_format *f, const assay_format *from)
{
    assay_exact x;
    assay_exact_init(&x);
    int64_t low = assay_ordinal_min(f), high = assay_ordinal_max(f);
    int64_t step = assay_format_width(f) > 8 ? 9 : 1; /* 16-bit formats: a net of their boundaries */
    for (int64_t i = low; i <= high; i += step) {
        double here = assay_decode_double(f, assay_ordinal_code(f, i));
        double next = assay_decode_double(f, assay_ordinal_code(f, i < high ? i + 1 : i));
        if (here > -1e300 && here < 1e300)
            around(f, from, here, &x);
        if (here > -1e300 && next < 1e300)
            around(f, from, here + (next - here) / 2, &x);
    }
    double max = assay_decode_double(f, assay_format_max_code(f));
    double step_at_max = max - assay_decode_double(f, assay_format_max_code(f) - 1);
    for (int sign = -1; sign <= 1; sign += 2)
        for (int i = 1; i <= 8; i++)
            around(f, from, sign * (max + i * step_at_max / 2), &x);
    assay_exact_clear(&x);
}

START_TEST(every_boundary)
{
    const assay_format *f = &assay_formats[_i];
    if (assay_format_width(f) > 16)
        return; /* the narrow formats' boundaries are no boundaries there; see random_values */
    boundaries(f, find("f32"));
    boundaries(f, find("f64"));
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = (*state ^ *state >> 29) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 32;
}

/* Random f64 bits whose exponents lie about the format's range; the fraction often ends in zeros or
 * ones near a cut, so that ties and near-ties are common. */
static uint64_t interesting_f64(const assay_format *f, uint64_t *state)
{
    uint64_t r = next_random(state), fraction = next_random(state) >> 12;
    int low = assay_format_emin(f) - f->mantissa_bits - 3, high = assay_format_emax(f) + 3;
    int field = 1023 + low + (int)((r >> 8) % (uint64_t)(high - low + 1));
    field = field < 0 ? 0 : field > 2047 ? 2047 : field;
    int keep = (int)(r & 63);
    if (keep < 52 && (r & 64))
        fraction &= ~(((uint64_t)1 << (52 - keep)) - 1);
    if (r & 128)
        fraction += r >> 62;
    return r >> 63 << 63 | (uint64_t)field << 52 | (fraction & 0xFFFFFFFFFFFFF);
}

START_TEST(random_values)
{
    const assay_format *f = &assay_formats[_i], *f64 = find("f64"), *f32 = find("f32");
    uint64_t state = checks_seed() + (uint64_t)_i;
    assay_exact x;
    assay_exact_init(&x);
    int count = assay_format_width(f) > 16 ? 20000 : 1000;
    for (int i = 0; i < count; i++) {
        compare_all(f, f64, interesting_f64(f, &state), &x, next_random(&state));
        compare_all(f, f32, next_random(&state) >> 32, &x, next_random(&state));
    }
    assay_exact_clear(&x);
}
END_TEST

/* assay_convert_f32 and assay_convert_f64 unpack by themselves: the same answers as by code. */
START_TEST(entry_points_agree)
{
    const assay_format *f = &assay_formats[_i], *f64 = find("f64"), *f32 = find("f32");
    uint64_t state = checks_seed() * 3 + (uint64_t)_i;
    for (int i = 0; i < 4000; i++) {
        uint64_t bits = i & 1 ? interesting_f64(f, &state) : next_random(&state);
        uint32_t bits32 = (uint32_t)next_random(&state), random = (uint32_t)next_random(&state);
        if (i % 16 == 0)
            bits32 &= 0x807FFFFF;
        assay_cast cast = assay_cast_default(f);
        cast.mode = (assay_mode)(i % ASSAY_MODE_COUNT);
        cast.overflow = (assay_overflow)(i / 8 % 3);
        cast.nan_sign = i & 8;
        cast.random_bits = 20;
        uint64_t direct = packed(assay_convert_f64(f, bits, &cast, random));
        ck_assert_uint_eq(direct, packed(assay_convert_code(f, f64, bits, &cast, random)));
        direct = packed(assay_convert_f32(f, bits32, &cast, random));
        ck_assert_uint_eq(direct, packed(assay_convert_code(f, f32, bits32, &cast, random)));
    }
    checks_add(8000);
}
END_TEST

/* ---- bulk ---- */

enum { BULK = 4099 }; /* a prime: the tail is never whole */

static uint64_t stored(const void *codes, int storage, size_t i)
{
    const uint8_t *bytes = (const uint8_t *)codes + i * (size_t)storage;
    uint64_t code = 0;
    for (int b = 0; b < storage; b++)
        code |= (uint64_t)bytes[b] << 8 * b;
    return code;
}

/* Half of the values lie about the format's range, the rest are raw bits; special ones in front. */
static void fill_f32(const assay_format *f, uint64_t *state, uint32_t *x)
{
    static const uint32_t special[] = {0, 1, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF, 0x800000,
                                       0x800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000,
                                       0x7FFFFFFF};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    const assay_format *f32 = assay_format_find("f32");
    assay_cast cut = assay_cast_default(f32);
    cut.mode = ASSAY_ZERO;
    for (int i = 0; i < BULK; i++) {
        if (i < 2 * SPECIAL)
            x[i] = special[i / 2] | (i & 1 ? 0x80000000u : 0);
        else if (i & 1)
            x[i] = (uint32_t)assay_convert_f64(f32, interesting_f64(f, state), &cut, 0).code;
        else
            x[i] = (uint32_t)next_random(state);
    }
}

START_TEST(bulk_equals_scalar)
{
    const assay_format *f = &assay_formats[_i];
    static uint32_t x[BULK];
    static uint64_t codes[BULK + 1];
    int storage = assay_format_storage(f);
    uint64_t state = checks_seed() + 77 * (uint64_t)_i;
    for (int options = 0; options < 7 * 3 * 4; options++) {
        assay_cast cast = assay_cast_default(f);
        cast.mode = (assay_mode)(options % 7);
        cast.overflow = (assay_overflow)(options / 7 % 3);
        cast.nan_sign = options / 21 & 1;
        cast.ftz = options / 42;
        fill_f32(f, &state, x);
        memset(codes, 0xA5, sizeof codes);
        size_t n = options % 5 ? BULK : (size_t)options;
        assay_convert_f32_array(f, &cast, x, codes, n);
        for (size_t i = 0; i < n; i++) {
            uint64_t want = assay_convert_f32(f, x[i], &cast, 0).code;
            if (stored(codes, storage, i) != want)
                ck_abort_msg("%s %s %s sign %d ftz %d: 0x%08x: bulk 0x%" PRIx64 ", scalar 0x%" PRIx64,
                             f->name, assay_mode_name(cast.mode), assay_overflow_name(cast.overflow),
                             cast.nan_sign, cast.ftz, x[i], stored(codes, storage, i), want);
        }
        ck_assert_uint_eq(((uint8_t *)codes)[n * (size_t)storage], 0xA5);
        checks_add(n);
    }
}
END_TEST

static void expect_decoded(const assay_format *f, uint64_t code, uint32_t got)
{
    float as_float = (float)assay_decode_double(f, code);
    uint32_t want;
    memcpy(&want, &as_float, sizeof want);
    if (as_float != as_float)
        want = f == assay_format_find("f32") ? (uint32_t)code : 0x7FC00000;
    if (want != got)
        ck_abort_msg("%s code 0x%" PRIx64 ": decodes to %08x, bulk says %08x", f->name, code, want,
                     got);
}

START_TEST(bulk_decode)
{
    const assay_format *f = &assay_formats[_i];
    int width = assay_format_width(f), storage = assay_format_storage(f);
    if (storage == 8)
        return;
    uint64_t codes = (uint64_t)1 << (width > 16 ? 16 : width);
    uint64_t spread = width > 16 ? ((uint64_t)1 << (width - 16)) + 1 : 1;
    static uint8_t from[4 * 65536];
    static uint32_t to[65536];
    uint64_t mask = ((uint64_t)1 << width) - 1;
    for (uint64_t c = 0; c < codes; c++)
        for (int b = 0; b < storage; b++)
            from[c * (uint64_t)storage + (uint64_t)b] = (uint8_t)((c * spread & mask) >> 8 * b);
    assay_decode_f32_array(f, from, to, codes);
    for (uint64_t c = 0; c < codes; c++)
        expect_decoded(f, c * spread & mask, to[c]);
    assay_decode_f32_array(f, from, to, codes / 4);
    for (uint64_t c = 0; c < codes / 4; c++)
        expect_decoded(f, c * spread & mask, to[c]);
    checks_add(codes + codes / 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *tests = tcase_create("every format");
    tcase_set_timeout(tests, 300);
    int n = (int)assay_format_count;
    tcase_add_loop_test(tests, all_bf16_and_f16_patterns, 0, n);
    tcase_add_loop_test(tests, every_boundary, 0, n);
    tcase_add_loop_test(tests, random_values, 0, n);
    tcase_add_loop_test(tests, entry_points_agree, 0, n);
    tcase_add_loop_test(tests, bulk_equals_scalar, 0, n);
    tcase_add_loop_test(tests, bulk_decode, 0, n);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
