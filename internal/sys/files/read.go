package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// small is more than any file of settings, keys or certificates has.
const small = 4 << 20

// ReadSmall reads a file, unless it is too large to be one that somebody wrote.
func ReadSmall(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, small+1))
	if err == nil && len(data) > small {
		err = fmt.Errorf("%s: larger than %d MiB", name, small>>20)
	}
	return data, err
}

// Open opens a file to read, which a folder is not.
func Open(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // only looked at
		return nil, errors.New("is a folder, not a file")
	}
	return file, nil
}

// Folder is a folder as a file system, nil if there is none.
func Folder(name string) fs.FS {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil
	}
	return os.DirFS(name)
}
