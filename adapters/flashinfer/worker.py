"""flashinfer's own references in PyTorch on a CPU, from a checkout: those of its tests and of its traces."""

import importlib
import os
import sys

import worker

common = worker.helper("vendor_common")
INSIDE = "tests/test_helpers/utils_fp4.py"
reference = None


def describe(options):
    global reference
    torch = common.torch()
    folder = common.checkout(options, "flashinfer", INSIDE, "github.com/flashinfer-ai/flashinfer")
    for name in ("", ".quantization", ".trace", ".trace.templates"):
        common.package("flashinfer" + name, os.path.join(folder, "flashinfer", *name.split(".")[1:]))
    common.package("flashinfer.utils")
    reference = common.file_module(os.path.join(folder, INSIDE), "flashinfer_reference")
    return "flashinfer", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def te_order(tensors, rows):
    """The reference takes the amax and divides; a contract with gs hands that over as it is."""
    if "gs" in tensors:
        whole = tensors["gs"].reshape(())
        kept = reference.nvfp4_global_encode_scale_te
        reference.nvfp4_global_encode_scale_te = lambda *_: whole
        try:
            return reference.ref_fp4_quant_te(tensors["x"], whole)
        finally:
            reference.nvfp4_global_encode_scale_te = kept
    return reference.ref_fp4_quant_te(tensors["x"], rows, per_token_rowwise=True)


def nvfp4(settings, tensors):
    import torch

    if settings["math"] == "exact":
        values, scale = te_order(tensors, None)
    else:
        values, scale = reference.ref_fp4_quant(tensors["x"], tensors["gs"].reshape(()), 16)
        scale = scale.to(torch.float8_e4m3fn)
    return {"Q": common.e2m1(values), "S": scale}


def token(settings, tensors):
    rows = tensors["x"].abs().amax(-1).float()
    values, scale = te_order(tensors, rows)
    return {"Q": common.e2m1(values), "S": scale,
            "R": reference.nvfp4_global_decode_scale_te(rows)}


def mxfp4(settings, tensors):
    if settings["impl"] == "trace":
        packed, scale = trace()._quantize_fp4_block_scale(tensors["x"], 32, True)
        return {"Q": common.nibbles(packed.numpy()), "S": scale}
    values, scale = reference.ref_fp4_quant(tensors["x"], 1.0, 32, sf_use_ue8m0=True)
    return {"Q": common.e2m1(values), "S": common.bits(scale) >> 23}


def mxfp8(settings, tensors):
    codes, scale = trace()._quantize_mxfp8(tensors["x"])
    return {"Q": codes, "S": scale}


def over(settings, tensors):
    module = sys.modules["flashinfer.quantization.nvfp4_quantization_utils"]
    config = module.NVFP44Over6Config(int(settings["top"]), settings["error"],
                                      settings["score"] == "fast")
    x, rows = tensors["x"], settings["scale"] == "token"
    amax = x.abs().amax(-1).float() if rows else tensors["A"].reshape(())
    values, scale, whole, _ = reference.ref_fp4_quant_4over6_te(x, amax, 16, rows, config)
    return {"Q": common.e2m1(values), "S": scale, "R": whole}


def trace():
    return importlib.import_module("flashinfer.trace.templates.quantize")


RULES = {"flashinfer.nvfp4": nvfp4, "flashinfer.nvfp4.token": token, "flashinfer.mxfp4": mxfp4,
         "flashinfer.mxfp8": mxfp8, "flashinfer.nvfp4.4over6": over}


def supports(contract):
    if contract.setting("impl", "reference") == "kernel":
        return "only the references run on a CPU: impl=reference or impl=trace"
    return common.supports(RULES, "flashinfer's references", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
