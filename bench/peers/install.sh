#!/usr/bin/env bash
# Installs the clients of other projects from PyPI into folders of their own under
# $PITOT_PEERS (~/.cache/pitot-peers), with the versions pinned here. What is there
# already is left alone. Needs Python 3.12; PYTHON names another than python3.12.
# Usage: bench/peers/install.sh [TOOL...]
#        bench/peers/install.sh --versions
set -euo pipefail
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3.12}
wheel_vllm=vllm==0.33.0
wheel_sglang=sglang==0.5.23

# environment NAME makes a virtual environment of what NAME.txt lists.
environment() {
	local env=$peers/$1 list=$here/$1.txt
	cmp -s "$list" "$env/installed.txt" && return
	echo "installing $1 into $env"
	rm -rf "$env"
	"$python" -m venv "$env"
	"$env/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
	cp "$list" "$env/installed.txt"
}

# unpack WHEEL FOLDER PREFIX... takes the files with these beginnings out of a wheel,
# without the hundreds of megabytes of engine that come with them.
unpack() {
	local wheel=$1 folder=$peers/$2
	[ "$(cat "$folder/wheel" 2>/dev/null)" = "$wheel" ] && return
	echo "unpacking the client of $wheel into $folder"
	rm -rf "$folder"
	mkdir -p "$folder/download"
	"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder/download" "$wheel"
	"$python" - "$folder" "${@:3}" <<-'PYTHON'
		import glob, sys, zipfile
		folder, prefixes = sys.argv[1], tuple(sys.argv[2:])
		wheel = zipfile.ZipFile(glob.glob(f"{folder}/download/*.whl")[0])
		wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(prefixes)])
	PYTHON
	rm -r "$folder/download"
	echo "$wheel" >"$folder/wheel"
}

install() {
	case $1 in
	vllm | vllm-rust)
		environment vllm
		unpack $wheel_vllm vllm-client vllm/benchmarks/ vllm/utils/argparse_utils.py vllm/vllm-rs
		chmod +x "$peers/vllm-client/vllm/vllm-rs"
		;;
	sglang | sglang-rust)
		environment sglang
		unpack $wheel_sglang sglang-client sglang/benchmark/ sglang/srt/utils/network.py sglang/srt/environ.py sglang/srt/rust_extensions/
		;;
	guidellm | aiperf | inference-perf) environment "$1" ;;
	*)
		echo "install.sh: there is no $1; there are ${tools[*]}" >&2
		exit 2
		;;
	esac
}

# versions names what matters of what is pinned, a line for each environment.
versions() {
	local list name
	for list in "$here"/*.txt; do
		name=$(basename "$list" .txt)
		case $name in vllm) echo -n "${wheel_vllm/==/ }, " ;; sglang) echo -n "${wheel_sglang/==/ }, " ;; esac
		grep -E "^($name|aiohttp|httpx|transformers)==" "$list" | sed 's/==/ /' | paste -sd, | sed 's/,/, /g'
	done
}

if [ "${1-}" = --versions ]; then
	versions
	exit
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
	echo "install.sh: $python is no Python 3.12 or newer; set PYTHON to one" >&2
	exit 1
fi
for tool in "${@:-${tools[@]}}"; do install "$tool"; done
texts=$here/../../internal/proof/truth/texts.go
if ! cmp -s "$texts" "$peers/tokenizer/texts.go"; then
	environment vllm
	"$peers/vllm/bin/python" "$here/tokenizer.py" "$texts" "$peers/tokenizer"
	cp "$texts" "$peers/tokenizer/texts.go"
fi
