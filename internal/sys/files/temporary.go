package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// temporary begins the names of folders that MakeTemporary makes, and lockName is the file in each
// that its process has locked. The system releases the lock when the process ends, however it does:
// no number of a process, which another one may have by then, is needed to find stale folders.
const (
	temporary = "pitot-"
	lockName  = ".lock"
)

// MakeTemporary makes a folder for temporary files of a kind, which only this user can read. remove
// removes it. If this process is killed first, RemoveStale of another one does.
func MakeTemporary(kind string) (name string, remove func(), err error) {
	hidden, err := os.MkdirTemp("", ".pitot-") // under its name it is locked from the beginning
	if err != nil {
		return "", nil, err
	}
	release, err := Lock(filepath.Join(hidden, lockName))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(hidden))
	}
	name = filepath.Join(os.TempDir(), temporary+kind+"-"+rand.Text()[:10])
	if err := os.Rename(hidden, name); err != nil {
		release()
		return "", nil, errors.Join(err, os.RemoveAll(hidden))
	}
	return name, func() {
		_ = os.RemoveAll(name) // else it is stale from here on
		release()
	}, nil
}

// RemoveStale removes the folders of MakeTemporary that killed processes left, and returns their names. Folders of
// other users, or not made by MakeTemporary, stay.
func RemoveStale() (removed []string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), temporary+"*"))
	for _, name := range all {
		if removeStale(name) {
			removed = append(removed, name)
		}
	}
	return removed
}

func removeStale(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil || info.Mode() != fs.ModeDir|0o700 || !isOwn(info) {
		return false
	}
	name := filepath.Join(folder, lockName)
	lock, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // only read
	return isStale(lock, name) && os.RemoveAll(folder) == nil
}

// isStale reports whether a file has a name, is this user's, and is not locked. It is locked
// then: of several processes that remove it one goes on.
func isStale(file *os.File, name string) bool {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return false
	}
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && hasName(file, name)
}

func hasName(file *os.File, name string) bool {
	info, err := file.Stat()
	there, failed := os.Lstat(name)
	return err == nil && failed == nil && os.SameFile(info, there)
}

func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
