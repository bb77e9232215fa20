package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// An installation is a folder of a release on a server, and where install.sh puts the program.
type installation struct {
	name   string // of the archive for this machine, without .tar.gz
	files  map[string][]byte
	server *httptest.Server
	folder string
}

// newInstallation serves a release 1.2.3 whose program is a script.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("install.sh is for Linux and macOS")
	}
	name := fmt.Sprintf("pitot-1.2.3-%s-%s", runtime.GOOS, runtime.GOARCH)
	archive := tarball(t, name+"/pitot", "#!/bin/sh\necho pitot 1.2.3\n")
	i := &installation{name: name, folder: filepath.Join(t.TempDir(), "a b"), files: map[string][]byte{
		"SHA256SUMS": fmt.Appendf(nil, "%064d  other.tar.gz\n%x  %s.tar.gz\n", 0, sha256.Sum256(archive), name), name + ".tar.gz": archive,
	}}
	i.server = httptest.NewServer(i)
	t.Cleanup(i.server.Close)
	return i
}

// ServeHTTP answers as a server, and as a proxy, does. A file that is nil has no end.
func (i *installation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, known := i.files[path.Base(r.URL.Path)]
	switch {
	case !known:
		http.NotFound(w, r)
	case content == nil:
		for block := make([]byte, 1<<16); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	default:
		_, _ = w.Write(content)
	}
}

// run runs a script with the variables of install.sh and more.
func (i *installation) run(script []string, more ...string) (printed string, err error) {
	cmd := exec.Command(script[0], script[1:]...) //nolint:gosec // scripts of this repository
	cmd.Env = append(os.Environ(), "http_proxy=", "PITOT_VERSION=1.2.3", "PITOT_DIR="+i.folder, "PITOT_MIRROR="+i.server.URL)
	cmd.Env = append(cmd.Env, more...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var installScript = []string{"sh", "../../packaging/install.sh"}

// install.sh installs an archive that is the one of SHA256SUMS, and nothing else; it says what is wrong.
func TestInstall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, i *installation) []string // returns variables
		says   string
		works  bool
	}{
		"good":      {nil, "pitot 1.2.3 is in ", true},
		"with a v":  {func(*testing.T, *installation) []string { return []string{"PITOT_VERSION=v1.2.3"} }, "it is not on PATH yet: export PATH=", true},
		"unfilled":  {func(*testing.T, *installation) []string { return []string{"PITOT_VERSION=@VERSION@"} }, "set PITOT_VERSION", false},
		"sums gone": {func(_ *testing.T, i *installation) []string { delete(i.files, "SHA256SUMS"); return nil }, "cannot download ", false},
		"gone":      {func(_ *testing.T, i *installation) []string { delete(i.files, i.name+".tar.gz"); return nil }, "cannot download ", false},
		"not listed": {func(_ *testing.T, i *installation) []string {
			i.files["SHA256SUMS"] = bytes.ReplaceAll(i.files["SHA256SUMS"], []byte(".tar.gz"), []byte(".tar.gz.sig"))
			return nil
		}, "has no line for ", false},
		"truncated": {func(_ *testing.T, i *installation) []string {
			i.files[i.name+".tar.gz"] = i.files[i.name+".tar.gz"][:40]
			return nil
		}, "is damaged or not the one released: its SHA-256 is ", false},
		"endless": {func(_ *testing.T, i *installation) []string { i.files["SHA256SUMS"] = nil; return nil }, "or it is more than 1 MiB", false},
		"by a proxy": {func(_ *testing.T, i *installation) []string {
			return []string{"PITOT_MIRROR=http://mirror.invalid/pitot", "http_proxy=" + i.server.URL}
		}, "pitot 1.2.3 is in ", true},
		"not writable": {func(t *testing.T, i *installation) []string {
			i.folder = filepath.Join(i.folder, "pitot") // below a file
			return []string{"PITOT_DIR=" + i.folder, "BLOCK=" + blocked(t, filepath.Dir(i.folder))}
		}, "set PITOT_DIR to a folder that you may write to", false},
		"does not run": {func(t *testing.T, i *installation) []string {
			archive := tarball(t, i.name+"/pitot", "#!/bin/sh\nexit 126\n")
			i.files[i.name+".tar.gz"] = archive
			i.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s.tar.gz\n", sha256.Sum256(archive), i.name)
			return nil
		}, "pitot does not run: ", false},
		"unknown system": {func(t *testing.T, _ *installation) []string {
			return []string{"PATH=" + programs(t, "uname", "echo Plan9") + ":" + os.Getenv("PATH")}
		}, "there is no pitot for Plan9", false},
		"on the path": {func(_ *testing.T, i *installation) []string {
			return []string{"PATH=" + i.folder + ":" + os.Getenv("PATH")}
		}, " is in ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInstallation(t)
			var more []string
			if c.change != nil {
				more = c.change(t, i)
			}
			out, err := i.run(installScript, more...)
			_, missing := os.Stat(filepath.Join(i.folder, "pitot"))
			if (err == nil) != c.works || (missing == nil) != c.works || !strings.Contains(out, c.says) {
				t.Errorf("%v, %v: %s", err, missing, out)
			}
			if advice := strings.Contains(out, "not on PATH"); c.works && advice == (name == "on the path") {
				t.Errorf("PATH: %s", out)
			}
		})
	}
}

// blocked writes a file in place of a folder.
func blocked(t *testing.T, name string) string {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// programs is a folder with a script that stands for a program.
func programs(t *testing.T, name, script string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil { //nolint:gosec // is executed
		t.Fatal(err)
	}
	return folder
}

// The step of setup-pitot installs a release, and puts it on the PATH of the steps after it.
func TestSetupPitot(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	readYAML(t, "../../packaging/setup-pitot/action.yml", &action)
	paths := filepath.Join(t.TempDir(), "paths")
	out, err := i.run([]string{"bash", "-e", "-c", action.Runs.Steps[0].Run}, "GITHUB_ACTION_PATH=../../packaging", "GITHUB_PATH="+paths)
	if got, _ := os.ReadFile(paths); err != nil || string(got) != i.folder+"\n" || !strings.Contains(out, "pitot 1.2.3 is in ") {
		t.Errorf("%v: %s; the path is %s", err, out, got)
	}
	delete(i.files, "SHA256SUMS")
	if out, err := i.run([]string{"bash", "-e", "-c", action.Runs.Steps[0].Run}, "GITHUB_ACTION_PATH=../../packaging", "GITHUB_PATH="+paths+"2"); err == nil {
		t.Errorf("a step without a release goes on: %s", out)
	}
}

// The formula names the archives of a release with their sums, each once.
func TestFormula(t *testing.T) {
	t.Parallel()
	dist, want := t.TempDir(), map[string]string{}
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		name := "pitot-1.2.3-" + platform + ".tar.gz"
		want["https://github.com/pitot-bench/pitot/releases/download/v1.2.3/"+name] = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
		if err := os.WriteFile(filepath.Join(dist, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	formula, err := exec.Command("../../packaging/formula.sh", "1.2.3", dist).Output()
	if err != nil || bytes.Contains(formula, []byte("@")) {
		t.Fatalf("%v: %s", err, formula)
	}
	pairs := regexp.MustCompile(`url "(.*)"\n\s+sha256 "(.*)"`).FindAllStringSubmatch(string(formula), -1)
	for _, p := range pairs {
		if want[p[1]] != p[2] {
			t.Errorf("%s has the sum %s, want %s", p[1], p[2], want[p[1]])
		}
		delete(want, p[1])
	}
	if len(want) > 0 {
		t.Errorf("the formula lacks %v", want)
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		check := exec.Command("ruby", "-c")
		check.Stdin = bytes.NewReader(formula)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// packaging/tag.sh makes a commit beside the branch that has the built page, and refuses one that is not what web/ gives.
func TestTag(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"git", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	sh := func(script string) (string, error) {
		cmd := exec.Command("bash", "-ec", script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "SCRIPTS=" + scripts(t)}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := sh(`git init -qb main
git config user.name t; git config user.email t@example.org; git config commit.gpgsign false; git config tag.gpgsign false
mkdir -p packaging cmd/pitot internal/show/web/dist
cp "$SCRIPTS"/tag.sh "$SCRIPTS"/check-tag.sh packaging/
echo 1.2.3 >cmd/pitot/VERSION; echo '## 1.2.3' >CHANGELOG.md; echo '/internal/show/web/dist/*' >.gitignore; echo page >source
printf 'page:\n\tinstall -D source internal/show/web/dist/index.html\n' >Makefile
git add . && git commit -qm first && packaging/tag.sh
git show v1.2.3:internal/show/web/dist/index.html
git merge-base --is-ancestor main v1.2.3 && git diff --quiet && [ -z "$(git ls-files internal)" ]
git checkout -q v1.2.3 && packaging/tag.sh --check`); err != nil || !strings.Contains(out, "\npage\n") {
		t.Fatalf("%v: %s", err, out)
	}
	for script, says := range map[string]string{
		"main; packaging/tag.sh --check":                                              "this commit has no page",
		"v1.2.3; echo other >source; git commit -qam other; packaging/tag.sh --check": "is not the one that web/ gives: internal/show/web/dist/index.html",
		"main; echo 1.2.4 >cmd/pitot/VERSION; git commit -qam next; packaging/tag.sh": `has no section "## 1.2.4"`,
		"main; echo change >>Makefile; packaging/tag.sh":                              "the working tree has changes",
	} {
		if out, err := sh("git checkout -qf --detach " + script); err == nil || !strings.Contains(out, says) {
			t.Errorf("%s: %v: %s", script, err, out)
		}
	}
}

// scripts is the folder of packaging.
func scripts(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../packaging")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// tarball is a compressed archive of one program.
func tarball(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
