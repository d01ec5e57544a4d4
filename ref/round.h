/* Every rounding mode and overflow rule, in one function, on exact values. */
#ifndef ASSAY_ROUND_H
#define ASSAY_ROUND_H

#include "exact.h"
#include "format.h"

/* Words of LANGUAGE.md section 8; names by assay_mode_name. */
typedef enum {
    ASSAY_EVEN,
    ASSAY_AWAY,
    ASSAY_TIES_ZERO,
    ASSAY_ZERO,
    ASSAY_UP,
    ASSAY_DOWN,
    ASSAY_ODD,
    ASSAY_STOCHASTIC
} assay_mode;
enum { ASSAY_MODE_COUNT = 8 };

typedef enum { ASSAY_SAT, ASSAY_SATFIN, ASSAY_NOSAT } assay_overflow;

/* How a cast rounds. Start from assay_cast_default(f). */
typedef struct {
    assay_mode mode;
    assay_overflow overflow;
    uint64_t nan_code;     /* the code for a NaN */
    bool nan_sign;         /* or the NaN's sign into that code */
    bool ftz;              /* a subnormal result becomes zero of its sign */
    uint8_t random_bits;   /* stochastic: n, 1..63 */
} assay_cast;

/* even; sat for formats of at most 16 bits other than f16 and bf16, else nosat; the table's NaN. */
assay_cast assay_cast_default(const assay_format *f);

typedef struct {
    uint64_t code;
    int8_t ternary;  /* sign of (rounded value - exact value); 0 if exact or NaN */
    bool inexact;
    bool overflow;   /* magnitude after rounding with unbounded exponent was above max (or Inf in) */
    bool underflow;  /* inexact and the result is subnormal or zero (e8m0: |x| below the least) */
    bool tie;        /* exactly halfway between two neighbouring codes */
} assay_rounded;

/* Rounds x once to format f. `random` is used by ASSAY_STOCHASTIC only. Total: every x, f, cast.
 * The corners of LANGUAGE.md 8:
 * - Unsigned formats round |x|; ternary and the other flags are those of |x|.
 * - Without saturation a finite overflow that stays inside in mode `odd` is the one whose max has an
 *   odd code (IEEE formats, FNUZ); otherwise the overflow code is the odd neighbour.
 * - An overflow to NaN gives the table's NaN with the value's sign; `nan` and `nan_sign` are about
 *   NaN operands. e8m0 without saturation gives 0xFF above 2^127 in every mode.
 * - A tie is judged on the format as if its exponents had no end: 464 in e4m3 is one (448, 480).
 * - e8m0 below 2^-127: code 0, inexact and underflow. NaN to a format without NaN: not inexact. */
assay_rounded assay_round(const assay_format *f, const assay_exact *x, const assay_cast *cast,
                          uint64_t random);

/* The arithmetic `ftz` of LANGUAGE.md section 7 (f32 results of add, mul, ... with option ftz):
 * rounds to 24 bits with unbounded exponent, then to zero of its sign below 2^-126. */
assay_rounded assay_round_flush(const assay_format *f, const assay_exact *x, const assay_cast *cast);

const char *assay_mode_name(assay_mode m);         /* "even", "away", ... */
const char *assay_overflow_name(assay_overflow o); /* "sat", "satfin", "nosat" */
bool assay_mode_find(const char *word, assay_mode *m);
bool assay_overflow_find(const char *word, assay_overflow *o);

#endif
