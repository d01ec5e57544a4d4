"""gguf-py's quantizers (numpy): MXFP4, Q4_0, Q8_0. They are a second writing of ggml's own."""

import worker

common = worker.helper("vendor_common")
records = worker.helper("ggml_records")


def describe(options):
    common.no_options(options)
    common.torch()
    common.need("gguf.quants", "make vendors installs gguf")
    from importlib.metadata import version

    return "gguf", version("gguf"), "CPU"


def rule(kind):
    def quantize(settings, tensors):
        import gguf
        import numpy

        x = tensors["x"].float().numpy()
        with numpy.errstate(all="ignore"):
            data = gguf.quants.quantize(x, gguf.GGMLQuantizationType[kind])
        return records.split(kind, data, x.shape)
    return quantize


RULES = {"ggml.mxfp4": rule("MXFP4"), "ggml.q4_0": rule("Q4_0"), "ggml.q8_0": rule("Q8_0")}


def supports(contract):
    if contract.setting("impl", "python") != "python" and contract.recipe in RULES:
        return "gguf's writing of it is impl=python"
    return common.supports(RULES, "gguf", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
