package probe

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A tree is the files below a root, as they are seen from there: a link that leads to
// /usr/lib leads to usr/lib below the root, and none leads out of it.
type tree struct {
	below bool // else it is the machine's own
	root  int  // descriptor of the root; negative: it could not be opened, and there is nothing
}

// newTree is the tree of /proc/PID/root, which has nothing in it if it cannot be opened.
func newTree(root string) tree {
	if root == "" {
		return tree{}
	}
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return tree{true, fd}
}

func (t tree) close() {
	if t.below && t.root >= 0 {
		_ = unix.Close(t.root) // it was only read
	}
}

// open does not wait for the writer of a pipe.
func (t tree) open(file string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	fd, err := -1, error(unix.EBADF)
	if !t.below {
		fd, err = unix.Open(file, flags, 0)
	} else if t.root >= 0 {
		how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
		fd, err = unix.Openat2(t.root, inside(file), &how)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: file, Err: err}
	}
	return os.NewFile(uintptr(fd), file), nil
}

// link is where a link leads to.
func (t tree) link(file string) (string, error) {
	if !t.below {
		return os.Readlink(file)
	}
	if t.root < 0 {
		return "", unix.EBADF
	}
	how := unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := unix.Openat2(t.root, inside(file), &how)
	if err != nil {
		return "", err
	}
	defer func() { _ = unix.Close(fd) }() // it was only looked at
	to := make([]byte, 4096)
	n, err := unix.Readlinkat(fd, "", to)
	return string(to[:max(0, n)]), err
}

func inside(file string) string {
	if file = strings.TrimLeft(file, "/"); file == "" {
		return "."
	}
	return file
}
