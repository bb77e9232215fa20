package apiserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Pacing are the settings that change the pace of a profile. The members of Drift and
// Stalls that are given replace those of the profile, one by one.
type Pacing struct {
	Slower      *engine.Relative `json:"slower,omitempty"`
	StartSpread *engine.Relative `json:"start_spread,omitempty"`
	Drift       json.RawMessage  `json:"drift,omitempty"`
	Stalls      json.RawMessage  `json:"stalls,omitempty"`
}

// paced are the names of those that are given.
func (s Pacing) paced() (names []string) {
	for _, one := range []struct {
		name string
		set  bool
	}{
		{"slower", s.Slower != nil},
		{"start_spread", s.StartSpread != nil},
		{"drift", s.Drift != nil},
		{"stalls", s.Stalls != nil},
	} {
		if one.set {
			names = append(names, one.name)
		}
	}
	return names
}

// pace makes the pace of an engine the one of the settings. The error is plan.Problems.
func (s Pacing) pace(c *engine.Config) error {
	c.Slower, c.StartSpread = or(s.Slower, c.Slower), or(s.StartSpread, c.StartSpread)
	problems := plan.Merge(over("drift", s.Drift, &c.Drift), over("stalls", s.Stalls, &c.Stalls))
	if problems != nil {
		return problems
	}
	for _, p := range c.Validate() {
		name, _, _ := strings.Cut(p.Path, ".")
		if slices.Contains(s.paced(), name) {
			problems = append(problems, p)
		}
	}
	return problems.Err()
}

// over decodes the given fields of a part over those of the profile.
func over[T any](path string, given json.RawMessage, part **T) plan.Problems {
	if given == nil {
		return nil
	}
	if *part == nil {
		*part = new(T)
	}
	return plan.DecodeJSON(given, *part).Below(path)
}
