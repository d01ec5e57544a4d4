/* assay cast FMT VALUE...: one rounding by the exact encoder, with both neighbours. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char help[] =
    "usage: assay cast FMT VALUE... [OPTIONS]\n\n"
    "Rounds each value once to the format FMT and shows the code, the value, the sign of the\n"
    "rounding error, and the two values of FMT around the input. Unsigned formats take |VALUE|.\n"
    "VALUE: decimal, hex float (0x1.8p3), 2^-9, nan, -inf, or with --from the bits 0x...;\n"
    "`-` reads values from standard input, one a line.\n\n"
    "  --from exact|FMT2   what VALUE is: an exact number (default), or a value of FMT2 (text is\n"
    "                      first rounded to nearest in FMT2): f32, f64, bf16, f16, ...\n"
    "  --round MODE        even (default) away ties_zero zero up down odd stochastic\n"
    "  --random-bits HEX --nbits N   the random bits of stochastic: N of them, 1 to 63\n"
    "  --overflow sat|satfin|nosat   default: as in the recipe language (sat up to 16 bits, but\n"
    "                      nosat for f16 and bf16)\n"
    "  --nan HEX, --nan-sign, --ftz  as in the recipe language\n"
    "  --json              an array of {input, code, value, ternary, below, above, tie, inexact,\n"
    "                      overflow, underflow}; below and above are the input itself where FMT\n"
    "                      has it, null where FMT ends; code null: the next value if FMT went on\n"
    "                      (as text in parentheses)\n\n"
    "example: assay cast e4m3 464 0x1.8p-10 -1e9 --overflow nosat\n";

typedef struct {
    const assay_format *to, *from; /* from: NULL for exact */
    assay_cast cast;
    uint64_t random;
    bool json, has_heading, has_random, has_overflow, has_nan;
    json_t *results;
} job;

/* ---- one value ---- */

typedef enum { FMT_ENDS, IS_CODE, IS_BEYOND } neighbour_kind;

/* A value of FMT beside the input; IS_BEYOND: the next value that FMT would have if its exponents
 * had no end, which is what overflow and ties at the end of the range are judged by. */
typedef struct {
    neighbour_kind kind;
    uint64_t code;  /* IS_CODE: of FMT; IS_BEYOND: of f64 */
} neighbour;

static double signed_as(double magnitude, bool negative)
{
    return negative ? -magnitude : magnitude;
}

/* Sign of (x - value), where unsigned formats see |x|. */
static int compare(const assay_format *f, const assay_exact *x, double value)
{
    bool flip = !f->is_signed && mpfr_signbit(x->v);
    int order = mpfr_cmp_d(x->v, signed_as(value, flip));
    if (order == 0 && x->sticky)
        order = mpfr_signbit(x->v) ? -1 : 1;
    return flip ? -order : order;
}

static neighbour beyond(const assay_format *f, const assay_exact *x, bool negative)
{
    int unit = f->kind == ASSAY_KIND_INTEGER ? -f->bias : assay_format_emax(f) - f->mantissa_bits;
    int64_t end = negative ? assay_ordinal_min(f) : assay_ordinal_max(f);
    double last = assay_decode_double(f, assay_ordinal_code(f, end));
    double next = last + signed_as(ldexp(1, unit), negative);
    int order = compare(f, x, next);
    neighbour n = {FMT_ENDS, 0};
    if (negative ? order >= 0 : order <= 0) {
        n.kind = IS_BEYOND;
        memcpy(&n.code, &next, sizeof n.code);
    }
    return n;
}

/* The value of FMT next to x on one side; x itself if FMT has it. */
static neighbour beside(const assay_format *f, const assay_exact *x, bool above)
{
    bool negative = x->negative && f->is_signed;
    if (x->class_ == ASSAY_EXACT_NAN)
        return (neighbour){FMT_ENDS, 0};
    if (x->class_ == ASSAY_EXACT_INF) {
        int64_t end = negative ? assay_ordinal_min(f) : assay_ordinal_max(f);
        bool there = assay_format_has_inf(f) || above == negative;
        return (neighbour){there ? IS_CODE : FMT_ENDS, assay_ordinal_code(f, end)};
    }
    assay_cast cast = assay_cast_default(f);
    cast.mode = above ? ASSAY_UP : ASSAY_DOWN;
    cast.overflow = ASSAY_NOSAT;
    uint64_t code = assay_round(f, x, &cast, 0).code;
    if (assay_decode(f, code).class_ != ASSAY_CLASS_NAN) {
        int order = compare(f, x, assay_decode_double(f, code));
        if (above ? order <= 0 : order >= 0)
            return (neighbour){IS_CODE, code};
    }
    return above != negative ? beyond(f, x, negative) : (neighbour){FMT_ENDS, 0};
}

static json_t *code_json(const assay_format *f, uint64_t code)
{
    char bits[64];
    value_bits(f, code, bits, sizeof bits);
    return assay_format_width(f) <= 53 ? json_integer((json_int_t)code) : json_string(bits);
}

static json_t *neighbour_json(const assay_format *f, const assay_exact *x, bool above)
{
    neighbour n = beside(f, x, above);
    if (n.kind == FMT_ENDS)
        return json_null();
    if (n.kind == IS_CODE)
        return json_pack("{s:o, s:o}", "code", code_json(f, n.code), "value",
                         json_value(f, n.code));
    json_t *value = json_value(assay_format_find("f64"), n.code);
    json_object_set_new(value, "bits", json_null());
    return json_pack("{s:n, s:o}", "code", "value", value);
}

static void print_neighbour(const assay_format *f, const assay_exact *x, bool above)
{
    char text[64] = "-", decimal[60];
    neighbour n = beside(f, x, above);
    if (n.kind == IS_CODE) {
        value_decimal(f, n.code, text, sizeof text);
    } else if (n.kind == IS_BEYOND) {
        value_decimal(assay_format_find("f64"), n.code, decimal, sizeof decimal);
        snprintf(text, sizeof text, "(%s)", decimal);
    }
    printf(" %-14s", text);
}

static void report(job *j, const char *input, const assay_exact *x)
{
    const assay_format *f = j->to;
    assay_rounded r = assay_round(f, x, &j->cast, j->random);
    if (j->json) {
        json_array_append_new(
            j->results,
            json_pack("{s:s, s:o, s:o, s:i, s:o, s:o, s:b, s:b, s:b, s:b}", "input", input, "code",
                      code_json(f, r.code), "value", json_value(f, r.code), "ternary", r.ternary,
                      "below", neighbour_json(f, x, false), "above", neighbour_json(f, x, true),
                      "tie", r.tie, "inexact", r.inexact, "overflow", r.overflow, "underflow",
                      r.underflow));
        return;
    }
    if (!j->has_heading)
        printf("%-20s %-10s %-14s %-14s %2s %-14s %-14s\n", "input", "code", "value", "hex", "+-",
               "below", "above");
    j->has_heading = true;
    char bits[64], decimal[64], hex[64];
    value_bits(f, r.code, bits, sizeof bits);
    value_decimal(f, r.code, decimal, sizeof decimal);
    value_hex(f, r.code, hex, sizeof hex);
    printf("%-20s %-10s %-14s %-14s %2d", input, bits, decimal, hex, r.ternary);
    print_neighbour(f, x, false);
    print_neighbour(f, x, true);
    printf(" %s%s%s%s\n", r.inexact ? "inexact" : "exact", r.tie ? " tie" : "",
           r.overflow ? " overflow" : "", r.underflow ? " underflow" : "");
}

static bool is_bits(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strpbrk(text, "pP.");
}

/* Hex digits, with or without 0x, up to 64 bits. */
static bool parse_hex(const char *text, uint64_t *value)
{
    const char *digits = text + (is_bits(text) ? 2 : 0);
    char *end;
    if (!isxdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *value = strtoull(digits, &end, 16);
    return *end == '\0' && errno == 0;
}

static int cast_bits(job *j, const char *text, assay_exact *x)
{
    uint64_t code;
    if (!j->from)
        return complain(STATUS_USAGE, "cast: %s: bits of which format? Say --from f32 (a hex number "
                                      "is written %sp0)", text, text);
    int width = assay_format_width(j->from);
    if (!parse_hex(text, &code) || (width < 64 && code >> width))
        return complain(STATUS_USAGE, "cast: %s: not a code of %s, which has %d bits", text,
                        j->from->name, width);
    assay_exact_set_code(x, j->from, code);
    report(j, text, x);
    return STATUS_OK;
}

static int cast_text(job *j, const char *text)
{
    assay_exact x;
    int status = STATUS_OK;
    assay_exact_init(&x);
    if (is_bits(text)) {
        status = cast_bits(j, text, &x);
    } else if (!assay_exact_parse(&x, text)) {
        status = complain(STATUS_USAGE, "cast: '%s' is no value: decimal, hex float, 2^N, nan, inf, "
                                        "or with --from bits 0x...", text);
    } else {
        if (j->from) {
            assay_cast nearest = assay_cast_default(j->from);
            bool sign = x.class_ == ASSAY_EXACT_NAN && x.negative;
            assay_exact_set_code(&x, j->from, assay_round(j->from, &x, &nearest, 0).code);
            if (sign)
                assay_exact_set_nan(&x, true);
        }
        report(j, text, &x);
    }
    assay_exact_clear(&x);
    return status;
}

/* One value a line; blank lines are skipped; all of a line must be the value. */
static int cast_stdin(job *j)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int status = STATUS_OK, number = 0;
    while (status == STATUS_OK && (length = getline(&line, &capacity, stdin)) >= 0) {
        number++;
        if (memchr(line, '\0', (size_t)length)) {
            status = complain(STATUS_USAGE, "cast: the line has a NUL byte: give text");
        } else {
            char *start = line + strspn(line, " \t\r\n"), *end = start + strlen(start);
            while (end > start && strchr(" \t\r\n", end[-1]))
                *--end = '\0';
            if (*start)
                status = cast_text(j, start);
        }
        if (status != STATUS_OK)
            complain(status, "cast: that is line %d of standard input; nothing after it was read",
                     number);
    }
    if (status == STATUS_OK && ferror(stdin))
        status = complain(STATUS_FILE, "cast: standard input: %s", strerror(errno));
    free(line);
    return status;
}

/* ---- options ---- */

static int set_nbits(job *j, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (*end || end == value || n < 1 || n > 63)
        return complain(STATUS_USAGE, "cast: --nbits %s: a number from 1 to 63", value);
    j->cast.random_bits = (uint8_t)n;
    return STATUS_OK;
}

/* Sets the option `name` from its value. */
static int set_option(job *j, const char *name, const char *value)
{
    if (!strcmp(name, "--from")) {
        j->from = assay_format_find(value);
        if (!j->from && strcmp(value, "exact"))
            return complain(STATUS_USAGE, "cast: --from %s: exact, or a format of `assay formats`",
                            value);
    } else if (!strcmp(name, "--round")) {
        if (!assay_mode_find(value, &j->cast.mode))
            return complain(STATUS_USAGE, "cast: --round %s: one of even away ties_zero zero up "
                                          "down odd stochastic", value);
    } else if (!strcmp(name, "--overflow")) {
        j->has_overflow = true;
        if (!assay_overflow_find(value, &j->cast.overflow))
            return complain(STATUS_USAGE, "cast: --overflow %s: one of sat satfin nosat", value);
    } else if (!strcmp(name, "--random-bits")) {
        j->has_random = true;
        if (!parse_hex(value, &j->random))
            return complain(STATUS_USAGE, "cast: --random-bits %s: hex digits, at most 64 bits",
                            value);
    } else if (!strcmp(name, "--nan")) {
        j->has_nan = true;
        if (!parse_hex(value, &j->cast.nan_code))
            return complain(STATUS_USAGE, "cast: --nan %s: a code in hex digits", value);
    } else {
        return set_nbits(j, value);
    }
    return STATUS_OK;
}

static bool takes_value(const char *name, size_t length)
{
    static const char *const names[] = {"--from", "--round", "--overflow", "--random-bits",
                                        "--nbits", "--nan"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], name, length))
            return true;
    return false;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && (word[1] == '-' || !strcmp(word, "-h"));
}

/* Reads the option at argv[*i]; steps over its value. */
static int read_option(job *j, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    char name[32];
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    if (!strcmp(word, "--json"))
        j->json = true;
    else if (!strcmp(word, "--nan-sign"))
        j->cast.nan_sign = true;
    else if (!strcmp(word, "--ftz"))
        j->cast.ftz = true;
    else if (!takes_value(word, length))
        return complain(STATUS_USAGE, "cast: there is no option '%s': see `assay cast --help`", word);
    else if (!equals && *i + 1 >= argc)
        return complain(STATUS_USAGE, "cast: %s needs a value", word);
    else {
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        return set_option(j, name, equals ? equals + 1 : argv[++*i]);
    }
    return STATUS_OK;
}

/* The format is known after all options are: defaults that depend on it are filled in here. */
static int settle(job *j, const char *format)
{
    if (!format)
        return complain(STATUS_USAGE, "cast: which format? See `assay cast --help`");
    j->to = assay_format_find(format);
    if (!j->to)
        return complain_no_format("cast", format);
    assay_cast defaults = assay_cast_default(j->to);
    if (!j->has_overflow)
        j->cast.overflow = defaults.overflow;
    if (!j->has_nan)
        j->cast.nan_code = defaults.nan_code;
    int width = assay_format_width(j->to);
    if (width < 64 && j->cast.nan_code >> width)
        return complain(STATUS_USAGE, "cast: --nan: %s has codes of %d bits", format, width);
    bool stochastic = j->cast.mode == ASSAY_STOCHASTIC;
    if (stochastic && (!j->has_random || !j->cast.random_bits))
        return complain(STATUS_USAGE, "cast: stochastic rounding needs --random-bits HEX and "
                                      "--nbits N");
    if (!stochastic && (j->has_random || j->cast.random_bits))
        return complain(STATUS_USAGE, "cast: --random-bits and --nbits belong to --round stochastic");
    return STATUS_OK;
}

static int cast_all(job *j, char **values, int count)
{
    int status = STATUS_OK;
    if (j->json)
        j->results = json_array();
    for (int i = 0; i < count && status == STATUS_OK; i++)
        status = strcmp(values[i], "-") ? cast_text(j, values[i]) : cast_stdin(j);
    if (!j->json)
        return status_worst(status, finish_output());
    if (status == STATUS_OK)
        return print_json(j->results);
    json_decref(j->results);
    return status;
}

int cmd_cast(int argc, char **argv)
{
    job j = {.cast.mode = ASSAY_EVEN};
    char **values = calloc((size_t)argc, sizeof *values);
    const char *format = NULL;
    int count = 0, status = values ? STATUS_OK : complain(STATUS_FILE, "cast: out of memory");
    bool only_words = false;
    for (int i = 1; i < argc && status == STATUS_OK; i++) {
        if (!only_words && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
            fputs(help, stdout);
            free(values);
            return finish_output();
        }
        if (!only_words && !strcmp(argv[i], "--"))
            only_words = true;
        else if (!only_words && is_option(argv[i]))
            status = read_option(&j, argc, argv, &i);
        else if (!format)
            format = argv[i];
        else
            values[count++] = argv[i];
    }
    if (status == STATUS_OK)
        status = settle(&j, format);
    if (status == STATUS_OK && count == 0)
        status = complain(STATUS_USAGE, "cast: which values? `-` reads them from standard input");
    if (status == STATUS_OK)
        status = cast_all(&j, values, count);
    free(values);
    return status;
}
