package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Finish writes the remaining records and samples, and the finished run. It may be called again
// when more of the run is known. A run that cannot be stored is written to a file in the folder
// of the store, or in that for temporary files, for Import; the error is a *RescuedError.
func (w *Writer) Finish(run trace.Run) error {
	w.end()
	w.done.Wait()
	first := w.rescued == ""
	w.unsaved = nil
	err := w.save(run, brief)
	if err == nil {
		return w.drop()
	}
	out := w.rescue(run, err) // before a longer wait, which may be interrupted
	if first && code(err) == codeBusy && w.save(run, patient) == nil {
		return w.drop()
	}
	w.store.giveUp(w.id)
	w.unsaved = out
	return out
}

// save writes the unsaved records.
func (w *Writer) save(run trace.Run, wait time.Duration) error {
	if err := w.flush(wait, true); err != nil {
		return err
	}
	run.Notes = slices.Concat(run.Notes, w.notes, w.samples.notes())
	if err := cmp.Or(w.store.update(run, wait), w.store.mark.Check()); err != nil {
		return err
	}
	_ = w.join(wait) // blocks that cannot be joined stay
	w.merge(wait)
	w.store.seal(w.id, wait)
	return nil
}

// Records reads the records of the run once it is finished, in workload order.
func (w *Writer) Records() iter.Seq2[[]*trace.Record, error] {
	if w.unsaved != nil {
		return func(yield func([]*trace.Record, error) bool) { yield(nil, w.unsaved) }
	}
	return w.store.EachRecord(w.id)
}

// drop removes the file of a run that could be stored after all.
func (w *Writer) drop() error {
	file := w.rescued
	if file == "" {
		return nil
	}
	w.rescued = ""
	return files.Remove(file)
}

// A RescuedError says that a run is in a file and not in the store.
type RescuedError struct {
	Run  string
	File string // an export of the run
	Why  error
}

// Error says where the run is.
func (e *RescuedError) Error() string {
	return fmt.Sprintf("run %s could not be stored: %v; all of it is in %s", e.Run, e.Why, e.File)
}

// Unwrap returns the cause.
func (e *RescuedError) Unwrap() error { return e.Why }

// rescue writes the run with all its records and samples to a file, and the reason into the store,
// if that is possible at least.
func (w *Writer) rescue(run trace.Run, why error) error {
	records, last := w.records(), w.rescued
	if w.released {
		return fmt.Errorf("run %s could not be stored: %w; it is a simulation and can be made again", run.ID, why)
	}
	name := "pitot-rescue-" + run.ID + ".json"
	var errs []error
	for _, dir := range []string{filepath.Dir(w.store.file), files.Temp()} {
		file := filepath.Join(dir, name)
		t := &trace.Trace{Run: run, Records: records, Telemetry: w.samples.telemetry()}
		t.Run.Notes = append(slices.Concat(run.Notes, w.notes, w.samples.notes()), plan.Msg(rescued, "why", why, "file", file))
		err := files.WritePrivate(file, func(out io.Writer) error { return WriteJSON(out, t) })
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if w.rescued = file; last != "" && last != file {
			_ = files.Remove(last) // an earlier one, of less
		}
		t.Run.Status = trace.Running // until it is taken back
		_ = w.store.update(t.Run, 0)
		return &RescuedError{run.ID, file, why}
	}
	if last != "" {
		return &RescuedError{run.ID, last, why}
	}
	return fmt.Errorf("run %s: %d of %d records are stored: %w; nor could the rest be written to a file: %w", run.ID, w.stored, len(records), why, errors.Join(errs...))
}
