#!/usr/bin/env bash
# Prints the licences of all that is linked into the program, as they stand in the module
# cache, for the GOOS and GOARCH of the environment, and of all that is bundled into the page, where
# it was built. A module without one is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# licences are the files of a package's folder, and of each above it up to its module's.
licences() { # MODULE_DIR PACKAGE_DIR
	local dir=$2
	while :; do
		find "$dir" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\|unlicense\)[^/]*' ! -name '*.go'
		find "$dir" -mindepth 2 -maxdepth 2 -type f -ipath "$dir/licenses/*"
		[[ $dir == "$1" ]] && break
		dir=$(dirname "$dir")
	done
}

section() { # TITLE FILE...
	printf '%s\n%s\n' "================================================================================" "$1"
	local title=$1 file
	shift
	for file; do
		printf -- '--------------------------------------------------------------------------------\n%s\n\n' "${file#"$root"/}"
		tr -d '\r' <"$file"
		echo
	done
}

root=$(go env GOROOT)
section "Go, $(go env GOVERSION): the standard library and the runtime" "$root/LICENSE" "$root/PATENTS"

go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} {{$.Dir}}{{end}}{{end}}' ./cmd/pitot |
	sort -u | while read -r module version dir package; do
	licences "$dir" "$package" | sed "s|^|$module $version $dir |"
	echo "$module $version $dir"
done | sort -u | awk '{ m = $1 " " $2 " " $3; if (!(m in files)) order[++n] = m; files[m] = files[m] (NF > 3 ? "\t" $4 : "") } END { for (i = 1; i <= n; i++) print order[i] files[order[i]] }' |
	while IFS=$'\t' read -r head files; do
		read -r module version root <<<"$head"
		if [[ -z $files ]]; then
			echo "licenses: $module $version has no file with its licence" >&2
			exit 1
		fi
		IFS=$'\t' read -r -a each <<<"$files"
		section "$module $version" "${each[@]}"
	done

# What the page's script has of packages (npm ls --omit=dev, and the runtime of Svelte).
[[ -e internal/show/web/dist/page.js ]] || exit 0
for name in uplot svelte clsx esm-env; do
	folder=web/node_modules/$name
	version=$(sed -n 's/^ *"version": "\(.*\)".*/\1/p' "$folder/package.json" | head -n 1)
	file=$(find "$folder" -maxdepth 1 -iname 'licen[cs]e*' | head -n 1)
	if [[ -z $file ]]; then
		echo "licenses: $name $version has no file with its licence" >&2
		exit 1
	fi
	section "$name $version, in the page" "$file"
done
