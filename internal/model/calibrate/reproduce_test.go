package calibrate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/test/race"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// foreign are the tools of the measurements.
var foreign = metrics.Rules{vllm.Definitions(), sglang.Definitions()}

// known is a deployment with its own draw as evidence: its measurements are its
// behaviour.
func known(t *testing.T, fitted bool) *profile.Profile {
	t.Helper()
	return knownBy(t, fitted, 7)
}

func knownBy(t *testing.T, fitted bool, draw uint64) *profile.Profile {
	t.Helper()
	p := &profile.Profile{Name: "known", Title: "t", Source: "s", Error: "e"}
	p.Engine.Cost = engine.Costs{Step: 10e-3, Sequence: 100e-6, Prefill: 2e-3, PrefillToken: 20e-6}
	for _, rate := range []float64{2, 20} {
		e := profile.Evidence{
			Name: fmt.Sprint(rate), Log: "l", Requests: 120, Rate: rate, Fitted: fitted, Workload: profile.Workload{
				InputTokens: 12000, OutputTokens: 6000, Text: profile.Lengths{Law: profile.Lognormal, Sigma: 0.7},
				Output: profile.Lengths{Law: profile.Capped, Max: 64, AtCap: 0.5},
			},
		}
		f, err := once(p.Engine, &e, draw, vllm.Definitions(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Measured = profile.Measured{
			Duration: engine.Seconds(f["duration"]), Throughput: profile.Throughput{Output: f["throughput.output"]}, Peak: profile.Peak{Concurrency: f["peak.concurrency"]},
			TTFT: profile.Times{Mean: engine.Seconds(f["ttft.mean"]), P99: engine.Seconds(f["ttft.p99"])},
			TPOT: profile.Times{Mean: engine.Seconds(f["tpot.mean"]), Median: engine.Seconds(f["tpot.median"])},
			ITL:  profile.Times{Mean: engine.Seconds(f["itl.mean"]), Median: engine.Seconds(f["itl.median"])},
		}
		p.Evidence = append(p.Evidence, e)
	}
	return p
}

func TestTheRightProfileHasNoErrorButThatOfTheDraws(t *testing.T) {
	comparisons, err := Compare(t.Context(), known(t, false), 0, 12, foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range comparisons {
		if len(c.Figures) != 9 || c.Draws != 12 {
			t.Fatalf("%d figures of %d draws", len(c.Figures), c.Draws)
		}
		if !(c.Within > 0 && c.Within < 0.05 && 0 < c.Low && c.Low < c.Single && c.Single < c.High) {
			t.Errorf("%g/s: error within %.3f, of one draw %.3f to %.3f", c.Evidence.Rate, c.Within, c.Low, c.High)
		}
		if c.Error > 0.08 || c.Single == 0 {
			t.Errorf("%g/s: error %.3f, of one draw %.3f: %+v", c.Evidence.Rate, c.Error, c.Single, c.Figures)
		}
		for _, f := range c.Figures {
			if math.Abs(f.Error()) > 5*f.Spread+0.02 {
				t.Errorf("%s: %v, measured %v, spread %v", f.Name, f.Median, f.Measured, f.Spread)
			}
		}
	}
}

func TestAWrongProfileHasAnError(t *testing.T) {
	p := known(t, false)
	p.Engine.Cost.Step *= 2
	comparisons, err := Compare(t.Context(), p, 0, 5, foreign)
	if err != nil {
		t.Fatal(err)
	}
	if c := comparisons[0]; c.Error < 0.3 {
		t.Errorf("error %.3f", c.Error)
	}
}

func TestFitFindsWhatWasChanged(t *testing.T) {
	race.Skip(t)
	p := known(t, true)
	p.Engine.Cost.Step, p.Engine.Cost.PrefillToken, p.Engine.MaxModelLen = 17e-3, 40e-6, 5000
	better := 0
	plan := FitPlan{Rules: foreign, Fields: []string{"cost.step", "cost.prefill_token", "max_model_len"}, Draws: 4, Steps: 150, Progress: func(int, float64) { better++ }}
	out, err := Fit(t.Context(), p, plan)
	if err != nil {
		t.Fatal(err)
	}
	if step := float64(p.Engine.Cost.Step); math.Abs(step/10e-3-1) > 0.03 {
		t.Errorf("step %v, want 10 ms", p.Engine.Cost.Step)
	}
	if token := float64(p.Engine.Cost.PrefillToken); math.Abs(token/20e-6-1) > 0.4 { // it hardly matters here
		t.Errorf("prefill_token %v, want about 20 us", p.Engine.Cost.PrefillToken)
	}
	want := []FittedField{
		{"cost.step", "17ms", p.Engine.Cost.Step.String(), false, out.Fields[0].Interval},
		{"cost.prefill_token", "40us", p.Engine.Cost.PrefillToken.String(), false, out.Fields[1].Interval},
		{"max_model_len", "5000", fmt.Sprint(p.Engine.MaxModelLen), true, Interval{}},
	}
	if step, token := out.Fields[0].Interval, out.Fields[1].Interval; step.Share == 0 || !step.Determined() || token.Share < 2*step.Share {
		t.Errorf("step %+v, prefill_token %+v", step, token)
	}
	if !slices.Equal(out.Fields, want) || better < 5 {
		t.Errorf("%+v after %d improvements, want %+v", out.Fields, better, want)
	}
	if out.Before < 0.2 || out.After > 0.06 {
		t.Errorf("error %v before and %v after", out.Before, out.After)
	}
}

var long = flag.Bool("long", false, "fit many deployments, to see how often an interval holds the truth")

// A number lies in its interval about as often as is said, whatever draw was measured, and
// what is not determined may be far off.
func TestFittedNumbersLieInTheirIntervals(t *testing.T) {
	if !*long {
		t.Skip("takes minutes; -long")
	}
	truth := map[string]float64{"cost.step": 10e-3, "cost.sequence": 100e-6, "cost.prefill": 2e-3, "cost.prefill_token": 20e-6}
	held, all, undetermined := 0, 0, map[string]int{}
	for draw := range uint64(25) {
		p := knownBy(t, true, draw)
		c := &p.Engine.Cost
		c.Step, c.Sequence, c.Prefill, c.PrefillToken = 1.3*c.Step, 0.7*c.Sequence, 1.3*c.Prefill, 0.7*c.PrefillToken
		out, err := Fit(t.Context(), p, FitPlan{Rules: foreign, Fields: slices.Sorted(maps.Keys(truth)), Draws: 6, Steps: 200})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Fields {
			low, high := seconds(t, f.Interval.Low), seconds(t, f.Interval.High)
			if all++; low <= truth[f.Path] && truth[f.Path] <= high {
				held++
			}
			if !f.Interval.Determined() {
				undetermined[f.Path]++
			}
		}
	}
	t.Logf("%d of %d intervals hold the truth; not determined in 25 fits: %v", held, all, undetermined)
	if share := float64(held) / float64(all); share < 0.85 {
		t.Errorf("%.0f %% of the intervals hold the truth", 100*share)
	}
}

func seconds(t *testing.T, s string) float64 {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d.Seconds()
}

func TestAFitThatIsStoppedGivesTheBestSoFar(t *testing.T) {
	p := known(t, true)
	p.Engine.Cost.Step = 17e-3
	ctx, stop := context.WithCancel(t.Context())
	last := 0
	out, err := Fit(ctx, p, FitPlan{Rules: foreign, Fields: []string{"cost.step"}, Draws: 1, Steps: 120, Progress: func(step int, _ float64) {
		if last = step; step > 1 {
			stop()
		}
	}})
	if err != nil || last < 2 || last > 10 {
		t.Fatalf("%v after %d steps", err, last)
	}
	if step := float64(p.Engine.Cost.Step); out.Fields[0].After != p.Engine.Cost.Step.String() || math.Abs(step-10e-3) >= 7e-3 {
		t.Errorf("step %v, told as %+v: want better than 17 ms", p.Engine.Cost.Step, out)
	}
}

// A prefix cache keeps the prefixes of requests preempted by a full memory.
func TestPreemptedRequestsFindThemselvesInThePrefixCache(t *testing.T) {
	c := engine.Config{MaxModelLen: 3200, KV: engine.KVCache{Tokens: 3200}, Cost: engine.Costs{Step: 1e-3, PrefillToken: 1e-3}}
	e := &profile.Evidence{Requests: 10, Workload: profile.Workload{
		InputTokens: 15000, OutputTokens: 10000, Text: profile.Lengths{Law: profile.Fixed}, Output: profile.Lengths{Law: profile.Fixed},
	}}
	without, err := once(c, e, 0, vllm.Definitions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.KV.PrefixCache = true
	with, err := once(c, e, 0, vllm.Definitions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if with["duration"] > 0.9*without["duration"] {
		t.Errorf("%v s with a prefix cache, %v s without", with["duration"], without["duration"])
	}
}

func TestAComparisonEndsWithItsContext(t *testing.T) {
	ended := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(ended)
	if _, err := Compare(ctx, known(t, false), 0, 1000, foreign); !errors.Is(err, ended) {
		t.Error(err)
	}
}

func TestFitNamesFieldsItCannotFit(t *testing.T) {
	_, err := Fit(t.Context(), known(t, true), FitPlan{Rules: foreign, Fields: []string{"cost.stp", "cost.block", "title", "evidence.measured.duration"}})
	for _, want := range []string{`field "evidence.measured.duration": measured figures cannot be fitted`, `field "cost.stp": the profile has no such number`, `field "cost.block": must begin above 0`, `field "title"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A request that the deployment would refuse is an error: leaving it out would be
// another load.
func TestARequestThatIsTooLongIsAnError(t *testing.T) {
	p := known(t, false)
	p.Engine.KV.Tokens = 160
	if _, err := Compare(t.Context(), p, 0, 1, foreign); err == nil || !strings.Contains(err.Error(), "known, 2: draw 0: request ") {
		t.Error(err)
	}
}

// An engine that takes no time has figures that are all 0, without variation.
func TestFiguresOfNothingDoNotVary(t *testing.T) {
	p := known(t, false)
	p.Engine.Cost = engine.Costs{}
	comparisons, err := Compare(t.Context(), p, 0, 2, foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range comparisons[0].Figures {
		if math.IsNaN(f.Spread) || math.IsNaN(f.Median) {
			t.Errorf("%+v", f)
		}
	}
}

func TestAFieldOfEveryRunIsOne(t *testing.T) {
	p := known(t, true)
	fields, err := FitPlan{Rules: foreign, Fields: []string{"evidence.workload.text.sigma"}}.fields(p)
	if err != nil || len(fields[0]) != 2 {
		t.Fatalf("%v, %v", fields, err)
	}
	fields[0].set(0.3)
	if p.Evidence[0].Workload.Text.Sigma != 0.3 || p.Evidence[1].Workload.Text.Sigma != 0.3 {
		t.Error("not set in every run")
	}
}

// An item of a list is named by its number; a list as a whole is no number.
func TestAFieldMayBeAnItem(t *testing.T) {
	p := known(t, true)
	p.Engine.Scheduler.PrefillBudget = 512
	p.Engine.Cost.MixedTable = []engine.Point{{At: 0, Time: 1e-3}, {At: 8, Time: 2e-3}}
	p.Engine.Cost.JitterQuantiles = []float64{0.9, 1, 1.2}
	p.Engine.Cost.SlowSteps = &engine.SlowSteps{Share: 0.01, Extra: []engine.Seconds{4e-3, 10e-3}}
	for path, want := range map[string]string{
		"scheduler.prefill_budget": "512", "cost.mixed_table[1].time": "2ms", "cost.mixed_table[1].at": "8", "cost.jitter_quantiles[2]": "1.2",
		"cost.slow_steps.share": "1%", "cost.slow_steps.extra[0]": "4ms",
	} {
		fields, err := FitPlan{Fields: []string{path}}.fields(p)
		if err != nil || len(fields[0]) != 1 || fields[0].String() != want {
			t.Errorf("%s: %v, %v, want %s", path, fields, err, want)
		}
	}
	for _, path := range []string{
		"cost.mixed_table.time", "cost.mixed_table[2].time", "cost.mixed_table[-1].time", "cost.mixed_table[1]", "cost.jitter_quantiles", "cost.jitter_quantiles[1].at",
		"evidence[0].workload.text.sigma", "evidence[measured].duration",
	} {
		if _, err := (FitPlan{Fields: []string{path}}).fields(p); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
	fields, err := FitPlan{Fields: []string{"cost.slow_steps.extra[1]"}}.fields(p)
	if err != nil {
		t.Fatal(err)
	}
	fields[0].set(20e-3)
	if got := p.Engine.Cost.SlowSteps.Extra; got[0] != 4e-3 || got[1] != 20e-3 {
		t.Errorf("set %v", got)
	}
}

// Totals are exact for every law.
func TestDrawsKeepTheTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "requests")
		limit := rapid.IntRange(2, 200).Draw(t, "max")
		law := rapid.SampledFrom([]profile.Lengths{
			{Law: profile.Fixed}, {Law: profile.Lognormal, Sigma: 1.5}, {Law: profile.Lognormal, Sigma: 0.5, Max: limit}, {Law: profile.Capped, Max: limit, AtCap: 0.5},
		}).Draw(t, "law")
		least, most := n, n*limit
		if law.Law == profile.Capped {
			least = n + int(math.Round(law.AtCap*float64(n)))*(limit-1)
		}
		total := rapid.IntRange(least, most).Draw(t, "total")
		e := &profile.Evidence{Requests: n, Rate: 3, Workload: profile.Workload{
			InputTokens: total, OutputTokens: n, Text: law, Output: profile.Lengths{Law: profile.Fixed},
			Image: &profile.Images{Mean: 100, Sigma: 0.4, GiantShare: 0.1, GiantTokens: 5000},
		}}
		p := plan(e, rapid.Uint64Range(0, 1<<40).Draw(t, "draw"))
		sum, giants := 0, 0
		for _, r := range p.Requests {
			if r.PromptTokens < 1 || law.Max > 0 && r.PromptTokens > law.Max {
				t.Fatalf("length %d", r.PromptTokens)
			}
			sum += r.PromptTokens
			if r.Job.Images[0].Tokens == 5000 {
				giants++
			}
			if r.Job.PromptTokens != r.PromptTokens+r.Job.Images[0].Tokens {
				t.Fatalf("%+v", r.Job)
			}
		}
		if share := 0.1 * float64(n); sum != total || giants < int(share) || giants > int(share)+1 {
			t.Fatalf("sum %d, want %d; %d giants of %d", sum, total, giants, n)
		}
		var at []time.Duration
		for due := range p.Schedule {
			if at = append(at, due); len(at) == n {
				break
			}
		}
		if last := time.Duration(float64(n) / 3 * 1e9); !slices.IsSorted(at) || at[n-1].Round(time.Millisecond) != last.Round(time.Millisecond) {
			t.Fatalf("the last of %d arrives at %v, want %v", n, at[n-1], last)
		}
	})
}

func TestADrawIsItsNumber(t *testing.T) {
	p := known(t, false)
	e := &p.Evidence[1]
	a, _ := once(p.Engine, e, 3, vllm.Definitions(), nil)
	b, _ := once(p.Engine, e, 3, vllm.Definitions(), nil)
	c, _ := once(p.Engine, e, 4, vllm.Definitions(), nil)
	if a["ttft.mean"] != b["ttft.mean"] || a["ttft.mean"] == c["ttft.mean"] {
		t.Errorf("draws 3, 3 and 4 have mean TTFT %v, %v and %v", a["ttft.mean"], b["ttft.mean"], c["ttft.mean"])
	}
}
