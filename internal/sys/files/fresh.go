package files

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A fresh file does not have the name of its target yet. If its process is killed, it is gone where
// the system has files without a name. Elsewhere it has a hidden one in the folder of its target and is locked,
// and the next one that is written for the same target removes it.
type fresh struct {
	file   *os.File
	name   string // empty: it has none
	target string
}

// incomplete ends the hidden name of a fresh file.
const incomplete = ".incomplete"

func newFresh(target string, mode fs.FileMode) (*fresh, error) {
	if file, err := unnamed(filepath.Dir(target), mode); err == nil {
		return &fresh{file, "", target}, nil
	}
	return newNamed(target, mode)
}

func newNamed(target string, mode fs.FileMode) (*fresh, error) {
	removeIncomplete(target)
	for {
		name := hiddenName(target)
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err != nil || hasName(file, name) { // where there are no locks, it is never removed
			return &fresh{file, name, target}, nil
		}
		_ = file.Close() // another process took it for stale before it was locked
	}
}

func hiddenName(target string) string {
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+rand.Text()[:8]+incomplete)
}

func (f *fresh) publish() error {
	if f.name == "" {
		name := hiddenName(f.target) // a link replaces nothing, a rename does
		if err := link(f.file, name); err != nil {
			return &fs.PathError{Op: "link", Path: f.target, Err: err}
		}
		f.name = name
	}
	return os.Rename(f.name, f.target)
}

// discard removes the file, unless it was published.
func (f *fresh) discard() {
	_ = f.file.Close() // it was synced
	if f.name != "" {
		_ = os.Remove(f.name) // it is not there if it was published
	}
}

// removeIncomplete removes files for the same target that killed processes left.
func removeIncomplete(target string) {
	entries, _ := os.ReadDir(filepath.Dir(target)) // an unreadable folder has nothing to remove
	for _, e := range entries {
		random, found := strings.CutPrefix(e.Name(), "."+filepath.Base(target)+".")
		if random, is := strings.CutSuffix(random, incomplete); !found || !is || len(random) != 8 || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(filepath.Dir(target), e.Name())
		file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if isStale(file, name) {
			_ = os.Remove(name) // another process may be first
		}
		_ = file.Close() // only read
	}
}
