package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A virtual is a process inside a synctest bubble: its engine and its client
// meet in memory, and its clock moves when both wait.
type virtual struct {
	*session.Session
	stdout, stderr bytes.Buffer
	signals        chan os.Signal
	store          string
}

func newVirtual(t *testing.T, args ...string) *virtual {
	l := memnet.Listen()
	v := &virtual{signals: make(chan os.Signal, 2), store: filepath.Join(t.TempDir(), "runs.db")}
	v.Session = &session.Session{
		Args:    append(args, "--store", v.store, "--tokenizer", "none"),
		Env:     func(string) (string, bool) { return "", false },
		Stdout:  &v.stdout,
		Stderr:  &v.stderr,
		Signals: v.signals,
		Listen:  func(_, _ string) (net.Listener, error) { return l, nil },
		Dial:    l.Dial,
	}
	return v
}

// serve has a handler answer at any address, until it is closed.
func (v *virtual) serve(t *testing.T, h http.Handler) (end func()) {
	t.Helper()
	l, err := v.Listen("", "")
	if err != nil {
		t.Fatal(err)
	}
	server, ended := http.Server{Handler: h}, make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	return func() {
		server.Close()
		<-ended
	}
}

func (v *virtual) last(t *testing.T) *trace.Trace {
	t.Helper()
	return lastIn(t, v.store)
}

// Twenty answers of 100 ms, one after the other: ten begin in the first second, and
// the tenth ends when the next one begins.
func TestSGLangReportOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-q", "-n", "20", "-c", "1", "--output-len", "6", "--input-len", "100",
			"--engine-ttft", "50ms", "--engine-itl", "10ms", "--report", "sglang")
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		for _, line := range []string{
			"Max request concurrency:                 1         ",
			"Total generated tokens:                  120       ",
			"Peak concurrent requests:                11        ",
			"Concurrency:                             1.00      ",
			"Mean E2E Latency (ms):                   100.00    ",
			"P99 TTFT (ms):                           50.00     ",
			"Mean TPOT (ms):                          10.00     ",
			"Max ITL (ms):                            10.00     ",
		} {
			if !strings.Contains(v.stdout.String(), "\n"+line+"\n") {
				t.Errorf("no line %q in\n%s", line, v.stdout.String())
			}
		}
		if got, want := v.stderr.String(), "note: sglang's peak of 11 concurrent requests counts those that touch one second of the clock: at most 1 were in flight\n"; !strings.HasPrefix(got, want) { // behind it a word on this process, if it was paused
			t.Errorf("stderr %q, want %q", got, want)
		}
	})
}

func TestAWholeRunIsExactInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-q", "-n", "40", "--rate", "10", "--arrival", "constant", "--output-len", "5",
			"--engine-ttft", "50ms", "--engine-itl", "10ms", "--engine-per-prompt-token", "100us", "--input-len", "100", "--report", "json")
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		var s metrics.Summary
		if err := json.Unmarshal(v.stdout.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"TTFT", s.Service.TTFT.Mean, .060},
			{"TTFT max", s.Service.TTFT.Max, .060},
			{"ITL", s.Service.ITL.Mean, .010},
			{"ITL min", s.Service.ITL.Min, .010},
			{"TPOT", s.Service.TPOT.Mean, .010},
			{"E2EL", s.Service.E2EL.Max, .100},
			{"response TTFT", s.Response.TTFT.Max, .060},
			{"lateness", s.Health.Lateness.Max, 0},
			{"duration", s.Duration, 4.0},
			{"requests", s.Rates.Requests, 10},
			{"output", s.Rates.Output, 50},
			{"in flight", s.Concurrency.Mean, 1},
			{"peak", float64(s.Concurrency.Peak), 1},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
			}
		}
		verdict := s.Health.Verdict
		doubts := slices.DeleteFunc(verdict.Reasons, func(m plan.Message) bool {
			return m.Code == "verdict.collector-paused" // on a busy machine: the collector's pauses are not in virtual time
		})
		if s.Requests.OK != 40 || s.Tokens.Output != 200 || s.Tokens.Input != 4000 || verdict.Validity == trace.Invalid || len(doubts) > 0 {
			t.Errorf("%+v %+v %+v", s.Requests, s.Tokens, s.Health)
		}
	})
}

// An hour of an open loop is over in no time.
func TestTheQueueOfTheEngineIsSeen(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-q", "-n", "900", "--rate", "1", "--arrival", "constant", "--output-len", "1",
			"--engine-ttft", "1500ms", "--engine-slots", "1", "--warmup", "0", "--ready-timeout", "0", "--input-len", "4", "--tokenizer", "none", "--collect", "none")
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		// each takes 1.5 s and one comes every second: request i waits i/2 s
		for _, r := range v.last(t).Records {
			want := trace.Instant(r.Index)*trace.Instant(time.Second)*3/2 + trace.Instant(1500*time.Millisecond)
			if r.Done != want || !r.OK() {
				t.Fatalf("request %d is done at %v, want %v (%s)", r.Index, r.Done, want, r.Class)
			}
		}
		if !strings.Contains(v.stdout.String(), "no steady state: requests take ever longer, from 281.8 to 394.7 s: the server does not keep up") {
			t.Error(v.stdout.String())
		}
	})
}

func TestInterruptOnceDrainsTwiceStops(t *testing.T) {
	for _, tt := range []struct {
		name      string
		at        []time.Duration // after the start of the command
		ok        int
		cancelled int
	}{
		{"once", []time.Duration{2500 * time.Millisecond}, 3, 0},
		{"twice", []time.Duration{2500 * time.Millisecond, 2600 * time.Millisecond}, 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVirtual(t, "bench", "-n", "10", "-c", "1", "--output-len", "2", "--engine-ttft", "999ms", "--engine-itl", "1ms",
					"--warmup", "0", "--ready-timeout", "0")
				for _, d := range tt.at {
					time.AfterFunc(d, func() { v.signals <- os.Interrupt })
				}
				if code := Run(v.Session); code != exitInterrupted {
					t.Errorf("exit code %d: %s", code, v.stderr.String())
				}
				tr := v.last(t)
				var ok, cancelled int
				for _, r := range tr.Records {
					switch {
					case r.OK():
						ok++
					case r.Class == trace.Cancelled:
						cancelled++
					}
				}
				if ok != tt.ok || cancelled != tt.cancelled || tr.Run.Status != trace.Interrupted {
					t.Errorf("%d ok, %d cancelled, status %s", ok, cancelled, tr.Run.Status)
				}
				if out := v.stdout.String(); !strings.Contains(out, "of 10 requests were never sent: the run was ended early") {
					t.Error(out)
				}
				if !strings.Contains(v.stderr.String(), "interrupt again") {
					t.Error(v.stderr.String())
				}
			})
		})
	}
}

func TestInterruptBeforeTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-n", "10", "--engine-ttft", "10s", "--ready-timeout", "1m")
		time.AfterFunc(3*time.Second, func() { v.signals <- os.Interrupt })
		start := time.Now()
		if code := Run(v.Session); code != exitInterrupted || time.Since(start) != 3*time.Second {
			t.Errorf("exit code %d after %v: %s", code, time.Since(start), v.stderr.String())
		}
		if v.stdout.Len() > 0 {
			t.Error(v.stdout.String())
		}
	})
}

// A wide screen is one of a number of columns.
type wide int

func (w wide) Size() (columns, rows int) { return int(w), 24 }
func (wide) Foreground() bool            { return true }
func (wide) Resumed() <-chan struct{}    { return nil }

func TestProgress(t *testing.T) {
	const parts = "5/12  0 failed  0 in flight  7s left  3 tok/s  TTFT p50/p99 50/50 ms  ITL p50/p99 10/10 ms"
	for width, want := range map[int]string{
		0:   "  5.0 s  " + parts + "\n", // no terminal
		140: "\r\x1b[K" + parts + "    5.0 s" + "\r\x1b[K",
		94:  "\r\x1b[K" + parts + "\r\x1b[K",
		40:  "\r\x1b[K" + "5/12  0 failed  0 in flight  7s left" + "\r\x1b[K",
		4:   "\r\x1b[K" + "5/1" + "\r\x1b[K",
		1:   "\r\x1b[K" + "\r\x1b[K",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t, "bench", "--progress", "plain", "-n", "12", "--rate", "0.9", "--arrival", "constant", "--output-len", "3",
				"--engine-ttft", "50ms", "--engine-itl", "10ms", "--warmup", "0", "--ready-timeout", "0")
			if width > 0 {
				v.Screen = wide(width)
			}
			if code := Run(v.Session); code != exitOK {
				t.Fatal(code, v.stderr.String())
			}
			got := v.stderr.String()
			if !strings.Contains(got, want) {
				t.Errorf("width %d: no %q in %q", width, want, got)
			}
			if lines := strings.Count(got, "\n"); lines != map[bool]int{true: 2, false: 4}[width > 0] {
				t.Errorf("width %d: %d lines in %q", width, lines, got)
			}
		})
	}
}

// The view is drawn at most four times a second, in place, and is gone before the report. It hides
// no cursor and uses no page of its own, so that nothing is to be restored.
func TestTheView(t *testing.T) {
	for name, c := range map[string]struct {
		args     string
		env      map[string]string
		columns  int
		view     bool
		drawn    int // lines, at least
		contains string
	}{
		"auto":        {"", nil, 100, true, 60, "TTFT ms"},
		"narrow":      {"", nil, 59, false, 40, "left"},
		"narrow live": {"--progress live", nil, 40, true, 60, "TTFT ms"},
		"plain":       {"--progress plain", nil, 100, false, 40, "TTFT p50/p99"},
		"off":         {"--progress off", nil, 100, false, 0, "is kept"},
		"quiet":       {"--quiet --progress live", nil, 100, false, 0, ""},
		"dumb":        {"", map[string]string{"TERM": "dumb"}, 100, false, 0, "  5.0 s  5/12"},
		"no terminal": {"--progress live", nil, 0, false, 0, "  5.0 s  5/12"},
		"colours":     {"", nil, 100, true, 60, "\x1b[2mTTFT ms"},
		"no colours":  {"", map[string]string{"NO_COLOR": "1"}, 100, true, 60, "\nTTFT ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t, append([]string{
				"bench", "-n", "12", "--rate", "0.9", "--arrival", "constant", "--output-len", "3",
				"--engine-ttft", "50ms", "--engine-itl", "10ms", "--warmup", "0", "--ready-timeout", "0",
			}, strings.Fields(c.args)...)...)
			if c.columns > 0 {
				v.Screen = wide(c.columns)
			}
			env := v.Env
			v.Env = func(name string) (string, bool) {
				if value, ok := c.env[name]; ok {
					return value, ok
				}
				return env(name)
			}
			if code := Run(v.Session); code != exitOK {
				t.Fatal(code, v.stderr.String())
			}
			got := v.stderr.String()
			moved := regexp.MustCompile(`\x1b\[\d+A`).FindAllString(got, -1)
			if len(moved) > 0 != c.view || len(moved) > 4*13 || c.view && len(moved) < 3*12 {
				t.Errorf("%s: drawn %d times", name, len(moved))
			}
			if !strings.Contains(got, c.contains) || strings.Contains(got, "\x1b[?") || strings.Count(got, "\x1b[K") < c.drawn || c.drawn == 0 && strings.Contains(got, "\x1b") {
				t.Errorf("%s: %q", name, got)
			}
			if last := regexp.MustCompile(`\r\x1b\[\d+A\x1b\[Jrun \S+ is kept.*\n$`); c.view && !last.MatchString(got) {
				t.Errorf("%s: ends with %q", name, got[max(0, len(got)-300):])
			}
		})
	}
}

// Answers of 20 s each are seen to come long before the first of them is over.
func TestProgressOfLongAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, "bench", "-n", "4", "-c", "2", "--output-len", "2000", "--engine-ttft", "10ms", "--engine-itl", "10ms", "--warmup", "0", "--ready-timeout", "0")
		if code := Run(v.Session); code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		if want := regexp.MustCompile(`(?m)^  5.0 s  0/4  0 failed  2 in flight  35s left  (19\d|200) tok/s$`); !want.MatchString(v.stderr.String()) {
			t.Errorf("no line %s in:\n%s", want, v.stderr.String())
		}
	})
}

func TestVLLMInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		l, err := v.Listen("", "")
		if err != nil {
			t.Fatal(err)
		}
		stop := serveVirtual(t, l)
		v.Args = strings.Fields("vllm bench serve --num-prompts 8 --max-concurrency 2 --random-input 16 --random-output 4 --percentile-metrics ttft,tpot,itl,e2el,client_queue_time --disable-tqdm")
		v.Env = func(name string) (string, bool) { return v.store, name == "PITOT_STORE" }
		if code := Run(v.Session); code != exitOK {
			t.Fatal(code, v.stderr.String())
		}
		stop()
		// two at a time, 50 + 3·10 ms each: four rounds of 80 ms
		for _, want := range []string{
			"Successful requests:                     8         ",
			"Benchmark duration (s):                  0.32      ",
			"Output token throughput (tok/s):         100.00    ",
			"Peak concurrent requests:                8.00      ", // that touch the one second
			"Mean TTFT (ms):                          50.00     ",
			"P99 TPOT (ms):                           10.00     ",
			"Median ITL (ms):                         10.00     ",
			"P99 E2EL (ms):                           80.00     ",
			"Mean Client Queue Time (ms):             120.00    ",
		} {
			if !strings.Contains(v.stdout.String(), want+"\n") {
				t.Errorf("no %q in\n%s", want, v.stdout.String())
			}
		}
	})
}

// serveVirtual runs an engine of 50 ms to the first token and 10 ms from token
// to token.
func serveVirtual(t *testing.T, l net.Listener) (stop func()) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Latency: engine.Latency{
		TTFT: arrival.FixedDuration(50 * time.Millisecond), ITL: arrival.FixedDuration(10 * time.Millisecond),
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, nil) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
