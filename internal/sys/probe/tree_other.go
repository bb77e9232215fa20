//go:build !linux

package probe

import (
	"errors"
	"os"
	"syscall"
)

// A tree is the files of this machine; those that a process sees are known on Linux alone.
type tree struct{ none bool }

func newTree(root string) tree { return tree{root != ""} }

func (tree) close() {}

var errNone = errors.New("there is no /proc")

func (t tree) open(file string) (*os.File, error) {
	if t.none {
		return nil, errNone
	}
	return os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (t tree) link(file string) (string, error) {
	if t.none {
		return "", errNone
	}
	return os.Readlink(file)
}
