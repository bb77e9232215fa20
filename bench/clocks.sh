#!/usr/bin/env bash
# Runs one workload through `pitot serve` over HTTP, on the wall clock, and through
# `pitot sim`, in virtual time, and shows how far apart they are. Loopback only.
# Usage: bench/clocks.sh [FLAGS OF BOTH]
set -euo pipefail
cd "$(dirname "$0")/.."
make -s build
profile=large-moe
load=("$@")
[ $# -gt 0 ] || load=(--input-len 2048 --output-len 64 --rate 4 --requests 120)
load+=(--tokenizer none --report json --quiet)
log=$(mktemp)
bin/pitot serve --addr 127.0.0.1:0 --profile $profile 2>"$log" &
server=$!
trap 'kill -INT $server; wait $server || true; rm -f "$log"' EXIT
until grep -q http:// "$log"; do sleep 0.1; done
export PITOT_STORE=bin/clocks.db

# figures prints duration, output rate, mean TTFT and mean TPOT of a JSON report.
figures() {
	awk -F'[:,]' '
		/^  "duration"/ { print $2 }
		/^  "rates"/ { rates = 1 }
		rates && /^    "output"/ { print $2; rates = 0 }
		/^  "service"/ { service = 1 }
		service && /^    "(ttft|tpot)"/ { metric = 1 }
		metric && /^      "mean"/ { print $2; metric = 0 }
		/^  }/ { service = 0 }'
}

echo "${load[*]}, profile $profile"
paste <(printf '%s\n' 'duration (s)' 'output (tok/s)' 'TTFT mean (s)' 'TPOT mean (s)') \
	<(bin/pitot bench --url "$(grep -o 'http://[^ ]*' "$log")" "${load[@]}" | figures) \
	<(bin/pitot sim --profile $profile "${load[@]}" | figures) |
	awk -F'\t' 'BEGIN { printf "%-16s %12s %12s %8s\n", "", "wall", "virtual", "apart" }
		{ printf "%-16s %12.5g %12.5g %+7.2f%%\n", $1, $2, $3, 100 * ($2 / $3 - 1) }'
