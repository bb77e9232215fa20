package apiserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A server that is started a minute after another is a minute further in a drift that
// both have since one instant, and at the beginning of one that they do not share.
func TestServersShareADrift(t *testing.T) {
	for _, shared := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{Engine: deployment()}
			cfg.Engine.Drift = &engine.Drift{Change: 0.5, Over: plan.Duration(time.Minute)}
			if shared {
				cfg.Engine.Drift.Since = engine.Moment(time.Now())
			}
			time.Sleep(time.Minute)
			r := newRig(t, cfg)
			events, err := r.stream(completions, `{"prompt":`+ids(10)+`,"max_tokens":2,"ignore_eos":true,"stream":true}`)
			if err != nil {
				t.Fatal(err)
			}
			want := []time.Duration{30 * ms, 45 * ms}
			if !shared { // 20 ms into the drift a step of 10 ms takes 1.67 µs longer
				want = []time.Duration{20 * ms, 30*ms + 1667*time.Nanosecond}
			}
			if got := instants(t, events); !slices.Equal(got, want) {
				t.Errorf("shared %v: tokens at %v, want %v", shared, got, want)
			}
		})
	}
}

// uneven is a profile with everything that settings can change of a pace.
const uneven = `title: t
source: s
error: illustrative
cost: {step: 1ms}
slower: 1%
start_spread: 2%
drift: {change: 3%, over: 1m, settles: true}
stalls: {every: 10s, length: 1s}
`

// What settings give of a pace replaces what the profile has, member by member.
func TestSettingsChangeThePace(t *testing.T) {
	read := func(string) ([]byte, error) { return []byte(uneven), nil }
	for given, want := range map[string]string{
		`{}`:                          `1% 2% 3% 1m0s true 10s 1s`,
		`{"slower":0.05}`:             `5% 2% 3% 1m0s true 10s 1s`,
		`{"slower":"0%"}`:             `0% 2% 3% 1m0s true 10s 1s`,
		`{"drift":{"settles":false}}`: `1% 2% 3% 1m0s false 10s 1s`,
		`{"drift":{"change":"-4%"},"stalls":{"length":"2s"}}`:     `1% 2% -4% 1m0s true 10s 2s`,
		`{"start_spread":0,"stalls":{"every":"exponential(5s)"}}`: `1% 0% 3% 1m0s true exponential(5s) 1s`,
		`{"stalls":{"every":"1s"}}`:                               `stalls.length 1s: must be below stalls.every (1s)`,
		`{"drift":{"over":"soon"},"slower":-1}`:                   `drift.over: "soon": must be a time such as 30s, 10m or 1h30m`,
		`{"slower":-1,"start_spread":1}`: `slower -100%: must be from -90% to 1000%; ` +
			`start_spread 100%: must be from 0 to 20%`,
		`{"drift":{"chnge":"3%"}}`:    `drift.chnge: unknown field, did you mean "change"?`,
		`{"drift":{"since":"today"}}`: `drift.since: "today" is not an instant such as 2026-05-04T08:30:00Z`,
		`{"profile":"","ttft":"1ms","slower":"3%","drift":{"change":0.1,"over":"1m"}}`: `` +
			`slower: only applies to a profile; leave it out, or ttft; drift: only applies to a profile; leave it out, or ttft`,
	} {
		s := Settings{Profile: "uneven.yaml"}
		if problems := plan.DecodeJSON(json.RawMessage(given), &s); problems != nil {
			t.Fatal(problems)
		}
		cfg, _, err := s.Config("", read)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), "\n", "; ")
		} else {
			e := cfg.Engine
			settles := map[bool]string{true: " true ", false: " false "}[e.Drift.Settles]
			got = e.Slower.String() + " " + e.StartSpread.String() + " " + e.Drift.Change.String() + " " +
				e.Drift.Over.String() + settles + e.Stalls.Every.String() + " " + e.Stalls.Length.String()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", given, got, want)
		}
	}
}
