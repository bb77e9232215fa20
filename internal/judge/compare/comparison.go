// Package compare decides how variants differ, as far as their runs support a decision.
//
//	runs ──> Observe ──> Compare ──┬─ by workload: settings that make a load
//	                               ├─ rows: one metric by one definition
//	                               ├─ columns: variants, the baseline first
//	                               └─ a Change in each cell but the baseline's
//
// Needed gives the rules for Observe. Traces are observed one by one, so that only one is in
// memory:
//
//	by := compare.Needed(runs, options)
//	for each trace { r := compare.Observe(t, by); r.Variant = "A"; observed = append(observed, r) }
//	c, err := compare.Compare(observed, options)
//
// What a change rests on is its Basis, and a verdict never claims more than that:
//
//	Blocks      legs of an experiment: noise between server starts, or legs, is measured in blocks
//	Replicates  several runs of both: noise from run to run is measured
//	Pairs       the same, run by run
//	Borrowed    the noise that other variants of the workload show when repeated
//	Within      one run each, with records: chance within the runs, no more
//	Nothing     two numbers
//
// Relative changes are compared on the scale of logarithms, where noise of a few
// percent is the same size whatever the load: a change is the ratio of geometric means.
// Figures are of the answered requests. Where many of one side failed, a verdict has to hold with
// the failures counted as well: see withFailures.
//
// Better or worse is decided by p-values that are corrected over the judged metrics of a
// variant; intervals are each metric's own. So with one variant a false alarm in any metric
// is as rare as the level says; with several it is in each. A metric is not judged where it
// describes the load, as tokens and concurrency do, or follows from it: see Row.Input.
//
// For several runs the test of each metric is Student's t, with a variance for each variant and one
// ratio of variances for all metrics (stats.FamilyRatio). It is corrected by rotating the runs in
// all directions (stats.Rotation), which assumes normal noise on that scale, and allows for pairs
// that are nearly one metric, such as mean and median TTFT, or throughput and duration. From five
// runs of each on, and for unequal numbers, a permutation of runs is a second test. It assumes
// equal variances and no distribution: a few runs that are on one of two levels by chance show next
// to no noise. The larger P counts. Of pairs, from eight on, signs are exchanged instead.
//
// With few runs a second figure of the metric has to change, too (WitnessMissing). Where one run
// borrows the noise of others, Student's t with Holm's correction is all there is: a metric that
// jumps between two values, as a P99 of gaps does, then fools it more often than the level says.
//
// All of that assumes that runs could have come in any order. An Order reports that they could not.
//
// In an experiment (trace.Run.Leg) the level holds over all figures, variants, workloads and
// looks. The replicate of a variant is the server start, whatever the number of its runs, or
// the leg where servers stay up; see package stats, Blocks, for the model, which is tested by
// rotation as above. Each variant has its own family and its share of the level: if all were
// rotated together, a true effect of one variant would make figures look perfectly
// correlated, and chance in another variant would pass for an effect.
package compare

import (
	"iter"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Comparison is all that was found out.
type Comparison struct {
	Level  float64 `json:"level"`  // of intervals, and one less the rate of false alarms: 0.95
	Margin float64 `json:"margin"` // relative; differences below it are of no interest: 0.02
	// UsualNoise is what runs of a server that is left alone seldom exceed, as a relative
	// standard deviation from run to run.
	UsualNoise float64 `json:"usual_noise"`
	// Enough is how many runs of each variant make it possible to tell anything of a figure
	// that moves alone.
	Enough    int            `json:"enough_runs"`
	Workloads []Workload     `json:"workloads"`
	Gates     []GateResult   `json:"gates,omitempty"`
	Notes     []plan.Message `json:"notes,omitempty"` // on the comparison
}

// Experiment is the name of the one that made all of it; "" if none did.
func (c Comparison) Experiment() (name string) {
	for i, w := range c.Workloads {
		if w.Layout == nil || i > 0 && w.Layout.Experiment != name {
			return ""
		}
		name = w.Layout.Experiment
	}
	return name
}

// SameVariants reports whether that was an A/A experiment.
func (c Comparison) SameVariants() bool {
	return c.Experiment() != "" && c.Workloads[0].Layout.Same
}

// A Workload is a load that variants met.
type Workload struct {
	Name         string        `json:"name"`             // headings or words that its runs share; may be empty
	Settings     []Setting     `json:"settings"`         // what tells it from other workloads
	Variants     []Variant     `json:"variants"`         // the baseline first
	Layout       *Layout       `json:"layout,omitempty"` // of an experiment with several blocks or legs; nil of other runs
	SettingDiffs []SettingDiff `json:"residue,omitempty"`
	// Further is how many facts of the environments differ in addition to SettingDiffs.
	Further int `json:"residue_further,omitempty"`
	// Idle is how many variables differ that never matter: they are in none of both.
	Idle       int            `json:"residue_idle,omitempty"`
	Rows       []Row          `json:"rows"`
	Objectives *Objectives    `json:"objectives,omitempty"` // nil without any, and where those of the runs differ
	Claims     []ClaimCheck   `json:"claims,omitempty"`
	Notes      []plan.Message `json:"notes,omitempty"` // what the data can carry
}

// Changes are those of a workload, each with its row.
func (w Workload) Changes() iter.Seq2[Row, *Change] {
	return func(yield func(Row, *Change) bool) {
		for _, r := range w.Rows {
			for _, c := range r.Cells {
				if c.Change != nil && !yield(r, c.Change) {
					return
				}
			}
		}
	}
}

// Differs reports whether there is a difference by the verdict on any change.
func (w Workload) Differs() bool {
	for _, c := range w.Changes() {
		if c.Verdict.Differs() {
			return true
		}
	}
	return false
}

// Kinds are the names of the variants that were simulated, each once, and whether others were
// measured.
func (c Comparison) Kinds() (simulated []string, measured bool) {
	for _, w := range c.Workloads {
		for _, v := range w.Variants {
			switch {
			case !v.Simulated:
				measured = true
			case !slices.Contains(simulated, v.Name):
				simulated = append(simulated, v.Name)
			}
		}
	}
	return simulated, measured
}

// A Setting is part of a run's plan.
type Setting struct {
	Name  string       `json:"name"`
	Value plan.Message `json:"value"`
}

// A Variant is one side of a comparison, with its runs.
type Variant struct {
	Name string `json:"name"`
	Runs []Ref  `json:"runs"` // in the order of their start, or of their place in a file
	// Simulated: its runs are of an engine model, and no server was measured. Runs of both kinds
	// are never in one variant.
	Simulated bool `json:"simulated,omitempty"`
	// Order is how its runs lie in time among those of the baseline; nil where that is not known.
	Order *Order `json:"order,omitempty"`
	// Failed is the share of the requests sent that its servers failed.
	Failed float64 `json:"failed,omitempty"`
	// Tally is what its changes come to; nil of the baseline.
	Tally *Tally `json:"tally,omitempty"`
	// Answers are its answers beside those of the baseline; nil where they cannot be compared.
	Answers *answers.Result `json:"answers,omitempty"`
	// Graded is its accuracy beside that of the baseline; nil without graded answers.
	Graded *answers.Graded `json:"graded,omitempty"`
	// Together is what load and answers come to; nil where nothing can be said of one of them.
	Together *Together `json:"together,omitempty"`
}

// A Ref says which run it is.
type Ref struct {
	ID      string         `json:"id"`
	Name    string         `json:"name,omitempty"`
	File    string         `json:"file,omitempty"`
	Line    int            `json:"line,omitempty"`
	Note    string         `json:"-"` // ID of the text that it stands in; empty: not known
	Kind    trace.RunKind  `json:"kind,omitempty"`
	Tool    string         `json:"tool"`   // the tool that defines its figures: pitot for records
	Detail  trace.Detail   `json:"detail"` // Recorded for our own runs
	Verdict trace.Validity `json:"verdict,omitempty"`
	Leg     int            `json:"leg,omitempty"` // of an experiment: the position of its leg
	// Repeat: a label in the note counts it among repeated runs of its variant.
	Repeat bool `json:"repeat,omitempty"`
}

// SettingDiff is a setting other than the variant in which the runs of a workload differ.
type SettingDiff struct {
	Setting string           `json:"setting"`
	Values  [][]plan.Message `json:"values"` // by variant: those of its runs; none if unknown
}

// A Row is one metric by one definition.
type Row struct {
	Quantity   figure.Figure      `json:"quantity"`
	Definition metrics.Definition `json:"definition"`
	// Rank is its place among the figures that people look at first, from 1 on; 0 of others.
	Rank int `json:"rank,omitempty"`
	// Constant means that it is a count and the same in every run: it describes the
	// load, or a failure that nobody had.
	Constant bool `json:"constant,omitempty"`
	// Input means that it describes the load or follows from it, so that no change of it is
	// better or worse: it has no direction, the load differs in a setting that makes it, or
	// all servers kept up with the arrivals, which then determined the throughput.
	Input bool `json:"input,omitempty"`
	// Drift, of an experiment, is the change of the figure from one leg to the next within blocks;
	// Spread is its variation without any change.
	Drift  *Shift  `json:"drift,omitempty"`
	Spread *Spread `json:"spread,omitempty"`
	Cells  []Cell  `json:"cells"` // by variant
}

// A Cell is a metric of a variant.
type Cell struct {
	Values []float64 `json:"values,omitempty"` // of the runs that have it; empty if none has
	Center float64   `json:"center"`           // geometric mean, the base of changes; mean where changes are plain
	// Step is what one in the last printed digit of the coarsest of Values is worth, in
	// the same unit; 0 for numbers in full.
	Step     float64   `json:"step,omitempty"`
	Interval *Interval `json:"interval,omitempty"`
	Change   *Change   `json:"change,omitempty"` // against the baseline; nil there, and where one of them has no value
}

// An Interval holds the truth with a probability of its level.
type Interval struct {
	Low    float64      `json:"low"`
	High   float64      `json:"high"`
	Level  float64      `json:"level"`
	Method plan.Message `json:"method,omitzero"`
}

// A Change is by how much a variant differs from the baseline.
type Change struct {
	// Relative is the ratio of the geometric means of both, less 1: 0.034 is 3.4 % more.
	Relative float64 `json:"relative"`
	// Plain means that Relative, Interval, Bound and Noise are differences in the unit of
	// the row instead: of counts that may be 0, such as failed requests, and of the share that met the objectives.
	Plain    bool         `json:"plain,omitempty"`
	Interval *Interval    `json:"interval,omitempty"` // of Relative
	Basis    Basis        `json:"basis"`
	Test     plan.Message `json:"test,omitzero"`
	P        *float64     `json:"p,omitempty"`        // of no difference, of this metric alone
	Adjusted *float64     `json:"adjusted,omitempty"` // corrected over the metrics
	Verdict  Verdict      `json:"verdict"`
	// Open is what keeps a difference that the numbers alone would give from being a verdict, or
	// of NeverAnswered why it is one.
	Open plan.Message `json:"open,omitzero"`
	// Tentative: both are of different sessions, and how much these differ is in no interval.
	Tentative bool `json:"tentative,omitempty"`
	// Bound is the X of `no difference larger than X`: what the difference is smaller
	// than at the level; 0 where there is no interval.
	Bound float64 `json:"bound,omitempty"`
	// Small: there is a difference by the verdict, and it is smaller than the margin.
	Small bool `json:"small,omitempty"`
	// Unproven: counts of single runs are equal, which others need not be.
	Unproven bool `json:"unproven,omitempty"`
	// ExcludesZero, of basis Within: the interval does not hold 0. It is no verdict.
	ExcludesZero bool `json:"apart,omitempty"`
	// Noise is the relative standard deviation from run to run, of the basis.
	Noise float64 `json:"noise,omitempty"`
	// Chance, of bases Nothing and Within, is the relative standard deviation from run
	// to run from which on chance alone would often make such a change, at the level. It
	// is a difference if runs vary by less than that, which is not known. 0 where no
	// server's runs vary so little.
	Chance float64 `json:"chance,omitempty"`
	// Unusual, of basis Nothing: noise of the usual size would not make such a change.
	Unusual bool `json:"unusual,omitempty"`
	// Order, of an experiment, is by how much the change is larger in blocks in which the
	// baseline came first than in others; nil where there are not both.
	Order *Shift `json:"order,omitempty"`
	// More is how many further runs of each, or of basis Blocks how many further legs of each
	// in full blocks, would settle a change of the size seen; 0 where none are needed or
	// unknown.
	More int `json:"more,omitempty"`
	// Effective is how many independent requests those of a run are worth, of basis
	// Within: the smaller of the two.
	Effective float64 `json:"effective,omitempty"`
}

// A Basis is what a change rests on.
type Basis string

// The bases, best first.
const (
	Blocks     Basis = "blocks"
	Replicates Basis = "runs"
	Pairs      Basis = "pairs"
	Borrowed   Basis = "borrowed"
	Within     Basis = "within"
	Nothing    Basis = "none"
)

// A Verdict is what a change amounts to.
type Verdict string

// The verdicts.
const (
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Same       Verdict = "same" // no difference larger than the margin
	CannotTell Verdict = "cannot tell"
	NotJudged  Verdict = "not judged" // it describes the load, or follows from it
)

// A ClaimCheck holds what an author stated against the figures.
type ClaimCheck struct {
	Claim   trace.Claim `json:"claim"`
	File    string      `json:"file"`
	Variant string      `json:"variant"` // the one that it means: of the table next to it, or that it names
	// Meanings is how many variants it may mean; more than 1 where neither its place nor its words tell.
	Meanings int `json:"meanings,omitempty"`
	// Matches are the changes in the tables that come nearest to it, the best first:
	// against the baseline always, against others where they are what was stated.
	Matches []ClaimMatch `json:"matches"`
	// Agrees: the first match is the stated change, to its last digit.
	Agrees bool `json:"agrees"`
	// Stands: the match is a difference by the verdict, not only by the numbers.
	Stands bool `json:"stands"`
}

// Outcome is Fail only where it is known that a claim does not stand: where noise is
// not known it is open, whatever the numbers.
func (c ClaimCheck) Outcome() Outcome {
	switch {
	case c.Stands:
		return Pass
	case len(c.Matches) == 0 || c.Matches[0].Verdict == CannotTell:
		return Inconclusive
	}
	return Fail
}

// A ClaimMatch is a change that a claim may mean.
type ClaimMatch struct {
	Against    string    `json:"against"` // a variant
	Name       string    `json:"name"`    // of the quantity: ttft.mean
	Relative   float64   `json:"relative"`
	Difference float64   `json:"difference"` // in the unit of the quantity
	Verdict    Verdict   `json:"verdict"`
	Basis      Basis     `json:"basis"`
	Interval   *Interval `json:"interval,omitempty"`
}

// A Gate is a condition under which a change must not be accepted, such as
// `ttft.mean > +2%` or `itl.p99 > 80ms`.
type Gate struct {
	Text     string `json:"text"`
	Name     string `json:"name"` // of a quantity
	Above    bool   `json:"above"`
	Relative bool   `json:"relative"` // Limit is of the change, not of the value
	// Points: Limit is of the change of a share, 0.01 for one point.
	Points bool    `json:"points,omitempty"`
	Limit  float64 `json:"limit"`
}

// A GateResult is what became of a gate in one workload and variant.
type GateResult struct {
	Gate     Gate    `json:"gate"`
	Workload string  `json:"workload"`
	Variant  string  `json:"variant"`
	Outcome  Outcome `json:"outcome"`
	Value    float64 `json:"value"` // the change, or the value
	// Plain means that the change is a difference in the unit of the figure, where no percentage
	// can be given.
	Plain    bool         `json:"plain,omitempty"`
	Interval *Interval    `json:"interval,omitempty"`
	Why      plan.Message `json:"why"`
	// Predicted: among measured runs it is of simulated ones, or of a change against those.
	Predicted bool `json:"predicted,omitempty"`
}

// An Outcome is how a gate ends.
type Outcome string

// The outcomes.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive"
)
