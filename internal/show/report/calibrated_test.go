package report

import (
	"math"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// measuredFigures are figures of a run and of its simulation.
func measuredFigures() []calibrate.ComparedFigure {
	return []calibrate.ComparedFigure{
		{Name: "throughput.output", Measured: 138.94, Median: 141.2, Spread: .012},
		{Name: "ttft.mean", Measured: .01705, Median: .0165, Spread: .034},
		{Name: "e2el.p99", Measured: 12.5, Median: 11.125, Spread: .2},
	}
}

// linear is a calibration by costs of steps, sequences and tokens alone.
func linear() *calibrate.Calibration {
	costs := engine.Costs{
		Step: .007002, Sequence: 28.76e-6,
		ContextToken: 42.71e-9, Prefill: .002027, PrefillToken: 17.85e-6, PrefillPair: 1.29e-9,
	}
	return &calibrate.Calibration{
		Found: &calibrate.Found{
			Cost: costs, Spread: engine.Costs{Step: 936e-9, Sequence: 433.5e-9, PrefillPair: 250.2e-12},
			Jitter: .0204, Budget: 8192, BudgetSeen: true, MostRunning: 64, MostContext: 34044, Memory: 400000,
			DelaySeen: true, Steps: 7236, Rows: 7220, Prefills: 679, Off: .014, OffPrefill: .014,
		},
		Engine: engine.Config{Frontend: engine.Frontend{Request: 27e-6, Delay: 82.1e-6, Chunk: 10e-6}},
		Runs: []calibrate.Refit{
			{Name: "load/1", Requests: 12, Limit: 1, Figures: measuredFigures()},
			{Name: "load/\x1b[1mfour", Requests: 60, Limit: 4, Figures: measuredFigures()[:2]},
		},
		Lo: 21, Hi: 2292, Cached: .0104, Block: 16,
	}
}

// tabulated is a calibration with tables, slow steps and all that is not certain.
func tabulated() *calibrate.Calibration {
	c := linear()
	c.Cost.DecodeTable = []engine.Point{{At: 1, Time: .007}, {At: 64, Time: .0125}}
	c.Cost.PrefillTable = []engine.Point{{At: 512, Time: .02}}
	c.Cost.JitterQuantiles = []float64{.9, 1, 1.3}
	c.Cost.SlowSteps = &engine.SlowSteps{Share: .015, Extra: []engine.Seconds{.001, .004, .04}}
	c.PrefillFirst, c.Async, c.BudgetSeen, c.Longest, c.MaxPrompts, c.Even = true, true, false, 4096, 3, true
	c.Memory, c.DelaySeen, c.Early, c.Engine.Frontend.Blocking, c.Runs = 0, false, .3, true, c.Runs[:1]
	return c
}

func TestCalibrated(t *testing.T) {
	for name, c := range map[string]*calibrate.Calibration{"linear": linear(), "tabulated": tabulated()} {
		var b strings.Builder
		if err := Calibrated(&b, c, words.In("en")); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/calibrated-"+name+".txt", b.String())
	}
}

func TestEvidence(t *testing.T) {
	var b strings.Builder
	for _, e := range []profile.Evidence{
		{Name: "open 10/s", Log: "kvcached on and off (003): w/o kvcached", Requests: 1000, Rate: 10, Fitted: true},
		{Name: "closed 16", Log: "batch sizes", Requests: 200, Concurrency: 16},
	} {
		c := calibrate.Comparison{Evidence: &e, Draws: 4, Figures: measuredFigures(), Error: .0132, Within: .008}
		c.Single, c.Floor, c.Low, c.High = .0161, .012, .013, .024
		if err := Evidence(&b, c, words.In("en")); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	golden.Check(t, "testdata/evidence.txt", b.String())
}

func TestFitted(t *testing.T) {
	fields := []calibrate.FittedField{
		{Path: "cost.step", Before: "6.8ms", After: "6.81ms", Interval: calibrate.Interval{Low: "6.77ms", High: "6.83ms", Share: .01}},
		{Path: "max_model_len", Before: "8192", After: "8192", Idle: true},
		{Path: "evidence.workload.text.sigma", Before: "1.6", After: "1.6", Interval: calibrate.Interval{Low: "1", High: "2.4", Share: .9}},
		{Path: "cost.prefill", Before: "2ms", After: "2ms"},
	}
	var b strings.Builder
	for _, before := range []float64{.0213, math.Inf(1)} {
		if err := Fitted(&b, calibrate.Fitted{Before: before, After: .011, Fields: fields}, words.In("en")); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/fitted.txt", b.String())
}
