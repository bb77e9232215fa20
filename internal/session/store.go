package session

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
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// OpenRuns opens a store to read from: one that a flag names must be there.
func (s *Session) OpenRuns(file string) (*store.Store, error) {
	if _, err := os.Stat(file); file != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("--store %s: no such file", file)
	}
	return s.openStoreBy(file, store.OpenRead)
}

// OpenOrMake opens a store to read from, and makes one that is not there.
func (s *Session) OpenOrMake(file string) (*store.Store, error) {
	return s.openStoreBy(file, store.OpenRead)
}

// StorePath is file, or the store that PITOT_STORE names, or the one in the user's
// data folder.
func (s *Session) StorePath(file string) (string, error) {
	file = cmp.Or(file, s.Getenv("PITOT_STORE"))
	if file != "" {
		return file, nil
	}
	dir, err := s.dataFolder()
	return filepath.Join(dir, "pitot", "pitot.db"), err
}

// OpenStore opens the store at StorePath to write to it, and removes leftovers of killed commands.
func (s *Session) OpenStore(file string) (*store.Store, error) {
	s.RemoveStale()
	return s.openStoreBy(file, store.OpenWrite)
}

func (s *Session) openStoreBy(file string, open func(string) (*store.Store, error)) (*store.Store, error) {
	file, err := s.StorePath(file)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(file, ":") {
		return nil, Usagef("--store %s: must be a file", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the store: %w"+otherStore, err)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, Usagef("store %s is a folder; --store and PITOT_STORE must name a file", file)
	}
	runs, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("%w"+otherStore, err)
	}
	return runs, nil
}

// RemoveStale removes temporary folders of commands that were killed, and says so.
func (s *Session) RemoveStale() {
	for _, name := range files.RemoveStale() {
		fmt.Fprintf(s.Stderr, "pitot: removed %s, which a command that was killed has left\n", name)
	}
}

const otherStore = " (--store or PITOT_STORE names another)"

// dataFolder is where programs keep the user's data: XDG_DATA_HOME or
// ~/.local/share, on a Mac ~/Library/Application Support.
func (s *Session) dataFolder() (string, error) {
	if dir := s.Getenv("XDG_DATA_HOME"); dir != "" {
		return dir, nil
	}
	home := s.Getenv("HOME")
	if home == "" {
		return "", Usagef("no path for the store; set --store, PITOT_STORE or HOME")
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}

// Folder makes a folder that is the user's alone: one that a flag names, or else one of these names in
// pitot's part of the user's data folder.
func (s *Session) Folder(named string, names ...string) (string, error) {
	if named == "" {
		dir, err := s.dataFolder()
		if err != nil {
			return "", Usagef("no folder for the user's data; set HOME, or name a folder with a flag (see --help)")
		}
		named = filepath.Join(append([]string{dir, "pitot"}, names...)...)
	}
	named, err := filepath.Abs(named)
	if err == nil {
		err = os.MkdirAll(named, 0o700)
	}
	return named, err
}

// With lets use have the store at StorePath to read from.
func (s *Session) With(file string, use func(*store.Store) error) error {
	runs, err := s.OpenRuns(file)
	if err != nil {
		return err
	}
	defer runs.Close()
	return use(runs)
}
