package vllm

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool"

	"github.com/pitot-bench/pitot/internal/tool/python"
)

// testdata/argparse.json holds command lines and what the parser of vllm 0.33.0
// made of them: the printout without any argument, then the values that change,
// or the error message.
func TestCommandLinesAreReadAsVLLMReadsThem(t *testing.T) {
	var cases []struct {
		Args      []string
		Namespace string
		Changes   map[string]string
		Error     string
	}
	golden.JSON(t, "testdata/argparse.json", &cases)
	plain, err := Parse(nil, "bench-00000000-")
	if err != nil || plain.Namespace() != cases[0].Namespace {
		t.Fatalf("%v: %s\nwant %s", err, plain.Namespace(), cases[0].Namespace)
	}
	for _, c := range cases {
		a, err := Parse(c.Args, "bench-00000000-")
		if c.Error != "" {
			checkUsage(t, c.Args, err, c.Error)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.Args, err)
			continue
		}
		changes := map[string]string{}
		for name, v := range texts(t, a) {
			if v != texts(t, plain)[name] {
				changes[name] = v
			}
		}
		if diff := cmp.Diff(c.Changes, changes); diff != "" {
			t.Errorf("%q: %s", c.Args, diff)
		}
	}
}

// texts are the arguments as the printout has them.
func texts(t *testing.T, a *Args) map[string]string {
	t.Helper()
	all := map[string]string{}
	rest := strings.TrimPrefix(a.Namespace(), "Namespace(")
	for rest != ")" {
		name, value, _ := strings.Cut(rest, "=")
		n, err := python.ValueEnd(value)
		if err != nil {
			t.Fatal(err)
		}
		all[name], rest = value[:n], strings.TrimPrefix(value[n:], ", ")
	}
	return all
}

func checkUsage(t *testing.T, args []string, err error, want string) {
	t.Helper()
	var usage *python.UsageError
	if strings.Contains(want, "invalid loads value") { // Python names the function that failed
		want = `argument --extra-body: invalid loads value: '{bad'`
	}
	if !errors.As(err, &usage) || usage.Error() != want {
		t.Errorf("%q: error %v\nwant %s", args, err, want)
	}
}

func TestHelpIsAskedFor(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"--seed", "1", "--help=all"}, {"--nonsense", "--help"}, {"--hel"}} {
		if _, err := Parse(args, ""); !errors.Is(err, python.ErrHelp) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestDottedPathsThroughAValue(t *testing.T) {
	_, err := Parse([]string{"--extra-body.a", "1", "--extra-body.a.b", "2"}, "")
	if err == nil || !strings.Contains(err.Error(), `"a" already has a value`) {
		t.Errorf("got %v", err)
	}
}

func TestHeaderValuesAreMasked(t *testing.T) {
	for args, want := range map[string]string{
		"--head A=s3cret B=1 --metadata A=s3cret": "--head A=*** B=*** --metadata A=s3cret",
		"--header=A=s3cret x=y":                   "--header=A=*** x=***",
		"--label A=s3cret":                        "--label A=s3cret",
	} {
		if got := strings.Join(new(Args).Mask(strings.Fields(args)), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	args := []string{"--header", "Authorization=Bearer s3cret", "X=1", "--seed", "1", "--header=Y=s3cret"}
	a, err := Parse(args[:5], "")
	if err != nil {
		t.Fatal(err)
	}
	masked := strings.Join(a.Mask(args[:5]), " ")
	if masked != "--header Authorization=*** X=*** --seed 1" {
		t.Errorf("masked: %s", masked)
	}
	if strings.Contains(a.Namespace(), "s3cret") {
		t.Error(a.Namespace())
	}
	for name, v := range texts(t, a) {
		if strings.Contains(v, "s3cret") {
			t.Errorf("%s: %s", name, v)
		}
	}
}

func TestExpandConfig(t *testing.T) {
	file := "model: org/m\nnum_prompts: 5\nsave-result: true\nsave-detailed: false\nself-timed: false\ngoodput: [ttft:100, tpot:20]\nextra-body: {top_k: 3}\nlabel: ~\n"
	read := func(string) ([]byte, error) { return []byte(file), nil }
	got, err := ExpandConfig([]string{"--seed", "1", "--config", "b.yaml", "--num-prompts", "9"}, read)
	want := []string{
		"--model", "org/m", "--num_prompts", "5", "--save-result", "--no-self-timed",
		"--goodput", "ttft:100", "tpot:20", "--extra-body", `{"top_k":3}`, "--seed", "1", "--num-prompts", "9",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%q\n%q", err, got, want)
	}
	a, err := Parse(slices.DeleteFunc(got, func(s string) bool { return s == "--no-self-timed" }), "")
	if err != nil || a.NumPrompts != 9 || *a.Model != "org/m" {
		t.Errorf("%v: %+v", err, a)
	}
	for _, args := range [][]string{{"--config"}, {"--config=b.json"}} {
		if _, err := ExpandConfig(args, read); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if _, err := ExpandConfig([]string{"--config=b.yml"}, os.ReadFile); err == nil || !strings.HasPrefix(err.Error(), "--config: ") {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzParseVLLM(f *testing.F) {
	f.Add("--num-prompts\x00500\x00--extra-body.a.b+\x001,2k")
	f.Add("--goodput\x00ttft:1\x00--metadata\x00a=b\x00--random-mm-bucket-config\x00{(1,1,1):1}")
	f.Add("--goodput\x00-- a.b\x00c")
	f.Add("--request-rate=1e3\x00--no-self-timed\x00--header=a=b")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		a, err := Parse(args, "p")
		if err != nil {
			return
		}
		if a.Namespace() == "" {
			t.Fatal("empty printout")
		}
		_ = a.Check()
		// A name with a blank and a dot is put at the end, as all with a dot are, and
		// is then a value of whatever stands before it.
		if slices.ContainsFunc(args, func(arg string) bool {
			name, _, dotted := strings.Cut(arg, ".")
			return dotted && strings.HasPrefix(name, "--") && strings.Contains(name, " ")
		}) {
			return
		}
		// the last occurrence wins: appending a setting changes that setting alone
		b, err := Parse(append(args, "--seed", "77"), "p")
		if err != nil || b.Seed != 77 || b.NumPrompts != a.NumPrompts {
			t.Fatalf("%q and --seed 77: %v", args, err)
		}
	})
}

// The printout of Pitot's own vllm command line reads back.
func TestNamespaceReadsBack(t *testing.T) {
	args := []string{"--model", "a'b", "--request-rate", "4", "--max-concurrency", "16", "--goodput", "ttft:200", "tpot:50.5", "--header", "K=secret", "--seed", "7", "--backend", "openai-chat"}
	a, err := Parse(args, "bench-")
	if err != nil {
		t.Fatal(err)
	}
	s, rest, err := python.ReadNamespace(a.Namespace())
	if err != nil || rest != "" || strings.Contains(s["header"], "secret") {
		t.Fatalf("%v, rest %q, %v", err, rest, s)
	}
	want := trace.Load{
		Dialect: "vllm", URL: "http://127.0.0.1:8000", Protocol: "chat", Model: "a'b", Stream: true,
		Workload: workload.Describe("random", plan.Msg(workload.LoadTokens, "input", 1024, "output", 128)), Requests: 1000, Seed: 7,
		Arrival: plan.Msg(arriveStretched, "arrival", workload.Paced(1, 4)), Rate: 4, Concurrency: 16, Percentiles: []float64{99},
		Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}, {Metric: "tpot", Limit: plan.Duration(50500 * time.Microsecond)}},
	}
	if diff := cmp.Diff(want, planOf(s)); diff != "" {
		t.Error(diff)
	}
}

// What a table, a log or a result tells of arguments is described as the same arguments
// of ours are, as far as it goes.
func TestPlanOfWhatIsTold(t *testing.T) {
	for _, c := range []struct {
		told tool.ReportedArgs
		want trace.Load
	}{
		{tool.ReportedArgs{"ramp_up_strategy": "linear", "ramp_up_start_rps": "1", "ramp_up_end_rps": "9", "request_rate": "inf", "burstiness": "0.5"}, trace.Load{
			Ramp: true, Arrival: workload.Ramped(0.5, "linear:1..9", true),
		}},
		{tool.ReportedArgs{"dataset_name": "random", "input_len": "7", "random_input_len": "1024", "random_output_len": "2", "random_range_ratio": "0.2"}, trace.Load{
			Workload: workload.Describe("random", plan.Msg(workload.LoadTokens, "input", workload.WithRange(7, 0.2), "output", workload.WithRange(2, 0.2))),
		}},
		{tool.ReportedArgs{"dataset_name": "random", "request_rate": "inf"}, trace.Load{Workload: workload.Describe("random"), Arrival: plan.Msg(workload.ArriveAtOnce)}},
		{tool.ReportedArgs{"dataset_name": "burstgpt", "dataset_path": "a.csv", "request_rate": "3"}, trace.Load{
			Workload: workload.Describe("burstgpt", plan.Text("a.csv")), Rate: 3, Arrival: plan.Msg(workload.ArriveUnknown, "rate", 3),
		}},
		{tool.ReportedArgs{"dataset_name": "mine", "dataset_path": "b", "backend": "tgi", "seed": "4"}, trace.Load{Workload: workload.Describe("mine", plan.Text("b")), Seed: 4}},
		{tool.ReportedArgs{"base_url": "https://u:p@h/x?key=1", "backend": "openai-chat", "goodput": "['ttft:200', 'x']"}, trace.Load{
			URL: "https://h/x", Protocol: "chat", Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}},
		}},
	} {
		c.want.Dialect, c.want.Stream = "vllm", true
		if diff := cmp.Diff(c.want, planOf(c.told)); diff != "" {
			t.Errorf("%v: %s", c.told, diff)
		}
	}
}

// The names of the backend until release 0.11, in the form that had both.
func TestEndpointType(t *testing.T) {
	a, err := Parse([]string{"--endpoint_type=openai-chat", "--dialect-version", "2025-07"}, "")
	if err != nil || a.Backend != "openai-chat" {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := Parse([]string{"--endpoint-t", "vllm"}, ""); err == nil || !strings.Contains(err.Error(), "unrecognized arguments: --endpoint-t vllm") {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := Parse([]string{"--endpoin", "/v2/completions"}, ""); err != nil || a.Endpoint != "/v2/completions" {
		t.Errorf("%v, %v", a, err)
	}
}

// Options that no release's Python client has are refused with what does the same here.
func TestOptionsOfOtherClients(t *testing.T) {
	for args, want := range map[string]string{
		"--num-runs 5": "in place of --num-runs use pitot bench --repeat N", "--compare a.json b.json": "use pitot compare A.json B.json",
		"--sweep_max_concurrency=1,10": "use pitot sweep --concurrency", "--multi-turn --multi-turn-num-turns 5": "in place of --multi-turn-num-turns use pitot bench",
		"--hf-text-column x": "in place of --hf-text-column use nothing; leave it out", "--endpoint-type openai": "use --backend",
	} {
		_, err := Parse(strings.Fields(args), "")
		if err == nil || !strings.HasPrefix(err.Error(), "unrecognized arguments: --") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// The client in Rust chooses the route, unless one is given, and has more in its table.
func TestDefaultsOfTheClientInRust(t *testing.T) {
	for args, want := range map[string]string{
		"": "/v1/completions", "--backend openai-chat": "/v1/chat/completions", "--backend openai-responses": "/v1/responses",
		"--backend openai-embeddings": "/v1/embeddings", "--backend vllm-pooling": "/pooling", "--backend vllm-rerank": "/v1/rerank", "--backend openai-chat --endpoint /x": "/x",
	} {
		a, err := ParseRust(strings.Fields(args), "")
		if err != nil || a.Endpoint != want || *a.PercentileMetrics != "ttft,tpot,itl,e2el" || a.MetricPercentiles != "99,90" {
			t.Errorf("%s: %+v, %v", args, a, err)
		}
	}
}
