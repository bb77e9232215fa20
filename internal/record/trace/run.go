package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A Run is everything about a run except its records: the plan, the environment,
// and the health of the client.
type Run struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Kind    RunKind   `json:"kind"`
	Status  Status    `json:"status"`
	Started time.Time `json:"started"` // wall clock at instant 0; zero if unknown
	// End is when the last request was done: the benchmark duration. Never if the
	// run did not finish.
	End Instant `json:"end_ns"`
	// Tail is the time after End that the tool of the command line includes in the
	// duration.
	Tail time.Duration `json:"tail_ns,omitempty"`
	// AcceptLength is the mean number of tokens per step of speculative decoding
	// over the server's life, as the server reported after the run; 0 if it did
	// not.
	AcceptLength float64     `json:"accept_length,omitempty"`
	Plan         Load        `json:"plan"`
	Env          Environment `json:"environment"`
	Client       Client      `json:"client"`
	// Notes are remarks from preparing and making the run.
	Notes []plan.Message `json:"notes,omitempty"`
	// Probes are the records of probe requests, sent alongside the measured ones.
	Probes []*Record `json:"probes,omitempty"`
	// Verdict says whether the figures can be trusted, as judged by the Pitot that
	// made the run; nil until then.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Origin is the source of an imported run; nil for Pitot's own.
	Origin *Origin `json:"origin,omitempty"`
	// Leg is the place of the run in an experiment; nil for a single run.
	Leg *Leg `json:"leg,omitempty"`
	// WarmUp is how a warm-up until steady went; nil without one.
	WarmUp *WarmUp `json:"warm_up,omitempty"`
	// Cache is the declared state of the server's cache, and what was done for it; nil if
	// none was declared.
	Cache *Cache `json:"cache,omitempty"`
	// Reuse is what the server's cache had of the prompts; nil if unknown, and for an engine that starts with
	// the run.
	Reuse *Reuse `json:"reuse,omitempty"`
	// ServerCounters are server counters over the run, by name: the last scrape
	// minus the first.
	ServerCounters map[string]float64 `json:"server_counters,omitempty"`
	// Idle is the pause before the run in which devices were sampled and nothing was sent; nil:
	// there was none.
	Idle *telemetry.Window `json:"idle,omitempty"`
	// KVTokens is the reported capacity of the server's KV cache in tokens; 0: not reported.
	KVTokens int `json:"kv_tokens,omitempty"`
	// Fleet is the machines that sent the requests; nil: the one of Env did.
	Fleet *Fleet `json:"fleet,omitempty"`
	// Labels are what people wrote about the run afterwards; nil: nothing.
	Labels *Labels `json:"labels,omitempty"`
	// MarkedBy names the key of the marks of its records (MarkKey.ID); empty: they have none.
	MarkedBy string `json:"marked_by,omitempty"`
}

// RunKind is the origin of a trace.
type RunKind string

// The kinds of a run.
const (
	Measured  RunKind = "measured"  // live, against an endpoint
	Simulated RunKind = "simulated" // from an engine model, in virtual time
	Imported  RunKind = "imported"  // from the results of another tool
)

// Status is the state of a run.
type Status string

// The states of a run. A run stays Running in the store if its process dies.
const (
	Running     Status = "running"
	Complete    Status = "complete"
	Interrupted Status = "interrupted"
)

// A Reuse is what a server's cache had of the prompts of a run.
type Reuse struct {
	Prompt int `json:"prompt"` // tokens
	Hit    int `json:"hit"`    // of them, cached
	// Own is how many of them the run can have left there itself, at most; negative: unknown.
	Own int `json:"own"`
	// Before is an earlier run that sent the same prompts to the same server; empty: none is known.
	Before string `json:"before,omitempty"`
}

// Earlier is the share of the prompt tokens that were in the cache before the run: more than the
// run can have left there itself.
func (r *Reuse) Earlier() (share float64, known bool) {
	if r == nil || r.Own < 0 || r.Prompt <= 0 {
		return 0, false
	}
	return float64(max(0, r.Hit-r.Own)) / float64(r.Prompt), true
}

// NotableReuse is a share of prompt tokens that changes the measured latencies.
const NotableReuse = 0.05

// A Leg is the place of a run in an experiment. Numbers count from 1.
//
// A leg is one turn of a variant: its server is started, or goes on, and each workload is
// measured once or several times. All runs of a leg have its Block, Slot and Position.
type Leg struct {
	Experiment string `json:"experiment"`
	Variant    string `json:"variant,omitempty"`
	Workload   string `json:"workload,omitempty"`
	Block      int    `json:"block"`            // legs of one block are compared with each other
	Slot       int    `json:"slot,omitempty"`   // place of the leg in its block
	Position   int    `json:"position"`         // of the leg, in the order in which the legs ran
	Number     int    `json:"number,omitempty"` // of the leg, in the order without those that were repeated
	Repeat     int    `json:"repeat,omitempty"` // of the workload in the leg
	// Attempt is 2 of a leg that was repeated, since the first one failed.
	Attempt int `json:"attempt,omitempty"`
	// ServerStart numbers the server starts of the experiment: legs with the same
	// number shared a process. 0 if the experiment started none.
	ServerStart int `json:"server_start,omitempty"`
	// Confirms means that the leg belongs to the confirmation of a choice among several
	// variants, which is judged without the legs that the choice was made by.
	Confirms bool `json:"confirms,omitempty"`
	// Void is why the run is no evidence: its leg failed or contradicts its declaration. It
	// is stored and not judged.
	Void plan.Message `json:"void,omitzero"`
}

// Called is the number of the leg in reports.
func (l Leg) Called() int { return cmp.Or(l.Number, l.Position) }

// A Snapshot is the progress of a run at one instant.
type Snapshot struct {
	At       Instant // Never for a run that has not begun
	Released int     // requests released by the driver
	Done     int     // of these, the completed ones, including failed ones
	Failed   int
	Tokens   int // output tokens received, including those of requests in flight
}

// InFlight is the number of requests released and not done.
func (s Snapshot) InFlight() int { return s.Released - s.Done }

// A Load is a digest of what a run was asked for: of its Spec and of what preparing the run found,
// such as the address of the embedded engine, or of what another tool wrote. It holds no secrets.
type Load struct {
	Dialect     string           `json:"dialect"` // the dialect of its command line: pitot, vllm or sglang
	URL         string           `json:"url"`
	Protocol    string           `json:"protocol"` // completions, chat ...
	Model       string           `json:"model"`
	Stream      bool             `json:"stream"`
	Workload    plan.Message     `json:"workload,omitzero"` // with its lengths, without the number of requests
	Requests    int              `json:"requests"`
	Seed        uint64           `json:"seed"`
	Arrival     plan.Message     `json:"arrival,omitzero"`
	Rate        float64          `json:"rate,omitempty"`        // requests/s, 0 if not one constant rate
	Ramp        bool             `json:"ramp,omitempty"`        // the rate rises or falls by design
	Concurrency int              `json:"concurrency,omitempty"` // requests in flight at most, 0 = no limit
	Objectives  []plan.Objective `json:"objectives,omitempty"`  // for goodput
	Percentiles []float64        `json:"percentiles,omitempty"` // to report
	// Spec is the complete plan, enough to repeat the run; nil for imported runs.
	Spec *plan.Spec `json:"spec,omitempty"`
}

// Silent reports whether the answers have no text: embeddings, pooled outputs, or
// scores.
func (p Load) Silent() bool {
	return p.Protocol == "embeddings" || p.Protocol == "pooling" || p.Protocol == "rerank"
}

// Environment describes where a run took place.
type Environment struct {
	Pitot        string       `json:"pitot"` // version
	Go           string       `json:"go"`
	OS           string       `json:"os"` // GOOS/GOARCH
	Host         string       `json:"host"`
	CPUs         int          `json:"cpus"`                   // usable by this process
	FileLimit    uint64       `json:"file_limit"`             // maximum number of open files
	Server       string       `json:"server,omitempty"`       // the answer of its /version
	ServedBy     string       `json:"served_by,omitempty"`    // the headers Server and Via of its first answer
	Models       []string     `json:"models,omitempty"`       // the list of its /v1/models
	Tokenizer    plan.Message `json:"tokenizer,omitzero"`     // the source of prompt lengths
	TokenizerWhy plan.Message `json:"tokenizer_why,omitzero"` // why the sources before that were not used
	Embedded     bool         `json:"embedded,omitempty"`     // the engine ran in this process
	Profile      *Profile     `json:"profile,omitempty"`      // of that engine, or of a simulated one
	Invocation   []string     `json:"invocation,omitempty"`   // the command line, secrets masked
	// Client is the machine of the client in full, Serving what answered at the URL; nil: not known.
	Client  *environment.Environment `json:"client,omitempty"`
	Serving *environment.Environment `json:"serving,omitempty"`
	// Instances are the other processes of the deployment that were named, each with its Role.
	Instances []*environment.Environment `json:"instances,omitempty"`
	// SelfTest is the accuracy of the kernel's receive timestamps before the run.
	SelfTest *SelfTest `json:"self_test,omitempty"`
}

// Sides are the environments of a run by the names that their facts go under: server, the roles of other processes
// that served, client. Those of which nothing is known are left out.
func (e *Environment) Sides(yield func(name string, of *environment.Environment) bool) {
	if e.Serving != nil && !yield("server", e.Serving) {
		return
	}
	for _, i := range e.Instances {
		if !yield(i.Role, i) {
			return
		}
	}
	if e.Client != nil {
		yield("client", e.Client)
	}
}

// Side is the environment of one name; nil: nothing is known of it.
func (e *Environment) Side(name string) *environment.Environment {
	for side, of := range e.Sides {
		if side == name {
			return of
		}
	}
	return nil
}

// Tidy makes environments from another program fit to be stored.
func (e *Environment) Tidy() {
	e.Instances = slices.DeleteFunc(e.Instances, func(i *environment.Environment) bool {
		return i == nil || !plan.IsRole(i.Role)
	})
	e.Instances = e.Instances[:min(len(e.Instances), plan.MostSites)]
	for _, of := range e.Sides {
		of.Tidy()
	}
}

// A SelfTest measures the accuracy of the kernel's receive timestamps with writes
// of a process to itself.
type SelfTest struct {
	Writes  int           `json:"writes"`
	Stamped int           `json:"stamped"`        // with a kernel timestamp
	Inside  int           `json:"inside"`         // between the instants before and after the write
	Bare    int           `json:"bare,omitempty"` // reads without a timestamp while the kernel was enabling timestamps
	Waited  time.Duration `json:"waited_ns"`      // until they were enabled
	Error   Lag           `json:"error"`          // from before the write to the timestamp
	Lag     Lag           `json:"lag"`            // from the timestamp to the read's return
}

// A Profile is the deployment that the embedded engine simulated.
type Profile struct {
	Name  string       `json:"name"`
	Error plan.Message `json:"error,omitzero"` // deviation from measurements
	Text  string       `json:"text"`           // as written
}

// Illustrative is the Error of a profile without measurements.
const Illustrative plan.Code = "profile.illustrative"

// A Verdict says how far the health of the client allows trusting the figures of a
// run.
type Verdict struct {
	Validity Validity       `json:"validity"`
	Reasons  []plan.Message `json:"reasons,omitempty"` // causes first, then what they did to the figures
}

// Validity says how far figures can be trusted.
type Validity string

// The validities.
const (
	Valid    Validity = "valid"
	Doubtful Validity = "doubtful" // some figures are less certain than they look; see the reasons
	Invalid  Validity = "invalid"  // the client, not the server, determined some of them
)

// Client is the load generator's own health over the run, as seen by the process;
// lateness of sending is in the records.
type Client struct {
	Engine   string        `json:"engine,omitempty"` // the HTTP engine: h1 or nethttp
	CPU      time.Duration `json:"cpu_ns"`           // user and system time of the process
	Procs    int           `json:"procs,omitempty"`  // processors that ran Go code at once, at most
	GCCycles int           `json:"gc_cycles"`
	GCPause  time.Duration `json:"gc_pause_ns"`      // in total
	GCMax    time.Duration `json:"gc_max_ns"`        // the longest pause
	Memory   uint64        `json:"memory,omitempty"` // bytes taken from the system, at the end of the run
	// Lag is how long data waited in the kernel before the client read it.
	Lag Lag `json:"lag"`
	// Contention is nil of a run without a client, and of one before this was measured.
	Contention *Contention `json:"contention,omitempty"`
	// EngineLag is how long after they were due the embedded engine wrote tokens.
	EngineLag Lag `json:"engine_lag,omitzero"`
	// Unmade counts the requests that were made later than they could have been sent, by UnmadeMax at most.
	Unmade    int           `json:"unmade,omitempty"`
	UnmadeMax time.Duration `json:"unmade_max_ns,omitempty"`
	// Unstamped counts the reads without a kernel timestamp.
	Unstamped int `json:"unstamped,omitempty"`
	// ClockSteps are jumps of the wall clock during the run, ClockStep the largest.
	ClockSteps int           `json:"clock_steps,omitempty"`
	ClockStep  time.Duration `json:"clock_step_ns,omitempty"`
}

// Contention is how much of the processors other programs took from the client during the
// run. What the system does not tell is negative.
type Contention struct {
	Waited   time.Duration `json:"waited_ns"` // that the client's threads stood in the run queue, together
	Others   float64       `json:"others"`    // share of the machine's processors that other programs used, 0 to 1
	Steal    float64       `json:"steal"`     // share that a hypervisor gave to other machines
	Pressure float64       `json:"pressure"`  // share of the time in which some task of the machine waited (PSI)
}

// A Lag is a distribution of delays.
type Lag struct {
	Reads int           `json:"reads"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	Max   time.Duration `json:"max_ns"`
}

// A Trace is the records of one run.
type Trace struct {
	Run     Run
	Records []*Record // in no particular order; Index is the position in the workload
	// Telemetry has the samples taken during the run; nil: there are none, or they were not read.
	Telemetry *telemetry.Set
}

// Mixed reports whether each arrival is of one of several workloads.
func (p Load) Mixed() bool {
	return p.Spec != nil && len(p.Spec.Load) == 1 && len(p.Spec.Load[0].Mix) > 0
}

// Holds reports whether the limit of concurrency is one of conversations.
func (p Load) Holds() bool { return p.Spec != nil && p.Spec.Gate.Hold }
