package trace

import (
	"encoding/json"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Run is what is known of a run beside its records: the plan, where it ran,
// and how the client itself fared.
type Run struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Kind    RunKind   `json:"kind"`
	Status  Status    `json:"status"`
	Started time.Time `json:"started"` // wall clock at instant 0; zero if nobody knows
	// End is when the last request was done: the benchmark duration. Never for a
	// run that did not get there.
	End Instant `json:"end_ns"`
	// Tail is for how long after End the tool whose command line it was counts on.
	Tail time.Duration `json:"tail_ns,omitempty"`
	// AcceptLength is the mean number of tokens that a step of speculative decoding
	// gave over the server's life, as the server said after the run; 0 if it did not.
	AcceptLength float64     `json:"accept_length,omitempty"`
	Plan         Plan        `json:"plan"`
	Env          Environment `json:"environment"`
	Client       Client      `json:"client"`
	// Notes are what was noticed while the run was prepared or made.
	Notes []plan.Message `json:"notes,omitempty"`
	// Probes are the records of probe requests, sent beside the measured ones.
	Probes []*Record `json:"probes,omitempty"`
	// Verdict is whether the figures can be trusted, in the judgement of the Pitot
	// that made the run; nil until then.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Origin is where an imported run came from; nil for our own.
	Origin *Origin `json:"origin,omitempty"`
	// Leg is the place of the run in an experiment; nil for a run on its own.
	Leg *Leg `json:"leg,omitempty"`
	// ServerCounters are server counters over the run, by name: the last scrape
	// minus the first.
	ServerCounters map[string]float64 `json:"server_counters,omitempty"`
}

// RunKind says how a trace came to be.
type RunKind string

// The kinds of a run.
const (
	Measured  RunKind = "measured"  // live, against an endpoint
	Simulated RunKind = "simulated" // of a model of an engine, in virtual time
	Imported  RunKind = "imported"  // of another tool, from what it left
)

// Status says how a run ended.
type Status string

// The states of a run. A run found Running in the store by another process was
// killed.
const (
	Running     Status = "running"
	Complete    Status = "complete"
	Interrupted Status = "interrupted"
)

// A Leg is the place of a run in an experiment. Numbers count from 1.
type Leg struct {
	Experiment string `json:"experiment"`
	Block      int    `json:"block"`    // legs of one block are compared with each other
	Position   int    `json:"position"` // in the order in which the legs ran
	// ServerStart is which start of a server in the experiment the leg ran on: legs
	// with the same number shared a process. 0 if the experiment started none.
	ServerStart int `json:"server_start,omitempty"`
}

// A Snapshot is how far a run had come at one instant.
type Snapshot struct {
	At       Instant // Never for a run that has not begun
	Released int     // requests that the driver had let go
	Done     int     // of these, how many were over, failed ones included
	Failed   int
	Tokens   int // output tokens received, those of requests in flight included
}

// InFlight is how many requests were released and not done.
func (s Snapshot) InFlight() int { return s.Released - s.Done }

// A Plan is what was asked for. It holds no secrets.
type Plan struct {
	Dialect     string       `json:"dialect"` // whose command line it was: pitot, vllm or sglang
	URL         string       `json:"url"`
	Protocol    string       `json:"protocol"` // completions, chat ...
	Model       string       `json:"model"`
	Stream      bool         `json:"stream"`
	Workload    plan.Message `json:"workload,omitzero"` // with its lengths, without how many
	Requests    int          `json:"requests"`
	Seed        uint64       `json:"seed"`
	Arrival     plan.Message `json:"arrival,omitzero"`
	Rate        float64      `json:"rate,omitempty"`        // requests/s, 0 if not one constant rate
	Ramp        bool         `json:"ramp,omitempty"`        // the rate rises or falls on purpose
	Concurrency int          `json:"concurrency,omitempty"` // requests in flight at most, 0 = no limit
	Objectives  []SLO        `json:"objectives,omitempty"`  // for goodput
	Percentiles []float64    `json:"percentiles,omitempty"` // to report
	// Spec is all of it, enough to make the run again; nil of imported runs, and of those
	// stored before there were Specs.
	Spec *plan.Spec `json:"spec,omitempty"`
	// Settings is every setting of the command line by name, in text.
	Settings map[string]string `json:"settings,omitempty"`
	// Foreign is the command line of another tool in that tool's own form, as
	// its dialect stored it.
	Foreign json.RawMessage `json:"foreign,omitempty"`
}

// Silent tells whether the answers have no text: what was asked for is embeddings,
// what a model pools, or scores.
func (p Plan) Silent() bool {
	return p.Protocol == "embeddings" || p.Protocol == "pooling" || p.Protocol == "rerank"
}

// An SLO is an upper limit on a latency of a request: ttft, tpot, itl (its mean
// over the request) or e2el.
type SLO struct {
	Metric string        `json:"metric"`
	Limit  time.Duration `json:"limit_ns"`
}

// Environment is where a run took place.
type Environment struct {
	Pitot        string       `json:"pitot"` // version
	Go           string       `json:"go"`
	OS           string       `json:"os"` // GOOS/GOARCH
	Host         string       `json:"host"`
	CPUs         int          `json:"cpus"`                   // usable by this process
	FileLimit    uint64       `json:"file_limit"`             // open files at most
	Server       string       `json:"server,omitempty"`       // what its /version said
	Models       []string     `json:"models,omitempty"`       // what its /v1/models listed
	Tokenizer    plan.Message `json:"tokenizer,omitzero"`     // where prompt lengths come from
	TokenizerWhy plan.Message `json:"tokenizer_why,omitzero"` // why not from what would come before that
	Embedded     bool         `json:"embedded,omitempty"`     // the engine ran in this process
	Profile      *Profile     `json:"profile,omitempty"`      // of that engine, or of a simulated one
	Invocation   []string     `json:"invocation,omitempty"`   // the command line, secrets masked
	// SelfTest is how good the kernel's receive stamps were ahead of the run.
	SelfTest *SelfTest `json:"self_test,omitempty"`
}

// A SelfTest is how near the truth the kernel's receive stamps are when a process
// writes to itself.
type SelfTest struct {
	Writes  int           `json:"writes"`
	Stamped int           `json:"stamped"`        // by the kernel
	Inside  int           `json:"inside"`         // between the instants before and after the write
	Bare    int           `json:"bare,omitempty"` // reads without a stamp while the kernel turned stamping on
	Waited  time.Duration `json:"waited_ns"`      // until it had
	Error   Lag           `json:"error"`          // from before the write to the stamp
	Lag     Lag           `json:"lag"`            // from the stamp to the read's return
}

// A Profile is the deployment that an engine of ours stood for.
type Profile struct {
	Name  string       `json:"name"`
	Error plan.Message `json:"error,omitzero"` // how far it is from what was measured
	Text  string       `json:"text"`           // as it was written
}

// Illustrative is the Error of a profile that nothing was measured for.
const Illustrative plan.Code = "profile.illustrative"

// A Verdict is what a run's own health makes of its figures.
type Verdict struct {
	Validity Validity       `json:"validity"`
	Reasons  []plan.Message `json:"reasons,omitempty"` // the gravest first
}

// Validity is how far figures can be trusted.
type Validity string

// The validities.
const (
	Valid    Validity = "valid"
	Doubtful Validity = "doubtful" // some figures are less sure than they look, the reasons say which
	Invalid  Validity = "invalid"  // the client, not the server, decided some of them
)

// Client is the load generator's own health over the run, as the process saw
// it; lateness of sending is in the records.
type Client struct {
	Engine   string        `json:"engine,omitempty"` // what carried the requests: h1 or nethttp
	CPU      time.Duration `json:"cpu_ns"`           // user and system time of the process
	Procs    int           `json:"procs,omitempty"`  // processors that ran Go code at once, at most
	GCCycles int           `json:"gc_cycles"`
	GCPause  time.Duration `json:"gc_pause_ns"`      // in all
	GCMax    time.Duration `json:"gc_max_ns"`        // the longest pause
	Memory   uint64        `json:"memory,omitempty"` // bytes taken from the system, at the end of the run
	// Lag is how long the kernel had data when the client got round to reading it.
	Lag Lag `json:"lag"`
	// Unstamped are the reads that came without a stamp of the kernel's.
	Unstamped int `json:"unstamped,omitempty"`
	// ClockSteps are jumps of the wall clock during the run, ClockStep the largest.
	ClockSteps int           `json:"clock_steps,omitempty"`
	ClockStep  time.Duration `json:"clock_step_ns,omitempty"`
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
	Records []*Record // in no particular order; Index tells the workload's
}
