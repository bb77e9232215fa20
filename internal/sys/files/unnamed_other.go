//go:build !linux

package files

import (
	"errors"
	"io/fs"
	"os"
)

// unnamed has no such files here.
func unnamed(string, fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

func link(*os.File, string) error { return errors.ErrUnsupported }
