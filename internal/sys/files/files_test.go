package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// text writes a text, and then fails if there is an error.
func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, failed := io.WriteString(w, s)
		return errors.Join(failed, err)
	}
}

// names are the files of a folder, joined.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestAFailedWriteLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	full := errors.New("full")
	for _, write := range []func(string, func(io.Writer) error) error{Write, WritePrivate} {
		if err := write(name, text("ha", full)); !errors.Is(err, full) || names(t, dir) != "" {
			t.Errorf("error %v, files %s", err, names(t, dir))
		}
	}
	if err := Write(name, text("old", nil)); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, text("ne", full)); !errors.Is(err, full) || content(t, name) != "old" || names(t, dir) != "a" {
		t.Errorf("error %v, files %s: %s", err, names(t, dir), content(t, name))
	}
	if err := Write(name, text("new", nil)); err != nil || content(t, name) != "new" || names(t, dir) != "a" {
		t.Errorf("error %v, files %s: %s", err, names(t, dir), content(t, name))
	}
	two := []File{{name, text("newer", nil)}, {filepath.Join(dir, "b"), text("b", full)}}
	if err := WriteAll(two...); !errors.Is(err, full) || content(t, name) != "new" || names(t, dir) != "a" {
		t.Errorf("error %v, files %s: %s", err, names(t, dir), content(t, name))
	}
	two[1].Write = text("b", nil)
	if err := WriteAll(two...); err != nil || content(t, name) != "newer" || names(t, dir) != "a b" {
		t.Errorf("error %v, files %s: %s", err, names(t, dir), content(t, name))
	}
	if err := Write(filepath.Join(dir, "no", "a"), text("", nil)); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), filepath.Join("no", "a")+": ") {
		t.Errorf("error %v does not name the file", err)
	}
}

func TestPermissionsAndLinks(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	dir := t.TempDir()
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	link := func(to, name string) error { return os.Symlink(at(to), at(name)) }
	err := errors.Join(
		Write(at("new"), text("", nil)), Append(at("added"), nil), WritePrivate(at("rescued"), text("", nil)),
		MakePrivate(at("store")),
		os.WriteFile(at("open"), []byte("text"), 0o600), os.Chmod(at("open"), 0o644), MakePrivate(at("open")),
		os.WriteFile(at("kept"), nil, 0o600), os.Chmod(at("kept"), 0o604), Write(at("kept"), text("", nil)),
		link("kept", "link"), Write(at("link"), text("through", nil)),
		link("kept", "planted"), WritePrivate(at("planted"), text("mine", nil)),
		Write(os.DevNull, text("gone", nil)), Append(os.DevNull, []byte("gone")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"new": 0o640, "added": 0o640, "rescued": 0o600, "store": 0o600, "open": 0o600, "kept": 0o604, "planted": 0o600,
	} {
		if got := mode(name); got != want {
			t.Errorf("%s: %o, want %o", name, got, want)
		}
	}
	if content(t, at("open")) != "text" || content(t, at("kept")) != "through" || content(t, at("planted")) != "mine" {
		t.Errorf("open: %s, kept: %s, planted: %s", content(t, at("open")), content(t, at("kept")), content(t, at("planted")))
	}
	if info, err := os.Lstat(at("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v %v", info, err)
	}
}

// A file that takes only some of the bytes: a limit on the size of files stands for a
// full disk.
func TestAnAppendIsWholeOrNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	if err := Append(name, []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	limited(t, 10, func() {
		if err := Append(name, []byte("much more than ten bytes\n")); err == nil {
			t.Error("appended")
		}
		if err := Write(name, text("much more than ten bytes\n", nil)); err == nil {
			t.Error("written")
		}
	})
	if got := content(t, name); got != "one\n" {
		t.Errorf("left %q", got)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := Append(name, []byte("two\n")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, want := content(t, name), "one\n"+strings.Repeat("two\n", 20); got != want {
		t.Errorf("%q", got)
	}
}

// limited calls do while no file of this process may be larger than so many bytes.
func limited(t *testing.T, size uint64, do func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

func TestTryAppend(t *testing.T) {
	dir := t.TempDir()
	if err := TryAppend(filepath.Join(dir, "new")); err != nil || names(t, dir) != "" {
		t.Errorf("%v, files %s", err, names(t, dir))
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := TryAppend(filepath.Join(dir, "old")); err != nil || content(t, filepath.Join(dir, "old")) != "kept" {
		t.Errorf("%v: %s", err, content(t, filepath.Join(dir, "old")))
	}
	if err := TryAppend(filepath.Join(dir, "no", "such")); err == nil {
		t.Error("a folder that is not there can be appended to")
	}
}

func TestAMarkNotices(t *testing.T) {
	dir := t.TempDir()
	name, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(MakePrivate(name), MakePrivate(other)); err != nil {
		t.Fatal(err)
	}
	m, err := NewMark(name)
	if err != nil || m.Check() != nil {
		t.Fatal(err, m.Check())
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return Rename(name, name+"2") }, "was removed"},
		{func() error { return Rename(other, name) }, "was replaced by another file"},
		{func() error { return Rename(name+"2", name) }, ""},
		{func() error { return errors.Join(Remove(name), Remove(name)) }, "was removed"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); step.want == "" && err != nil ||
			step.want != "" && (err == nil || !strings.HasSuffix(err.Error(), step.want)) {
			t.Errorf("%v, want %q", err, step.want)
		}
	}
}
