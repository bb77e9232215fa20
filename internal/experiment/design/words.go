package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
)

// Words is the command line of a workload for a variant. The variant's flags stand last, and
// in place of the workload's of the same name, values included.
func (v Variant) Words(w Workload) ([]string, error) {
	words, err := shell.Split(w.Command)
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", w.Name, err)
	}
	own, err := shell.Split(v.Flags)
	if err != nil {
		return nil, fmt.Errorf("flags of %s: %w", v.Name, err)
	}
	names := map[string]bool{}
	for _, word := range own {
		if name := flagName(word); name != "" {
			names[name] = true
		}
	}
	var out []string
	drop := false
	for _, word := range words {
		if strings.HasPrefix(word, "-") && !number.MatchString(word) {
			drop = names[flagName(word)]
		}
		if !drop {
			out = append(out, word)
		}
	}
	return append(out, own...), nil
}

// flagName is the name of the flag that a word is, empty for a value. Tools in Python take
// --max_concurrency for --max-concurrency, and --no-x is the opposite of --x.
func flagName(word string) string {
	if !strings.HasPrefix(word, "-") || number.MatchString(word) {
		return ""
	}
	name, _, _ := strings.Cut(word, "=")
	name = strings.ReplaceAll(name, "_", "-")
	if rest, ok := strings.CutPrefix(name, "--no-"); ok {
		return "--" + rest
	}
	return name
}

// Spec is the Spec of a workload for a variant: the variant's settings are merged into it,
// objects member by member, and anything else is replaced. The error is plan.Problems.
func (v Variant) Spec(w Workload) (*plan.Spec, error) {
	s := &plan.Spec{Version: plan.Version, Request: plan.Request{Stream: true}}
	n, err := plan.ParseJSON(w.Spec)
	if err != nil {
		return nil, plan.Problems{{Path: "spec", Why: "is not JSON: " + err.Error()}}
	}
	if v.Settings != nil {
		own, err := plan.ParseJSON(v.Settings)
		if err != nil {
			return nil, plan.Problems{{Path: "settings", Why: "is not JSON: " + err.Error()}}
		}
		merge(n, own)
	}
	misread := plan.Decode(n, s)
	return s, plan.Merge(misread, s.Check()).Err()
}

// merge puts the members of a map into another one.
func merge(into, own *plan.Node) {
	if into.Kind != plan.Map || own.Kind != plan.Map {
		*into = *own
		return
	}
	for _, m := range own.Members {
		i := slices.IndexFunc(into.Members, func(other plan.Member) bool { return other.Key == m.Key })
		if i < 0 {
			into.Members = append(into.Members, m)
			continue
		}
		merge(into.Members[i].Value, m.Value)
	}
}
