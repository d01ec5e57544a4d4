"""AMD Quark's fake quantizers on a CPU. Its C++ part is compiled at the first use (ninja, g++)."""

import worker

common = worker.helper("vendor_common")
NAMES = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "e2m3": "fp6_e2m3", "e3m2": "fp6_e3m2",
         "e2m1": "fp4", "mxint8": "int8"}
MODULE = "quark.torch.kernel.hw_emulation.hw_emulation_interface"


def describe(options):
    common.no_options(options)
    torch = common.torch()
    module = common.need(MODULE, "make vendors installs amd-quark (it needs ninja and g++ to run)")
    module.fake_quantize_mx(torch.zeros(1, 32), -1, 32, "even", mx_element_dtype="fp4")
    from importlib.metadata import version

    return "AMD Quark", f"{version('amd-quark')} with PyTorch {torch.__version__}", "CPU"


def mx(settings, tensors):
    import sys

    quantize = sys.modules[MODULE].fake_quantize_mx
    result = quantize(tensors["x"], -1, 32, settings["rule"], mx_element_dtype=NAMES[settings["F"]])
    return {"y": result}


def mx69(settings, tensors):
    import sys

    quantize = sys.modules[MODULE].fake_quantize_mx6_mx9
    width = {"6": 5, "9": 8}[settings["mx"]]
    return {"y": quantize(tensors["x"], -1, 16, quant_bit=width, sub_block_size=2)}


RULES = {"quark.mx": mx, "quark.mx69": mx69}


def supports(contract):
    return common.supports(RULES, "AMD Quark", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
