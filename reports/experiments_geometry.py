"""One scale for a run of elements (1D) or for a square (2D), measured on real weights.

    python experiments_geometry.py --weights FILE.safetensors [--json FILE] [--markdown FILE] [--svg FILE]

For each pair of recipes and all 2-D tensors whose sides are multiples of 128: the reconstruction
error, non-zero values that become zero, elements whose decoded value depends on whether the matrix
or its transpose was quantized, elements that change when the rows come in another order, and the
bytes of scales as stored. Without a place the Markdown goes to standard output.
"""

import argparse
import json
import pathlib
import sys

try:
    import numpy
except ImportError as reason:
    print(f"assay: {reason}: `make deps` installs what this needs", file=sys.stderr)
    sys.exit(4)

import experiments_assay as assay
import experiments_svg as svg

SEED = 2026
# name, the recipe without its tile, the tile in 1D and in 2D
PAIRS = (
    ("te.nvfp4", "te.nvfp4(T=f32, tile={}, math=exact)", "1x16", "16x16"),
    ("alto.nvfp4", "alto.nvfp4(G=e4m3, T=f32, two=tensorwise, tile={}, device=ieee)", "1x16", "16x16"),
    ("te.fp8.block", "te.fp8.block(F=e4m3, T=f32, tile={}, po2=yes)", "1x128", "128x128"),
    ("te.fp8.block, any scale", "te.fp8.block(F=e4m3, T=f32, tile={}, po2=no)", "1x128", "128x128"),
    ("te.mxfp8", "te.mxfp8(F=e4m3, T=f32, tile={})", "1x32", "32x32"),
)
COUNTS = ("elements", "signal", "error", "nonzero", "underflows", "transposed", "permuted",
          "scale_bytes", "scale_bytes_in_layout")


def answer(recipe, x, layout=False):
    """Decoded values in f32 and the bytes of the scales, logical and in the recipe's layout."""
    sets = {"D": "f32"}
    if recipe.startswith("te.nvfp4("):
        sets["A"] = float(numpy.abs(x).max()).hex()
    outputs = assay.quantize(recipe, x, sets, layout=layout)
    scales = [name for name in outputs if "." not in name and name not in ("Q", "y")]
    return outputs["y"], sum(outputs[s].nbytes for s in scales), \
        sum(outputs.get(f"{s}.bytes", outputs[s]).nbytes for s in scales)


def measure(recipe, x, random):
    y, logical, placed = answer(recipe, x, layout=True)
    across = answer(recipe, numpy.ascontiguousarray(x.T))[0].T
    order = random.permutation(len(x))
    mixed = numpy.empty_like(y)
    mixed[order] = answer(recipe, x[order])[0]
    exact = x.astype(numpy.float64)
    return {"elements": x.size, "signal": float((exact**2).sum()), "error": float(((exact - y)**2).sum()),
            "nonzero": int((x != 0).sum()), "underflows": int(((x != 0) & (y == 0)).sum()),
            "transposed": int((y != across).sum()), "permuted": int((y != mixed).sum()),
            "scale_bytes": logical, "scale_bytes_in_layout": placed}


def summary(recipe, tile, parts):
    total = {c: sum(p[c] for p in parts) for c in COUNTS}
    n, relative = total["elements"], total["error"] / total["signal"]
    return {"recipe": recipe, "tile": tile, "sha256": assay.recipe(recipe)["sha256"], "elements": n,
            "relative_mse": relative, "snr": float(-10 * numpy.log10(relative)) if relative else None,
            "underflows": total["underflows"], "underflow_share": total["underflows"] / total["nonzero"],
            "transpose_differs": total["transposed"] / n, "permutation_changes": total["permuted"] / n,
            "scale_bytes_per_element": total["scale_bytes"] / n,
            "scale_bytes_per_element_in_layout": total["scale_bytes_in_layout"] / n}


def experiment(weights, progress=lambda words: None):
    tensors = assay.read(weights)
    fit = {name: numpy.asarray(a, numpy.float32) for name, a in tensors.items()
           if a.ndim == 2 and a.dtype.kind == "f" and a.shape[0] % 128 == 0 == a.shape[1] % 128
           and a.any() and numpy.isfinite(a).all()}
    if not fit:
        raise assay.Failure(f"{weights}: no 2-D tensor of finite numbers has sides that are multiples of 128")
    rows = []
    for name, pattern, *tiles in PAIRS:
        for tile in tiles:
            recipe = pattern.format(tile)
            progress(recipe)
            random = numpy.random.Generator(numpy.random.PCG64(SEED))
            rows.append({"name": name, **summary(recipe, tile, [measure(recipe, x, random)
                                                                for x in fit.values()])})
    return {"weights": pathlib.Path(weights).name, "tensors": len(fit),
            "left_out": sorted(set(tensors) - set(fit)), "seed": SEED, "rows": rows}


def markdown(result):
    lines = [f"{result['tensors']} tensors of `{result['weights']}`, {result['rows'][0]['elements']:,} "
             f"elements; {len(result['left_out'])} tensors left out (not 2-D, or a side is no multiple "
             "of 128).", "",
             "| recipe | tile | relative MSE | SNR, dB | become zero | row-wise and column-wise differ | "
             "change when rows are permuted | scale bytes an element | in the layout |",
             "|" + "---|" * 9]
    for r in result["rows"]:
        snr = "exact" if r["snr"] is None else f"{r['snr']:.2f}"
        lines.append(f"| {r['name']} | {r['tile']} | {r['relative_mse']:.3e} | {snr} | "
                     f"{100 * r['underflow_share']:.3f} % | {100 * r['transpose_differs']:.2f} % | "
                     f"{100 * r['permutation_changes']:.2f} % | {r['scale_bytes_per_element']:.5f} | "
                     f"{r['scale_bytes_per_element_in_layout']:.5f} |")
    return "\n".join(lines)


def picture(result):
    panels = (("SNR, dB", "snr", lambda v: f"{v:.2f}"),
              ("non-zero values that become zero", "underflow_share", lambda v: f"{100 * v:.3f} %"),
              ("row-wise and column-wise values differ", "transpose_differs", lambda v: f"{100 * v:.1f} %"),
              ("change when the rows are permuted", "permutation_changes", lambda v: f"{100 * v:.1f} %"),
              ("bytes of scales an element", "scale_bytes_per_element", lambda v: f"{v:.5f}"))
    parts, bottom = [svg.text(20, 24, f"1D and 2D scales on {result['weights']}", "title")], 0
    for i, (title, key, unit) in enumerate(panels):
        groups = {}
        for r in result["rows"]:
            style = 3 if r["tile"].startswith("1x") else 2
            groups.setdefault(r["name"], []).append((r["tile"], r[key] or 0, style))
        drawn, end = svg.bars(20 + i % 2 * 470, 70 + i // 2 * 270, 450, title, groups.items(), unit)
        parts, bottom = parts + drawn, max(bottom, end)
    return svg.document(960, bottom + 10, "1D and 2D scales", parts)


def write(path, content):
    try:
        pathlib.Path(path).write_text(content, encoding="utf-8")
    except OSError as reason:
        raise assay.Failure(f"{path}: {reason.strerror}") from reason


def main():
    p = argparse.ArgumentParser(prog="assay report geometry", description=__doc__.split("\n")[0])
    p.add_argument("--weights", required=True, metavar="FILE.safetensors")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--markdown", metavar="FILE")
    p.add_argument("--svg", metavar="FILE")
    o = p.parse_args()
    try:
        result = experiment(o.weights, lambda words: print(f"assay: {words}", file=sys.stderr))
        if o.json:
            write(o.json, json.dumps(result, indent=1) + "\n")
        if o.markdown:
            write(o.markdown, markdown(result) + "\n")
        if o.svg:
            write(o.svg, picture(result))
        if not (o.json or o.markdown or o.svg):
            print(markdown(result))
    except OSError as reason:
        print(f"assay: {o.weights}: {reason.strerror}", file=sys.stderr)
        return 4
    except (ValueError, KeyError, AttributeError, TypeError) as reason:
        print(f"assay: {o.weights}: is no safetensors file: {reason}", file=sys.stderr)
        return 4
    except assay.Failure as reason:
        print(f"assay: {reason}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
