#!/usr/bin/env bash
# Draws random prompts of 8192 tokens with vLLM's generator and with Pitot's, from the
# same tokenizer and seed, and shows time and memory of both.
# Usage: bench/prompts.sh [PROMPTS], with vLLM's client where `make bench-peers` puts it:
# PITOT_PEERS. TOKENIZER names another folder than the tokenizer of that comparison.
set -euo pipefail
cd "$(dirname "$0")/.."
prompts=${1:-1000}
peers=${PITOT_PEERS:-$HOME/.cache/pitot-peers}
tokenizer=$(realpath "${TOKENIZER:-$peers/tokenizer}")
[ -x "$peers/vllm/bin/python" ] || { echo "no vLLM client in $peers: run make bench-peers first, or set PITOT_PEERS" >&2; exit 1; }
"$peers/vllm/bin/python" bench/peers/prompts.py "$peers/vllm-client" "$tokenizer" "$prompts" 2>/dev/null
PITOT_PROMPTS=$prompts PITOT_TOKENIZER=$tokenizer go test -run '^$' -bench 'BenchmarkPrompts$' -benchtime 1x -timeout 2h ./internal/load/workload |
	awk -v n="$prompts" '/^BenchmarkPrompts/ { printf "pitot  %d prompts in %.1f s, %d tokens/s, peak %d MiB\n", n, $3 / 1e9, $9, $5 }'
