/* Packing codes of a row into bytes or words. One function says where each bit goes; writing and
 * reading both follow it. */
#include <assert.h>

#include "layout_plan.h"

static bool is_pack(assay_layout_op op)
{
    return op == ASSAY_LAYOUT_PACK_LOW || op == ASSAY_LAYOUT_PACK_HIGH ||
           op == ASSAY_LAYOUT_PACK_HALVES || op == ASSAY_LAYOUT_PACK_E5M6;
}

bool layout_packing_of(const assay_layout_step *step, int code_bits, layout_packing *packing)
{
    if (!is_pack(step->op))
        return false;
    if (step->op == ASSAY_LAYOUT_PACK_E5M6)
        *packing = (layout_packing){8, 3, 32};
    else if (step->op == ASSAY_LAYOUT_PACK_HALVES)
        *packing = (layout_packing){(int)step->a, (int)step->a / 2, 8};
    else if (code_bits == 4)
        *packing = (layout_packing){2, 1, 8};
    else if (code_bits == 6)
        *packing = (layout_packing){4, 3, 8};
    else
        return false;
    return true;
}

/* Codes of 6 bits, low first: code j starts at bit 6j of the little-endian stream of bytes. */
static int six_bit_pieces(int j, layout_place pieces[2])
{
    int start = 6 * j, room = 8 - start % 8;
    if (room >= 6) {
        pieces[0] = (layout_place){0, start / 8, start % 8, 0, 6};
        return 1;
    }
    pieces[0] = (layout_place){0, start / 8, start % 8, 0, room};
    pieces[1] = (layout_place){0, start / 8 + 1, 0, room, 6 - room};
    return 2;
}

/* TileKernels' E5M6: a stream of 12-bit codes, high bits first, cut into words of 32 bits. */
static int e5m6_pieces(int j, layout_place pieces[2])
{
    int start = 12 * j, room = 32 - start % 32;
    if (room >= 12) {
        pieces[0] = (layout_place){0, start / 32, room - 12, 0, 12};
        return 1;
    }
    pieces[0] = (layout_place){0, start / 32, 0, 12 - room, room};
    pieces[1] = (layout_place){0, start / 32 + 1, 32 - (12 - room), 0, 12 - room};
    return 2;
}

int layout_packing_pieces(const assay_layout_step *step, int code_bits, int j,
                          layout_place pieces[2])
{
    int half = (int)step->a / 2;
    switch (step->op) {
    case ASSAY_LAYOUT_PACK_E5M6:
        return e5m6_pieces(j, pieces);
    case ASSAY_LAYOUT_PACK_HALVES:
        pieces[0] = (layout_place){0, j % half, j < half ? 0 : 4, 0, 4};
        return 1;
    default:
        break;
    }
    if (code_bits == 6)
        return six_bit_pieces(j, pieces);
    assert(code_bits == 4);
    bool low = (j % 2 == 0) == (step->op == ASSAY_LAYOUT_PACK_LOW);
    pieces[0] = (layout_place){0, 0, low ? 0 : 4, 0, 4};
    return 1;
}
