package metrics

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/trace"
)

// Health is whether the load generator kept out of the way.
type Health struct {
	// Lateness is how long after it could have been sent a request was: from its
	// due time, or from the instant the gate had a place for it, to its first
	// byte, without the set-up of a new connection.
	Lateness Distribution `json:"lateness"`
	CPU      float64      `json:"cpu"` // share of the processors usable, 0 to 1
	CPUs     int          `json:"cpus"`
	GCPause  float64      `json:"gc_pause"` // seconds in all
	GCMax    float64      `json:"gc_max"`   // seconds, the longest
	GCCycles int          `json:"gc_cycles"`
	Redials  int          `json:"redials"`  // idle connections that the server had closed
	Measured bool         `json:"measured"` // false when the run has no end, as when the process was killed: then CPU and GC are not known
	// Simulated means that there was no load generator: time was virtual.
	Simulated bool     `json:"simulated,omitempty"`
	Valid     bool     `json:"valid"`
	Reasons   []string `json:"reasons,omitempty"` // why it is not
}

// Limits beyond which the client counts as the bottleneck. Lateness matters in
// proportion to what is measured, and below 10 ms it does not matter.
const (
	maxCPU           = 0.90
	minCPUTime       = time.Second // over less the share says nothing
	maxLateness      = 10 * time.Millisecond
	maxLatenessShare = 0.05 // of the median E2EL
	maxGCPause       = 10 * time.Millisecond
)

func health(t *trace.Trace, records []*trace.Record, s Summary) Health {
	if t.Run.Kind == trace.Simulated {
		return Health{Lateness: Distribute(nil, []float64{50, 99}), CPUs: max(t.Run.Env.CPUs, 1), Measured: t.Run.End.Happened(), Simulated: true, Valid: true}
	}
	client, env := t.Run.Client, t.Run.Env
	h := Health{
		Lateness: Distribute(lateness(records), []float64{50, 99}),
		CPUs:     max(env.CPUs, 1),
		GCPause:  client.GCPause.Seconds(),
		GCMax:    client.GCMax.Seconds(),
		GCCycles: client.GCCycles,
	}
	if s.Duration > 0 {
		h.CPU = client.CPU.Seconds() / s.Duration / float64(h.CPUs)
	}
	for _, r := range records {
		h.Redials += r.Redials
	}
	h.Measured = t.Run.End.Happened()
	h.Reasons = h.doubts(s, env.Embedded)
	h.Valid = len(h.Reasons) == 0
	return h
}

// lateness of every request that got onto the wire.
func lateness(records []*trace.Record) []float64 {
	var x []float64
	for _, r := range records {
		if !r.Sent.Happened() || !r.Due.Happened() {
			continue
		}
		late := between(max(r.Due, r.Free), r.Sent)
		if r.Connected.Happened() {
			late -= between(r.Dialed, r.Connected)
		}
		x = append(x, max(0, late))
	}
	return x
}

func (h Health) doubts(s Summary, embedded bool) []string {
	var why []string
	if !h.Measured {
		why = append(why, "the run has no end, so what the client used is not known")
	}
	if h.CPU > maxCPU && s.Duration >= minCPUTime.Seconds() {
		whose := "this process used"
		if embedded {
			whose = "this process and the engine in it used"
		}
		why = append(why, fmt.Sprintf("%s %.0f %% of %d processors", whose, 100*h.CPU, h.CPUs))
	}
	limit := max(maxLateness.Seconds(), maxLatenessShare*s.Service.E2EL.Median)
	if late := h.Lateness.At(99); late > limit {
		why = append(why, fmt.Sprintf("requests left late: P99 %.1f ms, the limit is %.1f ms", 1e3*late, 1e3*limit))
	}
	if h.GCMax > maxGCPause.Seconds() {
		why = append(why, fmt.Sprintf("the garbage collector paused the client for %.1f ms", 1e3*h.GCMax))
	}
	for _, c := range s.Requests.Classes {
		if c.Class == trace.Files || c.Class == trace.Ports {
			why = append(why, fmt.Sprintf("%d requests failed since %s", c.Count, c.Class.Explain()))
		}
	}
	return why
}
