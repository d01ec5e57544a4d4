"""gfloat's rounding and encoding (numpy): OCP and P3109 formats."""

import re

import worker

common = worker.helper("vendor_common")
OCP = {"e4m3": "format_info_ocp_e4m3", "e5m2": "format_info_ocp_e5m2", "e2m3": "format_info_ocp_e2m3",
       "e3m2": "format_info_ocp_e3m2", "e2m1": "format_info_ocp_e2m1"}
MODES = {"even": "TiesToEven", "away": "TiesToAway", "zero": "TowardZero", "up": "TowardPositive",
         "down": "TowardNegative", "stochastic": "StochasticFastest"}


def describe(options):
    common.no_options(options)
    common.torch()
    common.need("gfloat", "make vendors installs gfloat")
    from importlib.metadata import version

    return "gfloat", version("gfloat"), "CPU"


def info(name):
    """gfloat's description of a format: OCP's by name, binaryKpP[su][ef] of P3109 by its numbers."""
    import gfloat
    import gfloat.formats as formats

    if name in OCP:
        return getattr(formats, OCP[name])
    found = re.fullmatch(r"binary(\d+)p(\d+)([su])([ef])", name or "")
    if not found:
        return None
    width, precision, sign, domain = found.groups()
    return formats.format_info_p3109(
        int(width), int(precision),
        gfloat.Signedness.Signed if sign == "s" else gfloat.Signedness.Unsigned,
        gfloat.Domain.Extended if domain == "e" else gfloat.Domain.Finite)


def cast(settings, tensors):
    import gfloat
    import numpy

    form, mode = info(settings["F"]), gfloat.RoundMode[MODES[settings["round"]]]
    x = tensors["x"].double().numpy()
    if form.num_nans == 0:  # it raises for a NaN, of which the contract says nothing
        x = numpy.where(numpy.isnan(x), 0, x)
    more = {}
    if "r" in tensors:
        count = int(settings["n"])
        words = common.bits(tensors["r"]).astype(numpy.int64)
        more = {"srbits": words & ((1 << count) - 1), "srnumbits": count}
    with numpy.errstate(all="ignore"):
        values = gfloat.round_ndarray(form, x, mode, settings["over"] == "sat", **more)
        return {"Q": gfloat.encode_ndarray(form, values)}


RULES = {"cast.gfloat": cast}


def supports(contract):
    return common.supports(RULES, "gfloat", contract)


def run(contract, inputs, outputs):
    common.run(RULES, contract, inputs, outputs)
