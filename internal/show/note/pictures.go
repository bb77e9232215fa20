package note

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A picture is a plot that can be drawn of a workload.
type picture struct {
	name, title, caption string
	draw                 func(io.Writer) error
}

func (w *writer) pictures() error {
	started := false
	for i, load := range w.Comparison.Workloads {
		pictures := append(w.changes(load), w.curves(load)...)
		pictures = append(pictures, w.timelines(load)...)
		if len(pictures) == 0 {
			continue
		}
		if !started {
			w.heading(2, w.words.plots)
			started = true
		}
		w.loadHeading(i)
		for _, p := range pictures {
			if err := w.picture(fmt.Sprintf("%d-%s.svg", i+1, p.name), p); err != nil {
				return fmt.Errorf("draw %s of %s: %w", p.name, w.name(i), err)
			}
		}
	}
	return nil
}

func (w *writer) picture(name string, p picture) error {
	data, err := render(p.draw)
	if err != nil {
		return err
	}
	if w.Folder != "" {
		name = strings.TrimSuffix(w.Folder, "/") + "/" + name
	}
	w.plots = append(w.plots, File{Name: name, Data: data})
	w.paragraph(fmt.Sprintf("![%s](%s)", escape(p.title), link(name)))
	w.paragraph(p.caption)
	return nil
}

// drawn are the figures of a plot of changes, from the top.
var drawn = []string{
	"throughput.output", "ttft.mean", "ttft.median", "ttft.p99", "tpot.mean", "tpot.p99",
	"itl.mean", "itl.median", "itl.p99", "icl.mean", "icl.p99", "e2el.mean", "e2el.p99",
}

// changes are dots, which tables have too.
func (w *writer) changes(load compare.Workload) []picture {
	if len(load.Variants) < 2 {
		return nil
	}
	dots := plot.Dots{Baseline: load.Variants[0].Name, Margin: w.Comparison.Margin}
	for _, v := range load.Variants[1:] {
		dots.Variants = append(dots.Variants, v.Name)
	}
	for _, name := range drawn {
		for _, r := range load.Rows {
			if row, ok := w.dotRow(load, r); ok && r.Quantity.Name == name {
				dots.Rows = append(dots.Rows, row)
			}
		}
	}
	if len(dots.Rows) == 0 {
		return nil
	}
	p, baseline := w.words, load.Variants[0].Name
	title, margin := w.lang.Word("plot.changes", "baseline", baseline), w.said.Share(w.Comparison.Margin)
	caption := w.say(p.bareDots, escape(baseline), margin)
	if slices.ContainsFunc(dots.Rows, func(r plot.DotRow) bool {
		return slices.ContainsFunc(r.Dots, func(d plot.Dot) bool { return !math.IsNaN(d.Low) })
	}) {
		caption = w.say(p.dotsCaption, escape(baseline), w.said.Share(w.Comparison.Level), margin)
	}
	return []picture{{"changes", title, caption, func(out io.Writer) error {
		return plot.Changes(out, w.lang, dots)
	}}}
}

// dotRow is a figure in a plot of changes; ok if there is a change in it.
func (w *writer) dotRow(load compare.Workload, r compare.Row) (row plot.DotRow, ok bool) {
	row.Name = w.said.Title(r.Quantity)
	same := func(o compare.Row) bool {
		return o.Quantity.Name == r.Quantity.Name && o.Definition.ID != r.Definition.ID
	}
	if slices.ContainsFunc(load.Rows, same) {
		row.Name += " (" + r.Definition.ID + ")"
	}
	row.Name += map[metrics.Direction]string{metrics.Lower: " ↓", metrics.Higher: " ↑"}[r.Quantity.Better]
	for i := range load.Variants[1:] {
		dot := plot.Dot{Change: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if i+1 < len(r.Cells) && r.Cells[i+1].Change != nil && !r.Cells[i+1].Change.Plain {
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
func (w *writer) curves(load compare.Workload) (pictures []picture) {
	var variants []plot.Curves
	several := false
	for _, v := range load.Variants {
		c := plot.Curves{Name: v.Name}
		for _, r := range w.runsOf(v) {
			c.Runs = append(c.Runs, r.Digest)
		}
		several = several || len(c.Runs) > 1
		variants = append(variants, c)
	}
	p := w.words
	add := func(name, caption string, draw func(io.Writer, *words.Language, []plot.Curves) error) {
		if several {
			caption += p.gap + p.severalRuns
		}
		pictures = append(pictures, picture{name, w.lang.Word(plan.Code("plot." + name)), caption, func(out io.Writer) error { return draw(out, w.lang, variants) }})
	}
	has := func(is func(plot.Digest) bool) bool {
		return slices.ContainsFunc(variants, func(c plot.Curves) bool { return slices.ContainsFunc(c.Runs, is) })
	}
	if has(func(d plot.Digest) bool { return len(d.TTFT) > 0 }) {
		add("ttft", p.ttftCaption, plot.TTFT)
	}
	if has(func(d plot.Digest) bool { return len(d.ITL) > 0 }) {
		add("itl", p.itlCaption, plot.ITL)
	}
	if window := plot.WindowOf(variants); window > 0 {
		add("output", fmt.Sprintf(p.outputCaption, strconv.FormatFloat(window, 'g', -1, 64)), plot.Output)
	}
	return pictures
}

// timelines are of the first run of each variant.
func (w *writer) timelines(load compare.Workload) (pictures []picture) {
	p := w.words
	for i, v := range load.Variants {
		runs := w.runsOf(v)
		if len(runs) == 0 || len(runs[0].Digest.Timeline.Spans) == 0 {
			continue
		}
		l := runs[0].Digest.Timeline
		title := w.lang.Word("plot.requests", "variant", v.Name)
		caption := w.say(p.timelineCaption, escape(v.Name)) + w.thinned(l.Every, len(runs))
		pictures = append(pictures, picture{fmt.Sprintf("timeline-%d", i+1), title, caption, func(out io.Writer) error {
			return plot.Requests(out, w.lang, v.Name, l)
		}})
	}
	return pictures
}

// thinned says what a timeline leaves out.
func (w *writer) thinned(every, runs int) (said string) {
	if every > 1 {
		said += w.words.gap + fmt.Sprintf(w.words.timelineEvery, every)
	}
	if runs > 1 {
		said += w.words.gap + w.words.timelineFirst
	}
	return said
}
