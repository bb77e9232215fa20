#!/bin/sh
# Installs pitot: downloads the archive of a release for this system, holds it against SHA256SUMS, and puts the program
# into a folder. Needs curl or wget, tar, and sha256sum or shasum; nothing runs as root.
#
#   curl -fsSL https://github.com/pitot-bench/pitot/releases/latest/download/install.sh | sh
#
# PITOT_VERSION  a version such as 0.1.0                           (the one this script was released with)
# PITOT_DIR      the folder for the program                        (~/.local/bin)
# PITOT_MIRROR   where the archives are, in place of GitHub        (https://github.com/pitot-bench/pitot/releases/download/vVERSION)
set -eu

main() {
	version=${PITOT_VERSION:-@VERSION@}
	version=${version#v}
	case $version in
	'' | *[!0-9A-Za-z.+-]*) fail "$version is no version: set PITOT_VERSION, as in PITOT_VERSION=0.1.0" ;;
	esac
	folder=${PITOT_DIR:-$HOME/.local/bin}
	mirror=${PITOT_MIRROR:-https://github.com/pitot-bench/pitot/releases/download/v$version}
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no pitot for $(uname -s): on Windows use WSL" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no pitot for $(uname -m)" ;;
	esac
	name=pitot-$version-$os-$arch

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	get "$mirror/SHA256SUMS" "$work/SHA256SUMS" 1
	get "$mirror/$name.tar.gz" "$work/$name.tar.gz" 200
	want=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]\(\.\/\)\{0,1\}$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS at $mirror has no line for $name.tar.gz"
	have=$(sum "$work/$name.tar.gz")
	[ "$have" = "$want" ] || fail "$mirror/$name.tar.gz is damaged or not the one released: its SHA-256 is $have, SHA256SUMS says $want"

	tar -xzf "$work/$name.tar.gz" -C "$work" "$name/pitot"
	new=$folder/.pitot.new
	mkdir -p "$folder" && cp "$work/$name/pitot" "$new" && chmod 755 "$new" || {
		rm -f "$new"
		fail "cannot write to $folder: set PITOT_DIR to a folder that you may write to"
	}
	is=$("$new" version) && mv "$new" "$folder/pitot" || { # until then a pitot that runs stays
		rm -f "$new"
		fail "$folder/pitot does not run: is the folder mounted noexec? Set PITOT_DIR to another one"
	}
	echo "$is is in $folder"
	case :$PATH: in
	*:"$folder":*) ;;
	*) echo "it is not on PATH yet: export PATH=\"$folder:\$PATH\"" ;;
	esac
}

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

# get downloads at most so many MiB.
get() { # URL FILE MiB
	(
		ulimit -f $(($3 * 2048))
		if command -v curl >/dev/null 2>&1; then
			curl -fsSL --retry 2 --connect-timeout 30 --speed-limit 1 --speed-time 60 -o "$2" "$1"
		elif command -v wget >/dev/null 2>&1; then
			wget -q -T 60 -O "$2" "$1"
		else
			echo 'install.sh: needs curl or wget' >&2
			exit 1
		fi
	) || fail "cannot download $1, or it is more than $3 MiB"
}

sum() { # FILE
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		fail 'needs sha256sum or shasum'
	fi
}

main # last, so that half a download of this script does nothing
