package ingest

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// The unit of a latency that no label of its table states is that which the text states of all latencies, or else the
// one in which it is like other values of its metric in the text. A metric of which neither is known has the unit of
// another one of its table. What is known of no metric of a table is left out, by name.

var (
	// inUnit states the unit of all latencies.
	inUnit = lexicon.Compile(`(?i)\b(?:latenc(?:y|ies)|times?|ttft|tpot|itl|numbers|values|results|metrics|units?)\b[^.;。|\d]{0,60}?(?:\bin|\bare|\bunits?\s*(?:is|are)?\s*[:=]?)\s+(ms|milliseconds?|s|seconds?)\b|` +
		`\bunits?\s*[:=]\s*(ms|milliseconds?|s|seconds?)\b|单位[^.;。|\d]{0,12}?(ms|毫秒|s|秒)(?:$|[^a-z])`)
	// inTime is a value of a latency in prose.
	inTime = lazy.Regexp(`(?i)^[\s:：=约~≈*]*(?:of|is|at|为|到)?\s*(\d+(?:\.\d+)?)\s?(ms|毫秒|s|秒|seconds?)\b`)
)

// unitWorth is how many seconds one of a unit of time is.
func unitWorth(unit string) float64 {
	if unit = strings.ToLower(unit); strings.HasPrefix(unit, "m") || unit == "毫秒" {
		return 1e-3
	}
	return 1
}

type statedUnit struct {
	line   int
	metric string // "" of all latencies
	scale  float64
	value  float64 // in seconds; 0 of a unit alone
}

// alikeRatio is by how much values of one metric in a text may differ in the mean to be in one unit.
const alikeRatio = 3

// mostUnits is how many are kept of a text.
const mostUnits = 200

// noteUnits keeps what a line says of the units of latencies.
func (r *textReader) noteUnits(l line) {
	if len(r.units) >= mostUnits || len(l.text) > longestWritten {
		return
	}
	lower := lexicon.Lower(l.text)
	for _, m := range inUnit.FindAll(l.text, lower) {
		unit := l.text[max(m[2], m[4], m[6]):max(m[3], m[5], m[7])]
		metrics := lexicon.Means(lexicon.Metrics.Find(l.text[m[0]:m[1]]))
		if len(metrics) == 0 {
			metrics = []string{""}
		}
		for _, metric := range metrics {
			r.units = append(r.units, statedUnit{line: l.n, metric: metric, scale: unitWorth(unit)})
		}
	}
	if !strings.Contains(lower, "ms") && !strings.Contains(l.text, "秒") || !lexicon.Metrics.In(l.text, lower) {
		return
	}
	for _, w := range lexicon.Metrics.Find(l.text) {
		if m := inTime.FindStringSubmatch(l.text[w.End:]); m != nil && figure.Metric(w.Means).IsLatency() {
			v, _, _ := lexicon.Number(m[1])
			r.units = append(r.units, statedUnit{l.n, w.Means, unitWorth(m[2]), v * unitWorth(m[2])})
		}
	}
}

// scaleTables gives latencies without a unit theirs, and names those that are left out.
func (r *textReader) scaleTables() {
	var known []statedUnit
	for _, t := range r.closed {
		figures := []trace.ReportedFigure(nil)
		if t.grid != nil {
			figures = t.grid.Figures
		} else {
			figures = r.tables.Read(t.rows).Figures
		}
		for _, f := range figures {
			if metric, _, _ := strings.Cut(f.Name, "."); figure.Metric(metric).IsLatency() && f.Value > 0 && len(known) < mostUnits {
				known = append(known, statedUnit{t.at, metric, 0, f.Value})
			}
		}
	}
	known = append(known, r.units...)
	for i := 0; i < len(r.closed); {
		n := i + 1
		for n < len(r.closed) && r.closed[i].grid != nil && r.closed[n].first == r.closed[i].first {
			n++
		}
		r.scaleTable(r.closed[i:n], known)
		i = n
	}
	r.drop(func(t *printed) bool { return t.grid != nil && len(t.grid.Figures) == 0 })
}

// scaleTable scales the latencies of the results of one table.
func (r *textReader) scaleTable(results []*printed, known []statedUnit) {
	values := map[string][]float64{} // by metric
	var metrics []string
	for _, t := range results {
		if t.grid == nil {
			continue
		}
		for _, f := range t.grid.Unscaled {
			metric, _, _ := strings.Cut(f.Name, ".")
			if values[metric] == nil {
				metrics = append(metrics, metric)
			}
			values[metric] = append(values[metric], f.Value)
		}
	}
	if len(metrics) == 0 {
		return
	}
	units, left := tableUnits(metrics, values, known)
	for _, t := range results {
		scaleResult(t, units)
	}
	if len(left) > 0 {
		r.problem(results[0].at, "%s without a unit, which the text does not state either: not read", strings.Join(left, ", "))
		return
	}
	for _, metric := range metrics {
		name := map[bool]string{true: "ms", false: "s"}[units[metric].scale == 1e-3]
		r.choice(results[0].at, "%s without a unit: read as %s, by line %d", strings.ToUpper(metric), name, units[metric].line)
	}
}

// tableUnits are the units of the metrics of a table, and those that have none. One of which the text says nothing has
// that of the others, if these have one. Where the text has values of a metric and those of the table are not like
// them, they may be shares or errors, and nothing of the table is read.
func tableUnits(metrics []string, values map[string][]float64, known []statedUnit) (units map[string]statedUnit, left []string) {
	units = map[string]statedUnit{}
	var others []statedUnit
	unlike := false
	for _, metric := range metrics {
		if u, ok := unitOf(metric, values[metric], known); ok {
			units[metric], others = u, append(others, u)
		} else if slices.ContainsFunc(known, func(u statedUnit) bool { return u.metric == metric }) {
			unlike = true
		}
	}
	if unlike {
		clear(units)
	}
	one := len(others) > 0 && !unlike && !slices.ContainsFunc(others, func(u statedUnit) bool { return u.scale != others[0].scale })
	for _, metric := range metrics {
		switch {
		case units[metric].scale > 0:
		case one:
			units[metric] = others[0]
		default:
			left = append(left, strings.ToUpper(metric))
		}
	}
	return units, left
}

// scaleResult makes figures of the latencies of a result of which the unit is known.
func scaleResult(t *printed, units map[string]statedUnit) {
	if t.grid == nil {
		return
	}
	for _, f := range t.grid.Unscaled {
		metric, _, _ := strings.Cut(f.Name, ".")
		if scale := units[metric].scale; scale > 0 {
			f.Value, f.Step = f.Value*scale, f.Step*scale
			t.grid.Figures = append(t.grid.Figures, f)
		}
	}
}

// unitOf is the unit of the values of a metric: the one that the text states of it, or of all latencies, or else the only one in
// which they are like a value of the metric in the text.
func unitOf(metric string, values []float64, known []statedUnit) (unit statedUnit, ok bool) {
	size := 0.0
	for _, v := range values {
		size += math.Log(v) / float64(len(values))
	}
	var own, stated, alike []statedUnit
	for _, u := range known {
		switch {
		case u.metric == "":
			stated = append(stated, u)
		case u.metric == metric && u.value == 0:
			own = append(own, u)
		case u.metric == metric:
			for _, scale := range []float64{1e-3, 1} {
				if math.Abs(size+math.Log(scale)-math.Log(u.value)) < math.Log(alikeRatio) {
					alike = append(alike, statedUnit{u.line, metric, scale, u.value})
				}
			}
		}
	}
	for _, all := range [][]statedUnit{own, stated, alike} {
		if len(all) > 0 {
			differ := slices.ContainsFunc(all, func(u statedUnit) bool { return u.scale != all[0].scale })
			return all[0], !differ
		}
	}
	return unit, false
}
