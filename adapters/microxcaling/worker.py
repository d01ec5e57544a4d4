"""Microsoft's microxcaling, its PyTorch path on a CPU, from a checkout."""

import sys

import worker

common = worker.helper("vendor_common")
NAMES = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "e2m3": "fp6_e2m3", "e3m2": "fp6_e3m2",
         "e2m1": "fp4_e2m1", "mxint8": "int8"}


def describe(options):
    torch = common.torch()
    folder = common.checkout(options, "microxcaling", "mx/mx_ops.py",
                             "github.com/microsoft/microxcaling")
    sys.path.insert(0, folder)
    common.need("mx.mx_ops", "make vendors installs what it imports")
    return "microxcaling", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def quantize(settings, tensors):
    from mx.mx_ops import _quantize_mx

    result = _quantize_mx(tensors["x"], 8, NAMES[settings["F"]], axes=[-1], block_size=32,
                          round=settings["round"])
    return {"Q": result, "y": result}


RULES = {"microxcaling.mx": quantize}


def supports(contract):
    if contract.setting("path", "torch") != "torch":
        return "microxcaling's CUDA extension does not run here: path=torch"
    return common.supports(RULES, "microxcaling", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
