#!/bin/sh
# Misuse of the command: names that do not exist, words that are no values, files and devices that
# do not work. One message, the documented exit status, nothing lost or replaced.
assay=${ASSAY_BUILD:-build}/assay
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ASSAY_ADAPTERS=${ASSAY_ADAPTERS:-${ASSAY_BUILD:-build}/adapters}
export ASSAY_ADAPTERS
checks=0 failed=0
fast='te.fp8.current(F=e4m3, T=f32)'
sample=tests/data/results.sample.json

check() { # check NAME CONDITION...
    name=$1
    shift
    checks=$((checks + 1))
    "$@" || {
        failed=$((failed + 1))
        echo "failed: $name"
    }
}

# expect STATUS WORD ARGUMENTS...: the status, and the word on standard error; input from $dir/stdin
: >"$dir/stdin"
expect() {
    status=$1 word=$2
    shift 2
    "$assay" "$@" <"$dir/stdin" >"$dir/stdout" 2>"$dir/stderr"
    got=$?
    check "status $got, not $status: $*" [ "$got" -eq "$status" ]
    check "no '$word' in: $(cat "$dir/stderr")" grep -q -e "$word" "$dir/stderr"
}

# Names of similar spelling.
expect 2 'did you mean cast?' casts
expect 2 "no command 'xyzzy'; " xyzzy
expect 2 'did you mean e4m3?' formats e4m
expect 2 'did you mean bf16?' cast bf6 1

# Values from standard input.
printf '1\n1 2\n' >"$dir/stdin"
expect 2 'line 2' cast e4m3 -
check "the line before is written" grep -q '^1 .*0x38' "$dir/stdout"
printf '1\0002\n' >"$dir/stdin"
expect 2 'NUL' cast e4m3 -
printf ' 1\t\r\n\n2' >"$dir/stdin"
"$assay" cast e4m3 - <"$dir/stdin" >"$dir/stdout"
check "two values, space around them" [ "$(wc -l <"$dir/stdout")" -eq 3 ]
: >"$dir/stdin"

expect 2 'there are 1 values' explain te.nvfp4.1d --values 1 --shape 99999999999x99999999999
expect 2 'there are 3 values' explain te.nvfp4.1d --values 1,2,3 --shape 2x1
expect 2 'given before' explain te.nvfp4 --values 1 --set A=1 --set A=2

# Vectors: a manifest that is none, a directory that is none.
printf '\000\000\n' >"$dir/MANIFEST"
expect 4 'MANIFEST:1: no line of a manifest' vectors list --dir "$dir"
: >"$dir/MANIFEST"
expect 4 'is empty' vectors check --dir "$dir"
rm "$dir/MANIFEST" && mkdir "$dir/MANIFEST"
expect 4 'cannot be read' vectors list --dir "$dir"
expect 4 'is no directory' vectors make --recipe te.fp8.cast --class special --dir "$dir/stdin"
expect 2 'name of a directory' vectors make --dir ''
expect 2 'make, check or list' vectors

# Runs.
expect 2 'one or more names' run --adapter '' --recipe "$fast"
expect 2 'one or more names' run --adapter model --recipe "$fast" --class ''
expect 2 'one or more names' run --adapter model --recipe ''
expect 2 "no recipe matches 'te.nope'" run --adapter model --recipe te.nope
expect 4 'none.json: cannot be read: No such file' run --adapter model --recipe "$fast" \
    --expect "$dir/none.json"
expect 4 'none.st: cannot be read' run --adapter model --recipe "$fast" --input "$dir/none.st"
check "one message" [ "$(wc -l <"$dir/stderr")" -eq 1 ]
# The reader of standard output leaves: the results are written all the same.
"$assay" run --adapter model --recipe "$fast" --class special -o "$dir/r.json" 2>"$dir/stderr" | :
check "results without a reader" grep -q '"complete": true' "$dir/r.json"
check "a verdict without a reader" grep -q '"verdict": "pass"' "$dir/r.json"

# Reports.
expect 4 'none.json: cannot be read: No such file' report "$dir/none.json" --junit "$dir/j.xml"
expect 2 'needs a file' report "$sample" --html ''
if [ -c /dev/full ]; then
    # By a link in a folder of our own: a device must be written to, never replaced.
    ln -s /dev/full "$dir/full"
    for kind in html markdown junit; do
        expect 4 'No space left' report "$sample" --$kind "$dir/full"
        check "$kind: /dev/full is a device still" [ -c "$dir/full" ]
    done
    "$assay" report "$sample" >/dev/full 2>"$dir/stderr"
    check "a full disk" [ $? -eq 4 ]
    check "a full disk, said: $(cat "$dir/stderr")" grep -q 'standard output: No space' "$dir/stderr"
    check "once" [ "$(wc -l <"$dir/stderr")" -eq 1 ]
fi
"$assay" report "$sample" >&- 2>"$dir/stderr"
check "closed standard output" [ $? -eq 4 ]
check "closed, said" grep -q 'standard output: Bad file' "$dir/stderr"

# Signals. A program that a shell started in the background has SIGINT ignored: SIGTERM here.
# end_early ARGUMENTS...: ended by SIGTERM after a second
end_early() {
    "$assay" "$@" >"$dir/stdout" 2>"$dir/stderr" &
    pid=$!
    sleep 1
    kill -s TERM $pid
    [ "${twice:-no}" = no ] || kill -s TERM $pid # as timeout(1): the process, then its group
    wait $pid
}
mkdir "$dir/scratch"
twice=yes end_early run --adapter model --sweep f32 --recipe 'cast.nvidia(F=e4m3, T=f32)' -o "$dir/s.json"
check "stopped, said" grep -q 'complete is false' "$dir/stderr"
check "results of what was judged" grep -q '"complete": false' "$dir/s.json"
echo garbage >"$dir/s.json.sweep"
end_early run --adapter model --sweep f32 --recipe 'cast.nvidia(F=e4m3, T=f32)' -o "$dir/s.json"
check "a broken checkpoint, said" grep -q 's.json.sweep: is no checkpoint' "$dir/stderr"
TMPDIR=$dir/scratch end_early vectors check --recipe 'te.*'
check "the status of a signal" [ $? -eq 143 ]
check "check was interrupted, said" grep -q 'interrupted after' "$dir/stderr"
check "nothing is left in TMPDIR" [ -z "$(ls "$dir/scratch")" ]

check "temporary files are gone" [ -z "$(find "$dir" -name '*tmp*' ! -path "$dir")" ]
echo "checks: $checks"
[ "$failed" -eq 0 ]
