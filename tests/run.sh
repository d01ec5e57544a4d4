#!/bin/sh
# Runs the given test programs; prints each one's output, then the totals. Fails if one fails or if
# nothing ran.
passed=0 failed=0 tests=0 checks=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for program in "$@"; do
    echo "== $program"
    start=$(date +%s)
    if "$program" >"$log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $program"
    fi
    cat "$log"
    echo "   ($(($(date +%s) - start)) s)"
    n=$(sed -n 's/.*Checks: \([0-9]*\),.*/\1/p' "$log" | tail -n 1)
    tests=$((tests + ${n:-1}))
    n=$(sed -n 's/^checks: \([0-9]*\).*/\1/p' "$log" | awk '{ s += $1 } END { printf "%.0f", s }')
    checks=$((checks + ${n:-0}))
done
echo "tests: $tests, checks: $checks"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
