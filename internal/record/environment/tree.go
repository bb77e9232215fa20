package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// mostDiff is how much of a tree's changes is hashed, in bytes.
const mostDiff = 512 << 10

// Asks are what Settle reads of a working tree. git runs no program that the tree's
// configuration names as its monitor, differ or converter, and takes no lock.
func (t Tree) Asks() []probe.Ask {
	git := []string{
		"env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "git", "--no-optional-locks", "-c",
		"core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", t.Path,
	}
	return []probe.Ask{
		{Name: "head", Dir: path.Join(t.Path, ".git/HEAD"), Limit: 256},
		{Name: "packed", Dir: path.Join(t.Path, ".git/packed-refs"), Limit: 256 << 10},
		{Name: "ref", Dir: path.Join(t.Path, ".git/refs/heads"), Glob: "*", Limit: 64},
		{Name: "commit", Kind: probe.Run, Args: append(git, "rev-parse", "--verify", "HEAD"), Limit: 256},
		// The summary is there also of a tree without changes, so that its absence says that git failed.
		{
			Name: "status", Kind: probe.Run, Args: append(git, "status", "--porcelain=v2", "--branch", "--untracked-files=no"),
			Limit: 4 << 10,
		},
		{
			Name: "diff", Kind: probe.Run, Args: append(git, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD"),
			Limit: mostDiff,
		},
	}
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Settle reads the answers to Asks, and reports whether there is a working tree. Without git
// the commit is read from its files, and whether it is dirty is unknown.
func (t *Tree) Settle(a probe.Answers) bool {
	if id := strings.TrimSpace(a.Text("commit")); commit.MatchString(id) {
		t.Commit = id
	}
	if status := a.Text("status"); strings.Contains(status, "# branch.oid") && t.Commit != "" {
		dirty := false
		for line := range strings.Lines(status) {
			dirty = dirty || !strings.HasPrefix(line, "#")
		}
		if t.Dirty = &dirty; dirty {
			sum := sha256.Sum256([]byte(a.Text("diff")))
			t.Diff = hex.EncodeToString(sum[:8])
		}
	}
	if t.Commit == "" {
		t.Commit = t.inFiles(a)
	}
	return t.Commit != ""
}

// inFiles is the commit that HEAD names, itself or by a branch.
func (t *Tree) inFiles(a probe.Answers) string {
	head := strings.TrimSpace(a.Text("head"))
	branch, named := strings.CutPrefix(head, "ref: ")
	if !named {
		return commit.FindString(head)
	}
	for _, ref := range a.All("ref") {
		if ref.Path == path.Join(t.Path, ".git", branch) {
			return commit.FindString(strings.TrimSpace(ref.Text))
		}
	}
	for line := range strings.Lines(a.Text("packed")) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == branch {
			return commit.FindString(id)
		}
	}
	return ""
}
