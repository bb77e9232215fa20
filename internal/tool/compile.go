package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// An Env is the process that a command line is compiled in.
type Env struct {
	Getenv func(name string) string
	Exists func(file string) bool // and is a regular file
	Temp   string                 // folder for temporary files
	Now    time.Time
	Random string // a few hexadecimal digits, others for each run
}

// RequestTimeout is the tools' only time limit of a request.
const RequestTimeout = plan.Duration(6 * time.Hour)

// Tokenizer is one by its name, nil for that of the model: a file that is named must be
// there, a name of the hub need not.
func (e *Env) Tokenizer(name *string) plan.Tokenizer {
	var t plan.Tokenizer
	if name != nil {
		t.Where = *name
		t.Required = filepath.IsAbs(t.Where) || strings.HasPrefix(t.Where, ".") || strings.HasSuffix(t.Where, ".json") || e.Exists != nil && e.Exists(t.Where)
	}
	return t
}

// Fields are members of a body in JSON, under those that lie over them. Numbers are written as
// Python writes them: 1.0, not 1.
func Fields(fields map[string]any, over map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, v := range fields {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("--%s %v: %w", strings.ReplaceAll(name, "_", "-"), v, err)
		}
		if f, ok := v.(float64); ok {
			b = python.AppendFloat(nil, f)
		}
		out[name] = b
	}
	maps.Copy(out, over)
	return out, nil
}

// CheckHeaders refuses headers that HTTP does not allow.
func CheckHeaders(c *python.Checklist, headers [][2]string) {
	for _, h := range headers {
		c.Refuse(!httpguts.ValidHeaderFieldName(h[0]), "--header %q: not a name that HTTP allows", h[0])
		c.Refuse(!httpguts.ValidHeaderFieldValue(h[1]), "--header %s: its value, not shown here, has a character that HTTP does not allow", h[0])
	}
}

// A Compiled is a command line of a tool as a Spec, with what the Spec does not hold.
type Compiled struct {
	Spec  plan.Spec
	Front plan.Front        // of the command line
	Given map[string]string // secrets, by their paths
	Notes []plan.Message    // that the run is to have
	Args  []string          // the command line, without secrets
}

// Names are what a tool calls settings, by their paths. It is a front end.
type Names map[string]string

// Explain names the flags.
func (n Names) Explain(problems plan.Problems) error { return Named(problems, n) }

// NameOf is the flag of a setting.
func (n Names) NameOf(path string) string { return NameIn(n, path) }

// Headers are header fields for the settings at a path, each as the last pair of its name
// says. Of secrets only the names are in them.
func (c *Compiled) Headers(path string, pairs [][2]string) (all []plan.Header) {
	at := map[string]int{}
	for _, h := range pairs {
		name := strings.ToLower(h[0])
		i, again := at[name]
		if !again {
			i = len(all)
			all, at[name] = append(all, plan.Header{}), i
		}
		all[i] = plan.Header{Name: h[0], Value: h[1]}
	}
	for i, h := range all {
		if h.Value != "" && (secret.Header(h.Name) || secret.Known(h.Value)) {
			c.Given[plan.Item(path, i)] = h.Value
			all[i].Value, all[i].From = "", &plan.Source{Given: true}
		}
	}
	return all
}

// Flags are what both Python tools call the settings of a Spec, with those that one of them
// has and those of its dataset. The address of the server may be given in two ways.
func Flags(dataset string, hasURL bool, own, ofDataset map[string]string) map[string]string {
	flags := map[string]string{
		"target.url": "--base-url", "request.protocol": "--backend", "request.model": "--model", "request.root": "--model", "requests": "--num-prompts",
		"seed": "--seed", "gate.concurrency": "--max-concurrency", "tokenizer.where": "--tokenizer", "before.ready.timeout": "--ready-check-timeout-sec",
		"objectives": "--goodput", "load[0].arrival.rate": "--request-rate", "load[0].dataset": "--dataset-name " + dataset,
	}
	if !hasURL {
		flags["target.url"] = "--host and --port"
	}
	maps.Copy(flags, own)
	for setting, flag := range ofDataset {
		flags["load[0].dataset."+setting] = flag
	}
	return flags
}

// Take decodes the settings of a Spec's dialect, and those of its arrival if it has one of
// a kind.
func Take(spec *plan.Spec, dialect any, kind string, arrival any) (problems plan.Problems) {
	if spec.Dialect.Settings != nil {
		problems = plan.DecodeJSON(spec.Dialect.Settings, dialect).Below("dialect.settings")
	}
	if len(spec.Load) == 1 && spec.Load[0].Arrival.Kind == kind && spec.Load[0].Arrival.Settings != nil {
		problems = append(problems, plan.DecodeJSON(spec.Load[0].Arrival.Settings, arrival).Below("load[0].arrival")...)
	}
	return problems
}

// Named are problems by the names that settings have in flags, each an error.
func Named(problems plan.Problems, flags map[string]string) error {
	var errs []error
	for _, p := range problems {
		errs = append(errs, errors.New(p.Under(cmp.Or(NameIn(flags, p.Path), p.Path))))
	}
	return errors.Join(errs...)
}

// NameIn is the flag of the setting at a path, or of the nearest setting that contains it; empty
// for none.
func NameIn(flags map[string]string, path string) string {
	for at := path; at != ""; at = plan.Parent(at) {
		if name, ok := flags[at]; ok {
			return name
		}
	}
	return ""
}
