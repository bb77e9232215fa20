package curve

import (
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Design describes a sweep before any run: enough to evaluate its runs together. Its JSON is
// stored with the runs.
type Design struct {
	Points  []Point `json:"points"`
	Repeats int     `json:"repeats"` // runs of each point
	Devices int     `json:"devices"`
	// Objectives are those of the load; the points are held to those of the run.
	Objectives []plan.Objective `json:"objectives,omitempty"`
	// Price is what a device costs an hour; 0: not known.
	Price     metrics.Price `json:"price,omitempty"`
	Simulated bool          `json:"simulated"`
	// Lasting is for how long the requests of a point are sent where neither that nor their number
	// was given, by point; 0: it was. What counts of such runs is their steady state.
	Lasting []time.Duration `json:"lasting,omitempty"`
	// Unsettled are those of the rows, by point, once there are runs.
	Unsettled []plan.Message `json:"unsettled,omitempty"`
	// Load and Moves are as in Sweep, and so are the others.
	Load         string       `json:"load,omitempty"`
	Moves        []string     `json:"moves,omitempty"`
	Level        float64      `json:"level,omitempty"`
	Predicted    []Prediction `json:"predicted,omitempty"` // by point
	Uncalibrated []string     `json:"uncalibrated,omitempty"`
	WhatIf       []string     `json:"what_if,omitempty"`
}

// Sweep is the sweep with what was seen.
func (d Design) Sweep(name string, seen []Observation) Sweep {
	s := New(name, d.Points, seen, d.Devices, d.Load, d.Moves)
	for i := range min(len(s.Rows), len(d.Unsettled)) {
		s.Rows[i].Unsettled = d.Unsettled[i]
	}
	s = s.settled()
	s.Simulated, s.Uncalibrated, s.WhatIf, s.Objectives = d.Simulated, d.Uncalibrated, d.WhatIf, d.Objectives
	if d.Predicted != nil {
		s = s.Predict(d.Level, d.Predicted)
	}
	for i, r := range s.Rows {
		if d.Price > 0 {
			c := metrics.CostAt(d.Price, s.Devices, r.Mean(figure.OutputThroughput), r.Mean(figure.TotalThroughput))
			s.Rows[i].Cost = &c
		}
	}
	return s
}

// Settled reports whether the steady state is what counts of the runs of a point.
func (d Design) Settled(point int) bool { return point < len(d.Lasting) && d.Lasting[point] > 0 }

// Runs is how many runs the sweep has when it is complete: none of points that are refused.
func (d Design) Runs() (n int) {
	for i := range d.Points {
		if i >= len(d.Predicted) || d.Predicted[i].Refused == "" {
			n += d.Repeats
		}
	}
	return n
}

// RunName is the name of a run of a sweep, by its point and the repetition of that, from 1.
func RunName(sweep string, p Point, repeat int) string {
	return sweep + " / " + p.String() + " / " + strconv.Itoa(repeat)
}
