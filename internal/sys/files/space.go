package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Free is the space that this user has left on the file system of a file or a folder, in bytes.
func Free(name string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(name, &s); err != nil {
		return 0, err
	}
	if s.Blocks == 0 {
		return 0, errors.New("the file system tells no sizes")
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // of types that differ by system
}
