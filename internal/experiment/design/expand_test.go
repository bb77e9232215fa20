package design

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpanded(t *testing.T) {
	e := read(t, whole)
	var names []string
	by := map[string]Variant{}
	for _, v := range e.Expanded() {
		names = append(names, v.Name)
		by[v.Name] = v
	}
	if want := []string{"busy", "plain", "tp=1 graph=", "tp=1 graph=--enforce-eager", "tp=2 graph="}; !slices.Equal(names, want) {
		t.Fatalf("%q", names)
	}
	cell := by["tp=1 graph=--enforce-eager"]
	want := Variant{
		Name: "tp=1 graph=--enforce-eager", Cell: map[string]string{"tp": "1", "graph": "--enforce-eager"},
		Server: ServerSetup{
			Command: "vllm serve Qwen/Qwen3-8B --port 8000 \\\n  --tensor-parallel-size 1 --enforce-eager\n",
			Env:     map[string]string{"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "8"}, URL: "http://127.0.0.1:8000", ReadyTimeout: e.Server.ReadyTimeout,
		},
	}
	if diff := cmp.Diff(want, cell); diff != "" {
		t.Error(diff)
	}
	if got := by["plain"].Server.Env; !cmp.Equal(got, map[string]string{"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "4"}) {
		t.Error(got)
	}
	if got := by["busy"].Server; got.URL != "http://127.0.0.1:9000" || got.Command != "x" {
		t.Error(got)
	}
	if e.Server.Env["OMP_NUM_THREADS"] != "8" || strings.Contains(e.Server.Command, "--tensor-parallel-size 1") {
		t.Error("the experiment has changed")
	}
	again(t, e)
}

// In JSON a text that is nothing but a reference becomes the value itself.
func TestReferencesInJSON(t *testing.T) {
	e := read(t, `
matrix:
  axes: {len: [4096, 8192], law: ["lognormal(64,0.5)"]}
  server: {engine: {max_model_len: "${len}", output_len: "${law}", fault: ["reset=0.${len}"]}}
  settings: {name: "n ${len}", gate: {concurrency: "${len}"}}
workloads: [{spec: {request: {protocol: chat}, load: [{arrival: at-once, dataset: random}]}}]
`)
	v := e.Expanded()[1]
	if got := string(v.Server.Engine); got != `{"max_model_len":8192,"output_len":"lognormal(64,0.5)","fault":["reset=0.8192"]}` {
		t.Error(got)
	}
	if got := string(v.Settings); got != `{"name":"n 8192","gate":{"concurrency":8192}}` {
		t.Error(got)
	}
	again(t, e)
}

func TestTheEmbeddedEngineAndAServerHaveNothingInCommon(t *testing.T) {
	e := Experiment{Server: ServerSetup{Command: "x", URL: "http://h", Env: map[string]string{"A": "1"}}, Variants: []Variant{{Name: "a", Server: ServerSetup{Profile: "vision"}}, {Name: "b"}}}
	if all := e.Expanded(); all[0].Server.Starts() || all[0].Server.URL != "" || all[0].Server.Env != nil || !all[1].Server.Starts() {
		t.Errorf("%+v", all)
	}
	e.Server = ServerSetup{Profile: "vision"}
	e.Variants = []Variant{{Name: "a", Server: ServerSetup{URL: "http://h"}}, {Name: "b", Server: ServerSetup{Engine: json.RawMessage(`{"seed":1}`)}}}
	if all := e.Expanded(); all[0].Server.Embedded() || all[1].Server.Profile != "vision" {
		t.Errorf("%+v", all)
	}
}

func TestSame(t *testing.T) {
	e := Experiment{Server: ServerSetup{Command: "x"}, Variants: []Variant{{Name: "a"}, {Name: "b"}}}
	if !e.Same() {
		t.Error("variants differ in their names only")
	}
	e.Variants[1].Flags = "--x"
	if e.Same() {
		t.Error("flags differ")
	}
	e.Variants = e.Variants[:1]
	if e.Same() {
		t.Error("one variant is like no other")
	}
}

func TestWords(t *testing.T) {
	w := Workload{Name: "w", Command: "vllm bench serve --max-concurrency 16 --goodput ttft:1 tpot:2 --num-prompts=5 --no-stream --x -1 --seed 3"}
	for flags, want := range map[string]string{
		"":                                   "vllm bench serve --max-concurrency 16 --goodput ttft:1 tpot:2 --num-prompts=5 --no-stream --x -1 --seed 3",
		"--max_concurrency=32":               "vllm bench serve --goodput ttft:1 tpot:2 --num-prompts=5 --no-stream --x -1 --seed 3 --max_concurrency=32",
		"--goodput 'e2el:5' --num-prompts 7": "vllm bench serve --max-concurrency 16 --no-stream --x -1 --seed 3 --goodput e2el:5 --num-prompts 7",
		"--stream --x -2":                    "vllm bench serve --max-concurrency 16 --goodput ttft:1 tpot:2 --num-prompts=5 --seed 3 --stream --x -2",
	} {
		got, err := Variant{Flags: flags}.Words(w)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", flags, got, err)
		}
	}
	if _, err := (Variant{Name: "v", Flags: "'"}).Words(w); err == nil || !strings.HasPrefix(err.Error(), "flags of v: ") {
		t.Error(err)
	}
	if _, err := (Variant{}).Words(Workload{Name: "w", Command: "$X"}); err == nil || !strings.HasPrefix(err.Error(), "workload w: ") {
		t.Error(err)
	}
}

func TestSpec(t *testing.T) {
	w := Workload{Spec: json.RawMessage(`{"request":{"protocol":"chat","model":"m"},"requests":5,"load":[{"arrival":"at-once","dataset":"random"}],"gate":{"concurrency":4}}`)}
	s, err := Variant{Settings: json.RawMessage(`{"gate":{"concurrency":8},"request":{"model":null},"load":[{"arrival":{"kind":"poisson","rate":1},"dataset":"random"}],"seed":3}`)}.Spec(w)
	if err != nil || s.Gate.Concurrency != 8 || s.Request.Protocol != "chat" || s.Request.Model != "" || !s.Request.Stream || s.Load[0].Arrival.Kind != "poisson" || s.Seed != 3 || s.Requests != 5 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := (Variant{Settings: json.RawMessage(`{"requests":-1}`)}).Spec(w); err == nil || err.Error() != "requests -1: must not be negative" {
		t.Error(err)
	}
	for _, v := range []Variant{{}, {Settings: json.RawMessage("{")}} {
		if _, err := v.Spec(Workload{Spec: json.RawMessage("[")}); err == nil {
			t.Error("no error")
		}
	}
}

func TestMost(t *testing.T) {
	for want, d := range map[int]Design{3: {}, 5: {Blocks: 5, Until: UntilVerdict}, 8: {Precision: 0.02}, 6: {Budget: 1, MaxBlocks: 6}} {
		if d.Most() != want {
			t.Errorf("%+v: %d", d, d.Most())
		}
	}
	one := 1
	if (Design{}).Confirmations(2) != 0 || (Design{}).Confirmations(3) != DefaultConfirm || (Design{Confirm: &one}).Confirmations(5) != 1 {
		t.Error("confirmations")
	}
}
