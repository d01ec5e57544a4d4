/* Number formats: one table row each; everything else is derived from the row. */
#ifndef ASSAY_FORMAT_H
#define ASSAY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How codes become values. */
typedef enum {
    ASSAY_KIND_FLOAT,  /* sign, exponent, fraction */
    ASSAY_KIND_POWER,  /* e8m0: code c is 2^(c - bias); no zero, no sign */
    ASSAY_KIND_INTEGER /* two's complement times 2^-bias: mxint8 (bias 6), int4, int8 (bias 0) */
} assay_format_kind;

/* Where infinities and NaNs live among the codes. */
typedef enum {
    ASSAY_SPECIAL_NONE,   /* every code is a finite number: e2m1, e2m3, e3m2, integers */
    ASSAY_SPECIAL_IEEE,   /* all-ones exponent: fraction 0 is Inf, the rest NaN: f16, e5m2 */
    ASSAY_SPECIAL_FN,     /* all-ones magnitude is NaN, no Inf: e4m3 (OCP), e8m0, ue5m3 */
    ASSAY_SPECIAL_FNUZ,   /* the code of -0 is the one NaN, no Inf: e4m3fnuz, e5m2fnuz */
    ASSAY_SPECIAL_P3109E, /* IEEE P3109 extended: NaN in the place of -0 (unsigned: all ones); Inf
                             is the largest magnitude code that is not NaN */
    ASSAY_SPECIAL_P3109F  /* IEEE P3109 finite: the same without Inf */
} assay_specials;

typedef struct {
    /* The row. */
    const char *name;   /* the word of the recipe language */
    assay_format_kind kind;
    assay_specials specials;
    bool is_signed;
    uint8_t exponent_bits;
    uint8_t mantissa_bits; /* stored fraction bits; precision is one more */
    int16_t bias;
    const char *source;    /* standard or vendor document of the row */
} assay_format;

/* All rows, `assay_format_count` of them; a format's identity is its address in this table. */
extern const assay_format assay_formats[];
extern const size_t assay_format_count;

/* The row of that name, or NULL. Also knows no aliases: one word a format. */
const assay_format *assay_format_find(const char *name);
static inline int assay_format_id(const assay_format *f)
{
    return (int)(f - assay_formats);
}

/* Derived from the row. Codes are right-aligned in a uint64_t; bits above `width` are zero. */
int assay_format_width(const assay_format *f);      /* bits of a code: 1..64 (tf32: 19) */
int assay_format_storage(const assay_format *f);    /* bytes of a code in a grid: 1, 2, 4 or 8 */
int assay_format_precision(const assay_format *f);  /* significand bits of a normal number */
int assay_format_emin(const assay_format *f);       /* exponent of the least normal: f32 -126 */
int assay_format_emax(const assay_format *f);       /* floor(log2(max)) */
bool assay_format_has_inf(const assay_format *f);
bool assay_format_has_nan(const assay_format *f);
bool assay_format_has_negative_zero(const assay_format *f);
bool assay_format_has_zero(const assay_format *f);
bool assay_format_has_subnormals(const assay_format *f);
uint64_t assay_format_max_code(const assay_format *f);    /* the largest finite value */
/* The table's NaN: IEEE: quiet, the top fraction bit alone. Without NaN: +max; integers: 0. */
uint64_t assay_format_nan_code(const assay_format *f);
uint64_t assay_format_inf_code(const assay_format *f, bool negative); /* asserts has_inf */
uint64_t assay_format_sign_bit(const assay_format *f);    /* 0 for unsigned formats */

typedef enum {
    ASSAY_CLASS_ZERO,
    ASSAY_CLASS_SUBNORMAL,
    ASSAY_CLASS_NORMAL,
    ASSAY_CLASS_INFINITY,
    ASSAY_CLASS_NAN
} assay_class;
const char *assay_class_name(assay_class c);

/* A code taken apart: value = (-1)^negative * significand * 2^exponent for zero, subnormal and
 * normal; the exact value of every format up to f64 has this shape with significand < 2^53. */
typedef struct {
    assay_class class_;
    bool negative;
    uint64_t significand;
    int exponent;
} assay_parts;
assay_parts assay_decode(const assay_format *f, uint64_t code); /* bits above width are ignored */

/* The value as a double (exact for every row; NaN for NaN). */
double assay_decode_double(const assay_format *f, uint64_t code);

/* Ordinal: monotonic in the value over all codes that are not NaN; -0 and +0 both have ordinal 0;
 * neighbours differ by one. ULP distance of two codes is the difference of their ordinals.
 * A NaN has no ordinal (asserts). */
int64_t assay_ordinal(const assay_format *f, uint64_t code);
/* The code of an ordinal (+0 for 0); asserts that it is in range. */
uint64_t assay_ordinal_code(const assay_format *f, int64_t ordinal);
int64_t assay_ordinal_min(const assay_format *f); /* of -Inf, else -max, else 0 (e8m0: of code 0) */
int64_t assay_ordinal_max(const assay_format *f); /* of +Inf, else max */

#endif
