package profile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

const settable = `title: a
source: a
error: illustrative
kv: {tokens: 48000}
cost:
  step: 8ms
  prefill_table: [{at: 1, time: 2ms}, {at: 100, time: 4.5ms}]
  jitter: 0.03
calibration:
  drift: 2%
  draws:
    - {step: 8.1ms, jitter: 0.03}
    - {sequence: 30us}
`

func with(t *testing.T, sets ...string) (*profile.Profile, error) {
	t.Helper()
	var all []profile.Set
	for _, text := range sets {
		s, err := profile.ParseSet(text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return profile.With("a.yaml", []byte(settable), all)
}

func TestSet(t *testing.T) {
	p, err := with(t, "kv.tokens=2x", "replicas.count = 4", "cost.step=0.5x", "cost.prefill_table[1].time=2x", "calibration.drift=1.5x",
		"speculative.drafts=3", "speculative.acceptance=[0.7, 0.5]", "scheduler.policy=sglang", "model.output_len=uniform(1,20)", "cost.jitter=0.05", "slower=3%")
	if err != nil {
		t.Fatal(err)
	}
	e, k := p.Engine, p.Calibration
	if e.KV.Tokens != 96000 || e.Replicas.Count != 4 || e.Cost.Step.String() != "4ms" || e.Cost.PrefillTable[1].Time.String() != "9ms" || k.Drift.String() != "3%" ||
		e.Speculative.Drafts != 3 || !slices.Equal(e.Speculative.Acceptance, engine.Acceptance{0.7, 0.5}) || e.Scheduler.Policy != "sglang" || p.Model.OutputLen.String() != "uniform(1,20)" || e.Slower != 0.03 {
		t.Errorf("%+v %+v", e, k)
	}
	if d := k.Draws; d[0].Step.String() != "4.05ms" || d[1].Step != 0 || d[0].Jitter != 0.05 || d[1].Jitter != 0.05 || d[1].Sequence.String() != "30us" {
		t.Errorf("draws %+v", d)
	}
	host, err := with(t, "cost.host.factors=[1, 2]", "cost.host.hold=2s", "cost.launch=3ms")
	if err != nil {
		t.Fatal(err)
	}
	if d := host.Calibration.Draws; host.Engine.Cost.Host.Factors[1] != 2 || d[0].Host != nil || d[1].Launch != 3e-3 {
		t.Errorf("%+v", host.Calibration)
	}
	if again, err := with(t); err != nil || again.Engine.KV.Tokens != 48000 {
		t.Errorf("the file itself was changed: %+v, %v", again, err)
	}
}

func TestSetErrors(t *testing.T) {
	for set, why := range map[string]string{
		"kv.tokens":                     "is not FIELD=VALUE",
		"=3":                            "is not FIELD=VALUE",
		"kv.tokens=":                    "is not FIELD=VALUE",
		"kv.tokns=3":                    `kv.tokns=3: unknown field, did you mean "tokens"?`,
		"kv.tokens=-1":                  "kv.tokens=-1: must not be negative",
		"kv.tokens=many":                "must be a whole number",
		"kv.tokens=1.00001x":            "must be a whole number",
		"kv.tokens=NaNx":                "a factor must be above 0",
		"kv.tokens=-2x":                 "a factor must be above 0",
		"kv.tokens=Infx":                "a factor must be above 0",
		"kv.tokens=0x":                  "a factor must be above 0",
		"kv=2x":                         "no number in the profile to multiply",
		"replicas.count=2x":             "no number in the profile to multiply; give its value",
		"title=2x":                      "no number",
		"kv.tokens.more=3":              "more is not the name of a field",
		"cost.prefill_table[7].time=1s": "there is no item 7",
		"cost.prefill_table[99999999999999999999].time=1s": "there is no item",
		".kv.tokens=3":                 "is not the path of a field",
		"kv..tokens=3":                 "is not the path of a field",
		"kv tokens=3":                  "is not the path of a field",
		"tensor_parallel=3":            "unknown field",
		"cost.jitter=NaN":              "must be a number",
		"cost.jitter=9":                "must be between 0 and 2",
		"cost.step=fast":               `not a time`,
		"cost.step={":                  "is no value",
		"scheduler.chunk=true":         "must be a whole number",
		"speculative.acceptance=0.5":   "speculative.drafts 0: must be at least 1",
		"scheduler.max_sequences=9000": "scheduler.token_budget",
		"calibration.drift=60x":        "must be between 0 and 1",
	} {
		if _, err := with(t, set); err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", set, err, why)
		}
	}
	_, err := with(t, "kv.tokens=-1", "replicas.count=-1")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes are told as %v", err)
	}
}
