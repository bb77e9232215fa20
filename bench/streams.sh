#!/usr/bin/env bash
# Holds many streams at once against a server in a process of its own, and shows
# how both fared. Loopback only. Usage: bench/streams.sh [STREAMS]
set -euo pipefail
streams=${1:-10000}
cd "$(dirname "$0")/.."
make -s build
log=$(mktemp)
bin/pitot serve --addr 127.0.0.1:0 --ttft 'uniform(5s,6s)' --itl 1s 2>"$log" &
server=$!
trap 'kill -INT $server; wait $server || true; rm -f "$log"' EXIT
until grep -q ' on ' "$log"; do sleep 0.1; done
PITOT_STORE=bin/streams.db bin/pitot bench --url "$(sed 's/.* on //' "$log")" --requests "$streams" --arrival at-once \
	--input-len 8 --output-len 30 --tokenizer none --warmup 0
echo
echo "server: $(ps -o rss=,cputime= -p $server | awk '{printf "%.0f MB, %s of processor time", $1/1024, $2}')"
