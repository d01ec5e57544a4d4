/* Exact values on MPFR: setting, classifying, parsing. No rounding to a format happens here. */
#include "exact.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof(long) == 8, "MPFR's long arguments must hold 64 bits");

void assay_exact_init(assay_exact *x)
{
    mpfr_init2(x->v, ASSAY_EXACT_PRECISION);
    mpfr_set_zero(x->v, 1);
    x->class_ = ASSAY_EXACT_FINITE;
    x->negative = x->sticky = false;
}

void assay_exact_clear(assay_exact *x)
{
    mpfr_clear(x->v);
}

static void set_finite(assay_exact *x, bool sticky)
{
    x->class_ = ASSAY_EXACT_FINITE;
    x->negative = mpfr_signbit(x->v) != 0;
    x->sticky = sticky;
}

void assay_exact_set(assay_exact *x, const assay_exact *y)
{
    x->class_ = y->class_;
    x->negative = y->negative;
    x->sticky = y->sticky;
    if (y->class_ == ASSAY_EXACT_FINITE && mpfr_set(x->v, y->v, MPFR_RNDZ) != 0)
        x->sticky = true;
}

void assay_exact_set_code(assay_exact *x, const assay_format *f, uint64_t code)
{
    assay_parts parts = assay_decode(f, code);
    if (parts.class_ == ASSAY_CLASS_NAN) {
        assay_exact_set_nan(x, parts.negative);
    } else if (parts.class_ == ASSAY_CLASS_INFINITY) {
        assay_exact_set_inf(x, parts.negative);
    } else {
        mpfr_set_ui_2exp(x->v, parts.significand, parts.exponent, MPFR_RNDZ);
        if (parts.negative)
            mpfr_neg(x->v, x->v, MPFR_RNDZ);
        set_finite(x, false);
    }
}

void assay_exact_set_q(assay_exact *x, mpq_srcptr q)
{
    int ternary = mpfr_set_q(x->v, q, MPFR_RNDZ);
    set_finite(x, ternary != 0);
}

void assay_exact_set_i64(assay_exact *x, int64_t i)
{
    mpfr_set_si(x->v, i, MPFR_RNDZ);
    set_finite(x, false);
}

void assay_exact_set_u64(assay_exact *x, uint64_t u)
{
    mpfr_set_ui(x->v, u, MPFR_RNDZ);
    set_finite(x, false);
}

void assay_exact_set_inf(assay_exact *x, bool negative)
{
    mpfr_set_inf(x->v, negative ? -1 : 1);
    x->class_ = ASSAY_EXACT_INF;
    x->negative = negative;
    x->sticky = false;
}

void assay_exact_set_nan(assay_exact *x, bool negative)
{
    mpfr_set_nan(x->v);
    x->class_ = ASSAY_EXACT_NAN;
    x->negative = negative;
    x->sticky = false;
}

void assay_exact_from_mpfr(assay_exact *x, int ternary)
{
    set_finite(x, ternary != 0);
    if (mpfr_nan_p(x->v)) {
        x->class_ = ASSAY_EXACT_NAN;
        x->negative = x->sticky = false;
    } else if (mpfr_inf_p(x->v)) {
        x->class_ = ASSAY_EXACT_INF;
        x->sticky = false;
    }
}

/* Steps over digits for which `is_digit` holds; says whether there was one. */
static bool skip_digits(const char **text, int (*is_digit)(int))
{
    const char *start = *text;
    while (is_digit((unsigned char)**text))
        (*text)++;
    return *text > start;
}

/* digits [. digits] [mark [sign] digits], at least one digit before the mark; the whole text. */
static bool is_number(const char *text, int (*is_digit)(int), char mark)
{
    bool digits = skip_digits(&text, is_digit);
    if (*text == '.') {
        text++;
        digits |= skip_digits(&text, is_digit);
    }
    if (digits && tolower((unsigned char)*text) == mark) {
        text++;
        text += *text == '+' || *text == '-';
        digits = skip_digits(&text, isdigit);
    }
    return digits && *text == '\0';
}

/* 2^N, a word of the recipe language; the exponent saturates far outside every format. */
static bool parse_power(assay_exact *x, const char *text, bool negative)
{
    const char *digits = text + 2 + (text[2] == '-' || text[2] == '+');
    const char *end = digits;
    if (!skip_digits(&end, isdigit) || *end)
        return false;
    long exponent = strtol(text + 2, NULL, 10);
    exponent = exponent > INT_MAX ? INT_MAX : exponent < INT_MIN ? INT_MIN : exponent;
    mpfr_set_si_2exp(x->v, negative ? -1 : 1, exponent, MPFR_RNDZ);
    set_finite(x, false);
    return true;
}

bool assay_exact_parse(assay_exact *x, const char *text)
{
    const char *body = text + (*text == '-' || *text == '+');
    bool negative = *text == '-';
    if (!strcasecmp(body, "nan")) {
        assay_exact_set_nan(x, negative);
        return true;
    }
    if (!strcasecmp(body, "inf") || !strcasecmp(body, "infinity")) {
        assay_exact_set_inf(x, negative);
        return true;
    }
    if (!strncmp(body, "2^", 2))
        return parse_power(x, body, negative);
    bool hex = body[0] == '0' && (body[1] == 'x' || body[1] == 'X');
    if (!(hex ? is_number(body + 2, isxdigit, 'p') : is_number(body, isdigit, 'e')))
        return false;
    int ternary = mpfr_strtofr(x->v, text, NULL, hex ? 16 : 10, MPFR_RNDZ);
    assay_exact_from_mpfr(x, ternary);
    return true;
}
