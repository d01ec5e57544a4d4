"""Microsoft's microxcaling on a CPU, from a checkout: its PyTorch path, and the functions of its CUDA
extension compiled for the host (path=cuda)."""

import ctypes
import os
import subprocess
import sys
import tempfile

import worker

common = worker.helper("vendor_common")
NAMES = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "e2m3": "fp6_e2m3", "e3m2": "fp6_e3m2",
         "e2m1": "fp4_e2m1", "mxint8": "int8"}
HEADERS = ("cuda.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h", "cooperative_groups.h",
           "curand_kernel.h")
folder, host = "", None


def describe(options):
    global folder
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
    return {"y": result}


def compiled():
    """The functions of the CUDA extension; its CUDA headers are empty files here (host.cc)."""
    global host
    if host is None:
        source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "host.cc")
        with tempfile.TemporaryDirectory() as place:
            for name in HEADERS:
                open(os.path.join(place, name), "w").close()
            library = os.path.join(place, "host.so")
            done = subprocess.run(
                ["g++", "-O2", "-w", "-ffp-contract=off", "-shared", "-fPIC", "-I", place, "-I",
                 os.path.join(folder, "mx", "cpp"), "-o", library, source],
                capture_output=True, text=True)
            if done.returncode:
                worker.failed("microxcaling's extension does not compile: " + done.stderr[-400:])
            host = ctypes.CDLL(library)
    return host


def extension(settings, tensors):
    import numpy
    from mx.formats import RoundingMode, _get_format_params

    x = tensors["x"]
    ebits, mbits, _, top, _ = _get_format_params(NAMES[settings["F"]])
    mode = RoundingMode[settings["round"]].value
    values = numpy.ascontiguousarray(x.float().numpy())
    result = numpy.empty_like(values)
    compiled().quantize_blocks(
        ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(result.ctypes.data),
        ctypes.c_int64(values.size // 32), ebits, mbits, ctypes.c_float(top), mode)
    import torch

    return {"y": torch.from_numpy(result).to(x.dtype)}


def either(settings, tensors):
    return (extension if settings.get("path") == "cuda" else quantize)(settings, tensors)


RULES = {"microxcaling.mx": either}


def supports(contract):
    return common.supports(RULES, "microxcaling", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
