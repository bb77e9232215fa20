package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// recorder stands before a server and keeps what is asked of it: the bodies of requests and
// their ids, in order of the ids.
func recorder(t *testing.T) (address string, taken func() []string) {
	t.Helper()
	behind, err := url.Parse(loopback(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		if r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "tokenize") {
			mu.Lock()
			seen = append(seen, r.Header.Get("X-Request-Id")+" "+r.URL.Path+" "+r.Header.Get("X-Plain")+" "+string(b))
			mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := slices.Sorted(slices.Values(seen))
		seen = nil
		return out
	}
}

// What a plan of a command line or of a run sends is what that sent, whoever's it was.
func TestAPlanIsTheRunAgain(t *testing.T) {
	race.Skip(t)
	t.Chdir(t.TempDir())
	server, taken := recorder(t)
	for _, line := range []string{
		"bench -q --url URL -n 6 -c 2 --seed 3 --output-len 2 --prefix-len 4 --warmup 2 --header X-Plain=yes --body {\"temperature\":0}",
		"bench -q --url URL -n 5 --rate 500 --mix weight=2 --mix|workload=chat turns=2 think=1ms output-len=2 --output-len= --warmup 1",
		"bench -q --url URL -n 4 --tenant|name=a rate=300 workload=chat turns=1 output-len=2 --tenant|name=b rate=100 input-len=9 output-len=2 --warmup 0",
		"vllm bench serve --base-url URL --num-prompts 5 --random-input 9 --random-output 2 --seed 4 --num-warmups 1 --disable-tqdm --temperature 0.5",
		"python -m sglang.bench_serving --base-url URL --dataset-name random-ids --num-prompts 4 --random-input 9 --random-output 2 --seed 4 --disable-tqdm --output-file out.jsonl",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "URL", server))
		if strings.Contains(line, "|") {
			args = fieldsWithBlanks(strings.ReplaceAll(strings.ReplaceAll(line, "URL", server), " --output-len=", ""))
		}
		sess, stdout, stderr := process(t, nil, args...)
		if code := Run(sess); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", line, code, stderr)
		}
		sent := taken()
		stdout.Reset()
		sess.Args = []string{"plan", "last"}
		if code := Run(sess); code != exitOK || len(taken()) > 0 {
			t.Fatalf("%s: exit code %d: %s", line, code, stderr)
		}
		if err := os.WriteFile("again.yaml", stdout.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		sess.Args = []string{"bench", "-q", "--config", "again.yaml"}
		if code := Run(sess); code != exitOK {
			t.Fatalf("%s: exit code %d: %s\n%s", line, code, stderr, stdout)
		}
		if diff := cmp.Diff(sent, taken()); diff != "" || len(sent) < 4 {
			t.Errorf("%s: %d requests, and then\n%s", line, len(sent), diff)
		}
	}
}

// fieldsWithBlanks are arguments of which some, behind a bar, have blanks in them.
func fieldsWithBlanks(line string) (args []string) {
	for i, piece := range strings.Split(line, " --") {
		name, value, ok := strings.Cut(piece, "|")
		switch {
		case i == 0:
			args = strings.Fields(piece)
		case ok:
			args = append(args, "--"+name, value)
		default:
			args = append(args, strings.Fields("--"+piece)...)
		}
	}
	return args
}

// A plan is written, read and written again without a change, from any command line. It
// takes nobody's answer.
func TestPlansComeBack(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	for _, line := range []string{
		"bench --rate 5", "bench --url http://127.0.0.1:1 --replay " + filepath.Join(dir, "times") + " --no-stream --slo e2el=1s --percentiles 50,99.9",
		"bench --url http://127.0.0.1:1 --workload chat --turns uniform(2,5) -c 4 --hold --arrival at-once", "bench --mix weight=3 --mix weight=1 --rate 3",
		"bench --profile vision --workload random-mm -n 2 --image-sizes 8x8=1 --engine-fault reset=0.1", "sim --ttft lognormal(80ms,0.3) --itl 5ms --slots 20 -n 9",
		"vllm bench serve --dataset-name prefix_repetition --request-rate 3 --burstiness 0.5 --goodput ttft:100 --save-result",
		"vllm bench serve --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5 --lora-modules a b --extra-body {\"a\":[1,{\"b\":null}]}",
		"python -m sglang.bench_serving --backend vllm-chat --model m --dataset-name generated-shared-prefix --gsp-num-turns 2 --goodput ttft:100 --flush-cache",
		"sglang bench_serving --profile --pd-separated --profile-prefill-url http://127.0.0.1:1 --dataset-name random-ids",
	} {
		if err := os.WriteFile(filepath.Join(dir, "times"), []byte("0\n0.5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sess, stdout, stderr := process(t, nil, append([]string{"plan", "--"}, strings.Fields(line)...)...)
		if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), "version: 1\n") {
			t.Errorf("%s: exit code %d: %s%s", line, code, stdout, stderr)
			continue
		}
		first := stdout.String()
		file := filepath.Join(dir, "plan.yaml")
		if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout.Reset()
		sess.Args = []string{"plan", file}
		if code := Run(sess); code != exitOK || stdout.String() != first {
			t.Errorf("%s: exit code %d: %s\n%s", line, code, stderr, cmp.Diff(first, stdout.String()))
		}
	}
}

// The words that users of other tools type are those of the same run.
func TestPlansInTheWordsOfOtherTools(t *testing.T) {
	race.Skip(t)
	for line, same := range map[string]string{
		"--host ::1 --port 81 --num-prompts 7 --request-rate inf --max-concurrency 3": "--url http://[::1]:81 -n 7 --arrival at-once -c 3",
		"--port 8000 --request-rate 2 --temperature 0.5 --extra-body {\"top_p\":1}":   "--url http://127.0.0.1:8000 --rate 2 --body {\"top_p\":1,\"temperature\":0.5}",
		"--host h --protocol generate --temperature 0":                                "--url http://h:8000 --protocol generate --body {\"sampling_params\":{\"temperature\":0}}",
	} {
		var plans []string
		for _, args := range []string{line, same} {
			sess, stdout, stderr := process(t, nil, append([]string{"plan", "--", "bench", "--tokenizer", "none"}, strings.Fields(args)...)...)
			if code := Run(sess); code != exitOK {
				t.Fatalf("%s: exit code %d: %s", args, code, stderr)
			}
			plans = append(plans, stdout.String())
		}
		if diff := cmp.Diff(plans[1], plans[0]); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

// A server is warmed up by a few waves, unless something else is asked for, or its prompts are sent ahead. Neither the
// embedded engine nor another tool's command line is.
func TestServersAreWarmedUp(t *testing.T) {
	own := []string{"bench", "--tokenizer", "none", "-n", "8"}
	for _, tt := range []struct {
		more []string
		want plan.WarmUp
	}{
		{[]string{"--url", "http://h:1"}, plan.WarmUp{Steady: true, Brief: true, From: plan.WarmOther}},
		{[]string{"--port", "1", "--cache", "cold"}, plan.WarmUp{Steady: true, Brief: true, From: plan.WarmOther}},
		{[]string{"--url", "http://h:1", "--warmup", "0"}, plan.WarmUp{From: plan.WarmOther}},
		{[]string{"--url", "http://h:1", "--warmup", "2"}, plan.WarmUp{Requests: 2, From: plan.WarmOther}},
		{[]string{"--url", "http://h:1", "--warmup-measured"}, plan.WarmUp{Requests: 2, From: plan.WarmMeasured}},
		{[]string{"--url", "http://h:1", "--warmup-steady"}, plan.WarmUp{Requests: 2, Steady: true, From: plan.WarmOther}},
		{[]string{"--url", "http://h:1", "--cache", "primed"}, plan.WarmUp{Requests: 2, From: plan.WarmOther}},
		{nil, plan.WarmUp{Requests: 2, From: plan.WarmOther}},
	} {
		sess, _, _ := process(t, nil)
		made, err := compileLoad(sess, slices.Concat(own, tt.more))
		if err != nil || made.Spec.Before.WarmUp != tt.want {
			t.Errorf("%q: %+v, %v", tt.more, made.Spec.Before.WarmUp, err)
		}
	}
	sess, _, _ := process(t, nil)
	made, err := compileLoad(sess, strings.Fields("vllm bench serve --model m --tokenizer t --dataset-name random --host h"))
	if err != nil || made.Spec.Before.WarmUp != (plan.WarmUp{From: plan.WarmFirst}) {
		t.Errorf("%+v, %v", made.Spec.Before.WarmUp, err)
	}
}

// A secret is named in a plan and never in it.
func TestPlansNameSecrets(t *testing.T) {
	sess, stdout, stderr := process(t, map[string]string{"MY_KEY": "sk-of-mine"}, "plan", "--", "bench", "--url", "http://127.0.0.1:1", "--api-key-env", "MY_KEY", "--header", "X-Api-Key=sk-given")
	if code := Run(sess); code != exitOK || strings.Contains(stdout.String()+stderr.String(), "sk-") || !strings.Contains(stdout.String(), "env: MY_KEY") || !strings.Contains(stdout.String(), "given: true") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.yaml")
	if err := os.WriteFile(newer, []byte("version: 2\ntarget: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(map[string]any{"version": 1, "load": []any{map[string]any{"arrival": map[string]any{"kind": "poisson", "rat": 5}, "dataset": "random"}}, "request": map[string]any{"protocol": "chat"}, "requests": 5})
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(dir, "wrong.json")
	if err := os.WriteFile(wrong, old, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"plan"}, "name a run, a file, or a command behind --"},
		{[]string{"plan", "--", "runs", "list"}, "`runs list` makes no run"},
		{[]string{"plan", "--", "bench", "--help"}, "remove --help"},
		{[]string{"plan", "nothing"}, "no such run"},
		{[]string{"plan", "--", "vllm", "bench", "serve", "--nothing"}, "unrecognized arguments: --nothing"},
		{[]string{"plan", newer}, "newer.yaml:1:10: version 2"},
		{[]string{"bench", "--config", newer}, "newer.yaml:1:10: version 2"},
		{[]string{"plan", wrong}, "wrong.json:1:"},
	} {
		sess, stdout, stderr := process(t, nil, tt.args...)
		if code := Run(sess); code != exitUsage || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%q: exit code %d: %s%s, want %s", tt.args, code, stdout, stderr, tt.want)
		}
	}
}
