package metrics

import (
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A LiveHealth is the state of the client during a run. Records are added as they come; the other
// fields are current values.
type LiveHealth struct {
	Run     *trace.Run
	Elapsed time.Duration // since the run began
	CPU     time.Duration // of the process, in that time
	CPUs    int           // that it may use
	Late    float64       // P99 of Lateness, in seconds
	E2EL    float64       // median, in seconds

	chunks  Chunks
	client  clientCount
	starved []Class // failures for want of what a client needs
}

// Add adds a request that is done.
func (g *LiveHealth) Add(r *trace.Record) {
	if !r.OK() {
		if r.Class == trace.Files || r.Class == trace.Ports {
			g.ranOut(r.Class)
		}
		return
	}
	g.chunks.join(chunksOf(r))
	g.client.add(r)
}

func (g *LiveHealth) ranOut(of trace.Class) {
	for i := range g.starved {
		if g.starved[i].Class == of {
			g.starved[i].Count++
			return
		}
	}
	g.starved = append(g.starved, Class{Class: of, Count: 1})
}

// Busy is the share of its processors that the process used, 0 to 1.
func (g *LiveHealth) Busy() float64 {
	if g.Elapsed <= 0 {
		return 0
	}
	return g.CPU.Seconds() / g.Elapsed.Seconds() / float64(max(1, g.CPUs))
}

// Doubts are those reasons of the verdict that are known before a run ends, by the rules of the
// verdict: requests sent late, chunks merged, processors busy, files or ports used up.
func (g *LiveHealth) Doubts() []plan.Message {
	j := &judgement{
		Health: Health{
			Lateness: Distribution{Percentiles: []Percentile{{P: 99, Value: g.Late}}},
			CPU:      g.Busy(), CPUs: max(1, g.CPUs), Stamps: g.client.stamps(trace.Client{}),
		},
		s: Summary{
			Run: *g.Run, Duration: g.Elapsed.Seconds(), Chunks: g.chunks,
			Requests: Requests{Classes: g.starved}, Service: Latencies{E2EL: Distribution{Median: g.E2EL}},
		},
	}
	j.sending()
	j.merging()
	j.processors()
	return append(j.invalid, j.doubts...)
}
