package calibrate_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A calibrated truth is what was found of it, the observer that sent it the protocol, and how
// long it took to find.
type calibrated struct {
	*calibrate.Calibration
	by   *observer
	took time.Duration
}

// calibrations are those that tests have made: more than one test asks for the same.
var calibrations = map[string]calibrated{}

// learned is the calibration of a truth with a seed.
func learned(t *testing.T, own truth, seed uint64) calibrated {
	t.Helper()
	name := fmt.Sprint(own.name, seed)
	if _, ok := calibrations[name]; !ok {
		o := newObserver(own, seed)
		runs, begun := o.protocol(t), time.Now()
		found, err := calibrate.FromTraces(t.Context(), runs)
		if err != nil {
			t.Fatalf("%s, seed %d: %v", own.name, seed, err)
		}
		calibrations[name] = calibrated{found, o, time.Since(begun)}
	}
	return calibrations[name]
}

// stored is the calibration as another process has it: written as a profile, and read.
func (c calibrated) stored(t *testing.T) *profile.Profile {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.yaml")
	if err := os.WriteFile(file, []byte(c.Profile("an engine")), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.With(file, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counted are the figures whose intervals are counted.
var counted = func() (names []string) {
	for _, j := range judged {
		names = append(names, j.name)
	}
	return append(names, "duration")
}()

// A coverage counts how often intervals hold new runs.
type coverage struct {
	held, all map[string]int     // by figure
	width     map[string]float64 // sum of the half widths
	loads     int
	worst     string // the load with the fewest held, and their share
	least     float64
}

func newCoverage() *coverage {
	return &coverage{held: map[string]int{}, all: map[string]int{}, width: map[string]float64{}, least: math.Inf(1)}
}

// share is that of the figures in their intervals, and of how many.
func (c *coverage) share() (share float64, of int) {
	held := 0
	for _, name := range counted {
		held, of = held+c.held[name], of+c.all[name]
	}
	return float64(held) / float64(max(1, of)), of
}

// meanWidth is the mean half width of the figures at the loads.
func (c *coverage) meanWidth() (width float64) {
	for _, figure := range counted {
		width += c.width[figure] / float64(max(1, c.loads)*len(counted))
	}
	return width
}

// add counts runs of a load beside its prediction.
func (c *coverage) add(load string, p *predict.Prediction, runs []map[string]float64) {
	one := newCoverage()
	for _, f := range p.Figures {
		if !slices.Contains(counted, f.Name) {
			continue
		}
		c.width[f.Name] += f.Width()
		for _, run := range runs {
			one.all[f.Name]++
			if f.Low <= run[f.Name] && run[f.Name] <= f.High {
				one.held[f.Name]++
			}
		}
		c.all[f.Name] += one.all[f.Name]
		c.held[f.Name] += one.held[f.Name]
	}
	c.loads++
	if share, _ := one.share(); share < c.least {
		c.worst, c.least = load, share
	}
}

// cells are the share that was held, of each figure with the mean half width, and the load with
// the least, in percent.
func (c *coverage) cells() (cells []string) {
	share, of := c.share()
	cells = []string{fmt.Sprintf("%.1f of %d", 100*share, of)}
	for _, figure := range counted {
		cells = append(cells, fmt.Sprintf("%.0f ±%.0f", 100*float64(c.held[figure])/float64(max(1, c.all[figure])), 100*c.width[figure]/float64(max(1, c.loads))))
	}
	return append(cells, fmt.Sprintf("%.0f %s", 100*c.least, c.worst))
}

// An answer is what a prediction says to a load: it stays within what was seen, or is refused.
type answer struct {
	load    string
	refused string
	made    *predict.Prediction
	runs    []map[string]float64 // new ones, each with new requests
}

// ask predicts a load, and makes runs of it.
func (o *observer) ask(t *testing.T, p *profile.Profile, l load, runs int) answer {
	t.Helper()
	var draws []sim.SimulationPlan
	for range predict.Draws {
		draws = append(draws, o.plan(t, l))
	}
	made, err := predict.Simulate(t.Context(), predict.Case{Profile: p, Load: predict.Fixed(draws...), Run: runOf(draws[0]), Level: 0.9, Percentiles: []float64{99}})
	if err != nil {
		t.Fatal(err)
	}
	var report predict.Report
	report.Add("", made, false)
	a := answer{load: l.name, made: made, refused: report.Rows[0].Refused}
	if (a.refused == "") != (report.Rows[0].Prediction != nil) {
		t.Fatalf("%s: %q, and a prediction: %v", l.name, a.refused, report.Rows[0].Prediction != nil)
	}
	for range runs {
		figures := map[string]float64{}
		for _, f := range (metrics.Rules{}).Figures(o.run(t, o.plan(t, l)), "pitot", "") {
			figures[f.Name] = f.Value
		}
		a.runs = append(a.runs, figures)
	}
	return a
}

// widest is the mean half width that intervals may have: it is 0.18 for padded, and 0.36 if its costs are 30 % wrong.
const widest = 0.25

// farther is outside of what every calibration saw: one prompt of six is longer than all were.
var farther = load{name: "8x prompts", mix: mix{3200, 120}, limit: 16, n: 120}

// Intervals of 90 % hold new runs of engines that a calibration has seen under other loads, ours
// and aliens, end to end: traces, a profile in a file, predictions. What was not seen is
// refused. Of an engine whose calibrations doubt themselves they are only counted. A calibration that found something
// else has intervals that hold too, since they are as wide as its misfit: so they must be narrow as well. The short form
// is one alien at two loads and one outside; -v prints a table.
func TestIntervalsOfHeldOutLoads(t *testing.T) {
	race.Skip(t)
	all, loads, runs, seeds := truths(), append(slices.Clone(heldOut), farther), 6, []uint64{1, 2, 3}
	if !*calibrate.Long {
		all = slices.DeleteFunc(all, func(own truth) bool { return own.name != "padded" })
		loads, runs, seeds = []load{heldOut[6], heldOut[9], farther}, 4, seeds[:1]
	}
	inside, outside, refused := new(table), new(table), new(strings.Builder)
	for _, b := range []*table{inside, outside} {
		head := slices.Concat([]string{"truth", "loads", "held"}, counted, []string{"least"})
		b.row(head...)
		b.row(slices.Repeat([]string{"---"}, len(head))...)
	}
	for _, own := range all {
		within, beyond, doubted := newCoverage(), newCoverage(), 0
		for _, seed := range seeds {
			found := learned(t, own, seed)
			o := newObserver(own, seed+1000)
			o.capacity = maps.Clone(found.by.capacity)
			p := found.stored(t)
			if len(p.Calibration.Doubts) > 0 {
				doubted++
			}
			for _, l := range loads {
				a := o.ask(t, p, l, runs)
				if a.refused == "" && l == farther {
					t.Errorf("%s (%d): %s are predicted, and the longest prompt that was seen had %d tokens", own.name, seed, l.name, found.Hi)
				}
				if a.refused == "" {
					within.add(a.load, a.made, a.runs)
					continue
				}
				beyond.add(a.load, a.made, a.runs)
				fmt.Fprintf(refused, "\n%s (%d), %s: %s", own.name, seed, a.load, a.refused)
			}
		}
		inside.row(append([]string{own.name, fmt.Sprint(within.loads)}, within.cells()...)...)
		outside.row(append([]string{own.name, fmt.Sprint(beyond.loads)}, beyond.cells()...)...)
		if share, of := within.share(); doubted == 0 && share < 0.88 || within.loads < len(seeds)*len(loads)/2 {
			t.Errorf("%s: intervals of 90 %% hold %.1f %% of %d figures at %d loads", own.name, 100*share, of, within.loads)
		}
		if width := within.meanWidth(); doubted == 0 && width > widest {
			t.Errorf("%s: intervals of 90 %% are %.1f %% wide to each side on average", own.name, 100*width)
		}
	}
	t.Logf("\ninside of what was seen\n%s\noutside, where nothing is predicted\n%s%s", inside, outside, refused)
}
