package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// spoolLimit is how many bytes of prompts stay in memory.
const spoolLimit = 64 << 20

// newSpool keeps prompts that are too many for memory beside the runs, where there is
// room for what a benchmark leaves, in a file that no name leads to.
func newSpool(storeFile string) *workload.Spool {
	return workload.NewSpool(&spoolFile{dir: filepath.Dir(storeFile)}, spoolLimit)
}

// A spoolFile is made when it is first written to.
type spoolFile struct {
	dir  string
	once sync.Once
	file *os.File
	err  error
}

func (f *spoolFile) open() {
	f.file, f.err = os.CreateTemp(f.dir, ".pitot-prompts-*")
	if f.err == nil {
		f.err = os.Remove(f.file.Name())
	}
}

// WriteAt makes the file if it is not there.
func (f *spoolFile) WriteAt(b []byte, at int64) (int, error) {
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
func (f *spoolFile) ReadAt(b []byte, at int64) (int, error) { return f.file.ReadAt(b, at) }
