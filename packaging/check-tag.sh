#!/usr/bin/env bash
# Refuses a tag that is not the version of cmd/pitot/VERSION, or that CHANGELOG.md does not know.
# Usage: packaging/check-tag.sh v0.1.0
set -euo pipefail
cd "$(dirname "$0")/.."
tag=$1 version=$(<cmd/pitot/VERSION)
if [[ $tag != "v$version" ]]; then
	echo "check-tag.sh: the tag is $tag, and cmd/pitot/VERSION says $version: the tag must be v$version" >&2
	exit 1
fi
if ! grep -q "^## $version\b" CHANGELOG.md; then
	echo "check-tag.sh: CHANGELOG.md has no section \"## $version\"" >&2
	exit 1
fi
