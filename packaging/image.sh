#!/usr/bin/env bash
# Builds the image of a release without a daemon: FROM scratch, the program and certificates, amd64 and arm64, as one OCI
# archive: docker load, podman load and skopeo take it.
# Usage: packaging/image.sh VERSION BUILD OUT.tar
set -euo pipefail
version=$1 build=$2 out=$3
crane=${CRANE:-crane}
work=$(mktemp -d)
mkdir "$work/blobs"
trap 'kill $registry 2>/dev/null; rm -rf "$work"' EXIT

$crane registry serve --address 127.0.0.1:0 --disk "$work/blobs" >"$work/log" 2>&1 &
registry=$!
for _ in {1..100}; do
	port=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' "$work/log")
	[[ $port ]] && break
	sleep 0.1
done
repository=127.0.0.1:$port/pitot

certificates=
for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
	[[ -s $file ]] && certificates=$file && break
done
[[ $certificates ]] || { echo "image.sh: this machine has no file of certificates" >&2; exit 1; }

quiet() { $crane "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }; }

manifests=()
for arch in amd64 arm64; do
	root=$work/$arch
	mkdir -p "$root"/{usr/bin,etc/ssl/certs,data,tmp}
	cp "$build/linux-$arch/pitot" "$root/usr/bin/pitot"
	cp "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
	cp LICENSE "$build/linux-$arch/LICENSES.txt" "$root/"
	chmod 1777 "$root/tmp" "$root/data"
	tar -C "$root" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$work/$arch.tar" .
	quiet append --insecure --oci-empty-base -f "$work/$arch.tar" -t "$repository:$arch"
	quiet mutate --insecure "$repository:$arch" --set-platform "linux/$arch" --entrypoint /usr/bin/pitot --workdir /data \
		--user 65532:65532 --env HOME=/data --env PATH=/usr/bin --label "org.opencontainers.image.version=$version" \
		--label org.opencontainers.image.licenses=Apache-2.0 -t "$repository:$arch"
	manifests+=(-m "$repository:$arch")
done
quiet index append --insecure "${manifests[@]}" -t "$repository:all"
quiet pull --insecure --format=oci "$repository:all" "$work/layout"
tar -C "$work/layout" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$out" .
