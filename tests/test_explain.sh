#!/bin/sh
# assay explain from the command line: the numbers of cases worked out by hand, and mistakes.
assay=${ASSAY_BUILD:-build}/assay
checks=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $1"
    cat "$work/out" "$work/err"
    exit 1
}
# run STATUS ARGUMENTS...: runs assay explain, keeps its output, compares the exit status.
run() {
    want=$1
    shift
    "$assay" explain "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$want" ] || fail "assay explain $*: exit status $got, not $want"
    checks=$((checks + 1))
}
out() { grep -Eq -- "$1" "$work/out" || fail "no line '$1'"; checks=$((checks + 1)); }
err() { grep -Eq -- "$1" "$work/err" || fail "no message '$1'"; checks=$((checks + 1)); }

# 464 lies halfway between 448 and what would be 480: even is 448 by saturation; -Inf saturates.
run 0 cast.nvidia --values 464,-inf,0x1p-10,3.125
out 'Q += 448 +0x1.cp\+8 +0x7e   rounded: 464 lies beyond the greatest value 448'
out 'Q += -448 +-0x1.cp\+8 +0xfe'
out 'Q += 0 +0x0p\+0 +0x00   rounded: a tie, exactly between 0 and 0.001953125'
out 'Q += 3 +0x1.8p\+1 +0x44   rounded: a tie, exactly between 3 and 3.25'

# The scale of a block of ones and a six under the tensor scale of its own: 2688 / 6 = 448.
run 0 te.nvfp4.1d --values 1,6,1,1
err 'filled with \+0 from 1 x 4 to 1 x 16'
out '2688 / A += 448 +0x1.cp\+8 +0x43e00000   exact'
out '^ *S += 448 +0x1.cp\+8 +0x7e'
out '^ *Q += 1 +0x1p\+0 +0x2'
out '^ *Q += 6 +0x1.8p\+2 +0x7'
out 'at \[0, 0\] \[0, 2\] \[0, 3\]'

run 0 te.nvfp4.1d --bits 0x3f80,0x40c0 --from bf16 --json
"${PYTHON:-python3}" - "$work/out" <<'PYTHON' || fail "the JSON of te.nvfp4.1d"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["m"] == 1 and document["k"] == 16 and document["shape"] == [1, 2]
statements = {s["text"].split(" = ")[0]: s for s in document["statements"]}
steps = statements["S"]["tiles"][0]["steps"]
assert steps[-1]["name"] == "S" and steps[-1]["value"]["bits"] == "0x7e", steps[-1]
sixth = [s for s in steps if s["expr"] == "1 / 6"][0]
assert sixth["inexact"] and sixth["below"]["bits"] == "0x3e2aaaaa" and sixth["place"][:5] == "0.666"
assert [t["col"] for t in statements["Q"]["tiles"]] == [0, 1]
PYTHON

# Mistakes: a message each, and the documented exit status.
run 2 te.nvfp4.1d
err 'give --values'
run 2 te.nvfp4.1d --values 1,two
err "'two' is not a number"
run 2 te.nvfp4.1d --bits 0x3f80
err 'of which format\? give --from'
run 2 te.nvfp4.1d --bits 0x3f80 --from nosuch
err 'there is no such format'
run 2 no.such.recipe --values 1
err 'no.such.recipe'
run 2 te.nvfp4 --values 1
err 'give --set A=VALUE'
run 2 te.nvfp4.1d --values 1 --set nosuch=1
err '--set nosuch'
run 4 te.nvfp4.1d -i "$work/missing.safetensors" --tensor x
err 'missing.safetensors'
run 2 te.nvfp4.1d --nosuch
run 0 --help
out 'usage: assay explain'
echo "100%: Checks: 1, Failures: 0, Errors: 0"
echo "checks: $checks"
