package aliens

import (
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An eagerFrontend is one thread with a queue of tasks, first come first served. A request is
// accepted, tokenized by another thread, goes seven times through the queue and then sends its
// head; the output of a step is taken apart by one task, which makes a task for each stream that has
// none. Such a task writes what the stream has when its turn comes, as one chunk.
//
//	accept ─▶ tokenize ─▶ hop ─▶ ... ─▶ hop ─▶ head ─▶ engine ─▶ flush ─▶ write, one per stream
type eagerFrontend struct {
	tasks     []task
	busy      bool
	end       time.Duration // of tasks[0], if busy
	tokenizer time.Duration
	ready     []tokenized
	streams   []*stream // with tokens that are not written, in order
}

// A task is for a request, or for the tokens of a step.
type task struct {
	kind   taskKind
	job    *job
	left   int // hops
	tokens []*job
}

type taskKind int

const (
	accepting taskKind = iota
	hopping
	heading
	flushing
	writing
)

// A tokenized request joins the queue at an instant.
type tokenized struct {
	job *job
	at  time.Duration
}

// A stream has tokens that wait to be written.
type stream struct {
	job    *job
	tokens int
}

func (f *eagerFrontend) push(t task) { f.tasks = append(f.tasks, t) }

// cost is the work of a task in s, on a host of usual speed.
func (t *task) cost() float64 {
	switch t.kind {
	case accepting:
		return 0.75e-3
	case hopping:
		return 0.05e-3
	case heading:
		return 0.8e-3
	case flushing:
		return 0.95e-3 + 11e-6*float64(len(t.tokens))
	}
	return 39e-6
}

// start begins the next task, if there is one.
func (f *eagerFrontend) start(now time.Duration, host *eagerSpeed) {
	if !f.busy && len(f.tasks) > 0 {
		f.busy = true
		f.end = now + time.Duration(f.tasks[0].cost()*math.Pow(host.at(now), 0.6)*1e9)
	}
}

// next is the next end of a task, or of the tokenizer.
func (f *eagerFrontend) next() time.Duration {
	at := time.Duration(math.MaxInt64)
	if len(f.ready) > 0 {
		at = f.ready[0].at
	}
	if f.busy {
		at = min(at, f.end)
	}
	return at
}

// step ends what ends at now. Requests with a head go to the engine.
func (f *eagerFrontend) step(now time.Duration, submit func(*job), out []engine.Emission) []engine.Emission {
	for len(f.ready) > 0 && f.ready[0].at <= now {
		f.push(task{kind: hopping, job: f.ready[0].job, left: 6})
		f.ready = f.ready[1:]
	}
	if !f.busy || f.end > now {
		return out
	}
	t := f.tasks[0]
	f.busy, f.tasks = false, f.tasks[1:]
	switch t.kind {
	case accepting:
		f.tokenizer = max(f.tokenizer, now) + 600*time.Microsecond + time.Duration(t.job.PromptTokens)*2900
		f.ready = append(f.ready, tokenized{t.job, f.tokenizer})
	case hopping:
		if t.left--; t.left == 0 {
			t.kind = heading
		}
		f.push(t)
	case heading:
		out = append(out, engine.Emission{ID: t.job.ID, At: now})
		submit(t.job)
	case flushing:
		f.collect(t.tokens)
	case writing:
		out = f.write(t.job, now, out)
	}
	return out
}

// collect gives streams their tokens.
func (f *eagerFrontend) collect(tokens []*job) {
	for _, j := range tokens {
		i := slices.IndexFunc(f.streams, func(s *stream) bool { return s.job == j })
		if i < 0 {
			i = len(f.streams)
			f.streams = append(f.streams, &stream{job: j})
			f.push(task{kind: writing, job: j})
		}
		f.streams[i].tokens++
	}
}

// write sends the tokens of a stream.
func (f *eagerFrontend) write(j *job, now time.Duration, out []engine.Emission) []engine.Emission {
	i := slices.IndexFunc(f.streams, func(s *stream) bool { return s.job == j })
	if i < 0 {
		return out
	}
	n := f.streams[i].tokens
	f.streams = slices.Delete(f.streams, i, i+1)
	j.written += n
	return append(out, engine.Emission{ID: j.ID, Start: j.start, At: now, Tokens: int32(n), Done: j.written == j.OutputTokens})
}

// forget removes a request. The present task goes on.
func (f *eagerFrontend) forget(id uint64) {
	keep := f.tasks[:0]
	for i, t := range f.tasks {
		gone := t.job != nil && t.job.ID == id
		t.tokens = slices.DeleteFunc(t.tokens, func(j *job) bool { return j.ID == id })
		if gone && i == 0 && f.busy {
			t = task{kind: flushing}
		} else if gone {
			continue
		}
		keep = append(keep, t)
	}
	f.tasks = keep
	f.streams = slices.DeleteFunc(f.streams, func(s *stream) bool { return s.job.ID == id })
	f.ready = slices.DeleteFunc(f.ready, func(t tokenized) bool { return t.job.ID == id })
}
