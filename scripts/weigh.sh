#!/usr/bin/env bash
# What dependencies add to the binary: its size, and how much smaller it is when their functions and data are
# empty, with what they keep alive of others.
# Usage: scripts/weigh.sh [NAME=FOLDER,FOLDER...]...   folders of modules, such as plot=gonum.org/v1/plot
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# = 0 ]; then
	set -- nats-server=github.com/nats-io/nats-server,github.com/nats-io/jwt,github.com/minio/highwayhash,golang.org/x/time \
		plot=gonum.org/v1/plot,codeberg.org,git.sr.ht,github.com/golang/freetype,github.com/ajstarks,golang.org/x/image/font \
		fonts=codeberg.org/go-fonts \
		parquet=github.com/parquet-go,github.com/andybalholm,github.com/pierrec,github.com/twpayne \
		sqlite=modernc.org gonum=gonum.org/v1/gonum \
		protobuf=google.golang.org/protobuf text=golang.org/x/text nats.go=github.com/nats-io/nats.go compress=github.com/klauspost \
		regexp2=github.com/dlclark yaml=github.com/goccy gjson=github.com/tidwall uniseg=github.com/rivo \
		images=golang.org/x/image/webp,golang.org/x/image/vp8,golang.org/x/image/vp8l,golang.org/x/image/tiff,golang.org/x/image/bmp,golang.org/x/image/ccitt \
		metrics=github.com/VictoriaMetrics,github.com/valyala
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files -z | tar --null -T - -cf - | tar -C "$work" -xf -
cp internal/show/web/dist/* "$work/internal/show/web/dist/"
go build -o "$work/empty" scripts/empty.go
cd "$work"
go mod vendor
size() {
	rm -f pitot
	CGO_ENABLED=0 go build -mod=vendor -trimpath -ldflags '-s -w' -o pitot ./cmd/pitot
	stat -c %s pitot
}
mv vendor whole
cp -r whole vendor
all=$(size)
echo "$all bytes in all"
for row; do
	for folder in $(tr , ' ' <<<"${row#*=}"); do ./empty "vendor/$folder"; done
	left=$(size)
	echo "$((all - left)) bytes: ${row%%=*}"
	rm -rf vendor
	cp -r whole vendor
done
