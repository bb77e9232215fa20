package comparison

import (
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Answer is a comparison for the page: all that there is to show, in words and numbers, each row
// with its place. What was asked, the command and the distributions are not part of it.
func Answer(c compare.Comparison, l *words.Language, advice []string) view.Comparison {
	w := NewPhrases(c, l)
	overall := doc.Line{Label: w.Word("summary.verdict"), Text: w.overall(), Tone: w.overallTone()}
	if w.AA() && len(c.Gates) == 0 {
		overall.Text, overall.Tone = w.amongTheSame()
	}
	out := view.Comparison{
		Experiment: c.Experiment(), Overall: said(overall)[0], Verdict: said(w.verdictLines(advice)...), Notes: said(w.notes()...),
		Marks: said(w.legend(c, true)...), Level: c.Level, Margin: c.Margin, Loads: []view.ComparedLoad{}, Gates: []view.Gate{},
	}
	if simulated, measured := c.Kinds(); simulated != nil && measured {
		out.Simulated = w.Kinds()
	}
	for i, load := range c.Workloads {
		out.Loads = append(out.Loads, w.answer(load, i, requestedFigures(c, load)))
	}
	for _, g := range c.Gates {
		out.Gates = append(out.Gates, view.Gate{
			Text: doc.Clean(g.Gate.Text), Load: doc.Clean(g.Workload), Variant: doc.Clean(g.Variant), Outcome: string(g.Outcome),
			Title: w.Word(plan.Code("outcome." + string(g.Outcome))), Reason: w.gateSaid(g), Tone: string(toneOf[g.Outcome]),
		})
	}
	return out
}

// answer is a workload for the page. asked are the figures that somebody asks for.
func (w Phrases) answer(load compare.Workload, number int, asked []string) view.ComparedLoad {
	out := view.ComparedLoad{
		Name: w.LoadName(load, number), Further: load.Further, Idle: load.Idle, Notes: said(append(nonempty(w.line("label.tables", w.tablePlaces(load))), w.remarks(load, load.Rows)...)...),
		Results: []view.Said{}, Claims: said(w.claims(load)...), Variants: []view.ComparedVariant{}, Differs: []view.Difference{}, Overlays: []view.Overlay{},
	}
	if doc.Clean(load.Name) != "" {
		out.Settings = doc.Clean(w.load(load.Settings))
	}
	for _, v := range load.Variants {
		out.Variants = append(out.Variants, w.variant(v))
	}
	if !inHeadline(load) {
		out.Results = said(w.results(load)...)
	}
	for _, r := range load.SettingDiffs {
		out.Differs = append(out.Differs, view.Difference{Name: doc.Clean(w.setting(r.Setting)), Values: w.values(r)})
	}
	out.Results = append(out.Results, said(w.objectives(load)...)...)
	out.Rows = w.answerRows(load, asked)
	return out
}

func (w Phrases) variant(v compare.Variant) view.ComparedVariant {
	out := view.ComparedVariant{
		Name: doc.Clean(v.Name), Simulated: v.Simulated, Size: w.Runs(v),
		Runs: []view.ComparedRun{},
	}
	for _, r := range v.Runs {
		out.Runs = append(out.Runs, view.ComparedRun{
			ID: r.ID, Name: doc.Clean(r.Name), Validity: string(r.Verdict),
			Leg: r.Leg,
		})
	}
	return out
}

// answerRows are all rows: those that people look at first are told from the rest, from
// percentiles below the P99, and from what is alike everywhere.
func (w Phrases) answerRows(load compare.Workload, asked []string) []view.ComparedRow {
	_, alike, further := divide(load, false, asked)
	is := func(rows []compare.Row, r compare.Row) bool {
		return slices.ContainsFunc(rows, func(o compare.Row) bool {
			return o.Quantity.Name == r.Quantity.Name && o.Definition.ID == r.Definition.ID
		})
	}
	out, ids := []view.ComparedRow{}, definitionIDs(load.Rows)
	for i, row := range w.rows(load, load.Rows) {
		r, place := load.Rows[i], "more"
		switch {
		case is(alike, r):
			place = "alike"
		case is(further, r):
			place = "percentile"
		case r.Rank > 0 && !r.Input:
			place = "main"
		}
		one := view.ComparedRow{
			Name: r.Quantity.Name, Title: w.Title(r.Quantity), Unit: scaleOf(r).unit,
			Mark: slices.Index(ids, r.Definition.ID), Place: place, Cells: []view.ComparedCell{},
			Better: map[figure.Direction]string{figure.Lower: "lower", figure.Higher: "higher"}[r.Quantity.Better],
		}
		for k, c := range row.Cells {
			var change *compare.Change
			if k < len(r.Cells) {
				change = r.Cells[k].Change
			}
			one.Cells = append(one.Cells, w.answerCell(c, change))
		}
		out = append(out, one)
	}
	return out
}

func (w Phrases) answerCell(c doc.Cell, of *compare.Change) view.ComparedCell {
	out := view.ComparedCell{
		Value: c.Value, ValueRange: c.ValueRange, Change: c.Change, Interval: c.Interval,
		Verdict: c.Verdict, Tone: string(c.Tone), Why: c.Why,
	}
	if of == nil {
		return out
	}
	out.Kind, out.Basis = string(of.Verdict), w.Word(plan.Code("basis."+string(of.Basis)))
	if of.Unproven {
		out.Kind = string(compare.CannotTell)
	}
	if of.Plain || !finite(of.Relative) || of.Open.Code == compare.NeverAnswered {
		return out
	}
	out.Relative = &of.Relative
	if i := of.Interval; i != nil && finite(i.Low, i.High) {
		out.Low, out.High = &i.Low, &i.High
	}
	return out
}

// said are lines for the page.
func said(lines ...doc.Line) []view.Said {
	out := []view.Said{}
	for _, l := range lines {
		out = append(out, view.Said{Label: l.Label, Text: l.Text, Tone: string(l.Tone)})
	}
	return out
}

// amongTheSame is the verdict of an A/A experiment: nothing, or a false alarm.
func (w Phrases) amongTheSame() (string, doc.Tone) {
	for _, load := range w.c.Workloads {
		if load.Differs() {
			return w.Word("verdict.alarm"), doc.Unclear
		}
	}
	return w.Word("verdict.none"), doc.Neutral
}

// overallTone is how to take the verdict in a word.
func (w Phrases) overallTone() doc.Tone {
	if len(w.c.Gates) > 0 {
		return toneOf[inGravity(w.c.Gates)[0].Outcome]
	}
	switch overallCode(w.settledVerdicts()) {
	case "change.worse":
		return doc.Bad
	case "change.better":
		return doc.Good
	case "summary.unknown":
		return doc.Unclear
	}
	return doc.Neutral
}

// mostCurves is how many lines of an overlay can be told apart. Of more runs, each variant is one
// line.
const mostCurves = 24

// Overlays are the distributions of latencies of all variants of a workload, of runs whose
// latencies are known, by id.
func Overlays(load compare.Workload, latencies map[string]plot.Latencies, l *words.Language) []view.Overlay {
	runs := 0
	for _, v := range load.Variants {
		runs += len(v.Runs)
	}
	apart := load.Layout == nil && runs <= mostCurves
	out := []view.Overlay{}
	for _, kind := range []struct {
		name string
		of   func(plot.Latencies) plot.Quantiles
	}{
		{"ttft", func(l plot.Latencies) plot.Quantiles { return l.TTFT }},
		{"itl", func(l plot.Latencies) plot.Quantiles { return l.ITL }},
		{"tpot", func(l plot.Latencies) plot.Quantiles { return l.TPOT }},
		{"e2el", func(l plot.Latencies) plot.Quantiles { return l.E2EL }},
	} {
		o := view.Overlay{Name: kind.name, Title: l.Word(plan.Code("latency." + kind.name))}
		for i, v := range load.Variants {
			var own []plot.Latencies
			for _, r := range v.Runs {
				known, ok := latencies[r.ID]
				if !ok {
					continue
				}
				if own = append(own, known); apart {
					o.Curves = addCurve(o.Curves, i, r.ID, kind.of(known))
				}
			}
			if !apart {
				o.Curves = addCurve(o.Curves, i, "", kind.of(plot.MeanLatencies(own)))
			}
		}
		if len(o.Curves) > 0 {
			o.Share = quantileShares()
			out = append(out, o)
		}
	}
	return out
}

// addCurve adds that of a sample, unless it is empty.
func addCurve(all []view.Curve, variant int, run string, q plot.Quantiles) []view.Curve {
	if len(q) == 0 {
		return all
	}
	c := view.Curve{Variant: variant, Run: run, Value: make([]float64, len(q))}
	for i, v := range q {
		c.Value[i] = fourDigits(v)
	}
	return append(all, c)
}

// quantileShares are where quantiles are taken, from 0 to 1.
func quantileShares() []float64 {
	p := plot.QuantilePercents()
	for i := range p {
		p[i] = math.Round(p[i]*100) / 1e4
	}
	return p
}

// fourDigits is a number with the four digits that a plot can show.
func fourDigits(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return short
}
