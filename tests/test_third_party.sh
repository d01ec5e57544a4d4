#!/bin/sh
# Real third-party arithmetic against its contracts: NVIDIA's headers and ml_dtypes, every instance.
# What they answer is theirs; what it is compared with is the reference. Also: the results of these
# runs follow the schema, and become a report.
set -u
build=${ASSAY_BUILD:-build}
assay=$build/assay
python=${ASSAY_PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failed=0

# judged NAME STATUS ADAPTER RECIPES: a run, its exit status, and its count of codes as checks
judged() {
    "$assay" run --adapter "$3" --recipe "$4" --class special,edges,sweep16 -o "$folder/$1.json" \
        >"$folder/out" 2>"$folder/err"
    got=$?
    echo "$1: $(tail -n 1 "$folder/out")"
    if [ "$got" -ne "$2" ]; then
        failed=$((failed + 1))
        echo "FAILED: $1: exit status $got, not $2"
        grep -v -e '^pass' -e '^unsupported' "$folder/out" | head -n 20
        cat "$folder/err"
    fi
    sed -n 's/.* \([0-9][0-9]*\) elements.*/checks: \1/p' "$folder/out" | tail -n 1
    "$python" reports/validate.py "$folder/$1.json" >"$folder/valid" || {
        failed=$((failed + 1))
        cat "$folder/valid"
    }
    checks=$((checks + 2))
}

if [ -e "$build/adapters/cuda_headers.so" ]; then
    judged nvidia 0 cuda_headers 'cast.nvidia(*),cast.nvidia.decode(*),cast.e8m0(*)'
    judged pairs 0 cuda_headers:pairs 'cast.nvidia(*T=f32*)'
else
    echo "LEFT OUT: cuda_headers is not built (NVIDIA's headers were not found)"
fi
judged ml_dtypes 0 ml_dtypes 'cast.ml_dtypes(*),cast.ml_dtypes.decode(*)'
# Where ml_dtypes is known to part from the IEEE cast it must be seen to: the comparison can fail.
judged parted 1 ml_dtypes:all 'cast.ieee(F=e2m1, T=f32, round=even, over=nosat)'
# Only NaN differs there, and the tool says so.
"$python" - "$folder/parted.json" <<'PYTHON' || failed=$((failed + 1))
import json, sys
verdicts = json.load(open(sys.argv[1]))["verdicts"]
failing = [v for v in verdicts if v["verdict"] == "fail"]
assert failing, "nothing failed"
for v in failing:
    assert all(i["value"]["dec"].endswith("nan") for i in v["first"]["inputs"]), v["first"]
    assert any("cast.ml_dtypes" in text for text in v["diagnosis"]), v["diagnosis"]
PYTHON
"$assay" report "$folder"/*.json --html "$folder/r.html" && "$python" reports/check_page.py "$folder/r.html" \
    "cast.ml_dtypes" "do not conform" || failed=$((failed + 1))
echo "checks: $((checks + 2))"
[ "$failed" -eq 0 ]
