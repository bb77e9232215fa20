package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Protocol is the version of the messages of this package. A controller and its workers have the same one, and the
// same version of Pitot: versions do not mix in one run.
const Protocol = 4

// A Question asks every worker that is there who it is.
type Question struct {
	Protocol int    `json:"protocol"`
	Pitot    string `json:"pitot"` // version of who asks
}

// A Worker is the answer to a Question: who a worker is and its state.
type Worker struct {
	// ID names the worker for as long as its process lives, and is a token of a subject: it is that of its Key.
	ID       string `json:"id"`
	Name     string `json:"name"` // for people; unique in a fleet, or made so
	Zone     string `json:"zone,omitempty"`
	Protocol int    `json:"protocol"`
	Pitot    string `json:"pitot"` // version
	Host     string `json:"host"`
	OS       string `json:"os"` // GOOS/GOARCH
	PID      int    `json:"pid"`
	CPUs     int    `json:"cpus"`
	Files    uint64 `json:"files"` // limit of open files
	// Capacity is how many chunks a second the machine reads with honest stamps, as pitot doctor
	// measures it; 0: not measured.
	Capacity float64   `json:"capacity,omitempty"`
	State    State     `json:"state"`
	Run      string    `json:"run,omitempty"`  // that it works on: the id of its Order
	StoredID string    `json:"kept,omitempty"` // and the id by which the run is stored, once it has a Start
	Wall     time.Time `json:"wall"`           // its wall clock
	// Private: nobody can read what it receives, as far as it knows.
	Private bool `json:"private,omitempty"`
}

// State is what a worker does.
type State string

// The states of a worker.
const (
	Idle       State = "idle"
	Preparing  State = "preparing"  // an Order
	Ready      State = "ready"      // it is prepared, and waits for its Start
	Armed      State = "armed"      // it has a Start, and waits for the instant
	Sending    State = "sending"    // its share
	Delivering State = "delivering" // all is sent and answered; records are on their way
	Failed     State = "failed"     // it could not prepare, or not send; Why says it
)

// An Order has a worker prepare a run. It may hold secrets: it is never stored and never logged.
type Order struct {
	Run      string    `json:"run"` // id
	Protocol int       `json:"protocol"`
	Pitot    string    `json:"pitot"`
	Spec     plan.Spec `json:"spec"` // complete: server, model and tokenizer are settled
	// Given are secrets by the path of the setting that names them, and Env variables that the
	// Spec names, for workers that do not have them.
	Given map[string]string `json:"given,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	// Files are the contents of key files that the Spec names, by name, likewise.
	Files map[string]string `json:"files,omitempty"`
	// Inputs are the files that the controller read for the run.
	Inputs []Input `json:"inputs,omitempty"`
	// Digest is that of the requests and their due times on the controller; see inputs.Digest.
	Digest string `json:"digest"`
	// MarkKey is the key under which answers are marked, that of the controller's store.
	MarkKey *trace.MarkKey `json:"mark_key,omitempty"`
}

// An Input is a file that a run was prepared from, or the list of a folder.
type Input struct {
	Kind InputKind `json:"kind"`
	Name string    `json:"name"` // as the Spec names it
	// Path is that of a file in Name, if Name is a folder, a tokenizer or a dataset. With a slash
	// at its end the Input is the list of the files of that folder.
	Path string `json:"path,omitempty"`
	// Root is where the controller found a tokenizer or a dataset. It replaces Name in the prepared run, and no
	// worker looks there.
	Root   string `json:"root,omitempty"`
	Digest string `json:"digest"` // SHA-256 of the content, hexadecimal
	Size   int64  `json:"size"`   // bytes
	Object string `json:"object"` // name in the object store of the run, alike for equal contents
}

// InputKind says how a Spec names an Input.
type InputKind string

// The kinds of Inputs.
const (
	FileInput      InputKind = "file"      // a dataset, trace, arrival times or certificates; Path: in a folder
	TokenizerInput InputKind = "tokenizer" // by path or by name on a hub
	DatasetInput   InputKind = "dataset"   // a repository of a hub
	FetchedInput   InputKind = "fetched"   // the content of an address
)

// A Poll asks a worker how far it is with a run.
type Poll struct {
	Run string `json:"run"`
	// Observer: the sender is not the controller of the run.
	Observer bool `json:"aside,omitempty"`
}

// Readiness is the reply to an Order, a Poll and a Start.
type Readiness struct {
	State State `json:"state"`
	// Digest is that of the worker's requests.
	Digest   string `json:"digest,omitempty"`
	Requests int    `json:"requests,omitempty"`
	// Why is the error of a Failed worker, for people.
	Why string `json:"why,omitempty"`
	// Leaving: the worker ends, and another one may take its place.
	Leaving bool `json:"leaving,omitempty"`
	// Busy is the other run that the worker works on.
	Busy string `json:"busy,omitempty"`
	// Silent is how long the controller has sent nothing.
	Silent time.Duration `json:"silent,omitempty"`
	// Needs are the Inputs, by position in the Order, that the worker does not have: it waits for
	// them in the object store of the run.
	Needs []int `json:"needs,omitempty"`
}

// A Start deals a worker its share and names the instant at which all begin.
type Start struct {
	Run string `json:"run"`
	// StoredID is the id by which the controller stores the run, for people.
	StoredID string `json:"kept"`
	// Share is the worker's position among Of workers; package deal says which requests those are.
	Share int `json:"share"`
	Of    int `json:"of"`
	// Places is how many requests of the worker may be in flight; 0: as many as there are. Most
	// is how many it may be given during the run.
	Places int `json:"places,omitempty"`
	Most   int `json:"most,omitempty"`
	// Probe: this worker sends the probes of the run.
	Probe bool `json:"probe,omitempty"`
	// At is the instant on the worker's own monotonic clock, in nanoseconds.
	At int64 `json:"at"`
}

// A Beat is a controller's periodic message to a worker. Its reply is a Pulse.
type Beat struct {
	Run string `json:"run"`
	// Go: all workers have a Start. One that has not heard this when its instant comes does not
	// begin.
	Go     bool `json:"go,omitempty"`
	Places int  `json:"places,omitempty"` // as in Start, or more by now
	Stop   Stop `json:"stop,omitempty"`
}

// Stop says how far a run is ended.
type Stop int

// The values of Stop; a higher one stands.
const (
	GoOn     Stop = iota
	NoMore        // send no more; wait for requests in flight
	Cancel        // end requests in flight too; also sent to a worker that counts as lost
	Discard       // the run is not made, or without this worker: nothing more need be delivered
	Finished      // the controller has everything: forget the run
)

// A Pulse is the reply to a Beat: a clock reading and how the worker gets on.
type Pulse struct {
	Arrived  int64          `json:"arrived"`  // of the Beat, and of this reply, on the
	Answered int64          `json:"answered"` // monotonic clock of the worker, in nanoseconds
	Wall     int64          `json:"wall"`     // its wall clock at Answered, Unix nanoseconds
	State    State          `json:"state"`
	Why      string         `json:"why,omitempty"`
	Progress trace.Snapshot `json:"progress"`
}

// An End is the last thing that a worker delivers of a run: the final state of its client.
type End struct {
	Share   int             `json:"share"`
	Records int             `json:"records"` // delivered before this
	Client  trace.Client    `json:"client"`
	End     trace.Instant   `json:"end_ns"`
	Stopped bool            `json:"stopped,omitempty"` // not everything was sent
	Probes  []*trace.Record `json:"probes,omitempty"`
	// SelfTest is that of the worker's stamps before the run, nil if there was none.
	SelfTest *trace.SelfTest `json:"self_test,omitempty"`
	ServedBy string          `json:"served_by,omitempty"`
	Notes    []plan.Message  `json:"notes,omitempty"`
}

// A Heading is the first message in the stream of a run, for a controller that takes over from one that died.
type Heading struct {
	Fleet   string    `json:"fleet"`  // id of the run among the workers
	Digest  string    `json:"digest"` // of its requests
	Run     trace.Run `json:"run"`    // before its first request
	Workers []Worker  `json:"workers"`
	// Zero is the instant 0 of the run on the controller's wall clock.
	Zero  time.Time `json:"zero"`
	Start []Start   `json:"start"` // one for each of Workers
	// Bounds is how far the clock of each could be from the controller's at the start.
	Bounds []time.Duration `json:"bounds"`
}

// IsRun reports whether a text has the form of the id of a run, so that it can be part of a
// subject and of the name of a file.
func IsRun(id string) bool { return runID.MatchString(id) }

var runID = lazy.Regexp(`^[0-9A-Za-z][0-9A-Za-z-]{3,62}$`)

// ForWorkers is the part of a Spec that workers need: the steps before and after the requests are the controller's.
// A worker applies it to every Order too, so that no Spec can have it start a program, wait for hours or listen.
func ForWorkers(s plan.Spec) plan.Spec {
	s.Before, s.After, s.Cache = plan.Before{}, plan.After{}, ""
	s.Before.Ready.Connect = plan.Duration(connectLimit)
	s.Telemetry = plan.Telemetry{Sources: []string{"none"}}
	s.Target.Site, s.Target.Tree, s.Target.Engine, s.Target.Simulated = nil, "", nil, false
	return s
}

// connectLimit is how long a worker waits for the server to accept its connection.
const connectLimit = 5 * time.Second

// IsWorker reports whether a text can be the ID of a Worker, which is part of subjects; see Key.
func IsWorker(id string) bool { return workerID.MatchString(id) }

var workerID = lazy.Regexp(`^[0-9a-f]{64}$`)

// MaxLead is how far ahead the instant of a Start can be.
const MaxLead = time.Minute

// Check reports problems with a Start of a run with so many places, at an instant of the clock
// that At is on; nil: nothing.
func (s Start) Check(places int, now int64) error {
	switch {
	case s.Of < 1 || s.Share < 0 || s.Share >= s.Of:
		return fmt.Errorf("there is no share %d of %d", s.Share, s.Of)
	case s.Most != places || s.Places < 0 || s.Places > s.Most:
		return fmt.Errorf("%d of %d places are no part of the %d of the run", s.Places, s.Most, places)
	case s.At <= now:
		return errors.New("the instant of the start is over")
	case s.At > now+int64(MaxLead):
		return fmt.Errorf("the instant of the start is more than %v ahead", MaxLead)
	}
	return nil
}

// Check reports problems with a Heading that was read under the id of a run; nil: nothing.
func (h Heading) Check(run string) error {
	n := len(h.Workers)
	switch {
	case h.Fleet != run || !IsRun(h.Fleet):
		return fmt.Errorf("it is that of run %.64q", h.Fleet)
	case n == 0 || len(h.Start) != n || len(h.Bounds) != n:
		return fmt.Errorf("it has %d workers, %d starts and %d clocks", n, len(h.Start), len(h.Bounds))
	case h.Run.Plan.Spec == nil || !IsRun(h.Run.ID):
		return errors.New("it has no plan, or no run")
	}
	for i, s := range h.Start {
		if !IsWorker(h.Workers[i].ID) || s.Share != i || s.Of != n {
			return fmt.Errorf("worker %d has share %d of %d", i, s.Share, s.Of)
		}
	}
	return nil
}
