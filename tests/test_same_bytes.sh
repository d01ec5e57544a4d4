#!/bin/sh
# Golden vectors are the same bytes whoever compiled the generator: a build without optimization, by
# the other compiler, makes those that this build makes. Files are compared, MANIFEST included.
set -u
build=${ASSAY_BUILD:-build}
other=$build/same_bytes
compiler=clang
command -v clang >/dev/null || { compiler=gcc; echo "no clang here: gcc -O0 stands in for it"; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
checks=0 failed=0

# FAST_FLAGS: the fast evaluator's kernels without optimization too. SAN: never sanitized.
make --no-print-directory -j "$(nproc)" BUILD="$other" CC="$compiler" OPT=-O0 SAN= 'FAST_FLAGS=$(CFLAGS)' \
    "$other/assay" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log"
    echo "the build by $compiler -O0 failed"
    exit 1
}

# make_sets BUILD FOLDER: casts of every rounding; f32, f64 and integer programs; sums, random bits, exp,
# reciprocals.
make_sets() {
    mkdir -p "$2"
    for want in 'cast.ieee(F=e4m3, T=f32, *) special' 'cast.ieee(F=f32, T=f64, *) edges' 'te.nvfp4.1d edges' \
        'te.nvfp4.sr random' 'te.nvfp4.rht heavy' 'alto.nvfp4.4over6 random' 'flashinfer.nvfp4 heavy' \
        'tilekernels.swiglu_token random' 'tilekernels.e5m6 shapes' 'quark.mx heavy'; do
        "$1/assay" vectors make --recipe "${want% *}" --class "${want##* }" --dir "$2" \
            >/dev/null 2>"$work/log" || {
            echo "$1/assay vectors make, $want:"
            cat "$work/log"
            exit 1
        }
    done
}
make_sets "$build" "$work/these"
make_sets "$other" "$work/others"
for file in "$work"/these/*; do
    checks=$((checks + 1))
    cmp "$file" "$work/others/${file##*/}" || failed=$((failed + 1))
done
[ "$checks" -gt 20 ] || { echo "only $checks files were made"; failed=1; }
echo "checks: $checks"
[ "$failed" -eq 0 ]
