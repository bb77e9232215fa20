#!/usr/bin/env bash
# Packs what bench/gpu/run.sh needs on a machine with a GPU and no network: vLLM without the code of other GPUs,
# the Python packages that are missing there, a model's shape with a tokenizer of its own, and pitot; about 48 MB.
# Needs Python 3.12 or pip's --python-version, and the package index.
# Usage: bench/gpu/pack.sh PACK [PITOT]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pack=$(mkdir -p "$1" && realpath "$1") pitot=${2:+$(realpath "$2")}
cd "$here/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/wheel" "$work/vllm" "$work/site" "$work/cuda"
version=0.26.0
platforms=(--only-binary=:all: --no-deps --python-version 3.12 --implementation cp)
for p in manylinux_2_39 manylinux_2_35 manylinux_2_34 manylinux_2_31 manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1; do
	platforms+=(--platform "${p}_x86_64")
done

if [ -z "$pitot" ]; then
	CGO_ENABLED=0 GOFLAGS=-trimpath go build -o "$work/pitot" ./cmd/pitot
	pitot=$work/pitot
fi
cp "$pitot" "$work/pitot.stripped" && strip "$work/pitot.stripped"
xz --x86 --lzma2=preset=9 -c "$work/pitot.stripped" >"$pack/pitot.xz"

python3 -m pip download -q "${platforms[@]}" -d "$work/wheel" "vllm==$version"
python3 -m pip install -q --no-compile "${platforms[@]}" --target "$work/site" -r "$here/requirements.txt"

# Of vLLM: its Python files, and three libraries of which only code of an sm_90 in bfloat16 stays.
python3 -m zipfile -e "$work"/wheel/vllm-*.whl "$work/vllm"
for f in _C_stable_libtorch.abi3.so _moe_C_stable_libtorch.abi3.so vllm_flash_attn/_vllm_fa3_C.abi3.so; do
	mkdir -p "$(dirname "$work/cuda/vllm/$f")"
	python3 "$here/prune.py" "$work/vllm/vllm/$f" "$work/cuda/vllm/$f"
done
(cd "$work/vllm/vllm" && rm -rf third_party/{deep_gemm,triton_kernels,flashmla,fmha_sm100} benchmarks vllm-rs &&
	find . \( -name '*_C*.abi3.so' -o -name '*.pyi' \) -delete)
(cd "$work/site" && rm -rf bin include share mistral_common/data pycountry/locales tvm_ffi/include &&
	find . \( -name '*.pyi' -o -name '*.h' -o -name '*.hpp' \) -delete && find . -name tests -type d -prune -exec rm -rf {} + &&
	find . -name '*.so*' -size +200k -exec strip --strip-unneeded {} + 2>/dev/null || true)

# The model: trained on this repository's own text, so that it is the same for the same commit.
python3 "$here/model.py" "$work/model" $(git ls-files 'docs/*.md' 'internal/*.go' | grep -v testdata | head -700)

tar c -C "$work/cuda" . | xz --x86 --lzma2=preset=6 -T2 >"$pack/cuda.tar.xz"
tar c -C "$work/vllm" . | xz -5 -T2 >"$pack/vllm.tar.xz"
tar c -C "$work/site" . | xz -6 >"$pack/site.tar.xz"
tar c -C "$work/model" . | xz -3 >"$pack/model.tar.xz"
du -cb "$pack"/*.xz
