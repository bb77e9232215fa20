#!/usr/bin/env bash
# Builds the static archives with their checksums into dist/.
# Usage: scripts/dist.sh VERSION LDFLAGS
set -euo pipefail
version=$1 ldflags=$2
rm -rf dist && mkdir dist
for os in linux darwin; do
	for arch in amd64 arm64; do
		name=pitot-$version-$os-$arch
		mkdir "dist/$name"
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "$ldflags" -o "dist/$name/pitot" ./cmd/pitot
		GOOS=$os GOARCH=$arch scripts/licenses.sh >"dist/$name/LICENSES.txt"
		# all that the README links to
		cp -r LICENSE README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md docs "dist/$name/"
		# the same input gives the same archive
		tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name" | gzip -n >"dist/$name.tar.gz"
		rm -r "dist/$name"
	done
done
(cd dist && sha256sum ./*.tar.gz >SHA256SUMS && cat SHA256SUMS)
