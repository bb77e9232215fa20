package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/tool/python"
)

// nameKey is the parameter that is none: the name of a combination.
const nameKey = "_benchmark_name"

// A Param is a parameter with its value, as json.dumps writes it.
type Param struct {
	Name  string
	Value json.RawMessage
}

// Params is one combination of parameters, in the order of its file.
type Params []Param

// Unchanged is the one combination of a command without a file of parameters.
func Unchanged() []Params { return []Params{{}} }

// ReadParams reads a file of parameters: a list of objects, or an object of them by name.
func ReadParams(text string) (all []Params, err error) {
	raw, err := python.Loads(text)
	if err != nil {
		return nil, err
	}
	root := gjson.ParseBytes(raw)
	if !root.IsArray() && !root.IsObject() {
		return nil, errors.New("must be a list of objects, or an object of them")
	}
	names := map[string]bool{}
	root.ForEach(func(key, item gjson.Result) bool {
		var p Params
		if root.IsObject() {
			p = append(p, Param{nameKey, json.RawMessage(key.Raw)})
		}
		if !item.IsObject() {
			err = fmt.Errorf("has %.40s, where an object of parameters must be", item.Raw)
			return false
		}
		item.ForEach(func(name, value gjson.Result) bool {
			p = p.with(name.String(), json.RawMessage(value.Raw))
			return true
		})
		if p.Has(nameKey) {
			if names[p.Name()] {
				err = fmt.Errorf("has the %s %s twice", nameKey, p.Name())
			}
			names[p.Name()] = true
		}
		all = append(all, p)
		return err == nil
	})
	return all, err
}

// with is the combination with a value, in place of one that it has.
func (p Params) with(name string, value json.RawMessage) Params {
	p = slices.Clone(p)
	if i := p.index(name); i >= 0 {
		p[i].Value = value
		return p
	}
	return append(p, Param{name, value})
}

// WithPrompts is the combination with another number of prompts.
func (p Params) WithPrompts(n int) Params {
	return p.with("num_prompts", json.RawMessage(fmt.Sprint(n)))
}

func (p Params) index(name string) int {
	return slices.IndexFunc(p, func(one Param) bool { return one.Name == name })
}

// Has reports whether a parameter is given, by exactly this name.
func (p Params) Has(name string) bool { return p.index(name) >= 0 }

// String is how Python prints the combination.
func (p Params) String() string { return python.OfJSON(p.JSON()) }

// JSON is the combination as json.dumps writes it.
func (p Params) JSON() json.RawMessage {
	var o python.Object
	for _, one := range p {
		o.Raw(one.Name, one.Value)
	}
	return o.Bytes()
}

// Name is what a combination is called: its own name, or its parameters.
func (p Params) Name() string {
	if i := p.index(nameKey); i >= 0 {
		return str(p[i].Value)
	}
	var words []string
	for _, one := range p {
		words = append(words, one.Name+"="+str(one.Value))
	}
	return strings.Join(words, "-")
}

// str is Python's str of a value: a text as it is.
func str(value json.RawMessage) string {
	if v := gjson.ParseBytes(value); v.Type == gjson.String {
		return v.String()
	}
	return python.OfJSON(value)
}

// Apply is a command line with the parameters: in place of its own values, or behind it.
func (p Params) Apply(command []string) []string {
	out := slices.Clone(command)
	for _, one := range p {
		if one.Name == nameKey {
			continue
		}
		words := one.words()
		at := -1
		for _, spelling := range slices.Backward(spellings(one.Name)) {
			if at = slices.Index(out, "--"+spelling); at >= 0 {
				break
			}
		}
		if at < 0 {
			out = append(out, words...)
			continue
		}
		out = slices.Replace(out, at, min(at+len(words), len(out)), words...)
	}
	return out
}

// spellings are the names that a parameter has on command lines, the preferred one last: what
// stands behind a dot stays as it is.
func spellings(name string) (all []string) {
	first, rest, nested := strings.Cut(name, ".")
	all = []string{first, strings.ReplaceAll(first, "-", "_"), strings.ReplaceAll(first, "_", "-")}
	if nested {
		for i := range all {
			all[i] += "." + rest
		}
	}
	return all
}

// words are the parameter on a command line. A truth value is a flag, or one with no- ahead;
// behind a dot it is a value.
func (p Param) words() []string {
	flag := func(name string) string { return "--" + spellings(name)[2] }
	v := gjson.ParseBytes(p.Value)
	switch {
	case v.IsBool() && strings.Contains(p.Name, "."):
		return []string{flag(p.Name) + "=" + v.Raw}
	case v.IsBool() && v.Bool():
		return []string{flag(p.Name)}
	case v.IsBool():
		return []string{flag("no-" + p.Name)}
	case v.IsObject():
		return []string{flag(p.Name), string(p.Value)}
	}
	return []string{flag(p.Name), str(p.Value)}
}

// Folder is the folder of two combinations below that of the experiment.
func Folder(experiment string, serve, bench Params) string {
	var parts []string
	if len(serve) > 0 {
		parts = append(parts, "SERVE-", serve.Name())
	}
	if len(bench) > 0 {
		parts = append(parts, "BENCH-", bench.Name())
	}
	return filepath.Join(experiment, FileName(strings.Join(parts, "-")))
}

// FileName is a text as the name of a file.
func FileName(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "/", "_"), "..", "__")
	return strings.Trim(strings.Trim(text, "'"), `"`)
}

// Linked reports whether two combinations go together: linked parameters are given in both,
// and equal.
func (l *Line) Linked(serve, bench Params) bool {
	return !slices.ContainsFunc(l.Links, func(link [2]string) bool {
		s, b := serve.index(link[0]), bench.index(link[1])
		return s < 0 || b < 0 || string(serve[s].Value) != string(bench[b].Value)
	})
}
