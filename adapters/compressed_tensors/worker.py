"""compressed-tensors on a CPU: its packed compressors for NVFP4 and MX weights."""

import worker

common = worker.helper("vendor_common")


def describe(options):
    common.no_options(options)
    torch = common.torch()
    module = common.need("compressed_tensors", "make vendors installs compressed-tensors")
    version = getattr(module, "__version__", "unknown")
    return "compressed-tensors", f"{version} with PyTorch {torch.__version__}", "CPU"


def weights(preset):
    from compressed_tensors.quantization import preset_name_to_scheme

    return preset_name_to_scheme(preset, ["Linear"])


def extremes(x, size):
    groups = x.reshape(x.shape[0], -1, size)
    return groups.amin(-1), groups.amax(-1)


def nvfp4(settings, tensors):
    from compressed_tensors.compressors import NVFP4PackedCompressor
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam

    x, scheme = tensors["x"], weights("NVFP4A16")
    most = x.abs().max()
    whole = generate_gparam(-most, most)
    scale, _ = calculate_qparams(*extremes(x, 16), scheme.weights, global_scale=whole)
    packed = NVFP4PackedCompressor.compress(
        {"weight": x, "weight_scale": scale, "weight_global_scale": whole}, scheme)
    return {"Q": common.nibbles(common.bits(packed["weight_packed"])),
            "S": packed["weight_scale"], "G": packed["weight_global_scale"]}


def mx(settings, tensors):
    import torch
    from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
    from compressed_tensors.compressors.mxfp6.base import MXFP6PackedCompressor
    from compressed_tensors.compressors.mxfp8.base import MXFP8QuantizationCompressor
    from compressed_tensors.quantization.utils import calculate_qparams

    x, form = tensors["x"], settings["F"]
    preset, compressor = {
        "e2m1": ("MXFP4A16", MXFP4PackedCompressor), "e2m3": ("MXFP6A16", MXFP6PackedCompressor),
        "e4m3": ("MXFP8A16", MXFP8QuantizationCompressor)}[form]
    scheme = weights(preset)
    scale, zero = calculate_qparams(*extremes(x, 32), scheme.weights)
    packed = compressor.compress(
        {"weight": x, "weight_scale": scale, "weight_zero_point": zero}, scheme)
    name = "weight" if "weight" in packed else "weight_packed"
    codes = common.bits(packed[name])
    if form == "e2m1":
        codes = common.nibbles(codes)
    elif form == "e2m3":  # four codes in three bytes
        flat = torch.from_numpy(codes.reshape(-1, 3).astype("int32"))
        word = flat[:, 0] | flat[:, 1] << 8 | flat[:, 2] << 16
        codes = torch.stack([word >> 6 * i & 63 for i in range(4)], -1).numpy()
    return {"Q": codes, "S": packed["weight_scale"]}


RULES = {"ct.nvfp4": nvfp4, "ct.mx": mx}


def supports(contract):
    return common.supports(RULES, "compressed-tensors", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
