package search

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
)

func TestSet(t *testing.T) {
	s := plan.Spec{Version: plan.Version, Load: []plan.Stream{{Arrival: plan.Make("poisson", map[string]any{"rate": 1})}}}
	for _, set := range [][2]string{
		{"request.sampling.temperature", "0.5"}, {"load[0].arrival.rate", "7"}, {"target.engine.profile", "small-chat"}, {"request.body", `{"top_k": 3}`}, {"duration", "30s"},
	} {
		var problems plan.Problems
		if s, problems = Set(s, set[0], set[1]); problems != nil {
			t.Fatalf("%v: %v", set, problems)
		}
	}
	got := string(s.Request.Sampling) + string(s.Load[0].Arrival.Settings) + string(s.Target.Engine) + string(s.Request.Body) + s.Duration.String()
	if want := `{"temperature":0.5}{"rate":7}{"profile":"small-chat"}{"top_k":3}30s`; strings.ReplaceAll(got, " ", "") != want {
		t.Errorf("%s, want %s", got, want)
	}
	for path, why := range map[string]string{
		"load[1].arrival.rate": "no [1]", "a b": "must be a path", "request.nothing": "unknown", "version.x": "no map", "": "must be a path",
	} {
		if _, problems := Set(s, path, "1"); problems == nil || !strings.Contains(problems.Err().Error(), why) {
			t.Errorf("%s: %v, want %s", path, problems, why)
		}
	}
}

// What --set names is a setting of a plan or a field of a profile: no name is both.
func TestPathsAreNoFields(t *testing.T) {
	for _, name := range plan.Names(profile.Profile{}) {
		if IsPath(name) || !profile.IsField(name) {
			t.Errorf("%s is a setting of a plan too", name)
		}
	}
	for path, want := range map[string][2]bool{
		"load[0].arrival.rate": {true, false}, "request": {true, false}, "kv.tokens": {false, true}, "drift.change": {false, true}, "cost.decode_table[1].time": {false, true},
		"nothing": {}, "": {}, "[0]": {},
	} {
		if got := [2]bool{IsPath(path), profile.IsField(path)}; got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}
