/* Text -> tokens. */
#include <string.h>

#include "recipe_syntax.h"

static const char *const words[] = {
    "recipe", "source", "param", "in", "out", "require", "nan", "layout", "unspecified", "use",
    "decode", "tensor", "row", "column", "block", "element", "per", "table", "any", "feeds", "pad",
    "as", "when", "if", "then", "else", "and", "or", "not", "u8", "u32", "i32", "u64", "bool", "col",
    "index", "M", "K",
    /* functions and reductions */
    "add", "sub", "mul", "div", "fma", "sqrt", "rint", "ldexp", "flush", "exp", "exp2", "log2",
    "clamp", "approx", "min", "max", "abs", "copysign", "signbit", "isnan", "isinf", "pow2",
    "exponent", "bits", "code", "xor", "at", "philox", "hadamard", "rotate", "rcp_approx",
    "div_full", "amax", "amax_nan", "all", "count", "sum", "dot",
    /* options */
    "even", "away", "ties_zero", "zero", "up", "down", "odd", "stochastic", "sat", "satfin", "nosat",
    "nan_sign", "ftz", "seq", "tree", "pairs", "exact"};

bool recipe_is_word(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i], text))
            return true;
    return assay_format_find(text) != NULL;
}

bool recipe_is_token(token t, const char *text)
{
    return (t.kind == TOKEN_NAME || t.kind == TOKEN_SIGN) && !strcmp(t.text, text);
}

typedef struct {
    assay_recipe *r;
    recipe_failure *f;
    const char *s, *end; /* what is left */
    int line, column;    /* of *s */
    int parentheses;
    token *tokens;
    int count;
} lexer;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_inner(char c)
{
    return is_letter(c) || is_digit(c);
}

static char peek(const lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->s) > ahead ? l->s[ahead] : 0;
}

static token here(const lexer *l)
{
    return (token){.line = l->line, .column = l->column};
}

static _Noreturn void fail_here(lexer *l, const char *text)
{
    recipe_fail(l->f, l->r, here(l), "%s", text);
}

/* Length of the UTF-8 sequence at s, 0 if it is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (n < 2 || n > left)
        return n == 1 ? 1 : 0;
    uint32_t point = s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        point = point << 6 | (s[i] & 0x3Fu);
    }
    bool surrogate = point >= 0xD800 && point < 0xE000;
    return point < least[n] || point > 0x10FFFF || surrogate ? 0 : n;
}

/* Steps over one character of a comment or string. */
static void skip_character(lexer *l)
{
    size_t n = utf8_length((const unsigned char *)l->s, (size_t)(l->end - l->s));
    if (!n || ((unsigned char)*l->s < ' ' && *l->s != '\t' && *l->s != '\r'))
        fail_here(l, "this character begins no word of the language");
    l->s += n;
    l->column++;
}

static void push(lexer *l, token_kind kind, size_t length, size_t skip)
{
    token *t = ARENA_PUSH(l->r->arena, l->tokens, l->count);
    *t = here(l);
    t->kind = kind;
    t->text = assay_arena_copy(l->r->arena, l->s + skip, length - 2 * skip);
}

static void take(lexer *l, token_kind kind, size_t length)
{
    push(l, kind, length, 0);
    l->s += length;
    l->column += (int)length;
}

static size_t digits(const lexer *l, size_t at, bool (*is)(char))
{
    size_t n = at;
    while (is(peek(l, n)))
        n++;
    return n;
}

/* The end of an exponent "p-3" at `at`, or `at` if there is none. */
static size_t exponent(const lexer *l, size_t at, char lower, char upper)
{
    if (peek(l, at) != lower && peek(l, at) != upper)
        return at;
    size_t n = at + 1 + (peek(l, at + 1) == '+' || peek(l, at + 1) == '-');
    return is_digit(peek(l, n)) ? digits(l, n, is_digit) : at;
}

static size_t hex_length(lexer *l)
{
    size_t n = digits(l, 2, is_hex);
    if (n == 2)
        fail_here(l, "expected hexadecimal digits");
    if (peek(l, n) == '.') {
        n = digits(l, n + 1, is_hex);
        size_t end = exponent(l, n, 'p', 'P');
        if (end == n)
            fail_here(l, "expected a power of two behind a hexadecimal fraction, as in 0x1.8p-3");
        return end;
    }
    return exponent(l, n, 'p', 'P');
}

static void lex_number(lexer *l)
{
    size_t n = digits(l, 0, is_digit);
    token_kind kind = TOKEN_NUMBER;
    if (*l->s == '0' && n == 1 && (peek(l, 1) == 'x' || peek(l, 1) == 'X')) {
        n = hex_length(l);
    } else if (peek(l, n) == 'x' && peek(l, n + 1) >= '1' && peek(l, n + 1) <= '9') {
        kind = TOKEN_SHAPE;
        n = digits(l, n + 1, is_digit);
    } else if (n == 1 && *l->s == '2' && peek(l, 1) == '^') {
        n = 2 + (peek(l, 2) == '-');
        if (!is_digit(peek(l, n)))
            fail_here(l, "expected a whole number behind 2^");
        n = digits(l, n, is_digit);
    } else {
        if (peek(l, n) == '.') {
            n++;
            if (!is_digit(peek(l, n)))
                fail_here(l, "expected a digit behind the decimal point");
            n = digits(l, n, is_digit);
        }
        n = exponent(l, n, 'e', 'E');
    }
    if (is_inner(peek(l, n)) || peek(l, n) == '.' || peek(l, n) == '^')
        fail_here(l, "expected a number or a shape");
    take(l, kind, n);
    const char *text = l->tokens[l->count - 1].text;
    assay_tile tile;
    if (kind == TOKEN_SHAPE ? !recipe_shape_parse(text, &tile) : !recipe_number_valid(text))
        recipe_fail(l->f, l->r, l->tokens[l->count - 1],
                    kind == TOKEN_SHAPE ? "expected a shape RxC of numbers below 2^30 without leading "
                                          "zero"
                                        : "expected a number of at most 400 digits, between 2^-1200 "
                                          "and 2^1200");
}

static void lex_name(lexer *l)
{
    size_t n = digits(l, 0, is_inner);
    while (peek(l, n) == '.' && is_inner(peek(l, n + 1)))
        n = digits(l, n + 1, is_inner);
    take(l, TOKEN_NAME, n);
}

static void lex_string(lexer *l)
{
    lexer start = *l;
    skip_character(l);
    while (l->s < l->end && *l->s != '"' && *l->s != '\n')
        skip_character(l);
    if (peek(l, 0) != '"')
        fail_here(l, "expected \" at the end of the string");
    skip_character(l);
    size_t length = (size_t)(l->s - start.s);
    start.tokens = l->tokens;
    push(&start, TOKEN_STRING, length, 1);
    l->tokens = start.tokens;
    l->count = start.count;
}

static void lex_sign(lexer *l)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<<", ">>", "=", "<", ">", "&", "|",
                                        "+",  "-",  "*",  "/",  "%",  "(",  ")", "[", "]", ",", ":"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t n = strlen(signs[i]);
        if ((size_t)(l->end - l->s) < n || memcmp(l->s, signs[i], n))
            continue;
        l->parentheses += *l->s == '(' ? 1 : *l->s == ')' && l->parentheses ? -1 : 0;
        take(l, TOKEN_SIGN, n);
        return;
    }
    fail_here(l, "this character begins no word of the language");
}

static void lex_newline(lexer *l)
{
    bool first = l->count == 0 || l->tokens[l->count - 1].kind == TOKEN_NEWLINE;
    if (!first && l->parentheses == 0)
        push(l, TOKEN_NEWLINE, 0, 0);
    l->s++;
    l->line++;
    l->column = 1;
}

token *recipe_lex(assay_recipe *r, recipe_failure *f, size_t length, int *count)
{
    lexer l = {.r = r, .f = f, .s = r->text, .end = r->text + length, .line = 1, .column = 1};
    while (l.s < l.end) {
        char c = *l.s;
        if (c == '\n')
            lex_newline(&l);
        else if (c == ' ' || c == '\t' || c == '\r')
            l.s++, l.column++;
        else if (c == '#')
            while (l.s < l.end && *l.s != '\n')
                skip_character(&l);
        else if (is_letter(c))
            lex_name(&l);
        else if (is_digit(c))
            lex_number(&l);
        else if (c == '"')
            lex_string(&l);
        else
            lex_sign(&l);
    }
    if (l.count && l.tokens[l.count - 1].kind != TOKEN_NEWLINE)
        push(&l, TOKEN_NEWLINE, 0, 0);
    push(&l, TOKEN_END, 0, 0);
    *count = l.count;
    return l.tokens;
}
