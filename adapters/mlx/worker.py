"""MLX's mx.quantize on a CPU: nvfp4, mxfp4, mxfp8."""

import worker

common = worker.helper("vendor_common")


def describe(options):
    common.no_options(options)
    common.torch()
    core = common.need("mlx.core", "make vendors installs mlx and mlx-cpu")
    core.set_default_device(core.cpu)
    return "MLX", core.__version__, "CPU"


def quantize(settings, tensors):
    import mlx.core as mx
    import numpy

    x = tensors["x"]
    kind = {"f32": mx.float32, "bf16": mx.bfloat16, "f16": mx.float16}[settings["T"]]
    more = {}
    if "A" in tensors:
        more["global_scale"] = mx.array(tensors["A"].reshape(()).numpy())
    array = mx.view(mx.array(common.bits(x)), kind)
    words, scale = mx.quantize(array, mode=settings["mode"], **more)
    codes = numpy.array(words).view(numpy.uint8)
    if "fp4" in settings["mode"]:
        codes = common.nibbles(codes)
    return {"Q": codes, "S": numpy.array(scale).view(numpy.uint8)}


RULES = {"mlx.fp": quantize}


def supports(contract):
    if contract.setting("backend", "cpu") != "cpu":
        return "MLX runs on the CPU here: backend=cpu"
    return common.supports(RULES, "MLX", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
