package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
)

// env is a process with these variables.
func env(variables map[string]string) tool.Env {
	return tool.Env{
		Getenv: func(name string) string { return variables[name] }, Temp: "/tmp", Random: "0a1b2c3d",
		Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local),
	}
}

// A command line as a Spec: complete, in good form, and without secrets.
func TestCompile(t *testing.T) {
	a := parsed(t, "--backend sglang-oai-chat --base-url https://h/v --header X-Token=s3cretvalue A=1 bad --model org/m --served-model-name m --dataset-name random "+
		"--num-prompts 7 --request-rate 4 --max-concurrency 5 --goodput ttft:100 --tag t --output-details --lora-name a b --warmup-requests 2 --flush-cache --profile --profile-by-stage")
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	c, err := a.Compile(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Spec.Check().Err(); err != nil {
		t.Error(err)
	}
	want := plan.Spec{
		Version: 1, Name: "t",
		Target: plan.Target{URL: "https://h/v", Route: "/v1/chat/completions", Key: &plan.Source{Env: "OPENAI_API_KEY", Optional: true}, Direct: true},
		Request: plan.Request{
			Protocol: "chat", Model: "m", Root: "org/m", Stream: true, MediaFirst: true, Body: json.RawMessage(`{"ignore_eos":true,"temperature":0.0}`),
			Headers: []plan.Header{{Name: "X-Token", From: &plan.Source{Given: true}}, {Name: "A", Value: "1"}},
			Recount: plan.Recount{Answer: true, Reasoning: true, Drafts: "/server_info"},
		},
		Requests: 7, Seed: 42,
		Load: []plan.Stream{{
			Arrival: plan.Typed{Kind: "sglang", Settings: json.RawMessage(`{"rate":4,"adapter_fields":["lora_path","model"]}`)},
			Dataset: plan.Typed{Kind: "sglang.random", Settings: json.RawMessage(`{"input_len":1024,"output_len":1024,"range_ratio":0}`)},
		}},
		Gate: plan.Gate{Concurrency: 5}, Adapters: plan.Adapters{Names: []string{"a", "b"}, Assign: "uniform", Alpha: 1.5},
		Tokens: plan.Tokenizer{Info: "/model_info"},
		Before: plan.Before{
			Ready:  plan.Ready{Timeout: plan.Duration(time.Minute), Ask: "/v1/models"},
			WarmUp: plan.WarmUp{Requests: 2, From: plan.WarmFirst, MaxOutput: 32, Required: true},
			Flush:  plan.Flush{Route: "/flush_cache?timeout=60.0", Required: true}, Settle: plan.Duration(time.Second),
			Profiler: plan.Profiler{
				Start: plan.Call{Route: "/start_profile", Body: json.RawMessage(
					`{"activities":["CPU","GPU"],"num_steps":5,"output_dir":"/tmp","profile_by_stage":true,"profile_prefix":null,"profile_stages":null}`)},
				Stop: plan.Call{Route: "/stop_profile", Body: json.RawMessage(`{}`)}, Stamp: true,
			},
		},
		After: plan.After{Info: "/server_info", Account: "/server_info", Tail: true}, Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(100 * time.Millisecond)}},
		KeepText: true, Client: plan.Client{Timeout: plan.Duration(6 * time.Hour), NewConnections: true},
		Dialect: plan.Dialect{Name: "sglang", Version: "main", Settings: json.RawMessage(
			`{"backend":"sglang-oai-chat","tag":"t","dataset_name":"random","num_prompts":7,"max_concurrency":5,"random_input_len":1024,"random_output_len":1024,` +
				`"random_range_ratio":0,"image_count":1,"image_resolution":"1080p","goodput":[{"name":"ttft","ms":100}],"output_details":true}`)},
	}
	if diff := cmp.Diff(want, c.Spec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"request.headers[0]": "s3cretvalue"}, c.Given); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]plan.Message{plan.Msg(headersLost, "lost", 1, "of", 3)}, c.Notes); diff != "" {
		t.Error(diff)
	}
}

// What the environment and the older version change.
func TestCompileBySurroundings(t *testing.T) {
	spec := func(line string, variables map[string]string) plan.Spec {
		c, err := parsed(t, line).Compile(env(variables))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Spec.Check().Err(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return c.Spec
	}
	if s := spec("", map[string]string{"API_KEY": "x"}); s.Target.Key != nil || s.Target.Headers[0].From.Env != "API_KEY" {
		t.Errorf("%+v", s.Target)
	}
	if s := spec("", map[string]string{"API_KEY": "x", "OPENAI_API_KEY": "y"}); s.Target.Key == nil || s.Target.Headers != nil {
		t.Errorf("%+v", s.Target)
	}
	if s := spec("--backend trt --model m --header A=1", nil); !s.Request.Bare || s.Request.Headers != nil || s.Before.Ready.Ask != "/" || !s.Request.IgnoreEOS || s.After.Info != "" || s.After.Account != "/server_info" {
		t.Errorf("%+v", s)
	}
	if s := spec("", map[string]string{"SGLANG_IS_IN_CI": "True"}); s.Before.Flush.Route == "" {
		t.Error("the cache is not flushed in CI")
	}
	old := spec("--dialect-version 2026-01 --dataset-name image --flush-cache --profile --tokenizer ./t.json", nil)
	if old.Before.Flush != (plan.Flush{Route: "/flush_cache"}) || !old.Before.WarmUp.Ungated || old.Before.Ready.Timeout != 0 || old.Before.Profiler.Stamp || old.Tokens.Info != "" || !old.Tokens.Required ||
		old.After.Info != "/get_server_info" || string(old.Before.Profiler.Stop.Body) != string(old.Before.Profiler.Start.Body) || !strings.Contains(string(old.Load[0].Dataset.Settings), `"version":"2026-01"`) {
		t.Errorf("%+v", old)
	}
	routed := spec("--dataset-name generated-shared-prefix --gsp-send-routing-key", nil)
	if routed.Requests != 0 || !strings.Contains(string(routed.Load[0].Dataset.Settings), `"routing_key":"0a1b2c3d_20260102030405"`) {
		t.Errorf("%+v", routed.Load)
	}
	separated := spec("--profile --pd-separated --profile-decode-url http://a http://b --profile-num-steps 3 --profile-start-step 2", nil).Before.Profiler
	if diff := cmp.Diff([]plan.Worker{{Name: "Decode-0", URL: "http://a"}, {Name: "Decode-1", URL: "http://b"}}, separated.Workers); diff != "" || string(separated.Stop.Body) != `{"start_step":"2"}` {
		t.Errorf("%s %s", diff, separated.Stop.Body)
	}
	if p := spec("--profile --profile-num-steps 3", nil).Before.Profiler; p.Stop.Route != "" {
		t.Error("a profiler that stops by itself is stopped")
	}
}

// Every dataset and every backend makes a Spec in good form, with settings that its kind
// takes.
func TestEveryDatasetCompiles(t *testing.T) {
	kinds := Kinds()
	for _, name := range datasets {
		c, err := parsed(t, "--backend sglang-oai-chat --dataset-name "+name).Compile(env(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Spec.Check().Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d := kinds["sglang."+name].New()
		if err := plan.DecodeJSON(c.Spec.Load[0].Dataset.Settings, d).Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(string(c.Spec.Load[0].Dataset.Settings), string(plan.Make("x", d).Settings)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if m := d.Describe(); m.IsZero() {
			t.Errorf("%s does not describe itself", name)
		}
	}
	for _, name := range backends {
		c, err := parsed(t, "--model m --goodput ttft:1 e2el:2 --disable-stream --backend "+name).Compile(env(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Spec.Check().Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinesAroundARun(t *testing.T) {
	a := parsed(t, "--profile --profile-num-steps 3 --profile-start-step 2 --cache-report --backend vllm")
	call := plan.Call{Route: "/start_profile", Body: json.RawMessage(`{"num_steps":"9","output_dir":"/tmp/1.5"}`)}
	var got []string
	add := func(lines ...string) { got = append(got, lines...) }
	add(a.Warnings()...)
	add(fmt.Sprintf(Waiting, 60.0, "http://h"), fmt.Sprintf(Ready, 1.24), fmt.Sprintf(NotReady, 60.0), fmt.Sprintf(WarmUp, 2), fmt.Sprintf(WarmedUp, 2), StartProfiling, StopProfiling)
	add(a.Profiled(true, plan.Worker{}, call, nil)...)
	add(a.Profiled(true, plan.Worker{}, call, errors.New("gone"))[1:]...)
	add(a.Profiled(false, plan.Worker{Name: "Decode-0", URL: "http://d"}, plan.Call{Route: "/stop_profile"}, nil)...)
	add(a.Profiled(false, plan.Worker{Name: "Decode-0", URL: "http://d"}, plan.Call{Route: "/stop_profile"}, errors.New("gone"))[1:]...)
	add(parsed(t, "--profile --pd-separated").Unprofiled()...)
	want := []string{
		"WARNING: --cache-report is only supported with sglang backends.",
		"Waiting up to 60s for http://h to become ready...",
		"Server ready in 1.2s.",
		"Server did not become ready within 60s timeout.",
		"Starting warmup with 2 sequences...",
		"Warmup completed with 2 sequences. Starting main benchmark run...",
		"Starting profiler...",
		"Stopping profiler...",
		"async_request_profile api_url='http://0.0.0.0:8000/start_profile' body={'activities': ['CPU', 'GPU'], 'num_steps': 3, 'profile_by_stage': False, 'profile_stages': None, 'output_dir': '/tmp/1.5', 'profile_prefix': None}",
		"Profiler started",
		"async_request_profile api_url='http://d/stop_profile' body={}",
		"Profiler stopped for Decode-0 worker at http://d",
		"Failed to stop profiler for Decode-0 worker at http://d: gone",
		"Warning: PD separated mode requires --profile-prefill-url or --profile-decode-url",
		"Skipping profiler start. Please specify worker URLs for profiling.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines := slices.Concat(a.Unprofiled(), parsed(t, "").Warnings()); lines != nil {
		t.Errorf("%q", lines)
	}
}

// What a table, a log or a result tells of arguments is described as the same arguments
// of ours are, as far as it goes.
func TestPlanOfWhatIsTold(t *testing.T) {
	tokens := plan.Msg(workload.LoadTokens, "input", 10, "output", 5)
	for _, c := range []struct {
		told tool.ReportedArgs
		want trace.Load
	}{
		{tool.ReportedArgs{"dataset_name": "random", "random_input_len": "10", "random_output_len": "5", "random_range_ratio": "0.5", "num_prompts": "8", "request_rate": "inf"}, trace.Load{
			Stream: true, Requests: 8, Workload: workload.Describe("random", plan.Msg("load.from", "tokens", tokens, "share", 0.5)), Arrival: plan.Msg(workload.ArriveAtOnce),
		}},
		{tool.ReportedArgs{"backend": "sglang-oai", "base_url": "https://u:p@h/x?key=1", "dataset_name": "sharegpt", "dataset_path": "a.json", "request_rate": "2.0", "disable_stream": "True"}, trace.Load{
			URL: "https://h/x", Protocol: "completions", Workload: workload.Describe("sharegpt", plan.Text("a.json")), Arrival: workload.Paced(1, 2), Rate: 2,
		}},
		{tool.ReportedArgs{"dataset_name": "generated-shared-prefix", "use_trace_timestamps": "True", "backend": "mine"}, trace.Load{
			Stream: true, Workload: workload.Describe("generated-shared-prefix"), Arrival: plan.Msg(workload.ArriveRecorded),
		}},
		{tool.ReportedArgs{"dataset_name": "mine", "dataset_path": "x"}, trace.Load{Stream: true, Workload: workload.Describe("mine", plan.Text("x"))}},
	} {
		c.want.Dialect = "sglang"
		if diff := cmp.Diff(c.want, planOf(c.told)); diff != "" {
			t.Errorf("%v: %s", c.told, diff)
		}
	}
}
