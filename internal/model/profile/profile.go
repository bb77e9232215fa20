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
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
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
	OutputLen engine.Count `yaml:"output_len"`
}

// Parse reads the profile in data. Its mistakes are joined, in order of their
// places, and each is a *yamltree.Mistake; file is the name they give.
func Parse(file string, data []byte) (*Profile, error) {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	p := &Profile{Name: strings.TrimSuffix(base, path.Ext(base)), Text: string(data)}
	d := newDecoder(file, data)
	if d.document(data, p) {
		d.explain(p.Validate())
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Validate reports everything wrong with p at once; each of the joined errors
// is an *engine.FieldError.
func (p *Profile) Validate() error {
	v := &checker{}
	v.given("title", p.Title)
	v.oneLine("title", p.Title)
	v.given("source", p.Source)
	v.given("error", p.Error)
	v.oneLine("error", p.Error)
	v.adapters("model.adapters", p.Model)
	v.bad(p.Engine.LoRA != nil && len(p.Model.Adapters) == 0, "lora", "nobody could ask for an adapter: name those that are served in model.adapters")
	v.errs = append(v.errs, p.Engine.Validate())
	names := map[string]bool{}
	for i, e := range p.Evidence {
		field := fmt.Sprintf("evidence[%d]", i)
		v.evidence(field, e)
		v.bad(e.Name != "" && names[e.Name], field+".name", "%q names two runs", e.Name)
		names[e.Name] = true
	}
	return v.err()
}

// Context is the longest context that the deployment takes, prompt and output
// together.
func (p *Profile) Context() int { return p.Engine.Context() }

// finite tells numbers from what is none.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
