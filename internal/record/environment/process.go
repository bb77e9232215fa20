package environment

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// ReadProcess reads /proc/PID/cmdline and environ: words that end with a zero byte each.
func ReadProcess(pid int, cmdline, environ, dir string) *Process {
	p := &Process{PID: pid, Args: zeroEnded(cmdline), Env: map[string]string{}, Dir: strings.TrimSuffix(dir, "\n")}
	for _, pair := range zeroEnded(environ) {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" && name != "_" && !strings.HasPrefix(name, "PITOT_") {
			p.Env[name] = value
		}
	}
	return p
}

func zeroEnded(text string) []string {
	words := strings.Split(text, "\x00")
	for len(words) > 0 && strings.TrimSpace(words[len(words)-1]) == "" {
		words = words[:len(words)-1]
	}
	return words
}

// Titled reports whether a process has replaced its arguments by a title, as engines do for
// their workers: VLLM::APIServer.
func (p *Process) Titled() bool {
	return len(p.Args) == 0 || len(p.Args) == 1 && strings.Contains(p.Args[0], "::")
}

var container = lazy.Regexp(`(docker|libpod|containerd|crio|kubepods)[^\n]*?([0-9a-f]{64})`)

// ContainerID is the id of the container that a process is in, by its /proc/PID/cgroup; empty:
// none is known.
func ContainerID(cgroup string) string {
	if m := container.FindStringSubmatch(cgroup); m != nil {
		return m[2]
	}
	return ""
}

var (
	interpreter = lazy.Regexp(`^(?:python|pypy)(\d(?:\.\d+)?)?`)
	siteFolder  = lazy.Regexp(`(/\S*?/(?:site|dist)-packages)/`)
	ofPython    = lazy.Regexp(`/python(\d\.\d+)/`)
)

// PythonSites are the folders with the packages of a process, the ones that Python searches
// first ahead: as patterns below a folder. exe is its program, maps lines of its /proc/PID/maps.
// None: it is no Python.
func PythonSites(p *Process, exe, maps string) (sites []probe.Ask) {
	m := interpreter.FindStringSubmatch(path.Base(exe))
	if m == nil && !strings.Contains(maps, "-packages/") {
		return nil
	}
	add := func(dir, glob string) {
		a := probe.Ask{Dir: dir, Glob: glob}
		same := func(b probe.Ask) bool { return b.Dir == a.Dir && b.Glob == a.Glob }
		if path.IsAbs(dir) && !slices.ContainsFunc(sites, same) && len(sites) < mostSites {
			sites = append(sites, a)
		}
	}
	for _, dir := range strings.Split(p.Env["PYTHONPATH"], ":") {
		add(dir, "")
	}
	for _, m := range siteFolder.FindAllStringSubmatch(maps, mostItems) {
		add(m[1], "")
	}
	own, isPrivate := prefixes(p, exe)
	for _, prefix := range own {
		add(prefix, "lib/python3*/site-packages")
		add(prefix, "local/lib/python3*/dist-packages")
		if !isPrivate {
			add(prefix, "lib/python3*/dist-packages")
			add(prefix, "lib/python3/dist-packages")
		}
	}
	if home := p.Env["HOME"]; home != "" && !isPrivate {
		add(home, ".local/lib/python3*/site-packages")
	}
	return sites
}

// mostSites is more than any process has.
const mostSites = 16

// prefixes are where an interpreter is installed; apart reports a virtual environment.
func prefixes(p *Process, exe string) (all []string, isPrivate bool) {
	base := prefix(exe)
	for _, file := range p.Args[:min(2, len(p.Args))] { // the interpreter, and a script that pip made
		if dir := prefix(file); dir != "" && dir != base && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := p.Env[name]; len(all) == 0 && dir != "" && dir != base && base != "" && strings.HasPrefix(base, "/usr") {
			all = append(all, dir)
		}
	}
	if isPrivate = len(all) > 0 && !strings.HasPrefix(all[0], "/usr"); isPrivate {
		return all, true
	}
	return append(all, base), false
}

// prefix is the folder above bin, for a program that is in one.
func prefix(file string) string {
	dir := path.Dir(file)
	if !path.IsAbs(file) || path.Base(dir) != "bin" {
		return ""
	}
	return path.Dir(dir)
}

// PythonVersion is that of an interpreter by its name, or by where its packages are.
func PythonVersion(exe, lines string) string {
	if m := interpreter.FindStringSubmatch(path.Base(exe)); m != nil && strings.Contains(m[1], ".") {
		return m[1]
	}
	if m := ofPython.FindStringSubmatch(lines); m != nil {
		return m[1]
	}
	return ""
}

// ModelName is the model that the arguments of a server name, empty if they name none.
func ModelName(args []string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch name {
		case "--model", "--model-path", "--model_path", "--model-dir", "--model-id", "-m":
			if joined {
				return value
			}
			if name != "-m" || !interpreter.MatchString(path.Base(args[max(0, i-1)])) { // python -m MODULE
				return next
			}
		case "serve":
			if next != "" && !strings.HasPrefix(next, "-") && !joined {
				return next
			}
		}
	}
	return ""
}

// ModelFolders are where a model may be: its path, or for a name the caches of Hugging Face
// and ModelScope, as patterns below a folder.
func ModelFolders(p *Process, name string) (all []probe.Ask) {
	add := func(dir, glob string) {
		if path.IsAbs(dir) {
			all = append(all, probe.Ask{Dir: path.Clean(dir), Glob: glob})
		}
	}
	if path.IsAbs(name) {
		add(name, "")
		return all
	}
	if name == "" || strings.ContainsAny(name, "*?[\x00") {
		return nil
	}
	add(path.Join(p.Dir, name), "")
	if parts := strings.Split(name, "/"); len(parts) != 2 || parts[0] == ".." || parts[0] == "." {
		return all
	}
	home := cmp.Or(p.Env["HOME"], "/root")
	cache := p.Env["XDG_CACHE_HOME"]
	cache = cmp.Or(cache, path.Join(home, ".cache"))
	hub := "models--" + strings.ReplaceAll(name, "/", "--")
	for _, dir := range []string{
		p.Env["HF_HUB_CACHE"], path.Join(p.Env["HF_HOME"], "hub"), path.Join(cache, "huggingface", "hub"),
	} {
		add(path.Join(dir, hub), "snapshots/*")
	}
	for _, dir := range []string{p.Env["MODELSCOPE_CACHE"], path.Join(cache, "modelscope", "hub")} {
		add(path.Join(dir, "models", name), "")
		add(path.Join(dir, name), "")
	}
	return all
}
