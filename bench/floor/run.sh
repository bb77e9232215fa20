#!/usr/bin/env bash
# Shows what a token costs Pitot's client in processor time, beside the least that a
# client can cost (floor.c). They take turns at one load, each alone on a processor,
# with the server on another. Counted is the run itself, without what a program does
# before and after it. Loopback only. Needs Linux and a C compiler.
# Usage: bench/floor/run.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5}
# The first is what the others are compared with.
clients=(
	"floor   $PWD/bin/floor -p {port} -m {model} -n {concurrency} -t {output_len} -o {result}"
	"h1      pitot bench --client h1"
	"nethttp pitot bench --client nethttp"
)
streams=1024 output=400
cells=(
	"arrivals=spread step=51200us" # 20 000 tokens a second
	"arrivals=lockstep step=50ms"
	"arrivals=lockstep step=25ms"
)

make -s build
"${CC:-cc}" -std=c11 -O2 -Wall -o bin/floor bench/floor/floor.c
folder=$(mktemp -d)
trap 'report; rm -rf "$folder"' EXIT

# figures FILE prints the processor time for a token, in microseconds, and the share of
# tokens that shared a read, of a client whose report has those of its run first.
figures() {
	tr -d '\n' <"$1" | awk -v tokens=$((streams * output)) -v file="$1" '
		function first(key) {
			if (match($0, "\"" key "\": *[0-9]+"))
				return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
			print "run.sh: no " key " in " file >"/dev/stderr"
			exit 1
		}
		{ cpu = first("cpu_ns"); merged = first("merged"); print cpu / tokens / 1000 "|" merged / tokens }'
}

# report prints what was measured so far.
report() {
	[ -s "$folder/figures" ] || return 0
	cat <<END

CPU time for a token, $streams streams, medians of the rounds. The ratio is to ${clients[0]%% *} in the
same round; rounds in which either read more than 1 % of the tokens together with
others are left out of it, since that is cheaper and wrong.
END
	awk -F'|' '
		function median(list,   v, n, i, j, t) {
			n = split(list, v, " ")
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		{
			key = $2 SUBSEP $3
			if (!(key in us)) rows[++n] = key
			if (n == 1) base = $3
			us[key] = us[key] " " $4
			merged[key] = merged[key] " " $5
			if ($3 == base) { floor[$1, $2] = $4; clean[$1, $2] = $5 <= 0.01 }
			else if (clean[$1, $2] && $5 <= 0.01) { ratio[key] = ratio[key] " " $4 / floor[$1, $2]; left[key]++ }
		}
		END {
			for (i = 1; i <= n; i++) {
				split(rows[i], k, SUBSEP)
				printf "%-30s %-8s %6.2f us, merged %.3f %%", k[1], k[2], median(us[rows[i]]), 100 * median(merged[rows[i]])
				if (k[2] != base) printf "  %s", left[rows[i]] ? sprintf("%.2f x, rounds: %d", median(ratio[rows[i]]), left[rows[i]]) : "no clean round"
				print ""
			}
		}' "$folder/figures"
}

for round in $(seq "$rounds"); do
	for cell in "${!cells[@]}"; do
		grid="streams=$streams requests=$streams output=$output ${cells[cell]}"
		for client in "${clients[@]}"; do
			read -r name command <<<"$client"
			kept=$folder/$round-$cell-$name
			# shellcheck disable=SC2086 # a command is words
			bin/pitot conform --name "$name" --grid "$grid" --keep "$kept" -- $command >"$kept.txt"
			measured=$(figures "$kept/01-1/stdout")
			echo "$round|${cells[cell]}|$name|$measured" >>"$folder/figures"
		done
	done
done
