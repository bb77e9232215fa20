package design

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

const whole = `version: 1
name: graphs
server:
  command: |
    vllm serve Qwen/Qwen3-8B --port 8000 \
      --tensor-parallel-size ${tp} ${graph}
  env: {HF_HUB_OFFLINE: 1, OMP_NUM_THREADS: "8"}
  url: http://127.0.0.1:8000
  ready_timeout: 10m
variants:
  - name: plain
    server:
      command: vllm serve Qwen/Qwen3-8B
      env: {OMP_NUM_THREADS: 4}
  - name: busy
    flags: --max-concurrency 32
    settings: {gate: {concurrency: 32}}
    server: {url: "http://127.0.0.1:9000", command: x}
matrix:
  axes:
    tp: [1, 2]
    graph: ["", --enforce-eager]
  exclude:
    - {tp: 2, graph: --enforce-eager}
baseline: busy
workloads:
  - name: steady
    command: vllm bench serve --max-concurrency 16 --num-prompts 200
  - name: burst
    spec:
      target: {url: http://127.0.0.1:8000}
      request: {protocol: completions}
      requests: 20
      load:
        - arrival: {kind: poisson, rate: 2.50}
          dataset: {kind: random, input_len: 64}
design:
  restart: leg
  runs: 2
  seed: 7
  until: verdict
  precision: 2%
  max_blocks: 6
  budget: 2h
  confirm: 0
warm_up: own
cache: cold
level: 0.95
margin: 1.5%
fail_if:
  - ttft.mean > +2%
`

func read(t *testing.T, text string) *Experiment {
	t.Helper()
	e, _, err := Read("dir/exp.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRead(t *testing.T) {
	got := read(t, whole)
	none := 0
	want := &Experiment{
		Version: 1, Name: "graphs",
		Server: ServerSetup{
			Command: "vllm serve Qwen/Qwen3-8B --port 8000 \\\n  --tensor-parallel-size ${tp} ${graph}\n",
			Env:     map[string]string{"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "8"},
			URL:     "http://127.0.0.1:8000", ReadyTimeout: plan.Duration(10 * time.Minute),
		},
		Variants: []Variant{
			{Name: "plain", Server: ServerSetup{Command: "vllm serve Qwen/Qwen3-8B", Env: map[string]string{"OMP_NUM_THREADS": "4"}}},
			{Name: "busy", Flags: "--max-concurrency 32", Settings: json.RawMessage(`{"gate":{"concurrency":32}}`), Server: ServerSetup{URL: "http://127.0.0.1:9000", Command: "x"}},
		},
		Matrix: &Matrix{
			Axes:    Axes{{"tp", []string{"1", "2"}}, {"graph", []string{"", "--enforce-eager"}}},
			Exclude: []map[string]string{{"tp": "2", "graph": "--enforce-eager"}},
		},
		Baseline: "busy",
		Workloads: []Workload{
			{Name: "steady", Command: "vllm bench serve --max-concurrency 16 --num-prompts 200"},
			{Name: "burst", Spec: json.RawMessage(`{"target":{"url":"http://127.0.0.1:8000"},"request":{"protocol":"completions"},"requests":20,"load":[{"arrival":{"kind":"poisson","rate":2.50},"dataset":{"kind":"random","input_len":64}}]}`)},
		},
		Design: Design{Restart: PerLeg, Runs: 2, Seed: 7, Until: UntilVerdict, Precision: 0.02, MaxBlocks: 6, Budget: plan.Duration(2 * time.Hour), Confirm: &none},
		WarmUp: Own, Cache: plan.ColdCache, Level: 0.95, Margin: 0.015, FailIf: []string{"ttft.mean > +2%"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again(t, got)
}

// again requires that what YAML writes is read as the same.
func again(t *testing.T, e *Experiment) string {
	t.Helper()
	text, err := e.YAML()
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := Read("other.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Fatalf("%s\nby\n%s", diff, text)
	}
	return string(text)
}

// A file as short as it can be.
func TestReadShort(t *testing.T) {
	e := read(t, "variants:\n- {name: a, server: {profile: vision}}\n- {name: b, server: {profile: small-chat, engine: {max_model_len: 4096}}}\nworkloads: [bench -n 20]\n")
	if e.Name != "exp" || !cmp.Equal(e.Workloads, []Workload{{Name: "load", Command: "bench -n 20"}}) || e.Version != 1 {
		t.Errorf("%+v", e)
	}
}

func TestYAMLReads(t *testing.T) {
	const want = `version: 1
name: eager
server:
  command: |
    vllm serve Qwen/Qwen3-8B --port ${port} \
      --tensor-parallel-size 2
  env:
    OMP_NUM_THREADS: '8'
  ready_timeout: 10m0s
variants:
  - name: graphs
  - name: eager
    flags: --max-concurrency 32
workloads:
  - name: load
    command: 'vllm bench serve --goodput "ttft:200"'
design:
  precision: 2%
`
	e := &Experiment{
		Version: 1, Name: "eager", Server: ServerSetup{Command: "vllm serve Qwen/Qwen3-8B --port ${port} \\\n  --tensor-parallel-size 2\n", Env: map[string]string{"OMP_NUM_THREADS": "8"}, ReadyTimeout: plan.Duration(10 * time.Minute)},
		Variants:  []Variant{{Name: "graphs"}, {Name: "eager", Flags: "--max-concurrency 32"}},
		Workloads: []Workload{{Name: "load", Command: `vllm bench serve --goodput "ttft:200"`}},
		Design:    Design{Precision: 0.02},
	}
	if diff := cmp.Diff(want, again(t, e)); diff != "" {
		t.Error(diff)
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string]Share{"2%": 0.02, "0.02": 0.02, "7.3%": 0.073, "0.07": 0.07, " 5 %": 0.05, "0%": 0, "-1%": -0.01, "3": 3} {
		var s Share
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, float64(s), err)
		}
		b, err := json.Marshal(s)
		var back Share
		if err != nil || json.Unmarshal(b, &back) != nil || back != s {
			t.Errorf("%s became %s, %v", text, b, float64(back))
		}
	}
	for _, text := range []string{"", "%", "two", "2%%", "0x2%", "1_0%", "nan%", "1e1%", "1e9999999999%", "1e400"} {
		if err := new(Share).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "2% or 0.02") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for share, want := range map[Share]string{0.02: "2%", 0.005: "0.5%", 1e-9: "0.0000001%", 0.95: "95%", 0: "0%"} {
		if share.String() != want {
			t.Errorf("%v: %s", float64(share), share)
		}
	}
	var s Share
	if json.Unmarshal([]byte("0.25"), &s) != nil || s != 0.25 {
		t.Error(s)
	}
}

// heads are the first lines of mistakes.
func heads(t *testing.T, err error) (out []string) {
	t.Helper()
	var mistakes plan.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, m := range mistakes {
		head, _, _ := strings.Cut(m.Error(), "\n")
		out = append(out, strings.TrimPrefix(head, "f.yaml:"))
	}
	return out
}

// All mistakes of a file are reported at once, each at its place.
func TestMistakes(t *testing.T) {
	const text = `name: a/b
variant: []
server:
  comand: x
  url: localhost:8000
variants:
- name: one
  server: {image: "img", profile: vision}
- name: one
  flags: 5x
- server: {runner: dockr}
baseline: two
workloads:
- command: bench 'x
  spec: {version: 1, requests: -1}
- name: w
design: {blocks: 99, until: never, precision: 200%, restart: lag, budget: -1s}
warm_up: hot
cache: lukewarm
margin: two
fail_if: [ttfx > 1]
`
	want := []string{
		`1:7: name "a/b": must not contain / \ * ? or [, which name runs and files`,
		`2:1: variant: unknown field, did you mean "variants"?`,
		`4:3: server.comand: unknown field, did you mean "command"?`,
		`5:8: server.url "localhost:8000": must begin with http:// or https://; write http://localhost:8000`,
		`8:19: variants[0].server.image: does not go with profile and engine: a variant is the embedded engine, or a server`,
		`9:9: variants[1].name "one": names two variants`,
		`10:10: variants[1].flags "5x": must be flags such as --max-concurrency 32`,
		`11:3: variants[2].name: is missing`,
		`11:20: variants[2].server.runner "dockr": unknown name, did you mean "docker"?; allowed: local, docker, podman, ssh, kubectl`,
		`12:11: baseline "two": names no variant`,
		`14:3: workloads[0]: needs a name, as one of several`,
		`14:3: workloads[0]: has a command and a spec; give one of them`,
		`14:12: workloads[0].command: the quote before x is not closed`,
		`15:3: workloads[0].spec.request.protocol: is missing`,
		`15:3: workloads[0].spec.load: is missing: nothing would be sent`,
		`15:32: workloads[0].spec.requests -1: must not be negative`,
		"16:3: workloads[1]: needs a command, such as `vllm bench serve --num-prompts 200`, or a spec",
		`17:18: design.blocks 99: must be at most 64`,
		`17:29: design.until "never": unknown name; allowed: verdict`,
		`17:47: design.precision 200%: must be between 0 and 100%, such as 2%`,
		`17:62: design.restart "lag": unknown name, did you mean "leg"?; allowed: leg, block, never`,
		`17:75: design.budget -1s: must not be negative`,
		`18:10: warm_up "hot": unknown name; allowed: steady, own`,
		`19:8: cache "lukewarm": unknown name; allowed: cold, primed, warm`,
		`20:9: margin: "two": must be a share such as 2% or 0.02`,
		`21:11: fail_if[0] "ttfx > 1": no figure is called "ttfx"`,
	}
	_, _, err := Read("f.yaml", []byte(text))
	got := heads(t, err)
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], "; there are requests.ok")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("variants:\n- {name: a, server: {profile: vision, engine: {fault: [reset=0.1]}}}\n- {name: b, flags: --x 1}\nworkloads: [bench]\n"))
	f.Add([]byte("matrix: {axes: {x: [1, 2]}, flags: '--x ${x}'}\nworkloads:\n- {name: l, spec: {load: [{arrival: at-once, dataset: random}], request: {protocol: chat}}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, _, err := Read("f.yaml", data)
		if err != nil {
			var mistakes plan.Mistakes
			if !errors.As(err, &mistakes) || mistakes[0].Line < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		again(t, e)
		if n := len(e.Expanded()); n < 2 || n > maxVariants {
			t.Fatalf("%d variants", n)
		}
		for _, v := range e.Expanded() {
			for _, w := range e.Workloads {
				if w.Spec != nil {
					_, err = v.Spec(w)
				} else {
					_, err = v.Words(w)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
