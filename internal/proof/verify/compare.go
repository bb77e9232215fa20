package verify

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A CellRun is what there is to say of one run of a cell when it has ended.
type CellRun struct {
	Cell    conform.Cell
	Log     truth.Log
	Claim   *conform.Claim // nil if the client gave none
	Usage   conform.Usage
	StartUp conform.Usage
	Samples []proc.Sample // of the client's CPU time, on the server's clock, in order; none where it is not known
	Others  float64       // processors that others used meanwhile; -1 if it is not known
	// Records are the client's own of every request, nil if it keeps none that can
	// be read.
	Records []*trace.Record
}

// Compare holds a client's claim against the log.
func Compare(r CellRun) conform.Result {
	out := conform.Result{Cell: r.Cell, Claim: r.Claim, Usage: r.Usage, Server: serverOf(r.Cell, r.Log), Others: r.Others}
	set := measuredBy(r.Cell, r.Log.Requests, r.Claim)
	out.Requests, out.Notes = set.counts, set.notes
	out.Tokens = conform.Tokens{Claimed: -1}
	for _, q := range set.answered {
		out.Tokens.Written += q.Tokens
	}
	out.Rate = conform.Rate{Asked: r.Cell.Rate, Offered: pace(set.all)}
	if n := written(r.Log.Requests); n > 0 {
		out.Usage.PerToken = max(0, r.Usage.CPU-r.StartUp.CPU).Seconds() / float64(n)
	}
	out.Usage.Share = shareOf(r.Samples, set.all)
	if n := blocked(set.all); n > 0 {
		out.Notes = append(out.Notes, plan.Msg("conform.writes-blocked", "writes", n))
	}
	if out.Disturbed() {
		out.Notes = append(out.Notes, plan.Msg("conform.others-busy", "processors", r.Others))
	}
	if r.Claim == nil {
		return out
	}
	out.Tokens.Claimed = r.Claim.Output
	out.Figures = figures(*r.Claim, set.answered)
	out.Precision = precision(r.Records, set.answered)
	out.Notes = append(out.Notes, r.Claim.Notes...)
	return out
}

// figures are those of the claim, each with its true value by the same definition.
func figures(c conform.Claim, requests []*truth.Request) (out []conform.FigureError) {
	f, _ := conform.FormatNamed(c.Format)
	rule := linear
	if f.Stepped {
		rule = stepped
	}
	for _, m := range conform.Metrics() {
		claimed, add := c.Latencies[m], contributions[f.Truth[m]]
		if len(claimed) == 0 || add == nil {
			continue
		}
		var s sample
		for _, r := range requests {
			add(&s, r)
		}
		if len(s.values) == 0 {
			continue
		}
		true := rule(s)
		for _, statistic := range conform.Statistics() {
			v, ok := claimed[statistic]
			if !ok {
				continue
			}
			figure := conform.FigureError{Metric: m, Statistic: statistic, Claimed: v, True: true[statistic], N: len(s.values)}
			if bound, ok := c.Bounds[m][statistic]; ok {
				figure.Bound = &bound
			}
			figure.Void = statistic != conform.Mean && slices.Contains(c.Void, m)
			out = append(out, figure)
		}
	}
	return out
}
