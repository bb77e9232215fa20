package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A RuleSource is the tool that defines the figures.
type RuleSource struct {
	Tool string // pitot, vllm, sglang, or the tool that reported them
	Form string // of that tool's report; "" for its only or newest
}

// A ComparedRun is what a comparison keeps of a run: little, however many records it had.
type ComparedRun struct {
	// Variant is the label of the argument that the run came with; "" derives it from
	// headings and names.
	Variant string

	run      trace.Run // without probes
	figures  []runFigure
	requests uint64 // which they were, of a run with records
	keptUp   bool   // its server did with its arrivals
	silent   bool   // it may have had a rate or a limit that its plan does not tell
	toll     failureCount
	answers  *answers.Leg // nil: not to be compared

	unmeasured []string // figures that its tool wrote and did not measure

	facets []Setting // other than the load; from here on, set once all runs are known
	place  int       // among all runs
	load   load      // that it met
	at     int       // the place of its leg in time, counted in legs
	parts  []string  // of its name
}

// A runFigure is a figure of a run, with its definition.
type runFigure struct {
	trace.ReportedFigure
	definition metrics.Definition
	influence  influence // of the requests on it; without a pull where nothing is known of that
	low, high  float64   // bounds with failures counted, of a run that has some
}

// origin is where a run came from: our own have all requests as Pitot recorded them.
func (r *ComparedRun) origin() trace.Origin {
	if r.run.Origin == nil {
		return trace.Origin{Tool: "pitot", Detail: trace.Recorded}
	}
	return *r.run.Origin
}

// HasRecords reports whether a run has its requests, so that figures can be made of
// them by any rules.
func HasRecords(r trace.Run) bool {
	return r.Origin == nil || r.Origin.Detail == trace.Undated || r.Origin.Detail == trace.Recorded
}

// Needed are the rules by which runs must be observed to share a row: Pitot's if all have records,
// else those of the tools that made tables among them.
func Needed(runs []trace.Run, o Options) []RuleSource {
	if o.Tool != "" {
		return []RuleSource{{o.Tool, o.Form}}
	}
	var by []RuleSource
	for _, r := range runs {
		if HasRecords(r) {
			continue
		}
		if _, ok := o.Rules.Lookup(r.Origin.Tool); !ok {
			continue
		}
		if b := (RuleSource{r.Origin.Tool, r.Origin.Form}); !slices.Contains(by, b) {
			by = append(by, b)
		}
	}
	if len(by) == 0 {
		by = []RuleSource{{Tool: "pitot"}}
	}
	return by
}

// Observe keeps of a trace what a comparison by those rules needs. The trace is not
// held on to.
func Observe(t *trace.Trace, by []RuleSource, rules metrics.Rules) ComparedRun {
	r, _ := ObserveRecords(t, metrics.InMemory(t.Records), by, rules) // reading a list has no errors
	_ = r.ObserveAnswers(metrics.InMemory(t.Records))
	return r
}

// ObserveRecords is Observe with records that are read some at a time in place of those of t. By Pitot's rules it holds
// some hundred bytes of each; those of other tools need all at once.
func ObserveRecords(t *trace.Trace, records metrics.Records, by []RuleSource, rules metrics.Rules) (ComparedRun, error) {
	r := ComparedRun{run: t.Run, silent: !reportsLimits(t.Run, rules)}
	r.run.Probes = nil
	if !HasRecords(t.Run) {
		by = []RuleSource{{t.Run.Origin.Tool, t.Run.Origin.Form}}
		r.countFailed()
	}
	seen := newCensus(t.Run)
	for _, b := range by {
		o, err := observe(t, seen.count(records), b, rules)
		if err != nil {
			return r, err
		}
		r.run.Notes, r.run.Verdict = t.Run.Notes, t.Run.Verdict // they say what could not be read
		if HasRecords(t.Run) {
			r.requests, r.keptUp, r.toll = seen.fingerprint.Sum64(), seen.keepsUp(), seen.toll
		}
		o.figures, r.unmeasured = r.withFailed(o.figures), append(r.unmeasured, o.void...)
		influences, err := o.requests.influences(t, o.pools, o.figures)
		if err != nil {
			return r, err
		}
		all := make([]runFigure, len(o.figures))
		for i, f := range o.figures {
			all[i] = runFigure{
				ReportedFigure: f, definition: rules.Definition(b.Tool, f.Name), influence: influences[f.Name],
			}
		}
		if err := r.countFailures(seen, all, o.pools); err != nil {
			return r, err
		}
		for _, f := range all {
			r.add(f)
		}
	}
	return r, nil
}

// most is beyond what any figure can be, so that sums of squares do not overflow.
const most = 1e100

// add keeps the first figure of a name and a definition: forms of a tool share most.
// NaN, which some tools write, and impossible values are left out.
func (r *ComparedRun) add(f runFigure) {
	if r.figure(f.Name, f.definition.ID) == nil && math.Abs(f.Value) < most {
		r.figures = append(r.figures, f)
	}
}

// figure is the one of a name and a definition, nil if the run has none.
func (r *ComparedRun) figure(name, definition string) *runFigure {
	for i, f := range r.figures {
		if f.Name == name && f.definition.ID == definition {
			return &r.figures[i]
		}
	}
	return nil
}
