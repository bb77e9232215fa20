package known

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

func thing(kind, settings string) plan.Typed {
	return plan.Typed{Kind: kind, Settings: json.RawMessage(settings)}
}

// chat is a run of Pitot's own.
func chat() trace.Run {
	s := &plan.Spec{
		Version: plan.Version, Target: plan.Target{URL: "http://gpu1:8000", Key: &plan.Source{Env: "MY_KEY"}, Headers: []plan.Header{{Name: "X-Team", Value: "a b"}}},
		Request:  plan.Request{Protocol: "chat", Model: "m", Root: "org/m", Stream: true, IgnoreEOS: true, Body: json.RawMessage(`{"temperature":0.5}`)},
		Requests: 300, Seed: 7, Gate: plan.Gate{Concurrency: 16}, Before: plan.Before{WarmUp: plan.WarmUp{Requests: 5}},
		Load:       []plan.Stream{{Arrival: thing("poisson", `{"rate":2.5}`), Dataset: thing("random", `{"input_len":512,"output_len":"128","prefix_len":32}`)}},
		Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}, {Metric: "itl", Limit: plan.Duration(time.Second)}},
	}
	return trace.Run{ID: "20260101-000000-abcd", Plan: trace.Load{Spec: s}, Env: trace.Environment{Invocation: []string{"bench", "--url", "http://gpu1:8000"}}}
}

func commandOf(t *testing.T, run trace.Run, dialect string) Command {
	t.Helper()
	all := CommandsAgain(run, "")
	i := slices.IndexFunc(all, func(c Command) bool { return c.Dialect == dialect })
	if i < 0 {
		t.Fatalf("no command of %s: %+v", dialect, all)
	}
	return all[i]
}

// argsOf are the arguments of a line behind the name of its program.
func argsOf(t *testing.T, line, program string) []string {
	t.Helper()
	_, rest, found := strings.Cut(line, program)
	words, err := shell.Split(rest)
	if !found || err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return words
}

func codes(notes []plan.Message) (all []string) {
	for _, n := range notes {
		all = append(all, string(n.Code))
	}
	return all
}

// What vLLM's parser makes of the line is the plan that the line was made of.
func TestALineForVLLM(t *testing.T) {
	c := commandOf(t, chat(), "vllm")
	if !strings.HasPrefix(c.Line, `OPENAI_API_KEY="$MY_KEY" vllm bench serve `) {
		t.Error(c.Line)
	}
	a, err := vllm.Parse(argsOf(t, c.Line, "vllm bench serve"), "x-")
	if err != nil {
		t.Fatalf("%s: %v", c.Line, err)
	}
	made, err := a.Checked(tool.Env{})
	if err != nil {
		t.Fatalf("%s: %v", c.Line, err)
	}
	got, want := made.Spec, *chat().Plan.Spec
	for _, one := range []struct{ got, want any }{
		{got.Target.URL, want.Target.URL},
		{got.Target.Headers, want.Target.Headers},
		{got.Request.Protocol, want.Request.Protocol},
		{got.Request.Model, want.Request.Model},
		{got.Request.Root, want.Request.Root},
		{got.Request.IgnoreEOS, true},
		{got.Requests, 300},
		{got.Seed, want.Seed},
		{got.Gate, want.Gate},
		{got.Before.WarmUp.Requests, 5},
		{got.Objectives, want.Objectives[:1]},
		{settingsOf(t, got.Load[0].Arrival)["rate"], 2.5},
		{settingsOf(t, got.Load[0].Dataset)["input_len"], 512.0},
		{settingsOf(t, got.Load[0].Dataset)["output_len"], 128.0},
		{settingsOf(t, got.Load[0].Dataset)["prefix_len"], 32.0},
	} {
		if diff := cmp.Diff(one.want, one.got); diff != "" {
			t.Errorf("%s: %s", c.Line, diff)
		}
	}
	if want := []string{"again.own-prompts", "again.left-out"}; !slices.Equal(codes(c.Notes), want) || c.Notes[1].Args["settings"].([]string)[0] != "objectives[1]" {
		t.Errorf("noted %+v", c.Notes)
	}
}

func settingsOf(t *testing.T, one plan.Typed) (all map[string]any) {
	t.Helper()
	if err := json.Unmarshal(one.Settings, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestALineForSGLang(t *testing.T) {
	c := commandOf(t, chat(), "sglang")
	a, err := sglang.Parse(argsOf(t, c.Line, "python -m sglang.bench_serving"))
	if err != nil {
		t.Fatalf("%s: %v", c.Line, err)
	}
	made, err := a.Checked(tool.Env{})
	if err != nil {
		t.Fatalf("%s: %v", c.Line, err)
	}
	got, d := made.Spec, settingsOf(t, made.Spec.Load[0].Dataset)
	if got.Requests != 300 || got.Gate.Concurrency != 16 || got.Request.Protocol != "chat" || got.Request.Model != "m" || got.Request.Root != "org/m" || got.Target.URL != "http://gpu1:8000" ||
		got.Seed != 7 || got.Before.WarmUp.Requests != 5 || d["input_len"] != 512.0 || d["output_len"] != 128.0 || d["range_ratio"] != 1.0 || settingsOf(t, got.Load[0].Arrival)["rate"] != 2.5 {
		t.Errorf("%s: %+v", c.Line, got)
	}
	if lost := c.Notes[len(c.Notes)-1]; lost.Code != leftOut || !cmp.Equal(lost.Args["settings"], []string{"objectives[1]", "prefix_len"}) {
		t.Errorf("noted %+v", c.Notes)
	}
}

func TestALineOfThePlan(t *testing.T) {
	c := CommandsAgain(chat(), "my runs.db")[0]
	if c.Dialect != "pitot" || c.Line != "pitot plan 20260101-000000-abcd --store 'my runs.db' > again.yaml && pitot bench --config again.yaml" || c.Notes != nil {
		t.Errorf("%+v", c)
	}
	secret := chat()
	secret.Plan.Spec.Target.Key = &plan.Source{Given: true}
	for _, c := range CommandsAgain(secret, "") {
		if !slices.Contains(codes(c.Notes), "again.give-secrets") {
			t.Errorf("%+v", c)
		}
	}
}

// A run that was made with a tool's command line has that line, as it was typed.
func TestALineAsItWasTyped(t *testing.T) {
	run := chat()
	run.Env.Invocation = []string{"vllm", "bench", "serve", "--model", "m", "--header", "Authorization=***"}
	c := commandOf(t, run, "vllm")
	if c.Line != "vllm bench serve --model m --header 'Authorization=***'" || !slices.Equal(codes(c.Notes), []string{"again.give-secrets"}) {
		t.Errorf("%+v", c)
	}
	run.Env.Invocation = []string{"python", "-m", "sglang.bench_serving", "--backend", "sglang"}
	if c := commandOf(t, run, "sglang"); c.Line != "python -m sglang.bench_serving --backend sglang" || c.Notes != nil || len(CommandsAgain(run, "")) != 3 {
		t.Errorf("%+v", c)
	}
	run.Origin = &trace.Origin{Tool: "vllm"}
	if all := CommandsAgain(run, ""); all != nil {
		t.Errorf("of another tool's run: %+v", all)
	}
}

func TestWhatToolsCannotSend(t *testing.T) {
	for want, change := range map[string]func(*plan.Spec){
		"again.no-dataset":   func(s *plan.Spec) { s.Load[0].Dataset.Kind = "agent" },
		"again.no-protocol":  func(s *plan.Spec) { s.Request.Protocol = "rerank" },
		"again.several-ones": func(s *plan.Spec) { s.Load = append(s.Load, s.Load[0]) },
		"again.no-server":    func(s *plan.Spec) { s.Target = plan.Target{Simulated: true} },
	} {
		run := chat()
		change(run.Plan.Spec)
		for _, dialect := range []string{"vllm", "sglang"} {
			c := commandOf(t, run, dialect)
			if !slices.Contains(codes(c.Notes), want) || (c.Line == "") != (want != "again.no-server") {
				t.Errorf("%s of %s: %+v", want, dialect, c)
			}
		}
	}
}

func TestWhatALineLeavesOut(t *testing.T) {
	run := chat()
	s := run.Plan.Spec
	s.Duration, s.Cache, s.Probe.Rate = plan.Duration(time.Minute), plan.ColdCache, 2
	s.Load[0].Dataset = thing("random", `{"input_len":"uniform(1,9)","output_len":3}`)
	s.Request.IgnoreEOS = false
	c := commandOf(t, run, "vllm")
	lost, _ := c.Notes[len(c.Notes)-1].Args["settings"].([]string)
	if want := []string{"cache", "duration", "input_len", "objectives[1]", "probe.rate", "ignore_eos: false"}; !cmp.Equal(want, lost) {
		t.Errorf("%s: %v", c.Line, lost)
	}
}
