// Package files writes files that are whole or not there.
//
// Write writes beside the file and renames, so that an interrupted or failed write leaves
// what was there. Append adds all of its bytes or none. A private file is readable by its
// owner only; other files get the permissions that the umask leaves. A Mark notices that a
// file which is still open was removed or replaced under its name. ReadSmall reads no more
// than a person would write.
package files

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Permissions of new files, less the umask.
const (
	public  fs.FileMode = 0o666
	private fs.FileMode = 0o600
)

// Write writes a file through write. An existing file keeps its permissions, and a link
// stays a link. What is no regular file, such as /dev/stdout, is written in place.
func Write(name string, write func(io.Writer) error) error {
	target, mode := name, fs.FileMode(0)
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return writeTo(name, os.O_WRONLY, 0, write)
		}
		mode = info.Mode().Perm()
		if target, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	return replace(target, public, func(fresh string) error {
		if err := writeTo(fresh, os.O_WRONLY, 0, write); err != nil || mode == 0 {
			return err
		}
		return os.Chmod(fresh, mode)
	})
}

// WritePrivate is Write for a private file. It replaces a link, and never follows one.
func WritePrivate(name string, write func(io.Writer) error) error {
	return replace(name, private, func(fresh string) error { return writeTo(fresh, os.O_WRONLY, 0, write) })
}

// WriteBytes is Write for bytes in memory.
func WriteBytes(name string, b []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// replace lets fill write a new file beside name, and renames it to name.
func replace(name string, mode fs.FileMode, fill func(fresh string) error) (err error) {
	fresh := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".incomplete")
	file, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return as(name, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(fresh)
		}
	}()
	if err := errors.Join(file.Close(), fill(fresh)); err != nil {
		return as(name, err)
	}
	return os.Rename(fresh, name)
}

// as names a file in an error about the one that was written in its stead.
func as(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	return err
}

// writeTo opens a file, writes it, and waits for the disk.
func writeTo(name string, flags int, mode fs.FileMode, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, flags, mode)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), synced(file)); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// synced waits for the disk, where there is one.
func synced(file *os.File) error {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return file.Sync()
}

// Append adds b to a file, which is created if necessary: all of it or nothing. Two
// processes append one after the other.
func Append(name string, b []byte) error {
	return writeTo(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, public, func(w io.Writer) error {
		file := w.(*os.File)
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			_, err = file.Write(b)
			return err
		}
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_EX) // not every file system has locks
		return appendWhole(file, b)
	})
}

// appendWhole writes at the end of a file, and takes a part that was written back.
func appendWhole(file *os.File, b []byte) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := file.Write(b); err != nil {
		return errors.Join(err, file.Truncate(info.Size()))
	}
	return nil
}

// TryAppend makes sure that a file can be appended to, and leaves no new one.
func TryAppend(name string) error {
	_, before := os.Stat(name)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, public)
	if err != nil {
		return err
	}
	err = file.Close()
	if errors.Is(before, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
