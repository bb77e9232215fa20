#!/usr/bin/env bash
# Encodes the same texts with Pitot's tokenizer and with Hugging Face's, one core
# each, one after the other, for every kind of tokenizer under testdata and for
# those named, in megabytes a second of processor time. PYTHON is one that has
# the package tokenizers, and tiktoken where a file of that kind is named.
# Usage: PYTHON=venv/bin/python bench/tokenizers.sh [tokenizer.json | ENCODING.tiktoken ...]
set -euo pipefail
python=${PYTHON:-python3}
files=()
for file in "$@"; do
	files+=("$(realpath "$file")")
done
cd "$(dirname "$0")/.."
output=$(mktemp)
trap 'rm -f "$output"' EXIT
GOMAXPROCS=1 go test ./internal/load/tokenizer -run '^$' -bench '^BenchmarkKinds$' -benchtime "${BENCHTIME:-0.3s}" -count 3 \
	-args -tokenizers "$(IFS=,; echo "${files[*]}")" >"$output"
TOKENIZERS_PARALLELISM=false RAYON_NUM_THREADS=1 "$python" bench/hf_tokenizers.py "$output" "${files[@]}"
