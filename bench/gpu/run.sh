#!/usr/bin/env bash
# Measures a real vLLM on the GPU of this machine, without a network, from the pack of bench/gpu/pack.sh: legs
# of a calibration in turns, held-out loads twice, speculative decoding, compiled graphs, A/A; all within
# SECONDS, and after each step what was measured lies in OUT.
# Usage: bench/gpu/run.sh [--check | --rehearse] PACK OUT [SECONDS]
#   --check      start the server and measure for a moment: does the pack work here?
#   --rehearse   pitot serve in place of vLLM, loads of a second: a test of this script
set -uo pipefail
mode=full
case ${1-} in --*) mode=${1#--} && shift ;; esac
pack=$(realpath "$1") out=$(mkdir -p "$2" && realpath "$2") begin=$(date +%s.%N)
deadline=$(($(date +%s) + ${3:-505}))
work=$(mktemp -d) port=8001 server='' watch=''
export PITOT_STORE=$work/gpu.db HF_HUB_OFFLINE=1 VLLM_SERVER_DEV_MODE=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1
export PYTHONPATH=$work/site PATH=$work:$PATH VLLM_LOGGING_COLOR=0 NO_COLOR=1
mkdir -p "$work/logs" "$work/site"

get() { python3 -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1], timeout=5).read())' "http://127.0.0.1:$port$1" 2>/dev/null; }
unpack() { python3 -c 'import lzma, sys, tarfile; tarfile.open(fileobj=lzma.open(sys.argv[1]), mode="r|").extractall(sys.argv[2], filter="fully_trusted")' "$pack/$1.tar.xz" "$2"; }
left() { echo $((deadline - $(date +%s))); }
say() { printf '%6.1f s  %s\n' "$(python3 -c "import time; print(time.time() - $begin)")" "$*" | tee -a "$work/logs/steps.txt"; }

# keep copies the store and the logs to OUT, in parts small enough to carry.
keep() {
	rm -rf "$work/copy.db"*
	python3 - "$PITOT_STORE" "$work/copy.db" <<-'P' && gzip -1 -c "$work/copy.db" | split -b 15000000 -d -a 1 - "$out/gpu.db.gz."
	import sqlite3, sys
	sqlite3.connect(sys.argv[1]).backup(sqlite3.connect(sys.argv[2]))
	P
	tar cz -C "$work/logs" . >"$out/logs.tar.gz"
}

stop() {
	[ -n "$server" ] && kill -- -"$server" 2>/dev/null && for _ in $(seq 20); do kill -0 -- -"$server" 2>/dev/null && sleep 0.25; done
	[ -n "$server" ] && kill -9 -- -"$server" 2>/dev/null
	server=''
}
trap 'stop; [ -n "$watch" ] && kill $watch 2>/dev/null; keep; rm -rf "$work"' EXIT

# start NAME SECONDS FLAG ... starts a server and waits until it answers.
start() {
	local name=$1 wait=$2
	shift 2
	port=$((port + 1))
	if [ "$mode" = rehearse ]; then
		setsid "$work/pitot" serve --profile small-chat --port $port >"$work/logs/server-$name.txt" 2>&1 &
	else
		setsid python3 -m vllm.entrypoints.openai.api_server --model "$work/model" --served-model-name qwen3-1.7b-random --load-format dummy \
			--dtype bfloat16 --host 127.0.0.1 --port $port --max-model-len 8192 --max-num-seqs 256 --num-gpu-blocks-override 5120 \
			--gpu-memory-utilization 0.35 "$@" >"$work/logs/server-$name.txt" 2>&1 &
	fi
	server=$!
	local until=$(($(date +%s) + wait))
	until get /health >/dev/null; do
		if ! kill -0 $server 2>/dev/null || [ "$(date +%s)" -ge $until ]; then
			say "$name: not up"
			tail -n 60 "$work/logs/server-$name.txt"
			return 1
		fi
		sleep 0.5
	done
	say "$name: up"
}

# load NAME SECONDS FLAG ... is one run of at most SECONDS, if as much is left.
load() {
	local name=$1 limit=$2
	shift 2
	[ "$(left)" -ge "$limit" ] || { say "$name: no time left"; return 1; }
	seed=$((seed + 1))
	timeout "$limit" "$work/pitot" bench -q --url "http://127.0.0.1:$port" --tokenizer "$work/model" --token-usage --collect-keep 'vllm:*' \
		--seed $seed --name "$name" "$@" >"$work/logs/last.txt" 2>&1
	local rc=$?
	cat "$work/logs/last.txt" >>"$work/logs/bench.txt"
	say "$name: exit $rc"
	[ $rc = 0 ] || tail -n 5 "$work/logs/last.txt"
}
seed=100

page() { get /metrics >"$work/logs/metrics-$1.txt"; }

# quarter is a quarter of the requests per second of the runs with a name.
quarter() {
	python3 - "$PITOT_STORE" "$1" <<-'P' || echo 15
	import sqlite3, sys
	n, t = sqlite3.connect(sys.argv[1]).execute("select count(*), (max(done_ns) - min(sent_ns)) / 1e9 from record join run on id = run_id where name = ?", sys.argv[2:]).fetchone()
	print(f"{n / t / 4:.3g}")
	P
}

lognormal=(--input-len 'lognormal(400,0.8)' --output-len 'lognormal(120,0.7)')
fixed=(--input-len 256 --output-len 128)
graphs=(--compilation-config '{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":[1,2,4,8,16,24,32,40,48,56,64,80,96,112,128,160,192,224,256]}')
leg=4s open=6s held=9s spec=8s wave=64 burst=200
[ "$mode" = rehearse ] && leg=1s open=1s held=1s spec=1s wave=16 burst=20

say "unpack"
python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$pack/pitot.xz" >"$work/pitot" && chmod +x "$work/pitot" || exit 1
mkdir "$work/model" && unpack model "$work/model" || exit 1
if [ "$mode" != rehearse ]; then
	nvidia-smi --query-gpu=timestamp,power.draw,power.draw.instant,power.draw.average,utilization.gpu,clocks.sm,clocks.mem,temperature.gpu,memory.used,clocks_event_reasons.active \
		--format=csv,noheader,nounits -lms 500 >"$work/logs/nvidia-smi-2hz.csv" 2>&1 &
	watch=$!
	nvidia-smi -q -d POWER,CLOCK,PERFORMANCE >"$work/logs/nvidia-smi-power.txt"
	for a in cuda site vllm; do unpack $a "$work/site" & pids+=($!); done
	for p in "${pids[@]}"; do wait "$p" || exit 1; done
	[ -f "$pack/cache.tar.xz" ] && unpack cache "$HOME"
	timeout 40 python3 -m compileall -q -j 16 "$work/site" >/dev/null 2>&1
	say "unpacked"
	timeout 60 python3 -c 'import torch, vllm, vllm._custom_ops, vllm._C_stable_libtorch, vllm.vllm_flash_attn._vllm_fa3_C; print("vllm", vllm.__version__, "torch", torch.__version__, torch.cuda.get_device_name())' || exit 1
	python3 -m pip list 2>/dev/null >"$work/logs/packages.txt"
	say "imported"
fi

start plain 170 "${graphs[@]}" || exit 1
get /version | tee "$work/logs/version.txt"
load warm/1 15 -n 128 -c 64 --input-len 256 --output-len 64
load warm/2 12 --duration 2s -c 8 "${lognormal[@]}"
keep
if [ "$mode" = check ]; then
	tail -n 30 "$work/logs/bench.txt"
	page check
	(cd && python3 -c 'import os, sys, tarfile; t = tarfile.open(sys.argv[1], "w:xz"); [t.add(d) for d in (".triton", ".cache/vllm") if os.path.isdir(d)]; t.close()' "$out/cache.tar.xz")
	exit
fi

for round in 1 2; do
	for c in 1 4 16 64; do load cal/$round/c$c 14 -c $c --duration $leg "${lognormal[@]}"; done
	load cal/$round/open 18 --rate "$(quarter cal/1/c64)" --duration $open "${lognormal[@]}"
	load cal/$round/burst 16 --rate 1000 -n $burst "${lognormal[@]}"
	load cal/$round/wave 14 -c $wave -n $wave "${fixed[@]}"
	page cal-$round
	keep
done
[ "$mode" = full ] && nvidia-smi >"$work/logs/nvidia-smi-after.txt"
# Held out: two replicates, the second in the other order, so that a drift is seen as their difference.
for which in c8/1 c32/1 r20/1 r60/1 r60/2 r20/2 c32/2 c8/2; do
	case $which in
	c8/*) load held/$which 20 -c 8 --duration $held "${lognormal[@]}" ;;
	c32/*) load held/$which 20 -c 32 --duration $held "${fixed[@]}" ;;
	r20/*) load held/$which 20 --rate 20 --duration $held "${fixed[@]}" ;;
	r60/*) load held/$which 20 --rate 60 --duration $held "${lognormal[@]}" ;;
	esac
	case $which in */1) ;; *) keep ;; esac
done
page held
keep
stop

# Drafts by n-gram find something where the answer repeats itself: a model of random weights does at temperature 0.
if [ "$(left)" -ge 75 ] && start spec 90 "${graphs[@]}" --speculative-config '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":3,"prompt_lookup_min":1}'; then
	load warm/spec 12 --duration 2s -c 32 --temperature 0 "${lognormal[@]}"
	for c in 1 8 32; do load spec/c$c 16 -c $c --duration $spec --temperature 0 "${lognormal[@]}"; done
	page spec
	keep
fi
stop

# vLLM as it comes: compiled, piecewise graphs for steps with prompts.
if [ "$(left)" -ge 75 ] && start compiled "$(($(left) - 20))"; then
	load warm/compiled 12 -n 128 -c 64 --input-len 256 --output-len 64
	for c in 4 32 16 64; do
		load compiled/c$c 11 -c $c --duration $leg "${lognormal[@]}"
		keep
	done
	page compiled
	[ "$(left)" -ge 40 ] && for which in A1 B1 B2 A2; do load aa/$which 14 -c 32 --duration $held "${fixed[@]}"; done
fi
stop
keep
say "end"
"$work/pitot" runs list | cut -c1-140
