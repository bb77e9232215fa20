#!/usr/bin/env bash
# Tries what packaging/release.sh built, as far as this machine has the tools: each way of installing, into folders of its
# own, then a run; nothing is installed into the system.
# Usage: packaging/try.sh dist
set -euo pipefail
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
cd "$work"

# runs makes a run with a program, whose name is the rest of the line.
runs() { # WHAT PROGRAM...
	local what=$1
	shift
	"$@" sim -n 50 --rate 20 --store "$work/$RANDOM.db" --quiet >/dev/null
	echo "$what: $("$@" version)"
}
skip() { echo "$1: not tried, there is no $2 here"; }

(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
echo 'SHA256SUMS: all files are as listed'

if command -v python3 >/dev/null; then
	python3 -m http.server --bind 127.0.0.1 --directory "$dist" 0 >server.log 2>&1 &
	server=$!
	for _ in {1..100}; do
		port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log)
		[[ $port ]] && break
		sleep 0.1
	done
	PITOT_MIRROR=http://127.0.0.1:$port PITOT_DIR=$work/bin sh "$dist/install.sh" >/dev/null
	runs install.sh bin/pitot
	for python in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14; do
		if ! "$python" -c '' 2>/dev/null; then continue; fi
		"$python" -m venv "venv-$python"
		"venv-$python/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$dist" pitot-bench --pre
		runs "wheel, $python" "venv-$python/bin/pitot"
		"venv-$python/bin/pitot-bench" version >/dev/null
		"venv-$python/bin/python" -m pitot_bench version >/dev/null
		"venv-$python/bin/python" -c "from pitot_bench import run; assert run('sim', n=20, rate=20, store='m.db').figures['requests.ok'] == 20"
		"venv-$python/bin/pip" uninstall --quiet --yes pitot-bench
		[[ ! -e venv-$python/bin/pitot ]]
	done
else
	skip 'install.sh and wheels' python3
fi

if command -v dpkg-deb >/dev/null; then
	dpkg-deb -x "$dist"/*_"$arch".deb deb
	runs deb deb/usr/bin/pitot
	[[ -s deb/usr/share/man/man1/pitot.1.gz && -s deb/usr/share/bash-completion/completions/pitot ]]
else
	skip deb dpkg-deb
fi
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
	mkdir rpm && (cd rpm && rpm2cpio "$dist"/*."$(uname -m)".rpm | cpio --quiet -idm)
	runs rpm rpm/usr/bin/pitot
else
	skip rpm rpm2cpio
fi
mkdir apk && tar -xzf "$dist"/*_"$(uname -m)".apk -C apk 2>/dev/null
runs apk apk/usr/bin/pitot

# The image: its index, the manifest of this machine, its one layer.
blob() { echo "image/blobs/sha256/${1#sha256:}"; }
mkdir image rootfs && tar -xf "$dist"/*-image.tar -C image
digest() { tr -d ' \n' <"$1" | grep -o "$2" | grep -o 'sha256:[0-9a-f]*' | tail -n 1; }
index=$(blob "$(digest image/index.json '"digest":"sha256:[0-9a-f]*"')")
manifest=$(blob "$(tr -d ' \n' <"$index" | sed 's/{"mediaType"/\n&/g' | grep "\"architecture\":\"$arch\"" | grep -o 'sha256:[0-9a-f]*' | head -n 1)")
layer=$(blob "$(tr -d ' \n' <"$manifest" | sed 's/.*"layers"//' | grep -o 'sha256:[0-9a-f]*' | head -n 1)")
tar -xzf "$layer" -C rootfs
runs image rootfs/usr/bin/pitot
[[ -s rootfs/etc/ssl/certs/ca-certificates.crt ]]

if command -v qemu-aarch64-static >/dev/null && [[ $arch = amd64 ]]; then
	mkdir arm && tar -xzf "$dist"/pitot-*-linux-arm64.tar.gz -C arm --strip-components=1
	runs 'arm64, emulated' qemu-aarch64-static arm/pitot
else
	skip arm64 qemu-aarch64-static
fi
