#!/usr/bin/env bash
# Puts Pitot and the clients of other projects to the same loads, one after another,
# with pitot conform, and writes one table of all. Loopback only; installs first.
# Usage: bench/peers/run.sh [TOOL...]
#   GRID         of conform (standard); REPEAT runs of each cell (1)
#   TIMEOUT      of a run (3m): a tool that is too slow for a cell fails in it alone
#   OUT          folder for the results (bin/peers)
#   PITOT_PEERS  folder for the tools (~/.cache/pitot-peers); PYTHON 3.12 or newer
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# -eq 0 ] || tools=("$@")
"$here/install.sh" "${tools[@]}"
cd "$here/../.."
make -s build
out=${OUT:-bin/peers}
mkdir -p "$out"
places=('{url}' '{model}' '{requests}' '{concurrency}' '{rate}' '{input_len}' '{output_len}' '{seed}' '{dir}' '{result}')
results=()

# measure NAME COMMAND leaves $out/NAME.json and .log; a client that cannot make a
# single request leaves the log.
measure() {
	echo "== $1"
	if bin/pitot conform --name "$1" --grid "${GRID:-standard}" --repeat "${REPEAT:-1}" --timeout "${TIMEOUT:-3m}" \
		--out "$out/$1.json" -- "${@:2}" >"$out/$1.log"; then
		results+=("$out/$1.json")
	else
		echo "$1 gave no results: $out/$1.log" >&2
	fi
}

# The least that a client can cost; of a load in which requests wait for others it knows nothing.
"${CC:-cc}" -std=c11 -O2 -Wall -o bin/floor bench/floor/floor.c
measure floor "$PWD/bin/floor" -p '{port}' -m '{model}' -n '{requests}' -t '{output_len}' -r '{rate}' -o '{result}'
for engine in h1 nethttp; do
	measure "pitot-$engine" pitot bench --client $engine --tokenizer "$peers/tokenizer"
done
for tool in "${tools[@]}"; do
	measure "$tool" "$here/clients/$tool" "${places[@]}"
done

{
	date -u +%FT%TZ
	uname -srm
	bin/pitot version
	"$here/install.sh" --versions
} >"$out/versions.txt"
bin/pitot conform report "${results[@]}" --out "$out/peers.md" --out "$out/peers.json" --out "$out/peers.svg" >"$out/peers.txt"
"${PYTHON:-python3.12}" "$here/ratios.py" "${results[@]}" | tee "$out/ratios.txt"
printf '\n%s\n' "versions, the table, a plot: $out"
