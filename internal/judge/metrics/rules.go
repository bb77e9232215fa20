package metrics

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Definitions are the rules of a tool: how it makes figures of what happened.
type Definitions struct {
	Tool string
	Also string // another name that the tool has in results
	// Descriptions say what its metrics count, from where and to where.
	Descriptions map[figure.Metric]plan.Code
	// Truth are its latencies by the writes of a server that timestamps each; nil: its reports are not verified.
	// Stepped means that its percentiles are values of the sample, weighted: others interpolate.
	Truth   map[figure.Metric]plan.Code
	Stepped bool
	// Figures are those of a run with records, in a form of the tool's report, "" for
	// the newest; nil: only the tool itself can. Samples are its requests that succeeded.
	Figures func(t *trace.Trace, form string) []trace.ReportedFigure
	Samples func(t *trace.Trace, form string) []Sample
	// ReportsLimits reports whether a rate and a limit on concurrency that an imported
	// report does not have mean that there was none.
	ReportsLimits func(o *trace.Origin) bool
	// Native is the protocol of a measurement that does not say which it was.
	Native string
}

// Pitot is the name of the definition under which the store has figures by Pitot's own, and the
// reported ones of runs without records.
const Pitot = "pitot"

// PitotDefinitions are Pitot's.
func PitotDefinitions() Definitions {
	return Definitions{
		Tool: Pitot,
		Figures: func(t *trace.Trace, _ string) []trace.ReportedFigure {
			return Summarize(t, Options{brief: true}).Figures()
		},
		Samples: func(t *trace.Trace, _ string) []Sample { return PitotSamples(t) },
		Native:  "completions",
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.sent-to-output", figure.TPOT: "definition.output-per-token",
			figure.ITL:  "definition.output-gaps",
			figure.E2EL: "definition.sent-to-end", figure.Peak: "definition.in-flight",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: ToFirstToken, figure.ITL: Gaps,
			figure.TPOT: BetweenTokens, figure.E2EL: ToEnd,
		},
	}
}

// What a latency is, by the writes of a server.
const (
	ToFirstToken  plan.Code = "conform.to-first-token"
	ToLastToken   plan.Code = "conform.to-last-token"
	ToEnd         plan.Code = "conform.to-end"         // of the answer, including its end marker
	BetweenTokens plan.Code = "conform.between-tokens" // a mean per request
	UntilEnd      plan.Code = "conform.until-end"      // likewise, up to the end of the answer
	Gaps          plan.Code = "conform.gaps"           // between chunks, individually
	WeighedGaps   plan.Code = "conform.weighed-gaps"   // BetweenTokens, weighted by tokens
	WholeTokens   plan.Code = "conform.whole-tokens"   // of the full answer, including its TTFT
)

// Rules are the definitions of some tools. Pitot's own are always among them.
type Rules []Definitions

// Lookup are the definitions of a tool; false for one that alone can compute its figures.
func (r Rules) Lookup(tool string) (Definitions, bool) {
	d := r.of(tool)
	return d, d.Figures != nil
}

func (r Rules) of(tool string) Definitions {
	if tool == Pitot || tool == "" {
		return PitotDefinitions()
	}
	i := slices.IndexFunc(r, func(d Definitions) bool { return d.Tool == tool || d.Also == tool })
	if i < 0 {
		return Definitions{Tool: tool}
	}
	return r[i]
}

// Definition is that of a figure in a tool's report.
func (r Rules) Definition(tool, name string) Definition {
	return Definition{ID: tool, Description: r.of(tool).Descriptions[figure.MetricOf(name)]}
}

// Figures are those of a run by the rules of a tool, in one of its forms, "" for the
// run's own or else the newest. A run without records has those that its tool reported,
// and none by other rules; one with undated requests has by other rules only figures that need
// no common clock. Figures that a tool did not measure are left out: see Unmeasured.
func (r Rules) Figures(t *trace.Trace, tool, form string) []trace.ReportedFigure {
	all, _ := r.Measured(t, tool, form)
	return all
}

// Measured are the same, and the names of what was not measured.
func (r Rules) Measured(t *trace.Trace, tool, form string) (figures []trace.ReportedFigure, void []string) {
	all := r.reported(t, tool, form)
	if tool == Pitot || tool == "" {
		return all, nil
	}
	if void = Unmeasured(all); void == nil {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(f trace.ReportedFigure) bool { return slices.Contains(void, f.Name) }), void
}

// reported are those as a tool tells them.
func (r Rules) reported(t *trace.Trace, tool, form string) []trace.ReportedFigure {
	o := t.Run.Origin
	if o != nil && o.Detail != trace.Recorded && o.Tool == tool {
		return o.Figures
	}
	d, ok := r.Lookup(tool)
	if !ok || o != nil && o.Detail != trace.Recorded && o.Detail != trace.Undated {
		return nil
	}
	if form == "" && o != nil && o.Tool == tool {
		form = o.Form
	}
	all := known(&t.Run, len(t.Records), d.Figures(t, form))
	if o != nil && o.Detail == trace.Undated {
		return undated(all)
	}
	return all
}

// Samples are the requests that succeeded, in the order in which they were sent; nil of
// a run without records.
func (r Rules) Samples(t *trace.Trace, tool, form string) []Sample {
	d, ok := r.Lookup(tool)
	if !ok {
		return nil
	}
	out := d.Samples(t, form)
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// A Definition names the rules of a figure. Figures are comparable if their IDs are the same.
type Definition struct {
	ID          string    `json:"id"`             // pitot, vllm, sglang ...
	Description plan.Code `json:"says,omitempty"` // the meaning: the counted items, the first and last instant
}
