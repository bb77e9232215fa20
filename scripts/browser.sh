#!/usr/bin/env bash
# Prints the path of a Chromium for the tests of the page: PITOT_BROWSER, one that is installed, or
# Debian's, which is installed first if this user may; with --installed, only one that is there.
set -euo pipefail
for name in ${PITOT_BROWSER:-} chromium chromium-browser google-chrome chrome; do
	if command -v "$name"; then exit; fi
done
if [[ ${1:-} != --installed ]] && command -v apt-get >/dev/null && [[ $(id -u) = 0 ]]; then
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >&2
	command -v chromium
	exit
fi
echo 'no browser for the tests of the page: install Chromium, or name one in PITOT_BROWSER' >&2
exit 1
