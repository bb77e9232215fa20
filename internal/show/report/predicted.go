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
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Predicted shows predictions: of one case all figures, with what their intervals are made
// of; of several values of a field a row each.
func Predicted(w io.Writer, r *predict.Report) error {
	head := doc.List{doc.Field("profile", r.Profile, r.Title, calibrated(r)), doc.Field("load", r.Load)}
	if len(r.WhatIf) > 0 {
		head = append(head, doc.Field("what if", strings.Join(r.WhatIf, ", "), "not validated: nobody measured it"))
	}
	if r.Cache != "" {
		head = append(head, doc.Field("cache", r.Cache))
	}
	for _, doubt := range r.Doubts {
		head = append(head, doc.Field("doubt", "do not trust this profile: "+doubt))
	}
	table, foot := several(r)
	tables := []doc.Item{table}
	for _, p := range percentilesOf(r) {
		tables = append(tables, high(r, p))
	}
	if r.Field == "" {
		if far := r.Rows[0].Extrapolated; far != "" {
			head = append(head, doc.Field("beyond", far, "extrapolated: the error there is not known"))
		}
		table, foot = one(r, r.Rows[0].Prediction)
		tables = []doc.Item{table}
	}
	return write(w, slices.Concat([]doc.Item{head}, tables, []doc.Item{append(foot, predictedCosts(r)...)})...)
}

// percentilesOf are those that are predicted.
func percentilesOf(r *predict.Report) (all []float64) {
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
func high(r *predict.Report, p float64) doc.Grid {
	latencies := []figure.Metric{figure.TTFT, figure.TPOT, figure.E2EL}
	head := []string{r.Field}
	for _, l := range latencies {
		name, _ := figureName(l.P(p))
		head = append(head, name)
	}
	rows := [][]string{head}
	for _, row := range r.Rows {
		if row.Prediction == nil {
			continue
		}
		cells := []string{row.Value}
		for _, l := range latencies {
			cells = append(cells, cellOf(row.Prediction, l.P(p)))
		}
		rows = append(rows, cells)
	}
	return doc.Grid{Rows: rows}
}

// predictedCosts are lines on what tokens cost, by row.
func predictedCosts(r *predict.Report) (lines doc.List) {
	for _, row := range r.Rows {
		if row.Cost == nil {
			continue
		}
		text, of := "cost: "+Cost(&row.Cost.Cost, words.In(words.Default)), ""
		if row.Cost.Low > 0 {
			of = fmt.Sprintf("; per million output tokens %s to %s", sig(row.Cost.Low), sig(row.Cost.High))
		}
		if r.Field != "" {
			text = field(r, row.Value) + ": " + text
		}
		lines = append(lines, text+of)
	}
	return lines
}

func calibrated(r *predict.Report) string {
	if !r.Calibrated {
		return "not calibrated"
	}
	return fmt.Sprintf("calibrated from %d steps of %d runs", r.Steps, r.Runs)
}

// uncertain says what intervals leave out.
func uncertain(r *predict.Report) doc.List {
	if r.Calibrated {
		return nil
	}
	return doc.List{"The error of this profile is not known: intervals hold for jitter and other requests alone."}
}

// one is a single case.
func one(r *predict.Report, p *predict.Prediction) (doc.Grid, doc.List) {
	requests := "with new requests"
	if p.Known {
		requests = "of the same requests"
	}
	foot := doc.List{"Intervals hold one new run, " + requests + "; percentages are standard deviations, by source."}
	foot = slices.Concat(foot, uncertain(r), failures(p), measuredLines(r, p))
	for _, g := range p.Goals {
		foot = append(foot, fmt.Sprintf("%s: %s of %s, %s", g.Objective, goal(g), goalOf(g), g.Verdict()))
	}
	return table(r, p), append(foot, unsettled(r)...)
}

// unsettled says of which rows the load does not show what its rate does, and why.
func unsettled(r *predict.Report) (lines doc.List) {
	var all doc.Groups
	for _, row := range r.Rows {
		if row.Prediction != nil && !row.Unsettled.IsZero() && !missed(row.Prediction) {
			all.Add(words.In(words.Default).Say(row.Unsettled), field(r, row.Value))
		}
	}
	for _, g := range all {
		of := strings.Join(g.Names, ", ") + ": "
		if r.Field == "" {
			of = ""
		}
		lines = append(lines, of+g.Text)
	}
	return lines
}

// missed reports whether a load missed an objective though it was too short for a queue to build up:
// a longer one misses it too.
func missed(p *predict.Prediction) bool {
	return !metrics.QueueGrows(p.Unsettled) && len(p.Goals) > 0 && p.Verdict() == predict.NotMet
}

func field(r *predict.Report, value string) string { return r.Field + "=" + value }

// table has the figures of a case, without columns for values that the profile does not have.
func table(r *predict.Report, p *predict.Prediction) doc.Grid {
	head := []string{"", "predicted", fmt.Sprintf("%g %% interval", 100*p.Level), "requests"}
	if len(r.WhatIf) > 0 {
		head[1] = "what-if"
	}
	if p.Known {
		head[3] = "jitter"
	}
	if r.Calibrated {
		head = append(head, "parameters", "drift", "misfit")
	}
	if len(r.Others) > 0 {
		head = append(head, string(r.Kind), "inside")
	}
	rows := [][]string{head}
	for _, f := range p.Figures {
		name, scale := figureName(f.Name)
		cells := []string{name, digits(f.Point * scale), between(f.Low, f.High, scale), percent(f.Sources.Requests)}
		if r.Calibrated {
			cells = append(cells, percent(f.Sources.Parameters), percent(f.Sources.Drift), percent(f.Sources.Misfit))
		}
		if len(r.Others) > 0 {
			cells = append(cells, measuredCells(f, scale)...)
		}
		rows = append(rows, cells)
	}
	return doc.Grid{Align: "lr", Rows: rows}
}

// measuredCells are the measured median of a figure and whether the interval holds it.
func measuredCells(f predict.PredictedFigure, scale float64) []string {
	if len(f.Measured) == 0 {
		return []string{"", ""}
	}
	inside := fmt.Sprintf("%d of %d", f.Inside(), len(f.Measured))
	if len(f.Measured) == 1 {
		inside = map[int]string{0: "no", 1: "yes"}[f.Inside()]
	}
	return []string{digits(stats.Sort(f.Measured).Median() * scale), inside}
}

// measuredLines names the measured runs of the same load.
func measuredLines(r *predict.Report, p *predict.Prediction) (lines doc.List) {
	switch n := len(r.Others); {
	case n == 0:
	case p.Known:
		lines = doc.List{fmt.Sprintf("Beside it is run %s, which had these requests.", r.Others[0])}
	case n == 1:
		lines = doc.List{fmt.Sprintf("Beside it is run %s, the one in the store with this load.", r.Others[0])}
	default:
		lines = doc.List{fmt.Sprintf("Beside it are medians of the %d runs in the store with this load.", n)}
	}
	if r.Invalid {
		lines = append(lines, "That run is INVALID: its client was in the way of what it measured.")
	}
	return lines
}

func failures(p *predict.Prediction) doc.List {
	if p.Failed == 0 {
		return nil
	}
	return doc.List{fmt.Sprintf("%s of the requests have no answer: %s", share(p.Failed),
		doc.Cut(doc.Clean(p.Example), 160))}
}

// several is a row for each value of a field.
func several(r *predict.Report) (doc.Grid, doc.List) {
	rows := [][]string{append([]string{r.Field}, columnsOf(r)...)}
	foot := uncertain(r)
	for _, row := range r.Rows {
		cells := []string{row.Value}
		if p := row.Prediction; p != nil {
			cells = append(cells, cellsOf(p)...)
		} else {
			cells = append(cells, "not predicted: "+row.Refused)
		}
		if row.Extrapolated != "" {
			cells = append(cells, "extrapolated: "+row.Extrapolated)
		}
		rows = append(rows, cells)
	}
	failed := func(row predict.Row) bool { return row.Prediction != nil && row.Failed > 0 }
	if i := slices.IndexFunc(r.Rows, failed); i >= 0 {
		foot = append(foot, failures(r.Rows[i].Prediction)...)
	}
	return doc.Grid{Rows: rows}, append(append(foot, unsettled(r)...), smallest(r))
}

// inRows are the figures of a row where there are no objectives.
var inRows = []string{
	figure.OutputThroughput, figure.TTFT.Mean(), figure.TPOT.Mean(), figure.E2EL.Mean(),
}

func columnsOf(r *predict.Report) (names []string) {
	for _, row := range r.Rows {
		p := row.Prediction
		if p == nil {
			continue
		}
		name, _ := figureName(inRows[0])
		names = []string{name}
		for _, g := range p.Goals {
			names = append(names, fmt.Sprintf("%s (%s)", g.Objective, goalOf(g)))
		}
		if len(p.Goals) > 0 {
			return append(names, "meets")
		}
		for _, name := range inRows[1:] {
			name, _ = figureName(name)
			names = append(names, name)
		}
		return names
	}
	return names
}

// cellOf is a figure with its interval.
func cellOf(p *predict.Prediction, name string) string {
	i := slices.IndexFunc(p.Figures, func(f predict.PredictedFigure) bool { return f.Name == name })
	if i < 0 {
		return "–"
	}
	_, scale := figureName(name)
	return fmt.Sprintf("%s (%s)", digits(p.Figures[i].Point*scale), between(p.Figures[i].Low, p.Figures[i].High, scale))
}

func cellsOf(p *predict.Prediction) (cells []string) {
	cells = []string{cellOf(p, inRows[0])}
	if len(p.Goals) > 0 {
		for _, g := range p.Goals {
			cells = append(cells, goal(g))
		}
		return append(cells, string(p.Verdict())+mark(p))
	}
	for _, name := range inRows[1:] {
		cells = append(cells, cellOf(p, name))
	}
	return cells
}

// mark says in a cell that a load does not show what its rate does.
func mark(p *predict.Prediction) string {
	switch {
	case p.Unsettled.IsZero(), missed(p):
		return ""
	case metrics.QueueGrows(p.Unsettled):
		return ", queue grows"
	}
	return ", too short"
}

// smallest names the first value that meets all objectives, and those before it of which that is
// open.
func smallest(r *predict.Report) string {
	goals, open := 0, ""
	var values []string
	for _, row := range r.Rows {
		if row.Prediction == nil {
			continue
		}
		if goals = len(row.Goals); row.Value == r.Likely {
			break
		}
		if row.Verdict() == predict.Open {
			values = append(values, field(r, row.Value))
			open = " Open: " + strings.Join(values, ", ") + "."
		}
	}
	switch {
	case goals == 0:
		return "Intervals hold one new run."
	case r.Likely == "" && open != "":
		return "No value is known to meet all objectives." + open
	case r.Likely == "":
		return "No value meets all objectives."
	case r.Certain == "":
		return field(r, r.Likely) + " is the first that meets all objectives, and none does with its whole interval." + open
	case r.Certain == r.Likely:
		return field(r, r.Certain) + " is the first that meets all objectives, with its whole interval." + open
	}
	return fmt.Sprintf("%s is the first that meets all objectives with its whole interval; %s likely does.%s",
		field(r, r.Certain), field(r, r.Likely), open)
}

// goal is how far an objective is met: a share, or a mean in ms.
func goal(g predict.Goal) string {
	if g.Objective.P > 0 {
		return fmt.Sprintf("%s (%s to %s)", share(g.Share), share(g.Low), share(g.High))
	}
	if g.Figure.Name == "" {
		return "–"
	}
	return fmt.Sprintf("%s ms (%s)", digits(1000*g.Figure.Point), between(g.Figure.Low, g.Figure.High, 1000))
}

// goalOf is the required share of requests, or "the mean".
func goalOf(g predict.Goal) string {
	if g.Objective.P > 0 {
		return share(g.Objective.Goal())
	}
	return "the mean"
}

func between(low, high, scale float64) string {
	return digits(low*scale) + " to " + digits(high*scale)
}

// percent is a standard deviation.
func percent(x float64) string {
	if x >= 0.995 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// share is one of requests: all of them only where it is all.
func share(x float64) string {
	for _, places := range []int{0, 1, 2} {
		unit := math.Pow(10, float64(2+places))
		rounded := math.Round(x*unit) / unit
		if rounded == x || places > 0 && rounded < 1 && rounded > 0 {
			return fmt.Sprintf("%.*f %%", places, 100*rounded)
		}
	}
	return fmt.Sprintf("%.3f %%", 100*x)
}
