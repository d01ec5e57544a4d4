"""ggml's own reference quantizers, from the shared library of a ggml or llama.cpp installation."""

import ctypes
import glob
import os

import worker

common = worker.helper("vendor_common")
records = worker.helper("ggml_records")
TYPES = {"Q4_0": 2, "Q8_0": 8, "MXFP4": 39, "NVFP4": 40}
chunk = None


def library(folder):
    for place in (folder, folder + "/lib", folder + "/src", folder + "/build/src", folder + "/bin",
                  folder + "/build/bin"):
        found = sorted(glob.glob(os.path.join(place, "libggml-base.so*")))
        if found:
            return found[0]
    raise worker.Missing(f"{folder} has no libggml-base.so: name the folder where ggml is installed")


def describe(options):
    global chunk
    common.torch()
    folder = options or os.environ.get("ASSAY_GGML", "")
    if not folder:
        raise worker.Missing("build github.com/ggml-org/ggml as shared libraries and say "
                             "--adapter ggml:FOLDER, or set ASSAY_GGML")
    path = folder if os.path.isfile(folder) else library(folder)
    base = ctypes.CDLL(path)
    base.ggml_version.restype = base.ggml_commit.restype = ctypes.c_char_p
    chunk = base.ggml_quantize_chunk
    chunk.restype = ctypes.c_size_t
    chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + [ctypes.c_int64] * 3 + \
        [ctypes.c_void_p]
    return "ggml", f"{base.ggml_version().decode()} {base.ggml_commit().decode()}", "CPU"


def rule(kind):
    def quantize(settings, tensors):
        import numpy

        x = numpy.ascontiguousarray(tensors["x"].float().numpy())
        rows, columns = x.shape
        data = numpy.zeros(2 * x.size, numpy.uint8)
        size = chunk(TYPES[kind], x.ctypes.data, data.ctypes.data, 0, rows, columns, None)
        return records.split(kind, data[:size], x.shape)
    return quantize


RULES = {"ggml." + kind.lower(): rule(kind) for kind in TYPES}


def supports(contract):
    if contract.setting("impl", "c") != "c":
        return "ggml's own writing of it is impl=c"
    return common.supports(RULES, "ggml", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
