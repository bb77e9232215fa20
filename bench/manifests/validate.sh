#!/usr/bin/env bash
# Holds what `pitot fleet manifests` prints, and packaging/bench-job.yaml, against the schemas of Kubernetes 1.25 to 1.37, strictly:
# a field that a version does not know is an error. The schemas come with kubernetes-validate of PyPI,
# which is installed into FOLDER (PITOT_MANIFESTS, by default ~/.cache/pitot-manifests).
# Usage: bench/manifests/validate.sh [FILE...]: other files than those of the tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${PITOT_MANIFESTS:-$HOME/.cache/pitot-manifests}
[ -x "$folder/bin/kubernetes-validate" ] || { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet kubernetes-validate==1.37.0; }
export PATH="$folder/bin:$PATH"
[ $# -gt 0 ] || { go test -count=1 -run '^TestSchemas$' ./internal/fleet/manifests && set -- internal/fleet/manifests/testdata/*.yaml packaging/bench-job.yaml; }
failed=0
for minor in $(seq 25 37); do
	for file in "$@"; do
		objects=$(grep -c '^kind:' "$file" || true) # a file of none would be valid
		if [ "$objects" -gt 0 ] && kubernetes-validate --strict --quiet -k "1.$minor" "$file"; then
			echo "1.$minor $(basename "$file"): $objects objects valid"
		else
			echo "1.$minor $(basename "$file"): not valid, with $objects objects" >&2
			failed=1
		fi
	done
done
# What must not pass does not: otherwise the lines above say nothing.
bad=$(mktemp --suffix=.yaml)
trap 'rm -f "$bad"' EXIT
sed 's/completionMode:/completionMood:/' "$1" >"$bad"
if kubernetes-validate --strict --quiet -k 1.37 "$bad" >/dev/null 2>&1; then
	echo "a field that does not exist passes: the validator does not work" >&2
	failed=1
fi
exit $failed
