package profile

import (
	"math"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// Answers say how what a deployment says depends on it. Without them its answers follow from the prompt alone, and their
// natural lengths from the seed of the start; with them lengths follow from the prompt, too.
type Answers struct {
	// Hazard is the probability, per token, that two starts go on otherwise.
	Hazard engine.Relative `yaml:"hazard"`
	// Change shifts where that happens, for all starts alike, in standard deviations of what a start shifts by itself.
	Change float64         `yaml:"change"`
	Broken engine.Relative `yaml:"broken"` // share of the answers of a start that end in a loop, or are empty
	Longer engine.Relative `yaml:"longer"` // than natural, by this share
	// Right is the share of right answers to generated questions (grade.Sets); 0: they get answers as any prompt.
	Right engine.Relative `yaml:"right"`
}

// answers checks an Answers, which may be nil.
func (v *checker) answers(a *Answers) {
	if a == nil {
		return
	}
	const mostHazard, mostChange, mostLonger = 0.1, 100, 10
	v.If(!(a.Hazard >= 0 && a.Hazard <= mostHazard), "answers.hazard", a.Hazard, "must be from 0 to 10%%")
	v.If(!(math.Abs(a.Change) <= mostChange), "answers.change", a.Change, "must be from -%d to %d", mostChange, mostChange)
	v.If(a.Change != 0 && a.Hazard == 0, "answers.change", a.Change, "only applies where answers.hazard is above 0")
	v.Share("answers.broken", float64(a.Broken))
	v.Share("answers.right", float64(a.Right))
	v.If(!(a.Longer > -1 && a.Longer <= mostLonger), "answers.longer", a.Longer, "must be above -100%% and at most 1000%%")
}
