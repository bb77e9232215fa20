package verify

import (
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
)

func serverOf(c conform.Cell, l truth.Log) conform.ServerPace {
	s := conform.ServerPace{LatenessP50: l.Lateness.P50, LatenessP99: l.Lateness.P99, LatenessMax: l.Lateness.Max}
	if from, to := stretch(asking(l.Requests, 0)); to > from {
		s.CPU = l.WriteCPU.Seconds() / seconds(from, to)
	}
	step := c.Step
	if c.Output == 1 { // there is only the first token
		step = c.First
	}
	limit, late := plan.Code("conform.server-late"), step/10
	if c.Arrivals == conform.Lockstep { // the last of a burst waits for the others
		limit, late = "conform.server-late-burst", step/2
	}
	switch {
	case s.CPU > maxBusy:
		s.Limit = plan.Msg("conform.server-busy", "share", s.CPU)
	case step > 0 && s.LatenessP99 > late:
		s.Limit = plan.Msg(limit, "p99", s.LatenessP99.Round(10*time.Microsecond))
	}
	return s
}

// Server is the server of a cell.
func Server(c conform.Cell, seed uint64) truth.Config {
	cfg := truth.Config{
		Step: c.Step, Jitter: jitter, TTFT: c.First, Seed: seed, OutputTokens: c.Output,
		Faults: truth.Faults{HTTP500: c.Faults / 3, Reset: c.Faults / 3, Truncate: c.Faults / 3},
	}
	if c.Arrivals == conform.Lockstep {
		cfg.Lockstep, cfg.Jitter = true, 0
	}
	return cfg
}

// jitter is by how much the gaps of Spread differ from the step, as a share.
const jitter = 0.3

// maxBusy is the share of the time that the server may take for its writes, and
// not be the limit.
const maxBusy = 0.90
