package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A Calibration says what the numbers of a profile are worth that was found from the records of
// runs: where they were seen, and by how much they may be off. A prediction takes its
// intervals from it.
type Calibration struct {
	Runs   int             `yaml:"runs"`   // that it was found from
	Steps  int             `yaml:"steps"`  // of the engine that were seen
	Missed engine.Relative `yaml:"missed"` // share of the steps that could not be told apart
	Seen   Seen            `yaml:"seen"`
	// Doubts are reasons not to trust it, even within what was seen.
	Doubts []string `yaml:"doubts"`
	// Drift is the standard deviation of the pace of the server, over 4 s each, beyond what
	// steps vary by themselves.
	Drift engine.Relative `yaml:"drift"`
	// Misfit is, by figure (ttft.mean), how far the engine is off for the runs that it was found
	// from: the root of the mean square of ln(simulated/measured). It is at least 1 %.
	Misfit map[string]engine.Relative `yaml:"misfit"`
	// Draws are the costs found again from blocks of time drawn anew: each is as likely as
	// the costs of the profile.
	Draws []engine.Costs `yaml:"draws"`
}

// Seen is the range of loads that the engine was seen under. Beyond it nothing is known.
type Seen struct {
	Sequences  int  `yaml:"sequences"`   // that ran at once at most
	Context    int  `yaml:"context"`     // tokens behind them, together, at most
	StepTokens int  `yaml:"step_tokens"` // prompt tokens in a step at most
	Prompt     int  `yaml:"prompt"`      // tokens of the longest prompt
	Limit      bool `yaml:"limit"`       // max_sequences was reached: more wait
	Budget     bool `yaml:"budget"`      // token_budget was reached: more prompt tokens wait
	Memory     bool `yaml:"memory"`      // kv.tokens was reached, or the server told it
}

// MostDraws is the largest number of Draws of a profile.
const MostDraws = 100

func (v *checker) calibration(c *Calibration) {
	if c == nil {
		return
	}
	const path = "calibration."
	for _, f := range []struct {
		name  string
		value int
	}{
		{"runs", c.Runs},
		{"steps", c.Steps},
		{"seen.sequences", c.Seen.Sequences},
		{"seen.context", c.Seen.Context},
		{"seen.step_tokens", c.Seen.StepTokens},
		{"seen.prompt", c.Seen.Prompt},
	} {
		v.Whole(path+f.name, f.value, 0, math.MaxInt)
	}
	v.Share(path+"missed", float64(c.Missed))
	v.Share(path+"drift", float64(c.Drift))
	for _, name := range slices.Sorted(maps.Keys(c.Misfit)) {
		v.If(!(c.Misfit[name] >= 0 && c.Misfit[name] <= 10), path+"misfit."+name, c.Misfit[name], "must be from 0 to 1000%%")
	}
	v.If(len(c.Draws) > MostDraws, path+"draws", len(c.Draws), "must be at most %d", MostDraws)
	for i := range c.Draws {
		at := fmt.Sprintf("%sdraws[%d]", path, i)
		for _, p := range (engine.Config{Cost: c.Draws[i]}).Validate() {
			p.Path = at + strings.TrimPrefix(p.Path, "cost")
			v.Problems = append(v.Problems, p)
		}
	}
}
