#!/usr/bin/env bash
# Runs every fuzz target of the module for a while, one after the other, and
# fails at the end if one did; that one's whole output is shown.
# Usage: scripts/fuzz.sh [TIME]   (default 1m)
set -euo pipefail
time=${1:-1m}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
targets=$(grep -roE '^func Fuzz[A-Za-z0-9]+' --include='*_test.go' . | sort)
failed=0
while IFS=: read -r file func; do
	package=$(dirname "$file") target=${func#func }
	echo "== $package $target"
	# </dev/null: the loop's input is not the fuzzer's
	if go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 50x </dev/null >"$log" 2>&1; then
		tail -n 2 "$log"
	else
		cat "$log"
		failed=1
	fi
done <<<"$targets"
exit "$failed"
