#!/bin/sh
# The README's two complete examples, taken from its text: an adapter in C, a recipe of one's own.
set -eu
build=${ASSAY_BUILD:-build}
assay=$build/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

# block LANGUAGE MARK: the first fenced block of that language that contains MARK.
block() {
    awk -v fence='```'"$1" -v mark="$2" '
        $0 == fence { inside = 1; text = ""; next }
        inside && $0 == "```" { inside = 0; if (index(text, mark)) { printf "%s", text; exit } next }
        inside { text = text $0 "\n" }' README.md
}

block c assay_adapter_main >"$work/mine.c"
[ -s "$work/mine.c" ] || { echo "README.md has no example adapter"; exit 1; }
${CC:-cc} -O2 -Wall -Wextra -Wno-unused-parameter -shared -fPIC -Iadapters -o "$work/mine.so" "$work/mine.c" -lm
"$assay" run --adapter "$work/mine.so" --recipe 'cast.nvidia(F=e4m3, T=f32)' -o "$work/results.json"
grep -q '"verdict": "pass"' "$work/results.json"
checks=$((checks + 1))
# The same kernel with one fault, ties away from zero, must not pass.
sed 's/rintf(/roundf(/' "$work/mine.c" >"$work/wrong.c"
cmp -s "$work/mine.c" "$work/wrong.c" && { echo "the example has no rintf to break"; exit 1; }
${CC:-cc} -O2 -w -shared -fPIC -Iadapters -o "$work/wrong.so" "$work/wrong.c" -lm
status=0
"$assay" run --adapter "$work/wrong.so" --recipe 'cast.nvidia(F=e4m3, T=f32)' >/dev/null || status=$?
[ "$status" -eq 1 ] || { echo "the broken kernel gave exit status $status, not 1"; exit 1; }
checks=$((checks + 1))

block recipe 'recipe my.' >"$work/my.recipe"
[ -s "$work/my.recipe" ] || { echo "README.md has no example recipe"; exit 1; }
"$assay" recipes --check "$work/my.recipe"
name=$(sed -n 's/^recipe //p' "$work/my.recipe" | head -n 1)
"$assay" explain "$name" --recipe-file "$work/my.recipe" --values 1,2.5,-3 >/dev/null
"$assay" run --adapter model --recipe-file "$work/my.recipe" --class special,edges >/dev/null
checks=$((checks + 3))
echo "checks: $checks"
