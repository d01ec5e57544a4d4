#!/bin/sh
# `assay recipes`: the list, one recipe, instances, checking files; what it prints and its status.
assay=${ASSAY_BUILD:-build}/assay
checks=0 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# expect STATUS ARGUMENTS...: runs the command, keeps its output in $dir/out and $dir/err
expect() {
    want=$1
    shift
    "$assay" recipes "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    checks=$((checks + 1))
    if [ "$got" != "$want" ]; then
        failed=$((failed + 1))
        echo "assay recipes $*: status $got, wanted $want"
        cat "$dir/err"
    fi
}
# holds FILE PATTERN: FILE has a line that matches
holds() {
    checks=$((checks + 1))
    if ! grep -q -- "$2" "$dir/$1"; then
        failed=$((failed + 1))
        echo "no line '$2' in $1:"
        head -n 20 "$dir/$1"
    fi
}

expect 0
holds out '^ocp.mx  *[0-9]* '
expect 0 --json
holds out '"name": "ocp.mx"'
holds out '"systems": \['
holds out '"sha256": "[0-9a-f]*"'
python3 - "$dir/out" <<'END' || failed=$((failed + 1))
import json, sys
recipes = json.load(open(sys.argv[1]))
keys = {"name", "family", "summary", "source", "inputs", "outputs", "params", "instances", "sha256",
        "systems"}
assert all(keys <= set(r) for r in recipes), "a key is missing"
assert all(r["family"] == r["systems"][0] == r["name"].split(".")[0] for r in recipes)
assert all(r["instances"] >= 1 and r["outputs"] and r["inputs"] for r in recipes)
END
checks=$((checks + 1))
expect 0 ocp.mx
holds out '^recipe ocp.mx'
holds out '^source "'
expect 0 ocp.mx --json
holds out '"text": "recipe ocp.mx'
expect 0 ocp.mx --instances
lines=$(wc -l <"$dir/out")
expect 0 --instances ocp.mx --json
python3 -c "import json,sys; assert len(json.load(open('$dir/out'))) == $lines" || failed=$((failed + 1))
checks=$((checks + 1))
first=$("$assay" recipes ocp.mx --instances | head -n 1)
expect 0 "$first"
holds out '^recipe ocp.mx('
holds out '^# sha256 [0-9a-f]*, layout [0-9a-f]*$'
expect 2 ocp.mxx
holds err 'did you mean ocp.mx?'
expect 2 'ocp.mx(nothing=1)'
holds err 'has no parameter nothing: it has '
expect 2 --frobnicate
expect 2 one two
expect 2 --check
expect 4 --check "$dir/missing.recipe"
holds err 'missing.recipe: No such file or directory'
expect 0 --help
holds out '^example: '

printf 'recipe my.own\nsource "me"\nparam T = f32 | bf16\nin x : T\nout Q : e4m3\nelement:\n  Q = e4m3(x)\n' \
    >"$dir/good.recipe"
expect 0 --check "$dir/good.recipe"
holds out 'good.recipe: my.own, 2 instances$'
sed 's/(x)/(y)/' "$dir/good.recipe" >"$dir/bad.recipe"
expect 4 --check "$dir/good.recipe" "$dir/bad.recipe"
holds err 'bad.recipe:7:12: error: y has no value here$'
holds err '^               ^$'
holds err 'note: in the instance my.own(T=f32)$'
head -c 3000 /dev/urandom >"$dir/noise.recipe"
expect 4 --check "$dir/noise.recipe"
expect 4 --check /
if [ -w /dev/full ]; then
    "$assay" recipes --json >/dev/full 2>"$dir/err" && failed=$((failed + 1))
    checks=$((checks + 1))
    holds err 'No space left on device'
fi

echo "checks: $checks"
[ "$failed" -eq 0 ]
