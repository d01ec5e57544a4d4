#!/bin/sh
# Every primary instance of every recipe, every class: the exact evaluator makes the golden answers
# anew, the fast one confirms them, and the bytes must be those that MANIFEST names.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${ASSAY_BUILD:-build}/assay" vectors check >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
tail -n 1 "$log"
sets=$(sed -n 's/^assay: \([0-9]*\) sets made anew.*/\1/p' "$log")
echo "checks: ${sets:?no set was made}"
