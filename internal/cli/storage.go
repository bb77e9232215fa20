package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/store"
)

// openRuns opens a store to read from: one that a flag names must be there.
func (p *Process) openRuns(file string) (*store.Store, error) {
	if _, err := os.Stat(file); file != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--store %s: no such file", file)
	}
	return p.openStoreBy(file, store.OpenRead)
}

// storePath is file, or the store that PITOT_STORE names, or the one in the user's
// data folder.
func (p *Process) storePath(file string) (string, error) {
	file = cmp.Or(file, p.getenv("PITOT_STORE"))
	if file != "" {
		return file, nil
	}
	dir, err := p.dataFolder()
	return filepath.Join(dir, "pitot", "pitot.db"), err
}

// openStore opens the store at storePath to write to it.
func (p *Process) openStore(file string) (*store.Store, error) {
	return p.openStoreBy(file, store.OpenWrite)
}

func (p *Process) openStoreBy(file string, open func(string) (*store.Store, error)) (*store.Store, error) {
	file, err := p.storePath(file)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(file, ":") {
		return nil, usagef("--store %s: must be a file", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the store: %w"+otherStore, err)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, usagef("store %s is a folder; --store and PITOT_STORE must name a file", file)
	}
	runs, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("%w"+otherStore, err)
	}
	return runs, nil
}

const otherStore = " (--store or PITOT_STORE names another)"

// dataFolder is where programs keep the user's data: XDG_DATA_HOME or
// ~/.local/share, on a Mac ~/Library/Application Support.
func (p *Process) dataFolder() (string, error) {
	if dir := p.getenv("XDG_DATA_HOME"); dir != "" {
		return dir, nil
	}
	home := p.getenv("HOME")
	if home == "" {
		return "", usagef("no path for the store; set --store, PITOT_STORE or HOME")
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}
