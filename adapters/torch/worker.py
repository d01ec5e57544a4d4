"""PyTorch's casts on the CPU: Tensor.to."""

import worker

NAMES = {
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}


def describe(options):
    try:
        import torch
    except ImportError as reason:
        raise worker.Missing(f"{reason}: make vendors installs it") from reason
    if options:
        worker.failed(f"unknown option '{options}': there are none")
    torch.set_num_threads(1)
    return "PyTorch", torch.__version__, "CPU"


def release():
    import torch

    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


def supports(contract):
    if contract.recipe not in ("cast.torch", "cast.torch.decode"):
        return "not a contract of PyTorch's casts"
    for name in ("F", "T"):
        if contract.setting(name, "f32") not in NAMES:
            return f"PyTorch has no {contract.setting(name)}"
    wanted = contract.setting("version")
    # Only E4M3 changed: it saturates from release 2.13 on.
    if contract.setting("F") == "e4m3" and wanted and (release() >= (2, 13)) != (wanted == "2.13"):
        return "this is the rule of another release: version {}.{} is installed".format(*release())
    return None


def tensor(codes, name):
    import numpy
    import torch

    dtype = getattr(torch, NAMES[name])
    plain = {1: numpy.uint8, 2: numpy.int16, 4: numpy.int32, 8: numpy.int64}[codes.dtype.itemsize]
    # A copy: torch wants memory that is writable and aligned.
    return torch.from_numpy(numpy.array(codes.view(plain), order="C")).view(dtype)


def run(contract, inputs, outputs):
    import torch

    (source,), (target,) = inputs.values(), outputs.values()
    if target.codes.size == 0:
        return
    plain = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    result = tensor(source.codes, source.type).to(getattr(torch, NAMES[target.type]))
    whole = result.view(plain[target.codes.dtype.itemsize]).numpy()
    target.codes[...] = whole.view(target.codes.dtype)
