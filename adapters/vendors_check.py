"""make vendors-check: the systems that run on a CPU, each against every instance that it serves.

    vendors_check.py ASSAY OUT [NAME...]     NAME: an adapter, or NAME:OPTIONS, instead of all

Vector classes and a file of made tensors of all kinds; results of each system lie beside OUT.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import time

import numpy

CLASSES = "special,sweep16,edges,random,heavy"
# Adapter, the recipes it may serve, the variable that names its folder (None: a package). Longest first.
SYSTEMS = [
    ("alto", "alto.*(*)", "ASSAY_ALTO"),
    ("gfloat", "cast.gfloat(*T=f32*)", None),
    ("tilekernels", "tilekernels.*(*)", "ASSAY_TILEKERNELS"),
    ("flashinfer", "flashinfer.*(*)", "ASSAY_FLASHINFER"),
    ("quark", "quark.*(*)", None),
    ("microxcaling", "microxcaling.*(*)", "ASSAY_MICROXCALING"),
    ("torch", "cast.torch(*)", None),
    ("ml_dtypes", "cast.ml_dtypes(*)", None),
    ("torchao", "torchao.mx(*device=cpu*),torchao.nvfp4(*device=cpu*)", None),
    ("torchao:main", "torchao.mx(*version=main*),torchao.nvfp4(*device=cpu*)", "ASSAY_TORCHAO"),
    ("compressed_tensors", "ct.*(*)", None),
    ("mlx", "mlx.*(*)", None),
    ("gguf", "ggml.*(*)", None),
    ("ggml", "ggml.*(*)", "ASSAY_GGML"),
    ("fouroversix", "fouroversix.*(*)", "ASSAY_FOUROVERSIX"),
    ("deepgemm", "deepgemm.*(*)", "ASSAY_DEEPGEMM"),
    ("alto:4over6", "alto.nvfp4.4over6(*)", "ASSAY_ALTO_4OVER6"),
]
LEFT_OUT = ("unsupported",)


def made(rng, shape):
    """Kinds of f32 tensors, name -> values."""
    normal = rng.standard_normal(shape)
    sign = numpy.where(rng.random(shape) < 0.5, -1.0, 1.0)
    grid = numpy.array([0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 15, 480])
    rows = numpy.exp2(rng.integers(-20, 20, (shape[0], 1)).astype(float))
    bits = rng.integers(0, 2**32, shape, dtype=numpy.uint64).astype(numpy.uint32).view(numpy.float32)
    ties = sign * rng.choice(grid, shape) * rows
    near = ties.astype(numpy.float32).view(numpy.uint32) + rng.integers(-2, 3, shape).astype(numpy.uint32)
    sparse = numpy.where(rng.random(shape) < 0.01, normal * 100, 0 * sign)
    kinds = {
        "normal": normal,
        "uniform": rng.uniform(-1, 1, shape),
        "heavy": sign * numpy.exp(3 * normal),
        "outliers": numpy.where(rng.random(shape) < 0.001, normal * 1e4, normal),
        "ties": ties,
        "near": near.view(numpy.float32),
        "binades": sign * numpy.exp2(rng.integers(-100, 100, (shape[0], shape[1] // 32, 1)) +
                                     rng.uniform(-12, 0, (shape[0], shape[1] // 32, 32))
                                     ).reshape(shape),
        "tiny": sign * numpy.exp2(rng.uniform(-149, -120, shape)),
        "huge": sign * numpy.exp2(rng.uniform(110, 127.9, shape)),
        "small": sign * numpy.exp2(rng.uniform(-30, -8, shape)),
        "powers": sign * numpy.exp2(rng.integers(-30, 30, shape)),
        "sparse": sparse,
        "integers": rng.integers(-448, 449, shape).astype(float),
        "zeros": 0.0 * sign,
        "constant": numpy.full(shape, 1 / 3),
        "bits": numpy.where(numpy.isfinite(bits), bits, 0),
        "positive": numpy.abs(normal) + 1e-3,
        "rows": normal * rows,
        "sixes": numpy.where(rng.random(shape) < 0.1, 6.0, rng.uniform(-6, 6, shape)),
        "maxima": numpy.where(rng.random(shape) < 0.05, 448.0, normal * 100),
        "one_nan": numpy.where(numpy.arange(shape[1])[None] + 0 * normal == 5, numpy.nan, normal),
        "one_inf": numpy.where(numpy.arange(shape[1])[None] + 0 * normal == 37, numpy.inf, normal),
        "poison": numpy.where(rng.random(shape) < 0.002, rng.choice([numpy.nan, numpy.inf, -numpy.inf],
                                                                     shape), normal),
    }
    return {name: numpy.asarray(values).astype(numpy.float32) for name, values in kinds.items()}


def narrow(values):
    """bf16 bits, nearest even."""
    bits = values.view(numpy.uint32).astype(numpy.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)
    return numpy.where(numpy.isnan(values), 0x7FC0, rounded).astype(numpy.uint16)


def write_inputs(path, shape=(128, 128)):
    tensors = {}
    with numpy.errstate(all="ignore"):
        for name, values in made(numpy.random.default_rng(2026), shape).items():
            tensors[name + ".f32"] = ("F32", values)
            tensors[name + ".bf16"] = ("BF16", narrow(values))
            tensors[name + ".f16"] = ("F16", values.astype(numpy.float16))
    header, blobs, at = {}, [], 0
    for name, (kind, values) in tensors.items():
        blob = values.tobytes()
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def left_open(verdict):
    """A tensor of which the contract judges nothing (a NaN under a tensor scale)."""
    return (verdict["verdict"] == "error" and not verdict["mismatched_elements"] and
            "no case was executed" in (verdict.get("reason") or ""))


def judge(assay, adapter, recipes, out, more):
    command = [assay, "run", "--adapter", adapter, "--recipe", recipes, "--repeat", "1",
               "--max-failures", "3", "-o", out, *more]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        with open(out) as results:
            return json.load(results), done.stderr
    except (OSError, ValueError):
        return None, done.stderr


def system(assay, folder, adapter, recipes, files):
    """(verdicts, version, trouble)"""
    verdicts, about, trouble = [], "", ""
    for index, more in enumerate([["--class", CLASSES]] + [["--input", file] for file in files]):
        name = f"{folder}/{adapter.replace(':', '.').replace('/', '_')}.{index}.json"
        results, said = judge(assay, adapter, recipes, name, more)
        if results is None:
            return verdicts, about, said.strip()[-300:]
        for told in results.get("adapters", []):
            about = told.get("version") or about
            trouble = told.get("message") or told.get("error") or trouble
        verdicts += [v for v in results["verdicts"] if v["verdict"] not in LEFT_OUT]
        if not verdicts:
            return [], about, trouble or said.strip()[-300:]
    return verdicts, about, trouble


def row_of(assay, folder, files, adapter, recipes, variable):
    if variable and variable not in os.environ:
        return {"system": adapter, "run": False, "reason": f"set {variable} to its folder"}
    start = time.time()
    spoken = adapter
    if variable and ":" in adapter:
        spoken = adapter.split(":")[0] + ":" + os.environ[variable]
    verdicts, version, trouble = system(assay, folder, spoken, recipes, files)
    if not verdicts:
        return {"system": adapter, "run": False, "reason": trouble}
    against = [v for v in verdicts if v["verdict"] not in ("pass", "acceptable") and not left_open(v)]
    return {"system": adapter, "run": True, "version": version,
            "instances": len({v["recipe"] for v in verdicts}),
            "cases": sum(v["cases"] for v in verdicts),
            "codes": sum(v["elements"] for v in verdicts),
            "differ": sum(v["mismatched_elements"] for v in verdicts),
            "bad": [{k: v.get(k) for k in ("recipe", "class", "verdict", "reason", "smallest")}
                    for v in against], "seconds": round(time.time() - start, 1)}


def tell(row):
    if not row["run"]:
        print(f"{row['system']:20} not run: {row['reason']}", flush=True)
        return
    print(f"{row['system']:20} {row['instances']:4} instances {row['cases']:7,} cases "
          f"{row['codes']:13,} codes {row['differ']:8,} differ {row['seconds']:6.1f} s  "
          f"{row['version']}", flush=True)
    for v in row["bad"][:6]:
        print(f"    {v['verdict']} {v['recipe']} {v['class']}: {(v.get('reason') or '')[:160]}")


def main():
    assay, out, *names = sys.argv[1:]
    folder = os.path.join(os.path.dirname(out) or ".", "vendors")
    os.makedirs(folder, exist_ok=True)
    made_file = folder + "/made.safetensors"
    write_inputs(made_file)
    files = [made_file]
    recorded = os.path.join(os.path.dirname(out) or ".", "recorded", "inputs.safetensors")
    if os.path.exists(recorded):
        files.append(recorded)
    begun = time.time()
    wanted = [known for known in SYSTEMS if not names or known[0] in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(row_of, assay, folder, files, *known) for known in wanted]
        rows = []
        for task in concurrent.futures.as_completed(tasks):
            rows.append(task.result())
            tell(rows[-1])
    rows.sort(key=lambda row: [known[0] for known in SYSTEMS].index(row["system"]))
    seconds = round(time.time() - begun, 1)
    with open(out, "w") as results:
        json.dump({"systems": rows, "seconds": seconds}, results, indent=1)
    ran = [row for row in rows if row["run"]]
    bad = sum(len(row["bad"]) for row in ran)
    print(f"{len(ran)} systems of {len(rows)}, {sum(row['codes'] for row in ran):,} codes, "
          f"{sum(row['differ'] for row in ran)} differ, {bad} verdicts against, {seconds} s: {out}")
    sys.exit(int(bool(bad) or not ran))


if __name__ == "__main__":
    main()
