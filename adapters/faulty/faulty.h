/* Adapters that are wrong on purpose, each as a public system was: to test that the harness notices.
 * Everything here is plain C of its own; nothing of libassay is used. */
#ifndef FAULTY_H
#define FAULTY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../adapter.h"

/* ---- numbers (number.c) ---- */

typedef struct {
    const char *name;
    int exponent_bits, mantissa_bits, bias;
    double max;
    unsigned nan;  /* code of NaN; formats without: of +max */
    bool has_inf, has_nan, fnuz;
} narrow;

const narrow *narrow_find(const char *name);

typedef enum { SAT, SATFIN, NOSAT } overflow;

/* To nearest, ties to even: what is right. NaN gives `nan`. */
unsigned narrow_encode(const narrow *f, double v, overflow o, unsigned nan);
double narrow_decode(const narrow *f, unsigned code);
/* The parts that faults replace: the code of a magnitude that is q steps of the quantum 2^(e -
 * mantissa_bits), e at least the exponent of the least normal; and the end of it. */
unsigned narrow_code(const narrow *f, double q, int e);
unsigned narrow_finish(const narrow *f, unsigned magnitude_code, double v, overflow o, unsigned nan);
int narrow_exponent(const narrow *f, double magnitude); /* floor log2, at least the least normal's */

float from_bits(uint32_t bits);
uint32_t to_bits(float v);
/* Element (i, j) of a tensor of type f32, bf16, f16 or of a narrow format. */
double tensor_get(const assay_tensor *t, int64_t i, int64_t j);
void tensor_set(const assay_tensor *t, int64_t i, int64_t j, uint64_t code);
uint64_t tensor_code(const assay_tensor *t, int64_t i, int64_t j);

/* ---- faults ---- */

/* One line of the table in adapter.c. */
typedef struct fault fault;

typedef struct {
    const assay_contract *contract;
    const assay_tensor *in, *out;
    int64_t in_count, out_count;
    char *message;
    size_t message_size;
} call;

struct fault {
    const char *name;
    const char *class_;    /* K01 .. K21 of the catalogue of public bugs, or "conduct" */
    assay_answer (*run)(const fault *f, const call *c);
    int which;             /* for runs that serve several lines */
};

const assay_tensor *call_input(const call *c, const char *name);
const assay_tensor *call_output(const call *c, const char *name);
bool setting_is(const call *c, const char *name, const char *value);

/* casts.c: cast.ieee, cast.nvidia, cast.e8m0 and their decode parts. */
enum { CAST_RIGHT, CAST_TIES_UP, CAST_STICKY_LOST, CAST_DOUBLE_F16, CAST_DOUBLE_BF16,
       CAST_SUBNORMAL_TWICE, CAST_TOP_BINADE, CAST_NO_SATURATION, CAST_SATURATES, CAST_NAN_FINITE,
       CAST_NEGATIVE_ZERO_NAN, CAST_NEGATIVE_ZERO_LOST, CAST_NEGATIVE_UNDERFLOW, CAST_FLUSH,
       CAST_SHIFT_WRAPS, CAST_WRONG_BINADE, CAST_FNUZ_BIAS, CAST_SR_BIASED, CAST_SR_IGNORES_BITS,
       CAST_SR_ZERO, CAST_INDEX_TRUNCATED, CAST_STRIDE_IGNORED, CAST_ALIGNED_LOAD,
       CAST_NIBBLES_SWAPPED, CAST_PACKED, CAST_TRANSPOSED, CAST_TAIL_NOT_WRITTEN };
assay_answer cast_run(const fault *f, const call *c);
enum { E8M0_RIGHT, E8M0_EVEN_CODE, E8M0_SIGN, E8M0_UP_FOR_NEAREST };
assay_answer e8m0_run(const fault *f, const call *c);
enum { DECODE_RIGHT, DECODE_RESERVED, DECODE_FNUZ_NAN, DECODE_NEGATIVE_ZERO, DECODE_SCALE_ZERO,
       DECODE_SCALE_NAN, DECODE_SCALE_LSB };
assay_answer decode_run(const fault *f, const call *c);

/* blocks.c */
enum { MX_RIGHT, MX_DIVIDE_FIRST, MX_NEAREST_SCALE, MX_TRUNCATED_LOG, MX_BF16_AMAX, MX_STRADDLES,
       MX_WRONG_AXIS };
assay_answer ocp_mx_run(const fault *f, const call *c);
enum { MXFP8_RIGHT, MXFP8_FLOOR, MXFP8_UNROUNDED, MXFP8_EDGE_RECIPROCAL, MXFP8_SCALES_TRANSPOSED,
       MXFP8_SCALE_STRIDE, MXFP8_NAN_AMAX };
assay_answer te_mxfp8_run(const fault *f, const call *c);
enum { NVFP4_RIGHT, NVFP4_UNROUNDED, NVFP4_DIVIDES, NVFP4_REASSOCIATED, NVFP4_BLOCK_32,
       NVFP4_ZERO_BLOCK, NVFP4_NO_GLOBAL, NVFP4_GLOBAL_BYTES, NVFP4_NO_CLAMP };
assay_answer te_nvfp4_run(const fault *f, const call *c);
enum { FP8_RIGHT, FP8_NO_CAP, FP8_ZERO_NAN, FP8_DIVIDES, FP8_MAX_240 };
assay_answer te_fp8_run(const fault *f, const call *c);

/* conduct.c: right arithmetic, bad manners. */
enum { CONDUCT_SEGV, CONDUCT_ABORT, CONDUCT_EXIT, CONDUCT_HANG, CONDUCT_OVERRUN, CONDUCT_OVERRUN_FAR,
       CONDUCT_UNDERRUN, CONDUCT_INPUT, CONDUCT_PARTIAL, CONDUCT_CHANCE, CONDUCT_ACCUMULATES,
       CONDUCT_SMASH, CONDUCT_PRINTS, CONDUCT_CLOSES, CONDUCT_CLOSES_OUTPUT, CONDUCT_LEAKS,
       CONDUCT_ROUNDING, CONDUCT_CHANNEL, CONDUCT_FAILS, CONDUCT_FORKS, CONDUCT_TRUNCATES,
       CONDUCT_CRASHES_ONCE };
assay_answer conduct_run(const fault *f, const call *c);

#endif
