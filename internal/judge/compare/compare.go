package compare

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Compare decides what the differences between variants are. Runs are in the order in
// which they were named or stand in a file; variants follow it.
func Compare(runs []ComparedRun, o Options) (Comparison, error) {
	o = o.withDefaults()
	if err := o.Validate().Err(); err != nil {
		return Comparison{}, err
	}
	if len(runs) == 0 {
		return Comparison{}, errors.New("there are no runs to compare")
	}
	all, ignore := make([]*ComparedRun, len(runs)), make([]string, len(o.Ignore))
	for i, r := range runs {
		r.facets = r.settings()
		all[i] = &r
	}
	for i, name := range o.Ignore {
		ignore[i] = canonical(name)
	}
	if err := checkIgnore(all, ignore); err != nil {
		return Comparison{}, err
	}
	o.Ignore = ignore
	o.levels = map[float64]float64{}
	if err := checkKinds(all, o.Predicted); err != nil {
		return Comparison{}, err
	}
	byLegs, voids, rest := byLeg(all)
	if len(byLegs) == 0 && len(rest) == 0 {
		return Comparison{}, ErrAllVoid
	}
	tables, err := split(byLegs, rest, o)
	if err == nil {
		err = checkPools(tables)
	}
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Level: o.Level, Margin: o.Margin}
	for _, t := range tables {
		if err := t.fill(); err != nil {
			return Comparison{}, err
		}
	}
	checkClaims(tables)
	for _, t := range tables {
		t.out.Objectives = t.objectives()
		c.Workloads = append(c.Workloads, t.out)
	}
	for _, v := range voids {
		c.Notes = append(c.Notes, plan.Msg("compare.void-legs", "runs", v.runs, "why", v.why))
	}
	c.notes(tables, o.Ignore)
	c.Conclude()
	c.Gates, err = judgeGates(tables, o)
	return c, err
}

// split puts runs into workloads and variants: legs as their experiments say, others by load
// and name.
func split(byLegs []*legs, rest []*ComparedRun, o Options) (tables []*table, err error) {
	for _, l := range byLegs {
		tables = append(tables, splitLegs(l, workloadsOf(byLegs, l.experiment), o))
	}
	groups := groups(rest, o.Ignore)
	nameParts(rest)
	groups = sections(groups)
	elsewhere, common := distinguishing(groups), common(groups)
	o.Looks = Looks{}
	for _, g := range groups {
		t := &table{o: o, runs: g}
		t.out.Name, t.order = g.split(elsewhere, common)
		tables = append(tables, t)
	}
	for _, t := range tables {
		t.base = chooseBaseline(t.order, o.Baseline)
		baseline := t.order[t.base.index]
		t.variants = append([]*variant{baseline}, slices.DeleteFunc(slices.Clone(t.order), func(v *variant) bool { return v == baseline })...)
		for i, v := range t.variants {
			v.column = i
			v.once()
		}
		t.layOut()
	}
	return tables, checkBaseline(tables, o.Baseline)
}

// A table is a workload in the making.
type table struct {
	o        Options
	runs     group
	variants []*variant // the baseline first
	order    []*variant // as they came
	base     choice
	lines    []*entry // the rows of out
	out      Workload

	legs    *legs                  // nil of runs without a place in an experiment
	graded  map[int][]*answers.Leg // by the column of a variant, with those of the baseline
	share   int                    // of how many workloads its level is
	units   []*unit
	designs map[string]*stats.Design
}

// An entry is a row in the making.
type entry struct {
	Row
	plain   bool     // it is compared on the plain scale
	samples []sample // by variant
	pool    *noise   // of them; nil until asked for
}

// A sample is a figure of a variant, by run.
type sample struct {
	runs    []*ComparedRun
	figures []*runFigure
	values  []float64
	scaled  []float64 // on the scale on which they are compared
}

// fill computes the table.
func (t *table) fill() error {
	if err := t.checkSizes(); err != nil {
		return err
	}
	if err := t.checkPairs(); err != nil && t.out.Layout == nil {
		return err
	}
	t.out.Settings, t.out.SettingDiffs = t.runs.settings(), settingDiffs(t.variants, t.o)
	around := envDiffs(t.variants, t.o)
	t.out.SettingDiffs = append(t.out.SettingDiffs, around.diffs...)
	t.out.Further, t.out.Idle = around.further, around.idle
	for _, v := range t.variants {
		out := Variant{Name: v.name, Simulated: v.runs[0].simulated(), Failed: v.failing().share()}
		for _, r := range v.runs {
			out.Runs = append(out.Runs, r.ref())
		}
		t.out.Variants = append(t.out.Variants, out)
	}
	t.rows()
	for _, l := range t.lines {
		t.center(l)
	}
	for _, v := range t.variants[1:] {
		if t.out.Layout == nil {
			v.order = orderOf(t.variants[0], v)
			v.sessions = t.sessions(t.variants[0], v)
		}
		t.changes(v)
		t.judgeAnswers(v)
	}
	for i, l := range t.lines {
		t.shifts(l, &t.out.Rows[i])
	}
	t.notes()
	return nil
}

func (t *table) checkPairs() error {
	var p plan.Problems
	base := t.variants[0]
	for _, v := range t.variants[1:] {
		p.If(t.o.Paired && len(v.runs) != len(base.runs), "paired", nil,
			"%s has %d runs and %s has %d; pairs need as many of each", base.name, len(base.runs), v.name, len(v.runs))
	}
	return p.Err()
}

func (r *ComparedRun) ref() Ref {
	o := r.origin()
	ref := Ref{Kind: r.run.Kind, ID: r.run.ID, Name: r.run.Name, File: o.File, Line: o.Line, Tool: o.Tool, Detail: o.Detail, Repeat: o.Repeat}
	if o.Note != nil {
		ref.Note = o.Note.ID
	}
	if v := r.run.Verdict; v != nil {
		ref.Verdict = v.Validity
	}
	if l := r.run.Leg; l != nil {
		ref.Leg = l.Called()
	}
	return ref
}

// rows lists what any run has, quantities in the order of the first run that has
// them, their definitions side by side.
func (t *table) rows() {
	for _, v := range t.variants {
		for _, r := range v.runs {
			for _, f := range r.figures {
				t.enter(f)
			}
		}
	}
	for _, l := range t.lines {
		var all []float64
		for _, v := range t.variants {
			s, step := l.sample(v)
			l.samples, all = append(l.samples, s), append(all, s.values...)
			l.Cells = append(l.Cells, Cell{Values: s.values, Step: step})
		}
		// Counts that may be 0 have no logarithm.
		l.Input = t.input(l.Quantity)
		l.Constant, l.plain = equalCounts(l.Quantity.Unit, all), l.Quantity.Name == figure.RequestsFailed || l.Quantity.Name == figure.SLOAttainment || slices.Min(all) <= 0
		for i := range l.samples {
			l.samples[i].scaled = scaled(l.samples[i].values, l.plain)
		}
		t.out.Rows = append(t.out.Rows, l.Row)
	}
}

// enter makes the row of a figure, if there is none.
func (t *table) enter(f runFigure) {
	at := len(t.lines)
	for i, l := range t.lines {
		if l.Quantity.Name == f.Name {
			if at = i + 1; l.Definition.ID == f.definition.ID {
				return
			}
		}
	}
	t.lines = slices.Insert(t.lines, at, &entry{Row: Row{Quantity: figure.Lookup(f.Name), Definition: f.definition}})
}

// sample is what a variant has of the row, with what one in the last printed digit of
// the coarsest value is worth.
func (l *entry) sample(v *variant) (s sample, step float64) {
	for _, r := range v.runs {
		if f := r.figure(l.Quantity.Name, l.Definition.ID); f != nil {
			s.runs, s.figures, s.values = append(s.runs, r), append(s.figures, f), append(s.values, f.Value)
			step = max(step, f.Step)
		}
	}
	return s, step
}

// equalCounts reports whether values are counts, all the same: then there is nothing to
// find out about their difference.
func equalCounts(unit figure.Unit, values []float64) bool {
	return unit.IsCount() && slices.Min(values) == slices.Max(values)
}

// changes fills in those of a variant against the baseline.
func (t *table) changes(v *variant) {
	for i, c := range t.settled(t.variants[0], v) {
		if gradedFigures[t.lines[i].Quantity.Name] == nil {
			t.lines[i].Cells[v.column].Change = c
		}
	}
}

// Options are what may be asked of a comparison. The zero value is useful.
type Options struct {
	Level  float64 // of intervals, and one less the rate of false alarms; 0 for 0.95
	Margin float64 // relative; differences below it are of no interest; 0 for 0.02
	Power  float64 // with which further runs should settle a change; 0 for 0.8

	Baseline   string   // the variant to compare with; "" for the one named like one, or the first
	Paired     bool     // the i-th runs of two variants belong together
	SingleRuns bool     // let the chance within single runs decide, though they may differ from run to run
	NoAnswers  bool     // leave out whether answers changed, and accuracy
	NotWorse   float64  // the loss of accuracy that is accepted, as a share of 1; 0 for none
	Predicted  bool     // simulated runs may be compared with measured ones, as separate variants
	Ignore     []string // settings that neither separate workloads nor are listed

	Tool, Form string // the rules that make figures of records; "" for those of Needed
	Gates      []Gate
	Order      []string // names of the variants of an experiment, as they stand in its file
	Same       bool     // the variants of an experiment differ in their names only (A/A)
	Looks      Looks    // at an experiment that is not at its end; legs that confirm a choice are judged once

	Rules metrics.Rules // of the other tools that compute figures from records

	// Past are the stored runs of the server, the model and the load that all of some runs have;
	// none if these differ. Some may be of those runs. nil: unknown.
	Past func(of []trace.Run) []Past

	levels map[float64]float64 // of this look, by what all looks together keep
}

// The defaults of Options.
const (
	DefaultLevel  = 0.95
	DefaultMargin = 0.02
	DefaultPower  = 0.8
)

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, DefaultLevel)
	o.Margin = cmp.Or(o.Margin, DefaultMargin)
	o.Power = cmp.Or(o.Power, DefaultPower)
	return o
}

// Validate reports everything that is wrong.
func (o Options) Validate() (p plan.Problems) {
	o = o.withDefaults()
	p.If(!(o.Level > 0.5 && o.Level < 1), "level", o.Level, "must be more than 0.5 and less than 1, such as 0.95")
	p.If(!(o.Margin > 0 && o.Margin < 1), "margin", o.Margin, "must be between 0 and 1; 0.02 is 2 %%")
	p.If(!(o.NotWorse >= 0 && o.NotWorse < 1), "not_worse", o.NotWorse, "must be between 0 and 100pt, such as 1pt")
	p.If(o.Looks.Most > 1 && (o.Looks.Done < 1 || o.Looks.Done > o.Looks.Most), "looks", o.Looks.Done, "must be from 1 to %d, the number of looks", o.Looks.Most)
	p.If(!(o.Power > 0 && o.Power < 1), "power", o.Power, "must be between 0 and 1, such as 0.8")
	return p
}

// alpha is the rate of false alarms, without the dust of the subtraction: shares of
// arrangements may equal it.
func (o Options) alpha() float64 { return math.Round(1e12*(1-o.Level)) / 1e12 }
