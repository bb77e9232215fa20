package run

import (
	"fmt"
	"io"
	"io/fs"
)

// maxModelFile limits the files that come with a model's tokenizer, which are read into memory: the largest known
// has 35 MB.
const maxModelFile = 64 << 20

type modelFolder struct{ fs.FS }

// ReadFile reads a file that is not too large, without trusting the size that Stat reports.
func (f modelFolder) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxModelFile+1))
	if err == nil && len(data) > maxModelFile {
		err = fmt.Errorf("%s: larger than %d MiB", name, maxModelFile>>20)
	}
	return data, err
}

// folder is where a tokenizer and its chat template are.
func (p *Prepared) folder(name string) fs.FS { return modelFolder{p.Folder(name)} }
