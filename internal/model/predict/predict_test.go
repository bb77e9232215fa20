package predict_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// equal is n requests of the same size, all at once behind a gate.
func equal(n, limit, prompt, output int) load {
	return load{n: n, limit: limit, prompt: float64(prompt), output: float64(output)}
}

// same are plans of equal requests.
func (l load) same(n int) (all []sim.SimulationPlan) {
	for range n {
		p := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: l.limit, Stream: true}
		for range l.n {
			job := engine.Job{PromptTokens: int(l.prompt), OutputTokens: int(l.output)}
			p.Requests = append(p.Requests, sim.Request{PromptTokens: job.PromptTokens, WantTokens: job.OutputTokens, Job: job})
		}
		all = append(all, p)
	}
	return all
}

var plain = engine.Config{Scheduler: engine.Scheduler{MaxSequences: 64}, Cost: engine.Costs{Step: 0.01, Sequence: 50e-6, PrefillToken: 20e-6}}

func of(t *testing.T, c predict.Case) *predict.Prediction {
	t.Helper()
	if c.Level == 0 {
		c.Level = 0.9
	}
	if c.Percentiles == nil {
		c.Percentiles = []float64{99}
	}
	c.Run.Plan.Stream = true
	p, err := predict.Simulate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Figures {
		for _, v := range []float64{f.Point, f.Low, f.High, f.Sources.Requests, f.Sources.Parameters, f.Sources.Drift, f.Sources.Misfit, f.Width()} {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%+v", f)
			}
		}
		if f.Low > f.Point || f.Point > f.High {
			t.Errorf("%s: %v is not in %v to %v", f.Name, f.Point, f.Low, f.High)
		}
	}
	return p
}

func figureOf(t *testing.T, p *predict.Prediction, name string) predict.PredictedFigure {
	t.Helper()
	i := slices.IndexFunc(p.Figures, func(f predict.PredictedFigure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no %s", name)
	}
	return p.Figures[i]
}

func wide(k profile.Calibration) *profile.Calibration {
	k.Seen = profile.Seen{Sequences: 1000, Context: 1e6, StepTokens: 1e6, Prompt: 1e6}
	return &k
}

// Each source gives the width that it has: of a closed loop of one request without jitter, the
// time of which is all steps.
func TestSources(t *testing.T) {
	one := equal(5, 1, 1, 101)
	for _, c := range []struct {
		name                               string
		k                                  *profile.Calibration
		requests, parameters, drift, total float64
	}{
		{"nothing is known", nil, 0, 0, 0, 0},
		{"misfit", wide(profile.Calibration{Misfit: map[string]engine.Relative{"tpot.mean": 0.04}}), 0, 0, 0, 0.04},
		{"at least 1 %", wide(profile.Calibration{}), 0, 0, 0, 0.01},
		{"drift", wide(profile.Calibration{Drift: 0.05}), 0, 0, 0.05, math.Sqrt(0.05*0.05*13/12 + 1e-4)},
		{"parameters", wide(profile.Calibration{Draws: []engine.Costs{{Step: 0.0095}, {Step: 0.0105}}}), 0, 0.0523, 0, math.Sqrt(0.0523*0.0523*13/12 + 1e-4)},
	} {
		p := of(t, predict.Case{Profile: &profile.Profile{Engine: engine.Config{Cost: engine.Costs{Step: 0.01}}, Calibration: c.k}, Load: predict.Fixed(one.same(1)...), Known: true})
		f := figureOf(t, p, "tpot.mean")
		near := func(a, b float64) bool { return math.Abs(a-b) < 0.001 }
		const t11 = 1.796 // Student's, 11 degrees of freedom
		if math.Abs(f.Point-0.01) > 1e-9 || !near(f.Sources.Requests, c.requests) || !near(f.Sources.Parameters, c.parameters) || !near(f.Sources.Drift, c.drift) ||
			!near(math.Log(f.High/f.Low)/2/t11, c.total) || !p.Known || p.Calibrated != (c.k != nil) {
			t.Errorf("%s: %+v, sd %.4f, want %.4f", c.name, f, math.Log(f.High/f.Low)/2/t11, c.total)
		}
	}
}

// A figure that the calibration does not name has the largest misfit of its metric.
func TestMisfitOfOthers(t *testing.T) {
	k := wide(profile.Calibration{Misfit: map[string]engine.Relative{"ttft.mean": 0.03, "ttft.p99": 0.07, "itl.mean": 0.02, "throughput.output": 0.015}})
	p := of(t, predict.Case{Profile: &profile.Profile{Engine: plain, Calibration: k}, Load: predict.Fixed(equal(9, 3, 10, 10).same(1)...), Known: true, Percentiles: []float64{90}})
	for name, want := range map[string]float64{"ttft.mean": 0.03, "ttft.p90": 0.07, "itl.p90": 0.02, "e2el.mean": 0.07, "throughput.requests": 0.015, "duration": 0.015} {
		if got := figureOf(t, p, name).Sources.Misfit; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestHull(t *testing.T) {
	race.Skip(t)
	seen := profile.Seen{Sequences: 16, Context: 16 * 200, StepTokens: 1600, Prompt: 100}
	reached := profile.Seen{Sequences: 60, Context: 1e6, StepTokens: 1e6, Prompt: 100, Limit: true}
	more := plain
	more.Scheduler.MaxSequences = 128
	four := plain
	four.Replicas.Count = 4
	for _, c := range []struct {
		name  string
		seen  profile.Seen
		model engine.Config
		load  load
		want  string
	}{
		{"inside", seen, plain, equal(64, 16, 100, 50), ""},
		{"more at once", seen, plain, equal(200, 32, 50, 50), "up to 32 requests at once, and 16 were seen"},
		{"longer prompts", seen, plain, equal(64, 4, 116, 50), "up to 116 tokens of a prompt, and 100 were seen"},
		{"a little longer", seen, plain, equal(64, 4, 115, 50), ""},
		{"longer contexts", seen, plain, equal(64, 16, 90, 500), "tokens of context at once, and 3200 were seen"},
		{"the limit was reached: more wait", reached, plain, equal(400, 200, 50, 50), ""},
		{"what if it was higher", reached, more, equal(400, 200, 50, 50), "up to 128 requests at once, and 60 were seen"},
		{"of one replica", seen, four, equal(200, 64, 50, 50), ""},
		{"nothing was seen", profile.Seen{}, plain, equal(9, 3, 10, 10), "and 0 were seen"},
	} {
		base := &profile.Profile{Engine: plain, Calibration: &profile.Calibration{Seen: c.seen}}
		changed := *base
		changed.Engine = c.model
		p := of(t, predict.Case{Profile: &changed, Base: base, Load: predict.Fixed(c.load.same(1)...), Known: true})
		if got := p.Hull.String(); p.Hull.Inside() != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if p := of(t, predict.Case{Profile: &profile.Profile{Engine: plain}, Load: predict.Fixed(equal(900, 900, 10, 10).same(1)...), Known: true}); !p.Hull.Inside() {
		t.Error("a profile without a calibration has no hull")
	}
}

// Loads and profiles at which formulas break.
func TestOddities(t *testing.T) {
	free := engine.Config{}
	absurd := wide(profile.Calibration{Drift: 1, Misfit: map[string]engine.Relative{"ttft.mean": 10}, Draws: []engine.Costs{{}, {Step: 86400}, {Step: 1e-15, Jitter: 2}}})
	for name, c := range map[string]predict.Case{
		"one request":    {Profile: &profile.Profile{Engine: plain}, Load: predict.Fixed(equal(1, 0, 10, 10).same(1)...), Known: true},
		"one token":      {Profile: &profile.Profile{Engine: plain, Calibration: wide(profile.Calibration{Drift: 0.01})}, Load: predict.Fixed(equal(10, 0, 10, 1).same(12)...)},
		"no time at all": {Profile: &profile.Profile{Engine: free, Calibration: wide(profile.Calibration{Drift: 0.01})}, Load: predict.Fixed(equal(10, 2, 10, 5).same(12)...)},
		"absurd draws":   {Profile: &profile.Profile{Engine: plain, Calibration: absurd}, Load: predict.Fixed(equal(10, 2, 10, 5).same(12)...)},
		"high level":     {Profile: &profile.Profile{Engine: plain, Calibration: absurd}, Load: predict.Fixed(equal(10, 2, 10, 5).same(12)...), Level: 0.999},
	} {
		c.Objectives = []metrics.Objective{{Metric: "tpot", P: 99, Limit: time.Second}, {Metric: "ttft", Limit: time.Second}, {Metric: "itl", P: 100, Limit: time.Hour}}
		p := of(t, c)
		if len(p.Figures) == 0 || len(p.Goals) != 3 {
			t.Errorf("%s: %+v", name, p)
		}
		for _, g := range p.Goals {
			if !(g.Low >= 0 && g.Low <= g.High && g.High <= 1) || g.Certain && !g.Likely {
				t.Errorf("%s: %+v", name, g)
			}
		}
		if name == "one token" && slices.ContainsFunc(p.Figures, func(f predict.PredictedFigure) bool { return strings.HasPrefix(f.Name, "tpot") }) {
			t.Error("answers of one token have no TPOT")
		}
		if name == "one token" && (p.Goals[0].Likely || p.Goals[0].Certain) {
			t.Error("what nobody has is no objective met")
		}
	}
}

// What an engine refuses is told, and counts against objectives.
func TestRefused(t *testing.T) {
	l := equal(10, 2, 10, 5).same(1)
	l[0].Requests[3].Status, l[0].Requests[3].Refused = 400, "too long"
	p := of(t, predict.Case{Profile: &profile.Profile{Engine: plain}, Load: predict.Fixed(l...), Objectives: []metrics.Objective{{Metric: "ttft", P: 95, Limit: time.Hour}}})
	if p.Failed != 0.1 || p.Example != "too long" || p.Goals[0].Share != 0.9 || p.Goals[0].Likely {
		t.Errorf("%+v", p)
	}
}

// An objective is met for certain, likely, or not, by where its limit lies.
func TestGoals(t *testing.T) {
	race.Skip(t)
	own := truths()[0]
	c := predict.Case{Profile: &profile.Profile{Engine: own.Config, Calibration: wide(profile.Calibration{Drift: 0.02, Misfit: map[string]engine.Relative{"ttft.p90": 0.03}})}, Percentiles: []float64{90}}
	l := load{200, 0, 5, 400, 110}
	c.Load, c.Run = predict.Fixed(l.plans(own.dice)...), runOf(l)
	f := figureOf(t, of(t, c), "ttft.p90")
	for _, at := range []struct {
		limit           float64
		likely, certain bool
	}{{f.Low * 0.8, false, false}, {f.Point * 1.02, true, false}, {f.High * 1.5, true, true}} {
		c.Objectives = []metrics.Objective{{Metric: "ttft", P: 90, Limit: time.Duration(at.limit * 1e9)}, {Metric: "ttft", Limit: time.Hour}}
		p := of(t, c)
		if g := p.Goals[0]; g.Likely != at.likely || g.Certain != at.certain {
			t.Errorf("%v in %+v: %+v", at.limit, f, g)
		}
		want := map[bool]predict.Verdict{false: predict.NotMet, true: predict.LikelyMet}[at.likely]
		if at.certain {
			want = predict.Met
		}
		if p.Verdict() != want || !p.Goals[1].Certain {
			t.Errorf("together %v, want %v; %+v", p.Verdict(), want, p.Goals[1])
		}
	}
}

// The same case gives the same prediction, and an interrupt none.
func TestAgainAndNever(t *testing.T) {
	race.Skip(t)
	own := truths()[1]
	p := own.calibrated(t, protocol)
	l := load{60, 0, 5, 400, 110}
	c := predict.Case{Profile: p, Load: predict.Fixed(l.plans(own.dice)...), Run: runOf(l)}
	first, second := of(t, c), of(t, c)
	for i, f := range first.Figures {
		if g := second.Figures[i]; f.Name != g.Name || f.Point != g.Point || f.Low != g.Low || f.High != g.High || f.Sources != g.Sources {
			t.Errorf("%+v, then %+v", f, g)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := predict.Simulate(ctx, c); !errors.Is(err, over) {
		t.Errorf("goes on after its end: %v", err)
	}
}

func TestReport(t *testing.T) {
	var r predict.Report
	goals := func(likely, certain bool) *predict.Prediction {
		return &predict.Prediction{Goals: []predict.Goal{{Likely: likely, Certain: certain}, {Likely: true, Certain: true}}}
	}
	outside := goals(true, true)
	outside.Hull.Beyond = []predict.Beyond{{What: "requests at once", Most: 9, Seen: 4, Share: 1}}
	r.Add("1", outside, false)
	if why, all := r.Refused(); !all || why != "up to 9 requests at once, and 4 were seen" {
		t.Errorf("%q %v", why, all)
	}
	r.Add("2", goals(false, false), false)
	r.Add("3", goals(true, false), false)
	r.Add("4", goals(true, true), false)
	if _, all := r.Refused(); all || r.Likely != "3" || r.Certain != "4" || r.Rows[0].Prediction != nil {
		t.Errorf("%+v", r)
	}
	var extrapolated predict.Report
	extrapolated.Add("", outside, true)
	if row := extrapolated.Rows[0]; row.Prediction == nil || row.Extrapolated == "" || row.Refused != "" {
		t.Errorf("%+v", row)
	}
	r.AddRuns([]*trace.Trace{{Run: trace.Run{ID: "x", Kind: trace.Simulated}}})
	if r.Kind != trace.Simulated || r.Others[0] != "x" || r.Invalid {
		t.Errorf("%+v", r)
	}
}
