"""The catalogue as one self-contained page: every recipe's text, formats, bytes, traps, worked blocks.

    python catalogue.py -o FILE.html

Everything on it is what `assay recipes --json` and `assay explain --json` say. Exit status: 0 done,
4 something could not be read or written.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import jinja2
    from markupsafe import Markup, escape
except ImportError as reason:
    print(f"assay: {reason}: `make deps` installs what reports need", file=sys.stderr)
    sys.exit(4)

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("ASSAY", str(HERE.parent / "assay"))
FAMILIES = {
    "alto": "ALTO (AMD)", "aiter": "AITER (AMD)", "cast": "single conversions", "ct": "compressed-tensors",
    "deepgemm": "DeepGEMM", "flashinfer": "FlashInfer", "fouroversix": "Four Over Six",
    "fp4train": "fp4-train", "ggml": "ggml", "microxcaling": "microxcaling", "mlx": "MLX",
    "ocp": "OCP Microscaling", "quark": "AMD Quark", "te": "Transformer Engine", "sglang": "SGLang",
    "tilekernels": "TileKernels", "torchao": "torchao", "vllm": "vLLM",
}
COMMENT, STRING = r"(?P<comment>#[^\n]*)", r'(?P<string>"[^"\n]*")'
WORD = (r"(?P<word>\b(?:recipe|source|param|in|out|require|nan|layout|unspecified|use|decode|tensor|row|"
        r"column|block|element|per|table|any|feeds|pad|as|when|if|then|else|and|or|not)\b)")
TOKENS = re.compile("|".join((COMMENT, STRING, WORD)))


def ask(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join([PROGRAM, *arguments])}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def coloured(text):
    """The recipe's text with its comments, strings and words marked."""
    parts, at = [], 0
    for m in TOKENS.finditer(text):
        parts.append(escape(text[at:m.start()]))
        parts.append(Markup('<span class="{}">{}</span>').format(m.lastgroup[0], m.group()))
        at = m.end()
    return Markup("").join([*parts, escape(text[at:])])


def explain(recipe):
    """The ordinary block step by step, or None: an input that one line of values cannot give."""
    block = next(iter(recipe.get("blocks", [])), None)
    if not block:
        return None
    inputs = dict(block["inputs"])
    main, values = next(((n, v) for n, v in inputs.items() if len(v) > 1), (None, None))
    if not main:
        return None
    arguments = ["explain", recipe["instance"], "--values", ",".join(v["dec"] for v in values)]
    for name, given in inputs.items():
        if name != main:
            arguments += ["--set", f"{name}={given[0]['dec']}"]
    try:
        return steps_of(ask(*arguments), " ".join(f"'{a}'" if "(" in a else a for a in arguments))
    except RuntimeError:
        return None


def number_of(value):
    """Integers and truth values come bare."""
    return value if isinstance(value, dict) else {"dec": json.dumps(value).strip('"')}


def steps_of(explained, command):
    rows = []
    for statement in explained["statements"]:
        roots = [tile["steps"][-1] for tile in statement["tiles"] if tile["steps"]]
        rounded = [s for tile in statement["tiles"] for s in tile["steps"] if s.get("inexact")][:3]
        rows.append({"section": statement["section"], "text": statement["text"],
                     "values": [number_of(r["value"]) for r in roots[:8]], "more": len(roots) > 8, "rounded": rounded})
    return {"command": f"assay {command}", "rows": rows}


def tile_words(port):
    if "table" in port:
        return "a table " + "x".join(map(str, port["table"]))
    words = {(1, 1): "each element", ("*", "*"): "the tensor", (1, "*"): "each row", ("*", 1): "each column"}
    return words.get(tuple(port["tile"]), "each block " + "x".join(map(str, port["tile"])))


def describe(name):
    recipe = ask("recipes", name)
    recipe["worked"] = explain(recipe)
    return recipe


def value_text(values):
    """Eight values of a block, or one scale with its bits."""
    shown = [v["dec"] + ("" if v.get("judged", True) else " (not judged)") for v in values]
    if len(values) == 1 and values[0].get("bits"):
        shown.append(values[0]["bits"])
    return "  ".join(shown)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-o", "--output", required=True, metavar="FILE.html")
    o = p.parse_args()
    try:
        listed = ask("recipes")
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
            recipes = list(workers.map(describe, [r["name"] for r in listed]))
    except (OSError, RuntimeError, ValueError) as reason:
        print(f"assay: the catalogue cannot be read: {reason}", file=sys.stderr)
        return 4
    same = {}
    for r in recipes:
        same.setdefault(r["sha256"], []).append(r["name"])
    for r in recipes:
        r["same"] = [n for n in same[r["sha256"]] if n != r["name"]]
    families = {}
    for r in recipes:
        families.setdefault(r["family"], []).append(r)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True,
                                     undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(coloured=coloured, tile=tile_words, values=value_text)
    style = "".join((HERE / f).read_text(encoding="utf-8") for f in ("report.css", "catalogue.css"))
    page = environment.get_template("catalogue.html.j2").render(
        families=families, titles=FAMILIES, style=Markup(style), count=len(recipes),
        instances=sum(r["instances"] for r in recipes))
    try:
        pathlib.Path(o.output).write_text(page, encoding="utf-8")
    except OSError as reason:
        print(f"assay: {o.output}: {reason.strerror}", file=sys.stderr)
        return 4
    print(f"{o.output}: {len(recipes)} recipes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
