package experiment

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool"
)

// words compiles command lines to Specs that have them as their names.
type words struct{}

func (words) Command(args []string) (VariantLoad, error) {
	if args[0] == "wrong" {
		return VariantLoad{}, errors.New("unknown command")
	}
	return words{}.Spec(plan.Spec{Name: strings.Join(args, " "), Target: plan.Target{URL: "http://load:1", Simulated: args[0] == "sim"}})
}

func (words) Spec(s plan.Spec) (VariantLoad, error) {
	return VariantLoad{Compiled: tool.Compiled{Spec: s}}, nil
}

func TestVariantsMeetTheLoadInTheirOwnWay(t *testing.T) {
	e := &design.Experiment{
		Version: 1, Name: "x", Cache: plan.ColdCache,
		Variants: []design.Variant{
			{Name: "a", Server: design.ServerSetup{Command: "serve"}},
			{Name: "b", Server: design.ServerSetup{URL: "http://b:2"}, Flags: "--rate 3", Settings: json.RawMessage(`{"seed":7,"gate":{"concurrency":4}}`)},
			{Name: "c", Server: design.ServerSetup{Profile: "small-chat", Engine: json.RawMessage(`{"max_model_len":4096}`)}},
		},
		Workloads: []design.Workload{{Name: "w", Command: "bench --rate 2"}, {Name: "s", Spec: json.RawMessage(`{"name":"own","request":{"protocol":"chat"},"load":[{"arrival":"poisson","dataset":"random"}],"gate":{"concurrency":2,"hold":true}}`)}},
	}
	p, err := Prepare(e, words{})
	var problems plan.Problems
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != "workloads[1].spec" {
		t.Errorf("a server is started and a Spec has no address: %v", err)
	}
	type met struct{ Name, URL, Engine, Gate string }
	var got []met
	for _, loads := range p.Loads {
		for _, l := range loads {
			gate, _ := json.Marshal(l.Spec.Gate)
			got = append(got, met{l.Spec.Name, l.Spec.Target.URL, string(l.Spec.Target.Engine), string(gate)})
			if !l.Spec.Before.WarmUp.Steady || l.Spec.Cache != plan.ColdCache {
				t.Errorf("%+v", l.Spec)
			}
		}
	}
	want := []met{
		{"bench --rate 2", "http://load:1", "", `{}`},
		{"own", "", "", `{"concurrency":2,"hold":true}`},
		{"bench --rate 3", "http://b:2", "", `{}`},
		{"own", "http://b:2", "", `{"concurrency":4,"hold":true}`},
		{"bench --rate 2", "", `{"max_model_len":4096,"profile":"small-chat"}`, `{}`},
		{"own", "", `{"max_model_len":4096,"profile":"small-chat"}`, `{"concurrency":2,"hold":true}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeMeasuredIsSaidAtOnce(t *testing.T) {
	e := &design.Experiment{
		Version: 1, Name: "x",
		Variants:  []design.Variant{{Name: "a", Server: design.ServerSetup{Command: "serve"}}, {Name: "b", Server: design.ServerSetup{Command: "serve"}, Flags: "--more"}},
		Workloads: []design.Workload{{Name: "w", Command: "wrong"}, {Name: "v", Command: "sim"}},
	}
	_, err := Prepare(e, words{})
	for _, part := range []string{"workloads[0].command: unknown command", "variant b: unknown command", "is simulated, and a variant has a server"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}
