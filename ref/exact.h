/* Exact values: a thin layer over MPFR. Nothing here rounds to a format; ref/round does. */
#ifndef ASSAY_EXACT_H
#define ASSAY_EXACT_H

#include <gmp.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

#include "format.h"

/* Precision of intermediate values. Every format up to f64 has p <= 53; with truncation and a
 * sticky bit 160 bits keep all that any rounding mode needs (no double rounding). */
enum { ASSAY_EXACT_PRECISION = 160 };

typedef enum { ASSAY_EXACT_NAN, ASSAY_EXACT_INF, ASSAY_EXACT_FINITE } assay_exact_class;

/* |true value| lies in [|v|, |v| + one unit in the 160th place); sticky says it is not v itself.
 * v is rounded toward zero. The sign of zero is v's; the sign of Inf and of NaN is `negative`. */
typedef struct {
    assay_exact_class class_;
    bool negative;
    bool sticky;
    mpfr_t v;
} assay_exact;

void assay_exact_init(assay_exact *x); /* +0 */
void assay_exact_clear(assay_exact *x);
void assay_exact_set(assay_exact *x, const assay_exact *y);
void assay_exact_set_code(assay_exact *x, const assay_format *f, uint64_t code);
void assay_exact_set_q(assay_exact *x, mpq_srcptr q); /* truncated, sticky if inexact */
void assay_exact_set_i64(assay_exact *x, int64_t i);
void assay_exact_set_u64(assay_exact *x, uint64_t u);
void assay_exact_set_inf(assay_exact *x, bool negative);
void assay_exact_set_nan(assay_exact *x, bool negative);
/* From an MPFR result computed with MPFR_RNDZ into x->v and its ternary value: classifies. */
void assay_exact_from_mpfr(assay_exact *x, int ternary);

/* Decimal, hex float (0x1.8p3), "nan", "inf", "-inf" as an exact rational; false if it is none of
 * these. A rational that has no finite binary expansion is truncated with sticky set. */
bool assay_exact_parse(assay_exact *x, const char *text);

#endif
