package driver

import (
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Progress holds the counters of a run in progress.
type Progress struct {
	Released, Done, Failed atomic.Int64 // Done includes Failed

	run    atomic.Pointer[run]                   // nil until it begins
	remote atomic.Pointer[func() trace.Snapshot] // of a run that others make; nil: this process does
	tokens int64                                 // received by Sender before the run
	probes atomic.Int64                          // tokens of probes
}

// begin is called at instant 0.
func (p *Progress) begin(r *run) {
	if r.Tokens != nil {
		p.tokens = int64(r.Tokens())
	}
	p.run.Store(r)
}

// Follow takes the progress of a run that other machines make, and add up to snapshot.
func (p *Progress) Follow(snapshot func() trace.Snapshot) { p.remote.Store(&snapshot) }

// Snapshot returns the progress of the run. It may be called at any time, from any
// goroutine; its instant is Never before the run begins, and for a nil Progress.
func (p *Progress) Snapshot() trace.Snapshot {
	if p == nil {
		return trace.Snapshot{At: trace.Never}
	}
	if remote := p.remote.Load(); remote != nil {
		return (*remote)()
	}
	r := p.run.Load()
	if r == nil {
		return trace.Snapshot{At: trace.Never}
	}
	failed, done := p.Failed.Load(), p.Done.Load() // in this order no count exceeds the next
	s := trace.Snapshot{At: r.now(), Released: int(p.Released.Load()), Done: int(done), Failed: int(failed)}
	if r.Tokens != nil {
		s.Tokens = r.Tokens() - int(p.tokens+p.probes.Load())
	}
	return s
}
