// Package profile reads descriptions of deployments: the model, the cost of each
// piece of work, the source of those numbers, and measurements of the real
// deployment.
//
// A profile is a YAML file. Reading is strict and reports every mistake at once,
// each with its line and a caret, since a misspelt coefficient would otherwise make
// the deployment silently faster than the real one. A few profiles are embedded in
// the program, see Names. Each one states the basis of its numbers; do not trust
// one without a measured error.
package profile

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Profile describes a deployment.
type Profile struct {
	// Name is that of its file, without folder and extension.
	Name string `yaml:"-"`
	// Text is the file.
	Text   string `yaml:"-"`
	Title  string `yaml:"title"`  // in one line
	About  string `yaml:"about"`  // its subject and caveats
	Source string `yaml:"source"` // where its numbers come from
	// Error is, in one line, the deviation of the engine with this profile from
	// measurements, or "illustrative" without any.
	Error    string        `yaml:"error"`
	Model    Model         `yaml:"model"`
	Engine   engine.Config `yaml:",inline"`
	Answers  *Answers      `yaml:"answers"` // nil: they depend on the prompt alone
	Evidence []Evidence    `yaml:"evidence"`
	// Calibration is of a profile that was found from the records of runs; nil: it was not.
	Calibration *Calibration `yaml:"calibration"`
}

// DefaultModel is the name of a model without one.
const DefaultModel = "pitot"

// A Model is the model that the deployment serves.
type Model struct {
	Name string `yaml:"name"` // as /v1/models lists it; DefaultModel if empty
	// Adapters are its LoRA adapters, by the names that requests give as their
	// model.
	Adapters []string `yaml:"adapters"`
	// OutputLen is the natural length of an answer, in tokens.
	OutputLen arrival.Count `yaml:"output_len"`
}

// Parse reads the profile in data; file is its name in mistakes. The error is
// plan.Mistakes, in order of place.
func Parse(file string, data []byte) (*Profile, error) {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	p := &Profile{Name: strings.TrimSuffix(base, path.Ext(base)), Text: string(data)}
	doc, err := plan.Parse(file, data)
	if err != nil {
		return nil, err
	}
	misread := plan.Decoder{Unknown: hint}.Decode(doc.Root, p)
	if doc.Root.Kind != plan.Map && doc.Root.Kind != plan.Null {
		return nil, doc.Explain(misread)
	}
	if err := doc.Explain(misread, p.Validate()); err != nil {
		return nil, err
	}
	return p, nil
}

// hint suggests a field for an unknown one: one with a similar spelling, or with
// that name in a server.
func hint(name string, names []string) string {
	plain := strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
	if ours := otherNames()[plain]; ours != "" {
		return "; use " + ours
	}
	return plan.Suggest(name, names)
}

// Validate reports everything wrong with p at once.
func (p *Profile) Validate() plan.Problems {
	v := &checker{}
	v.requireText("title", p.Title)
	v.oneLine("title", p.Title)
	v.requireText("source", p.Source)
	v.requireText("error", p.Error)
	v.oneLine("error", p.Error)
	v.adapters("model.adapters", p.Model)
	v.If(p.Engine.LoRA != nil && len(p.Model.Adapters) == 0, "lora", nil, "no adapter can be requested: list them in model.adapters")
	v.Problems = append(v.Problems, p.Engine.Validate()...)
	v.calibration(p.Calibration)
	v.answers(p.Answers)
	names := map[string]bool{}
	for i, e := range p.Evidence {
		field := plan.Item("evidence", i)
		v.evidence(field, e)
		v.If(e.Name != "" && names[e.Name], field+".name", nil, "%q names two runs", e.Name)
		names[e.Name] = true
	}
	return v.Problems
}

// Accuracy is Error as a message.
func (p *Profile) Accuracy() plan.Message {
	if p.Error == "illustrative" {
		return plan.Msg(trace.Illustrative)
	}
	return plan.Text(p.Error)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// A Calibration says what the numbers of a profile are worth that was found from the records of
// runs: where they were seen, and by how much they may be off. A prediction takes its
// intervals from it.
type Calibration struct {
	Runs   int             `yaml:"runs"`   // that it was found from
	Steps  int             `yaml:"steps"`  // of the engine that were seen
	Missed engine.Relative `yaml:"missed"` // share of the steps that could not be separated
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
	Memory     bool `yaml:"memory"`      // kv.tokens was reached, or reported by the server
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
		v.IntegerIn(path+f.name, f.value, 0, math.MaxInt)
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
