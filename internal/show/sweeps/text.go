// Package sweeps shows what runs under many loads say together: a table with the knees and the
// front, rows for programs, and plots.
package sweeps

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A column is a figure in a table, by its title.
type column struct {
	title, figure string
	words         plan.Code // of the title, where it has any
}

var columns = []column{
	{title: "req/s", figure: figure.RequestThroughput},
	{title: "tok/s", figure: figure.OutputThroughput},
	{title: "goodput", figure: figure.Goodput},
	{title: "TTFT", figure: figure.TTFT.Mean()},
	{title: "p99", figure: figure.TTFT.P(99)},
	{title: "TPOT", figure: figure.TPOT.Mean()},
	{title: "p99", figure: figure.TPOT.P(99)},
	{title: "ITL", figure: figure.ITL.Mean()},
	{title: "p99", figure: figure.ITL.P(99)},
	{title: "E2EL", figure: figure.E2EL.Mean()},
	{title: "p99", figure: figure.E2EL.P(99)},
	{title: "tok/s/user", words: "sweep.column-user"},
	{title: "tok/s/device", words: "sweep.column-device"},
	{title: "cost/M out", words: "sweep.column-cost-output"},
	{title: "cost/M", words: "sweep.column-cost-all"},
}

// Text writes the table, and below all doubts what it shows: the front, the knees, and which points meet the
// objectives.
func Text(w io.Writer, s curve.Sweep, l *words.Language) error {
	runs := 0
	for _, r := range s.Rows {
		runs += len(r.Runs)
	}
	extent := plan.Msg("sweep.extent", "points", len(s.Rows), "runs", runs)
	head := doc.List{l.Word("sweep.head", "name", doc.Clean(s.Name), "simulated", s.Simulated, "extent", extent)}
	if len(s.WhatIf) > 0 {
		head = append(head, l.Word("sweep.what-if", "settings", s.WhatIf))
	}
	foot := append(doc.List{terms(s, l)}, slices.Concat(costs(s, l), uncalibrated(s, l), doubts(s, l), unsettled(s, l),
		front(s, l), knees(s, l), objectives(s, l))...)
	items := []doc.Item{head, table(s, l), foot}
	return doc.Text(w, doc.Document{Lang: l, Sections: []doc.Section{{Items: items}}}, 0, false)
}

// terms say what the numbers of the table are.
func terms(s curve.Sweep, l *words.Language) string {
	spread := len(s.Uncalibrated) > 0 || slices.ContainsFunc(s.Rows,
		func(r curve.Row) bool { return r.Figures[figure.Goodput].N > 1 })
	return l.Word("sweep.terms", "level", s.Level, "spread", spread || s.Level == 0)
}

// costs say what the columns of costs are.
func costs(s curve.Sweep, l *words.Language) (lines []string) {
	if len(s.Rows) > 0 && s.Rows[0].Cost != nil {
		lines = append(lines, l.Word("sweep.cost", "price", float64(s.Rows[0].Cost.Price), "devices", s.Devices))
	}
	return lines
}

func objectives(s curve.Sweep, l *words.Language) (lines []string) {
	states := []plan.Code{"sweep.met-at", "sweep.missed-at", "sweep.unknown-at"}
	for _, o := range plan.OfRun(s.Objectives) {
		points := map[plan.Code][]string{}
		for _, r := range s.Rows {
			state := states[2]
			switch met, known := r.Meets(o); {
			case known && met:
				state = states[0]
			case known:
				state = states[1]
			}
			points[state] = append(points[state], name(r.Point, l))
		}
		var parts []string
		for _, state := range states {
			if points[state] != nil {
				parts = append(parts, l.Word(state, "points", points[state]))
			}
		}
		lines = append(lines, l.Word("sweep.objective", "objective", report.Objective(o, l), "parts", l.Join("stop", parts...)))
	}
	return lines
}

// settings are the names that the points have values for.
func settings(s curve.Sweep) (names []string) {
	if len(s.Rows) > 0 {
		for _, one := range s.Rows[0].Point {
			names = append(names, one.Name)
		}
	}
	return names
}

// table is the title row, and a row for each point.
func table(s curve.Sweep, l *words.Language) doc.Grid {
	shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		if s.Level > 0 && strings.HasPrefix(c.figure, "itl.") { // intervals need the room
			return true
		}
		if strings.HasPrefix(c.title, "cost") {
			return len(s.Rows) == 0 || s.Rows[0].Cost == nil
		}
		return !slices.ContainsFunc(s.Rows, func(r curve.Row) bool {
			_, ok := r.Figures[c.figure]
			return ok || c.figure == ""
		})
	})
	title := append(settings(s), l.Word("sweep.runs"))
	for _, c := range shown {
		if c.words != "" {
			c.title = l.Word(c.words)
		}
		title = append(title, c.title)
	}
	grid := doc.Grid{Rows: [][]string{append(title, "")}}
	grid.Align = strings.Repeat("l", len(settings(s))) + strings.Repeat("r", len(shown)+1) + "l"
	for i, r := range s.Rows {
		var line []string
		for _, one := range r.Point {
			line = append(line, one.Value)
		}
		line = append(line, fmt.Sprint(len(r.Runs)))
		for _, c := range shown {
			line = append(line, cell(s, i, c))
		}
		grid.Rows = append(grid.Rows, append(line, marks(s, i, l)))
	}
	return grid
}

func cell(s curve.Sweep, row int, c column) string {
	switch c.title {
	case "tok/s/user":
		return digits(s.PerUser(row))
	case "tok/s/device":
		return digits(s.PerDevice(row))
	case "cost/M out":
		return price(s.Rows[row].Cost.Output)
	case "cost/M":
		return price(s.Rows[row].Cost.All)
	}
	scale := figure.Lookup(c.figure).Show().Factor
	if p, ok := s.Rows[row].Predicted[c.figure]; ok {
		return fmt.Sprintf("%s (%s to %s)", digits(scale*p.Value), significant(scale*p.Low, 3),
			significant(scale*p.High, 3))
	}
	f, ok := s.Rows[row].Figures[c.figure]
	shown := digits(scale * f.Mean)
	switch {
	case !ok:
		return "–"
	case f.N > 1:
		shown += "±" + significant(scale*f.SD, 2)
	}
	return shown
}

// digits are four significant ones.
func digits(v float64) string { return significant(v, 4) }

// price is a cost, which is not known where it is 0.
func price(v float64) string {
	if v == 0 {
		return "–"
	}
	return digits(v)
}

func significant(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if v == 0 {
		return "0"
	}
	behind := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", min(max(behind, 0), 3), v)
}

func marks(s curve.Sweep, row int, l *words.Language) string {
	var all []string
	add := func(is bool, code plan.Code, args ...any) {
		if is {
			all = append(all, l.Word(code, args...))
		}
	}
	r := s.Rows[row]
	failed := r.Mean("requests.failed")
	for _, c := range s.Curves {
		add(c.Knee.Row == row && c.Knee.Bound == curve.Inside, "sweep.is-knee")
	}
	add(slices.Contains(s.Front, row), "sweep.is-front")
	add(len(r.Failed) > 0, "sweep.runs-failed", "n", len(r.Failed))
	add(r.Fails(), "sweep.requests-failed", "share", failed/(failed+r.Mean("requests.ok")))
	add(r.Refused != "", "sweep.is-refused")
	add(r.Refused == "" && r.Extrapolated != "", "sweep.is-extrapolated")
	add(r.QueueGrows() || r.TooShort(), "sweep.is-unsettled", "grows", r.QueueGrows())
	return l.Join("comma", all...)
}

// unsettled are lines about points that do not show what their rate does.
func unsettled(s curve.Sweep, l *words.Language) (lines []string) {
	for _, r := range s.Rows {
		if !r.Unsettled.IsZero() {
			lines = append(lines, l.Word("sweep.unsettled", "points", name(r.Point, l), "grows", r.QueueGrows(), "why",
				r.Unsettled))
		}
	}
	return lines
}

// front says what is marked as such, where there is a front.
func front(s curve.Sweep, l *words.Language) (lines []string) {
	if len(s.Front) > 0 {
		lines = append(lines, l.Word("sweep.front"))
	}
	return lines
}

func knees(s curve.Sweep, l *words.Language) (lines []string) {
	for _, c := range s.Curves {
		if c.Knee.Bound != curve.None {
			lines = append(lines, l.Say(knee(s, c)))
		}
	}
	if s.Load != "" && lines == nil {
		lines = append(lines, l.Word("sweep.no-knee", "short", slices.ContainsFunc(s.Rows,
			func(r curve.Row) bool { return r.TooShort() })))
	}
	return lines
}

// doubts are lines about points that have no runs, or only doubtful ones.
func doubts(s curve.Sweep, l *words.Language) (lines []string) {
	var failed, refused, extrapolated doc.Groups
	var below []string // what to do, and what it did
	add := func(code plan.Code, arg string, all []plan.Message) {
		if said := l.Word(code, arg, all); len(all) > 0 && !slices.Contains(below, said) {
			below = append(below, said)
		}
	}
	for _, r := range s.Rows {
		for _, why := range r.Failed {
			e := metrics.ExplainLoss(why)
			failed.Add(l.SayAll("stop", e.Causes), name(r.Point, l))
			add("report.remedy", "remedies", e.Remedies)
			add("report.effects", "effects", e.Effects)
		}
		if r.Refused != "" {
			refused.Add(r.Refused, name(r.Point, l))
		}
		if r.Extrapolated != "" {
			extrapolated.Add(r.Extrapolated, name(r.Point, l))
		}
	}
	for _, g := range failed {
		lines = append(lines, l.Word("sweep.failed", "points", g.Names, "why", g.Text))
	}
	lines = append(lines, below...)
	for _, g := range refused {
		lines = append(lines, l.Word("sweep.refused", "points", g.Names, "why", g.Text))
	}
	for _, g := range extrapolated {
		lines = append(lines, l.Word("sweep.extrapolated", "points", g.Names, "why", g.Text))
	}
	return lines
}

// uncalibrated says why simulated points have no intervals.
func uncalibrated(s curve.Sweep, l *words.Language) (lines []string) {
	for _, profile := range s.Uncalibrated {
		lines = append(lines, l.Word("sweep.uncalibrated", "profile", profile, "named", profile != ""))
	}
	return lines
}

func name(p curve.Point, l *words.Language) string {
	return cmp.Or(doc.Clean(p.String()), l.Word("sweep.all"))
}

// knee says where the knee of a curve is.
func knee(s curve.Sweep, c curve.Curve) plan.Message {
	at := func(row int) string { return s.Load + "=" + s.Rows[row].Point.Value(s.Load) }
	switch k := c.Knee; k.Bound {
	case curve.Inside:
		return plan.Msg("sweep.knee", "of", c.Fixed.String(), "at", at(k.Row),
			"rate", digits(s.Rows[k.Row].Mean(figure.RequestThroughput)), "latency", digits(1000*s.Rows[k.Row].Mean(figure.E2EL.Mean())))
	case curve.AtMost:
		return plan.Msg("sweep.knee-below", "of", c.Fixed.String(), "at", at(k.Row))
	default:
		return plan.Msg("sweep.knee-beyond", "of", c.Fixed.String(), "at", at(k.Row))
	}
}
