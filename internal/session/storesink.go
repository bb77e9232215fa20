package session

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A storeSink keeps a run in the store. It is a sink.
type storeSink struct {
	store    *store.Store
	file     string // as the command line named it
	path     string // of the file
	trouble  func(error)
	writer   *store.Writer
	progress atomic.Pointer[driver.Progress] // of a run that was reopened
}

// newStoreSink opens the store, and makes sure that it can be written, before anything is
// sent. trouble is store.Owner's.
func (s *Session) newStoreSink(file string, trouble func(error)) (*storeSink, error) {
	path, err := s.StorePath(file)
	if err != nil {
		return nil, err
	}
	runs, err := s.OpenStore(file)
	return &storeSink{store: runs, file: file, path: path, trouble: trouble}, err
}

func (k *storeSink) close() { _ = k.store.Close() }

func (k *storeSink) Handle(e run.Event) (err error) {
	switch e := e.(type) {
	case run.Starting:
		if k.writer != nil {
			k.progress.Store(e.Progress)
			return nil
		}
		k.writer, err = k.store.Create(*e.Run, store.Owner{Progress: e.Progress.Snapshot, Trouble: k.trouble, Virtual: e.Run.Kind == trace.Simulated})
	case run.Recorded:
		k.writer.Append(e.Record)
	case run.Sampled:
		k.writer.Sample(e.Sources, e.Values)
	case run.Ended:
		_ = k.writer.Finish(*e.Run) // tried again once it is judged
	case run.Judged:
		if err = k.writer.Finish(e.Result.Trace.Run); err == nil {
			q := e.Result.Summary.Requests
			err = k.store.StoreFiguresOf(e.Result.Trace.Run, q.OK+q.Failed, metrics.Pitot, metrics.Version, e.Result.Summary.Figures())
		}
	}
	return err
}

// reopen goes on with a run that a dead process wrote; one that is not in the store is written anew.
// It waits until the process counts as dead.
func (k *storeSink) reopen(ctx context.Context, id string) error {
	progress := func() trace.Snapshot { return k.progress.Load().Snapshot() }
	var w *store.Writer
	err := store.ErrRunAlive
	for begin := time.Now(); errors.Is(err, store.ErrRunAlive) && time.Since(begin) < 2*store.Silence; {
		if w, err = k.store.Reopen(id, store.Owner{Progress: progress, Trouble: k.trouble}); !errors.Is(err, store.ErrRunAlive) {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
	switch {
	case errors.Is(err, store.ErrNoRun):
		return nil
	case errors.Is(err, store.ErrRunAlive):
		return Usagef("%w; if that one was killed just now, try again in a few seconds", err)
	case errors.Is(err, store.ErrRunEnded):
		return Usage(err)
	}
	k.writer = w
	return err
}

// hint says how to see a run that is stored, or to take one back that could not be stored.
func (k *storeSink) hint(id string, err error, l *words.Language) string {
	where := ""
	if k.file != "" {
		where = " --store " + shell.Quote(k.file)
	}
	var rescued *store.RescuedError
	switch {
	case errors.As(err, &rescued):
		return l.Word("stage.to-store", "run", id, "command", "pitot import "+shell.Quote(rescued.File)+where)
	case err != nil:
		return ""
	}
	return l.Word("stage.kept", "run", id, "command", "pitot runs report "+id+where)
}
