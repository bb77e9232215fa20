package tool

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// An Env is the process that a command line is compiled in.
type Env struct {
	Getenv func(name string) string
	Exists func(file string) bool // and is a regular file
	Temp   string                 // folder for temporary files
	Now    time.Time
	Random string // a few hexadecimal digits, others for each run
}

// NamesFile tells a file from the name of a model, which a tool would download.
func (e *Env) NamesFile(s string) bool {
	return filepath.IsAbs(s) || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".json") || e.Exists != nil && e.Exists(s)
}

// A Compiled is a command line of a tool as a Spec, with what the Spec does not hold.
type Compiled struct {
	Spec  plan.Spec
	Flags map[string]string // what the tool calls a setting, by its path
	Given map[string]string // secrets, by their paths
	Notes []plan.Message    // that the run is to have
}

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
		if plan.SecretName(h.Name) && h.Value != "" {
			c.Given[plan.Item(path, i)] = h.Value
			all[i].Value, all[i].From = "", &plan.Source{Given: true}
		}
	}
	return all
}

// Named are problems by the names that settings have in flags, each an error.
func Named(problems plan.Problems, flags map[string]string) error {
	var errs []error
	for _, p := range problems {
		errs = append(errs, errors.New(p.Under(cmp.Or(NameIn(flags, p.Path), p.Path))))
	}
	return errors.Join(errs...)
}

// NameIn is the name that flags have for the setting at a path, or for what it is a part
// of; empty for none.
func NameIn(flags map[string]string, path string) string {
	for at := path; at != ""; at = plan.Parent(at) {
		if name, ok := flags[at]; ok {
			return name
		}
	}
	return ""
}
