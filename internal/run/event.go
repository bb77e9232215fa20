package run

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// An Event is something that happened; it is one of the types below.
type Event any

// Events while a run is prepared.
type (
	// Waiting says that a server that may be starting is waited for.
	Waiting struct {
		URL    string
		Limit  time.Duration
		Err    error // why it is not ready
		Answer bool  // it accepts connections, and is to answer a request
	}
	// Polling says that a route is asked until it answers.
	Polling struct {
		URL   string
		Limit time.Duration
	}
	// Polled says how that ended.
	Polled struct {
		Polling
		Took time.Duration
		Err  error // nil: it answered
	}
	// ModelFound says which model is asked.
	ModelFound struct{ Name, Root string }
	// Built has the requests that will be sent.
	Built struct{ Workload *workload.Workload }
	// Noted is a note of the run's.
	Noted struct{ Note plan.Message }
)

// Events while it is executed.
type (
	// WarmingUp says that this number of requests is sent before the run, maybe none; in
	// each wave, if waves are sent until they agree.
	WarmingUp struct {
		Requests      int
		Steady, Brief bool
	}
	// WaveDone is a wave of a warm-up until steady that was answered, counted from 1.
	WaveDone struct {
		Number, Most int
		Wave         trace.Wave
	}
	// Priming says that this number of prompts is sent ahead, to be in the server's cache.
	Priming struct{ Requests int }
	// WarmedUp says that they were answered, or that enough of them were.
	WarmedUp struct{ Requests, Failed int }
	// Profiling says that profilers will be started or stopped.
	Profiling struct {
		Start   bool
		Workers int
	}
	// Profiled says how a call to a profiler ended.
	Profiled struct {
		Start  bool
		Worker plan.Worker // without a name: the target
		Call   plan.Call
		Err    error
	}
	// Starting says that the first request is about to be sent.
	Starting struct {
		Run      *trace.Run // unchanged until Ended
		Load     PlannedWork
		Progress *driver.Progress // counts while the run goes on; nil of a simulation
	}
	// Sampled is the telemetry since the last Sampled: all sources as they are so far, and the new values. It comes
	// about once a second.
	Sampled struct {
		Sources []telemetry.Source
		Values  []telemetry.Value
	}
	// Recorded is a request that is done.
	Recorded struct{ Record *trace.Record }
	// Stopping says that nothing more is sent.
	Stopping struct{}
	// Ended says that all requests are done.
	Ended struct{ Run *trace.Run }
	// Judged is the last: all is known.
	Judged struct{ Result *Result }
)

// A PlannedWork is the work of a run, as far as it is known before the run begins.
type PlannedWork struct {
	Requests int           // at most
	Output   int           // tokens of all answers together, at most; 0: unknown
	LastDue  time.Duration // when the last request is due; 0: all wait for a place or for an answer
	Until    time.Duration // nothing is sent from then on; 0: no limit
	Gate     int           // requests in flight at most; 0: no limit
	// Due yields the due times of the requests in order; nil if they wait for answers, or only for
	// places.
	Due iter.Seq[time.Duration]
}

// A Result is the outcome of a run.
type Result struct {
	Trace *trace.Trace
	// Stored are the records in place of those of Trace, see Deps.Stored; nil: Trace has them.
	Stored  metrics.Records
	Summary metrics.Summary // the trace in Pitot's figures
	Account json.RawMessage // of the server of itself; nil: it gave none, or was not asked
}

// A Sink receives the events of a run as they happen. Recorded comes from many goroutines at once, and Sampled from
// another one. An error at Starting ends the run before it begins; other errors are joined to that of the run.
type Sink interface{ Handle(Event) error }

// A Watcher is a Sink that looks at each request as it is sent, and at its record as soon
// as it is answered. It takes time that the request would not take otherwise.
type Watcher interface {
	Watch(*workload.Request) (answered func(*trace.Record))
}

// SinkFunc is a Sink.
type SinkFunc func(Event) error

// Handle calls f.
func (f SinkFunc) Handle(e Event) error { return f(e) }
