"""TileKernels' PyTorch reference (tile_kernels/torch/cast.py) on a CPU, from a checkout."""

import os

import worker

common = worker.helper("vendor_common")
INSIDE = "tile_kernels/torch/cast.py"
reference = None


def describe(options):
    global reference
    torch = common.torch()
    folder = common.checkout(options, "tilekernels", INSIDE, "github.com/deepseek-ai/TileKernels")
    for name in ("tile_kernels", "tile_kernels.quant"):
        common.package(name, os.path.join(folder, *name.split(".")))
    # The reference imports one decoder from a module of kernels; casts of numbers do not call it.
    common.package("tile_kernels.quant.common").unpack_from_e2m1fn_x2 = None
    reference = common.file_module(os.path.join(folder, INSIDE), "tile_kernels_reference")
    return "TileKernels", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def cast(settings, tensors):
    x = tensors["x"]
    block = (1, x.shape[1]) if settings["tile"] == "row" else \
        tuple(map(int, settings["tile"].split("x")))
    data, scale = reference.cast(x, settings["F"], block, round_sf=settings["scale"] != "f32")
    codes, scale = common.bits(data), common.bits(scale)
    return {"Q": common.nibbles(codes) if settings["F"] == "e2m1" else codes,
            "S": scale >> 23 if settings["scale"] == "ue8m0" else scale}


RULES = {"tilekernels.cast": cast}


def supports(contract):
    if contract.setting("impl", "reference") != "reference":
        return "only the reference runs on a CPU: impl=reference"
    return common.supports(RULES, "TileKernels' reference", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
