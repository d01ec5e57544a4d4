#!/bin/sh
# assay eval: exit statuses, messages, both engines, nothing half-written. Prints its counts as the
# test programs do.
assay=${ASSAY_BUILD:-build}/assay
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
checks=0 failed=0

check() { # check NAME CONDITION...
    name=$1
    shift
    checks=$((checks + 1))
    "$@" || {
        failed=$((failed + 1))
        echo "failed: $name"
    }
}

# expect STATUS WORD ARGUMENTS...: the status, and the word on standard error.
expect() {
    status=$1 word=$2
    shift 2
    "$assay" eval "$@" >"$dir/stdout" 2>"$dir/stderr"
    got=$?
    check "status $got, not $status: eval $*" [ "$got" -eq "$status" ]
    check "no '$word' in: $(cat "$dir/stderr")" grep -q -e "$word" "$dir/stderr"
}

# u64 TEXT: the length of a header as eight bytes (lengths below 256).
file() { # file NAME HEADER [DATA in printf's escapes]
    printf '%b' "\\0$(printf '%o' "${#2}")\\0\\0\\0\\0\\0\\0\\0" >"$dir/$1"
    printf '%s' "$2" >>"$dir/$1"
    # shellcheck disable=SC2059
    printf "${3:-}" >>"$dir/$1"
}

# 32 bf16 values: 1.5 and 31 zeros; and 4 f32 values; and a scalar.
zeros=$(printf '%62s' '' | sed 's/ /\\000/g')
file in.safetensors '{"s":{"dtype":"F32","shape":[],"data_offsets":[64,68]},"w":{"dtype":"BF16","shape":[2,1,16],"data_offsets":[0,64]}}' \
    "\\300\\077$zeros\\000\\000\\220\\100"

out=$dir/out.safetensors
expect 0 '1 tensor, 32 elements' te.nvfp4.1d --tensor w -i "$dir/in.safetensors" -o "$out"
check "no output" [ -s "$out" ]
check "names" grep -q '"w/Q"' "$out"
check "the input's shape" grep -q '"w/Q":{"dtype":"U8","shape":\[2,1,16\]' "$out"
check "the scales' grid" grep -q '"w/S":{"dtype":"U8","shape":\[2,1\]' "$out"
check "the tensor's amax" grep -q '"w/A":{"dtype":"F32","shape":\[1\]' "$out"
check "metadata" grep -q '"recipe":"te.nvfp4.1d(T=bf16)"' "$out"
expect 0 'elements' te.nvfp4.1d --tensor w --engine exact -i "$dir/in.safetensors" -o "$dir/exact"
check "the engines differ" cmp -s "$out" "$dir/exact"
expect 0 'decode' te.nvfp4.1d --tensor w --decode --layout -i "$dir/in.safetensors" -o "$out"
check "decoded values" grep -q '"w/y":{"dtype":"BF16","shape":\[2,1,16\]' "$out"
check "bytes: 16 of codes" grep -q '"w/Q.bytes":{"dtype":"U8","shape":\[16\]' "$out"
check "bytes: 128 x 4 of scales" grep -q '"w/S.bytes":{"dtype":"U8","shape":\[512\]' "$out"

# A tensor that does not fit.
rm -f "$out"
expect 4 "tensor 's' is left out: as a matrix it is 1 x 1" te.nvfp4.1d -i "$dir/in.safetensors" -o "$out"
check "the others are written" [ -s "$out" ]
expect 0 "left out" te.nvfp4.1d --skip -i "$dir/in.safetensors" -o "$out"
expect 4 "no tensor fits" te.nvfp4.1d --skip --tensor s -i "$dir/in.safetensors" -o "$out"
expect 4 "no tensor 'absent'" te.nvfp4.1d --tensor absent -i "$dir/in.safetensors" -o "$out"

# Further inputs.
expect 2 'needs its input A (f32 per tensor)' te.nvfp4 --tensor w -i "$dir/in.safetensors" -o "$out"
expect 0 elements te.nvfp4 --tensor w --set A=4.5 -i "$dir/in.safetensors" -o "$out"
expect 0 elements te.nvfp4 --bind A=s -i "$dir/in.safetensors" -o "$dir/bound"
check "bound and set agree (s is 4.5)" cmp -s "$out" "$dir/bound"
expect 0 elements te.nvfp4 --tensor w --set A=0x40900000 -i "$dir/in.safetensors" -o "$dir/bound"
check "bits and number agree" cmp -s "$out" "$dir/bound"
expect 0 elements te.nvfp4 --tensor w --set A=4.5 --set tile=16x1 -i "$dir/in.safetensors" -o "$out"
expect 2 'no such parameter or input' te.nvfp4 --tensor w --set A=1 --set B=1 -i "$dir/in.safetensors" -o "$out"
expect 2 'not a number' te.nvfp4 --tensor w --set A=x -i "$dir/in.safetensors" -o "$out"
expect 4 "no tensor 'no'" te.nvfp4 --tensor w --bind A=no -i "$dir/in.safetensors" -o "$out"

# Wrong usage.
expect 2 . te.no.such.recipe -i "$dir/in.safetensors" -o "$out"
expect 2 . 'te.nvfp4.1d(T=int7)' -i "$dir/in.safetensors" -o "$out"
expect 2 'give -i' te.nvfp4.1d
expect 2 'which recipe' -i "$dir/in.safetensors" -o "$out"
expect 2 'fast or exact' te.nvfp4.1d --engine slow -i "$dir/in.safetensors" -o "$out"
expect 2 'from 1 to 256' te.nvfp4.1d --threads 0 -i "$dir/in.safetensors" -o "$out"
expect 2 'overwritten' te.nvfp4.1d -i "$dir/in.safetensors" -o "$dir/in.safetensors"

# Broken and missing files.
expect 4 'No such file' te.nvfp4.1d -i "$dir/absent" -o "$out"
file cut.safetensors '{"w":{"dtype":"BF16","shape":[32],"data_offsets":[0,64]}}' abc
expect 4 truncated te.nvfp4.1d -i "$dir/cut.safetensors" -o "$out"
printf '\000\000\000\000\000\000\000\020{}' >"$dir/huge.safetensors"
expect 4 1152921504606846976 te.nvfp4.1d -i "$dir/huge.safetensors" -o "$out"
printf 'not a tensor file at all, but text' >"$dir/text"
expect 4 'not a safetensors file' te.nvfp4.1d -i "$dir/text" -o "$out"
expect 4 'No such file' te.nvfp4.1d --tensor w -i "$dir/in.safetensors" -o "$dir/no/such/directory"
if [ -c /dev/full ]; then
    expect 4 'the disk is full' te.nvfp4.1d --tensor w -i "$dir/in.safetensors" -o /dev/full
    check "/dev/full is a device still" [ -c /dev/full ]
fi

# Codes that are no codes; a recipe of one's own; --json.
file codes.safetensors '{"Q":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}}' '\005\377'
cat >"$dir/own.recipe" <<'RECIPE'
recipe own.twice
"Decodes e2m1 and doubles it."
source "a test"
in Q : e2m1
out y : f32
element:
  y = Q * 2
RECIPE
expect 4 '0xff is no code of e2m1' --recipe-file "$dir/own.recipe" -i "$dir/codes.safetensors" -o "$dir/none"
check "nothing half-written" [ ! -e "$dir/none" ]
file codes.safetensors '{"Q":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}}' '\005\017'
expect 0 elements --recipe-file "$dir/own.recipe" -i "$dir/codes.safetensors" -o "$out"
check "3 * 2 = 6, -6 * 2 = -12" [ "$(tail -c 8 "$out" | od -An -tx4 | tr -d ' \n')" = 40c00000c1400000 ]
expect 2 'holds the recipe own.twice' other --recipe-file "$dir/own.recipe" -i "$dir/codes.safetensors" -o "$out"
"$assay" eval te.nvfp4.1d --skip --json -i "$dir/in.safetensors" -o "$out" 2>/dev/null >"$dir/json"
check "json" grep -q '"elements": 32' "$dir/json"
check "temporary files are gone" [ -z "$(find "$dir" -name '*.tmp.*')" ]

echo "checks: $checks"
[ "$failed" -eq 0 ]
