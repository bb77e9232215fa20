package metrics

import (
	"errors"
	"iter"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Records are those of a run in the order of the workload, some at a time, however many there are. They are read
// several times, and are the same each time; a batch is valid until the next one.
type Records iter.Seq2[[]*trace.Record, error]

// InMemory are records of a list.
func InMemory(records []*trace.Record) Records {
	records = InOrder(records)
	return func(yield func([]*trace.Record, error) bool) { yield(records, nil) }
}

// A pass takes all records of a run. next says whether it has to take them again.
type pass interface {
	add(r *trace.Record)
	next() (again bool)
}

// read has all passes made, some of them together.
func (a Records) read(all ...pass) error {
	for all = slices.Clone(all); len(all) > 0; all = slices.DeleteFunc(all, func(p pass) bool { return !p.next() }) {
		for some, err := range a {
			if err != nil {
				return err
			}
			for _, r := range some {
				for _, p := range all {
					p.add(r)
				}
			}
		}
	}
	return nil
}

// ErrChanged is the error for a run that has other records in one pass than in another.
var ErrChanged = errors.New("the run changed while it was read; try again")

// sized are the records if they are n, and else an error: another process may add to the run, or remove it.
func (a Records) sized(n int) Records {
	return func(yield func([]*trace.Record, error) bool) {
		left := n
		for some, err := range a {
			if left -= len(some); left < 0 {
				break
			}
			if !yield(some, err) {
				return
			}
		}
		if left != 0 {
			yield(nil, ErrChanged)
		}
	}
}

// An observed run is what one pass over its records leaves: the counts of all, and a head of each.
type observed struct {
	run     *trace.Run
	records Records
	heads   heads
	flown   *flight // nil: not made yet

	requests  requestCount
	tokens    tokenCount
	chunks    chunkCount
	buffering bufferCount
	client    clientCount
	cache     cacheCount
	finished  finishedCount
	defects   Defects
	graded    Graded
	tenants   map[string]*part
	turns     map[int]*part
	stalls    *StallFinder // nil: not looked for
	came      *arrivals    // of output, and ends of answers; nil: not looked for
	gaps      *gapSample   // of the answered requests; nil: not wanted

	last          trace.Instant // answer
	behind        int           // the largest index
	gap           gap
	due, released extent
	waiting       extent // releases of requests that ended later
	timed         bool   // a first turn was due after the start
	mixed         bool   // of some answers only one of due and sent is known

	objectives []plan.Objective // of each request
	met        int
	goals      []Objective // of the run
	attained   []Attainment
}

// observe reads a run. gaps says whether the gaps between chunks are wanted, stalls whether stalls are.
func observe(t *trace.Trace, records Records, o Options, gaps, stalls bool) (*observed, error) {
	x := &observed{run: &t.Run, records: records, tenants: map[string]*part{}, turns: map[int]*part{}, finished: newFinishedCount(&t.Run), objectives: plan.PerRequest(o.Objectives)}
	for _, one := range plan.OfRun(o.Objectives) {
		x.goals = append(x.goals, ObjectiveOf(one))
	}
	x.attained = make([]Attainment, len(x.goals))
	p := t.Run.Plan
	if stalls && p.Stream {
		x.stalls = new(StallFinder)
	}
	if p.Stream || p.Silent() {
		x.came = new(arrivals)
	}
	passes := []pass{x}
	if gaps && p.Stream {
		x.gaps = newGapSample(o.Percentiles, Owns)
		passes = append(passes, firstPass{x.gaps})
	}
	err := records.read(passes...)
	x.records = records.sized(x.heads.n)
	x.gap = gapOf(x.run, x.heads.n, x.behind, x.requests.Lost()) // by notes on what could not be read
	if x.finished.most += float64(x.gap.requests); x.gap.some {
		x.stalls, x.came = nil, nil
	}
	return x, err
}

// next: one pass is all.
func (x *observed) next() bool { return false }

func (x *observed) add(r *trace.Record) {
	c := chunksOf(r)
	x.requests.add(r)
	x.tokens.add(r)
	x.chunks.add(r, c)
	x.buffering.add(r)
	x.client.add(r)
	x.cache.add(r)
	x.finished.add(r)
	x.defects.add(r)
	x.graded.add(r)
	x.last, x.behind = max(x.last, r.Done), max(x.behind, r.Index+1)
	x.due.add(r.Due)
	x.released.add(r.Released)
	x.timed = x.timed || r.Due > 0 && r.Turn == 0
	x.mixed = x.mixed || r.OK() && r.Sent.Happened() != r.Due.Happened()
	if x.stalls != nil {
		x.stalls.Add(r)
	}
	x.arrived(r)
	for i, goal := range x.goals {
		goal.take(&x.attained[i], r, x.run.Plan.Stream)
	}
	h := newHead(r, c, x.run.Plan.Stream)
	h.tenant = x.part(r)
	if h.ok && h.meets(x.objectives) {
		x.met++
	}
	x.heads.add(h)
}

// arrived notes when output of a record came, and its end. A head without output is none: servers send it before they
// begin.
func (x *observed) arrived(r *trace.Record) {
	if x.came == nil {
		return
	}
	if r.Released.Happened() && r.Done >= r.Released {
		x.waiting.add(r.Released)
	}
	x.came.at(r.Done)
	for i := range r.Chunks {
		if c := &r.Chunks[i]; c.Kind.Output() && c.At <= r.Done {
			x.came.at(c.At)
		}
	}
}

// duration is the end of the run; of one that was killed, its last answer.
func (x *observed) duration() trace.Instant {
	if x.run.End.Happened() {
		return x.run.End
	}
	return x.last
}

// scheduled reports whether due times mean something: with a gate and
// everything due at once they do not. Later turns are due when somebody has answered,
// which is no schedule either.
func (x *observed) scheduled() bool { return x.run.Plan.Concurrency == 0 || x.timed }

// An extent is the first and the last of instants that happened, and how many did.
type extent struct {
	first, last trace.Instant
	n           int
}

func (e *extent) add(t trace.Instant) {
	if !t.Happened() {
		return
	}
	if e.n++; e.n == 1 || t < e.first {
		e.first = t
	}
	e.last = max(e.last, t)
}

// pace is the rate of instants: of the gaps between them, one less than they
// are. Of fewer than two it is 0.
func (e extent) pace() float64 { return over(e.n-1, Between(e.first, e.last)) }
