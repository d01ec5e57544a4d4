/* The fast conversion: integers only, no MPFR, no code shared with ref/round; proved equal to it. */
#ifndef ASSAY_CONVERT_H
#define ASSAY_CONVERT_H

#include "round.h" /* for the option words alone */

/* One value given as the bits of an f64 (or of an f32) to any format. Total. */
assay_rounded assay_convert_f64(const assay_format *f, uint64_t f64_bits, const assay_cast *cast,
                                uint64_t random);
assay_rounded assay_convert_f32(const assay_format *f, uint32_t f32_bits, const assay_cast *cast,
                                uint64_t random);
/* One value given as a code of any format (widened exactly inside). */
assay_rounded assay_convert_code(const assay_format *to, const assay_format *from, uint64_t code,
                                 const assay_cast *cast, uint64_t random);

/* Bulk: n f32 values (as bits) to codes in the format's storage (assay_format_storage(f) bytes
 * each). Deterministic modes only; vector code where the format and cast allow it, else scalar.
 * `to` and `from` must not overlap. */
void assay_convert_f32_array(const assay_format *f, const assay_cast *cast, const uint32_t *from,
                             void *to, size_t n);
/* Bulk decode of codes in storage to f32 bits (every format but f64). NaN: canonical 0x7FC00000,
 * sign dropped, unless the source is f32 itself (copied). */
void assay_decode_f32_array(const assay_format *f, const void *from, uint32_t *to, size_t n);

#endif
