package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Status is the state of an experiment or of a leg.
type Status string

// The states.
const (
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Interrupted Status = "interrupted" // by a signal, or by the end of the process
)

// A Journal is the state of an experiment, and enough to go on with it.
type Journal struct {
	Name string `json:"name"`
	File string `json:"file"` // the experiment as YAML, without secrets
	// Withheld means that it had secrets, which File lacks.
	Withheld bool      `json:"withheld,omitempty"`
	Folder   string    `json:"folder"` // of its files: logs of servers, note
	Started  time.Time `json:"started"`
	Owner    Owner     `json:"owner"` // the process that runs it
	Status   Status    `json:"status"`
	// Why is the reason of a failure.
	Why plan.Message `json:"why,omitzero"`
	// Looks are the judgements that may end it: Looks.Most is fixed before the first leg; 1
	// of a fixed design.
	Looks compare.Looks `json:"looks"`
	// Ended says why no further block was made.
	Ended plan.Message `json:"ended,omitzero"`
	// Winner is the variant that was confirmed on fresh legs; empty: none.
	Winner string `json:"winner,omitempty"`
	Legs   []*Leg `json:"legs"`
	// Noise is the variation of the figures, by workload.
	Noise []Noise `json:"noise,omitempty"`
	// Spent is the time of all processes that ran it.
	Spent time.Duration `json:"spent"`
}

// An Owner is a process.
type Owner struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Birth string `json:"birth"` // as the system reports it, so that a later process is not taken for it
}

// A Leg is one turn of a variant.
type Leg struct {
	Variant  string `json:"variant"`
	Block    int    `json:"block"`
	Slot     int    `json:"slot"`     // in the block
	Ordinal  int    `json:"ordinal"`  // among the legs of the variant in the block
	Position int    `json:"position"` // in the order in which legs ran
	Attempt  int    `json:"attempt"`
	Draw     int    `json:"draw,omitempty"` // of the requests of its block; 0: Ordinal, or it sent none
	Confirms bool   `json:"confirms,omitempty"`

	Status Status        `json:"status"`
	Why    plan.Message  `json:"why,omitzero"` // it failed
	Began  time.Time     `json:"began"`
	Took   time.Duration `json:"took"`

	ServerStart int              `json:"server_start,omitempty"` // 0: it was up
	Ready       time.Duration    `json:"ready,omitempty"`        // from the start of the server until it answered
	Handle      *server.Handle   `json:"handle,omitempty"`       // of the server, while it is up
	Life        *server.Lifetime `json:"life,omitempty"`         // of the server that it started
	Log         string           `json:"log,omitempty"`

	Runs []LegRun `json:"runs,omitempty"`
}

// A LegRun is a run of a leg.
type LegRun struct {
	ID       string        `json:"id"`
	Workload string        `json:"workload"`
	Took     time.Duration `json:"took"` // with the steps before it
	// Simulated is the virtual time of a simulation.
	Simulated time.Duration `json:"simulated,omitempty"`
	// Machine, Model and Load identify the noise of the run.
	Machine string `json:"machine"`
	Model   string `json:"model"`
	Load    string `json:"load"` // LoadKey
}

// legRunOf is the journal's entry for a run.
func legRunOf(r trace.Run, workload string, took time.Duration) LegRun {
	m := LegRun{ID: r.ID, Workload: workload, Took: took, Machine: machineAt(r.Plan.URL, r.Env.Host), Model: r.Plan.Model, Load: LoadKey(r.Plan.Workload, r.Plan.Arrival, r.Plan.Requests, r.Plan.Concurrency)}
	if r.Kind == trace.Simulated {
		m.Simulated = time.Duration(r.End)
	}
	return m
}

// machineAt is the machine of the server at an address, which is this one, host, where it is
// reached by the loopback or embedded.
func machineAt(address, host string) string {
	u, err := url.Parse(strings.ReplaceAll(address, design.Port, "0"))
	if err != nil {
		return host
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "" || name == "localhost" || ip != nil && ip.IsLoopback() {
		return host
	}
	return name
}

// LoadKey identifies loads with the same noise.
func LoadKey(workload, arrival plan.Message, requests, concurrency int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", workload.Key(), arrival.Key(), requests, concurrency))
	return hex.EncodeToString(sum[:8])
}

// A turn is a place in the order; its legs are attempts at it.
type turn struct {
	confirms    bool
	block, slot int
}

// before reports whether a turn comes before another one.
func (t turn) before(u turn) bool {
	return cmp.Or(cmp.Compare(t.block, u.block), cmp.Compare(t.slot, u.slot)) < 0
}

func (l *Leg) turn() turn { return turn{l.Confirms, l.Block, l.Slot} }

// done reports whether a turn has a leg that is evidence.
func (j *Journal) done(t turn) bool { return j.count(t, Done) > 0 }

// count is how many legs of a turn have a status.
func (j *Journal) count(t turn, s Status) (n int) {
	for _, l := range j.Legs {
		if l.turn() == t && l.Status == s {
			n++
		}
	}
	return n
}

// Blocks is how many blocks have begun.
func (j *Journal) Blocks() (n int) {
	for _, l := range j.Legs {
		if !l.Confirms {
			n = max(n, l.Block)
		}
	}
	return n
}

// BlockTime is the time of a block, by the legs made so far; 0 before the first.
func (j *Journal) BlockTime() time.Duration {
	var all time.Duration
	turns := map[turn]bool{}
	done := j.With(Done)
	for _, l := range done {
		all += l.Took
		turns[l.turn()] = true
	}
	if len(done) == 0 {
		return 0
	}
	slots := 0
	for t := range turns {
		slots = max(slots, t.slot)
	}
	return all / time.Duration(len(done)) * time.Duration(slots)
}

// Number is the place of a leg in the order without repetitions, from 1: attempts at a turn share it.
func (j *Journal) Number(l *Leg) int {
	turns := map[turn]bool{}
	for _, other := range j.Legs {
		if other.turn() == l.turn() || other.turn().before(l.turn()) {
			turns[other.turn()] = true
		}
	}
	return len(turns)
}

// TimeLeft is how long it takes until so many turns are done, by the legs made so far; 0 before the first.
func (j *Journal) TimeLeft(turns int) time.Duration {
	done := j.With(Done)
	if len(done) == 0 {
		return 0
	}
	var all, underWay time.Duration
	for _, l := range done {
		all += l.Took
	}
	for _, l := range j.With(Running) {
		underWay += l.Took
	}
	return max(0, all/time.Duration(len(done))*time.Duration(turns-len(done))-underWay)
}

// simulated is the virtual time ahead of the next run of a leg: that of the Done legs with earlier turns, and of
// the runs that it has made.
func (j *Journal) simulated(l *Leg) (all time.Duration) {
	for _, other := range j.Legs {
		if other == l || other.Status == Done && other.turn().before(l.turn()) {
			for _, made := range other.Runs {
				all += made.Simulated
			}
		}
	}
	return all
}

// With are the legs with a status.
func (j *Journal) With(s Status) (out []*Leg) {
	for _, l := range j.Legs {
		if l.Status == s {
			out = append(out, l)
		}
	}
	return out
}

// starts is the number of the last server start.
func (j *Journal) starts() (n int) {
	for _, l := range j.Legs {
		n = max(n, l.ServerStart)
	}
	return n
}
