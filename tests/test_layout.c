/* Layouts: hand-derived bytes, the index formulas of vendors, and decode(encode) as the identity. */
#include <stdlib.h>
#include <string.h>

#include "../ref/layout.h"
#include "checks.h"

/* ---- building blocks ---- */

typedef struct {
    assay_layout_grid grid;
    uint8_t data[8 * 304 * 304];
} sheet;

static uint64_t code_at(const assay_layout_grid *g, int64_t i, int64_t j)
{
    const uint8_t *p = (const uint8_t *)g->data + (i * g->cols + j) * g->code_bytes;
    uint64_t code = 0;
    for (int b = 0; b < g->code_bytes; b++)
        code |= (uint64_t)p[b] << 8 * b;
    return code;
}

static void set_code(assay_layout_grid *g, int64_t i, int64_t j, uint64_t code)
{
    uint8_t *p = (uint8_t *)g->data + (i * g->cols + j) * g->code_bytes;
    for (int b = 0; b < g->code_bytes; b++)
        p[b] = (uint8_t)(code >> 8 * b);
}

static int storage_of(int bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* A grid of codes that all differ from their neighbours in every direction. */
static void fill(sheet *s, int64_t rows, int64_t cols, int bits, int64_t tile_rows,
                 int64_t tile_cols)
{
    s->grid = (assay_layout_grid){rows, cols, bits, storage_of(bits), tile_rows, tile_cols, s->data};
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            set_code(&s->grid, i, j,
                     ((uint64_t)(i * cols + j + 1) * 0x9E3779B97F4A7C15u >> 21) & mask);
}

static assay_layout_step step(assay_layout_op op, int64_t a, int64_t b)
{
    return (assay_layout_step){.op = op, .a = a, .b = b, .fill = ASSAY_FILL_VALUE};
}

static assay_layout layout_of(int count, const assay_layout_step *steps)
{
    assay_layout l = {.value_count = 1, .step_count = count};
    for (int i = 0; i < count; i++)
        l.steps[i] = steps[i];
    return l;
}

/* Encodes into bytes that were 0xEE before; the size. */
static int64_t encode(const assay_layout *l, const assay_layout_grid *g, int64_t m, int64_t k,
                      uint8_t *bytes, uint8_t *judged, uint8_t *kept)
{
    assay_error error;
    int64_t size = assay_layout_size(l, g, m, k, &error);
    ck_assert_msg(size >= 0, "%s", error.message);
    memset(bytes, 0xEE, (size_t)size + 1);
    ck_assert_msg(assay_layout_encode(l, g, m, k, bytes, judged, kept, &error) == 0, "%s",
                  error.message);
    ck_assert_uint_eq(bytes[size], 0xEE);
    return size;
}

static void expect_bytes(const uint8_t *got, int64_t size, const char *hex)
{
    ck_assert_int_eq(size * 2, (int64_t)strlen(hex));
    for (int64_t i = 0; i < size; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        ck_assert_msg(strtoul(two, NULL, 16) == got[i], "byte %" PRId64 " is 0x%02x, must be 0x%s", i,
                      got[i], two);
    }
    checks_add((uint64_t)size);
}

static void set_row(sheet *s, int bits, int count, const unsigned *codes)
{
    fill(s, 1, count, bits, 1, 1);
    for (int j = 0; j < count; j++)
        set_code(&s->grid, 0, j, codes[j]);
}

/* ---- bytes by hand ---- */

START_TEST(packing_by_hand)
{
    static sheet s;
    static uint8_t bytes[256];
    assay_layout l;

    /* NVFP4 pack [0.5, 6.0], low nibble first: 0x71 (bugs.md B88) */
    set_row(&s, 4, 4, (const unsigned[]){1, 7, 0xA, 0x3});
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_LOW, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 4, bytes, NULL, NULL), "713a");
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_HIGH, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 4, bytes, NULL, NULL), "17a3");

    /* ggml: byte j holds code j and code j + n/2 */
    set_row(&s, 4, 8, (const unsigned[]){1, 2, 3, 4, 5, 6, 7, 8});
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_HALVES, 4, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 8, bytes, NULL, NULL), "31427586");
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_HALVES, 8, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 8, bytes, NULL, NULL), "51627384");

    /* 6 bits: 1 + 2 * 64 + 3 * 4096 + 63 * 262144 = 0xFC3081 */
    set_row(&s, 6, 4, (const unsigned[]){1, 2, 3, 63});
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_LOW, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 4, bytes, NULL, NULL), "8130fc");

    /* E5M6, the three words of tilekernels.md A.4 for codes 0x111 .. 0x888 in hex digits:
     * 0x11122233, 0x34445556, 0x66777888, little-endian */
    set_row(&s, 12, 8, (const unsigned[]){0x111, 0x222, 0x333, 0x444, 0x555, 0x666, 0x777, 0x888});
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_E5M6, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 8, bytes, NULL, NULL), "332212115655443488787766");

    /* wider codes: packing changes nothing; without packing a code fills whole bytes */
    set_row(&s, 8, 3, (const unsigned[]){1, 2, 255});
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_PACK_LOW, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 3, bytes, NULL, NULL), "0102ff");
    set_row(&s, 12, 2, (const unsigned[]){0xABC, 0x123});
    l = layout_of(0, NULL);
    expect_bytes(bytes, encode(&l, &s.grid, 1, 2, bytes, NULL, NULL), "bc0a2301");
    set_row(&s, 19, 1, (const unsigned[]){0x712AB});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 1, bytes, NULL, NULL), "ab1207");
}
END_TEST

START_TEST(steps_by_hand)
{
    static sheet s;
    static uint8_t bytes[256], judged[256], kept[256];
    fill(&s, 2, 3, 8, 1, 1);
    for (int i = 0; i < 6; i++)
        s.data[i] = (uint8_t)(0x10 * (i / 3 + 1) + i % 3);
    assay_layout l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_TRANSPOSE, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 2, 3, bytes, NULL, NULL), "102011211222");

    assay_layout_step pad = step(ASSAY_LAYOUT_PAD, 2, 4);
    pad.value = 0x7F;
    l = layout_of(1, &pad);
    expect_bytes(bytes, encode(&l, &s.grid, 2, 3, bytes, judged, kept), "1011127f2021227f");
    expect_bytes(judged, 8, "ffffffffffffffff");
    pad.fill = ASSAY_FILL_ANY;
    l = layout_of(1, &pad);
    encode(&l, &s.grid, 2, 3, bytes, judged, kept);
    expect_bytes(judged, 8, "ffffff00ffffff00");
    expect_bytes(kept, 8, "0000000000000000");
    pad.fill = ASSAY_FILL_KEEP;
    l = layout_of(1, &pad);
    expect_bytes(bytes, encode(&l, &s.grid, 2, 3, bytes, judged, kept), "101112ee202122ee");
    expect_bytes(judged, 8, "ffffff00ffffff00");
    expect_bytes(kept, 8, "0000000100000001");

    /* 16x16 scales for 1x16 readers, cropped to 3 rows (te.md 6.1, 2-D blocks) */
    fill(&s, 1, 2, 8, 16, 16);
    s.data[0] = 0xA1, s.data[1] = 0xB2;
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_REPLICATE, 16, 1)});
    expect_bytes(bytes, encode(&l, &s.grid, 3, 20, bytes, NULL, NULL), "a1b2a1b2a1b2");

    /* `group 2` on 2x4: columns in strips of two */
    fill(&s, 2, 4, 8, 1, 1);
    for (int i = 0; i < 8; i++)
        s.data[i] = (uint8_t)(0x10 * (i / 4 + 1) + i % 4);
    l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_GROUP, 2, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 2, 4, bytes, NULL, NULL), "1011202112132223");

    /* a padding nibble shares its byte with a code */
    set_row(&s, 4, 3, (const unsigned[]){1, 2, 3});
    pad = step(ASSAY_LAYOUT_PAD, 1, 4);
    pad.fill = ASSAY_FILL_ANY;
    l = layout_of(2, (assay_layout_step[]){pad, step(ASSAY_LAYOUT_PACK_LOW, 0, 0)});
    expect_bytes(bytes, encode(&l, &s.grid, 1, 3, bytes, judged, kept), "2103");
    expect_bytes(judged, 2, "ff0f");
}
END_TEST

/* ---- vendors' index formulas ---- */

/* cuda.md 4.3: the byte of scale (R, c), T = ceil(blocks / 4) tiles in a row of tiles. */
static int64_t cublas_address(int64_t r, int64_t c, int64_t t)
{
    return 512 * ((r / 128) * t + c / 4) + 16 * (r % 32) + 4 * ((r % 128) / 32) + c % 4;
}

START_TEST(swizzle_128x4_is_cublas)
{
    static sheet s;
    static uint8_t bytes[1 << 18], judged[1 << 18];
    static const int64_t sizes[][2] = {{1, 1}, {128, 4}, {129, 5}, {300, 7}, {256, 64}, {33, 130}};
    assay_layout l = layout_of(2, (assay_layout_step[]){step(ASSAY_LAYOUT_PAD, 128, 4),
                                                        step(ASSAY_LAYOUT_SWIZZLE_128X4, 0, 0)});
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        int64_t rows = sizes[n][0], cols = sizes[n][1], t = (cols + 3) / 4;
        fill(&s, rows, cols, 8, 1, 32);
        int64_t size = encode(&l, &s.grid, rows, 32 * cols, bytes, judged, NULL);
        ck_assert_int_eq(size, (rows + 127) / 128 * t * 512);
        int64_t sum = 0, total = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                ck_assert_uint_eq(bytes[cublas_address(i, j, t)], code_at(&s.grid, i, j));
                sum += bytes[cublas_address(i, j, t)];
            }
        for (int64_t i = 0; i < size; i++)
            total += bytes[i];
        ck_assert_int_eq(sum, total); /* all else is the padding's 0 */
        checks_add((uint64_t)(rows * cols));
    }
}
END_TEST

/* tilekernels.md A.2, 3: byte (m, k) at (k / 4) * align(4 Mb, 16) + 4 m + k % 4. */
START_TEST(group_4_is_packed_ue8m0)
{
    static sheet s;
    static uint8_t bytes[1 << 18];
    assay_layout l = layout_of(2, (assay_layout_step[]){step(ASSAY_LAYOUT_PAD, 4, 4),
                                                        step(ASSAY_LAYOUT_GROUP, 4, 0)});
    for (int64_t rows = 1; rows < 40; rows += 3)
        for (int64_t cols = 1; cols < 12; cols++) {
            fill(&s, rows, cols, 8, 1, 128);
            int64_t align = (4 * rows + 15) / 16 * 16;
            int64_t size = encode(&l, &s.grid, rows, 128 * cols, bytes, NULL, NULL);
            ck_assert_int_eq(size, align * ((cols + 3) / 4));
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++)
                    ck_assert_uint_eq(bytes[j / 4 * align + 4 * i + j % 4], code_at(&s.grid, i, j));
            checks_add((uint64_t)(rows * cols));
        }
}
END_TEST

/* LANGUAGE.md 12: ((i div 8)(C/4) + j div 4) 32 + (i mod 8) 4 + j mod 4 */
START_TEST(swizzle_8x4_by_formula)
{
    static sheet s;
    static uint8_t bytes[1 << 18];
    assay_layout l = layout_of(1, (assay_layout_step[]){step(ASSAY_LAYOUT_SWIZZLE_8X4, 0, 0)});
    fill(&s, 24, 20, 8, 1, 1);
    encode(&l, &s.grid, 24, 20, bytes, NULL, NULL);
    for (int64_t i = 0; i < 24; i++)
        for (int64_t j = 0; j < 20; j++)
            ck_assert_uint_eq(bytes[(i / 8 * 5 + j / 4) * 32 + i % 8 * 4 + j % 4],
                              code_at(&s.grid, i, j));
    checks_add(24 * 20);
}
END_TEST

/* ---- round trips ---- */

typedef struct {
    const char *name;
    int bits;
    int64_t tile_rows, tile_cols;
    int count;
    assay_layout_step steps[5];
} chain;

#define T {.op = ASSAY_LAYOUT_TRANSPOSE}
#define REPLICATE(x, y) {.op = ASSAY_LAYOUT_REPLICATE, .a = x, .b = y}
#define PAD(x, y, v) {.op = ASSAY_LAYOUT_PAD, .a = x, .b = y, .fill = ASSAY_FILL_VALUE, .value = v}
#define PAD_ANY(x, y) {.op = ASSAY_LAYOUT_PAD, .a = x, .b = y, .fill = ASSAY_FILL_ANY}
#define PAD_KEEP(x, y) {.op = ASSAY_LAYOUT_PAD, .a = x, .b = y, .fill = ASSAY_FILL_KEEP}
#define SWIZZLE {.op = ASSAY_LAYOUT_SWIZZLE_128X4}
#define SWIZZLE8 {.op = ASSAY_LAYOUT_SWIZZLE_8X4}
#define GROUP(n) {.op = ASSAY_LAYOUT_GROUP, .a = n}
#define LOW {.op = ASSAY_LAYOUT_PACK_LOW}
#define HIGH {.op = ASSAY_LAYOUT_PACK_HIGH}
#define HALVES(n) {.op = ASSAY_LAYOUT_PACK_HALVES, .a = n}
#define E5M6 {.op = ASSAY_LAYOUT_PACK_E5M6}

static const chain chains[] = {
    {"none, 8 bits", 8, 1, 1, 0, {T}},
    {"none, 19 bits", 19, 1, 1, 0, {T}},
    {"none, 64 bits", 64, 1, 1, 0, {T}},
    {"transpose", 32, 1, 1, 1, {T}},
    {"replicate", 8, 16, 16, 1, {REPLICATE(16, 1)}},
    {"replicate both ways", 16, 32, 8, 1, {REPLICATE(4, 8)}},
    {"pad value", 8, 1, 1, 1, {PAD(128, 4, 7)}},
    {"pad any", 4, 1, 1, 1, {PAD_ANY(5, 3)}},
    {"pad keep", 8, 1, 1, 1, {PAD_KEEP(128, 4)}},
    {"swizzle", 8, 1, 1, 2, {PAD(128, 4, 0), SWIZZLE}},
    {"swizzle 8x4", 8, 1, 1, 2, {PAD(8, 4, 0), SWIZZLE8}},
    {"group", 8, 1, 1, 2, {PAD(4, 4, 0), GROUP(4)}},
    {"group odd", 16, 1, 1, 2, {PAD(1, 7, 0), GROUP(7)}},
    {"pack low 4", 4, 1, 1, 2, {PAD(1, 2, 0), LOW}},
    {"pack high 4", 4, 1, 1, 2, {PAD(1, 2, 0), HIGH}},
    {"pack low 6", 6, 1, 1, 2, {PAD(1, 4, 0), LOW}},
    {"pack high 6", 6, 1, 1, 2, {PAD(1, 4, 0), HIGH}},
    {"pack low 8", 8, 1, 1, 1, {LOW}},
    {"pack halves", 4, 1, 1, 2, {PAD(1, 32, 0), HALVES(32)}},
    {"pack e5m6", 12, 1, 1, 2, {PAD(1, 8, 0), E5M6}},
    {"columnwise NVFP4", 4, 1, 1, 3, {T, PAD(1, 2, 0), LOW}},
    {"te 2-D scales", 8, 16, 16, 3, {REPLICATE(16, 1), PAD_KEEP(128, 4), SWIZZLE}},
    {"columnwise scales", 8, 16, 1, 3, {T, PAD(128, 4, 0), SWIZZLE}},
    {"pack, then move bytes", 4, 1, 1, 4, {PAD(1, 8, 0), LOW, GROUP(4), T}},
    {"e5m6 in columns", 12, 1, 1, 4, {T, PAD(3, 8, 0), E5M6, GROUP(3)}},
    {"6 bits, swizzled bytes", 6, 1, 1, 4, {PAD(8, 16, 0), LOW, SWIZZLE8, PAD(5, 5, 1)}},
};
enum { CHAINS = sizeof chains / sizeof chains[0] };

static void round_trip(const chain *c, int64_t m, int64_t k)
{
    static sheet s, back;
    static uint8_t bytes[8 * 512 * 512], judged[8 * 512 * 512], kept[8 * 512 * 512];
    int64_t rows = (m + c->tile_rows - 1) / c->tile_rows, cols = (k + c->tile_cols - 1) / c->tile_cols;
    assay_layout l = layout_of(c->count, c->steps);
    assay_error error;
    fill(&s, rows, cols, c->bits, c->tile_rows, c->tile_cols);
    int64_t size = encode(&l, &s.grid, m, k, bytes, judged, kept);
    for (int64_t i = 0; i < size; i++) /* what is not judged may be anything */
        if (kept[i] || !judged[i])
            bytes[i] = (uint8_t)(i * 37);
    back = (sheet){.grid = s.grid};
    back.grid.data = back.data;
    memset(back.data, 0xCC, sizeof back.data);
    ck_assert_msg(assay_layout_decode(&l, bytes, size, m, k, &back.grid, &error) == 0, "%s",
                  error.message);
    size_t filled = (size_t)(rows * cols * s.grid.code_bytes);
    ck_assert_msg(!memcmp(s.data, back.data, filled), "%s: %" PRId64 "x%" PRId64 " does not come back",
                  c->name, m, k);
    ck_assert_int_eq(assay_layout_decode(&l, bytes, size + 1, m, k, &back.grid, &error), -1);
    checks_add((uint64_t)(rows * cols));
}

START_TEST(round_trips)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 127, 128, 129, 255, 300};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (int a = 0; a < SIZES; a++)
        for (int b = 0; b < SIZES; b += a > 12 ? 4 : 1)
            round_trip(&chains[_i], sizes[a], sizes[b]);
    round_trip(&chains[_i], 0, 0);
    round_trip(&chains[_i], 0, 16);
    round_trip(&chains[_i], 16, 0);
}
END_TEST

/* ---- records ---- */

static assay_layout record_of(int64_t rows, int64_t cols, int members)
{
    assay_layout l = {.value_count = members, .step_count = 1, .record_count = members};
    l.steps[0] = step(ASSAY_LAYOUT_RECORD, rows, cols);
    for (int i = 0; i < members; i++)
        l.values[i] = l.record[i] = i;
    return l;
}

/* ggml's block_q4_0 shape: a 16-bit scale, then 32 codes of 4 bits in halves. */
START_TEST(record_by_hand)
{
    static sheet scale, codes;
    static uint8_t bytes[64], judged[64];
    assay_error error;
    fill(&scale, 1, 2, 16, 1, 4);
    set_code(&scale.grid, 0, 0, 0x1234);
    set_code(&scale.grid, 0, 1, 0xABCD);
    set_row(&codes, 4, 8, (const unsigned[]){1, 2, 3, 4, 5, 6, 7, 8});
    assay_layout l = record_of(1, 4, 2);
    l.member_packed[1] = true;
    l.member_step[1] = step(ASSAY_LAYOUT_PACK_HALVES, 4, 0);
    assay_layout_grid grids[] = {scale.grid, codes.grid};
    ck_assert_int_eq(assay_record_size(&l, grids, 1, 8, &error), 8);
    ck_assert_int_eq(assay_record_encode(&l, grids, 1, 8, bytes, judged, &error), 0);
    expect_bytes(bytes, 8, "34123142cdab7586");
    expect_bytes(judged, 8, "ffffffffffffffff");
    ck_assert_int_eq(assay_layout_size(&l, grids, 1, 8, &error), -1);
}
END_TEST

START_TEST(record_round_trips)
{
    static sheet s[3], back[3];
    static uint8_t bytes[1 << 20];
    assay_error error;
    assay_layout l = record_of(2, 32, 3);
    l.member_packed[1] = true;
    l.member_step[1] = step(ASSAY_LAYOUT_PACK_LOW, 0, 0);
    for (int64_t m = 1; m < 70; m += 9)
        for (int64_t k = 16; k <= 300; k += 16) {
            assay_layout_grid grids[3], decoded[3];
            fill(&s[0], m, (k + 15) / 16, 8, 1, 16);
            fill(&s[1], m, k, 4, 1, 1);
            fill(&s[2], (m + 1) / 2, (k + 31) / 32, 32, 2, 32);
            for (int i = 0; i < 3; i++) {
                grids[i] = s[i].grid;
                decoded[i] = s[i].grid;
                decoded[i].data = back[i].data;
                memset(back[i].data, 0xCC, sizeof back[i].data);
            }
            int64_t size = assay_record_size(&l, grids, m, k, &error);
            ck_assert_msg(size > 0, "%s", error.message);
            ck_assert_int_eq(assay_record_encode(&l, grids, m, k, bytes, NULL, &error), 0);
            ck_assert_int_eq(assay_record_decode(&l, bytes, size, m, k, decoded, &error), 0);
            for (int i = 0; i < 3; i++)
                ck_assert(!memcmp(s[i].data, back[i].data,
                                  (size_t)(grids[i].rows * grids[i].cols * grids[i].code_bytes)));
            checks_add((uint64_t)(m * k));
        }
}
END_TEST

/* ---- what does not fit says so ---- */

START_TEST(messages)
{
    static const struct {
        chain c;
        const char *text;
    } cases[] = {
        {{"", 4, 1, 1, 1, {LOW}}, "5 columns are not a multiple of 2"},
        {{"", 6, 1, 1, 1, {HIGH}}, "5 columns are not a multiple of 4"},
        {{"", 4, 1, 1, 1, {HALVES(3)}}, "pack halves 3"},
        {{"", 8, 1, 1, 1, {E5M6}}, "needs codes of 12 bits"},
        {{"", 8, 1, 1, 1, {SWIZZLE}}, "whole tiles of 128x4"},
        {{"", 8, 1, 1, 1, {GROUP(2)}}, "pad it first"},
        {{"", 8, 1, 1, 1, {GROUP(0)}}, "must be positive"},
        {{"", 8, 1, 1, 1, {PAD(0, 4, 0)}}, "pad 0x4"},
        {{"", 8, 1, 1, 1, {REPLICATE(2, 1)}}, "a tile side of 1 cannot be split"},
    };
    static sheet s;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assay_error error = {""};
        assay_layout l = layout_of(cases[i].c.count, cases[i].c.steps);
        fill(&s, 3, 5, cases[i].c.bits, 1, 1);
        ck_assert_int_eq(assay_layout_size(&l, &s.grid, 3, 5, &error), -1);
        ck_assert_msg(strstr(error.message, cases[i].text) != NULL, "'%s' lacks '%s'", error.message,
                      cases[i].text);
        checks_add(1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = tcase_create("layout");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, packing_by_hand);
    tcase_add_test(tests, steps_by_hand);
    tcase_add_test(tests, swizzle_128x4_is_cublas);
    tcase_add_test(tests, group_4_is_packed_ue8m0);
    tcase_add_test(tests, swizzle_8x4_by_formula);
    tcase_add_loop_test(tests, round_trips, 0, CHAINS);
    tcase_add_test(tests, record_by_hand);
    tcase_add_test(tests, record_round_trips);
    tcase_add_test(tests, messages);
    suite_add_tcase(suite, tests);
    return checks_main(suite);
}
