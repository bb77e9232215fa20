#!/usr/bin/env bash
# Tags a release: v<cmd/pitot/VERSION> is HEAD and, in a commit of its own beside the branch, the page that web/ gives, so that
# `go install .../cmd/pitot@v<VERSION>` has the page, and no branch has generated files. The tag is pushed by a person.
# Usage: packaging/tag.sh            make the tag
#        packaging/tag.sh --check    at the commit of a tag: its page is the one that web/ gives here
set -euo pipefail
cd "$(dirname "$0")/.."
page=internal/show/web/dist
fail() {
	echo "tag.sh: $1" >&2
	exit 1
}

[[ -z $(git status --porcelain) ]] || fail 'the working tree has changes: commit or stash them first'
if [[ ${1:-} = --check ]]; then
	git ls-files --error-unmatch $page/index.html >/dev/null 2>&1 || fail "this commit has no page: tags are made by packaging/tag.sh"
fi
rm -f $page/index.html $page/page.*
make --silent page
[[ -s $page/index.html ]] || fail 'the page could not be built: install Node 20.19 or newer, and let npm reach its registry'
if [[ ${1:-} = --check ]]; then
	git diff --quiet -- $page || fail "the page of this commit is not the one that web/ gives: $(git diff --name-only -- $page | xargs)"
	exit
fi

tag=v$(<cmd/pitot/VERSION)
packaging/check-tag.sh "$tag"
GIT_INDEX_FILE=$(mktemp -u)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
git read-tree HEAD
git add --force $page
commit=$(git commit-tree "$(git write-tree)" -p HEAD -m "Pitot ${tag#v}, with its page")
git tag --annotate --message "Pitot ${tag#v}" "$tag" "$commit"
echo "$tag is made: git push origin $tag starts the release"
