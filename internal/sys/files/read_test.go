package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// irregularFiles are a pipe without a writer, a socket, a device and links to them: of all but
// /dev/null a reader sees no end.
func irregularFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	err = errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link")),
		os.Symlink("/dev/zero", at("zero")), os.Symlink("/dev/null", at("null")))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"pipe": "is a pipe", "link": "is a pipe", "socket": "is a socket", "zero": "is a device", "none": "no such file",
		".": "is a folder",
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	all := irregularFiles(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := Folder(dir)
	open := map[string]func(string) (io.ReadCloser, error){
		"Open":        func(name string) (io.ReadCloser, error) { return Open(filepath.Join(dir, name)) },
		"OpenRegular": func(name string) (io.ReadCloser, error) { return OpenRegular(filepath.Join(dir, name)) },
		"Folder":      func(name string) (io.ReadCloser, error) { return in.Open(name) },
	}
	for by, open := range open {
		for name, want := range all {
			if by == "Folder" && name == "." {
				continue
			}
			var path *fs.PathError
			if _, err := open(name); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &path) {
				t.Errorf("%s %s: %v, want %q", by, name, err, want)
			}
		}
		for name, want := range map[string]string{"file": "text", "null": ""} {
			if f, err := open(name); err != nil {
				t.Errorf("%s %s: %v", by, name, err)
			} else if b, err := io.ReadAll(f); err != nil || string(b) != want || f.Close() != nil {
				t.Errorf("%s %s: %q, %v", by, name, b, err)
			}
		}
	}
	if entries, err := fs.ReadDir(in, "."); err != nil || len(entries) != 6 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := in.Open("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a file outside: %v", err)
	}
}

// What a shell hands over under the name of a descriptor is read, and nothing else by that name.
func TestStreamsThatAreGiven(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("handed over"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := OpenRegular(name); err == nil || !strings.Contains(err.Error(), "is a pipe") {
		t.Errorf("%s: %v", name, err)
	}
	if b, err := ReadSmall(name); err != nil || string(b) != "handed over" {
		t.Errorf("%s: %q, %v", name, b, err)
	}
	for _, other := range []string{name + "/../" + filepath.Base(name), "/dev/fd/x", "/dev/zero"} {
		if _, err := Open(other); err == nil {
			t.Errorf("%s is open", other)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name, 1<<20); err == nil || !strings.HasSuffix(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
	if b, err := Read(name, 2<<20); err != nil || len(b) != 2<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
