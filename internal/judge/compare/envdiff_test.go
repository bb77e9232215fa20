package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func served(change func(*environment.Environment)) *environment.Environment {
	e := &environment.Environment{
		Image: environment.Image{Name: "vllm:1"}, Python: "3.12", Packages: []environment.Version{{Name: "torch", Version: "2.8"}, {Name: "zlib", Version: "1"}}, Driver: "550",
		Machine: environment.Machine{Host: "gpu", Kernel: "Linux 6"},
		Process: &environment.Process{PID: 7, Args: []string{"vllm", "serve", "m", "--port", "1"}, Env: map[string]string{"VLLM_USE_V1": "0", "HOME": "/a"}},
	}
	change(e)
	return e
}

// residueOf are lines of what differs between runs with these servers.
func residueOf(t *testing.T, o Options, servers ...*environment.Environment) (lines []string, further int) {
	t.Helper()
	var runs []ComparedRun
	for i, e := range servers {
		name := fmt.Sprint("v", i)
		runs = append(runs, planned(name, name, func(r *trace.Run) { r.Env.Serving = e }))
	}
	_, c := layout(t, o, runs...)
	for _, r := range c.Workloads[0].SettingDiffs {
		lines = append(lines, r.Setting+": "+strings.Join(saidOf(r), " | "))
	}
	return lines, c.Workloads[0].Further
}

func TestWhatDiffersInTheEnvironment(t *testing.T) {
	a := served(func(*environment.Environment) {})
	b := served(func(e *environment.Environment) {
		e.Machine.Kernel, e.Driver, e.Packages[0].Version, e.Packages[1].Version = "Linux 7", "560", "2.9", "2"
		e.Process.Args = []string{"vllm", "serve", "m", "--port", "2", "--tp", "4"}
		e.Process.Env = map[string]string{"VLLM_USE_V1": "1", "HOME": "/b"}
		e.Devices = []environment.Device{{UUID: "GPU-2"}}
	})
	want := []string{
		"server.package.torch: 2.8 | 2.9", "server.driver: 550 | 560", "server.arg.port: 1 | 2", "server.arg.tp: not set | 4",
		"server.env.VLLM_USE_V1: 0 | 1", "server.kernel: Linux 6 | Linux 7", "server.package.zlib: 1 | 2",
	}
	got, further := residueOf(t, Options{}, a, b)
	if diff := cmp.Diff(want, got); diff != "" || further != 0 {
		t.Errorf("%d further, %s", further, diff)
	}
	got, _ = residueOf(t, Options{Ignore: []string{"server.env.VLLM_USE_V1", "server.package.torch"}}, a, b)
	if slices.Contains(got, want[0]) || slices.Contains(got, want[4]) || len(got) != 5 {
		t.Error(got)
	}
	if got, _ := residueOf(t, Options{}, a, a, nil); got != nil {
		t.Errorf("not known of one: %q", got)
	}
	many := served(func(e *environment.Environment) {
		e.Driver = "560"
		for i := range 40 {
			e.Packages = append(e.Packages, environment.Version{Name: fmt.Sprint("p", i), Version: "1"})
		}
	})
	if got, further := residueOf(t, Options{}, a, many); len(got) != mostEnvDiffs || got[0] != "server.driver: 550 | 560" || further != 41-mostEnvDiffs {
		t.Errorf("%d further, %q", further, got)
	}
}

// Processes of a deployment go under their roles; variables that engines read come first, and those that never matter
// are counted.
func TestADeployment(t *testing.T) {
	run := func(name, value string) ComparedRun {
		return planned(name, name, func(r *trace.Run) {
			r.Env.Serving = served(func(e *environment.Environment) { e.Process.Env["HOME"] = value })
			for _, role := range []string{"prefill", "decode"} {
				r.Env.Instances = append(r.Env.Instances, served(func(e *environment.Environment) {
					e.Role, e.Process.Args = role, []string{"vllm", "--tp", value}
					e.Process.Env = map[string]string{"AAA": value, "TERM": value, "HCCL_BUFFSIZE": value}
				}))
			}
		})
	}
	_, c := layout(t, Options{}, run("v0", "1"), run("v1", "2"))
	var got []string
	for _, r := range c.Workloads[0].SettingDiffs {
		got = append(got, r.Setting+": "+strings.Join(saidOf(r), " | "))
	}
	want := []string{
		"prefill.arg.tp: 1 | 2", "decode.arg.tp: 1 | 2", "prefill.env.HCCL_BUFFSIZE: 1 | 2", "decode.env.HCCL_BUFFSIZE: 1 | 2",
		"prefill.env.AAA: 1 | 2", "decode.env.AAA: 1 | 2",
	}
	if diff := cmp.Diff(want, got); diff != "" || c.Workloads[0].Idle != 3 {
		t.Errorf("%d idle, %s", c.Workloads[0].Idle, diff)
	}
	if d := Differences(run("v0", "1").run, run("v1", "2").run); len(d) != 9 || d[0].Of != "prefill" || !d[8].Idle || d[5].Idle {
		t.Errorf("%+v", d)
	}
}

// What each start of a server has anew is no difference between variants.
func TestWhatEachStartHasAnew(t *testing.T) {
	at := &trace.Leg{Experiment: "x", Block: 1, ServerStart: 1}
	if !ofEachStart("server.host", at) || ofEachStart("server.host", nil) || ofEachStart("server.arg.tp", at) {
		t.Error("names of containers")
	}
	started := trace.Run{Leg: at, Plan: trace.Load{URL: "http://127.0.0.1:35921"}}
	if got := started.AnyPort("--addr :35921 --seed 359210"); got != "--addr :${port} --seed 359210" {
		t.Error(got)
	}
	if started.Leg = nil; started.AnyPort("35921") != "35921" {
		t.Error("the port of a server that is up is its own")
	}
	if !idle("prefill.env.HOME") || idle("server.env.NCCL_DEBUG") || idle("server.HOME") {
		t.Error("variables")
	}
}

func TestDifferences(t *testing.T) {
	run := func(rate float64, e *environment.Environment) trace.Run {
		r := planned("a", "a", func(r *trace.Run) { r.Plan.Rate, r.Env.Serving = rate, e }).run
		return r
	}
	a := run(10, served(func(*environment.Environment) {}))
	if got := Differences(a, a); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	b := run(12, served(func(e *environment.Environment) { e.Driver, e.Image = "", environment.Image{Name: "vllm:2"} }))
	var got []string
	for _, d := range Differences(a, b) {
		one, _ := d.Values[0].Words()
		two, _ := d.Values[1].Words()
		got = append(got, fmt.Sprintf("%s.%s %v %q %q", d.Of, d.Name, d.Main, one, two))
	}
	want := []string{`server.image true "vllm:1" "vllm:2"`, `server.driver true "550" ""`, `plan.rate false "10" "12"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A note names some packages: the others are not known, of a process they are not there.
	var lines environment.Listing
	lines.Line("image: vllm:1", false)
	lines.Line("torch==2.8.0", false)
	lines.Line("Python: 3.11.13", false)
	noted := run(10, lines.Environment(""))
	for _, d := range Differences(a, noted) {
		if d.Name == "package.zlib" && d.Values[1].Key() != (plan.Message{}).Key() {
			t.Errorf("%+v", d)
		}
	}
}

// Settings of the same name in several places of a Spec are told from each other, each time the same.
func TestDifferencesAreOneAnswer(t *testing.T) {
	run := func(output string, seed string) trace.Run {
		dataset := plan.Typed{Kind: "random", Settings: json.RawMessage(`{"output_len":32,"seed":1}`)}
		engine := json.RawMessage(`{"output_len":` + output + `,"seed":` + seed + `}`)
		return trace.Run{Plan: trace.Load{Spec: &plan.Spec{
			Target: plan.Target{Engine: engine, Simulated: true}, Load: []plan.Stream{{Arrival: plan.Typed{Kind: "at-once"}, Dataset: dataset}},
		}}}
	}
	text := func(name, one, two string) Difference {
		return Difference{name, "plan", false, false, [2]plan.Message{plan.Text(one), plan.Text(two)}}
	}
	length, seed := text("engine.output-len", "200", "300"), text("engine.seed", "1", "2")
	for range 100 {
		if diff := cmp.Diff([]Difference{length}, Differences(run("200", "1"), run("300", "1"))); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff([]Difference{length, seed}, Differences(run("200", "1"), run("300", "2"))); diff != "" {
			t.Fatal(diff)
		}
	}
}
