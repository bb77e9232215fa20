#!/usr/bin/env bash
# Runs the same simulations as amd64 and as arm64 code, the foreign one under qemu
# (Debian: qemu-user), and compares their records byte by byte.
# Usage: bench/machines.sh [PROFILE...]
set -euo pipefail
cd "$(dirname "$0")/.."
profiles=("$@")
[ $# -gt 0 ] || profiles=(small-chat vision vl-npu-ablation sharegpt-kvcached deepseek-r1-pd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
native=$(go env GOARCH)
for arch in amd64 arm64; do
	CGO_ENABLED=0 GOARCH=$arch go build -o "$dir/$arch" ./cmd/pitot
done

# as ARCH ARGS runs pitot as code of that architecture.
as() {
	case $1 in
	"$native") "$dir/$1" "${@:2}" ;;
	amd64) qemu-x86_64 "$dir/$1" "${@:2}" ;;
	arm64) qemu-aarch64 "$dir/$1" "${@:2}" ;;
	esac
}

for profile in "${profiles[@]}"; do
	for arch in amd64 arm64; do
		as $arch sim --store "$dir/$arch.db" -q --profile "$profile" --rate 12 -n 300 --input-len 400 --output-len 60 --report json >"$dir/$arch.json" 2>/dev/null
		as $arch runs export last --store "$dir/$arch.db" -f jsonl -o "$dir/$arch.jsonl"
	done
	cmp "$dir/amd64.jsonl" "$dir/arm64.jsonl"
	echo "$profile: $(wc -l <"$dir/amd64.jsonl") records are the same"
done
