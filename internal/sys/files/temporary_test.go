package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// testAs names what another process with this test binary does before it is killed.
const testAs = "FILES_TEST_AS"

func TestMain(m *testing.M) {
	wait := func() {
		fmt.Println("up")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	switch target := os.Getenv("FILES_TEST_TARGET"); os.Getenv(testAs) {
	case "temporary":
		folder, _, err := MakeTemporary("test")
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "file"), nil, 0o600)
		}
		if err != nil {
			panic(err)
		}
		wait()
	case "writer":
		panic(Write(target, func(w io.Writer) error {
			_, err := io.WriteString(w, "half of it")
			wait()
			return err
		}))
	case "named":
		f, err := newNamed(target, public)
		if err != nil {
			panic(err)
		}
		wait()
		f.discard()
	default:
		os.Exit(m.Run())
	}
}

// process starts this binary as something, and waits until it is up; kill kills it.
func process(t *testing.T, as, target string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0]) // this test
	cmd.Env = append(os.Environ(), testAs+"="+as, "FILES_TEST_TARGET="+target)
	in, err := cmd.StdinPipe()
	out, failed := cmd.StdoutPipe()
	if err := errors.Join(err, failed, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		in.Close()
	})
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return kill
}

// The folder of a process stays for as long as the process lives, is removed once after it was
// killed, and what others have made stays.
func TestTemporaryFolders(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	own, remove, err := MakeTemporary("own")
	if err != nil {
		t.Fatal(err)
	}
	killed := process(t, "temporary", "")
	_ = process(t, "temporary", "")
	if got := RemoveStale(); got != nil || len(strings.Fields(names(t, dir))) != 3 {
		t.Fatalf("removed %q of living processes, %s are left", got, names(t, dir))
	}
	killed()
	var all []string
	var mu sync.Mutex
	var done sync.WaitGroup
	for range 8 { // processes that do the same
		done.Go(func() {
			got := RemoveStale()
			mu.Lock()
			defer mu.Unlock()
			all = append(all, got...)
		})
	}
	done.Wait()
	if left := names(t, dir); len(all) != 1 || len(strings.Fields(left)) != 2 ||
		!strings.Contains(left, filepath.Base(own)) {
		t.Errorf("removed %q, %s are left", all, left)
	}
	if remove(); len(strings.Fields(names(t, dir))) != 1 {
		t.Errorf("%s are left", names(t, dir))
	}
}

// Whatever has a name like those of MakeTemporary and was not made by it stays, and so does what
// links in a stale folder lead to.
func TestFoldersThatLookLikeTemporaryOnes(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", dir)
	precious := filepath.Join(elsewhere, lockName)
	folder := func(name string, mode os.FileMode) string {
		name = filepath.Join(dir, "pitot-"+name)
		if err := errors.Join(os.Mkdir(name, mode), os.WriteFile(filepath.Join(name, "file"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(name, lockName)
	}
	err := errors.Join(
		os.WriteFile(precious, nil, 0o600), os.Chmod(elsewhere, 0o700),
		os.Symlink(elsewhere, filepath.Join(dir, "pitot-link")),
		os.WriteFile(filepath.Join(dir, "pitot-file"), nil, 0o600),
		os.WriteFile(folder("readable", 0o755), nil, 0o600),
		os.Symlink(precious, folder("with-a-link", 0o700)),
		os.Mkdir(folder("with-a-folder", 0o700), 0o700),
		syscall.Mkfifo(folder("with-a-pipe", 0o700), 0o600),
	)
	folder("without", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	if got := RemoveStale(); got != nil || names(t, dir) != before {
		t.Errorf("removed %q; %s are left of %s", got, names(t, dir), before)
	}
	stale := folder("stale", 0o700)
	if err := errors.Join(os.WriteFile(stale, nil, 0o600),
		os.Symlink(elsewhere, filepath.Join(filepath.Dir(stale), "link"))); err != nil {
		t.Fatal(err)
	}
	if got := RemoveStale(); !slices.Equal(got, []string{filepath.Dir(stale)}) || !Exists(precious) ||
		names(t, dir) != before {
		t.Errorf("removed %q; %s are left of %s", got, names(t, dir), before)
	}
}

// A process that is killed while it writes leaves the old file, and nothing else once another one has
// written the same file.
func TestAWriterThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := Write(name, text("old", nil)); err != nil {
		t.Fatal(err)
	}
	kill := process(t, "writer", name)
	if content(t, name) != "old" {
		t.Error(content(t, name))
	}
	kill()
	if file, err := unnamed(dir, public); err == nil { // here are files without a name
		file.Close()
		if names(t, dir) != "a" {
			t.Errorf("it has left %s", names(t, dir))
		}
	}
	if err := Write(name, text("new", nil)); err != nil || content(t, name) != "new" || names(t, dir) != "a" {
		t.Errorf("%v, %s", err, names(t, dir))
	}
}

// Where all files have names, those of killed processes are removed by the next one for the same
// target, and those of living ones and of others stay.
func TestHiddenFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	killed, _ := process(t, "named", name), process(t, "named", name)
	if got := strings.Fields(names(t, dir)); len(got) != 2 {
		t.Fatalf("%q", got)
	}
	killed()
	others := []string{
		".a.AAAAAAAA.incomplete", ".a.short.incomplete", ".a.b.AAAAAAAA.incomplete", ".ab.AAAAAAAA.incomplete",
	}
	err := os.Symlink(filepath.Join(dir, others[1]), filepath.Join(dir, others[0]))
	for _, other := range others[1:] {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, other), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := newNamed(name, public)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fill(f.file, text("whole", nil)), f.publish()); err != nil {
		t.Fatal(err)
	}
	f.discard()
	left := strings.Fields(names(t, dir))
	if content(t, name) != "whole" || len(left) != len(others)+2 { // a, and the file of the living process
		t.Errorf("%q", left)
	}
	for _, other := range others {
		if !slices.Contains(left, other) {
			t.Errorf("%s was removed", other)
		}
	}
}
