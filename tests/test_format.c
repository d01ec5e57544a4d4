/* The format table against hand-derived facts, and the invariants that every row must keep. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../ref/format.h"
#include "checks.h"

static const assay_format *find(const char *name)
{
    const assay_format *f = assay_format_find(name);
    ck_assert_msg(f != NULL, "no format %s", name);
    return f;
}

/* From the standards and vendor documents named in the table; NaN code 0 with has_nan false: the
 * +max rule. least: the least positive value; least_normal likewise. */
typedef struct {
    const char *name;
    int width;
    uint64_t max_code;
    double max, least_normal, least;
    bool has_nan;
    uint64_t nan_code;
    bool has_inf;
    uint64_t inf_code;
    bool has_negative_zero;
} fact;

static const fact facts[] = {
    {"f64", 64, 0x7FEFFFFFFFFFFFFF, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, true,
     0x7FF8000000000000, true, 0x7FF0000000000000, true},
    {"f32", 32, 0x7F7FFFFF, 0x1.fffffep127, 0x1p-126, 0x1p-149, true, 0x7FC00000, true, 0x7F800000,
     true},
    {"tf32", 19, 0x3FBFF, 0x1.ffcp127, 0x1p-126, 0x1p-136, true, 0x3FE00, true, 0x3FC00, true},
    {"f16", 16, 0x7BFF, 65504, 0x1p-14, 0x1p-24, true, 0x7E00, true, 0x7C00, true},
    {"bf16", 16, 0x7F7F, 0x1.fep127, 0x1p-126, 0x1p-133, true, 0x7FC0, true, 0x7F80, true},
    {"e5m6", 12, 0x7BF, 65024, 0x1p-14, 0x1p-20, true, 0x7E0, true, 0x7C0, true},
    {"e4m3", 8, 0x7E, 448, 0x1p-6, 0x1p-9, true, 0x7F, false, 0, true},
    {"e5m2", 8, 0x7B, 57344, 0x1p-14, 0x1p-16, true, 0x7E, true, 0x7C, true},
    {"e4m3fnuz", 8, 0x7F, 240, 0x1p-7, 0x1p-10, true, 0x80, false, 0, false},
    {"e5m2fnuz", 8, 0x7F, 57344, 0x1p-15, 0x1p-17, true, 0x80, false, 0, false},
    {"e4m3b11fnuz", 8, 0x7F, 30, 0x1p-10, 0x1p-13, true, 0x80, false, 0, false},
    {"e3m4", 8, 0x7E, 30, 0x1p-2, 0x1p-6, true, 0x7F, false, 0, true},
    {"e4m3i", 8, 0x77, 240, 0x1p-6, 0x1p-9, true, 0x7C, true, 0x78, true},
    {"e3m4i", 8, 0x6F, 15.5, 0x1p-2, 0x1p-6, true, 0x78, true, 0x70, true},
    {"e2m3", 6, 0x1F, 7.5, 1, 0x1p-3, false, 0x1F, false, 0, true},
    {"e3m2", 6, 0x1F, 28, 0x1p-2, 0x1p-4, false, 0x1F, false, 0, true},
    {"e2m1", 4, 0x7, 6, 1, 0.5, false, 0x7, false, 0, true},
    {"e8m0", 8, 0xFE, 0x1p127, 0x1p-127, 0x1p-127, true, 0xFF, false, 0, false},
    {"ue4m3", 7, 0x7E, 448, 0x1p-6, 0x1p-9, true, 0x7F, false, 0, false},
    {"ue5m3", 8, 0xFE, 114688, 0x1p-14, 0x1p-17, true, 0xFF, false, 0, false},
    {"mxint8", 8, 0x7F, 1.984375, 0x1p-6, 0x1p-6, false, 0, false, 0, false},
    {"int4", 4, 7, 7, 1, 1, false, 0, false, 0, false},
    {"int5", 5, 15, 15, 1, 1, false, 0, false, 0, false},
    {"int8", 8, 127, 127, 1, 1, false, 0, false, 0, false},
    /* P3109, by its formulas: bias 2^(K-P-1) signed, 2^(K-P) unsigned; the top codes are, from
     * above, NaN (unsigned) and Inf (extended). */
    {"binary8p4se", 8, 0x7E, 224, 0x1p-7, 0x1p-10, true, 0x80, true, 0x7F, false},
    {"binary8p4sf", 8, 0x7F, 240, 0x1p-7, 0x1p-10, true, 0x80, false, 0, false},
    {"binary8p3se", 8, 0x7E, 49152, 0x1p-15, 0x1p-17, true, 0x80, true, 0x7F, false},
    {"binary8p3uf", 8, 0xFE, 0x1.8p31, 0x1p-31, 0x1p-33, true, 0xFF, false, 0, false},
    {"binary8p1se", 8, 0x7E, 0x1p62, 0x1p-63, 0x1p-63, true, 0x80, true, 0x7F, false},
    {"binary8p1ue", 8, 0xFD, 0x1p125, 0x1p-127, 0x1p-127, true, 0xFF, true, 0xFE, false},
    {"binary8p1uf", 8, 0xFE, 0x1p126, 0x1p-127, 0x1p-127, true, 0xFF, false, 0, false},
    {"binary8p8uf", 8, 0xFE, 1.984375, 1, 0x1p-7, true, 0xFF, false, 0, false},
    {"binary8p7sf", 8, 0x7F, 1.984375, 1, 0x1p-6, true, 0x80, false, 0, false},
    {"binary6p3sf", 6, 0x1F, 14, 0x1p-3, 0x1p-5, true, 0x20, false, 0, false},
    {"binary4p2sf", 4, 0x7, 3, 0.5, 0.25, true, 0x8, false, 0, false},
    {"binary3p2se", 3, 0x2, 1, 1, 0.5, true, 0x4, true, 0x3, false},
    {"binary3p3ue", 3, 0x5, 1.25, 1, 0.25, true, 0x7, true, 0x6, false},
};
enum { FACTS = sizeof facts / sizeof facts[0] };

/* The least positive value, and the least normal one, found by walking the codes. */
static double least_of(const assay_format *f, assay_class c)
{
    uint64_t code = c == ASSAY_CLASS_SUBNORMAL ? 1 : (uint64_t)1 << f->mantissa_bits;
    if (f->kind == ASSAY_KIND_INTEGER)
        code = 1;
    if (f->kind == ASSAY_KIND_POWER)
        code = 0;
    return assay_decode_double(f, code);
}

START_TEST(hand_derived_facts)
{
    const fact *x = &facts[_i];
    const assay_format *f = find(x->name);
    ck_assert_int_eq(assay_format_width(f), x->width);
    ck_assert_uint_eq(assay_format_max_code(f), x->max_code);
    ck_assert(assay_decode_double(f, x->max_code) == x->max);
    ck_assert_int_eq(assay_format_emax(f), ilogb(x->max));
    ck_assert_int_eq(assay_format_emin(f), ilogb(x->least_normal));
    ck_assert(least_of(f, ASSAY_CLASS_NORMAL) == x->least_normal);
    ck_assert(least_of(f, ASSAY_CLASS_SUBNORMAL) == x->least);
    ck_assert_int_eq(assay_format_has_nan(f), x->has_nan);
    ck_assert_uint_eq(assay_format_nan_code(f), x->nan_code);
    ck_assert_int_eq(assay_format_has_inf(f), x->has_inf);
    if (x->has_inf)
        ck_assert_uint_eq(assay_format_inf_code(f, false), x->inf_code);
    ck_assert_int_eq(assay_format_has_negative_zero(f), x->has_negative_zero);
    checks_add(11);
}
END_TEST

START_TEST(every_plain_row_has_a_fact)
{
    for (size_t i = 0; i < assay_format_count; i++) {
        bool found = !strncmp(assay_formats[i].name, "binary", 6); /* by their own test below */
        for (int j = 0; j < FACTS && !found; j++)
            found = !strcmp(facts[j].name, assay_formats[i].name);
        ck_assert_msg(found, "format %s has no hand-derived fact", assay_formats[i].name);
    }
    checks_add(assay_format_count);
}
END_TEST

/* A P3109 code by the report's formulas in doubles; nothing of ref/ is used. */
static double p3109_value(int k, int p, bool is_signed, bool extended, unsigned code)
{
    unsigned half = 1u << (k - 1), top = is_signed ? half - 1 : (1u << k) - 1;
    if (is_signed && code == half)
        return (double)NAN;
    if (is_signed && code > half)
        return -p3109_value(k, p, true, extended, code - half);
    if (!is_signed && code == top--)
        return (double)NAN;
    if (extended && code == top)
        return (double)INFINITY;
    int bias = 1 << (is_signed ? k - p - 1 : k - p);
    unsigned fraction = code % (1u << (p - 1)), field = code >> (p - 1);
    if (field == 0)
        return fraction * pow(2, 1 - bias - (p - 1));
    return (1 + fraction * pow(2, 1 - p)) * pow(2, (int)field - bias);
}

START_TEST(p3109_by_formula)
{
    int rows = 0;
    for (int k = 3; k <= 8; k++)
        for (int p = 1; p <= k; p++)
            for (int kind = 0; kind < 4; kind++) {
                bool is_signed = kind < 2, extended = kind % 2 == 0;
                char name[32];
                snprintf(name, sizeof name, "binary%dp%d%c%c", k, p, is_signed ? 's' : 'u',
                         extended ? 'e' : 'f');
                if (is_signed && p == k) {
                    ck_assert_ptr_null(assay_format_find(name));
                    continue;
                }
                const assay_format *f = find(name);
                ck_assert_int_eq(assay_format_width(f), k);
                for (unsigned code = 0; code < 1u << k; code++) {
                    double want = p3109_value(k, p, is_signed, extended, code);
                    double got = assay_decode_double(f, code);
                    ck_assert_msg((isnan(want) && isnan(got)) || want == got,
                                  "%s code 0x%x: %a, the formula says %a", name, code, got, want);
                }
                rows++;
                checks_add(1u << k);
            }
    ck_assert_int_eq(rows, 120);
}
END_TEST

START_TEST(invariants)
{
    const assay_format *f = &assay_formats[_i];
    ck_assert_ptr_eq(assay_format_find(f->name), f);
    ck_assert_int_eq(assay_format_id(f), _i);
    int width = assay_format_width(f);
    ck_assert_int_le(width, 8 * assay_format_storage(f));
    if (strcmp(f->name, "f64")) { /* every format but f64 lies exactly inside f32 */
        ck_assert_int_le(assay_format_precision(f), 24);
        ck_assert(least_of(f, ASSAY_CLASS_SUBNORMAL) >= 0x1p-149);
        ck_assert(assay_decode_double(f, assay_format_max_code(f)) <= 0x1.fffffep127);
    }
    int64_t low = assay_ordinal_min(f), high = assay_ordinal_max(f);
    int64_t step = width > 16 ? (int64_t)(((uint64_t)1 << (width - 1)) / 9973) : 1, count = 0;
    double last = -(double)INFINITY;
    for (int64_t i = low; i <= high - step; i += step, count++) {
        uint64_t code = assay_ordinal_code(f, i);
        double value = assay_decode_double(f, code);
        ck_assert_int_eq(assay_ordinal(f, code), i);
        ck_assert_msg(i == low || value > last, "%s: ordinal %" PRId64 " is not above its "
                                                "predecessor", f->name, i);
        last = value;
    }
    if (assay_format_has_negative_zero(f)) {
        ck_assert_int_eq(assay_ordinal(f, assay_format_sign_bit(f)), 0);
        ck_assert(signbit(assay_decode_double(f, assay_format_sign_bit(f))));
    }
    checks_add((uint64_t)count);
}
END_TEST

/* Codes are either ordered by an ordinal or NaN; the classes' counts are those of the row. */
START_TEST(classes)
{
    const assay_format *f = &assay_formats[_i];
    if (assay_format_width(f) > 16)
        return;
    uint64_t codes = (uint64_t)1 << assay_format_width(f), nans = 0, ordered = 0;
    for (uint64_t code = 0; code < codes; code++) {
        assay_parts parts = assay_decode(f, code);
        if (parts.class_ == ASSAY_CLASS_NAN)
            nans++;
        else
            ordered++;
        if (parts.class_ == ASSAY_CLASS_SUBNORMAL)
            ck_assert(parts.significand < (uint64_t)1 << f->mantissa_bits);
    }
    uint64_t ordinals = (uint64_t)(assay_ordinal_max(f) - assay_ordinal_min(f)) + 1;
    ck_assert_uint_eq(ordered, ordinals + (assay_format_has_negative_zero(f) ? 1 : 0));
    ck_assert_int_eq(nans > 0, assay_format_has_nan(f));
    if (assay_format_has_nan(f))
        ck_assert_int_eq(assay_decode(f, assay_format_nan_code(f)).class_, ASSAY_CLASS_NAN);
    checks_add(codes);
}
END_TEST

/* Codes of the facts pages (E8M0 0x00 is a subnormal of f32; FNUZ 0x80 is NaN; E2M1's grid). */
START_TEST(single_codes)
{
    static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (unsigned code = 0; code < 8; code++)
        ck_assert(assay_decode_double(find("e2m1"), code) == e2m1[code]);
    ck_assert(assay_decode_double(find("e8m0"), 0) == 0x1p-127);
    ck_assert(isnan(assay_decode_double(find("e8m0"), 0xFF)));
    ck_assert(isnan(assay_decode_double(find("e4m3fnuz"), 0x80)));
    ck_assert(assay_decode_double(find("mxint8"), 0x80) == -2);
    ck_assert(assay_decode_double(find("int4"), 0xF) == -1);
    ck_assert(assay_decode_double(find("e5m6"), 0x3C1) == 1.015625);
    checks_add(14);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format");
    TCase *tests = tcase_create("format");
    int n = (int)assay_format_count;
    tcase_add_loop_test(tests, hand_derived_facts, 0, FACTS);
    tcase_add_test(tests, every_plain_row_has_a_fact);
    tcase_add_test(tests, p3109_by_formula);
    tcase_add_loop_test(tests, invariants, 0, n);
    tcase_add_loop_test(tests, classes, 0, n);
    tcase_add_test(tests, single_codes);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
