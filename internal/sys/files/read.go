package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// small is more than any file of settings, keys or certificates has.
const small = 4 << 20

// ReadSmall reads a file, unless it is too large to be written by hand.
func ReadSmall(name string) ([]byte, error) { return Read(name, small) }

// Read reads a file of at most so many bytes, opened as by Open.
func Read(name string, most int64) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: larger than %d MiB", name, most>>20)
	}
	return data, err
}

// given are the names of streams that the caller of this process opened for it, as a shell does
// for < FILE and <(COMMAND).
var given = lazy.Regexp(`^(/dev/stdin|(/dev|/proc/self)/fd/\d+)$`)

// Open opens a file that a user names: a regular one, /dev/null, or a stream that this process
// was given under a name such as /dev/stdin or /dev/fd/63.
func Open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() && given.MatchString(name) {
		return os.Open(name)
	}
	return OpenRegular(name)
}

// OpenRegular opens a regular file, or /dev/null. Anything else is an error, without a wait
// for the other end of a pipe.
func OpenRegular(name string) (*os.File, error) {
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // only looked at
		return nil, irregular(name, "is a folder, not a file")
	}
	return file, nil
}

// open opens a regular file, a folder or /dev/null. It looks before it opens, because opening a
// device or a pipe may have an effect, and afterwards, because another may have the name then.
func open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil {
		if err := endless(name, info); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = endless(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// endless is the error for files that may have no end, or make a reader wait.
func endless(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode.IsDir():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		return irregular(name, "is a pipe, not a regular file; save it to one first")
	case mode&fs.ModeSocket != 0:
		return irregular(name, "is a socket, not a regular file")
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(null, info) {
		return nil
	}
	return irregular(name, "is a device, not a regular file")
}

func irregular(name, why string) error {
	return &fs.PathError{Op: "open", Path: name, Err: errors.New(why)}
}

// Folder is a folder as a file system, nil if there is none. Its files open as by OpenRegular.
func Folder(name string) fs.FS {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil
	}
	return folder(name)
}

type folder string

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := open(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return nil, as(name, err)
	}
	return file, nil
}
