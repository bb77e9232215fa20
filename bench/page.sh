#!/usr/bin/env bash
# What an open page does to the figures of a run: runs with and without `pitot ui` and a browser
# that follows them, interleaved, in fresh seeds, against `pitot serve` in a process of its own; then
# `pitot compare`. The browser is on the same machine, at the lowest priority.
# Usage: bench/page.sh [RUNS [SECONDS [RATE]]]     needs chromium
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-8} seconds=${2:-20} rate=${3:-10}
work=$(mktemp -d)
make --silent build
export PITOT_STORE=$work/runs.db
bin/pitot serve --addr 127.0.0.1:0 >"$work/serve" 2>&1 &
server=$!
page='' browser=''
trap 'kill $server $page $browser 2>/dev/null; wait; rm -rf "$work"' EXIT
until url=$(grep -o 'http://[0-9.:]*' "$work/serve"); do sleep 0.1; done

# watch opens the page of the newest run, which is the one that begins next.
watch() {
	nice -n 19 bin/pitot ui --listen 127.0.0.1:0 >"$work/ui" 2>&1 &
	page=$!
	until address=$(grep -o 'http://[0-9.:]*' "$work/ui"); do sleep 0.1; done
	(
		until bin/pitot runs list --status running --json 2>/dev/null | grep -q '"id"'; do sleep 0.2; done
		exec nice -n 19 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --remote-debugging-port=0 "$address/#/runs/last" >"$work/browser" 2>&1
	) &
	browser=$!
}

# close ends both.
close() {
	kill "$page" "$browser" 2>/dev/null || true
	wait "$page" "$browser" 2>/dev/null || true
	page='' browser=''
}

run() {
	bin/pitot bench -q --url "$url" --tokenizer none --rate "$rate" --duration "${seconds}s" --seed "$2" --name "$1-$2" >/dev/null 2>&1 || true
}

for i in $(seq "$runs"); do
	for side in $([ $((i % 2)) = 0 ] && echo open closed || echo closed open); do
		[ "$side" = closed ] || watch
		run "$side" "$i"
		[ "$side" = closed ] || close
	done
done
bin/pitot compare 'closed-*' 'open-*' --baseline 'closed-*'
bin/pitot compare 'closed-*' 'open-*' --baseline 'closed-*' --paired
