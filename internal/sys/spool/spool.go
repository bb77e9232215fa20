// Package spool has a file for prompts that are too many for memory.
//
// It lies in a folder where there is room for what a benchmark leaves, no name leads to it,
// and it is gone when the process is.
package spool

import (
	"fmt"
	"os"
	"sync"
)

// A File is made when it is first written to.
type File struct {
	dir  string
	once sync.Once
	file *os.File
	err  error
}

// In is a file in a folder.
func In(dir string) *File { return &File{dir: dir} }

func (f *File) open() {
	f.file, f.err = os.CreateTemp(f.dir, ".pitot-prompts-*")
	if f.err == nil {
		f.err = os.Remove(f.file.Name())
	}
}

// WriteAt makes the file if it is not there.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	f.once.Do(f.open)
	n, err := 0, f.err
	if err == nil {
		n, err = f.file.WriteAt(b, at)
	}
	if err != nil {
		err = fmt.Errorf("%w; it lies beside the runs, for which PITOT_STORE names another file", err)
	}
	return n, err
}

// ReadAt reads what was written.
func (f *File) ReadAt(b []byte, at int64) (int, error) { return f.file.ReadAt(b, at) }
