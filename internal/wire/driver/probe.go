package driver

import (
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// startProbes starts the probe loop, if there is one. The function it returns ends
// the loop and waits for it.
func (r *run) startProbes() (stop func()) {
	p := r.plan.Probe
	if p == nil {
		return func() {}
	}
	over := make(chan struct{})
	var loop sync.WaitGroup
	loop.Go(func() { r.probe(p, over) })
	return func() {
		close(over)
		loop.Wait()
	}
}

// longestProbePause keeps a tiny rate within a Duration.
const longestProbePause = 24 * time.Hour

func (r *run) probe(p *Probe, over <-chan struct{}) {
	pause := time.Duration(min(float64(time.Second)/p.Rate, float64(longestProbePause)))
	for {
		select {
		case <-over:
			return
		case <-r.ctx.Done():
			return
		default:
		}
		body, err := r.Sender.Encode(&p.Request)
		if err != nil {
			return
		}
		rec := trace.NewRecord(len(r.out.Probes))
		rec.Due = r.now()
		rec.Released = rec.Due
		rec = r.transmit(&p.Request, body, rec)
		r.Progress.probes.Add(int64(rec.OutputTokens))
		r.out.Probes = append(r.out.Probes, rec)
		select {
		case <-time.After(pause):
		case <-over:
		case <-r.ctx.Done():
		}
	}
}
