#!/bin/sh
# Recipe pages, --diff, the catalogue's page, and the experiments' committed results.
set -u
build=${ASSAY_BUILD:-build}
assay=$build/assay
python=${ASSAY_PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failed=0

# expect STATUS WHAT COMMAND...: output in $folder/out, messages in $folder/err
expect() {
    wanted=$1 what=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    checks=$((checks + 1))
    if [ "$got" -ne "$wanted" ]; then
        failed=$((failed + 1))
        echo "FAILED: $what: exit status $got, not $wanted"
        head -n 20 "$folder/out" "$folder/err"
    fi
    sed -n 's/^checks: /checks: /p' "$folder/out"
}
shows() {
    checks=$((checks + 1))
    grep -q -e "$1" "$folder/out" || { failed=$((failed + 1)); echo "FAILED: no line: $1"; }
}

# A page is a recipe file of its own, whatever the recipe. The blocks' answers are known from E2M1's
# ties (0.25 -> 0, 2.5 -> 2, 5 -> 4) under the scale 1 of amax 6.
for name in te.nvfp4 ocp.mx alto.nvfp4 tilekernels.swiglu_token te.fp8.delayed fp4train.quantize; do
    expect 0 "the page of $name" "$assay" recipes "$name"
    cp "$folder/out" "$folder/page.recipe"
    shows '^# sha256     [0-9a-f]\{64\}$'
    expect 0 "the page of $name is a recipe" "$assay" recipes --check "$folder/page.recipe"
done
expect 0 "blocks" "$assay" recipes fp4train.quantize
shows '^# ties of E2M1 under scale 1'
shows '^#   x        6 0.25 0.75 1.25 1.75 2.5 3.5 -5$'
shows '^#   Q        6 0 1 1 2 2 4 -4$'
shows '^#   S        1   0x38$'
expect 0 "traps" "$assay" recipes torchao.nvfp4
shows '^# traps      eager CUDA'
expect 0 "not judged is said" "$assay" recipes ocp.mx
shows '(not judged)'

# --diff: the same, the same but for the bytes, one operation, another tiling, other vendors.
expect 0 "a recipe and itself" "$assay" recipes --diff ocp.mx ocp.mx
shows '^the same numerics (sha256 .*) and the same bytes$'
expect 1 "math=fast" "$assay" recipes --diff te.nvfp4 'te.nvfp4(math=fast)'
shows '^element Q: A has `x \* r` where B has `fma(x, r, 0)`$'
shows '^step r: f32 per block 1x16 in A, bf16 per block 1x16 in B$'
expect 1 "tiles" "$assay" recipes --diff te.nvfp4 'te.nvfp4(tile=16x16)'
shows '^output S: e4m3 per block 1x16 in A, e4m3 per block 16x16 in B$'
shows '^layout: only B says `layout S : replicate 16x1, pad 128x4 keep`$'
expect 1 "casts" "$assay" recipes --diff 'cast.ieee(F=e4m3, round=even)' 'cast.ieee(F=e4m3, round=zero)'
shows 'A rounds to e4m3 with mode even, B with zero'
expect 1 "overflow" "$assay" recipes --diff 'cast.ieee(F=e4m3, over=sat)' 'cast.ieee(F=e4m3, over=nosat)'
shows 'on overflow of e4m3 A does sat, B nosat'
expect 1 "vendors, JSON" "$assay" recipes --diff te.nvfp4.1d torchao.nvfp4 --json
"$python" - "$folder/out" <<'PYTHON' || failed=$((failed + 1))
import json, sys
d = json.load(open(sys.argv[1]))
assert d["same_numerics"] is False and d["a"]["sha256"] != d["b"]["sha256"]
assert all({"what", "name", "words"} <= set(x) for x in d["differences"]) and d["differences"]
PYTHON
expect 2 "one name" "$assay" recipes --diff te.nvfp4
expect 2 "an unknown name" "$assay" recipes --diff te.nvfp4 te.nvfp5

# Two instances have an empty list of differences exactly if their identities are equal.
"$assay" recipes --instances ocp.mx | head -n 6 >"$folder/names"
while read -r a; do
    while read -r b; do
        "$assay" recipes --diff "$a" "$b" --json >"$folder/diff" 2>&1
        "$python" - "$folder/diff" <<'PYTHON' || { failed=$((failed + 1)); echo "FAILED: $a, $b"; }
import json, sys
d = json.load(open(sys.argv[1]))
same = d["a"]["sha256"] == d["b"]["sha256"]
assert d["same_numerics"] == same == (not [x for x in d["differences"] if x["what"] != "layout"])
PYTHON
        checks=$((checks + 1))
    done <"$folder/names"
done <"$folder/names"

# The page for a browser: every recipe is on it, it needs nothing else (but for its own script).
ASSAY=$assay expect 0 "the catalogue" "$python" reports/catalogue.py -o "$folder/catalogue.html"
"$python" - "$folder" <<'PYTHON' || failed=$((failed + 1))
import pathlib, re, sys
page = pathlib.Path(sys.argv[1], "catalogue.html").read_text(encoding="utf-8")
assert page.count("<script>") == 1
pathlib.Path(sys.argv[1], "bare.html").write_text(re.sub(r"<script>.*</script>", "", page, flags=re.S),
                                                  encoding="utf-8")
PYTHON
# shellcheck disable=SC2046
expect 0 "its HTML" "$python" reports/check_page.py "$folder/bare.html" \
    $("$assay" recipes | awk '{ print $1 }') "ties of E2M1 under scale 1" "Transformer Engine"
ASSAY=/nonexistent expect 4 "no program" "$python" reports/catalogue.py -o "$folder/none.html"

# Geometry: a matrix whose answer is known by hand. All elements 1: every geometry is exact.
expect 0 "a matrix of ones" "$python" - "$folder/ones.safetensors" <<'PYTHON'
import json, struct, sys
header = json.dumps({"w": {"dtype": "F32", "shape": [128, 128], "data_offsets": [0, 65536]},
                     "b": {"dtype": "F32", "shape": [2], "data_offsets": [65536, 65544]}}).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<f", 1) * 16386)
PYTHON
if "$python" -c 'import numpy' 2>/dev/null; then
    export ASSAY_PYTHON="$python"
    expect 0 "geometry" "$assay" report geometry --weights "$folder/ones.safetensors" --json "$folder/g.json"
    "$python" - "$folder/g.json" <<'PYTHON' || failed=$((failed + 1))
import json, sys
g = json.load(open(sys.argv[1]))
assert g["tensors"] == 1 and g["left_out"] == ["b"], g
for r in g["rows"]:
    assert r["transpose_differs"] == r["permutation_changes"] == r["underflows"] == 0, r
    assert r["relative_mse"] < 1e-12, r
    height, width = map(int, r["tile"].split("x"))
    size = 1 if r["name"] in ("te.nvfp4", "te.mxfp8") else 4
    extra = 4 / 16384 if r["name"] == "alto.nvfp4" else 0
    assert r["scale_bytes_per_element"] == size / (height * width) + extra, r
PYTHON
    expect 4 "no such weights" "$assay" report geometry --weights "$folder/none.safetensors"
    expect 4 "no safetensors file" "$assay" report geometry --weights tests/test_catalogue.sh
fi

# The committed results were made with the recipes as they are now.
for file in reports/results/experiments/*.json; do
    expect 0 "$file" "$python" - "$file" "$assay" <<'PYTHON'
import json, subprocess, sys
recipes = json.load(open(sys.argv[1]))["about"]["recipes"]
for name, sha256 in recipes.items():
    said = json.loads(subprocess.run([sys.argv[2], "recipes", name, "--json"], capture_output=True,
                                     check=True).stdout)
    assert said["sha256"] == sha256, f"{name} has changed since: make experiments"
print(f"checks: {len(recipes)}")
PYTHON
done

echo "checks: $checks"
[ "$failed" -eq 0 ]
