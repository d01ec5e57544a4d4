"""Drives `assay eval`: every quantization and dequantization of the experiments is its answer.

Tensors travel as safetensors files, read and written here (numpy is all it takes). `ASSAY` names
the program; without it, ./assay of the source tree.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ASSAY", str(ROOT / "assay"))

NUMBERS = {"F64": numpy.float64, "F32": numpy.float32, "F16": numpy.float16, "U8": numpy.uint8,
           "I32": numpy.int32, "U32": numpy.uint32, "U64": numpy.uint64, "I64": numpy.int64}
NAMES = {numpy.dtype(number): name for name, number in NUMBERS.items()}


class Failure(Exception):
    """A run of assay that did not end well; its own message says why."""


def write(path, tensors):
    header, offset = {}, 0
    arrays = {name: numpy.ascontiguousarray(a) for name, a in tensors.items()}
    for name, a in arrays.items():
        header[name] = {"dtype": NAMES[a.dtype], "shape": list(a.shape),
                        "data_offsets": [offset, offset + a.nbytes]}
        offset += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for a in arrays.values():
            f.write(a.tobytes())


def read(path):
    """name -> array; BF16 comes as float32, formats that numpy has not as bytes."""
    with open(path, "rb") as f:
        data = f.read()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), memoryview(data)[8 + size:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        raw = body[slice(*entry["data_offsets"])]
        if entry["dtype"] == "BF16":
            high = numpy.frombuffer(raw, numpy.uint16).astype(numpy.uint32) << 16
            a = high.view(numpy.float32)
        else:
            a = numpy.frombuffer(raw, NUMBERS.get(entry["dtype"], numpy.uint8))
        tensors[name] = a.reshape(entry["shape"]) if a.size == numpy.prod(entry["shape"]) else a
    return tensors


def _run(arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join([PROGRAM, *arguments])}: {done.stderr.strip()}")
    return done.stdout


def quantize(recipe, x, sets=None, bound=None, layout=False):
    """The answers of `assay eval RECIPE` for the matrix x: outputs by name, `y` the decoded values.

    sets: further inputs of one value; bound: further inputs by name, as arrays."""
    with tempfile.TemporaryDirectory(prefix="assay.") as folder:
        given, answered = f"{folder}/in.safetensors", f"{folder}/out.safetensors"
        write(given, {"x": x, **(bound or {})})
        arguments = ["eval", recipe, "-i", given, "-o", answered, "--tensor", "x", "--decode"]
        for name, value in (sets or {}).items():
            arguments += ["--set", f"{name}={value}"]
        for name in bound or {}:
            arguments += ["--bind", f"{name}={name}"]
        if layout:
            arguments.append("--layout")
        _run(arguments)
        return {name.split("/", 1)[1]: a for name, a in read(answered).items()}


def recipe(name):
    """What `assay recipes NAME --json` says of an instance."""
    return json.loads(_run(["recipes", name if "(" in name else f"{name}()", "--json"]))


def version():
    return _run(["--version"]).strip()
