"""torchao's MX and NVFP4 quantizers on a CPU: the installed release, or a checkout (main)."""

import os
import sys

import worker

common = worker.helper("vendor_common")
version = "v0.18.0"


def describe(options):
    global version
    torch = common.torch()
    if options:
        folder = common.checkout(options if options != "main" else "", "torchao",
                                 "torchao/prototype/mx_formats/mx_tensor.py", "github.com/pytorch/ao")
        sys.path.insert(0, folder)
        version = "main"
    module = common.need("torchao", "make vendors installs it")
    common.need("torchao.prototype.mx_formats.mx_tensor", "make vendors installs torchao")
    if version == "main":
        named = common.commit(os.path.dirname(os.path.dirname(module.__file__)))
    else:
        named = module.__version__
    return "torchao", f"{named} with PyTorch {torch.__version__}", "CPU"


def mx(settings, tensors):
    import torch
    import torchao.prototype.mx_formats.constants as constants
    from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx

    element = {
        "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e2m1": torch.float4_e2m1fn_x2,
        "e2m3": constants.DTYPE_FP6_E2M3, "e3m2": constants.DTYPE_FP6_E3M2,
    }[settings["F"]]
    mode = ScaleCalculationMode[settings["rule"].upper()]
    scale, data = to_mx(tensors["x"], element, 32, mode)
    codes = common.bits(data)
    return {"Q": common.nibbles(codes) if settings["F"] == "e2m1" else codes, "S": scale}


def nvfp4(settings, tensors):
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

    x = tensors["x"]
    whole = per_tensor_amax_to_scale(x.abs().max()) if settings["levels"] == "2" else None
    scale, data = nvfp4_quantize(x, 16, whole)
    return {"Q": common.nibbles(common.bits(data)), "S": scale,
            **({} if whole is None else {"A": whole.float().reshape(1, 1)})}


RULES = {"torchao.mx": mx, "torchao.nvfp4": nvfp4}


def supports(contract):
    if contract.setting("device") not in (None, "cpu"):
        return "torchao runs on the CPU here: device=cpu"
    wanted = contract.setting("version", version)
    if wanted != version:
        how = "torchao" if wanted != "main" else "torchao:FOLDER of a checkout"
        return f"this is the rule of {wanted}: --adapter {how}"
    return common.supports(RULES, "torchao", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
