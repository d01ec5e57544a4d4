#include "rcp_approx.h"

#include <assert.h>

/* 2^23 differences, two bits each (two's complement), the first in the low bits of the first byte.
 * Read from an NVIDIA H200 (sm_90, driver 580.159.04) by running rcp.approx.ftz.f32 on every f32 of
 * [1, 2): 7,280,086 are 0, 374,723 are -1, 733,799 are 1. ref/rcp_approx.table.xz holds the bytes;
 * ref/fast.mk unpacks and embeds them. */
extern const uint8_t assay_rcp_approx_table[1 << 21];

int assay_rcp_approx_delta(uint32_t mantissa23)
{
    assert(mantissa23 < (1u << 23));
    int two = assay_rcp_approx_table[mantissa23 >> 2] >> (2 * (mantissa23 & 3)) & 3;
    return (two ^ 2) - 2;
}
