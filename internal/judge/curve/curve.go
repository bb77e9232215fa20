// Package curve says what runs under many loads say together: a row for each point with the
// spread of its repetitions, the curve of throughput against latency with its knee, and the
// front of the points that nothing beats both for a user and for a device.
//
//	observations ─ New ─> rows ──> curves, each with its knee
//	                          └──> the front
//
// It knows points by their settings, which are texts, and runs by their figures.
package curve

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Setting is the value that a point has for a name.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Point is one combination of settings.
type Point []Setting

// String is what the point is called: "rate=5 input-len=128".
func (p Point) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.Name + "=" + s.Value
	}
	return strings.Join(words, " ")
}

// Value is the value for a name, empty if the point has none.
func (p Point) Value(name string) string {
	i := slices.IndexFunc(p, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return ""
	}
	return p[i].Value
}

// An Observation is what became of one run at a point.
type Observation struct {
	Point   int    // index
	Run     string // id; empty: there is no run
	Figures []trace.ReportedFigure
	Failed  plan.Message // why it is no evidence; zero: it is
	// Unsettled is why it does not show what its rate does, of metrics.Unsettled.
	Unsettled plan.Message
}

// A Spread is a figure over the runs of a point.
type Spread struct {
	N        int     `json:"n"`
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"` // between runs; 0 of a single one
	Smallest float64 `json:"min"`
	Largest  float64 `json:"max"`
}

// A Row is what was seen at a point.
type Row struct {
	Point   Point             `json:"point"`
	Runs    []string          `json:"runs"`             // ids of those that are evidence
	Failed  []plan.Message    `json:"failed,omitempty"` // why others are not
	Figures map[string]Spread `json:"figures"`
	Cost    *metrics.Cost     `json:"cost,omitempty"` // nil without a price
	Prediction
}

// Mean is the predicted value of a figure, else its mean over the runs; NaN if no run has it.
func (r Row) Mean(name string) float64 {
	if p, ok := r.Predicted[name]; ok {
		return p.Value
	}
	if s, ok := r.Figures[name]; ok {
		return s.Mean
	}
	return math.NaN()
}

// Meets reports whether the figure of a row meets an objective of the run: not where too many requests failed, or a
// queue grows. It is not known where no run has the figure, or one that is met in a load that was too short.
func (r Row) Meets(o plan.Objective) (met, known bool) {
	v := r.Mean(o.Name())
	met = v <= o.Limit.Std().Seconds() && !r.Fails() && !r.QueueGrows()
	return met, v > 0 && (!met || !r.TooShort())
}

// Fails reports whether too many requests failed for the others to stand for all: a server that
// refuses most of them is quick with the rest.
func (r Row) Fails() bool {
	failed := r.Mean(figure.RequestsFailed)
	return failed > metrics.HarmlessFailures*(failed+r.Mean(figure.RequestsOK))
}

// A Prediction is what simulations say of one new run at a point. Its zero value says nothing.
type Prediction struct {
	Predicted map[string]Reach `json:"predicted,omitempty"` // by figure
	// Refused says what of the load is beyond what the profile was calibrated from: nothing is
	// predicted then, and no run is made. Extrapolated says it where it is wanted nevertheless.
	Refused      string `json:"refused,omitempty"`
	Extrapolated string `json:"extrapolated,omitempty"`
	// Unsettled says why the simulations, or of a row without them its runs, do not show what their
	// rate does: the queue only grows, or the load was too short for one to build up.
	Unsettled plan.Message `json:"unsettled,omitzero"`
}

// TooShort reports whether the load of a row was too short to be judged.
func (p Prediction) TooShort() bool { return !p.Unsettled.IsZero() && !p.QueueGrows() }

// QueueGrows reports whether its queue only grows.
func (p Prediction) QueueGrows() bool { return metrics.QueueGrows(p.Unsettled) }

// A Reach is the prediction of a figure with the interval that holds it in one new run.
type Reach struct {
	Value float64 `json:"predicted"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A Sweep is rows with what they say together.
type Sweep struct {
	Name      string `json:"name"`
	Simulated bool   `json:"simulated"`
	Devices   int    `json:"devices"` // that the throughput of a point is divided by
	// Level is that of the intervals of predictions; 0: there are none. Uncalibrated are the
	// profiles of simulated points that have no calibration to make intervals from, and WhatIf
	// the fields of profiles that points set.
	Level float64 `json:"level,omitempty"`
	// Objectives are those of the load: see Row.Meets.
	Objectives   []plan.Objective `json:"objectives,omitempty"`
	Uncalibrated []string         `json:"uncalibrated,omitempty"`
	WhatIf       []string         `json:"what_if,omitempty"`
	// Load is the setting that orders the points of a curve, and Moves are those that change
	// with it. Empty: no setting is a load, and there are no curves.
	Load   string   `json:"load,omitempty"`
	Moves  []string `json:"-"`
	Rows   []Row    `json:"rows"`
	Curves []Curve  `json:"curves"`
	Front  []int    `json:"front"` // rows, by falling speed for a user
}

// New is the sweep of some points, without predictions. load and moves are as in Sweep.
func New(name string, points []Point, seen []Observation, devices int, load string, moves []string) Sweep {
	s := Sweep{Name: name, Devices: max(1, devices), Load: load, Moves: moves, Curves: []Curve{}, Front: []int{}}
	for i, p := range points {
		s.Rows = append(s.Rows, rowOf(p, i, seen))
	}
	return s.settled()
}

// Predict is the sweep with predictions by point, with intervals of a level: they stand for the
// points, which have few runs, or none.
func (s Sweep) Predict(level float64, all []Prediction) Sweep {
	s.Level, s.Rows = level, slices.Clone(s.Rows)
	for i, p := range all {
		s.Rows[i].Prediction = p
	}
	return s.settled()
}

func (s Sweep) settled() Sweep {
	if s.Load != "" {
		s.Curves = curves(s.Rows, s.Load, append(slices.Clone(s.Moves), s.Load))
	}
	s.Front = front(s)
	return s
}

// rowOf gathers what was seen at the point with an index.
func rowOf(p Point, index int, seen []Observation) Row {
	row, values := Row{Point: p, Runs: []string{}, Figures: map[string]Spread{}}, map[string][]float64{}
	var unsettled []plan.Message
	for _, o := range seen {
		switch {
		case o.Point != index:
		case !o.Failed.IsZero():
			row.Failed = append(row.Failed, o.Failed)
		default:
			row.Runs, unsettled = append(row.Runs, o.Run), append(unsettled, o.Unsettled)
			for _, f := range o.Figures {
				values[f.Name] = append(values[f.Name], f.Value)
			}
		}
	}
	for name, all := range values {
		row.Figures[name] = spread(all)
	}
	row.Unsettled = metrics.MostUnsettled(unsettled)
	return row
}

func spread(all []float64) Spread {
	s := Spread{N: len(all), Mean: stats.Mean(all), Smallest: slices.Min(all), Largest: slices.Max(all)}
	if len(all) > 1 {
		sum := 0.0
		for _, v := range all {
			sum += (v - s.Mean) * (v - s.Mean)
		}
		s.SD = math.Sqrt(sum / float64(len(all)-1))
	}
	return s
}

// A Curve is points that differ in nothing but the load, by rising load.
type Curve struct {
	Fixed Point `json:"fixed"` // what they have in common, of what varies
	Rows  []int `json:"rows"`
	Knee  Knee  `json:"knee"`
}

// A Knee is where a curve of latency against throughput turns: the load of the largest power,
// throughput divided by mean end-to-end latency. Up to there throughput grows by a larger
// share than latency, and beyond it latency does. Loads that were too short for a queue to build
// up are left out, and no load of which too many requests fail is one. Row is -1 where Bound is
// None.
//
// L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
// communications", International Conference on Communications, 1979.
type Knee struct {
	Row   int     `json:"row"`
	Power float64 `json:"power"` // requests/s²
	Bound Bound   `json:"bound"`
}

// A Bound says what a knee is worth.
type Bound string

// The values of Bound.
const (
	Inside  Bound = "inside"   // loads on both sides have less power
	AtMost  Bound = "at-most"  // the smallest load has the most power: the knee is there or below
	AtLeast Bound = "at-least" // the largest load has the most power: the knee is there or beyond
	None    Bound = "none"     // less than three points can be judged
)

// curves are those of rows: those with equal settings but for the ones that change with the load.
func curves(rows []Row, load string, moves []string) (all []Curve) {
	for i, r := range rows {
		fixed := slices.DeleteFunc(slices.Clone(r.Point), func(s Setting) bool { return slices.Contains(moves, s.Name) })
		at := slices.IndexFunc(all, func(c Curve) bool { return slices.Equal(c.Fixed, fixed) })
		if at < 0 {
			at, all = len(all), append(all, Curve{Fixed: fixed})
		}
		all[at].Rows = append(all[at].Rows, i)
	}
	for i := range all {
		slices.SortStableFunc(all[i].Rows, func(a, b int) int {
			return cmp.Compare(Number(rows[a].Point.Value(load)), Number(rows[b].Point.Value(load)))
		})
		all[i].Knee = knee(rows, all[i].Rows)
	}
	return all
}

// Number is a load as a number; one that is none, as inf may be written, is beyond all.
func Number(load string) float64 {
	v, err := strconv.ParseFloat(load, 64)
	if err != nil {
		return math.Inf(1)
	}
	return v
}

// leastPoints are needed to speak of a knee.
const leastPoints = 3

func knee(rows []Row, of []int) Knee {
	k, judged := Knee{Row: -1, Bound: None}, []int{}
	for _, i := range of {
		power := rows[i].Mean(figure.RequestThroughput) / rows[i].Mean(figure.E2EL.Mean())
		if !(power > 0) || rows[i].TooShort() {
			continue
		}
		if judged = append(judged, i); power > k.Power && !rows[i].Fails() {
			k.Row, k.Power = i, power
		}
	}
	switch {
	case len(judged) < leastPoints || k.Row < 0:
		return Knee{Row: -1, Bound: None}
	case k.Row == judged[0]:
		k.Bound = AtMost
	case k.Row == judged[len(judged)-1]:
		k.Bound = AtLeast
	default:
		k.Bound = Inside
	}
	return k
}

// PerUser is how fast the answer to one request comes: output tokens/s behind the first
// token, the reciprocal of the mean TPOT. NaN if the row has none.
func (s Sweep) PerUser(row int) float64 { return 1 / s.Rows[row].Mean(figure.TPOT.Mean()) }

// PerDevice is the output throughput divided by the number of devices, in tokens/s.
func (s Sweep) PerDevice(row int) float64 {
	return s.Rows[row].Mean(figure.OutputThroughput) / float64(s.Devices)
}

// front are the rows of which no other one is as good in both and better in one.
func front(s Sweep) []int {
	all := []int{}
	for i := range s.Rows {
		if s.PerUser(i) > 0 && s.PerDevice(i) > 0 && !s.Rows[i].Fails() {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(-cmp.Compare(s.PerUser(a), s.PerUser(b)), -cmp.Compare(s.PerDevice(a), s.PerDevice(b)))
	})
	best, out := 0.0, []int{}
	for _, i := range all {
		if v := s.PerDevice(i); v > best {
			best, out = v, append(out, i)
		}
	}
	return out
}
