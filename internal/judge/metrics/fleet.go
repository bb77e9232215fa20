package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Worker is one machine of a fleet in figures.
type Worker struct {
	trace.FleetWorker
	Share float64 // of the requests of the run
	// CPU is the share of its processors usable, 0 to 1; NaN if its client is unknown.
	CPU float64
}

// Known reports whether the worker reported on its client; a lost one did not.
func (w Worker) Known() bool { return !math.IsNaN(w.CPU) }

// Validity is that of its verdict, but not valid if the worker's clock changed suddenly; empty
// without a verdict.
func (w Worker) Validity() trace.Validity {
	switch {
	case w.Verdict == nil:
		return ""
	case w.Verdict.Validity == trace.Valid && w.Clock.Steps > 0:
		return trace.Doubtful
	}
	return w.Verdict.Validity
}

// Workers are the machines that sent a run, the worst first: those that were lost, then by their
// verdict and by how late they sent; nil of a run of one machine.
func Workers(run trace.Run) []Worker {
	if run.Fleet == nil {
		return nil
	}
	all, total := make([]Worker, len(run.Fleet.Workers)), planned(run.Fleet)
	for i, w := range run.Fleet.Workers {
		all[i] = Worker{w, over(w.Requests, float64(total)), math.NaN()}
		if seconds := run.End.Seconds(); !w.IsLost() && run.End > 0 {
			all[i].CPU = w.Client.CPU.Seconds() / seconds / float64(usableOf(w.CPUs, w.Client))
		}
	}
	slices.SortStableFunc(all, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(severity(b), severity(a)), cmp.Compare(b.Late, a.Late))
	})
	return all
}

// severity is how bad a worker is.
func severity(w Worker) int {
	switch {
	case w.IsLost():
		return 3
	case w.Validity() == trace.Invalid:
		return 2
	case w.Validity() == trace.Doubtful:
		return 1
	}
	return 0
}

// planned is how many requests the workers were dealt.
func planned(f *trace.Fleet) (n int) {
	for _, w := range f.Workers {
		n += w.Requests
	}
	return n
}

// usableOf is how many processors a process could use.
func usableOf(cpus int, c trace.Client) int {
	if c.Procs > 0 {
		return max(1, min(cpus, c.Procs))
	}
	return max(cpus, 1)
}

// MergeClients makes one client of those of a fleet. What counts is added up, of the longest pause,
// the longest delay and the largest step of a clock there is the largest. Quantiles of delays are the
// largest of any client, so that those of all delays together are no larger. Shares of
// a contention are the largest of any machine, and negative where no machine tells.
func MergeClients(all []trace.Client) (m trace.Client) {
	for _, c := range all {
		m.Engine = cmp.Or(m.Engine, c.Engine)
		m.CPU += c.CPU
		m.Procs += c.Procs
		m.GCCycles += c.GCCycles
		m.GCPause += c.GCPause
		m.GCMax = max(m.GCMax, c.GCMax)
		m.Memory += c.Memory
		m.Lag = mergeLags(m.Lag, c.Lag)
		m.EngineLag = mergeLags(m.EngineLag, c.EngineLag)
		m.Contention = mergeContentions(m.Contention, c.Contention)
		m.Unstamped += c.Unstamped
		m.Unmade += c.Unmade
		m.UnmadeMax = max(m.UnmadeMax, c.UnmadeMax)
		m.ClockSteps += c.ClockSteps
		if c.ClockStep.Abs() > m.ClockStep.Abs() {
			m.ClockStep = c.ClockStep
		}
	}
	return m
}

func mergeLags(a, b trace.Lag) trace.Lag {
	return trace.Lag{Reads: a.Reads + b.Reads, P50: max(a.P50, b.P50), P99: max(a.P99, b.P99), Max: max(a.Max, b.Max)}
}

func mergeContentions(a, b *trace.Contention) *trace.Contention {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	m := trace.Contention{Waited: max(a.Waited, b.Waited), Others: max(a.Others, b.Others), Steal: max(a.Steal, b.Steal), Pressure: max(a.Pressure, b.Pressure)}
	if a.Waited >= 0 && b.Waited >= 0 {
		m.Waited = a.Waited + b.Waited
	}
	return &m
}

// JudgeWorker sets the verdict of a worker that came to its end, and how late it sent its requests,
// by its own records: what the verdict of a run of this client alone would be, but for the reasons
// that are about the server. t is the run with the records of all workers.
func JudgeWorker(t *trace.Trace, of []*trace.Record, w *trace.FleetWorker) {
	s := workerSummary(t, of, *w)
	w.Late = time.Duration(s.Health.Lateness.At(99) * float64(time.Second))
	v := workerVerdict(t, s)
	w.Verdict = &v
}

// workerSummary is the run as if the worker had been alone.
func workerSummary(t *trace.Trace, of []*trace.Record, w trace.FleetWorker) Summary {
	own := trace.Trace{Run: t.Run, Records: of}
	own.Run.Fleet, own.Run.Client, own.Run.Env.CPUs, own.Run.Plan.Requests = nil, w.Client, w.CPUs, w.Requests
	own.Run.ServerCounters, own.Run.Cache, own.Run.WarmUp, own.Run.Origin = nil, nil, nil, nil
	if !own.Run.End.Happened() {
		own.Run.End = Duration(&own) // it delivered its end
	}
	return Summarize(&own, Options{brief: true})
}

// workerVerdict is whether the client of s, a worker of the run t, was fit.
func workerVerdict(t *trace.Trace, s Summary) trace.Verdict {
	j := &judgement{Health: s.Health, s: s, worker: true}
	answered := slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.OK() })
	if answered && s.Requests.Unanswered() { // by a server that answers others
		j.answers()
	}
	j.client()
	j.blame()
	return j.verdict()
}

// Limits of a fleet.
const (
	maxDoubtful    = 0.05 // of the requests, by workers that are doubtful
	maxClockSet    = 0.01 // of the requests, by workers with a wall clock that was set
	maxOffset      = 5 * time.Millisecond
	maxOffsetShare = 0.01 // of the duration of the run
	mostNamed      = 3    // workers, in a reason
)

// fleet judges the machines that sent the run.
func (j *judgement) fleet() {
	f := j.s.Run.Fleet
	if f == nil {
		return
	}
	all := Workers(j.s.Run)
	lost := chosen(all, func(w Worker) bool { return w.IsLost() })
	j.lost(f, lost)
	fit := func(v trace.Validity) []Worker {
		return chosen(all, func(w Worker) bool {
			return !w.IsLost() && w.Verdict != nil && w.Verdict.Validity == v && len(w.Verdict.Reasons) > 0
		})
	}
	j.unfit("verdict.workers-invalid", fit(trace.Invalid), 0)
	j.unfit("verdict.workers-doubtful", fit(trace.Doubtful), maxDoubtful)
	stepped := chosen(all, func(w Worker) bool { return w.Clock.Steps > 0 })
	j.doubtIf(len(stepped) > 0, "verdict.workers-stepped", "workers", names(stepped), "more", beyond(stepped))
	j.doubtIf(f.MaxOffset < 0 && len(stepped) == 0 && len(lost) == 0, "fleet.apart-unknown")
	j.doubtIf(j.s.Duration > 0 && f.MaxOffset.Seconds() > min(maxOffset.Seconds(), maxOffsetShare*j.s.Duration), "verdict.workers-apart", "apart", f.MaxOffset)
}

// lost judges the loss of workers: what they did not send is missing in the load.
func (j *judgement) lost(f *trace.Fleet, lost []Worker) {
	if len(lost) == 0 {
		return
	}
	slices.SortStableFunc(lost, func(a, b Worker) int { return cmp.Compare(b.Missing(), a.Missing()) })
	var which []plan.Message
	for _, w := range lost[:min(len(lost), mostNamed)] {
		which = append(which, plan.Msg("fleet.of-worker", "worker", w.Name, "what", w.LostWhy))
	}
	_, missing := f.Lost()
	say := j.invalidIf
	if f.Tolerate {
		say = j.doubtIf
	}
	say(true, "verdict.workers-lost", "lost", len(lost), "which", which, "more", beyond(lost), "requests", missing, "share", over(missing, float64(planned(f))))
}

// unfit doubts a run of which workers with more than a share of the requests were not fit
// themselves. Its own reasons say more where these spoilt the figures of all.
func (j *judgement) unfit(code plan.Code, all []Worker, limit float64) {
	share := 0.0
	for _, w := range all {
		share += w.Share
	}
	if share <= limit {
		return
	}
	slices.SortStableFunc(all, func(a, b Worker) int { return cmp.Compare(b.Share, a.Share) })
	var which []plan.Message
	for _, w := range all[:min(len(all), mostNamed)] {
		which = append(which, plan.Msg("fleet.of-worker", "worker", w.Name, "what", w.Verdict.Reasons[0]))
	}
	j.doubtIf(true, code, "workers", len(all), "share", share, "which", which, "more", beyond(all))
}

// chosen are some of the workers.
func chosen(all []Worker, is func(Worker) bool) []Worker {
	return slices.DeleteFunc(slices.Clone(all), func(w Worker) bool { return !is(w) })
}

// names are those of the first workers, beyond is how many more there are.
func names(all []Worker) (out []string) {
	for _, w := range all[:min(len(all), mostNamed)] {
		out = append(out, w.Name)
	}
	return out
}

func beyond(all []Worker) int { return max(0, len(all)-mostNamed) }

// clockSet reports whether workers with a wall clock that was set sent enough requests to affect
// the run's figures; without a fleet, whether the clock was set.
func (j *judgement) clockSet() bool {
	if j.s.Run.Fleet == nil {
		return j.Stamps.ClockSteps > 0
	}
	share := 0.0
	for _, w := range Workers(j.s.Run) {
		if w.Client.ClockSteps > 0 {
			share += w.Share
		}
	}
	return share > maxClockSet
}

// busiest is what the busiest worker used, in processors.
func (j *judgement) busiest() (processors float64) {
	for _, w := range Workers(j.s.Run) {
		if w.Known() {
			processors = max(processors, w.CPU*float64(usableOf(w.CPUs, w.Client)))
		}
	}
	return processors
}

// FleetNotes are remarks on the machines that sent the run, which raise no doubt.
func FleetNotes(run trace.Run) (out []plan.Message) {
	if run.Fleet == nil {
		return nil
	}
	set := chosen(Workers(run), func(w Worker) bool { return w.Clock.WallSteps > 0 })
	if len(set) > 0 {
		out = append(out, plan.Msg("fleet.wall-set", "workers", names(set), "more", beyond(set)))
	}
	if run.Fleet.Resumed {
		out = append(out, plan.Msg("fleet.resumed"))
	}
	return out
}
