#!/usr/bin/env bash
# Experiments on real processes: how often is there an alarm where nothing changed, how often
# are 3 % found, and what does a drift of the machine do to ABBA and to AABB?
#
#     bench/experiments/live.sh aa|ab|drift FOLDER [N]
#     SERVERS=... bench/experiments/live.sh llama FOLDER [N]
#
# Every leg starts `pitot serve` anew, with a seed of its own and 0.5 % between starts; llama
# starts llama.cpp, which `make servers` installs into SERVERS. The experiments are kept in FOLDER. It wants a machine with nothing else to do.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
what=$1
folder=$2
n=${3:-20}
mkdir -p "$folder"
go build -o "$folder/pitot" ./cmd/pitot
cd "$folder"
export PATH=$PWD:$PATH PITOT_STORE=$PWD/runs.db

serve='pitot serve --port ${port} --profile small-chat --fresh-seed --start-spread 0.5%'
load=(bench -n 80 -c 8 --input-len 64 --output-len 32)

# verdicts of an experiment: changes that are called better or worse.
verdicts() {
	pitot compare "$1" --format json | grep -c '"verdict": "\(better\|worse\)"' || true
}

# of_tpot is what an experiment says of mean TPOT.
of_tpot() {
	pitot compare "$1" --format text | grep '^  mean TPOT' || true
}

legs() {
	pitot experiment status "$1" --json | grep -c '"position"' || true
}

case $what in
aa)
	alarms=0
	for i in $(seq "$n"); do
		pitot ab -q --name "aa-$i" --blocks 1 --before "$serve" --same -- "${load[@]}" >"aa-$i.txt" 2>&1 || tail -3 "aa-$i.txt"
		found=$(verdicts "aa-$i")
		[ "$found" = 0 ] || alarms=$((alarms + 1))
		echo "aa-$i: $(legs "aa-$i") legs, $found figures called different:$(of_tpot "aa-$i")"
	done
	echo "$alarms of $n experiments with an alarm"
	;;
ab)
	found=0 all=0
	for i in $(seq "$n"); do
		pitot ab -q --name "ab-$i" --until verdict --max-blocks 3 --before "$serve" --after "$serve --slower 3%" -- "${load[@]}" >"ab-$i.txt" 2>&1 || tail -3 "ab-$i.txt"
		made=$(legs "ab-$i")
		all=$((all + made))
		of_tpot "ab-$i" | grep -q worse && found=$((found + 1))
		echo "ab-$i: $made legs:$(of_tpot "ab-$i")"
	done
	echo "$found of $n found, $((all / n)) legs on average"
	;;
drift)
	for i in $(seq "$n"); do
		drift="--drift 5% --drift-over 30s --drift-since $(date -u +%Y-%m-%dT%H:%M:%SZ)"
		pitot ab -q --name "abba-$i" --blocks 2 --before "$serve $drift" --same -- "${load[@]}" >"abba-$i.txt" 2>&1 || tail -3 "abba-$i.txt"
		echo "ABBA $i:$(of_tpot "abba-$i")"
		drift="--drift 5% --drift-over 30s --drift-since $(date -u +%Y-%m-%dT%H:%M:%SZ)"
		for leg in a-1 a-2 a-3 a-4 b-1 b-2 b-3 b-4; do
			port=$((20000 + RANDOM % 10000))
			eval "${serve//'${port}'/$port} $drift" >"aabb-$i-$leg.log" 2>&1 &
			pitot "${load[@]}" -q --url "http://127.0.0.1:$port" --ready-timeout 30s --seed "$i${leg#?-}" --warmup-steady --name "aabb-$i-$leg" >"aabb-$i-$leg.txt" 2>&1 || tail -3 "aabb-$i-$leg.txt"
			kill $! && wait $! 2>/dev/null || true
		done
		echo "AABB $i:$(pitot compare "aabb-$i-a-*" "aabb-$i-b-*" --ignore url 2>/dev/null | grep '^  mean TPOT' || true)"
	done
	;;
llama) # four slots and one, N times; then both sides the same, N times
	python=${SERVERS:?the folder of make servers}/venv/bin/python
	[ -s model.gguf ] || "$python" "$here/servers/tiny.py" model.gguf 512 6
	serve="$python $here/servers/llama.py $PWD/model.gguf \${port} n_parallel="
	load=(bench -n 24 -c 2 --input-len 128 --output-len 16 --tokenizer none)
	for i in $(seq "$n"); do
		pitot ab -q --name "slots-$i" --before "${serve}4" --after "${serve}1" -- "${load[@]}" >"slots-$i.txt" 2>&1 || tail -3 "slots-$i.txt"
		echo "4 slots and 1:$(of_tpot "slots-$i")"
		pitot ab -q --name "same-$i" --before "${serve}4" --same -- "${load[@]}" >"same-$i.txt" 2>&1 || tail -3 "same-$i.txt"
		echo "the same: $(verdicts "same-$i") figures called different:$(of_tpot "same-$i")"
	done
	;;
*)
	sed -n '2,11p' "$0"
	exit 2
	;;
esac
