package sweeps

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// CSV writes a row for each point: its settings, runs, how it is made and marked, and each
// figure with its standard deviation between runs and, of simulations with intervals, its
// prediction. Numbers are in SI units.
func CSV(w io.Writer, s curve.Sweep) error {
	c, figures := csv.NewWriter(w), figureNames(s)
	head := append(settings(s), "kind", "runs", "failed", "knee", "front", "output_per_user", "output_per_device", "unsettled")
	priced := len(s.Rows) > 0 && s.Rows[0].Cost != nil
	if priced {
		head = append(head, "cost_per_million_output", "cost_per_million")
	}
	predicted := predictedNames(s)
	if s.Level > 0 {
		head = append(head, "level", "refused", "extrapolated")
	}
	for _, f := range figures {
		shown := f
		if slices.Contains(settings(s), f) { // as concurrency is a setting, and a measured figure
			shown += ".mean"
		}
		head = append(head, shown, shown+".sd")
		if slices.Contains(predicted, f) {
			head = append(head, shown+".predicted", shown+".low", shown+".high")
		}
	}
	errs := []error{c.Write(head)}
	for i, r := range s.Rows {
		var row []string
		for _, one := range r.Point {
			row = append(row, one.Value)
		}
		kind := "measured"
		if s.Simulated {
			kind = "simulated"
		}
		row = append(row, kind, strconv.Itoa(len(r.Runs)), strconv.Itoa(len(r.Failed)),
			strconv.FormatBool(isKnee(s, i)), strconv.FormatBool(slices.Contains(s.Front, i)), exact(s.PerUser(i)), exact(s.PerDevice(i)), string(r.Unsettled.Code))
		if priced {
			row = append(row, exact(r.Cost.Output), exact(r.Cost.All))
		}
		if s.Level > 0 {
			row = append(row, exact(s.Level), r.Refused, r.Extrapolated)
		}
		for _, f := range figures {
			row = append(row, cells(r, f, slices.Contains(predicted, f))...)
		}
		errs = append(errs, c.Write(row))
	}
	c.Flush()
	return errors.Join(append(errs, c.Error())...)
}

func cells(r curve.Row, figure string, predicted bool) (all []string) {
	spread, ok := r.Figures[figure]
	if !ok {
		spread.Mean, spread.SD = math.NaN(), math.NaN()
	}
	if spread.N < 2 {
		spread.SD = math.NaN()
	}
	all = []string{exact(spread.Mean), exact(spread.SD)}
	if !predicted {
		return all
	}
	p, ok := r.Predicted[figure]
	if !ok {
		return append(all, "", "", "")
	}
	return append(all, exact(p.Value), exact(p.Low), exact(p.High))
}

func isKnee(s curve.Sweep, row int) bool {
	return slices.ContainsFunc(s.Curves, func(c curve.Curve) bool { return c.Knee.Row == row && c.Knee.Bound == curve.Inside })
}

// exact is a number as a program reads it, empty if it is none.
func exact(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func figureNames(s curve.Sweep) []string {
	names := map[string]bool{}
	for _, r := range s.Rows {
		for f := range r.Figures {
			names[f] = true
		}
	}
	for _, f := range predictedNames(s) {
		names[f] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// predictedNames are the figures that some row has a prediction of.
func predictedNames(s curve.Sweep) []string {
	names := map[string]bool{}
	for _, r := range s.Rows {
		for f := range r.Predicted {
			names[f] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// JSON writes all of it, with what failed in words.
func JSON(w io.Writer, s curve.Sweep, l *words.Language) error {
	type row struct {
		Point   map[string]string       `json:"point"`
		Runs    []string                `json:"runs"`
		Failed  []string                `json:"failed"`
		Figures map[string]curve.Spread `json:"figures"`
		Cost    *metrics.Cost           `json:"cost,omitempty"`
		curve.Prediction
	}
	out := struct {
		curve.Sweep
		Rows []row `json:"rows"`
	}{Sweep: s, Rows: []row{}}
	for _, r := range s.Rows {
		one := row{Point: map[string]string{}, Runs: r.Runs, Failed: []string{}, Figures: r.Figures, Cost: r.Cost, Prediction: r.Prediction}
		for _, set := range r.Point {
			one.Point[set.Name] = set.Value
		}
		for _, why := range r.Failed {
			one.Failed = append(one.Failed, l.Say(why))
		}
		out.Rows = append(out.Rows, one)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write the sweep as JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
