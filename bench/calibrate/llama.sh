#!/usr/bin/env bash
# How well a real engine is found: llama.cpp's server with a model of random weights is measured
# under the loads of a calibration and under others, in turns; an engine is found from the first
# set of the former, and held against the latter. Takes about 7 minutes, of which 6 are measured;
# run it on a machine that does nothing else.
#
#	warm-up, calibration 1 and held-out loads 1, alternating
#	calibration 2 and held-out loads 2, alternating, in the opposite order
#	held-out loads 3
#
# Every repetition of a held-out load has the same requests, so that its spread is that of the
# machine. The table goes to stdout and to FOLDER/calibrate/table.md, beside the runs.
# Usage: bench/calibrate/llama.sh FOLDER     FOLDER: as that of `make servers`, made if it is not there
#	PITOT=FILE     the program; else it is built
#	SECONDS_EACH=8 of a load       MODEL='640 8' width and layers: a step should take 5 to 30 ms
#	SLOTS=8        sequences at once
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
servers=$here/../servers
folder=$(mkdir -p "$1" && cd "$1" && pwd)
each=${SECONDS_EACH:-8} slots=${SLOTS:-8}
read -r width layers <<<"${MODEL:-640 8}"
work=$folder/calibrate
rm -rf "$work" && mkdir -p "$work"

# The packages that the server and its model need, of those that `make servers` installs.
if ! "$folder/venv/bin/python" -c 'import gguf, xllamacpp' 2>"$work/python.txt"; then
	"${PYTHON:-python3}" -m venv "$folder/venv"
	"$folder/venv/bin/pip" install -q $(grep -E '^(xllamacpp|gguf|numpy)==' "$servers/requirements.txt")
fi
python=$folder/venv/bin/python
"$python" "$servers/tiny.py" "$work/model.gguf" "$width" "$layers"
pitot=${PITOT:-$work/pitot}
[ -n "${PITOT:-}" ] || (cd "$here/../.." && CGO_ENABLED=0 go build -o "$pitot" ./cmd/pitot)

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$python" "$servers/llama.py" "$work/model.gguf" "$port" n_parallel="$slots" n_ctx=$((slots * 1024)) >"$work/server.txt" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
	grep -q '^listening on' "$work/server.txt" && break
	kill -0 "$server" 2>/dev/null || { tail -5 "$work/server.txt" >&2; echo "llama.sh: the server ended, see $work/server.txt" >&2; exit 1; }
	sleep 0.2
done

# Answers are of letters, so that each token is a chunk; bytes of incomplete characters have none.
# Nothing is cached from prompt to prompt.
common=(--url "http://127.0.0.1:$port" --store "$work/runs.db" -q --tokenizer none --body '{"grammar": "root ::= [a-z ]*", "cache_prompt": false}')
usual=(--input-len 'lognormal(80,0.6)' --output-len 'lognormal(48,0.5)')

# run NAME SEED FLAGS... makes a run.
run() {
	"$pitot" bench "${common[@]}" --name "$1" --seed "$2" --fit 1000 "${@:3}" >>"$work/log.txt" 2>&1 || {
		tail -5 "$work/log.txt" >&2
		echo "llama.sh: run $1 failed, see $work/log.txt" >&2
		exit 1
	}
}

begun=$SECONDS
run warm 1 "${usual[@]}" -c $((2 * slots)) --duration $((each / 2 + 1))s
bears=$("$pitot" runs export warm --store "$work/runs.db" -f jsonl 2>>"$work/log.txt" | "$python" "$here/table.py" rate)
echo "the server answers $bears requests/s"

# of SHARE is that share of what the server bears.
of() { "$python" -c "print(f'{$1 * $bears:.3g}')"; }

# arriving SHARE are flags of arrivals at that share of what the server bears, for about 1.5 times SECONDS_EACH.
arriving() { echo "--rate $(of "$1") -n $("$python" -c "print(max(10, int(1.5 * $each * $1 * $bears)))")"; }

# calibration REPETITION LOAD runs load 1 to 6 of a calibration.
calibration() {
	local name=calibration-$1/$2 seed=$(($1 * 100 + $2))
	case $2 in
	1) run "$name" $seed "${usual[@]}" -c 1 --duration "${each}s" ;;
	2) run "$name" $seed "${usual[@]}" -c 3 --duration "${each}s" ;;
	3) run "$name" $seed "${usual[@]}" -c "$slots" --duration "${each}s" ;;
	4) run "$name" $seed "${usual[@]}" -c $((3 * slots)) --duration "${each}s" ;;
	5) run "$name" $seed "${usual[@]}" $(arriving 0.25) ;;
	6) run "$name" $seed "${usual[@]}" --rate 1000 -n "$("$python" -c "print(max(24, int($each * $bears)))")" ;;
	esac
}

# load NUMBER sets the flags of a held-out load.
load() {
	case $1 in
	1) flags=("${usual[@]}" $(arriving 0.5)) ;;
	2) flags=("${usual[@]}" $(arriving 0.75)) ;;
	3) flags=("${usual[@]}" -c 2 --duration "${each}s") ;;
	4) flags=("${usual[@]}" -c 6 --duration "${each}s") ;;
	5) flags=(--input-len 'lognormal(140,0.5)' --output-len 'lognormal(32,0.5)' -c 5 --duration "${each}s") ;;
	esac
}

# heldout REPETITION LOAD runs a held-out load: the same requests each time.
heldout() {
	load "$2"
	run "heldout-$2/$1" $((1000 + $2)) "${flags[@]}"
}

for i in 1 2 3 4 5 6; do
	calibration 1 $i
	[ $i = 6 ] || heldout 1 $i
done
for i in 6 5 4 3 2 1; do
	calibration 2 $i
	[ $i = 6 ] || heldout 2 $i
done
for i in 2 4 1 5 3; do heldout 3 $i; done
echo "measured for $((SECONDS - begun)) s"

# replay RUN FILE holds what was found against a run.
replay() { "$pitot" predict "$work/found-1.yaml" --extrapolate --store "$work/runs.db" --replay "$1" -f json >"$work/$2" 2>>"$work/log.txt"; }

if ! "$pitot" calibrate 'calibration-1/*' --store "$work/runs.db" -o "$work/found-1.yaml" >"$work/calibration-1.txt" 2>"$work/error.txt"; then
	cat "$work/error.txt" >&2
	exit 1
fi
"$pitot" calibrate 'calibration-2/*' --store "$work/runs.db" -o "$work/found-2.yaml" >"$work/calibration-2.txt" 2>&1 || true # it is only printed
for k in 1 2 3 4 5 6; do # the same engine on the loads of both sets: what these differ by is the machine's
	for i in 1 2; do replay "calibration-$i/$k" "calibration-$k.$i.json"; done
done
for k in 1 2 3 4 5; do
	load $k
	"$pitot" predict "$work/found-1.yaml" --extrapolate --store "$work/runs.db" --tokenizer none --seed $((2000 + k)) --fit 1000 "${flags[@]}" -f json >"$work/heldout-$k.new.json" 2>>"$work/log.txt"
	for i in 1 2 3; do replay "heldout-$k/$i" "heldout-$k.$i.json"; done
done
for i in 1 2; do
	echo
	echo "set $i"
	sed -n '/^costs of a step/,/^$/p; /^policy\|^token_budget\|^max_\|^seen\|^unexplained/p; /trust it/p; /^pitot:\|INVALID/p' "$work/calibration-$i.txt"
done
"$python" "$here/table.py" tables "$work" | tee "$work/table.md"
