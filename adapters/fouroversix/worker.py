"""Four Over Six: its PyTorch reference on a CPU, from a checkout."""

import importlib
import os
import sys

import worker

common = worker.helper("vendor_common")


def describe(options):
    torch = common.torch()
    folder = common.checkout(options, "fouroversix", "src/fouroversix/quantize/pytorch/reference.py",
                             "github.com/mit-han-lab/fouroversix")
    inside = os.path.join(folder, "src", "fouroversix")
    for name in ("", "quantize", "quantize.pytorch", "kernels"):
        common.package("fouroversix" + ("." + name if name else ""),
                       os.path.join(inside, *name.split(".")))
    for name in ("utils", "quantize.utils", "quantize.pytorch.reference"):
        importlib.import_module("fouroversix." + name)
    return "fouroversix", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def quantize(kind, settings, x, square=False):
    names = sys.modules["fouroversix.utils"]
    reference = sys.modules["fouroversix.quantize.pytorch.reference"]
    data, scale, amax = reference.quantize(
        x, fp4_format=names.DataType[kind], scale_rule=names.ScaleRule[settings["rule"]],
        block_scale_2d=square, use_blackwell_scale_layout=False)
    size = 32 if kind == "mxfp4" else 16
    scale = common.bits(scale).reshape(x.shape[0], x.shape[1] // size)
    return {"Q": common.nibbles(common.bits(data)), "S": scale[::size] if square else scale,
            "A": amax.float().reshape(1, 1)}


def nvfp4(settings, tensors):
    return quantize("nvfp4", settings, tensors["x"], settings["tile"] == "16x16")


def mxfp4(settings, tensors):
    return quantize("mxfp4", settings, tensors["x"])


RULES = {"fouroversix.nvfp4": nvfp4, "fouroversix.mxfp4": mxfp4}


def supports(contract):
    if contract.setting("impl", "reference") != "reference":
        return "only the reference runs on a CPU: impl=reference"
    return common.supports(RULES, "Four Over Six", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
