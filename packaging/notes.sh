#!/usr/bin/env bash
# Prints the section of CHANGELOG.md on a version.
# Usage: packaging/notes.sh 0.1.0
set -euo pipefail
cd "$(dirname "$0")/.."
awk -v version="$1" '/^## / { on = $2 == version; next } on' CHANGELOG.md
