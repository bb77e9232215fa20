package files

import (
	"errors"
	"os"
	"syscall"
)

// ErrLocked is the error of Lock for a file that is locked already.
var ErrLocked = errors.New("in use by another process")

// Lock locks a file, which is created if necessary, until release is called or the process ends. A
// file system without locks gives none, which is no error.
func Lock(name string) (release func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, private)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = file.Close()
		return nil, ErrLocked
	}
	return func() { _ = file.Close() }, nil
}
