package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Predicted shows predictions: of one case all figures, with what their intervals are made
// of; of several values of a field a row each. The last lines say which objectives are met, and where.
func Predicted(w io.Writer, of *predict.Report, l *words.Language) error {
	r := &predicted{of, l}
	head := doc.List{doc.Field(r.Word("predicted.profile"), r.Profile, r.Title, r.calibrated()), doc.Field(r.Word("report.load"), r.Load)}
	if len(r.WhatIf) > 0 {
		head = append(head, doc.Field(r.Word("predicted.what-if"), strings.Join(r.WhatIf, ", "), r.Word("predicted.not-validated")))
	}
	if r.Cache != "" {
		head = append(head, doc.Field(r.Word("report.cache"), r.Cache))
	}
	for _, doubt := range r.Doubts {
		head = append(head, doc.Field(r.Word("predicted.doubt"), r.Word("predicted.distrust", "why", doubt)))
	}
	table, foot := r.several()
	tables := []doc.Item{table}
	for _, p := range r.percentiles() {
		tables = append(tables, r.high(p))
	}
	if r.Field == "" {
		if far := r.Rows[0].Extrapolated; far != "" {
			head = append(head, doc.Field(r.Word("predicted.beyond"), far, r.Word("predicted.extrapolated")))
		}
		table, foot = r.one(r.Rows[0].Prediction)
		tables = []doc.Item{table}
	}
	return write(w, slices.Concat([]doc.Item{head}, tables, []doc.Item{append(r.costs(), foot...)})...)
}

func (r *predicted) percentiles() (all []float64) {
	for _, row := range r.Rows {
		if row.Prediction == nil {
			continue
		}
		for _, f := range row.Figures {
			text, ok := strings.CutPrefix(f.Name, string(figure.E2EL)+".p")
			if p, err := strconv.ParseFloat(text, 64); ok && err == nil && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// high is a percentile of the latencies by the values of a field.
func (r *predicted) high(p float64) doc.Grid {
	latencies := []figure.Metric{figure.TTFT, figure.TPOT, figure.E2EL}
	head := []string{r.Field}
	for _, l := range latencies {
		name, _ := figureName(l.P(p), r.Language)
		head = append(head, name)
	}
	rows := [][]string{head}
	for _, row := range r.Rows {
		if row.Prediction == nil {
			continue
		}
		cells := []string{row.Value}
		for _, l := range latencies {
			cells = append(cells, r.cell(row.Prediction, l.P(p)))
		}
		rows = append(rows, cells)
	}
	return doc.Grid{Rows: rows}
}

// costs are lines on what tokens cost, by row.
func (r *predicted) costs() (lines doc.List) {
	for _, row := range r.Rows {
		if row.Cost == nil {
			continue
		}
		low, high := "", ""
		if row.Cost.Low > 0 {
			low, high = sig(row.Cost.Low), sig(row.Cost.High)
		}
		text := r.Word("predicted.cost", "cost", Cost(&row.Cost.Cost, r.Language), "low", low, "high", high)
		if r.Field != "" {
			text = r.Word("predicted.of", "names", []string{r.field(row.Value)}, "what", text)
		}
		lines = append(lines, text)
	}
	return lines
}

type predicted struct {
	*predict.Report
	*words.Language
}

func (r *predicted) calibrated() string {
	if !r.Calibrated {
		return r.Word("predicted.uncalibrated")
	}
	return r.Word("predicted.calibrated", "steps", r.Steps, "runs", r.Runs)
}

// uncertain says what intervals leave out.
func (r *predicted) uncertain() doc.List {
	if r.Calibrated {
		return nil
	}
	return doc.List{r.Word("predicted.error-unknown")}
}

// one is a single case.
func (r *predicted) one(p *predict.Prediction) (doc.Grid, doc.List) {
	foot := doc.List{r.Word("predicted.intervals", "same", p.Known)}
	foot = slices.Concat(foot, r.uncertain(), r.failures(p), r.measuredLines(p), r.unsettled())
	for _, g := range p.Goals {
		foot = append(foot, r.Word("predicted.goal", "objective", g.Objective.String(), "reached", r.goal(g), "goal", r.goalOf(g), "verdict", Met(string(g.Verdict()), r.Language)))
	}
	return r.table(p), foot
}

// unsettled says of which rows the load does not show what its rate does, and why.
func (r *predicted) unsettled() (lines doc.List) {
	var all doc.Groups
	for _, row := range r.Rows {
		if row.Prediction != nil && !row.Unsettled.IsZero() && !missed(row.Prediction) {
			all.Add(r.Say(row.Unsettled), r.field(row.Value))
		}
	}
	for _, g := range all {
		if r.Field == "" {
			lines = append(lines, g.Text)
			continue
		}
		lines = append(lines, r.Word("predicted.of", "names", g.Names, "what", g.Text))
	}
	return lines
}

// missed reports whether a load missed an objective though it was too short for a queue to build up:
// a longer one misses it too.
func missed(p *predict.Prediction) bool {
	return !metrics.QueueGrows(p.Unsettled) && len(p.Goals) > 0 && p.Verdict() == predict.NotMet
}

func (r *predicted) field(value string) string { return r.Field + "=" + value }

// table has the figures of a case, without columns for values that the profile does not have.
func (r *predicted) table(p *predict.Prediction) doc.Grid {
	head := []string{"", r.Word("predicted.predicted", "whatif", len(r.WhatIf) > 0), r.Word("predicted.interval", "level", p.Level), r.Word("predicted.by-requests", "jitter", p.Known)}
	if r.Calibrated {
		head = append(head, r.Word("predicted.parameters"), r.Word("predicted.drift"), r.Word("predicted.misfit"))
	}
	if len(r.Others) > 0 {
		head = append(head, r.Word(plan.Code("kind."+string(r.Kind))), r.Word("predicted.inside"))
	}
	rows := [][]string{head}
	for _, f := range p.Figures {
		name, scale := figureName(f.Name, r.Language)
		cells := []string{name, digits(f.Point * scale), r.between(f.Low, f.High, scale), r.percent(f.Sources.Requests)}
		if r.Calibrated {
			cells = append(cells, r.percent(f.Sources.Parameters), r.percent(f.Sources.Drift), r.percent(f.Sources.Misfit))
		}
		if len(r.Others) > 0 {
			cells = append(cells, r.measuredCells(f, scale)...)
		}
		rows = append(rows, cells)
	}
	return doc.Grid{Align: "lr", Rows: rows}
}

// measuredCells are the measured median of a figure and whether the interval holds it.
func (r *predicted) measuredCells(f predict.PredictedFigure, scale float64) []string {
	if len(f.Measured) == 0 {
		return []string{"", ""}
	}
	inside := r.Word("predicted.held", "n", f.Inside(), "of", len(f.Measured))
	if len(f.Measured) == 1 {
		inside = r.Word("predicted.is-inside", "yes", f.Inside() == 1)
	}
	return []string{digits(stats.Sort(f.Measured).Median() * scale), inside}
}

// measuredLines names the measured runs of the same load.
func (r *predicted) measuredLines(p *predict.Prediction) (lines doc.List) {
	switch n := len(r.Others); {
	case n == 0:
	case p.Known:
		lines = doc.List{r.Word("predicted.beside-same", "run", r.Others[0])}
	case n == 1:
		lines = doc.List{r.Word("predicted.beside-one", "run", r.Others[0])}
	default:
		lines = doc.List{r.Word("predicted.beside-more", "runs", n)}
	}
	if r.Invalid {
		lines = append(lines, r.Word("predicted.beside-invalid"))
	}
	return lines
}

func (r *predicted) failures(p *predict.Prediction) doc.List {
	if p.Failed == 0 {
		return nil
	}
	return doc.List{r.Word("predicted.failures", "share", r.share(p.Failed), "why", doc.Cut(doc.Clean(p.Example), 160))}
}

func (r *predicted) several() (doc.Grid, doc.List) {
	rows := [][]string{append([]string{r.Field}, r.columns()...)}
	foot := r.uncertain()
	for _, row := range r.Rows {
		cells := []string{row.Value}
		if p := row.Prediction; p != nil {
			cells = append(cells, r.cells(p)...)
		} else {
			cells = append(cells, r.Word("predicted.refused", "why", row.Refused))
		}
		if row.Extrapolated != "" {
			cells = append(cells, r.Word("predicted.row-extrapolated", "why", row.Extrapolated))
		}
		rows = append(rows, cells)
	}
	failed := func(row predict.Row) bool { return row.Prediction != nil && row.Failed > 0 }
	if i := slices.IndexFunc(r.Rows, failed); i >= 0 {
		foot = append(foot, r.failures(r.Rows[i].Prediction)...)
	}
	return doc.Grid{Rows: rows}, append(append(foot, r.unsettled()...), r.smallest())
}

// inRows are the figures of a row where there are no objectives.
var inRows = []string{
	figure.OutputThroughput, figure.TTFT.Mean(), figure.TPOT.Mean(), figure.E2EL.Mean(),
}

func (r *predicted) columns() (names []string) {
	for _, row := range r.Rows {
		p := row.Prediction
		if p == nil {
			continue
		}
		name, _ := figureName(inRows[0], r.Language)
		names = []string{name}
		for _, g := range p.Goals {
			names = append(names, fmt.Sprintf("%s (%s)", g.Objective, r.goalOf(g)))
		}
		if len(p.Goals) > 0 {
			return append(names, r.Word("predicted.meets"))
		}
		for _, name := range inRows[1:] {
			name, _ = figureName(name, r.Language)
			names = append(names, name)
		}
		return names
	}
	return names
}

func (r *predicted) cell(p *predict.Prediction, name string) string {
	i := slices.IndexFunc(p.Figures, func(f predict.PredictedFigure) bool { return f.Name == name })
	if i < 0 {
		return "–"
	}
	_, scale := figureName(name, r.Language)
	return fmt.Sprintf("%s (%s)", digits(p.Figures[i].Point*scale), r.between(p.Figures[i].Low, p.Figures[i].High, scale))
}

func (r *predicted) cells(p *predict.Prediction) (cells []string) {
	cells = []string{r.cell(p, inRows[0])}
	if len(p.Goals) > 0 {
		for _, g := range p.Goals {
			cells = append(cells, r.goal(g))
		}
		return append(cells, doc.Join(r.Word("list.comma"), Met(string(p.Verdict()), r.Language), r.mark(p)))
	}
	for _, name := range inRows[1:] {
		cells = append(cells, r.cell(p, name))
	}
	return cells
}

// mark says in a cell that a load does not show what its rate does.
func (r *predicted) mark(p *predict.Prediction) string {
	switch {
	case p.Unsettled.IsZero(), missed(p):
		return ""
	}
	return r.Word("sweep.is-unsettled", "grows", metrics.QueueGrows(p.Unsettled))
}

// smallest names the first value that meets all objectives, and those before it of which that is
// open.
func (r *predicted) smallest() string {
	goals := 0
	var open []string
	for _, row := range r.Rows {
		if row.Prediction == nil {
			continue
		}
		if goals = len(row.Goals); row.Value == r.Likely {
			break
		}
		if row.Verdict() == predict.Open {
			open = append(open, r.field(row.Value))
		}
	}
	switch {
	case goals == 0:
		return r.Word("predicted.one-run")
	case r.Likely == "":
		return r.Word("predicted.none-meets", "unsure", len(open) > 0, "open", open)
	case r.Certain == "":
		return r.Word("predicted.likely-meets", "first", r.field(r.Likely), "open", open)
	case r.Certain == r.Likely:
		return r.Word("predicted.meets-wholly", "first", r.field(r.Certain), "open", open)
	}
	return r.Word("predicted.meets-later", "first", r.field(r.Certain), "likely", r.field(r.Likely), "open", open)
}

// Met is a verdict on objectives: met, likely met, not met, open or void.
func Met(verdict string, l *words.Language) string {
	return l.Word(plan.Code("objective." + strings.ReplaceAll(verdict, " ", "-")))
}

// goal is how far an objective is met: a share, or a mean in ms.
func (r *predicted) goal(g predict.Goal) string {
	if g.Objective.P > 0 {
		return r.Word("predicted.goal-share", "share", r.share(g.Share), "low", r.share(g.Low), "high", r.share(g.High))
	}
	if g.Figure.Name == "" {
		return "–"
	}
	return fmt.Sprintf("%s ms (%s)", digits(1000*g.Figure.Point), r.between(g.Figure.Low, g.Figure.High, 1000))
}

// goalOf is the required share of requests, or "the mean".
func (r *predicted) goalOf(g predict.Goal) string {
	if g.Objective.P > 0 {
		return r.share(g.Objective.Goal())
	}
	return r.Word("predicted.the-mean")
}

func (r *predicted) between(low, high, scale float64) string {
	return r.Word("predicted.between", "low", digits(low*scale), "high", digits(high*scale))
}

// percent is a standard deviation.
func (r *predicted) percent(x float64) string {
	places := 1
	if x >= 0.995 {
		places = 0
	}
	return r.Word("percent", "number", fmt.Sprintf("%.*f", places, 100*x))
}

// share is one of requests: all of them only where it is all.
func (r *predicted) share(x float64) string {
	for _, places := range []int{0, 1, 2} {
		unit := math.Pow(10, float64(2+places))
		rounded := math.Round(x*unit) / unit
		if rounded == x || places > 0 && rounded < 1 && rounded > 0 {
			return r.Word("percent", "number", fmt.Sprintf("%.*f", places, 100*rounded))
		}
	}
	return r.Word("percent", "number", fmt.Sprintf("%.3f", 100*x))
}
