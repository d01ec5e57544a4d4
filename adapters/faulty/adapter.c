/* The table of faults; README.md says what each does and what verdict it must get. */
#include <stdlib.h>

#include "faulty.h"

static const fault faults[] = {
    {"right", "conduct", cast_run, CAST_RIGHT},
    {"right_e8m0", "conduct", e8m0_run, E8M0_RIGHT},
    {"right_mx", "conduct", ocp_mx_run, MX_RIGHT},
    {"right_mxfp8", "conduct", te_mxfp8_run, MXFP8_RIGHT},
    {"right_nvfp4", "conduct", te_nvfp4_run, NVFP4_RIGHT},
    {"right_fp8", "conduct", te_fp8_run, FP8_RIGHT},
    {"right_decode", "conduct", decode_run, DECODE_RIGHT},

    {"ties_up", "K01", cast_run, CAST_TIES_UP},
    {"sticky_lost", "K01", cast_run, CAST_STICKY_LOST},
    {"e8m0_even_code", "K01", e8m0_run, E8M0_EVEN_CODE},
    {"through_f16", "K02", cast_run, CAST_DOUBLE_F16},
    {"through_bf16", "K02", cast_run, CAST_DOUBLE_BF16},
    {"subnormal_twice", "K02", cast_run, CAST_SUBNORMAL_TWICE},
    {"bf16_amax", "K02", ocp_mx_run, MX_BF16_AMAX},
    {"top_binade", "K03", cast_run, CAST_TOP_BINADE},
    {"no_saturation", "K03", cast_run, CAST_NO_SATURATION},
    {"saturates", "K03", cast_run, CAST_SATURATES},
    {"scale_no_clamp", "K03", te_nvfp4_run, NVFP4_NO_CLAMP},
    {"nan_finite", "K04", cast_run, CAST_NAN_FINITE},
    {"nan_amax", "K04", te_mxfp8_run, MXFP8_NAN_AMAX},
    {"decode_reserved", "K04", decode_run, DECODE_RESERVED},
    {"decode_fnuz_nan", "K04", decode_run, DECODE_FNUZ_NAN},
    {"decode_scale_nan", "K04", decode_run, DECODE_SCALE_NAN},
    {"negative_zero_nan", "K05", cast_run, CAST_NEGATIVE_ZERO_NAN},
    {"negative_zero_lost", "K05", cast_run, CAST_NEGATIVE_ZERO_LOST},
    {"negative_underflow", "K05", cast_run, CAST_NEGATIVE_UNDERFLOW},
    {"decode_negative_zero", "K05", decode_run, DECODE_NEGATIVE_ZERO},
    {"e8m0_sign", "K05", e8m0_run, E8M0_SIGN},
    {"flush", "K06", cast_run, CAST_FLUSH},
    {"shift_wraps", "K06", cast_run, CAST_SHIFT_WRAPS},
    {"wrong_binade", "K06", cast_run, CAST_WRONG_BINADE},
    {"decode_scale_zero", "K07", decode_run, DECODE_SCALE_ZERO},
    {"decode_scale_lsb", "K07", decode_run, DECODE_SCALE_LSB},
    {"edge_reciprocal", "K07", te_mxfp8_run, MXFP8_EDGE_RECIPROCAL},
    {"e8m0_up_for_nearest", "K08", e8m0_run, E8M0_UP_FOR_NEAREST},
    {"divide_first", "K08", ocp_mx_run, MX_DIVIDE_FIRST},
    {"nearest_scale", "K08", ocp_mx_run, MX_NEAREST_SCALE},
    {"truncated_log", "K08", ocp_mx_run, MX_TRUNCATED_LOG},
    {"scale_floor", "K08", te_mxfp8_run, MXFP8_FLOOR},
    {"zero_block_fixup", "K09", te_nvfp4_run, NVFP4_ZERO_BLOCK},
    {"infinite_scale", "K09", te_fp8_run, FP8_NO_CAP},
    {"zero_amax_nan", "K09", te_fp8_run, FP8_ZERO_NAN},
    {"unrounded_scale", "K10", te_nvfp4_run, NVFP4_UNROUNDED},
    {"scale_rounded_later", "K10", te_mxfp8_run, MXFP8_UNROUNDED},
    {"divides", "K11", te_nvfp4_run, NVFP4_DIVIDES},
    {"reassociated", "K11", te_nvfp4_run, NVFP4_REASSOCIATED},
    {"fp8_divides", "K11", te_fp8_run, FP8_DIVIDES},
    {"scales_transposed", "K12", te_mxfp8_run, MXFP8_SCALES_TRANSPOSED},
    {"scale_stride", "K12", te_mxfp8_run, MXFP8_SCALE_STRIDE},
    {"tail_not_written", "K13", cast_run, CAST_TAIL_NOT_WRITTEN},
    {"nibbles_swapped", "K14", cast_run, CAST_NIBBLES_SWAPPED},
    {"packed", "K14", cast_run, CAST_PACKED},
    {"block_32", "K15", te_nvfp4_run, NVFP4_BLOCK_32},
    {"wrong_axis", "K15", ocp_mx_run, MX_WRONG_AXIS},
    {"rows_straddle", "K15", ocp_mx_run, MX_STRADDLES},
    {"transposed", "K15", cast_run, CAST_TRANSPOSED},
    {"sr_biased", "K16", cast_run, CAST_SR_BIASED},
    {"sr_ignores_bits", "K16", cast_run, CAST_SR_IGNORES_BITS},
    {"sr_zero", "K16", cast_run, CAST_SR_ZERO},
    {"global_missing", "K18", te_nvfp4_run, NVFP4_NO_GLOBAL},
    {"global_bytes", "K18", te_nvfp4_run, NVFP4_GLOBAL_BYTES},
    {"index_truncated", "K19", cast_run, CAST_INDEX_TRUNCATED},
    {"stride_ignored", "K20", cast_run, CAST_STRIDE_IGNORED},
    {"aligned_load", "K20", cast_run, CAST_ALIGNED_LOAD},
    {"fnuz_for_ocp", "K21", cast_run, CAST_FNUZ_BIAS},
    {"max_240", "K21", te_fp8_run, FP8_MAX_240},

    {"segv", "conduct", conduct_run, CONDUCT_SEGV},
    {"abort", "conduct", conduct_run, CONDUCT_ABORT},
    {"exit0", "conduct", conduct_run, CONDUCT_EXIT},
    {"hang", "conduct", conduct_run, CONDUCT_HANG},
    {"overrun", "conduct", conduct_run, CONDUCT_OVERRUN},
    {"overrun_far", "conduct", conduct_run, CONDUCT_OVERRUN_FAR},
    {"underrun", "conduct", conduct_run, CONDUCT_UNDERRUN},
    {"writes_input", "conduct", conduct_run, CONDUCT_INPUT},
    {"partial", "conduct", conduct_run, CONDUCT_PARTIAL},
    {"accumulates", "conduct", conduct_run, CONDUCT_ACCUMULATES},
    {"chance", "K17", conduct_run, CONDUCT_CHANCE},
    {"stack_smash", "conduct", conduct_run, CONDUCT_SMASH},
    {"prints", "conduct", conduct_run, CONDUCT_PRINTS},
    {"closes", "conduct", conduct_run, CONDUCT_CLOSES},
    {"closes_output", "conduct", conduct_run, CONDUCT_CLOSES_OUTPUT},
    {"leaks", "conduct", conduct_run, CONDUCT_LEAKS},
    {"rounding_mode", "conduct", conduct_run, CONDUCT_ROUNDING},
    {"channel", "conduct", conduct_run, CONDUCT_CHANNEL},
    {"fails", "conduct", conduct_run, CONDUCT_FAILS},
    {"forks", "conduct", conduct_run, CONDUCT_FORKS},
    {"truncates", "conduct", conduct_run, CONDUCT_TRUNCATES},
    {"crashes_once", "conduct", conduct_run, CONDUCT_CRASHES_ONCE},
};

const assay_tensor *call_input(const call *c, const char *name)
{
    for (int64_t i = 0; i < c->in_count; i++)
        if (!strcmp(c->in[i].name, name))
            return &c->in[i];
    return NULL;
}

const assay_tensor *call_output(const call *c, const char *name)
{
    for (int64_t i = 0; i < c->out_count; i++)
        if (!strcmp(c->out[i].name, name))
            return &c->out[i];
    return NULL;
}

bool setting_is(const call *c, const char *name, const char *value)
{
    const char *is = assay_contract_setting(c->contract, name);
    return is && !strcmp(is, value);
}

static assay_answer faulty_open(void **state, const char *options, char *message, size_t size)
{
    if (!strcmp(options, "open_fails")) {
        snprintf(message, size, "libvendor.so.7 is not installed; install it");
        return ASSAY_FAILED;
    }
    if (!strcmp(options, "open_aborts"))
        abort();
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (!strcmp(faults[i].name, options)) {
            *state = (void *)(uintptr_t)&faults[i];
            return ASSAY_DONE;
        }
    snprintf(message, size, "faulty: there is no fault '%s'; adapters/faulty/README.md lists them",
             options);
    return ASSAY_FAILED;
}

static void faulty_describe(void *state, assay_description *d)
{
    const fault *f = state;
    snprintf(d->library, sizeof d->library, "faulty: %s (%s)", f->name, f->class_);
    snprintf(d->version, sizeof d->version, "1");
    snprintf(d->device, sizeof d->device, "host");
}

static assay_answer faulty_supports(void *state, const assay_contract *contract, char *message,
                                    size_t size)
{
    const fault *f = state;
    call c = {.contract = contract, .message = message, .message_size = size};
    assay_answer a = f->run(f, &c);
    if (a == ASSAY_UNSUPPORTED)
        snprintf(message, size, "the fault %s is of another recipe or parameter", f->name);
    return a;
}

static assay_answer faulty_run(void *state, const assay_contract *contract,
                               const assay_tensor *inputs, int64_t input_count,
                               const assay_tensor *outputs, int64_t output_count, char *message,
                               size_t size)
{
    const fault *f = state;
    call c = {contract, inputs, outputs, input_count, output_count, message, size};
    return f->run(f, &c);
}

const assay_adapter *assay_adapter_main(void)
{
    static const assay_adapter adapter = {ASSAY_ADAPTER_ABI, faulty_open, faulty_describe,
                                          faulty_supports,   faulty_run,  NULL};
    return &adapter;
}
