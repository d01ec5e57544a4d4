"""ALTO's PyTorch references on a CPU, from a checkout: NVFP4 and AMD-FP4, four over six, MXFP4, MXFP8, MX6/MX9."""

import importlib
import os
import sys

import worker

common = worker.helper("vendor_common")


class Driver:
    """Stands in for a GPU driver: Triton asks for one when ALTO's modules are imported."""

    class utils:
        @staticmethod
        def get_device_properties(*_):
            return {"multiprocessor_count": 1, "max_shared_mem": 1 << 17}

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, *_):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        import torch

        return torch.cpu

    def get_benchmarker(self):
        return lambda *_, **__: 0


folder = ""


def describe(options):
    global folder
    torch = common.torch()
    folder = common.checkout(options, "alto", "alto/kernels", "github.com/AMD-AGI/ALTO")
    triton = common.need("triton", "make vendors installs it")
    triton.runtime.driver.set_active(Driver())
    os.environ.setdefault("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    common.package("alto", os.path.join(folder, "alto"))
    sys.path[:0] = [os.path.join(folder, "tests", "unittest"), folder]
    return "ALTO", f"{common.commit(folder)} with PyTorch {torch.__version__}", "CPU"


def reference(name, function):
    """A function of tests/unittest/NAME/utils.py; the branches of ALTO do not have all of them."""
    module = importlib.import_module(name + ".utils")
    if not hasattr(module, function):
        worker.unsupported(f"this branch of ALTO has no {function}")
    return getattr(module, function)


def nvfp4(settings, tensors):
    import torch

    x, square, kind = tensors["x"], settings["tile"] == "16x16", settings["G"]
    axis = -2 if settings["tile"] == "16x1" or settings.get("size", "").endswith("x1") else -1
    if settings["two"] == "outer":
        rows, columns = map(int, settings["size"].split("x"))
        convert = reference("nvfp4", "convert_to_nvfp4_outer_block_pytorch")
        flat = rows == 1 or columns == 1
        data, scale, outer = convert(x, 16, max(rows, columns), axis, square, not flat, kind)
        return {"Q": unpack(data, axis), "S": scale, "A": outer}
    outer = None
    if settings["two"] == "tensorwise":
        top = 448.0 if kind == "e4m3" else 114688.0
        amax = torch.nan_to_num(x.float().abs().max(), nan=0.0)
        outer = torch.clamp(amax / (top * 6.0), min=1e-30).reshape(1)
    convert = reference("nvfp4", "convert_to_nvfp4_pytorch")
    data, scale = convert(x, 16, axis, square, outer, kind)
    return {"Q": unpack(data, axis), "S": scale, **({} if outer is None else {"A": outer})}


def unpack(data, axis):
    """Codes of pairs along the axis of quantization."""
    if axis == -1:
        return common.nibbles(common.bits(data))
    return common.nibbles(common.bits(data.transpose(-1, -2))).T.copy()


def over(settings, tensors):
    x, outer = tensors["x"], None
    if settings["two"] == "tensorwise":
        outer = reference("nvfp4", "compute_dynamic_outer_scale_4o6_pytorch")(x)
    data, scale = reference("nvfp4", "convert_to_nvfp4_4o6_pytorch")(
        x, 16, -1, settings["tile"] == "16x16", outer, settings["error"])
    return {"Q": unpack(data, -1), "S": scale, **({} if outer is None else {"A": outer})}


def mxfp4(settings, tensors):
    data, scale = reference("mxfp4", "convert_to_mxfp4_pytorch")(
        tensors["x"], 32, -1, settings["tile"] == "32x32")
    return {"Q": unpack(data, -1), "S": scale}


def mxfp8(settings, tensors):
    data, scale = reference("mxfp8", "convert_to_mxfp8_pytorch")(
        tensors["x"], 32, settings["F"], -1, settings["tile"] == "32x32")
    return {"Q": data, "S": scale}


def mx69(settings, tensors):
    module = sys.modules["alto_mx"]
    x, width = tensors["x"], {"9": 8, "6": 5}[settings["mx"]]
    return {"y": module._mx_fake_quantize(x, 16, width)}


RULES = {"alto.nvfp4": nvfp4, "alto.nvfp4.4over6": over, "alto.mxfp4": mxfp4, "alto.mxfp8": mxfp8,
         "alto.mx69": mx69}
NEEDED = {"alto.nvfp4.4over6": ("nvfp4", "convert_to_nvfp4_4o6_pytorch"),
          "alto.nvfp4": ("nvfp4", "convert_to_nvfp4_outer_block_pytorch")}


def supports(contract):
    if contract.setting("impl", "reference") != "reference" or \
            contract.setting("form", "fake") != "fake":
        return "only the references run on a CPU: impl=reference, form=fake"
    if contract.setting("device", "ieee") != "ieee":
        return "a CPU divides: device=ieee"
    reason = common.supports(RULES, "ALTO", contract)
    if not reason and contract.recipe in NEEDED:
        reference(*NEEDED[contract.recipe])
    if not reason and contract.recipe == "alto.mx69":
        path = os.path.join(folder, "alto", "modifiers", "quantization", "mx.py")
        if not os.path.exists(path):
            return "this branch of ALTO has no fake quantizer for MX6 and MX9"
        if "alto_mx" not in sys.modules:
            common.file_module(path, "alto_mx")
    return reason


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
