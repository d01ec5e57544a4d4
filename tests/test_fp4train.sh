#!/bin/sh
# fp4-train against a model of its own, written from the published text and the proposal for its
# generator: exact fractions, tables of values, Philox4x32-10 in integers. No code of assay's.
set -u
assay=${ASSAY_BUILD:-build}/assay
python=${ASSAY_PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$python" reports/model_fp4train.py "$assay" "$folder"
