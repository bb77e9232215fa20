// Package files writes complete files or none.
//
// Write writes a new file in the same folder and renames it, so that an interrupted, failed or killed write leaves
// the previous file. Append adds all of its bytes or none. A private file is readable by its owner only; other
// files get the permissions that the umask leaves. A Mark notices that a file which is still open was removed or
// replaced under its name. ReadSmall reads no more than a person would write. Prune limits a folder of files that
// can be got again. MakeTemporary makes a folder that is removed after its process.
//
// # Spool
//
// A Spool is a file for prompts that are too many for memory.
//
// It lies in a folder with room for the results of a benchmark, has no name, and is gone when the process is.
//
// # Standard output
//
// Stdout and Stderr buffer output for a reader that an interrupt has killed.
//
// An interrupt at a terminal goes to every program of a pipeline: tee in `pitot bench | tee FILE` is gone before
// the report is written, and the report with it. From an interrupt on, output that a pipe no longer takes goes to
// standard error, and from there to the terminal. Without one a reader that ends, as head does, ends the program,
// as usual.
package files

import (
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
// stays a link. A file that is not regular, such as /dev/stdout, is written in place.
func Write(name string, write func(io.Writer) error) error { return WriteAll(File{name, write}) }

// A File is a name and a function that writes its content.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// WriteAll is Write for files that belong together: none is replaced before all are written.
func WriteAll(all ...File) (err error) {
	var ready []*fresh
	defer func() {
		for _, f := range ready {
			f.discard()
		}
	}()
	for _, f := range all {
		next, err := createTemporary(f)
		if err != nil {
			return err
		}
		if next != nil {
			ready = append(ready, next)
		}
	}
	for _, f := range ready {
		err = errors.Join(err, f.publish())
	}
	return err
}

// createTemporary writes a file next to its place. A file that is not regular it writes in place, and returns
// nil.
func createTemporary(f File) (*fresh, error) {
	target, mode := f.Name, fs.FileMode(0)
	if info, err := os.Stat(f.Name); err == nil {
		if !info.Mode().IsRegular() {
			return nil, writeTo(f.Name, os.O_WRONLY, 0, f.Write)
		}
		mode = info.Mode().Perm()
		if target, err = filepath.EvalSymlinks(f.Name); err != nil {
			return nil, err
		}
	}
	next, err := create(target, public, f.Write)
	if err == nil && mode != 0 {
		if err = next.file.Chmod(mode); err != nil {
			next.discard()
		}
	}
	return next, err
}

// WritePrivate is Write for a private file. It replaces a link, and never follows one.
func WritePrivate(name string, write func(io.Writer) error) error {
	f, err := create(name, private, write)
	if err != nil {
		return err
	}
	defer f.discard()
	return f.publish()
}

// WriteBytes is Write for bytes in memory.
func WriteBytes(name string, b []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// create writes a new file in the folder of target. A failed one is removed.
func create(target string, mode fs.FileMode, write func(io.Writer) error) (*fresh, error) {
	f, err := newFresh(target, mode)
	if err != nil {
		return nil, as(target, err)
	}
	if err := fill(f.file, write); err != nil {
		f.discard()
		return nil, as(target, err)
	}
	return f, nil
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
	return errors.Join(fill(file, write), file.Close())
}

// fill writes a file, and waits for the disk.
func fill(file *os.File, write func(io.Writer) error) error {
	return errors.Join(write(file), synced(file))
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
		return appendAll(file, b)
	})
}

// appendAll writes at the end of a file, and takes a part that was written back.
func appendAll(file *os.File, b []byte) error {
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
