/* A code as text: shortest decimal, hex float, bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* True if it was a NaN or an infinity; then the text is written. */
static bool special_text(assay_parts parts, char *buffer, size_t size)
{
    if (parts.class_ == ASSAY_CLASS_NAN)
        snprintf(buffer, size, "nan");
    else if (parts.class_ == ASSAY_CLASS_INFINITY)
        snprintf(buffer, size, "%sinf", parts.negative ? "-" : "");
    else
        return false;
    return true;
}

/* Every format but f64 lies inside f32, so "reads back" is judged there: 448 in e4m3 is "448", not
 * the shorter "450" that e4m3 alone would take for it. */
static bool reads_back(const char *text, double value, bool as_f64)
{
    return as_f64 ? strtod(text, NULL) == value : (double)strtof(text, NULL) == value;
}

void value_decimal(const assay_format *f, uint64_t code, char *buffer, size_t size)
{
    if (special_text(assay_decode(f, code), buffer, size))
        return;
    double value = assay_decode_double(f, code);
    bool as_f64 = assay_format_width(f) > 32;
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(buffer, size, "%.*e", digits - 1, value);
        if (reads_back(buffer, value, as_f64))
            break;
    }
    snprintf(buffer, size, "%.*e", digits - 1, value);
    int exponent = (int)strtol(strchr(buffer, 'e') + 1, NULL, 10);
    if (exponent >= -5 && exponent < 16)
        snprintf(buffer, size, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, value);
}

void value_hex(const assay_format *f, uint64_t code, char *buffer, size_t size)
{
    assay_parts parts = assay_decode(f, code);
    const char *sign = parts.negative ? "-" : "";
    if (special_text(parts, buffer, size))
        return;
    if (parts.significand == 0) {
        snprintf(buffer, size, "%s0x0p+0", sign);
        return;
    }
    int up = __builtin_clzll(parts.significand);
    uint64_t fraction = parts.significand << up << 1; /* the leading one is shifted out */
    int exponent = parts.exponent + 63 - up, digits = 16;
    if (fraction == 0) {
        snprintf(buffer, size, "%s0x1p%+d", sign, exponent);
        return;
    }
    for (; (fraction & 0xF) == 0; digits--)
        fraction >>= 4;
    snprintf(buffer, size, "%s0x1.%0*llxp%+d", sign, digits, (unsigned long long)fraction, exponent);
}

void value_bits(const assay_format *f, uint64_t code, char *buffer, size_t size)
{
    snprintf(buffer, size, "0x%0*llx", (assay_format_width(f) + 3) / 4, (unsigned long long)code);
}

json_t *json_value(const assay_format *f, uint64_t code)
{
    char decimal[64], hex[64], bits[64];
    value_decimal(f, code, decimal, sizeof decimal);
    value_hex(f, code, hex, sizeof hex);
    value_bits(f, code, bits, sizeof bits);
    return json_pack("{s:s, s:s, s:s}", "dec", decimal, "hex", hex, "bits", bits);
}
