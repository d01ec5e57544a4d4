/* Exact rationals: reading the numbers of the language, and their one canonical spelling. */
#include <stdlib.h>
#include <string.h>

#include "recipe_syntax.h"

/* Written powers are bounded so that reading is cheap, values so that canonical text stays short. */
enum { DIGITS_LIMIT = 400, POWER_LIMIT = 5000, VALUE_LIMIT = 1200 };

/* Value of the decimal digits of a power, kept within what an int holds. */
static int power_of(const char *text)
{
    long v = strtol(text, NULL, 10);
    return v > 100000 ? 100000 : v < -100000 ? -100000 : (int)v;
}

/* mantissa digits (without the point), how many of them are behind the point, power */
typedef struct {
    char digits[DIGITS_LIMIT + 1];
    int count, fraction, power;
    int base; /* of the digits, 10 or 16; of the power 10 or 2 */
} pieces;

static bool take_apart(const char *text, pieces *p)
{
    *p = (pieces){.base = 10};
    const char *s = text;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        p->base = 16;
        s += 2;
    }
    bool point = false;
    for (; *s; s++) {
        char c = *s;
        if (c == '.') {
            point = true;
            continue;
        }
        if (p->base == 16 ? c == 'p' || c == 'P' : c == 'e' || c == 'E') {
            p->power = power_of(s + 1);
            break;
        }
        if (p->count == DIGITS_LIMIT)
            return false;
        p->digits[p->count++] = c;
        p->fraction += point;
    }
    return p->power >= -POWER_LIMIT && p->power <= POWER_LIMIT;
}

static void scale(mpq_ptr q, unsigned long base, int power)
{
    mpz_t factor;
    mpz_init(factor);
    mpz_ui_pow_ui(factor, base, (unsigned long)abs(power));
    if (power < 0)
        mpz_mul(mpq_denref(q), mpq_denref(q), factor);
    else
        mpz_mul(mpq_numref(q), mpq_numref(q), factor);
    mpz_clear(factor);
    mpq_canonicalize(q);
}

void recipe_number_parse(mpq_ptr q, const char *text)
{
    if (!strncmp(text, "2^", 2)) {
        mpq_set_ui(q, 1, 1);
        scale(q, 2, power_of(text + 2));
        return;
    }
    pieces p;
    take_apart(text, &p);
    mpz_set_str(mpq_numref(q), p.digits, p.base);
    mpz_set_ui(mpq_denref(q), 1);
    if (p.base == 16)
        scale(q, 2, p.power - 4 * p.fraction);
    else
        scale(q, 10, p.power - p.fraction);
}

static bool within_digits(const char *text)
{
    if (!strncmp(text, "2^", 2)) {
        int power = power_of(text + 2);
        return power >= -POWER_LIMIT && power <= POWER_LIMIT;
    }
    pieces p;
    return take_apart(text, &p);
}

bool recipe_number_valid(const char *text)
{
    if (!within_digits(text))
        return false;
    mpq_t q;
    mpq_init(q);
    recipe_number_parse(q, text);
    long size = (long)mpz_sizeinbase(mpq_numref(q), 2) - (long)mpz_sizeinbase(mpq_denref(q), 2);
    bool zero = mpq_sgn(q) == 0;
    mpq_clear(q);
    return zero || (size >= -VALUE_LIMIT && size <= VALUE_LIMIT);
}

static char *copy_number(assay_arena *a, mpz_srcptr z, int base)
{
    char *s = mpz_get_str(NULL, base, z);
    char *copy = assay_arena_copy(a, s, strlen(s));
    void (*release)(void *, size_t);
    mp_get_memory_functions(NULL, NULL, &release);
    release(s, strlen(s) + 1);
    return copy;
}

/* m * 2^e with odd m: 2^e, or 0x1.HHHpE without trailing zeros. */
static char *binary_text(assay_arena *a, mpz_srcptr odd, long e)
{
    size_t bits = mpz_sizeinbase(odd, 2);
    if (bits == 1)
        return assay_arena_format(a, "2^%ld", e);
    size_t fraction = bits - 1, nibbles = (fraction + 3) / 4;
    mpz_t m;
    mpz_init(m);
    mpz_mul_2exp(m, odd, nibbles * 4 - fraction);
    char *hex = copy_number(a, m, 16); /* "1" and the digits of the fraction */
    mpz_clear(m);
    return assay_arena_format(a, "0x1.%sp%ld", hex + 1, e + (long)fraction);
}

/* A fraction whose denominator is 2^k, k <= 10, in plain decimals. */
static char *plain_text(assay_arena *a, mpq_srcptr q, size_t k)
{
    mpz_t n, five;
    mpz_init(n);
    mpz_init(five);
    mpz_ui_pow_ui(five, 5, k);
    mpz_mul(n, mpq_numref(q), five); /* the value times 10^k */
    char *digits = copy_number(a, n, 10);
    mpz_clear(five);
    mpz_clear(n);
    size_t length = strlen(digits);
    static const char zeros[] = "0000000000";
    if (length <= k)
        return assay_arena_format(a, "0.%.*s%s", (int)(k - length), zeros, digits);
    return assay_arena_format(a, "%.*s.%s", (int)(length - k), digits, digits + length - k);
}

/* M e -E with the shortest integer M. */
static char *decimal_text(assay_arena *a, mpq_srcptr q)
{
    mpz_t d, p;
    mpz_init(d);
    mpz_init_set_ui(p, 5);
    size_t twos = mpz_scan1(mpq_denref(q), 0);
    size_t fives = mpz_remove(d, mpq_denref(q), p);
    size_t e = twos > fives ? twos : fives;
    mpz_ui_pow_ui(p, 10, e);
    mpz_mul(d, mpq_numref(q), p);
    mpz_divexact(d, d, mpq_denref(q));
    char *m = copy_number(a, d, 10);
    mpz_clear(p);
    mpz_clear(d);
    return assay_arena_format(a, "%se-%zu", m, e);
}

char *recipe_number_text(assay_arena *a, mpq_srcptr q)
{
    if (mpq_sgn(q) == 0)
        return assay_arena_copy(a, "0", 1);
    bool whole = mpz_cmp_ui(mpq_denref(q), 1) == 0;
    if (whole && mpz_sizeinbase(mpq_numref(q), 2) <= 64)
        return copy_number(a, mpq_numref(q), 10);
    size_t twos = mpz_scan1(mpq_denref(q), 0);
    if (mpz_sizeinbase(mpq_denref(q), 2) != twos + 1)
        return decimal_text(a, q);
    if (!whole && twos <= 10)
        return plain_text(a, q, twos);
    mpz_t odd;
    mpz_init(odd);
    size_t shift = mpz_scan1(mpq_numref(q), 0);
    mpz_tdiv_q_2exp(odd, mpq_numref(q), shift);
    char *text = binary_text(a, odd, (long)shift - (long)twos);
    mpz_clear(odd);
    return text;
}

static bool parse_side(const char **s, int64_t *side)
{
    if (**s < '1' || **s > '9')
        return false;
    for (*side = 0; **s >= '0' && **s <= '9' && *side < 1 << 30; ++*s)
        *side = *side * 10 + (**s - '0');
    return *side < 1 << 30;
}

bool recipe_shape_parse(const char *text, assay_tile *tile)
{
    static const struct {
        const char *word;
        assay_tile tile;
    } named[] = {{"tensor", {0, 0}}, {"row", {1, 0}}, {"column", {0, 1}}, {"element", {1, 1}}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (!strcmp(named[i].word, text)) {
            *tile = named[i].tile;
            return true;
        }
    }
    return parse_side(&text, &tile->rows) && *text++ == 'x' && parse_side(&text, &tile->cols) &&
           *text == 0;
}
