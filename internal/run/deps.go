package run

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/url"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/run/inspect"
)

// Kinds are the things that a Spec can name.
type Kinds struct {
	Datasets map[string]workload.Kind
	Arrivals map[string]func() workload.Arrival
}

// Deps are a run's dependencies on the world around it.
type Deps struct {
	Kinds Kinds
	Hub   func(download bool) Hub // of datasets and tokenizers
	Open  func(name string) (workload.Reader, error)
	Read  func(name string) ([]byte, error) // a small file
	// Folder is a folder as a file system, nil if there is none of that name.
	Folder func(name string) fs.FS
	Temp   string        // folder for temporary files
	Spool  workload.File // for prompts that are too many for memory; nil keeps them there
	Env    func(name string) (value string, ok bool)
	Given  map[string]string // secrets that a front end was given, by path
	// Secrets are those known so far, to which a run adds its own; nil: none yet. No event,
	// result or record has one.
	Secrets *secret.Set
	Notes   []plan.Message // of the front end, for the run
	Leg     *trace.Leg     // the place of the run in an experiment; nil: a single run
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Listen  func(network, address string) (net.Listener, error)
	Proxy   func(*url.URL) (*url.URL, error) // nil: none
	// Profile replaces the profile of a simulation's engine in the Spec; nil: nothing is replaced.
	Profile *profile.Profile
	// Inspect keeps the environment of client and server with the run. Serving is where a
	// server is that was started for the run, if the Spec names no other place.
	Inspect bool
	Serving inspect.Subject
	// Machine describes where the run takes place.
	Machine trace.Environment
	// Quiet keeps the runtime out of a run's way until end is called, which returns the
	// number of processors that the client had; nil: the runtime and its timers are shared.
	Quiet func(procs, chunks int) (end func() (procs int))
	// Collectors sample during a run, by its Spec and its target; nil: nothing is sampled.
	Collectors func(t plan.Telemetry, target collect.Target) []collect.Collector
	// Before finds an earlier run with the same prompts against the server of a run, and returns its id; nil: none
	// is known.
	Before func(r *trace.Run, same func(*plan.Spec) bool) string
	// MarkKey is the key under which answers are marked; nil: they are not, and their defects not looked for.
	MarkKey func() (trace.MarkKey, error)
	// Stored has the records of a simulation after Ended, in the order of the workload. Its Result then has many of
	// them only so; nil: all are in memory.
	Stored func() iter.Seq2[[]*trace.Record, error]
	// Shared: this process sends a part of the requests, and other machines the others.
	Shared bool
	// Fleet sends the requests from other machines; nil: this process does.
	Fleet Fleet
	// OnEvent receives the events while a run is prepared; may be nil.
	OnEvent func(Event)
}

// A Hub has tokenizers and datasets.
type Hub interface {
	// Tokenizer is the file or the folder of a tokenizer, by path or by name.
	Tokenizer(ctx context.Context, name string) (path string, err error)
	// Dataset is workload.Files.Repository.
	Dataset(ctx context.Context, name string) (files fs.FS, root string, err error)
	// Fetch is workload.Files.Fetch.
	Fetch(ctx context.Context, address string) (io.ReadCloser, error)
}

// files is where datasets find their files.
func (d *Deps) files(download bool) workload.Files {
	f := workload.Files{Open: d.Open, Folder: d.Folder, Temp: d.Temp}
	if d.Hub != nil {
		h := d.Hub(download)
		f.Repository, f.Fetch = h.Dataset, h.Fetch
	}
	return f
}

func (d *Deps) emit(e Event) {
	if d.OnEvent != nil {
		d.OnEvent(d.clean(e))
	}
}

// clean is an event without secrets. Requests and records are not copied: endpoint cleans
// these, and no sink keeps those.
func (d *Deps) clean(e Event) Event {
	switch event := e.(type) {
	case Starting:
		event.Run = secret.Clean(d.Secrets, event.Run)
		return event
	case Waiting, Polling, Polled, ModelFound, Noted, Profiling, Profiled, Ended:
		return secret.Clean(d.Secrets, e)
	}
	return e
}
