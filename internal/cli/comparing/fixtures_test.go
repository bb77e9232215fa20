package comparing

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A shelf is a store that runs are put into.
type shelf struct {
	*store.Store
	t    *testing.T
	file string
	n    int
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs.db")
	s, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &shelf{Store: s, t: t, file: file}
}

// put stores a run of 40 requests that all take so many times as long as they should, but for
// some noise; change may change it before.
func (s *shelf) put(name string, factor float64, change ...func(*trace.Run)) (id string) {
	s.t.Helper()
	s.n++
	rng := rand.New(rand.NewPCG(uint64(s.n), 7))
	run := trace.Run{
		ID: fmt.Sprintf("20260101-0000%02d-test", s.n), Name: name, Kind: trace.Measured, Status: trace.Complete, Started: time.Unix(int64(1_800_000_000+60*s.n), 0),
		Verdict: &trace.Verdict{Validity: trace.Valid},
		Plan:    trace.Load{Dialect: "pitot", Model: "m", Stream: true, Requests: 40, Rate: 10, Workload: plan.Text("random"), Arrival: plan.Text("Poisson"), Seed: uint64(s.n)},
	}
	var records []*trace.Record
	for i := range 40 {
		r := trace.NewRecord(i)
		at := float64(i) * 0.1
		r.Due, r.Released, r.Sent = seconds(at), seconds(at), seconds(at)
		at += factor * (0.1 + 0.001*rng.Float64())
		for range 10 {
			r.Chunks = append(r.Chunks, trace.Chunk{At: seconds(at), Kind: trace.Text})
			at += factor * (0.02 + 0.0001*rng.Float64())
		}
		r.PromptTokens, r.WantTokens, r.OutputTokens, r.Done = 100, 10, 10, r.Chunks[9].At
		run.End = max(run.End, r.Done)
		records = append(records, r)
	}
	for _, f := range change {
		f(&run)
	}
	each := func(yield func(*trace.Record, error) bool) {
		for _, r := range records[:min(len(records), run.Plan.Requests)] {
			if !yield(r, nil) {
				return
			}
		}
	}
	if _, err := s.Import(run, each, nil); err != nil {
		s.t.Fatal(err)
	}
	return run.ID
}

func seconds(v float64) trace.Instant { return trace.Instant(v * 1e9) }

// file is the experiment of ab.
const file = `version: 1
name: ab
variants:
  - {name: before, server: {url: "http://a:8000"}}
  - {name: after, server: {url: "http://b:8000"}}
workloads:
  - {name: load, command: bench -n 40 --rate 10}
design: {seed: 3, until: verdict}
margin: 5%
`

// ab stores an experiment whose first block is made, and that has not looked at it.
func (s *shelf) ab(change ...func(*experiment.Journal)) {
	s.t.Helper()
	j := experiment.Journal{
		Name: "ab", File: file, Folder: "/tmp/ab", Started: time.Unix(1_800_000_000, 0), Owner: experiment.Owner{Host: "elsewhere", PID: 1, Birth: "1"},
		Status: experiment.Running, Looks: compare.Looks{Most: 8},
	}
	for i, v := range []string{"before", "after", "after", "before"} {
		leg := trace.Leg{Experiment: "ab", Variant: v, Workload: "load", Block: 1, Slot: i + 1, Position: i + 1}
		id := s.put("ab / "+v, map[string]float64{"before": 1, "after": 1.2}[v], func(r *trace.Run) { r.Leg, r.Plan.Seed = &leg, 9 })
		j.Legs = append(j.Legs, &experiment.Leg{
			Variant: v, Block: 1, Slot: i + 1, Ordinal: i/2 + 1, Position: i + 1, Attempt: 1, Status: experiment.Done, Took: time.Minute,
			Runs: []experiment.LegRun{{ID: id, Workload: "load"}},
		})
	}
	for _, f := range change {
		f(&j)
	}
	body, err := json.Marshal(j)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.CreateExperiment(store.Experiment{Name: "ab", Status: "running", Started: j.Started, Body: body}); err != nil {
		s.t.Fatal(err)
	}
}
