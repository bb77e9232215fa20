package files

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// unnamed creates a file that no name leads to, which is gone when its process is. Not every file
// system has such files, and without /proc none could be given a name.
func unnamed(folder string, mode fs.FileMode) (*os.File, error) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return nil, err
	}
	return os.OpenFile(folder, unix.O_TMPFILE|os.O_WRONLY, mode)
}

func link(file *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", file.Fd()), unix.AT_FDCWD, name,
		unix.AT_SYMLINK_FOLLOW)
}
