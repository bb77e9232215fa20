package metrics

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Definitions are the rules of a tool: how it makes figures of what happened.
type Definitions struct {
	Tool string
	// Figures are those of a run with records, in a form of the tool's report, "" for
	// the newest; Samples are its requests that succeeded.
	Figures func(t *trace.Trace, form string) []trace.Figure
	Samples func(t *trace.Trace, form string) []Sample
	// TellsLimits reports whether a rate and a limit on concurrency that an imported
	// report does not have mean that there was none.
	TellsLimits func(o *trace.Origin) bool
	// Native is the protocol of a measurement that does not say which it was.
	Native string
}

// Version is that of Pitot's own definitions: figures that were computed by another are to
// be computed again.
const Version = "1"

// Own are Pitot's.
func Own() Definitions {
	return Definitions{
		Tool:    "pitot",
		Figures: func(t *trace.Trace, _ string) []trace.Figure { return Summarize(t, Options{}).figures() },
		Samples: func(t *trace.Trace, _ string) []Sample { return OwnSamples(t) },
		Native:  "completions",
	}
}

// Rules are the definitions of some tools. Pitot's own are always among them.
type Rules []Definitions

// Of are the definitions of a tool; false for one whose figures nobody but itself can
// compute.
func (r Rules) Of(tool string) (Definitions, bool) {
	if tool == "pitot" || tool == "" {
		return Own(), true
	}
	i := slices.IndexFunc(r, func(d Definitions) bool { return d.Tool == tool })
	if i < 0 {
		return Definitions{Tool: tool}, false
	}
	return r[i], true
}

// Figures are those of a run by the rules of a tool, in one of its forms, "" for the
// run's own or else the newest. A run without records has those that its tool reported,
// and by other rules none; one whose requests are undated has by other rules only what
// does not need a common clock.
func (r Rules) Figures(t *trace.Trace, tool, form string) []trace.Figure {
	o := t.Run.Origin
	if o != nil && o.Detail != trace.Recorded && o.Tool == tool {
		return o.Figures
	}
	d, ok := r.Of(tool)
	if !ok || o != nil && o.Detail != trace.Recorded && o.Detail != trace.Undated {
		return nil
	}
	if form == "" && o != nil && o.Tool == tool {
		form = o.Form
	}
	all := d.Figures(t, form)
	if o != nil && o.Detail == trace.Undated {
		return undated(all)
	}
	return all
}

// Samples are the requests that succeeded, in the order in which they were sent; nil of
// a run without records.
func (r Rules) Samples(t *trace.Trace, tool, form string) []Sample {
	d, ok := r.Of(tool)
	if !ok {
		return nil
	}
	out := d.Samples(t, form)
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(a.Start, b.Start) })
	return out
}
