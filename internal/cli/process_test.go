package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// process is a process with an environment and a store of its own.
func process(t *testing.T, env map[string]string, args ...string) (sess *session.Session, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	store := filepath.Join(t.TempDir(), "runs.db")
	return &session.Session{
		Args: args, Stdout: stdout, Stderr: stderr, Signals: make(chan os.Signal), Listen: net.Listen,
		Env: func(name string) (string, bool) {
			if name == "PITOT_STORE" {
				return store, true
			}
			v, ok := env[name]
			return v, ok
		},
	}, stdout, stderr
}

// One clear error for each mistake, nothing on standard output, and the exit
// code that tells the user's mistakes from the world's.
func TestMistakes(t *testing.T) {
	race.Skip(t)
	file, secret := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(file, []byte("{}\n"), 0o600), os.Mkdir(secret, 0o700)); err != nil { // a folder reads with an error, for any user
		t.Fatal(err)
	}
	up := loopback(t)
	down := "http://127.0.0.1:1"
	for _, tt := range []struct {
		name, args string
		code       int
		want       string
	}{
		{"wrong URL", "bench --url " + down, exitFailed, "cannot reach http://127.0.0.1:1: connection refused"},
		{"no URL at all", "bench --url localhost:8000", exitUsage, "must begin with http:// or https://"},
		{"wrong port of the right kind", "bench --url " + strings.Replace(up, "http:", "https:", 1), exitFailed, "TLS handshake or certificate failed"},
		{"wrong model", "bench --url " + up + " --model nope --tokenizer none", exitFailed, "The model `nope` does not exist"},
		{"wrong route", "bench --url " + up + " --endpoint /v2", exitFailed, "HTTP status 404"},
		{"route in the URL", "bench --url " + up + "/v1/chat/completions", exitUsage, "leave the route out: " + up},
		{"route without its slash", "bench --endpoint v2", exitUsage, "--endpoint \"v2\": must begin with /"},
		{"no such port", "bench --url http://127.0.0.1:99999", exitUsage, "between 1 and 65535"},
		{"not a header", "bench --header a b=c", exitUsage, "unexpected argument b=c"},
		{"patience", "bench --ready-timeout 10ms --url " + down, exitFailed, "cannot reach " + down},
		{"a folder for a store", "runs list --store " + secret, exitUsage, "is a folder"},
		{"a store that is not there", "runs list --store " + secret + "/x.db", exitUsage, "no such file"},
		{"bad flag", "bench --rates 5", exitUsage, "unknown flag --rates, did you mean \"--rate\"?"},
		{"bad value", "bench --rate fast", exitUsage, `--rate: "fast": must be a number`},
		{"bad choice", "bench --arrival sometimes", exitUsage, `--arrival "sometimes": unknown kind; allowed: at-once, constant`},
		{"bad command", "measured", exitUsage, "unexpected argument measured\n"},
		{"unreadable file", "bench --workload custom --data " + secret, exitUsage, "is a folder, not a file"},
		{"file without requests", "bench --workload custom --data " + file, exitUsage, `line 1: field "prompt" is missing`},
		{"unreadable config", "bench --config " + secret, exitUsage, "is a folder, not a file"},
		{"unreadable key", "bench --url " + up + " --api-key-file " + secret, exitUsage, "is a folder, not a file"},
		{"store that is none", "bench -q -n 1 --warmup 0 --url " + up + " --store " + file, exitFailed, "open store"},
		{"impossible combination", "bench --rate 5 --arrival at-once", exitUsage, "--rate: does not apply to at-once"},
		{"unknown run", "runs report nope", exitUsage, "no such run"},
		{"vllm: wrong URL", "vllm bench serve --base-url " + down, exitFailed, "connection refused"},
		{"vllm: no URL", "vllm bench serve --base-url localhost:8000", exitUsage, "--base-url \"localhost:8000\": must begin with http:// or https://"},
		{"vllm: no tokenizer", "vllm bench serve --tokenizer /no/such --base-url " + up, exitUsage, "neither a file nor in the Hugging Face cache"},
		{"vllm: bad flag", "vllm bench serve --rates 5", exitUsage, "unrecognized arguments: --rates 5"},
		{"vllm: not built", "vllm bench serve --tokenizer-mode mistral", exitFailed, "--tokenizer-mode mistral is not built yet"},
		{"vllm: of its client in Rust", "vllm bench serve --num-runs 3", exitUsage, "unrecognized arguments: --num-runs\n       in place of --num-runs use pitot bench --repeat N"},
		{"vllm: impossible combination", "vllm bench serve --request-rate 3 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2", exitFailed, "remove --request-rate"},
		{"vllm: a flag with a mistake", "vllm bench serve --request_rat 5 --no-streem", exitUsage, "unrecognized arguments: --no-streem\n       (did you mean --no-stream?)"},
		{"sglang: a flag of Pitot's", "sglang bench_serving --concurrency 5", exitUsage, "unrecognized arguments: --concurrency 5\n       (did you mean --max-concurrency?)"},
		{"no time", "bench --duration 0s", exitUsage, "--duration 0: must be positive"},
		{"nothing in that time", "sim --duration 1ms", exitUsage, "--duration 1ms: nothing is due in that time: the first request is due after 80ms"},
		{"too much in that time", "sim --arrival constant --duration 1000h --rate 1000", exitUsage, "--duration 1000h0m0s: more than 10000000 requests are due in that time"},
		{"a gate on a change", "sim --fail-if ttft.mean>2%", exitUsage, "a change needs runs to compare with"},
		{"no runs", "sim --repeat 0", exitUsage, "--repeat 0: must be from 1"},
		{"one seed for one run", "sim --same-seed", exitUsage, "--same-seed: only applies to --repeat"},
		{"address twice", "bench --url " + down + " --port 8001", exitUsage, `--url "http://127.0.0.1:1": --port is given too`},
		{"a URL for a host", "bench --host http://a", exitUsage, `--host "http://a": must be a name or an address alone`},
		{"no port", "bench --port 0", exitUsage, "--port 0: must be a port from 1 to 65535"},
		{"temperature twice", "bench --temperature 0 --body {\"temperature\":1}", exitUsage, "--temperature 0: --body has a temperature too"},
		{"no temperature", "bench --temperature nan", exitUsage, "--temperature: \"nan\": must be a number"},
		{"nothing that is sampled", "bench --protocol embeddings --temperature 1", exitUsage, "--temperature 1: does not apply to embeddings"},
		{"serve: address twice", "serve --addr 127.0.0.1:0 --port 8001", exitUsage, "--addr 127.0.0.1:0: --host or --port is given too"},
		{"workers of no fleet", "bench --workers 2", exitUsage, "--workers: only applies with --fleet; give --fleet URL, or --fleet local"},
		{"no workers", "vllm bench serve --base-url " + up + " --fleet local --workers 0", exitUsage, "--workers 0: must be from 1"},
		{"no fleet", "sglang bench_serving --base-url " + up + " --fleet h:1", exitUsage, `--fleet "h:1": must be the URL of a NATS server`},
		{"no server of a fleet", "bench -n 1 --fleet nats://t0k3n0fit@127.0.0.1:1 --url " + up, exitFailed, "connect to nats://127.0.0.1:1: connection refused"},
		{"a simulated sweep by a fleet", "sweep --fleet local --rate 1,2", exitUsage, "--fleet: a simulation is made in virtual time"},
		{"an experiment's load with a fleet", "ab --before profile:small-chat --same -- bench --fleet local", exitUsage, "put the flag ahead of the load"},
		{"serve: no port", "serve --port 65536", exitUsage, "--port 65536: must be from 0"},
		{"vllm: ready check", "vllm bench serve --base-url " + up + " --model nope --ready-check-timeout-sec 1 --num-prompts 1", exitFailed, "The model `nope` does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sess, stdout, stderr := process(t, nil, strings.Fields(tt.args)...)
			if code := Run(sess); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if got := stderr.String(); !strings.Contains(got, tt.want) || len(regexp.MustCompile(`(?m)^pitot: `).FindAllString(got, -1)) != 1 {
				t.Errorf("said %q, want one error with %q", got, tt.want)
			}
			if got := stdout.String(); got != "" && !strings.HasPrefix(got, "Namespace(") {
				t.Errorf("standard output: %q", got)
			}
		})
	}
}

// Requests go through the proxy of the environment, except to hosts that
// NO_PROXY names.
func TestTheProxyOfTheEnvironment(t *testing.T) {
	behind, err := url.Parse(loopback(t))
	if err != nil {
		t.Fatal(err)
	}
	var through atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		if r.URL.Host != "engine.invalid" {
			t.Errorf("asked for %s", r.URL)
		}
		r.URL.Scheme, r.URL.Host, r.RequestURI = "http", behind.Host, ""
		body, err := io.ReadAll(r.Body) // the server closes it when the answer begins
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer proxy.Close()
	args := strings.Fields("bench -q --url http://engine.invalid -n 3 --output-len 3 -c 1 --warmup 0")
	sess, stdout, stderr := process(t, map[string]string{"http_proxy": proxy.URL}, args...)
	if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), "3 ok, 0 failed") || through.Load() < 3 {
		t.Errorf("exit code %d, %d requests through the proxy\n%s%s", code, through.Load(), stdout, stderr)
	}
	sess, _, stderr = process(t, map[string]string{"HTTP_PROXY": proxy.URL, "NO_PROXY": "invalid"}, args...)
	if code := Run(sess); code != exitFailed || !strings.Contains(stderr.String(), "host name did not resolve") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The counters of speculative decoding are read before and after the run, and
// their differences end up in the vLLM report.
func TestSpeculativeDecodingCounters(t *testing.T) {
	inner, err := apiserver.New(apiserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var scrapes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			inner.Handler().ServeHTTP(w, r)
			return
		}
		n := float64(1000 * scrapes.Add(1))
		for name, v := range map[string]float64{
			`num_drafts_total{engine="0"}`: n, `num_draft_tokens_total{engine="0"}`: 3 * n,
			`num_accepted_tokens_total{engine="0"}`:                        n,
			`num_accepted_tokens_per_pos_total{engine="0",position="0"}`:   .75 * n,
			`num_accepted_tokens_per_pos_total{engine="0",position="1"}`:   .25 * n,
			`num_accepted_tokens_per_pos_created{engine="0",position="1"}`: n,
			`num_accepted_tokens_per_pos_total{engine="0",position="2"}`:   5, // none in the run
		} {
			fmt.Fprintf(w, "vllm:spec_decode_%s %v\n", name, v)
		}
		fmt.Fprintln(w, "broken_total NaN")
	}))
	defer server.Close()
	sess, stdout, stderr := process(t, map[string]string{"PITOT_COLLECT": "none"}, strings.Fields("vllm bench serve --disable-tqdm --base-url "+server.URL+" --num-prompts 2 --random-input 8 --random-output 2")...)
	if code := Run(sess); code != exitOK {
		t.Fatal(code, stderr)
	}
	want := `---------------Speculative Decoding---------------
Acceptance rate (%):                     33.33     
Acceptance length:                       2.00      
Drafts:                                  1000      
Draft tokens:                            3000      
Accepted tokens:                         1000      
Per-position acceptance (%):
  Position 0:                            75.00     
  Position 1:                            25.00     
  Position 2:                            0.00      
==================================================
`
	if !strings.Contains(stdout.String(), want) || scrapes.Load() != 2 {
		t.Errorf("%d scrapes\n%s", scrapes.Load(), stdout)
	}
	sess.Args = strings.Fields("runs report last --dialect vllm")
	stdout.Reset()
	if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit code %d, from the store\n%s", code, stdout)
	}
}

// An interrupt ends what it meets: nothing is measured after one that came
// while the workload was prepared, and nothing is lost by one that came after
// the run. Nor is a profiler left running, even if its server starts it late.
func TestInterruptsAroundTheRun(t *testing.T) {
	const never = time.Hour
	for _, tt := range []struct {
		route    string
		takes    time.Duration // its handler, from the interrupt on, unless it is left
		code     int
		kept     bool
		stops    int // how often the profiler is told to stop
		profiles bool
	}{
		{"/tokenize", never, exitInterrupted, false, 0, false},
		{"/start_profile", never, exitInterrupted, false, 1, false},
		{"/start_profile", time.Second, exitInterrupted, false, 1, false},
		{"/metrics", never, exitInterrupted, false, 1, false},
		{"/stop_profile", never, exitOK, true, 1, true},
	} {
		t.Run(fmt.Sprint(tt.route, " ", tt.takes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner, err := apiserver.New(apiserver.Config{})
				if err != nil {
					t.Fatal(err)
				}
				v := newVirtual(t)
				stops := 0
				handle := func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/stop_profile" {
						stops++
					}
					if r.URL.Path == tt.route {
						_, _ = io.Copy(io.Discard, r.Body)
						v.signals <- os.Interrupt
						select {
						case <-time.After(tt.takes):
						case <-r.Context().Done():
							return
						}
					}
					inner.Handler().ServeHTTP(w, r)
				}
				defer v.serve(t, http.HandlerFunc(handle))()
				v.Args = strings.Fields("bench --profiler -n 3 -c 1 --output-len 3 --collect none --url http://engine:80 --store " + v.store)
				if code := Run(v.Session); code != tt.code {
					t.Errorf("exit code %d, want %d\n%s", code, tt.code, v.stderr.String())
				}
				if stops != tt.stops || inner.Profiling() != tt.profiles {
					t.Errorf("stopped %d times; profiling: %v", stops, inner.Profiling())
				}
				v.Args = strings.Fields("runs list --store " + v.store)
				v.stdout.Reset()
				if code := Run(v.Session); code != exitOK || regexp.MustCompile(`complete +[a-z]+ +3 `).MatchString(v.stdout.String()) != tt.kept {
					t.Errorf("exit code %d: %s", code, v.stdout.String())
				}
			})
		})
	}
}

// A server that starts is waited for before it is asked anything, so that the
// workload is the same as if it had been there.
func TestAServerThatStartsIsWaitedFor(t *testing.T) {
	for _, args := range []string{
		"bench --ready-timeout 20s -n 2 -c 1 --output-len 3 --model pitot --url ",
		"vllm bench serve --ready-check-timeout-sec 20 --num-prompts 2 --random-input 8 --random-output 3 --model pitot --base-url ",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t)
			l, err := v.Listen("", "")
			if err != nil {
				t.Fatal(err)
			}
			up := time.Now().Add(5 * time.Second)
			dial := v.Dial
			v.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if time.Now().Before(up) {
					return nil, syscall.ECONNREFUSED
				}
				return dial(ctx, network, addr)
			}
			server, err := apiserver.New(apiserver.Config{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- server.Serve(ctx, l, nil) }()
			v.Args = strings.Fields(args + "http://engine:80")
			v.Env = func(name string) (string, bool) { return v.store, name == "PITOT_STORE" }
			if code := Run(v.Session); code != exitOK || strings.Count(v.stderr.String(), "waiting up to 20s for http://engine:80: ") != 1 {
				t.Errorf("exit code %d: %s", code, v.stderr.String())
			}
			if tr := v.last(t); english().Say(tr.Run.Env.Tokenizer) != "the server's /tokenize" || len(tr.Records) != 2 {
				t.Errorf("%d records, prompts from %q", len(tr.Records), english().Say(tr.Run.Env.Tokenizer))
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A gateway that stands before a server that starts is waited for too, and a
// model that is named need not be listed.
func TestModelsThatAreNotToldAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		models     func(w http.ResponseWriter, call int) (answered bool)
		said       string
	}{
		{"starting", "--ready-timeout 20s", func(w http.ResponseWriter, call int) bool {
			if call < 2 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return call < 2
		}, "waiting up to 20s"},
		{"closing", "--model pitot -q", func(http.ResponseWriter, int) bool { panic(http.ErrAbortHandler) }, ""},
		{"not there", "--model pitot -q", func(w http.ResponseWriter, _ int) bool { w.WriteHeader(http.StatusNotFound); return true }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inner, err := apiserver.New(apiserver.Config{})
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/models" {
					if calls++; tt.models(w, calls) {
						return
					}
				}
				inner.Handler().ServeHTTP(w, r)
			}))
			defer server.Close()
			sess, stdout, stderr := process(t, nil, strings.Fields("bench -n 2 -c 1 --output-len 3 --warmup 0 --url "+server.URL+" "+tt.args)...)
			if code := Run(sess); code != exitOK || !strings.Contains(stdout.String(), "2 ok") || !strings.Contains(stderr.String(), tt.said) {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

// A run that is under way cannot be removed, and any report of it says that its
// figures are not to be trusted.
func TestARunUnderWay(t *testing.T) {
	sess, stdout, stderr := process(t, nil, "runs", "rm", "r")
	file, _ := sess.Env("PITOT_STORE")
	runs, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	if _, err := runs.Create(trace.Run{ID: "r", Plan: trace.Load{Dialect: "pitot", Requests: 5}}, store.Owner{}); err != nil {
		t.Fatal(err)
	}
	if code := Run(sess); code != exitUsage || !strings.Contains(stderr.String(), "run r is still running") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	stderr.Reset()
	sess.Args = []string{"runs", "report", "r", "--dialect", "vllm"}
	if code := Run(sess); code != exitOK || !strings.Contains(stderr.String(), "INVALID run") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// What a run had come to is stored with each flush, at the end all of it.
func TestARunLeavesSnapshots(t *testing.T) {
	sess, _, stderr := process(t, nil, strings.Fields("bench -q --url "+loopback(t)+" -n 6 --output-len 3 -c 2 --warmup 2")...)
	if code := Run(sess); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	file, _ := sess.Env("PITOT_STORE")
	runs, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	tr, err := runs.Load("last")
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := runs.Snapshots(tr.Run.ID, trace.Never, 1000)
	if err != nil || len(snapshots) == 0 {
		t.Fatalf("%d snapshots, %v", len(snapshots), err)
	}
	tokens := 0
	for _, r := range tr.Records {
		tokens += r.OutputTokens
	}
	last := snapshots[len(snapshots)-1]
	if want := (trace.Snapshot{At: last.At, Released: 6, Done: 6, Tokens: tokens}); last != want || last.At < tr.Run.End || tokens == 0 {
		t.Errorf("%+v, want %+v at the end of the run, %d", last, want, tr.Run.End)
	}
}

// A terminal that went away does not lose the run.
func TestTheRunOutlivesItsReader(t *testing.T) {
	sess, _, _ := process(t, nil, strings.Fields("bench -q --url "+loopback(t)+" -n 3 --output-len 3 -c 1 --warmup 0 --name kept")...)
	sess.Stdout = brokenPipe{}
	if code := Run(sess); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	show, stdout, stderr := process(t, nil, "runs", "show", "kept")
	show.Env = sess.Env
	if code := Run(show); code != exitOK || !strings.Contains(stdout.String(), "3 of 3 requests") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestServeEndsWithAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		v.Args = []string{"serve", "--addr", "127.0.0.1:0"}
		ended := make(chan int)
		go func() { ended <- Run(v.Session) }()
		synctest.Wait()
		client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return v.Dial(ctx, "", "") }, DisableKeepAlives: true}}
		resp, err := client.Get("http://engine/health")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
		v.signals <- os.Interrupt
		if code := <-ended; code != exitOK || !strings.Contains(v.stderr.String(), "serving pitot on http://") {
			t.Errorf("exit code %d: %s", code, v.stderr.String())
		}
	})
}

// Whatever a config file holds, it ends in a Spec, or in an error that names the file.
func FuzzConfig(f *testing.F) {
	race.Skip(f)
	f.Add("rate: 5\nslo: [ttft=1s]\nengine:\n  ttft: 5ms\n")
	f.Add("requests: [1]\n? x\n: |\n  text\n")
	f.Add("{a: 1, b: {c: ~}}\n---\nx")
	f.Add("body: '{\"a\": 1}' # c\nheader: &a [x=y]\nname: *a\n")
	f.Add("version: 1\nload: [{arrival: {kind: poisson, rate: 5}, dataset: random}]\n")
	f.Add("mix: [{weight: 2}, {workload: chat, header: [a=b, 3]}]\n")
	file := filepath.Join(f.TempDir(), "f.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := specOf(t, "bench", "--config", file); err != nil && !strings.Contains(err.Error(), "f.yaml") {
			t.Fatalf("the error does not name the file: %v", err)
		}
	})
}
