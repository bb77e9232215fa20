package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A keeper keeps a run in the store. It is a sink.
type keeper struct {
	store  *store.Store
	file   string // as the command line named it
	path   string // of the file
	writer *store.Writer
}

// newKeeper opens the store, before anything is sent.
func (p *Process) newKeeper(file string) (*keeper, error) {
	runs, err := p.openStore(file)
	if err != nil && file == "" && p.getenv("PITOT_STORE") == "" && !errors.Is(err, store.ErrForeign) {
		file = filepath.Join(os.TempDir(), fmt.Sprintf("pitot-%d.db", os.Getuid())) // better there than not at all
		fmt.Fprintf(p.Stderr, "note: %v; runs are kept in %s\n", err, file)
		runs, err = p.openStore(file)
	}
	if err != nil {
		return nil, err
	}
	path, err := p.storePath(file)
	return &keeper{store: runs, file: file, path: path}, err
}

func (k *keeper) close() { _ = k.store.Close() }

// Handle writes what there is to keep.
func (k *keeper) Handle(e run.Event) (err error) {
	switch e := e.(type) {
	case run.Starting:
		k.writer, err = k.store.Create(*e.Run, store.Owner{Progress: snapshots(e.Progress)})
	case run.Recorded:
		k.writer.Append(e.Record)
	case run.Ended:
		err = k.writer.Finish(*e.Run)
	case run.Judged:
		if e.Result.Trace.Run.Status != trace.Running {
			if err = k.store.Update(e.Result.Trace.Run); err == nil {
				_, err = keepFigures(k.store, e.Result.Trace)
			}
		}
	}
	return err
}

func snapshots(p *driver.Progress) func() trace.Snapshot {
	if p == nil {
		return nil
	}
	return p.Snapshot
}

// where says how to see a run that is kept.
func (k *keeper) where(id string) string {
	where := ""
	if k.file != "" {
		where = " --store " + shellWord(k.file)
	}
	return fmt.Sprintf("run %s is kept: pitot runs report %s%s", id, id, where)
}

// shellWord is text as a word of a shell's command line.
func shellWord(text string) string {
	if strings.ContainsAny(text, " \t\n'\"\\$&;|<>()*?[]{}~#`!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
