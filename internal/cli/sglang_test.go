package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// benchServing runs a command line of sglang.bench_serving against a virtual engine,
// 50 ms to the first token and 10 ms from one to the next, and returns the line of its
// result file.
func benchServing(t *testing.T, v *virtual, line string) (code int, result map[string]any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.jsonl")
	v.Args = append(strings.Fields("python -m sglang.bench_serving --disable-tqdm "+line), "--output-file", file)
	v.Env = func(name string) (string, bool) { return v.store, name == "PITOT_STORE" }
	code = Run(v.Session)
	b, err := os.ReadFile(file)
	if err != nil {
		return code, nil
	}
	text := strings.NewReplacer(": Infinity", ": 1e999", ": NaN", ": null").Replace(string(b))
	text = strings.ReplaceAll(text, "1e999", `"inf"`)
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Errorf("%v in %s", err, b)
	}
	return code, result
}

func serving(t *testing.T, v *virtual) (stop func()) {
	t.Helper()
	l, err := v.Listen("", "")
	if err != nil {
		t.Fatal(err)
	}
	return serveVirtual(t, l)
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Two at a time, 50 + 3·10 ms each: four rounds of 80 ms.
func TestSGLangInVirtualTime(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		stop := serving(t, v)
		code, result := benchServing(t, v, "--backend sglang --dataset-name random --num-prompts 8 --max-concurrency 2 --random-input 16 --random-output 4 --random-range 1 --tag a/b --header x-a=1 lost")
		if code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		stop()
		wantLines(t, v.stdout.String(),
			"Server ready in 0.0s.",
			"#Input tokens: 128", "#Output tokens: 32",
			"Starting warmup with 1 sequences...",
			"Warmup completed with 1 sequences. Starting main benchmark run...\n\n============ Serving Benchmark Result ============",
			"Backend:                                 sglang    ",
			"Traffic request rate:                    inf       ",
			"Max request concurrency:                 2         ",
			"Successful requests:                     8         ",
			"Benchmark duration (s):                  0.32      ",
			"Total input tokens:                      128       ",
			"Total generated tokens:                  32        ",
			"Output token throughput (tok/s):         100.00    ",
			"Peak concurrent requests:                8         ",
			"Concurrency:                             2.00      ",
			"Mean E2E Latency (ms):                   80.00     ",
			"Mean TTFT (ms):                          50.00     ",
			"P99 TPOT (ms):                           10.00     ",
			"Max ITL (ms):                            10.00     ",
		)
		if out := v.stdout.String(); !strings.HasPrefix(out, "benchmark_args=Namespace(backend='sglang', base_url=None, host='0.0.0.0', port=None, ") ||
			!strings.Contains(out, "\nNamespace(backend='sglang', base_url=None, host='0.0.0.0', port=30000, ") || !strings.Contains(out, " model='pitot', ") {
			t.Error(out)
		}
		if result["completed"] != 8.0 || result["request_rate"] != "inf" || result["tag"] != "a/b" || result["accept_length"] != nil || result["server_info"] == nil {
			t.Errorf("%v", result)
		}
		tr := v.last(t)
		if p := tr.Run.Plan; p.Dialect != "sglang" || p.Protocol != "generate" || tr.Run.Name != "a/b" {
			t.Errorf("%+v", p)
		}
		if !strings.Contains(english().SayAll("stop", tr.Run.Notes), "1 of 2 headers are left out") {
			t.Errorf("%q", tr.Run.Notes)
		}
		for _, r := range tr.Records {
			if !r.Connected.Happened() {
				t.Errorf("request %d found a connection that was open", r.Index)
			}
		}
		checkDialects(t, v)
	})
}

// checkDialects prints the last run in every dialect.
func checkDialects(t *testing.T, v *virtual) {
	t.Helper()
	for dialect, want := range map[string]string{"pitot": "mean TTFT", "vllm": "Maximum request concurrency:", "sglang": "Max request concurrency:", "json": `"service"`} {
		v.stdout.Reset()
		v.Args = []string{"runs", "report", "last", "--dialect", dialect}
		if code := Run(v.Session); code != exitOK || !strings.Contains(v.stdout.String(), want) && dialect != "pitot" || v.stdout.Len() == 0 {
			t.Errorf("--dialect %s: exit code %d, %s", dialect, code, v.stdout.String())
		}
	}
}

// The backends that the engine serves: 0 failed, figures alike.
func TestSGLangBackends(t *testing.T) {
	race.Skip(t)
	for backend, route := range map[string]string{
		"sglang-native": "generate", "sglang-oai": "completions", "sglang-oai-chat": "chat", "vllm": "completions", "vllm-chat": "chat",
		"lmdeploy": "completions", "lmdeploy-chat": "chat",
	} {
		t.Run(backend, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t)
				stop := serving(t, v)
				code, result := benchServing(t, v, "--dialect-version 2026-01 --dataset-name random-ids --num-prompts 6 --random-input 16 --random-output 4 --random-range 1 --backend "+backend)
				stop()
				if code != exitOK {
					t.Fatal(code, v.stderr.String())
				}
				if result["completed"] != 6.0 || result["median_ttft_ms"] != 50.0 || result["total_output_tokens"] != 24.0 || result["p99_e2e_latency_ms"] != 80.0 {
					t.Errorf("%v", result)
				}
				if _, ok := result["p90_ttft_ms"]; ok {
					t.Error("a percentile that the form has not")
				}
				if p := v.last(t).Run.Plan.Protocol; p != route {
					t.Errorf("protocol %s", p)
				}
				wantLines(t, v.stdout.String(), "Total input vision tokens:               0         ")
			})
		})
	}
}

// The gaps of seed 42 are 0.469, 3.010 and 1.317 s at 1 request/s: the third is sent
// at 3.479 s, and the run ends with the gap after it.
func TestSGLangWaitsForTheLastGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		stop := serving(t, v)
		code, result := benchServing(t, v, "--dataset-name random --num-prompts 3 --random-input 16 --random-output 4 --random-range 1 --request-rate 1 --goodput ttft:60 e2el:70 --output-details")
		stop()
		if code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		wantLines(t, v.stdout.String(),
			"Traffic request rate:                    1.0       ",
			"Benchmark duration (s):                  4.80      ",
			"SLOs (ms):                               ttft:60 e2el:70",
			"Request goodput (req/s):                 0.00      ",
			"SLO attainment (%):                      0.00      ",
			"TTFT SLO attainment (%):                 100.00    ",
			"E2EL SLO attainment (%):                 0.00      ",
		)
		if !strings.Contains(v.stderr.String(), "the duration, 4.80 s, contains 1.24 s after the last answer") {
			t.Error(v.stderr.String())
		}
		var due []trace.Instant
		for _, r := range v.last(t).Records {
			due = append(due, r.Released/1e6)
		}
		if slices.Sort(due); !slices.Equal(due, []trace.Instant{0, 469, 3479}) {
			t.Errorf("sent at %v ms", due)
		}
		if texts := result["generated_texts"].([]any); len(texts) != 3 || texts[0] == "" {
			t.Errorf("%v", result["generated_texts"])
		}
		if len(result["itls"].([]any)[0].([]any)) != 3 || result["errors"].([]any)[0] != "" {
			t.Errorf("%v", result)
		}
	})
}

// A scripted server answers as SGLang does, and notes what it is asked.
type scripted struct {
	mu    sync.Mutex
	calls []string // METHOD path, and what the body said
	heads []http.Header
	info  string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.calls = append(s.calls, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	s.heads = append(s.heads, r.Header)
	s.mu.Unlock()
	switch r.URL.Path {
	case "/v1/models":
		fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
	case "/generate":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"text": "one", "meta_info": {"completion_tokens": 1, "prompt_tokens": 5, "cached_tokens": 4, "cached_tokens_details": {"device": 3, "host": 1}, "finish_reason": null}}`+"\n\n")
		w.(http.Flusher).Flush()
		time.Sleep(20 * time.Millisecond)
		fmt.Fprint(w, `data: {"text": "one two", "meta_info": {"completion_tokens": 3, "prompt_tokens": 5, "cached_tokens": 4, "cached_tokens_details": {"device": 3, "host": 1}, "finish_reason": {"type": "length"}}}`+"\n\ndata: [DONE]\n\n")
	case "/server_info", "/get_server_info":
		fmt.Fprint(w, s.info)
	case "/model_info":
		fmt.Fprint(w, `{"tokenizer_path": "not/here"}`)
	case "/flush_cache", "/start_profile", "/stop_profile":
	default:
		http.NotFound(w, r)
	}
}

// against runs a command line against the script.
func (s *scripted) against(t *testing.T, v *virtual, line string) (code int, result map[string]any) {
	t.Helper()
	l, err := v.Listen("", "")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(l) }()
	code, result = benchServing(t, v, line)
	_ = server.Close()
	return code, result
}

// told are the calls without those that only Pitot makes.
func (s *scripted) told() (out []string) {
	for _, c := range s.calls {
		if !strings.Contains(c, "/metrics") && !strings.Contains(c, "/version") && !strings.Contains(c, "tokenize") {
			out = append(out, c)
		}
	}
	return out
}

// What is sent, in order; the two requests in the order of the run. Ids of prompts are
// the seed's.
func TestSGLangOrderOfSteps(t *testing.T) {
	const generate = `POST /generate {"logprob_start_len":-1,"return_logprob":false,"return_routed_experts":false,"stream":true,"x":1,"input_ids":[%s],` +
		`"sampling_params":{"ignore_eos":true,"temperature":0.0,"max_new_tokens":%d},"lora_path":"%s"}`
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		s := &scripted{info: `{"internal_states": [{"avg_spec_accept_length": 2.5}], "x": [1.50, "é", null]}`}
		code, result := s.against(t, v, `--backend sglang --dataset-name random-ids --num-prompts 2 --random-input 2 --random-output 40 --random-range 1 --lora-name a b --lora-request-distribution distinct`+
			` --flush-cache --profile --profile-by-stage --profile-start-step 7 --profile-output-dir /p --cache-report --max-concurrency 1 --extra-request-body {"x":1} --header X-A=1 X-B`)
		if code != exitOK {
			t.Fatal(code, v.stderr.String(), s.calls)
		}
		dir := strconv.FormatFloat(946684801.02, 'f', -1, 64) // the bubble's clock, after warm-up and a second
		want := []string{
			"GET /v1/models", "GET /v1/models", "GET /model_info",
			fmt.Sprintf(generate, "7270,7271", 32, "a"),
			"POST /flush_cache?timeout=60.0",
			`POST /start_profile {"activities":["CPU","GPU"],"num_steps":5,"output_dir":"/p/` + dir + `","profile_by_stage":true,"profile_prefix":null,"profile_stages":null,"start_step":"7"}`,
			fmt.Sprintf(generate, "7270,7271", 40, "a"),
			fmt.Sprintf(generate, "15796,15797", 40, "b"),
			`POST /stop_profile {"start_step":"7"}`, "GET /server_info", "GET /server_info",
		}
		if diff := cmp.Diff(want, s.told()); diff != "" {
			t.Error(diff)
		}
		if got := s.header("/generate").Get("X-A"); got != "1" || s.header("/generate").Get("X-B") != "" || s.header("/server_info").Get("X-A") != "" {
			t.Errorf("headers: %v", s.header("/generate"))
		}
		wantLines(t, v.stdout.String(),
			"Starting profiler...", "Profiler started", "Stopping profiler...", "Profiler stopped", "/stop_profile' body={}",
			"/start_profile' body={'activities': ['CPU', 'GPU'], 'num_steps': 5, 'profile_by_stage': True, 'profile_stages': None, 'output_dir': '/p/"+dir+"', 'profile_prefix': None}",
			"Total generated tokens:                  6         ",
			"Accept length:                           2.50      ",
			"Mean ITL (ms):                           10.00     ",
			"----------------Cache Hit Details-----------------",
			"Total prompt tokens:                     10        ",
			"Total cached tokens:                     8         ",
			"  Device:                                6         ",
			"Cache hit rate:                          80.0%",
			"  Host:                                  25.0%",
		)
		cached := map[string]any{
			"total_prompt_tokens": 10.0, "total_cached_tokens": 8.0, "cache_hit_rate_pct": 80.0,
			"device_cached_tokens": 6.0, "host_cached_tokens": 2.0, "storage_cached_tokens": nil, "storage_backend": nil,
		}
		if diff := cmp.Diff(cached, result["cache_report"]); diff != "" || result["accept_length"] != 2.5 {
			t.Error(diff, result["accept_length"])
		}
	})
}

// header is that of the last call of a route.
func (s *scripted) header(route string) http.Header {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if strings.Contains(s.calls[i], " "+route) {
			return s.heads[i]
		}
	}
	return nil
}

// With prefill and decode apart the workers are profiled, each under its name, and
// --profile-steps ends it without a call.
func TestSGLangProfilesWorkersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		s := &scripted{info: `{"decode": [{"internal_states": [{"avg_spec_accept_length": 3}]}]}`}
		code, result := s.against(t, v, "--dataset-name random-ids --num-prompts 1 --random-input 2 --random-output 3 --random-range 1 --profile --pd-separated --profile-decode-url http://w1 http://w2/no")
		if code != exitOK {
			t.Fatal(code, v.stderr.String(), s.calls)
		}
		wantLines(t, v.stdout.String(), "Profiler started for Decode-0 worker at http://w1", "Profiler stopped for Decode-0 worker at http://w1")
		if out := v.stdout.String(); !strings.Contains(out, "Failed to start profiler for Decode-1 worker at http://w2/no: ") || result["accept_length"] != 3.0 {
			t.Error(out)
		}
	})
}

// Conversations: rounds are successes, prompts are not counted, and the next round
// brings what was said.
func TestSGLangConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		stop := serving(t, v)
		code, result := benchServing(t, v, "--backend sglang-oai-chat --dataset-name generated-shared-prefix --gsp-num-groups 2 --gsp-prompts-per-group 2 --gsp-system-prompt-len 20 --gsp-question-len 5 --gsp-output-len 4 --gsp-num-turns 3 --max-concurrency 1")
		stop()
		if code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		if result["completed"] != 12.0 || result["total_input_tokens"] != 0.0 || result["total_output_tokens"] != 48.0 {
			t.Errorf("%v", result)
		}
		if !strings.Contains(v.stderr.String(), "sglang counts no prompts of conversations") {
			t.Error(v.stderr.String())
		}
		var turns []int
		records := v.last(t).Records
		slices.SortFunc(records, func(a, b *trace.Record) int { return int(a.Released - b.Released) })
		for _, r := range records {
			turns = append(turns, r.Usage.Prompt)
		}
		for i := range turns {
			if i%3 > 0 && turns[i] <= turns[i-1]+4 {
				t.Errorf("prompts of %v tokens: a round does not have what came before", turns)
			}
		}
	})
}

func TestSGLangErrors(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int
		want       string
	}{
		{"no such flag", "--nothing", exitUsage, "bench_serving.py: error: unrecognized arguments: --nothing"},
		{"its usage", "--seed x", exitUsage, "usage: bench_serving.py [-h]\n"},
		{"a backend without a client", "--backend gserver", exitFailed, "--backend gserver: sglang.bench_serving has no client for it either"},
		{"several at once", "--request-rate 0 --lora-zipf-alpha 1", exitFailed, "--request-rate 0.0: must be above 0\n       --lora-zipf-alpha 1.0"},
		{"a body that is none", "--extra-request-body [1]", exitFailed, "--extra-request-body: must be a JSON object"},
		{"pictures for embeddings", "--backend sglang-embedding --dataset-name image", exitFailed, "--dataset-name image: not for --backend sglang-embedding"},
		{"no file", "--dataset-name sharegpt --dataset-path nowhere.json --ready-check-timeout-sec 0 --model m", exitUsage, "--dataset-path nowhere.json: no such file"},
		{"nobody there", "--dataset-name random-ids --ready-check-timeout-sec 2", exitFailed, "is not ready"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t)
				l, err := v.Listen("", "")
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if code, _ := benchServing(t, v, tt.line); code != tt.code || !strings.Contains(v.stderr.String(), tt.want) {
					t.Errorf("exit code %d: %s", code, v.stderr.String())
				}
			})
		})
	}
}

// Lines that the tool cannot read fail its requests: a run without an answer ends
// with 1, and its result file says so.
func TestSGLangOfAServerThatComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		l, err := v.Listen("", "")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": ping\n\ndata: {\"choices\": [{\"index\": 0, \"text\": \"x\", \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n")
		})}
		go func() { _ = server.Serve(l) }()
		code, result := benchServing(t, v, "--backend vllm --model m --dataset-name random-ids --num-prompts 2 --random-input 2 --random-output 3 --output-details")
		_ = server.Close()
		if code != exitFailed || result["completed"] != 0.0 || result["mean_e2e_latency_ms"] != nil || result["mean_ttft_ms"] != 0.0 {
			t.Errorf("exit code %d: %v", code, result)
		}
		wantLines(t, v.stdout.String(), "Mean E2E Latency (ms):                   nan       ")
		for _, want := range []string{"2 of 2 requests failed", "2 of them were answered, with lines that sglang.bench_serving cannot read", "pitot: none of 2 requests was answered"} {
			if !strings.Contains(v.stderr.String(), want) {
				t.Errorf("no %q in %s", want, v.stderr.String())
			}
		}
	})
}

func TestSGLangCommandLines(t *testing.T) {
	for _, line := range []string{
		"python -m sglang.bench_serving --help", "python3 -u -m sglang.benchmark.serving -h", "sglang bench_serving --help",
		"python -msglang.bench_serving -h", "python3 some/where/bench_serving.py --help", "sglang --help", "help sglang", "help python",
	} {
		sess, stdout, stderr := process(t, nil, strings.Fields(line)...)
		if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), "--dialect-version FORM") || !strings.Contains(stdout.String(), "[--backend {sglang,") || !strings.Contains(stdout.String(), "--num-prompts NUM_PROMPTS                   1000\n") {
			t.Errorf("%s: %d %s", line, code, stderr.String())
		}
	}
	for _, line := range []string{"python -m http.server", "python", "sglang serve", "sglang", "python -c pass"} {
		sess, _, stderr := process(t, nil, strings.Fields(line)...)
		if code := Run(sess); code != exitUsage || !strings.Contains(stderr.String(), "bench_serving") {
			t.Errorf("%s: %d %s", line, code, stderr.String())
		}
	}
}

// A run of the deployment that a report was published of, in virtual time, has the
// rows of that report in their order.
func TestSGLangLayoutOfASimulation(t *testing.T) {
	published, err := os.ReadFile("../tool/sglang/testdata/2026-01.txt")
	if err != nil {
		t.Fatal(err)
	}
	v := newVirtual(t, "sim", "-q", "--profile", "deepseek-r1-pd", "-n", "64", "-c", "16", "--input-len", "350", "--output-len", "150",
		"--protocol", "generate", "--report", "sglang", "--dialect-version", "2026-01")
	if code := Run(v.Session); code != exitOK {
		t.Fatal(code, v.stderr.String())
	}
	labels := func(report string) (out []string) {
		for line := range strings.Lines(report) {
			label, _, _ := strings.Cut(line, ":  ")
			out = append(out, strings.TrimSpace(label))
		}
		return out
	}
	if diff := cmp.Diff(labels(string(published)), labels(v.stdout.String())); diff != "" {
		t.Error(diff)
	}
	if want := "Backend:                                 sglang    \n"; !strings.Contains(v.stdout.String(), want) {
		t.Errorf("no %q in\n%s", want, v.stdout.String())
	}
	v.Args = []string{"sim", "-q", "-n", "1", "--report", "sglang,vllm", "--dialect-version", "2026-01"}
	if code := Run(v.Session); code != exitUsage || !strings.Contains(v.stderr.String(), "--dialect-version 2026-01: only applies to one report") {
		t.Error(code, v.stderr.String())
	}
}

func TestSGLangPrintsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		stop := serving(t, v)
		code, _ := benchServing(t, v, "--backend sglang-oai-chat --dataset-name random-ids --num-prompts 2 --random-input 4 --random-output 3 --random-range 1 --print-requests")
		stop()
		if code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		lines := regexp.MustCompile(`(?m)^rid=([0-9a-f-]{36}) time=[0-9.]+ .*$`).FindAllStringSubmatch(v.stdout.String(), -1)
		ids := map[string]int{}
		for _, l := range lines {
			ids[l[1]]++
		}
		if len(lines) != 4 || len(ids) != 2 {
			t.Fatalf("%q", lines)
		}
		for _, want := range []string{
			`message="request start" request_func_input="RequestFuncInput(prompt='...', api_url='http://0.0.0.0:30000/v1/chat/completions', prompt_len=4, output_len=3, model='pitot'`,
			`time_delta=0.07 message="request end" output="RequestFuncOutput(generated_text='...', success=True, latency=0.07, ttft=0.05, tpot=None, itl=[0.01, 0.01], prompt_len=`,
		} {
			if !strings.Contains(v.stdout.String(), want) {
				t.Errorf("no %s in %q", want, lines)
			}
		}
	})
}
