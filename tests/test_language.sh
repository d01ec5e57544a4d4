#!/bin/sh
# ref/LANGUAGE.md: its `recipe` blocks pass the checker, its `wrong` blocks fail with the message
# printed below them, and it names every function, option and word that the language takes.
set -u
assay=$(cd "${ASSAY_BUILD:-build}" && pwd)/assay
page=$PWD/ref/LANGUAGE.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
checks=0 failed=0

wrong() {
    failed=$((failed + 1))
    echo "$*"
}

# blocks LANGUAGE: writes the fenced blocks of that language to $work/LANGUAGE.1, .2 ...
blocks() {
    awk -v fence='```'"$1" -v to="$work/$1." '
        $0 == fence { inside = 1; n++; next }
        inside && $0 == "```" { inside = 0; next }
        inside { print >(to n) }' "$page"
}

blocks recipe
blocks wrong
blocks message
for file in "$work"/recipe.*; do
    checks=$((checks + 1))
    "$assay" recipes --check "$file" >"$work/out" 2>&1 || {
        wrong "LANGUAGE.md: an example is refused:"
        cat "$work/out"
    }
done

cd "$work" || exit 1
for file in wrong.*; do
    checks=$((checks + 1))
    cp "$file" demo.recipe
    "$assay" recipes --check demo.recipe 2>out >/dev/null && wrong "LANGUAGE.md: $file passes"
    sed 's/^assay: //' out | cmp -s - "message.${file#wrong.}" || {
        wrong "LANGUAGE.md: another message than printed:"
        cat out
    }
done
cd "$OLDPWD" || exit 1

# Every word between quotes in the two tables of the front end stands on the page.
for word in $(sed -n '/^static const char \*const words/,/};/p' ref/recipe_lex.c | grep -o '"[^"]*"' | tr -d '"') \
            $(sed -n '/^} steps\[\] = {/,/};/p' ref/recipe_check_layout.c | grep -o '"[^"]*"' | tr -d '"'); do
    checks=$((checks + 1))
    grep -qwF -- "$word" "$page" || wrong "LANGUAGE.md does not name $word"
done

[ "$checks" -gt 100 ] || wrong "only $checks things of LANGUAGE.md were found"
echo "checks: $checks"
[ "$failed" -eq 0 ]
