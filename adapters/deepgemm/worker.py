"""DeepGEMM's casts in PyTorch (deep_gemm/utils/math.py), from a checkout."""

import os

import worker

common = worker.helper("vendor_common")
INSIDE = "deep_gemm/utils/math.py"
math = None


def describe(options):
    global math
    torch = common.torch()
    folder = common.checkout(options, "deepgemm", INSIDE, "github.com/deepseek-ai/DeepGEMM")
    math = common.file_module(os.path.join(folder, INSIDE), "deep_gemm_math")
    return "DeepGEMM", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def cast(settings, tensors):
    x, powers = tensors["x"], settings["scale"] == "ue8m0"
    rows, columns = map(int, settings["tile"].split("x"))
    if settings["F"] == "e2m1":
        data, scale = math.per_token_cast_to_fp4(x, powers, columns)
        codes = common.nibbles(common.bits(data))
    elif rows == 1:
        codes, scale = math.per_token_cast_to_fp8(x, powers, columns)
    elif columns == 1:
        codes, scale = math.per_channel_cast_to_fp8(x, powers, rows)
    else:
        codes, scale = math.per_block_cast_to_fp8(x, powers, rows)
    scale = common.bits(scale)
    return {"Q": codes, "S": scale >> 23 if powers else scale}


RULES = {"deepgemm.cast": cast}


def supports(contract):
    import torch

    saturating = torch.zeros(1).fill_(1e6).to(torch.float8_e4m3fn).view(torch.uint8).item() == 0x7E
    if contract.setting("F") == "e4m3" and contract.setting("torch") == \
            ("overflowing" if saturating else "saturating"):
        return f"PyTorch {torch.__version__} has the other E4M3 cast: parameter torch"
    return common.supports(RULES, "DeepGEMM", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
