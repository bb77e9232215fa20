package design

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

var load = []string{"vllm", "bench", "serve", "--goodput", "ttft:200 ms", "--extra-body", `{"a": "it's"}`}

func TestAB(t *testing.T) {
	e, p := AB(ABOptions{
		Before: "vllm serve m --port 8000", After: "vllm serve m --port 8000 --enforce-eager | tee log", URL: "http://127.0.0.1:8000", Command: load, Name: "eager",
		Blocks: 4, Runs: 2, Seed: 7, Margin: 0.01, FailIf: []string{"ttft.mean > +2%"}, Cache: plan.ColdCache, WarmUp: Own, Restart: PerLeg, Budget: plan.Duration(time.Hour),
	})
	if p != nil {
		t.Fatal(p)
	}
	want := &Experiment{
		Version: 1, Name: "eager", Server: ServerSetup{URL: "http://127.0.0.1:8000"},
		Variants: []Variant{
			{Name: "before", Server: ServerSetup{Command: "vllm serve m --port 8000"}},
			{Name: "after", Server: ServerSetup{Command: "vllm serve m --port 8000 --enforce-eager | tee log"}},
		},
		Workloads: []Workload{{Name: "load", Command: `vllm bench serve --goodput 'ttft:200 ms' --extra-body '{"a": "it'\''s"}'`}},
		Design:    Design{Blocks: 4, Runs: 2, Seed: 7, Restart: PerLeg, Budget: plan.Duration(time.Hour)},
		WarmUp:    Own, Cache: plan.ColdCache, Margin: 0.01, FailIf: []string{"ttft.mean > +2%"},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	again(t, e)
	words, err := e.Variants[0].Words(e.Workloads[0])
	if err != nil || !slices.Equal(words, load) {
		t.Errorf("%q, %v", words, err)
	}
}

func TestSides(t *testing.T) {
	for text, want := range map[string]Variant{
		"profile:vision": {Server: ServerSetup{Profile: "vision"}},
		"profile:small-chat,max-model-len=4096,fault=reset=0.05@10,fault=stall=0.1": {Server: ServerSetup{Profile: "small-chat", Engine: json.RawMessage(`{"max_model_len":4096,"fault":["reset=0.05@10","stall=0.1"]}`)}},
		"profile:ttft=lognormal(50ms,0.2),itl=10ms,slots=4":                         {Server: ServerSetup{Engine: json.RawMessage(`{"ttft":"lognormal(50ms,0.2)","itl":"10ms","slots":4}`)}},
		"profile:./mine.yaml":                  {Server: ServerSetup{Profile: "./mine.yaml"}},
		"HTTPS://h:1/x":                        {Server: ServerSetup{URL: "HTTPS://h:1/x"}},
		"flags: --max-concurrency 32":          {Flags: "--max-concurrency 32"},
		" pitot serve --profile vision ":       {Server: ServerSetup{Command: "pitot serve --profile vision"}},
		"docker run --rm -p 8000:8000 img \\n": {Server: ServerSetup{Command: "docker run --rm -p 8000:8000 img \\n"}},
	} {
		e, p := AB(ABOptions{Before: text, Same: true, Command: load})
		if p != nil {
			t.Errorf("%s: %v", text, p)
			continue
		}
		again(t, e)
		if !e.Same() || e.Variants[1].Name != "again" {
			t.Errorf("%s: no A/A experiment: %+v", text, e)
		}
		want.Name = "before"
		if diff := cmp.Diff(want, e.Variants[0]); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// The URL goes to the sides that can have one.
func TestABAddresses(t *testing.T) {
	e, p := AB(ABOptions{Before: "profile:vision", After: "x serve", URL: "http://h:1", Command: load})
	if p != nil || e.Server.URL != "" || e.Variants[1].Server.URL != "http://h:1" || e.Variants[0].Server.URL != "" {
		t.Errorf("%+v, %v", e, p)
	}
	e, p = AB(ABOptions{Before: "http://h:2", After: "flags:--x", URL: "http://h:1", Command: load})
	if all := e.Expanded(); p != nil || all[0].Server.URL != "http://h:2" || all[1].Server.URL != "http://h:1" {
		t.Errorf("%+v, %v", e, p)
	}
}

// Problems have the names of flags.
func TestABProblems(t *testing.T) {
	ok := ABOptions{Before: "x", After: "y", Command: load}
	for want, change := range map[string]func(*ABOptions){
		"":                    func(*ABOptions) {},
		"before: is missing":  func(o *ABOptions) { o.Before = "" },
		"after: is missing":   func(o *ABOptions) { o.After = "" },
		"after: does not go":  func(o *ABOptions) { o.Same = true },
		"command: is missing": func(o *ABOptions) { o.Command = nil },
		"before: is empty":    func(o *ABOptions) { o.Before = " " },
		"before: parse \"http://h:x\": ": func(o *ABOptions) {
			o.Before = "http://h:x"
		},
		"after: names no profile":        func(o *ABOptions) { o.After = "profile:" },
		"after \"x\": must be SETTING":   func(o *ABOptions) { o.After = "profile:vision,x" },
		"after slot: is not a setting":   func(o *ABOptions) { o.After = "profile:vision,slot=5" },
		"after seed: is given twice":     func(o *ABOptions) { o.After = "profile:vision,seed=5,seed=6" },
		"after vision: a profile has":    func(o *ABOptions) { o.After = "profile:vision,itl=5ms" },
		"after: names no flags":          func(o *ABOptions) { o.After = "flags: " },
		"after \"x\": must be flags":     func(o *ABOptions) { o.After = "flags:x" },
		"after ${tp}: is not an axis":    func(o *ABOptions) { o.After = "x ${tp}" },
		"url \"h\": must begin":          func(o *ABOptions) { o.URL = "h" },
		"url \"http://h\": is where":     func(o *ABOptions) { o.URL, o.Before, o.After = "http://h", "profile:vision", "http://a" },
		"url: is missing: with restart":  func(o *ABOptions) { o.Restart = PerBlock },
		"blocks 99: must be at most":     func(o *ABOptions) { o.Blocks = 99 },
		"max-blocks 2: only applies":     func(o *ABOptions) { o.MaxBlocks = 2 },
		"precision 200%: must be":        func(o *ABOptions) { o.Precision = 2 },
		"fail-if \"x\": there":           func(o *ABOptions) { o.FailIf = []string{"x"} },
		"warm-up \"hot\": unknown":       func(o *ABOptions) { o.WarmUp = "hot" },
		"level 0.3: must be":             func(o *ABOptions) { o.Level = 0.3 },
		"name \"a/b\": must not contain": func(o *ABOptions) { o.Name = "a/b" },
		"budget -1h0m0s: must not":       func(o *ABOptions) { o.Budget = plan.Duration(-time.Hour) },
		"command \"A=1\": begins":        func(o *ABOptions) { o.Command = []string{"A=1", "x"} },
	} {
		o := ok
		change(&o)
		_, p := AB(o)
		if got := p.Error(); !strings.HasPrefix(got, want) || (want == "") != (got == "") || strings.Contains(got, "\n") {
			t.Errorf("%s: got %s", want, got)
		}
	}
}
