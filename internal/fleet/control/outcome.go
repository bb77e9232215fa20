package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

func isGone(err error) bool { return errors.Is(err, bus.ErrGone) }

func (g *gathering) outcome() run.Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settled = true
	for _, r := range g.missingRecords() {
		g.records = append(g.records, r)
		g.sink.Record(r)
	}
	out := run.Outcome{Outcome: driver.Outcome{Started: g.zeroWall, Records: g.records, Stopped: g.level >= fleet.NoMore && len(g.records) < len(g.seen)}}
	var clients []trace.Client
	out.End = lastDone(g.records)
	for i := range g.shares {
		s := &g.shares[i]
		if s.end == nil {
			continue
		}
		out.End = max(out.End, s.end.End)
		out.Stopped = out.Stopped || s.end.Stopped && s.lost.IsZero()
		out.Probes = append(out.Probes, s.end.Probes...)
		out.ServedBy = cmp.Or(out.ServedBy, s.end.ServedBy)
		clients = append(clients, s.end.Client)
	}
	out.Client = metrics.MergeClients(clients)
	out.Fleet = g.fleet(out.End)
	g.noteClients()
	return out
}

// noteClient reports a note of workers about themselves, such as timestamps that cannot be trusted.
const noteClient plan.Code = "fleet.noted"

// noteClients reports the notes of the workers, each kind once.
func (g *gathering) noteClients() {
	const mostNamed = 3
	var kinds []plan.Message // the first of each
	by := map[plan.Code][]string{}
	for i := range g.shares {
		if g.shares[i].end == nil {
			continue
		}
		for _, n := range g.shares[i].end.Notes {
			if by[n.Code] == nil {
				kinds = append(kinds, n)
			}
			by[n.Code] = append(by[n.Code], g.shares[i].Name)
		}
	}
	for _, n := range kinds {
		names := by[n.Code]
		shown := names[:min(len(names), mostNamed)]
		g.sink.Note(plan.Msg(noteClient, "workers", shown, "more", len(names)-len(shown), "what", n))
	}
}

func lastDone(records []*trace.Record) (last trace.Instant) {
	for _, r := range records {
		last = max(last, r.Done)
	}
	return last
}

func (g *gathering) byShare() [][]*trace.Record {
	all := make([][]*trace.Record, len(g.shares))
	for _, r := range g.records {
		owner := g.owners[r.Index]
		all[owner] = append(all[owner], r)
	}
	return all
}

// fleet is the crew and its state.
func (g *gathering) fleet(end trace.Instant) *trace.Fleet {
	fl := &trace.Fleet{Tolerate: g.f.o.Tolerate, Resumed: g.resumed}
	var bounds []time.Duration
	for i := range g.shares {
		s := &g.shares[i]
		w := s.inTrace(g, i, end)
		bounds = append(bounds, w.Clock.Bound)
		fl.Workers = append(fl.Workers, w)
	}
	slices.Sort(bounds)
	if n := len(bounds); n > 1 {
		fl.MaxOffset = bounds[n-1] + bounds[n-2]
		if bounds[0] < 0 {
			fl.MaxOffset = -1
		}
	}
	t := &trace.Trace{Run: g.heading.Run}
	t.Run.Status, t.Run.End, t.Run.Kind = trace.Complete, end, trace.Measured
	for i, mine := range g.byShare() {
		if g.shares[i].end != nil {
			metrics.JudgeWorker(t, mine, &fl.Workers[i])
		}
	}
	return fl
}

// inTrace is a worker as the run keeps it.
func (s *share) inTrace(g *gathering, i int, end trace.Instant) trace.FleetWorker {
	start := g.heading.Start[i]
	w := trace.FleetWorker{
		Name: s.Name, Zone: s.Zone, Host: s.Host, OS: s.OS, Pitot: s.Pitot, CPUs: s.CPUs, FileLimit: s.Files, Capacity: s.Capacity,
		Requests: s.requests, Records: s.records, Places: start.Places, LostWhy: s.lost,
	}
	if w.IsLost() {
		w.Lost = s.lastHeard
	}
	if s.end != nil {
		w.Client, w.SelfTest = s.end.Client, s.end.SelfTest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Clock = trace.FleetClock{
		Bound: time.Duration(s.clock.MaxOffset(g.zero, start.At, g.zero+int64(end))), Drift: s.clock.Drift(), RoundTrip: time.Duration(s.clock.RoundTrip()),
		Exchanges: s.clock.Exchanges(), Wall: s.wall, Steps: s.clock.Steps(), WallSteps: w.Client.ClockSteps,
	}
	if w.Clock.Bound == fleet.Unknown {
		w.Clock.Bound = -1
	}
	if g.resumed { // by a process with another clock: bounds at the start plus the largest drift
		w.Clock.Bound = g.heading.Bounds[i] + time.Duration(fleet.MaxRate*float64(end))
	}
	return w
}

// missingRecords makes records of requests that lost workers were to send. g.mu is held.
func (g *gathering) missingRecords() (all []*trace.Record) {
	left := make([]int, len(g.shares)) // how many requests of each share were sent at least, or would have been
	for i := range g.shares {
		left[i] = g.shares[i].owed(g.closed(), g.level)
	}
	for i, due := range g.due {
		if due == notSent {
			break
		}
		if s := g.owners[i]; !g.seen[i] && left[s] > 0 && !g.beyond(due) {
			left[s]--
			all = append(all, lostRecord(g.f.job, i, due, &g.shares[s]))
		}
	}
	return all
}

// closed reports a load that is limited by time alone.
func (g *gathering) closed() bool {
	return g.f.job.Spec.Duration > 0 && g.f.job.Spec.Gate.Concurrency > 0
}

func (g *gathering) beyond(due trace.Instant) bool {
	until := g.f.job.Spec.Duration.Std()
	return until > 0 && due >= trace.Instant(until)
}

// owed is how many requests of a lost worker have no record though they should. Of a run that was
// stopped, or of a closed loop that ends with its time, those that it had sent.
func (s *share) owed(closed bool, level fleet.Stop) int {
	switch {
	case s.lost.IsZero():
		return 0
	case closed || level >= fleet.NoMore:
		return max(0, min(s.final.Progress.Released, s.requests)-s.records)
	}
	return s.requests - s.records
}

func lostRecord(j run.Job, index int, due trace.Instant, s *share) *trace.Record {
	req := j.Requests.At(index)
	r := trace.NewRecord(index)
	r.ID, r.Tenant, r.Session, r.Turn = req.ID, req.Tenant, req.Session, req.Number
	r.PromptTokens, r.VisionTokens, r.WantTokens = req.PromptTokens, req.VisionTokens, req.OutputTokens
	r.Due, r.Class, r.Error = due, trace.WorkerLost, fmt.Sprintf("worker %s on %s was lost", s.Name, s.Host)
	return r
}
