package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// ModuleAsks ask for the module that a Python runs from a folder other than those of installed packages: of
// `python -m MODULE` the working directory and those of PYTHONPATH, of a script its own.
func ModuleAsks(p *Process) (asks []probe.Ask) {
	module, script := moduleOf(p.Args)
	if script != "" {
		if !path.IsAbs(script) {
			script = path.Join(p.Dir, script)
		}
		return []probe.Ask{{Name: "module", Dir: path.Clean(script), Limit: 64}}
	}
	file := strings.ReplaceAll(module, ".", "/")
	for _, dir := range append([]string{p.Dir}, strings.Split(p.Env["PYTHONPATH"], ":")...) {
		if module == "" || !path.IsAbs(dir) || len(asks) >= mostSites {
			continue
		}
		for _, ends := range []string{".py", "/__main__.py"} {
			asks = append(asks, probe.Ask{Name: "module", Dir: path.Join(dir, file+ends), Limit: 64})
		}
	}
	return asks
}

var moduleName = lazy.Regexp(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$`)

// moduleOf is the module or the script of the arguments of a Python.
func moduleOf(args []string) (module, script string) {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-m":
			return moduleName.FindString(args[min(i+1, len(args)-1)]), ""
		case arg == "-X" || arg == "-W":
			i++
		case strings.HasSuffix(arg, ".py") && !strings.Contains(arg, "-packages/"):
			return "", arg
		case !strings.HasPrefix(arg, "-"):
			return "", ""
		}
	}
	return "", ""
}

// ReadModule is the tree of the first answer to ModuleAsks, none without one.
func ReadModule(p *Process, a probe.Answers) []Tree {
	found := a.All("module")
	if len(found) == 0 {
		return nil
	}
	file, module := found[0].Path, ""
	if module, _ = moduleOf(p.Args); module != "" {
		file = file[:max(0, strings.LastIndex(file, "/"+strings.ReplaceAll(module, ".", "/")))] + "/"
	}
	top, _, _ := strings.Cut(module, ".")
	return []Tree{{Path: path.Dir(file), Package: top}}
}

// local is a commit in the local part of a version, as setuptools-scm writes it: 0.11.1.dev3+g3cf059a72.cu129.
var local = lazy.Regexp(`\+(?:[^+]*\.)?g(?:it)?([0-9a-f]{7,40})(?:\.|$)`)

// VersionTrees are the commits that the versions of engines name.
func VersionTrees(packages []Version) (trees []Tree) {
	engines := mattering[:slices.Index(mattering, "torch")]
	for _, v := range packages {
		if m := local.FindStringSubmatch(v.Version); m != nil && slices.Contains(engines, normal(v.Name)) {
			trees = append(trees, Tree{Package: v.Name, Commit: m[1]})
		}
	}
	return trees
}

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

var commit = lazy.Regexp(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

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
