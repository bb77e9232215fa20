#!/usr/bin/env bash
# Runs every fuzz target of the module for a while, one after the other.
# Usage: scripts/fuzz.sh [TIME]   (default 1m)
set -euo pipefail
time=${1:-1m}
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r package; do
	grep -hoE '^func Fuzz[A-Za-z0-9]+' "$package"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "== $package $target"
		# </dev/null: the loop's input is not the fuzzer's
		go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 50x </dev/null | tail -n 2
	done
done
