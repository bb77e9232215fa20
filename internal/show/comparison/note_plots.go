package comparison

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A NotePlot is one of the plots of a note.
type NotePlot struct {
	Name string // changes, ttft, itl, output, timeline-1, meanwhile-1; of further workloads 2-ttft
	Draw func(io.Writer) error
}

// Plots are all that the note shows.
func (n Note) Plots() (all []NotePlot) {
	w := n.writer()
	for i, load := range n.Comparison.Workloads {
		prefix := ""
		if i > 0 {
			prefix = fmt.Sprintf("%d-", i+1)
		}
		for _, f := range slices.Concat(w.changes(load), w.meanwhile(load), w.curves(load), w.timelines(load)) {
			all = append(all, NotePlot{prefix + f.name, func(out io.Writer) error { return f.draw(w.under(i, out)) }})
		}
	}
	return all
}

func (w *noteWriter) drawings() {
	started := false
	for i, load := range w.note.Comparison.Workloads {
		plots, timelines := w.changes(load), append(w.timelines(load), w.meanwhile(load)...)
		if load.Layout != nil && load.Layout.Confirms { // the rest looks as before
			timelines = nil
		} else {
			plots = append(plots, w.curves(load)...)
		}
		if len(plots)+len(timelines) == 0 {
			continue
		}
		if !started {
			w.section(1, w.Word("note.plots"))
			started = true
		}
		w.loadSection(i)
		w.add(w.drawAll(i, plots)...)
		last := w.drawAll(i, timelines)
		if load.Layout != nil {
			last = []doc.Item{doc.Folded{Title: w.Word("note.timelines", "n", len(timelines)), Items: last}}
		}
		w.add(last...)
	}
}

// drawAll draws plots of a workload into files.
func (w *noteWriter) drawAll(load int, plots []notePlot) (images []doc.Item) {
	for _, p := range plots {
		var data bytes.Buffer
		ending, out := "svg", io.Writer(&data)
		if w.note.PNG {
			ending, out = "png", plot.PNG{Writer: &data}
		}
		name := path.Join(w.note.Folder, fmt.Sprintf("%d-%s.%s", load+1, p.name, ending))
		if err := p.draw(w.under(load, out)); err != nil {
			w.err = errors.Join(w.err, fmt.Errorf("draw %s of %s: %w", p.name, w.name(load), err))
			continue
		}
		w.plots = append(w.plots, NoteFile{Name: name, Data: data.Bytes()})
		images = append(images, doc.Image{Title: p.title, Path: name, Caption: p.caption})
	}
	return images
}

// under is a writer for plots of a workload, which have model, date and load under their title.
func (w *noteWriter) under(load int, out io.Writer) io.Writer {
	l := w.note.Comparison.Workloads[load]
	var models, dates []string
	add := func(all []string, one string) []string {
		if one == "" || slices.Contains(all, one) {
			return all
		}
		return append(all, one)
	}
	for _, v := range l.Variants {
		for _, r := range w.runsOf(v) {
			models = add(models, doc.Clean(r.Plan.Model))
			if !r.Started.IsZero() {
				dates = add(dates, r.Started.Format(time.DateOnly))
			}
		}
	}
	slices.Sort(dates)
	if n := len(dates); n > 2 {
		dates = []string{dates[0], "…", dates[n-1]}
	}
	return plot.Subtitled{Writer: out, Text: doc.Join(" · ", w.Few(models, 2), doc.Join(" ", dates...), doc.Clean(w.load(l.Settings)))}
}

// changes are dots, which tables have too.
func (w *noteWriter) changes(load compare.Workload) []notePlot {
	if len(load.Variants) < 2 {
		return nil
	}
	dots := plot.Dots{Baseline: w.Called(load.Variants[0]), Margin: w.note.Comparison.Margin}
	for _, v := range load.Variants[1:] {
		dots.Variants = append(dots.Variants, w.Called(v))
	}
	for _, r := range load.Rows {
		if row, ok := w.dotRow(load, r); ok && r.Rank > 0 {
			dots.Rows = append(dots.Rows, row)
		}
	}
	if len(dots.Rows) == 0 {
		return nil
	}
	args := []any{"baseline", dots.Baseline, "level", w.Share(w.note.Comparison.Level), "margin", w.Share(dots.Margin)}
	title, caption := w.Word("plot.changes", "baseline", dots.Baseline), w.Word("note.changes-bare", args...)
	if slices.ContainsFunc(dots.Rows, func(r plot.DotRow) bool {
		return slices.ContainsFunc(r.Dots, func(d plot.Dot) bool { return !math.IsNaN(d.Low) })
	}) {
		caption = w.Word("note.changes", args...)
	}
	return []notePlot{{"changes", title, caption, func(out io.Writer) error {
		return plot.Changes(out, w.Language, dots)
	}}}
}

// dotRow is a figure in a plot of changes; ok if there is a change in it.
func (w *noteWriter) dotRow(load compare.Workload, r compare.Row) (row plot.DotRow, ok bool) {
	row.Name = w.Title(r.Quantity)
	same := func(o compare.Row) bool {
		return o.Quantity.Name == r.Quantity.Name && o.Definition.ID != r.Definition.ID
	}
	if slices.ContainsFunc(load.Rows, same) {
		row.Name += " (" + r.Definition.ID + ")"
	}
	row.Name += map[figure.Direction]string{figure.Lower: " ↓", figure.Higher: " ↑"}[r.Quantity.Better]
	for i := range load.Variants[1:] {
		dot := plot.Dot{Change: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if i+1 < len(r.Cells) && r.Cells[i+1].Change != nil && !r.Cells[i+1].Change.Plain && r.Cells[i+1].Change.Open.Code != compare.NeverAnswered {
			c := r.Cells[i+1].Change
			dot.Change, dot.Settled, ok = c.Relative, c.Verdict != compare.CannotTell, true
			if c.Interval != nil {
				dot.Low, dot.High = c.Interval.Low, c.Interval.High
			}
		}
		row.Dots = append(row.Dots, dot)
	}
	return row, ok
}

// curves are the plots in which all variants are, of runs that have records.
func (w *noteWriter) curves(load compare.Workload) (plots []notePlot) {
	var variants []plot.Curves
	several := false
	for _, v := range load.Variants {
		c := plot.Curves{Name: w.Called(v)}
		for _, r := range w.runsOf(v) {
			c.Runs = append(c.Runs, r.Digest)
		}
		several = several || len(c.Runs) > 1
		if load.Layout != nil && len(c.Runs) > 0 {
			c.Runs = []plot.Digest{plot.Mean(c.Runs)}
		}
		variants = append(variants, c)
	}
	together := plan.Code("note.several-runs")
	if load.Layout != nil {
		together = "note.mean-runs"
	}
	add := func(name, caption string, draw func(io.Writer, *words.Language, []plot.Curves) error) {
		if several {
			caption = w.Join("sentence", caption, w.Word(together))
		}
		plots = append(plots, notePlot{
			name, w.Word(plan.Code("plot." + name)), caption,
			func(out io.Writer) error { return draw(out, w.Language, variants) },
		})
	}
	has := func(is func(plot.Digest) bool) bool {
		return slices.ContainsFunc(variants, func(c plot.Curves) bool { return slices.ContainsFunc(c.Runs, is) })
	}
	if has(func(d plot.Digest) bool { return len(d.TTFT) > 0 }) {
		add("ttft", w.Word("note.ttft"), plot.TTFT)
	}
	if has(func(d plot.Digest) bool { return len(d.ITL) > 0 }) {
		add("itl", w.Word("note.itl"), plot.ITL)
	}
	if window := plot.WindowOf(variants); window > 0 {
		add("output", w.Word("note.output", "window", window), plot.Output)
	}
	return plots
}

// timelines are of the first run of each variant.
func (w *noteWriter) timelines(load compare.Workload) (plots []notePlot) {
	for i, v := range load.Variants {
		runs := w.runsOf(v)
		if len(runs) == 0 || len(runs[0].Digest.Timeline.Spans) == 0 {
			continue
		}
		l := runs[0].Digest.Timeline
		title := w.Word("plot.requests", "variant", w.Called(v))
		caption := w.Join("sentence", append([]string{w.Word("note.timeline", "variant", v.Name)},
			w.thinned(l.Every, len(runs))...)...)
		plots = append(plots, notePlot{fmt.Sprintf("timeline-%d", i+1), title, caption, func(out io.Writer) error {
			return plot.Requests(out, w.Language, v.Name, l)
		}})
	}
	return plots
}

// meanwhile is what was sampled beside the first run of each variant.
func (w *noteWriter) meanwhile(load compare.Workload) (plots []notePlot) {
	for i, v := range load.Variants {
		runs := w.runsOf(v)
		if len(runs) == 0 || len(runs[0].Digest.Strips) == 0 {
			continue
		}
		d := runs[0].Digest
		plots = append(plots, notePlot{
			fmt.Sprintf("meanwhile-%d", i+1), w.Word("plot.meanwhile", "variant", v.Name),
			w.Word("note.meanwhile", "variant", v.Name),
			func(out io.Writer) error { return plot.Meanwhile(out, w.Language, v.Name, d) },
		})
	}
	return plots
}

// thinned says what a timeline leaves out.
func (w *noteWriter) thinned(every, runs int) (said []string) {
	if every > 1 {
		said = append(said, w.Word("note.timeline-thinned", "every", every))
	}
	if runs > 1 {
		said = append(said, w.Word("note.timeline-first"))
	}
	return said
}

// A notePlot is a plot that can be drawn of a workload.
type notePlot struct {
	name, title, caption string
	draw                 func(io.Writer) error
}
