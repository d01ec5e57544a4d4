/* What the reciprocal instruction of NVIDIA GPUs answers, as differences to the right answer. */
#ifndef ASSAY_RCP_APPROX_H
#define ASSAY_RCP_APPROX_H

#include <stdint.h>

/* For v = 1 + mantissa23 * 2^-23: bits(rcp.approx.ftz.f32(v)) minus bits(1/v rounded to nearest
 * even), which is -1, 0 or 1. mantissa23 < 2^23. LANGUAGE.md 9 says what follows for other v. */
int assay_rcp_approx_delta(uint32_t mantissa23);

#endif
