"""What the workers of Python systems share: tensors in and out, checkouts that the user names.

A worker has a table RULES: recipe -> function(settings, tensors) -> {output: codes}, where `tensors`
are the contract's inputs as torch tensors, and codes are torch tensors or numpy arrays.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import types

import worker

TORCH = {
    "f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu",
    "u32": "int32", "i32": "int32", "u64": "int64", "u8": "uint8", "bool": "uint8",
}


def need(module, install):
    """Imports a library, or tells what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as reason:
        raise worker.Missing(f"{reason}: {install}") from reason


def torch():
    module = need("torch", "make vendors installs it")
    module.set_num_threads(1)
    return module


def no_options(options):
    if options:
        worker.failed(f"unknown option '{options}': there are none")


def checkout(options, name, inside, where):
    """The folder of a system that is no package: the option, or $ASSAY_NAME. `inside`: a file of it."""
    variable = "ASSAY_" + name.upper()
    folder = options or os.environ.get(variable, "")
    if not folder:
        raise worker.Missing(
            f"{name} is no package: clone {where} and say --adapter {name}:FOLDER, or set {variable}")
    if not os.path.exists(os.path.join(folder, inside)):
        raise worker.Missing(f"{folder} has no {inside}: name a checkout of {where}")
    return os.path.abspath(folder)


def commit(folder):
    """The checkout's commit, or the folder's name where git does not know it."""
    try:
        text = subprocess.run(["git", "-C", folder, "rev-parse", "--short=8", "HEAD"],
                              capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        text = ""
    return text or os.path.basename(folder)


def package(name, *folders):
    """A package without its own __init__ (which may want a GPU): its submodules import as usual."""
    module = types.ModuleType(name)
    module.__path__ = list(folders)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    if "." in name:
        parent, _, child = name.rpartition(".")
        setattr(sys.modules[parent], child, module)
    return module


def file_module(path, name):
    """One file as a module of that name."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# ---- tensors ----

def tensor(source):
    """A contiguous torch tensor of the input's type (a copy: torch wants it writable)."""
    import numpy
    import torch as library

    plain = {1: numpy.uint8, 2: numpy.int16, 4: numpy.int32, 8: numpy.int64}
    codes = numpy.array(source.codes.view(plain[source.codes.dtype.itemsize]), order="C")
    name = TORCH.get(source.type)
    whole = library.from_numpy(codes)
    return whole.view(getattr(library, name)) if name else whole


def bits(values):
    """The codes of a torch tensor, as unsigned integers."""
    import numpy
    import torch as library

    values = values.detach().contiguous()
    plain = {1: library.uint8, 2: library.int16, 4: library.int32, 8: library.int64}
    size = values.element_size()
    codes = values.view(plain[size]).numpy()
    return codes.view(numpy.dtype(f"u{size}"))


def nibbles(packed):
    """Two codes of each byte, the low one first."""
    import numpy

    packed = numpy.asarray(packed).astype(numpy.uint8)
    both = numpy.stack([packed & 15, packed >> 4], -1)
    return both.reshape(*packed.shape[:-1], -1)


def e2m1(values):
    """The codes of numbers that are E2M1's already; the sign bit is kept."""
    import numpy

    values = numpy.asarray(values, dtype=numpy.float32)
    grid = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=numpy.float32)
    return numpy.searchsorted(grid, numpy.abs(values)) % 8 | numpy.signbit(values) << 3


def put(target, codes):
    import numpy

    if not isinstance(codes, numpy.ndarray):
        codes = bits(codes)
    if codes.size != target.codes.size:
        worker.failed(f"{target.name}: {codes.size} codes where {target.codes.size} were asked for")
    target.codes[...] = codes.reshape(target.codes.shape).astype(target.codes.dtype)


# ---- the worker's calls ----

def supports(rules, system, contract):
    """None, or why not. Decode parts and instances of another implementation are not served."""
    if contract.recipe not in rules:
        return f"not a contract of {system}"
    return None


def run(rules, contract, inputs, outputs):
    if all(target.codes.size == 0 for target in outputs.values()):
        return
    tensors = {name: tensor(source) for name, source in inputs.items()}
    answers = rules[contract.recipe](contract.settings, tensors)
    for name, target in outputs.items():
        if name not in answers:
            worker.unsupported(f"the system has no output {name}")
        put(target, answers[name])
