// Package profile reads descriptions of deployments: what is served, how long
// each piece of its work takes, where those numbers come from, and what was
// measured on the real one.
//
// A profile is a YAML file. Reading one is strict and reports every mistake at
// once, each with its line and a caret, since a misspelt coefficient would
// otherwise be a deployment that is silently faster than the real one. A few
// profiles are part of the program, see Names. Every one says what its numbers
// rest on, and no reader needs to trust one without a measured error.
package profile

import (
	"math"
	"path"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Profile describes a deployment.
type Profile struct {
	// Name is that of its file, without folder and ending.
	Name string `yaml:"-"`
	// Text is the file.
	Text   string `yaml:"-"`
	Title  string `yaml:"title"`  // in one line
	About  string `yaml:"about"`  // what it stands for and what to beware of
	Source string `yaml:"source"` // where its numbers come from
	// Error is, in one line, how far the engine with this profile is from what was
	// measured, or "illustrative" where nothing was.
	Error    string        `yaml:"error"`
	Model    Model         `yaml:"model"`
	Engine   engine.Config `yaml:",inline"`
	Evidence []Evidence    `yaml:"evidence"`
}

// DefaultModel is the name of a model that has none.
const DefaultModel = "pitot"

// A Model is what the deployment serves.
type Model struct {
	Name string `yaml:"name"` // as /v1/models lists it; DefaultModel if empty
	// Adapters are the LoRA adapters of it, by the names that requests give as
	// their model.
	Adapters []string `yaml:"adapters"`
	// OutputLen is the natural length of an answer, in tokens.
	OutputLen dist.Count `yaml:"output_len"`
}

// Parse reads the profile in data; file is the name that mistakes give. They are
// plan.Mistakes, in order of their places.
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

// hint is what an unknown field may have been meant to be: one that is spelled alike, or
// that servers call so.
func hint(name string, names []string) string {
	plain := strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
	if ours := elsewhere()[plain]; ours != "" {
		return ": here it is " + ours
	}
	return plan.Suggest(name, names)
}

// Validate reports everything wrong with p at once.
func (p *Profile) Validate() plan.Problems {
	v := &checker{}
	v.given("title", p.Title)
	v.oneLine("title", p.Title)
	v.given("source", p.Source)
	v.given("error", p.Error)
	v.oneLine("error", p.Error)
	v.adapters("model.adapters", p.Model)
	v.If(p.Engine.LoRA != nil && len(p.Model.Adapters) == 0, "lora", nil, "nobody could ask for an adapter: name those that are served in model.adapters")
	v.Problems = append(v.Problems, p.Engine.Validate()...)
	names := map[string]bool{}
	for i, e := range p.Evidence {
		field := plan.Item("evidence", i)
		v.evidence(field, e)
		v.If(e.Name != "" && names[e.Name], field+".name", nil, "%q names two runs", e.Name)
		names[e.Name] = true
	}
	return v.Problems
}

// Accuracy is Error for those who say it in another language.
func (p *Profile) Accuracy() plan.Message {
	if p.Error == "illustrative" {
		return plan.Say(trace.Illustrative)
	}
	return plan.Text(p.Error)
}

// Context is the longest context that the deployment takes, prompt and output
// together.
func (p *Profile) Context() int { return p.Engine.Context() }

// finite tells numbers from what is none.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
