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

if [ ! -d debian ]; then
	mkdir -p packages debian
	for package in nginx haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1; do
		(cd packages && apt-get download -q "$package" >/dev/null 2>&1) || echo "cannot be had: $package" >&2
	done
	for file in packages/*.deb; do
		[ ! -e "$file" ] || dpkg -x "$file" debian
	done
fi
