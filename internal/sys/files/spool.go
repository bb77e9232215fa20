package files

import (
	"fmt"
	"os"
	"sync"
)

// A Spool is made when it is first written to.
type Spool struct {
	dir  string
	once sync.Once
	file *os.File
	err  error
}

// NewSpool is a file in a folder.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

func (f *Spool) open() {
	f.file, f.err = os.CreateTemp(f.dir, ".pitot-prompts-*")
	if f.err == nil {
		f.err = os.Remove(f.file.Name())
	}
}

// WriteAt makes the file if it is not there.
func (f *Spool) WriteAt(b []byte, at int64) (int, error) {
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

// ReadAt implements io.ReaderAt.
func (f *Spool) ReadAt(b []byte, at int64) (int, error) { return f.file.ReadAt(b, at) }
