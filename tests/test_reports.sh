#!/bin/sh
# Reports of a hand-made results file: schema, HTML, Markdown, JUnit, and what goes wrong.
set -u
build=${ASSAY_BUILD:-build}
assay=$build/assay
python=${ASSAY_PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3
sample=tests/data/results.sample.json
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failed=0

# expect STATUS WHAT COMMAND...
expect() {
    wanted=$1 what=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    checks=$((checks + 1))
    if [ "$got" -ne "$wanted" ]; then
        failed=$((failed + 1))
        echo "FAILED: $what: exit status $got, not $wanted"
        cat "$folder/out" "$folder/err"
    fi
    sed -n 's/^checks: /checks: /p' "$folder/out"
}
shows() {
    checks=$((checks + 1))
    grep -q -e "$2" "$1" || { failed=$((failed + 1)); echo "FAILED: $1 does not show: $2"; }
}

expect 0 "the sample follows the schema" "$python" reports/validate.py "$sample"
sed 's/"verdict": "crash"/"verdict": "crashed"/' "$sample" >"$folder/bad.json"
expect 4 "the schema sees a wrong word" "$python" reports/validate.py "$folder/bad.json"
shows "$folder/out" "'crashed' is not one of"
sed 's/"cases": 12,/"cases": -1,/' "$sample" >"$folder/bad.json"
expect 4 "the schema sees a negative count" "$python" reports/validate.py "$folder/bad.json"

expect 0 "all three at once" "$assay" report "$sample" --html "$folder/r.html" \
    --markdown "$folder/r.md" --junit "$folder/r.xml"
expect 0 "the page" "$python" reports/check_page.py "$folder/r.html" \
    "1 adapter run broke, 2 do not conform, of 16." "cast.nvidia" "te.nvfp4.1d" \
    "The run of 2026-01-02T03:04:05Z was interrupted" "The adapter torch could not be used" \
    "no case was executed" "Q = e2m1(x * r): mode even -> away" "a <faulty> kernel & its friends" \
    "512 of 98304 codes differ" "<b>oops</b> & done" "tie between 2 (0x4) and 3 (0x5)" "0x40d0" \
    "What did not run" "all 4,294,967,296 f32 values" "81.4 k" \
    "Against the earlier run" "REGRESSION faulty:ties_away te.nvfp4.1d(T=bf16) edges" \
    "MISSING ml_dtypes cast.ml_dtypes(F=e8m0, T=f32) edges was pass, did not come again"
shows "$folder/r.md" '^| `cast.nvidia` | .* pass: all 4,296,540,160 codes equal'
shows "$folder/r.md" 'Q\[0, 5\] is 3 (`0x5`), right is 2 (`0x4`)'
expect 0 "the XML" "$python" - "$folder/r.xml" <<'PYTHON'
import sys, xml.etree.ElementTree
suites = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
by_name = {s.get("name"): s for s in suites}
assert set(by_name) == {"cuda_headers", "ml_dtypes", "faulty:ties_away", "torch"}, set(by_name)
faulty = by_name["faulty:ties_away"]
assert (faulty.get("tests"), faulty.get("failures"), faulty.get("errors")) == ("5", "2", "1")
print(f"checks: {sum(len(s) for s in suites)}")
PYTHON

expect 0 "two files as one" "$assay" report "$sample" "$sample" --html "$folder/two.html"
expect 0 "its page" "$python" reports/check_page.py "$folder/two.html" "1,232 cases"
expect 0 "Markdown to standard output" "$assay" report "$sample"
shows "$folder/out" '^### '
expect 2 "no file" "$assay" report
expect 2 "an unknown option" "$assay" report "$sample" --pdf x
expect 2 "an option without its value" "$assay" report "$sample" --html
expect 4 "a missing file" "$assay" report "$folder/none.json" --html "$folder/n.html"
shows "$folder/err" "cannot be read"
printf '{"version": ' >"$folder/cut.json"
expect 4 "a truncated file" "$assay" report "$folder/cut.json" --html "$folder/n.html"
expect 4 "a truncated file, to JUnit" "$assay" report "$folder/cut.json" --junit "$folder/n.xml"
printf '{}' >"$folder/empty.json"
expect 4 "not results" "$assay" report "$folder/empty.json" --html "$folder/n.html"
shows "$folder/err" "is no results file"
expect 4 "a place that cannot be written" "$assay" report "$sample" --html "$folder/no/such/r.html"
shows "$folder/err" "cannot be written"
expect 4 "no interpreter" env ASSAY_PYTHON="$folder/no-python" "$assay" report "$sample" \
    --html "$folder/n.html"
shows "$folder/err" "ASSAY_PYTHON"
checks=$((checks + 1))
[ ! -e "$folder/n.html" ] || { failed=$((failed + 1)); echo "FAILED: a report came out of nothing"; }

echo "checks: $checks"
[ "$failed" -eq 0 ]
