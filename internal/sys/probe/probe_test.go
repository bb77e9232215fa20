package probe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// furnished is a folder with all that there is to read, and some that must not be.
func furnished(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "one\ntwo\n")
	write("zeros", "a\x00b\nc\x00")
	write("with blank/x y.txt", "blank")
	write("it's", "quoted")
	write("p/a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1.0\nName: not this one\n")
	write("p/b_c-2.dist-info/METADATA", "Name: b-c\nVersion: 2\n")
	write("p/.hidden-1.dist-info/METADATA", "Name: hidden\nVersion: 1\n")
	for link, to := range map[string]string{
		"loop": "loop", "round/a": "b", "round/b": "a", "link": "plain", "out": "/etc/hostname",
		"up": "../../../../../../etc/hostname",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil { // without a writer
		t.Fatal(err)
	}
	return dir
}

func asksOf(dir string) []Ask {
	return []Ask{
		{Name: "plain", Dir: dir + "/plain"},
		{Name: "cut", Dir: dir + "/plain", Limit: 5},
		{Name: "zeros", Dir: dir + "/zeros"},
		{Name: "blank", Dir: dir + "/with blank", Glob: "*.txt"},
		{Name: "quote", Dir: dir + "/it's"},
		{Name: "none", Dir: dir + "/nothing"},
		{Name: "none", Dir: dir, Glob: "no*/x"},
		{Name: "none", Dir: dir + "/loop"},
		{Name: "none", Dir: dir + "/round/a"},
		{Name: "none", Dir: dir + "/pipe"},
		{Name: "none", Dir: dir},
		{Name: "packages", Kind: Lines, Dir: dir, Glob: "p/*.dist-info/METADATA", Match: "^(Name|Version):", Most: 2},
		{Name: "link", Kind: Link, Dir: dir + "/link"},
		{Name: "size", Kind: Size, Dir: dir, Glob: "p/*/METADATA"},
		{Name: "hash", Kind: Hash, Dir: dir + "/plain"},
		{Name: "ran", Kind: Run, Args: []string{"sh", "-c", `echo "$0 it's"`, "a b"}},
		{Name: "absent", Kind: Run, Args: []string{"no-such-program", "x"}},
	}
}

// normal is what answers say, without what a shell adds.
func normal(all Answers) (lines []string) {
	for _, a := range all {
		text := strings.TrimSpace(a.Text)
		if a.Name == "hash" {
			text = text[:64]
		}
		if text != "" {
			lines = append(lines, fmt.Sprintf("%s %s %q", a.Name, a.Path, text))
		}
	}
	return lines
}

// This machine's own files, and those that a shell reads, are the same answers.
func TestAShellReadsWhatSystemCallsRead(t *testing.T) {
	dir := furnished(t)
	want := []string{
		`plain /plain "one\ntwo"`, `cut /plain "one\nt"`, `zeros /zeros "a\x00b\nc\x00"`,
		`blank /with blank/x y.txt "blank"`, `quote /it's "quoted"`,
		`packages  "/p/a-1.0.dist-info/METADATA:Name: a\n/p/a-1.0.dist-info/METADATA:Version: ` +
			`1.0\n/p/b_c-2.dist-info/METADATA:Name: b-c\n/p/b_c-2.dist-info/METADATA:Version: 2"`,
		`link /link "plain"`, `size  "62 /p/a-1.0.dist-info/METADATA\n21 /p/b_c-2.dist-info/METADATA"`,
		`hash /plain "c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8"`, `ran  "a b it's"`,
	}
	machines := map[string]Machine{"local": Local{}}
	for _, shell := range []string{"sh", "dash", "bash", "busybox"} {
		args := []string{shell}
		if shell == "busybox" {
			args = append(args, "sh")
		}
		if _, err := exec.LookPath(shell); err == nil {
			machines[shell] = Shell{args}
		}
	}
	for name, m := range machines {
		got, err := m.Ask(t.Context(), "", asksOf(dir))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		lines := normal(got)
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(line, dir, "")
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// No link leads out of the tree of another process: what it calls /etc/hostname is below its
// root.
func TestNoLinkLeadsOutOfATree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("trees of other processes are read on Linux alone")
	}
	dir := furnished(t)
	if err := os.MkdirAll(dir+"/etc", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/etc/hostname", []byte("inside"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, _ := Local{}.Ask(t.Context(), dir, []Ask{
		{Name: "out", Dir: "/out"},
		{Name: "up", Dir: "/up"},
		{Name: "up", Dir: "/../../../../../../etc/hostname"},
		{Name: "loop", Dir: "/loop"},
		{Name: "link", Kind: Link, Dir: "/out"},
		{Name: "glob", Kind: Size, Dir: "/", Glob: "e*/host*"},
	})
	want := []string{
		`out /out "inside"`, `up /up "inside"`, `up /etc/hostname "inside"`, `link /out "/etc/hostname"`,
		`glob  "6 /etc/hostname"`,
	}
	if diff := cmp.Diff(want, normal(got)); diff != "" {
		if strings.Contains(diff, "function not implemented") {
			t.Skip("no openat2 here")
		}
		t.Error(diff)
	}
	if got, _ := (Local{}).Ask(t.Context(), dir+"/no-such-root", []Ask{{Name: "x", Dir: "/etc/hostname"}}); len(got) > 0 {
		t.Errorf("of a root that is not there: %q", got)
	}
}

// A huge file costs no more than its bound.
func TestAnswersAreBounded(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "METADATA")
	if err := os.WriteFile(huge, []byte("Name: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 4<<30); err != nil { // zeros, which take no room
		t.Fatal(err)
	}
	began := time.Now()
	got, _ := Local{}.Ask(t.Context(), "", []Ask{
		{Name: "text", Dir: huge, Limit: 1000},
		{Name: "lines", Kind: Lines, Dir: huge, Match: "^(Name|Version):", Most: 2},
		{Name: "hash", Kind: Hash, Dir: huge},
	})
	if len(got) != 2 || len(got.Text("text")) != 1000 || got.Text("lines") != huge+":Name: x\n" {
		t.Errorf("%d answers after %v: %.100q", len(got), time.Since(began), got)
	}
	if sizes := Sizes("12 /a b\nx /c\n-1 /d\n\n"); len(sizes) != 1 || sizes["/a b"] != 12 {
		t.Error(sizes)
	}
}

// A client that hangs ends with the context, and all that it started.
func TestAClientThatHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got, err := Shell{[]string{"sh", "-c", "sleep 60 & wait"}}.Ask(ctx, "", asksOf("/"))
	if err == nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if got, err := (Local{}).Ask(ctx, "", asksOf("/")); err == nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// What a host prints ahead of the script, and what a file has that looks like an answer, is no
// answer.
func TestNothingElseIsTakenForAnAnswer(t *testing.T) {
	got := split("Welcome\nmark2 x /y\n\nmark a /f\ntext\nmark\nmark2 b\n\nmark c \nlast", "mark", "")
	want := Answers{{"a", "/f", "text\nmark\nmark2 b\n"}, {"c", "", "last"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := (Shell{[]string{"sh", "-c", "echo said >&2; exit 3"}}).Ask(t.Context(), "", nil); err == nil ||
		len(got) > 0 || !strings.Contains(err.Error(), "said") {
		t.Errorf("%v, %v", got, err)
	}
}
