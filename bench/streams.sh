#!/usr/bin/env bash
# Holds many streams at once against a server in a process of its own, first a fifth of them and then all, and
# shows how client and server fared and what memory a stream takes of each: how much the peak grew from one size to
# the other, with records and report. Loopback only. Usage: bench/streams.sh [STREAMS [FEWER]]
set -euo pipefail
streams=${1:-10000}
fewer=${2:-$((streams / 5))}
cd "$(dirname "$0")/.."

ulimit -n "$(ulimit -Hn)"
if [ "$streams" -gt $(($(ulimit -n) - 50)) ]; then
	echo "$streams streams need as many open files: the hard limit is $(ulimit -n) (ulimit -Hn as root)" >&2
	exit 1
fi
# One address of a server has a connection from each local port. A network of our own may have more of them.
read -r low high </proc/sys/net/ipv4/ip_local_port_range
if [ "$streams" -gt $((high - low)) ]; then
	if [ -n "${OWN_NETWORK:-}" ] || ! unshare -rn true 2>/dev/null; then
		echo "$streams streams need as many local ports, there are $((high - low)): sysctl -w net.ipv4.ip_local_port_range='1024 65535'" >&2
		exit 1
	fi
	make -s build
	# shellcheck disable=SC2016 # of the inner shell
	exec env OWN_NETWORK=1 unshare -rn sh -c 'ip link set lo up && echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range && exec "$@"' \
		sh "bench/$(basename "$0")" "$streams" "$fewer"
fi
[ -n "${OWN_NETWORK:-}" ] || make -s build

log=$(mktemp)
server=
trap 'if [ -n "$server" ]; then kill -INT $server; wait $server || true; fi; rm -f "$log"' EXIT

# hold has a new server take N streams at once, and sets ours and theirs: the peaks of both, in kB.
hold() {
	bin/pitot serve --addr 127.0.0.1:0 --ttft "uniform($((5 + $1 / 5000))s,$((6 + $1 / 5000))s)" --itl 1s 2>"$log" &
	server=$!
	until grep -q ' on ' "$log"; do sleep 0.1; done
	echo "== $1 streams"
	PITOT_STORE=bin/streams.db bin/pitot bench --url "$(sed 's/.* on //' "$log")" --requests "$1" --arrival at-once \
		--input-len 8 --output-len 30 --tokenizer none --warmup 0 &
	client=$!
	ours=0
	while peak=$(awk '/^VmHWM/ {print $2}' /proc/$client/status 2>/dev/null) && [ -n "$peak" ]; do
		ours=$peak
		sleep 0.02
	done
	wait $client
	theirs=$(awk '/^VmHWM/ {print $2}' /proc/$server/status)
	echo
	echo "server: $(ps -o rss=,cputime= -p $server | awk '{printf "%.0f MB, %s of processor time", $1/1024, $2}')"
	kill -INT $server
	wait $server || true
	server=
}

hold "$fewer"
ours_before=$ours theirs_before=$theirs
hold "$streams"
awk -v n=$((streams - fewer)) -v a="$ours_before" -v b="$ours" -v c="$theirs_before" -v d="$theirs" -v streams="$streams" -v fewer="$fewer" 'BEGIN {
	printf "a stream takes %.1f kB of the client (peaks %.0f and %.0f MB with %d and %d streams) and %.1f kB of the server (%.0f and %.0f MB)\n",
		(b - a) / n, a / 1024, b / 1024, fewer, streams, (d - c) / n, c / 1024, d / 1024 }'
