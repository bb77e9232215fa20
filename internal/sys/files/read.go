package files

import (
	"fmt"
	"io"
	"os"
)

// small is more than any file of settings, keys or certificates has.
const small = 16 << 20

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
