#!/usr/bin/env bash
# Measures what a fleet costs. Loopback only. Usage: bench/fleet.sh [PART ...], all of them by default:
#
#   worker      CPU time from the first request to the last, of a worker that sends all of a load beside
#               that of a plain run of the same command line, in pairs that take turns
#   controller  CPU time and memory of its process for each further record, from its start to its end, and CPU time
#               of the NATS server; what a plain run takes before and after its requests, to prepare and to report;
#               the store's writer and the receiver by themselves
#   beats       CPU time of controller and NATS server a second for each further worker, start included: of one that
#               sends next to nothing, and of one that has a record for nearly every tenth of a second
#   prepare     time and memory of a worker to prepare a run, for each request
#
# PITOT names a built program in place of bin/pitot. ROUNDS is how often (10), RATES are those of the loads
# of worker, in requests per second.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-10}
rates=${RATES:-10 100}
[ -n "${PITOT:-}" ] || make -s build
pitot=$(realpath "${PITOT:-bin/pitot}")
dir=$(mktemp -d)
export PITOT_STORE=$dir/runs.db PITOT_FLEET_TOKEN=$RANDOM$RANDOM$RANDOM
declare -A pid
trap 'kill -INT "${pid[@]}"; wait || true; rm -rf "$dir"' EXIT

# start NAME TEXT ARGS... starts the program and waits until it says TEXT.
start() {
	: >"$dir/$1.log"
	"$pitot" "${@:3}" >"$dir/$1.log" 2>&1 &
	pid[$1]=$!
	until grep -q -- "$2" "$dir/$1.log"; do sleep 0.1; done
}

# worker NAME starts a worker.
worker() { start "$1" 'is there' fleet worker --join "$fleet" --name "$1" --capacity none --folder "$dir/$1"; }

start serve ' on ' serve --addr 127.0.0.1:0 --ttft 50ms --itl 10ms
start up 'is up at' fleet up --listen 127.0.0.1:0 --dir "$dir/up"
fleet=$(grep -om1 'nats://[^, ]*' "$dir/up.log")
worker first
load=(--url "$(grep -om1 'http://[0-9.:]*' "$dir/serve.log")" --tokenizer none --warmup 0 --collect none --quiet)
answers=(--input-len 8 --output-len 128 --duration 5s)

# bench ARGS... makes a run. That of a busy machine may not be valid: exit status 1.
bench() { "$pitot" bench "${load[@]}" "$@" >/dev/null 2>"$dir/run.log" || [ $? = 1 ] || { cat "$dir/run.log" >&2; exit 1; }; }

# client prints the CPU time of the client of the last run from its first request to its last, in ms.
client() { "$pitot" runs export last | awk -F'[:,]' '/"cpu_ns"/ && !n++ { print $2 / 1e6 }'; }

# records counts those of the last run.
records() { "$pitot" runs export last --format jsonl | wc -l; }

# of NAME is the CPU time of a process until now in ms.
of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print 1000 * ($12 + $13) / hz }' "/proc/${pid[$1]}/stat"; }

# memory NAME is the most memory that a process had, in MiB.
memory() { awk '/^VmHWM/ { print $2 / 1024 }' "/proc/${pid[$1]}/status"; }

# timed ARGS... makes a run, and prints CPU time of the process in ms and its memory in MiB.
timed() {
	/usr/bin/time -o "$dir/time" -f '%U %S %M' "$pitot" bench "${load[@]}" "$@" >/dev/null 2>"$dir/run.log" || true
	awk 'END { print 1000 * ($1 + $2), $3 / 1024 }' "$dir/time"
}

# median prints the median, the least and the most of numbers.
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.4g (%.4g to %.4g)", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'; }

# column N FILE
column() { awk -v n="$1" '{ print $n }' "$2"; }

part_worker() {
	for rate in $rates; do
		for round in $(seq "$rounds"); do
			one=("${answers[@]}" --rate "$rate")
			if [ $((round % 2)) = 0 ]; then
				bench "${one[@]}"; plain=$(client)
				bench "${one[@]}" --fleet "$fleet"; sender=$(client)
			else
				bench "${one[@]}" --fleet "$fleet"; sender=$(client)
				bench "${one[@]}"; plain=$(client)
			fi
			awk -v a="$sender" -v b="$plain" 'BEGIN { print a, b, a / b }'
		done >"$dir/pairs"
		echo "worker: $rate requests/s of 128 tokens, $rounds pairs: plain run $(column 2 "$dir/pairs" | median) ms, worker $(column 1 "$dir/pairs" | median) ms, worker/plain $(column 3 "$dir/pairs" | median)"
	done
}

# whole RATE prints records, CPU time and memory of the controller, and CPU time of the server.
whole() {
	local before
	before=$(of up)
	used=$(timed "${answers[@]}" --rate "$1" --fleet "$fleet")
	echo "$(records) $used $before $(of up)"
}

# around RATE prints records and CPU time of a plain run but for its requests, and its memory.
around() {
	used=$(timed "${answers[@]}" --rate "$1")
	echo "$(records) $used $(client)"
}

part_controller() {
	for round in $(seq "$rounds"); do
		few=$(whole 10) many=$(whole 400)
		echo "$few $many" | awk '{ n = $6 - $1; print 1000 * ($7 - $2) / n, 1024 * ($8 - $3) / n, 1000 * ($10 - $9 - $5 + $4) / n }' >>"$dir/whole"
		few=$(around 10) many=$(around 400)
		echo "$few $many" | awk '{ n = $5 - $1; print 1000 * ($6 - $8 - $2 + $4) / n, 1024 * ($7 - $3) / n }' >>"$dir/around"
	done
	echo "controller: each further record of 128 chunks takes $(column 1 "$dir/whole" | median) µs of CPU time and $(column 2 "$dir/whole" | median) KiB"
	echo "plain run: each further record takes $(column 1 "$dir/around" | median) µs before and after the requests, and $(column 2 "$dir/around" | median) KiB"
	echo "NATS server: each further record takes $(column 3 "$dir/whole" | median) µs"
	go test -run '^$' -bench 'BenchmarkStore$/chunks=128$|BenchmarkReceive$/chunks=128$' -benchtime 3x ./internal/fleet/delivery |
		awk '/^Benchmark/ { sub(/^Benchmark/, ""); sub(/\/.*/, "", $1); for (i = 2; i < NF; i++) if ($(i + 1) == "cpu-ns/record") printf "%s: %.1f µs a record, by itself\n", tolower($1), $i / 1000 }'
}

part_beats() {
	for i in $(seq 2 24); do worker "w$i"; done
	for rate in 2.4 480; do
		for round in $(seq "$(((rounds + 2) / 3))"); do
			for n in 2 24; do
				before=$(of up)
				used=$(timed --input-len 8 --output-len 4 --duration 20s --arrival constant --rate "$rate" --fleet "$fleet" --workers "$n")
				echo "$n $used $before $(of up)"
			done | tr '\n' ' ' | awk '{ w = ($6 - $1) * 22; print 1000 * ($7 - $2) / w, 1000 * ($10 - $9 - $5 + $4) / w }' # 2 s of lead and 20 s of requests
		done >"$dir/beats"
		echo "beats: with $rate requests/s in all, each further worker takes $(column 1 "$dir/beats" | median) µs a second of the controller, $(column 2 "$dir/beats" | median) µs of the NATS server"
	done
	echo "beats: a worker has had $(memory w2) MiB at most"
	for i in $(seq 2 24); do kill -INT "${pid[w$i]}"; unset "pid[w$i]"; done
}

part_prepare() {
	local name before
	for length in 8 256; do
		for n in 1000 501000; do
			name=a-$length-$n # the first by name is taken
			worker "$name"
			before=$(of "$name")
			"$pitot" bench "${load[@]}" --input-len "$length" -n "$n" --rate 1 --fleet "$fleet" --workers 1 >"$dir/run.log" 2>&1 &
			pid[controller]=$!
			until grep -q ': ready, ' "$dir/$name.log"; do sleep 0.1; done
			echo "$n $before $(of "$name") $(memory "$name") $(memory controller)"
			kill -INT "${pid[controller]}"
			wait "${pid[controller]}" || true
			kill -INT "${pid[$name]}"
			unset "pid[controller]" "pid[$name]"
		done | tr '\n' ' ' | awk -v tokens="$length" '{ n = $6 - $1; printf "prepare: a request of %d tokens takes %.1f µs of CPU time of a worker, %.2f KiB of it, and %.2f KiB of the controller\n", tokens, 1000 * ($8 - $7 - $3 + $2) / n, 1024 * ($9 - $4) / n, 1024 * ($10 - $5) / n }'
	done
}

echo "$(nproc) processors, $(uptime | sed 's/.*load/load/')"
[ $# -gt 0 ] || set -- worker controller beats prepare
for part in "$@"; do "part_$part"; done
echo "$(uptime | sed 's/.*load/load/')"
