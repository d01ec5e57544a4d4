/* assay formats [NAME]: the table, or all codes of one format. */
#include <math.h>
#include <string.h>

#include "command.h"

static const char help[] =
    "usage: assay formats [NAME] [--json]\n\n"
    "Without a name: the number formats, one a line. With a name: every code of that format\n"
    "(formats of at most 16 bits) with its class and value.\n\n"
    "  --json   an array; values as {dec, hex, bits}\n\n"
    "example: assay formats e2m1\n";

/* The code of the least normal number; then of the least subnormal one, false if there is none. */
static uint64_t least_normal(const assay_format *f)
{
    return f->kind == ASSAY_KIND_FLOAT     ? (uint64_t)1 << f->mantissa_bits
           : f->kind == ASSAY_KIND_INTEGER ? 1 : 0;
}

static bool least_subnormal(const assay_format *f, uint64_t *code)
{
    *code = 1;
    return assay_format_has_subnormals(f);
}

static json_t *format_json(const assay_format *f)
{
    uint64_t subnormal;
    bool has_subnormal = least_subnormal(f, &subnormal);
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:s}",
                     "name", f->name, "bits", assay_format_width(f),
                     "exponent_bits", f->exponent_bits, "mantissa_bits", f->mantissa_bits,
                     "bias", f->bias, "signed", f->is_signed,
                     "has_inf", assay_format_has_inf(f), "has_nan", assay_format_has_nan(f),
                     "has_neg_zero", assay_format_has_negative_zero(f),
                     "max", json_value(f, assay_format_max_code(f)),
                     "min_normal", json_value(f, least_normal(f)),
                     "min_subnormal", has_subnormal ? json_value(f, subnormal) : json_null(),
                     "source", f->source);
}

static int table_json(void)
{
    json_t *all = json_array();
    for (size_t i = 0; i < assay_format_count; i++)
        json_array_append_new(all, format_json(&assay_formats[i]));
    return print_json(all);
}

static const char *yes(bool b)
{
    return b ? "yes" : "-";
}

/* A least value is a power of two in every format. */
static const char *power_text(const assay_format *f, bool there, uint64_t code, char buffer[16])
{
    int exponent;
    frexp(assay_decode_double(f, code), &exponent);
    if (there)
        snprintf(buffer, 16, "2^%d", exponent - 1);
    else
        strcpy(buffer, "-");
    return buffer;
}

static int table_text(void)
{
    printf("%-12s %4s %4s %4s %5s %6s %4s %4s %3s  %-13s %-10s %s\n", "name", "bits", "exp", "man",
           "bias", "signed", "inf", "nan", "-0", "max", "min normal", "min subnormal");
    for (size_t i = 0; i < assay_format_count; i++) {
        const assay_format *f = &assay_formats[i];
        char normal[16], subnormal[16];
        uint64_t code;
        printf("%-12s %4d %4d %4d %5d %6s %4s %4s %3s  %-13.8g", f->name, assay_format_width(f),
               f->exponent_bits, f->mantissa_bits, f->bias, yes(f->is_signed),
               yes(assay_format_has_inf(f)), yes(assay_format_has_nan(f)),
               yes(assay_format_has_negative_zero(f)),
               assay_decode_double(f, assay_format_max_code(f)));
        printf(" %-10s", power_text(f, true, least_normal(f), normal));
        bool there = least_subnormal(f, &code);
        printf(" %s\n", power_text(f, there, code, subnormal));
    }
    return finish_output();
}

static int codes_json(const assay_format *f)
{
    json_t *all = json_array();
    for (uint64_t code = 0; code < (uint64_t)1 << assay_format_width(f); code++)
        json_array_append_new(
            all, json_pack("{s:I, s:s, s:o}", "code", (json_int_t)code, "class",
                           assay_class_name(assay_decode(f, code).class_), "value",
                           json_value(f, code)));
    return print_json(all);
}

static int codes_text(const assay_format *f)
{
    printf("%-8s %-10s %-18s %s\n", "code", "class", "value", "hex");
    for (uint64_t code = 0; code < (uint64_t)1 << assay_format_width(f); code++) {
        char bits[64], decimal[64], hex[64];
        value_bits(f, code, bits, sizeof bits);
        value_decimal(f, code, decimal, sizeof decimal);
        value_hex(f, code, hex, sizeof hex);
        printf("%-8s %-10s %-18s %s\n", bits, assay_class_name(assay_decode(f, code).class_),
               decimal, hex);
    }
    return finish_output();
}

int cmd_formats(int argc, char **argv)
{
    bool json = false;
    const char *name = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return finish_output();
        }
        if (!strcmp(argv[i], "--json"))
            json = true;
        else if (argv[i][0] == '-')
            return complain(STATUS_USAGE, "formats: there is no option '%s': see `assay formats "
                                          "--help`", argv[i]);
        else if (name)
            return complain(STATUS_USAGE, "formats: one name at a time, not '%s' and '%s'", name,
                            argv[i]);
        else
            name = argv[i];
    }
    if (!name)
        return json ? table_json() : table_text();
    const assay_format *f = assay_format_find(name);
    if (!f)
        return complain_no_format("formats", name);
    if (assay_format_width(f) > 16)
        return complain(STATUS_USAGE, "formats: %s has codes of %d bits, too many to list: "
                                      "`assay cast %s VALUE` shows single ones", name,
                        assay_format_width(f), name);
    return json ? codes_json(f) : codes_text(f);
}
