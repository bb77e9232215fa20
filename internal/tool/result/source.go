package result

import (
	"fmt"
	"io"
	"iter"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Source is a file to read.
type Source struct {
	// Name is its path, slashes between its parts: that of what the user named, so that
	// problems can be found, or the part of it that is below a folder of results.
	Name string
	Data io.ReaderAt
	Size int64
}

// Found is a result in a source.
type Found struct {
	Run trace.Run // of kind trace.Imported, with its Origin; or a run that Pitot exported
	// Records yields the requests in the order of the workload, nil if the source has
	// none. They are read from the source each time, one after the other, so that a
	// file may be larger than memory. An error ends them.
	Records iter.Seq2[*trace.Record, error]
	// Naming says which lines gave a table of a note its name; "" if none did.
	Naming string
	// Sampled reads what was sampled beside the run; nil if the source has none.
	Sampled func() (*telemetry.Set, error)
}

// Telemetry is what was sampled beside the run, nil if the source has none.
func (f Found) Telemetry() (*telemetry.Set, error) {
	if f.Sampled == nil {
		return nil, nil
	}
	set, err := f.Sampled()
	if err != nil {
		return nil, fmt.Errorf("read the telemetry of run %s: %w", f.Run.ID, err)
	}
	return set, nil
}

// Trace reads all records and the telemetry.
func (f Found) Trace() (t *trace.Trace, err error) {
	t = &trace.Trace{Run: f.Run}
	if t.Telemetry, err = f.Telemetry(); err != nil {
		return nil, err
	}
	if f.Records == nil {
		return t, nil
	}
	for r, err := range f.Records {
		if err != nil {
			return nil, fmt.Errorf("read the records of run %s: %w", f.Run.ID, err)
		}
		t.Records = append(t.Records, r)
	}
	return t, nil
}

// A Problem is a part of a source that could not be read, or not as it stood.
type Problem struct {
	File   string
	Line   int // from 1, 0 where a file has no lines to speak of
	Reason string
	// Nothing means that the whole source holds no result, nor the remains of one: not
	// worth a word of a file that nobody named.
	Nothing bool
	// Choice means that nothing is wrong: it says how a text was understood.
	Choice bool
}

// Error tells it with its place.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Reason)
}
