#!/usr/bin/env bash
# What sampling beside a run costs the client: processor time of `pitot bench` with and without
# telemetry, in interleaved pairs, against `pitot serve` in a process of its own.
# Usage: bench/telemetry.sh [PAIRS [SECONDS [FLAG ...]]]     FLAGs are those of bench: --collect-every 100ms
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-12} seconds=${2:-20}
shift $(($# < 2 ? $# : 2))
work=$(mktemp -d)
go build -o "$work/pitot" ./cmd/pitot
"$work/pitot" serve --addr 127.0.0.1:0 >"$work/serve" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until url=$(grep -o 'http://[0-9.:]*' "$work/serve"); do sleep 0.1; done

# cpu SEED FLAG ... is the processor time of a run as a share of its wall time.
cpu() {
	local seed=$1
	shift
	TIMEFORMAT='%U %S %R'
	{ time "$work/pitot" bench -q --url "$url" --tokenizer none --rate 10 --duration "${seconds}s" --seed "$seed" \
		--store "$work/runs.db" "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print ($1 + $2) / $3 }'
}

for pair in $(seq "$pairs"); do
	if [ $((pair % 2)) = 0 ]; then
		with=$(cpu "$pair" "$@") without=$(cpu "$pair" --collect none)
	else
		without=$(cpu "$pair" --collect none) with=$(cpu "$pair" "$@")
	fi
	echo "$without $with"
done | awk '
	{ a += $1; b += $2; d = $2 - $1; s += d; q += d * d; n++; printf "pair %2d   none %.3f %%   sampled %.3f %%\n", n, 100 * $1, 100 * $2; fflush() }
	END { sd = sqrt((q - s * s / n) / (n - 1)); printf "of a processor: none %.3f %%, sampled %.3f %%, sampling %.3f %% +- %.3f (standard error, %d pairs)\n", 100 * a / n, 100 * b / n, 100 * s / n, 100 * sd / sqrt(n), n }'
