"""Two-level scaling: ALTO's NVFP4 under outer blocks against one scale of the tensor.

The data: 1024 rows (tokens) of 1024 columns (channels), magnitudes log-normal, exp(sigma * normal),
with random signs. Massive channels: 4 columns are multiplied by a factor. Massive tokens: only 8
elements of each of 4 columns are. The total SNR hangs on few elements, so each case is drawn from
several seeds and all margins are given.
"""

import numpy

import experiments_assay as assay

SEEDS, ROWS, COLUMNS = tuple(range(2026, 2032)), 1024, 1024
SIGMAS = (1.0, 2.0, 3.0)
KINDS = (("none", 1), ("tokens", 100), ("tokens", 1000), ("channels", 100), ("channels", 1000))
HEADLINE = (2.0, "channels", 100)
TENSORWISE = "alto.nvfp4(T=f32, two=tensorwise)"
OUTER = {size: f"alto.nvfp4(T=f32, two=outer, size={size})" for size in ("1x128", "1x64", "64x64")}


def activations(sigma, kind, factor, seed):
    random = numpy.random.Generator(numpy.random.PCG64(seed))
    x = numpy.exp(sigma * random.standard_normal((ROWS, COLUMNS)))
    x *= random.choice((-1.0, 1.0), x.shape)
    rows, columns = random.choice(ROWS, 8, False), random.choice(COLUMNS, 4, False)
    if kind != "none":
        x[numpy.ix_(rows if kind == "tokens" else range(ROWS), columns)] *= factor
    return x.astype(numpy.float32)


def ratios(x, recipe):
    """SNR over all elements, the mean over the rows' own (dB), the share that becomes zero."""
    y = assay.quantize(recipe, x, {"D": "f32"})["y"].astype(numpy.float64)
    signal, error = x.astype(numpy.float64) ** 2, (x - y) ** 2
    return {"snr": float(10 * numpy.log10(signal.sum() / error.sum())),
            "snr_rows": float((10 * numpy.log10(signal.sum(axis=1) / error.sum(axis=1))).mean()),
            "zeros": float(numpy.mean((x != 0) & (y == 0)))}


def mean(draws):
    return {key: float(numpy.mean([d[key] for d in draws])) for key in draws[0]}


def case_of(sigma, kind, factor):
    drawn = [activations(sigma, kind, factor, seed) for seed in SEEDS]
    whole = [ratios(x, TENSORWISE) for x in drawn]
    outer = {}
    for size, recipe in OUTER.items():
        blocks = [ratios(x, recipe) for x in drawn]
        margins = [b["snr"] - w["snr"] for b, w in zip(blocks, whole)]
        outer[size] = {**mean(blocks), "margins": margins, "margin": float(numpy.mean(margins)),
                       "margin_least": min(margins)}
    return {"sigma": sigma, "massive": kind, "factor": factor, "tensorwise": mean(whole), "outer": outer}


def experiment():
    cases = [case_of(sigma, kind, factor) for sigma in SIGMAS for kind, factor in KINDS]
    head = next(c for c in cases if (c["sigma"], c["massive"], c["factor"]) == HEADLINE)
    return {"data": " ".join(__doc__.split("\n\n")[1].split()), "seeds": SEEDS, "shape": [ROWS, COLUMNS],
            "headline": head, "cases": cases}


def title(case):
    return f"sigma {case['sigma']:g}" + (
        "" if case["massive"] == "none" else f", {case['massive']} x{case['factor']}")


def markdown(result):
    lines = ["| data | tensorwise | " + " | ".join(f"outer {s}" for s in OUTER) + " | " +
             " | ".join(f"margin of {s} (least)" for s in OUTER) + " | mean of the rows' SNR: tensorwise, " +
             ", ".join(OUTER) + " |", "|" + "---|" * (3 + 2 * len(OUTER))]
    for c in result["cases"]:
        outer = list(c["outer"].values())
        lines.append(
            f"| {title(c)} | {c['tensorwise']['snr']:.2f} | " +
            " | ".join(f"{a['snr']:.2f}" for a in outer) + " | " +
            " | ".join(f"{a['margin']:+.2f} ({a['margin_least']:+.2f})" for a in outer) + " | " +
            ", ".join(f"{a['snr_rows']:.2f}" for a in [c["tensorwise"], *outer]) + " |")
    return ("SNR of the quantization over all elements in dB, mean over the seeds; margins are outer less "
            "tensorwise, in brackets the least of the seeds.\n\n" + "\n".join(lines))
