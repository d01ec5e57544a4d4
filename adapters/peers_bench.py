"""Rates of other systems on one CPU thread, for `assay bench`.

    python peers_bench.py [RUNS]

Prints one JSON line for each (system, operation): {"system", "version", "operation", "elements",
"runs": [10^6 elements a second of processor time, ...]}, or {"system", "operation", "absent": why}.
Inputs are those of the command's own rows: raw f32 bits for casts, about normal values for the rest.
A system is a function that returns its version and the work of each operation; it may raise whatever
it likes, which makes it absent. Systems that are no packages are found by $ASSAY_MICROXCALING (a
checkout) and $ASSAY_GGML (libggml-base.so, or the folder that holds it).
"""

import ctypes
import glob
import json
import os
import sys
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

CAST_ELEMENTS = 1 << 22
ROWS, COLS = 512, 4096
SYSTEMS = []


def system(*operations):
    """Registers a system and what it will be measured on."""

    def register(prepare):
        SYSTEMS.append((prepare.__doc__, operations, prepare))
        return prepare

    return register


def raw_bits():
    import numpy

    bits = numpy.random.default_rng(1).integers(0, 1 << 32, CAST_ELEMENTS, numpy.uint32)
    return bits.view(numpy.float32)


def normal():
    import numpy

    return numpy.random.default_rng(2).standard_normal((ROWS, COLS), numpy.float32)


def torch():
    import torch as module

    module.set_num_threads(1)
    module.manual_seed(1)
    return module


@system("copy of f32")
def numpy_copy():
    """numpy"""
    import numpy

    x = raw_bits()
    y = numpy.empty_like(x)
    return numpy.__version__, {"copy of f32": (x.size, lambda: numpy.copyto(y, x))}


@system("cast f32 -> e4m3", "cast f32 -> e5m2", "cast f32 -> e2m1", "cast f32 -> e8m0",
        "cast f32 -> bf16", "cast f32 -> f16")
def ml_dtypes_casts():
    """ml_dtypes"""
    import ml_dtypes
    import numpy

    numpy.seterr(all="ignore")
    x = raw_bits()
    types = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
             "e2m1": ml_dtypes.float4_e2m1fn, "e8m0": ml_dtypes.float8_e8m0fnu,
             "bf16": ml_dtypes.bfloat16, "f16": numpy.float16}
    return ml_dtypes.__version__, {
        f"cast f32 -> {name}": (x.size, lambda t=t: x.astype(t)) for name, t in types.items()}


@system("cast f32 -> e4m3", "cast f32 -> e5m2", "cast f32 -> e8m0", "cast f32 -> bf16",
        "cast f32 -> f16")
def torch_casts():
    """PyTorch"""
    t = torch()
    x = t.from_numpy(raw_bits())
    work = {}
    for name, kind in (("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2"),
                       ("e8m0", "float8_e8m0fnu"), ("bf16", "bfloat16"), ("f16", "float16")):
        if hasattr(t, kind):
            work[f"cast f32 -> {name}"] = (x.numel(), lambda k=getattr(t, kind): x.to(k))
    return t.__version__, work


@system("torchao.nvfp4 (two levels, bf16)", "torchao.mx(F=e4m3, T=bf16, rule=floor)",
        "torchao.mx(F=e2m1, T=bf16, rule=floor)")
def torchao_blocks():
    """torchao"""
    t = torch()
    import torchao
    from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

    x = t.from_numpy(normal()).to(t.bfloat16)
    floor = ScaleCalculationMode.FLOOR

    def nvfp4():
        return nvfp4_quantize(x, 16, per_tensor_amax_to_scale(x.abs().max()))

    return torchao.__version__, {
        "torchao.nvfp4 (two levels, bf16)": (x.numel(), nvfp4),
        "torchao.mx(F=e4m3, T=bf16, rule=floor)":
            (x.numel(), lambda: to_mx(x, t.float8_e4m3fn, 32, floor)),
        "torchao.mx(F=e2m1, T=bf16, rule=floor)":
            (x.numel(), lambda: to_mx(x, t.float4_e2m1fn_x2, 32, floor)),
    }


@system("microxcaling.mx(F=e4m3, T=f32, round=nearest)",
        "microxcaling.mx(F=e2m1, T=f32, round=nearest)")
def microxcaling():
    """microxcaling"""
    folder = os.environ.get("ASSAY_MICROXCALING")
    if folder:
        sys.path.insert(0, folder)
    t = torch()
    from mx.mx_ops import _quantize_mx

    x = t.from_numpy(normal())
    return "checkout", {
        f"microxcaling.mx(F={name}, T=f32, round=nearest)": (x.numel(), lambda k=kind: _quantize_mx(
            x, 8, k, axes=[-1], block_size=32, round="nearest"))
        for name, kind in (("e4m3", "fp8_e4m3"), ("e2m1", "fp4_e2m1"))}


@system("mlx.fp(mode=nvfp4, T=bf16, global=no)", "mlx.fp(mode=mxfp8, T=bf16, global=no)")
def mlx_blocks():
    """MLX"""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    x = mx.array(normal()).astype(mx.bfloat16)
    mx.eval(x)
    return mx.__version__, {
        f"mlx.fp(mode={mode}, T=bf16, global=no)":
            (ROWS * COLS, lambda m=mode: mx.eval(mx.quantize(x, mode=m)))
        for mode in ("nvfp4", "mxfp8")}


@system("ggml.mxfp4", "ggml.nvfp4")
def ggml_blocks():
    """ggml"""
    where = os.environ.get("ASSAY_GGML")
    if not where:
        raise ImportError("set ASSAY_GGML to libggml-base.so or the folder that holds it")
    if os.path.isdir(where):
        where = sorted(glob.glob(os.path.join(where, "**", "libggml-base.so*"), recursive=True))[0]
    base = ctypes.CDLL(where)
    base.ggml_version.restype = ctypes.c_char_p
    base.ggml_quantize_chunk.restype = ctypes.c_size_t
    base.ggml_quantize_chunk.argtypes = (
        [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_void_p])
    x = normal()
    to = ctypes.create_string_buffer(x.size)

    def quantize(kind):
        base.ggml_quantize_chunk(kind, x.ctypes.data, to, 0, ROWS, COLS, None)

    return base.ggml_version().decode(), {
        name: (x.size, lambda k=kind: quantize(k)) for name, kind in (("ggml.mxfp4", 39),
                                                                      ("ggml.nvfp4", 40))}


def measure(work, elements, runs):
    """Rates of `runs` runs, each of as many repetitions as fill a twentieth of a second."""
    work()
    start = time.process_time()
    work()
    once = max(time.process_time() - start, 1e-6)
    repeat = max(1, int(0.05 / once))
    rates = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(repeat):
            work()
        rates.append(elements * repeat / max(time.process_time() - start, 1e-9) / 1e6)
    return rates


def say(**line):
    print(json.dumps(line), flush=True)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for name, operations, prepare in SYSTEMS:
        try:
            version, works = prepare()
        except Exception as reason:  # whatever a library does when it is not all there
            for operation in operations:
                say(system=name, operation=operation, absent=f"{type(reason).__name__}: {reason}")
            continue
        for operation in operations:
            if operation not in works:
                say(system=name, operation=operation, absent="this version does not have it")
                continue
            elements, work = works[operation]
            try:
                rates = measure(work, elements, runs)
            except Exception as reason:
                say(system=name, operation=operation, absent=f"{type(reason).__name__}: {reason}")
                continue
            say(system=name, version=version, operation=operation, elements=elements,
                runs=[round(rate, 2) for rate in rates])


main()
