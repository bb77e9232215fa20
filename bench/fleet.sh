#!/usr/bin/env bash
# Measures what a fleet costs. Loopback only. Usage: bench/fleet.sh [ROUNDS]
#
#   worker      CPU time from the first request to the last, of a worker that sends all of a load beside
#               that of a plain run of the same command line, in pairs that take turns
#   controller  CPU time of its process for each further record, from its start to its end; what a plain run takes
#               before and after its requests for preparation and report; and the store's writer by itself
#   server      CPU time of the NATS server for each further record
#
# PITOT names a built program in place of bin/pitot. RATES are those of the loads, in requests per second.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-10}
rates=${RATES:-10 100}
[ -n "${PITOT:-}" ] || make -s build
pitot=$(realpath "${PITOT:-bin/pitot}")
dir=$(mktemp -d)
export PITOT_STORE=$dir/runs.db PITOT_FLEET_TOKEN=$RANDOM$RANDOM$RANDOM
started=()
trap 'kill -INT "${started[@]}"; wait || true; rm -rf "$dir"' EXIT

# start NAME TEXT ARGS... starts the program and waits until it says TEXT.
start() {
	: >"$dir/$1.log"
	"$pitot" "${@:3}" >"$dir/$1.log" 2>&1 &
	started+=($!)
	until grep -q -- "$2" "$dir/$1.log"; do sleep 0.1; done
}
start serve ' on ' serve --addr 127.0.0.1:0 --ttft 50ms --itl 10ms
start up 'is up at' fleet up --listen 127.0.0.1:0 --dir "$dir/up"
fleet=$(grep -om1 'nats://[^, ]*' "$dir/up.log")
start worker 'is there' fleet worker --join "$fleet" --capacity none --folder "$dir/worker"
load=(--url "$(sed -n 's/.* on //p' "$dir/serve.log")" --tokenizer none --warmup 0 --collect none --quiet --input-len 8 --output-len 128)

# run ARGS... makes a run, and prints the client's CPU time from its first request to its last in ms.
run() {
	"$pitot" bench "${load[@]}" "$@" >/dev/null 2>"$dir/run.log" || { cat "$dir/run.log" >&2; exit 1; }
	"$pitot" runs export last | awk -F'[:,]' '/"cpu_ns"/ && !n++ { print $2 / 1e6 }'
}

# of PID is the CPU time of a process until now in ms.
of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print 1000 * ($12 + $13) / hz }' "/proc/$1/stat"; }

echo "$(nproc) processors, $(uptime | sed 's/.*load/load/')"
echo "a worker beside a plain run, 128 tokens an answer, $rounds pairs"
for rate in $rates; do
	for round in $(seq "$rounds"); do
		one=(--rate "$rate" --duration 5s)
		if [ $((round % 2)) = 0 ]; then
			plain=$(run "${one[@]}") worker=$(run "${one[@]}" --fleet "$fleet")
		else
			worker=$(run "${one[@]}" --fleet "$fleet") plain=$(run "${one[@]}")
		fi
		echo "$plain $worker $(awk -v a="$worker" -v b="$plain" 'BEGIN { print a / b }')"
	done >"$dir/pairs"
	median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
	awk -v rate="$rate" -v plain="$(cut -d' ' -f1 "$dir/pairs" | median)" -v worker="$(cut -d' ' -f2 "$dir/pairs" | median)" \
		-v ratio="$(cut -d' ' -f3 "$dir/pairs" | median)" -v low="$(cut -d' ' -f3 "$dir/pairs" | sort -n | head -1)" \
		-v high="$(cut -d' ' -f3 "$dir/pairs" | sort -n | tail -1)" \
		'BEGIN { printf "  %4g requests/s   plain %7.1f ms   worker %7.1f ms   worker/plain %.3f (%.3f to %.3f)\n", rate, plain, worker, ratio, low, high }'
done

# whole RATE makes a run of a fleet, and prints the records, and the CPU time in ms of the controller and of the server.
whole() {
	local before times
	before=$(of "${started[1]}")
	TIMEFORMAT='%U %S'
	times=$({ time "$pitot" bench "${load[@]}" --rate "$1" --duration 5s --fleet "$fleet" >/dev/null 2>"$dir/run.log"; } 2>&1)
	"$pitot" runs export last --summary --format csv | awk -F, -v times="$times" -v server="$(awk -v a="$before" -v b="$(of "${started[1]}")" 'BEGIN { print b - a }')" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "requests") column = i }
		NR == 2 { gsub(/"[^"]*"/, "x"); split(times, t, " "); print $column, 1000 * (t[1] + t[2]), server }'
}
# around RATE makes a plain run, and prints the records, and the CPU time of the process in ms but for that from
# its first request to its last.
around() {
	local times
	TIMEFORMAT='%U %S'
	times=$({ time "$pitot" bench "${load[@]}" --rate "$1" --duration 5s >/dev/null 2>"$dir/run.log"; } 2>&1)
	"$pitot" runs export last | awk -F'[:,]' -v times="$times" '
		/"cpu_ns"/ && !n++ { split(times, t, " "); ms = 1000 * (t[1] + t[2]) - $2 / 1e6 }
		/"index"/ { records++ }
		END { print records, ms, 0 }'
}

# slope FILE COLUMN NAME prints what each further record takes.
slope() {
	awk -v n="$2" '{ print 1000 * ($(n + 3) - $n) / ($4 - $1) }' "$1" | sort -n |
		awk -v name="$3" '{ v[NR] = $1 } END { printf "%-10s  %.0f µs of CPU time for each further record (%.0f to %.0f)\n", name, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}
for round in $(seq "$(((rounds + 1) / 2))"); do
	few=$(whole 10) many=$(whole 400)
	echo "$few $many" >>"$dir/whole"
	few=$(around 10) many=$(around 400)
	echo "$few $many" >>"$dir/around"
done
slope "$dir/whole" 2 controller
awk '{ few += $1; many += $4; a += $2; b += $5 } END { printf "            %.0f ms with %d records, %.0f ms with %d\n", a / NR, few / NR, b / NR, many / NR }' "$dir/whole"
slope "$dir/around" 2 'plain run'
slope "$dir/whole" 3 server
go test -run '^$' -bench 'BenchmarkStore$/chunks=128$|BenchmarkReceive$/chunks=128$' -benchtime 3x ./internal/fleet/delivery |
	awk '/^Benchmark/ { sub(/^Benchmark/, ""); sub(/\/.*/, "", $1); for (i = 2; i < NF; i++) if ($(i + 1) == "cpu-ns/record") printf "%-10s  %.1f µs a record, by itself\n", tolower($1), $i / 1000 }'
echo "$(uptime | sed 's/.*load/load/')"
