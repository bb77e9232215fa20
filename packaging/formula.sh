#!/usr/bin/env bash
# Prints the Homebrew formula of a release: packaging/pitot.rb with the version, and the sum of each archive.
# Usage: packaging/formula.sh VERSION FOLDER      the folder of the archives
set -euo pipefail
version=$1 folder=$2
sed "s/@VERSION@/$version/g" "$(dirname "$0")/pitot.rb" | while IFS= read -r line; do
	if [[ $line =~ @SHA256\ ([a-z0-9-]+)@ ]]; then
		sum=$(sha256sum "$folder/pitot-$version-${BASH_REMATCH[1]}.tar.gz" | cut -d ' ' -f 1)
		line=${line/"${BASH_REMATCH[0]}"/$sum}
	fi
	printf '%s\n' "$line"
done
