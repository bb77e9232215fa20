package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MakePrivate creates a private file unless it exists, and makes an existing one private.
// The file is not opened: closing it would release the locks that this process has on it.
func MakePrivate(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, private)
		if err != nil {
			return err
		}
		return file.Close()
	}
	if err != nil || info.Mode().Perm()&^private == 0 {
		return err
	}
	return os.Chmod(name, info.Mode().Perm()&private)
}

// Exists reports whether there is something under a name.
func Exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// IsRegular reports whether there is a regular file of that name.
func IsRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Kind is the kind of file under a name, such as a device, in a word; empty for a regular file or none.
func Kind(name string) string {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() {
		return ""
	}
	for _, k := range []struct {
		mode fs.FileMode
		word string
	}{{fs.ModeDir, "folder"}, {fs.ModeDevice, "device"}, {fs.ModeNamedPipe, "named pipe"}, {fs.ModeSocket, "socket"}} {
		if info.Mode()&k.mode != 0 {
			return k.word
		}
	}
	return "special file"
}

// Size is the size of a file, 0 if there is none.
func Size(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Temp is the folder for temporary files.
func Temp() string { return os.TempDir() }

// A Mark identifies a file, whatever happens to its name.
type Mark struct {
	name string
	info fs.FileInfo
}

// NewMark marks the file that has a name.
func NewMark(name string) (Mark, error) {
	info, err := os.Stat(name)
	return Mark{name, info}, err
}

// Check is the error for a file that does not have its name any more.
func (m Mark) Check() error {
	info, err := os.Stat(m.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was removed", m.name)
	case err == nil && !os.SameFile(info, m.info):
		return fmt.Errorf("%s was replaced by another file", m.name)
	}
	return err
}

// Rename renames a file.
func Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file; one that is not there is no error.
func Remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
