"""ml_dtypes' casts: numpy's astype from and to its types."""

import worker

# Formats of the recipe language -> ml_dtypes' names.
NAMES = {
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e4m3b11fnuz": "float8_e4m3b11fnuz",
    "e4m3i": "float8_e4m3",
    "e3m4i": "float8_e3m4",
    "e8m0": "float8_e8m0fnu",
    "e2m3": "float6_e2m3fn",
    "e3m2": "float6_e3m2fn",
    "e2m1": "float4_e2m1fn",
    "bf16": "bfloat16",
}
NATIVE = {"f64": "float64", "f32": "float32", "f16": "float16"}

# Where a conversion of ml_dtypes is not cast.ieee(round=even, over=nosat), and by which rule.
NOT_IEEE = {
    "e4m3": "a NaN keeps its sign",
    "e5m2": "a NaN keeps its sign",
    "e4m3i": "a NaN keeps its sign",
    "e3m4i": "a NaN keeps its sign",
    "bf16": "a NaN keeps its sign",
    "e2m3": "a NaN becomes -0, a negative one +0",
    "e3m2": "a NaN becomes -0, a negative one +0",
    "e2m1": "a NaN becomes -0, a negative one +0",
    "e8m0": "zero and every negative become NaN, and (2^-127, 2^-126) rounds up",
}

serve_all = False  # option "all": cast.ieee even where ml_dtypes is known to differ


def describe(options):
    global serve_all
    try:
        import ml_dtypes
        import numpy
    except ImportError as reason:
        raise worker.Missing(f"{reason}: pip install ml_dtypes, or make deps") from reason
    if options not in ("", "all"):
        worker.failed(f"unknown option '{options}': say ml_dtypes or ml_dtypes:all")
    serve_all = options == "all"
    return "ml_dtypes", f"{ml_dtypes.__version__} with numpy {numpy.__version__}", "host"


def dtype(name):
    import ml_dtypes
    import numpy

    if name in NAMES:
        return numpy.dtype(getattr(ml_dtypes, NAMES[name]))
    return numpy.dtype(NATIVE[name]) if name in NATIVE else None


def supports(contract):
    setting = contract.setting
    if contract.recipe not in ("cast.ml_dtypes", "cast.ml_dtypes.decode", "cast.ieee"):
        return "not a contract of ml_dtypes"
    if setting("F") not in NAMES:
        return f"ml_dtypes has no {setting('F')}"
    if contract.recipe != "cast.ieee":
        return None
    if setting("round") != "even" or setting("over") != "nosat":
        return "ml_dtypes rounds to nearest even without saturation only"
    if serve_all:
        return None
    if setting("F") in NOT_IEEE:
        return f"{NOT_IEEE[setting('F')]} in ml_dtypes (cast.ml_dtypes; ml_dtypes:all judges it)"
    if setting("T") == "f64":
        return "ml_dtypes rounds f64 to f32 first (cast.ml_dtypes; ml_dtypes:all judges it)"
    return None


def run(contract, inputs, outputs):
    import numpy

    (source,), (target,) = inputs.values(), outputs.values()
    source_type, target_type = dtype(source.type), dtype(target.type)
    if source_type is None or target_type is None:
        worker.unsupported(f"no conversion from {source.type} to {target.type}")
    with numpy.errstate(all="ignore"):
        numpy.copyto(target.codes.view(target_type), source.codes.view(source_type), casting="unsafe")
