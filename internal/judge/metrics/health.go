package metrics

import (
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Health is whether the load generator kept out of the way.
type Health struct {
	// Verdict sums up all of it; see judge.
	Verdict trace.Verdict `json:"verdict"`
	// Remedies are what can be done about its reasons; see Explain.
	Remedies []plan.Message `json:"remedies,omitempty"`
	// Lateness is how long after it could have been sent a request was: from its
	// due time, or from the instant the gate had a place for it, to its first
	// byte, without the set-up of a new connection.
	Lateness Distribution `json:"lateness"`
	// Lag is how long what had come lay in the kernel until it was read: the delay
	// that instants taken in user space would have.
	Lag      Lag     `json:"lag"`
	Stamps   Stamps  `json:"stamps"`
	CPU      float64 `json:"cpu"`  // share of the processors usable, 0 to 1
	CPUs     int     `json:"cpus"` // usable: no more than the machine gave, and than ran Go code at once
	GCPause  float64 `json:"gc_pause"`
	GCMax    float64 `json:"gc_max"` // seconds, the longest
	GCCycles int     `json:"gc_cycles"`
	Redials  int     `json:"redials"`             // idle connections that the server had closed
	Resent   int     `json:"resent"`              // requests that were sent again, on a new connection
	HeldBack bool    `json:"held_back,omitempty"` // a proxy buffered most answers
	Measured bool    `json:"measured"`            // the run has an end; else CPU, GC and lag are unknown
	// Simulated means that there was no load generator: time was virtual.
	Simulated bool `json:"simulated,omitempty"`
}

// A Lag is a distribution of delays, in seconds.
type Lag struct {
	Reads int     `json:"reads"` // with a stamp of the kernel's
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Stamps is the source of the instants of chunks: kernel or user space.
type Stamps struct {
	Kernel    int `json:"kernel"`              // answers with instants of the kernel's
	User      int `json:"user"`                // with instants taken in user space
	Unstamped int `json:"unstamped,omitempty"` // reads to which the kernel gave none
	// ClockSteps are jumps of the wall clock, to which the kernel's instants belong;
	// ClockStep is the largest, in seconds.
	ClockSteps int     `json:"clock_steps,omitempty"`
	ClockStep  float64 `json:"clock_step,omitempty"`
}

func (x *observed) health(s Summary) Health {
	run := x.run
	if run.Kind == trace.Simulated {
		j := &judgement{s: s}
		j.incomplete()
		return Health{
			Lateness: Distribute(nil, []float64{50, 99}), CPUs: max(run.Env.CPUs, 1), Measured: run.End.Happened(), Simulated: true,
			Verdict: j.verdict(),
		}
	}
	client := run.Client
	h := Health{
		Lateness: Distribute(x.heads.values((*head).lateness), []float64{50, 99}),
		Lag:      Lag{Reads: client.Lag.Reads, P50: client.Lag.P50.Seconds(), P99: client.Lag.P99.Seconds(), Max: client.Lag.Max.Seconds()},
		Stamps:   x.client.stamps(client),
		CPUs:     usable(*run),
		GCPause:  client.GCPause.Seconds(),
		GCMax:    client.GCMax.Seconds(),
		GCCycles: client.GCCycles,
		Measured: run.End.Happened(),
		Redials:  x.client.redials,
		Resent:   x.client.resent,
	}
	if s.Duration > 0 {
		h.CPU = client.CPU.Seconds() / s.Duration / float64(h.CPUs)
	}
	if run.Origin == nil { // of another tool's client nothing of this was measured
		h.HeldBack = (&judgement{Health: h, s: s}).heldBack()
		h.Verdict = judge(h, s)
		h.Remedies = Explain(h.Verdict).Remedies
	}
	return h
}

// usable is how many processors the process could use; of a fleet, all workers with known use
// together. Workers on one host share its processors.
func usable(run trace.Run) int {
	if run.Fleet == nil {
		return usableOf(run.Env.CPUs, run.Client)
	}
	n, shared, have := 0, map[string]int{}, map[string]int{} // by host
	for _, w := range run.Fleet.Workers {
		switch {
		case w.IsLost():
		case w.Host == "":
			n += usableOf(w.CPUs, w.Client)
		default:
			shared[w.Host] += usableOf(w.CPUs, w.Client)
			have[w.Host] = max(have[w.Host], w.CPUs)
		}
	}
	for host, sum := range shared {
		n += min(sum, max(have[host], 1))
	}
	return max(n, 1)
}

// Lateness is how many seconds after it could have been sent a request was, as Health has it;
// false of one that did not get onto the wire.
func Lateness(r *trace.Record) (late float64, sent bool) {
	if !r.Sent.Happened() || !r.Due.Happened() {
		return 0, false
	}
	late = Between(max(r.Due, r.Free), r.Sent)
	switch {
	case r.Resent:
		late = Between(max(r.Due, r.Free), r.FirstSent)
	case r.Connected.Happened():
		late -= Between(r.Dialed, r.Connected)
	}
	return max(0, late), true
}

// A clientCount counts by what the client did, and how it took the instants of answers.
type clientCount struct{ redials, resent, kernel, user int }

func (c *clientCount) add(r *trace.Record) {
	if c.redials += r.Redials; r.Resent {
		c.resent++
	}
	switch {
	case !r.OK(): // in no latency
	case r.Stamps == trace.KernelStamps:
		c.kernel++
	case r.Stamps == trace.UserStamps:
		c.user++
	}
}

func (c *clientCount) stamps(of trace.Client) Stamps {
	return Stamps{
		Kernel: c.kernel, User: c.user,
		Unstamped: of.Unstamped, ClockSteps: of.ClockSteps, ClockStep: max(of.ClockStep, -of.ClockStep).Seconds(),
	}
}
