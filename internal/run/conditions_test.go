package run

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// served is a world with a server of its own: an engine behind what is put around it.
func served(t *testing.T, settings string, around func(http.Handler) http.Handler) *world {
	t.Helper()
	var s apiserver.Settings
	if p := plan.DecodeJSON([]byte(settings), &s); p != nil {
		t.Fatal(p)
	}
	w := newWorld()
	cfg, _, err := s.Config("test", w.Read)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := apiserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, server := memnet.Listen(), &http.Server{Handler: around(engine.Handler())}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	w.Dial = l.Dial
	return w
}

// result makes a run in a world.
func (w *world) result(t *testing.T, text string, sinks ...Sink) *Result {
	t.Helper()
	p, err := Prepare(t.Context(), spec(t, text), w.Deps)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Execute(t.Context(), nil, sinks...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func as(h http.Handler) http.Handler { return h }

// delayed holds request n back, of those for answers, before it reaches the server.
func delayed(by func(n int) time.Duration) func(http.Handler) http.Handler {
	var n atomic.Int64
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/completions" {
				time.Sleep(by(int(n.Add(1) - 1)))
			}
			h.ServeHTTP(w, r)
		})
	}
}

const (
	chatEngine = `{"profile": "small-chat"}`
	bareEngine = `{"ttft": "20ms", "itl": "5ms"}`
	steadily   = `
target: {url: "http://server:8000"}
request: {protocol: completions, usage: end, ignore_eos: true}
requests: 20
seed: 3
gate: {concurrency: 4}
load: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: 200, output_len: 8}}]
before: {warm_up: {steady: true}}
`
	chilly = `
target: {url: "http://server:8000"}
request: {protocol: completions, usage: end, ignore_eos: true}
requests: 20
seed: 3
gate: {concurrency: 4}
load: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: 200, output_len: 8}}]
cache: `
)

// doubts are the reasons of a run that is not valid.
func doubts(r *Result) (codes []string) {
	for _, reason := range r.Trace.Run.Verdict.Reasons {
		codes = append(codes, string(reason.Code))
	}
	return codes
}

func noted(r *Result) (codes []string) {
	for _, n := range r.Trace.Run.Notes {
		codes = append(codes, string(n.Code))
	}
	return codes
}

// A server that becomes faster is warmed up for as long as it does.
func TestWarmUpEndsWhenTheServerIsSteady(t *testing.T) {
	for name, tt := range map[string]struct {
		delay  func(wave int) float64 // ms
		waves  int
		steady bool
	}{
		"at once": {func(int) float64 { return 0 }, 2, true},
		// 20 ms and 1000, 300, 90, 27, 8.1, 2.4, 0.7: the last two differ by 7.6 and 4.4 %
		"slow at first": {func(wave int) float64 { return 1000 * math.Pow(0.3, float64(wave)) }, 8, true},
		"never":         {func(wave int) float64 { return 100 * math.Pow(1.2, float64(wave)) }, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 8
				w := served(t, bareEngine, delayed(func(n int) time.Duration {
					return time.Duration(tt.delay(n/size) * float64(time.Millisecond))
				}))
				done := 0
				r := w.result(t, steadily, SinkFunc(func(e Event) error {
					if wave, ok := e.(WaveDone); ok {
						done++
						if wave.Number != done || wave.Wave.Requests != size {
							t.Errorf("wave %d: %+v", done, wave)
						}
					}
					return nil
				}))
				got := r.Trace.Run.WarmUp
				if got == nil || len(got.Waves) != tt.waves || got.Steady != tt.steady || done != tt.waves {
					t.Fatalf("%d waves told, kept: %+v", done, got)
				}
				note, doubt := WarmedUpNote, false
				if !tt.steady {
					note, doubt = neverSteady, true
				}
				if !slices.Contains(noted(r), string(note)) || slices.Contains(doubts(r), "verdict.never-steady") != doubt {
					t.Errorf("notes %v, doubts %v", noted(r), doubts(r))
				}
				if n := len(r.Trace.Records); n != 20 {
					t.Errorf("%d records", n)
				}
			})
		})
	}
}

// A server that compiles for the first of its requests is warmed up by a few short ones, in a part
// of the requests of the run, and a server that never comes to rest is no reason for doubt.
func TestABriefWarmUp(t *testing.T) {
	race.Skip(t)
	first := func(n int, delay time.Duration) func(int) time.Duration {
		return func(i int) time.Duration {
			if i < n {
				return delay
			}
			return 0
		}
	}
	for name, tt := range map[string]struct {
		requests string // and the arrivals
		delay    func(n int) time.Duration
		waves    []int // requests of each
		steady   bool
	}{
		"at rest":        {"80\ngate: {concurrency: 8}", first(0, 0), []int{8, 8}, true},
		"compiling":      {"80\ngate: {concurrency: 8}", first(8, 3*time.Second), []int{8, 8, 8}, true},
		"for longer":     {"80\ngate: {concurrency: 8}", func(n int) time.Duration { return time.Second << max(0, 4-n/8) }, []int{8, 8, 8, 8}, false},
		"for an hour":    {"400\ngate: {concurrency: 8}", func(n int) time.Duration { return time.Duration(20+20*(n/8)) * time.Second }, []int{8, 8}, false},
		"a short run":    {"10\ngate: {concurrency: 8}", func(n int) time.Duration { return time.Duration(n/2) * time.Second }, []int{2, 2}, false},
		"one request":    {"1\ngate: {concurrency: 8}", first(0, 0), []int{1, 1}, true},
		"more in flight": {"80\ngate: {concurrency: 64}", first(0, 0), []int{20, 20}, true},
		"an open loop":   {"80", first(0, 0), []int{20, 20}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text := strings.NewReplacer("20\nseed: 3\ngate: {concurrency: 4}", tt.requests+"\nseed: 3", "output_len: 8", "output_len: 40", "steady: true", "steady: true, brief: true").Replace(steadily)
				if !strings.Contains(text, "gate") {
					text = strings.Replace(text, "{kind: at-once}", "{kind: constant, rate: 10}", 1)
				}
				var n, short atomic.Int64
				slow := delayed(func(i int) time.Duration { n.Store(int64(i + 1)); return tt.delay(i) })
				w := served(t, bareEngine, func(h http.Handler) http.Handler {
					h = slow(h)
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body)
						if bytes.Contains(body, []byte(`"max_tokens":16`)) {
							short.Add(1)
						}
						r.Body = io.NopCloser(bytes.NewReader(body))
						h.ServeHTTP(w, r)
					})
				})
				r := w.result(t, text)
				got, sum := r.Trace.Run.WarmUp, 0
				var sizes []int
				for _, one := range got.Waves {
					sizes, sum = append(sizes, one.Requests), sum+one.Requests
				}
				if !slices.Equal(sizes, tt.waves) || got.Steady != tt.steady || !got.Brief || int(n.Load()) != sum+len(r.Trace.Records) {
					t.Errorf("%+v, %d requests in all", got, n.Load())
				}
				if !slices.Contains(noted(r), string(briefNote)) || slices.Contains(doubts(r), "verdict.never-steady") {
					t.Errorf("notes %v, doubts %v", noted(r), doubts(r))
				}
				if short := int(short.Load()); short != sum {
					t.Errorf("%d short answers asked for, %d requests of the warm-up", short, sum)
				}
			})
		})
	}
}

// A server that refuses requests of a brief warm-up gets no more of them.
func TestABriefWarmUpThatIsRefused(t *testing.T) {
	refused := func(from, to int64) func(http.Handler) http.Handler {
		var n atomic.Int64
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/completions" {
					if i := n.Add(1); i > from && i <= to {
						http.Error(w, `{"error": "slow down"}`, http.StatusTooManyRequests)
						return
					}
				}
				h.ServeHTTP(w, r)
			})
		}
	}
	brief := strings.NewReplacer("steady: true", "steady: true, brief: true", "requests: 20", "requests: 80").Replace(steadily)
	synctest.Test(t, func(t *testing.T) {
		r := served(t, bareEngine, refused(4, 8)).result(t, brief)
		if w := r.Trace.Run.WarmUp; len(w.Waves) != 1 || w.Waves[0].Failed != 4 || !slices.Contains(noted(r), string(warmUpFailed)) || r.Summary.Requests.OK != 80 {
			t.Errorf("%+v, %v", w, noted(r))
		}
		w := served(t, bareEngine, refused(0, 1000))
		p, err := Prepare(t.Context(), spec(t, brief), w.Deps)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Execute(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "none of 8 requests was answered") || !strings.Contains(err.Error(), "slow down") {
			t.Errorf("%v", err)
		}
	})
}

// No two waves share a prompt, none has one of the run's, and all have the same lengths.
func TestWavesAreMatched(t *testing.T) {
	const lengths = `{kind: random, input_len: "uniform(40,400)", output_len: "uniform(4,40)"}`
	for name, dataset := range map[string]string{"drawn": lengths, "file": `{kind: custom, data: texts.jsonl, output_len: 8}`} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.Open = lines("texts.jsonl", `{"prompt": "the cat sat on a mat by the door"}`, `{"prompt": "one two three four five six seven"}`)
			p, err := Prepare(t.Context(), spec(t, strings.Replace(random, `{kind: random, input_len: "uniform(10,40)", output_len: 8}`, dataset, 1)+"gate: {concurrency: 5}\n"), w.Deps)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.spec.Load[0].Arrival.Kind = atOnce
			p.spec.Before.WarmUp.Steady = true
			if err := p.drawWaves(t.Context(), p.builder()); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			key := func(text string, ids []int32) string { return text + string(rune(len(ids))) + fmtIDs(ids) }
			for _, r := range p.Requests().All() {
				seen[key(r.Text, r.Tokens)] = true
			}
			var sums []int
			for _, wave := range p.waves.requests {
				sum := 0
				for _, r := range wave {
					k := key(r.Text, r.Tokens)
					if seen[k] {
						t.Errorf("%s: a prompt is sent twice: %q", name, k)
					}
					seen[k], sum = true, sum+r.PromptTokens
				}
				if len(wave) != 10 || len(p.waves.due) != 10 {
					t.Errorf("%s: a wave of %d", name, len(wave))
				}
				sums = append(sums, sum)
			}
			if least, most := slices.Min(sums), slices.Max(sums); float64(most) > 1.1*float64(least) {
				t.Errorf("%s: prompt tokens of waves %v", name, sums)
			}
		})
	}
}

// The prompts of an earlier run are found, unless the server forgets them.
func TestAColdCacheIsProved(t *testing.T) {
	for name, tt := range map[string]struct {
		around func(http.Handler) http.Handler
		proof  metrics.Proof // of the second run
		reset  string
	}{
		"vLLM's route":            {as, metrics.Proved, "/reset_prefix_cache"},
		"SGLang's, after refusal": {flushing(3), metrics.Proved, "/flush_cache"},
		"a route without effect":  {without("/reset_prefix_cache", http.StatusOK), metrics.Contradicted, "/reset_prefix_cache"},
		"no route":                {both(without("/reset_prefix_cache", http.StatusNotFound), without("/flush_cache", http.StatusNotFound)), metrics.Contradicted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := served(t, chatEngine, tt.around)
				first := w.result(t, chilly+"cold\n")
				if c := first.Summary.Cache; c == nil || c.Proof != metrics.Proved || c.Hit != 0 || c.Limit == 0 || first.Trace.Run.Verdict.Validity == trace.Invalid {
					t.Errorf("first: %+v, %v", c, first.Trace.Run.Verdict)
				}
				r := w.result(t, chilly+"cold\n")
				c := r.Summary.Cache
				if c.Proof != tt.proof || r.Trace.Run.Cache.Reset != tt.reset {
					t.Errorf("second: %+v of %+v", c, r.Trace.Run.Cache)
				}
				if want := tt.proof == metrics.Contradicted; slices.Contains(doubts(r), string(metrics.CacheNotCold)) != want || want != (r.Trace.Run.Verdict.Validity == trace.Invalid) {
					t.Errorf("verdict %v", r.Trace.Run.Verdict)
				}
				if slices.Contains(noted(r), string(noResetRoute)) != (tt.reset == "") {
					t.Errorf("notes %v", noted(r))
				}
			})
		})
	}
}

// talks are two conversations of three turns each.
var talks = []string{
	`{"turns": [{"text": "` + strings.Repeat("Tell me of the sea. ", 40) + `", "output_tokens": 20}, {"text": "And then?", "output_tokens": 20}, {"text": "And now?", "output_tokens": 20}]}`,
	`{"turns": [{"text": "` + strings.Repeat("What is a river? ", 40) + `", "output_tokens": 20}, {"text": "Why?", "output_tokens": 20}, {"text": "How so?", "output_tokens": 20}]}`,
}

// A prefix that the requests of a run share is found in a cold cache too, and so is all that
// a turn remembers.
func TestWhatARunSharesIsCold(t *testing.T) {
	for name, text := range map[string]string{
		"prefix": strings.Replace(chilly, "output_len: 8", "output_len: 8, prefix_len: 300", 1) + "cold\n",
		"turns": `
target: {url: "http://server:8000"}
request: {protocol: chat, usage: end, ignore_eos: true}
seed: 8
gate: {concurrency: 2}
load: [{arrival: {kind: at-once}, dataset: {kind: conversations, data: talks.jsonl}}]
cache: cold
`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := served(t, chatEngine, as)
				w.Open = lines("talks.jsonl", talks...)
				if c := w.result(t, text).Summary.Cache; c.Proof != metrics.Proved || c.Share < 0.3 {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

// A warm cache may hold anything.
func TestAWarmCacheIsNotJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := served(t, chatEngine, as)
		for run, share := range []float64{0, 0.9} {
			r := w.result(t, chilly+"warm\n")
			if c := r.Summary.Cache; c.Proof != metrics.NothingToSay || c.Share < share || run == 0 && c.Share > 0 {
				t.Errorf("run %d: %+v", run, c)
			}
		}
	})
}

func TestAPrimedCacheIsProved(t *testing.T) {
	for engine, proof := range map[string]metrics.Proof{chatEngine: metrics.Proved, bareEngine: metrics.Unproved} {
		synctest.Test(t, func(t *testing.T) {
			w := served(t, engine, as)
			r := w.result(t, chilly+"primed\n")
			if c := r.Summary.Cache; c.Proof != proof || r.Trace.Run.Cache.Primed != 20 || c.Source != "" && c.Share < 0.9 {
				t.Errorf("%s: %+v", engine, c)
			}
			if note := r.Summary.CacheNote(); note.IsZero() != (proof == metrics.Proved) {
				t.Errorf("%s: %v", engine, note)
			}
		})
	}
}

// A cache that is too small for the prompts has lost them when the run asks again.
func TestAPrimedCacheThatForgot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		w := served(t, chatEngine, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/completions" && n.Add(1) == 21 { // the first of the run itself
					h.ServeHTTP(nowhere{}, mustRequest(t, "/flush_cache"))
				}
				h.ServeHTTP(w, r)
			})
		})
		r := w.result(t, chilly+"primed\n")
		if got := doubts(r); !slices.Contains(got, string(metrics.CacheNotPrimed)) || r.Trace.Run.Verdict.Validity != trace.Invalid {
			t.Errorf("%+v: %v", r.Summary.Cache, got)
		}
	})
}

func TestCachesThatCannotBeDeclared(t *testing.T) {
	for text, want := range map[string]string{
		chilly + "lukewarm\n":              "unknown name",
		simulated + "cache: primed\n":      "a simulation begins with an empty cache",
		simulated + "cache: cold\n":        "",
		chilly + "primed\nduration: 10s\n": "", // the number of requests is known
		strings.Replace(chilly, "requests: 20", "duration: 10s", 1) + "primed\n":               "needs a number of requests",
		strings.Replace(steadily, "steady: true", "steady: true, from: measured", 1):           "has prompts of its own",
		strings.Replace(steadily, "steady: true", "steady: true, requests: 3, from: first", 1): "", // as of another tool's command line
	} {
		_, _, err := plan.Read("spec.yaml", []byte("version: 1\n"+text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A server that stands still while it answers.
func TestAStallIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var from time.Time
		w := served(t, bareEngine, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if from.IsZero() {
					from = time.Now().Add(100 * time.Millisecond)
				}
				h.ServeHTTP(&still{w, from, from.Add(900 * time.Millisecond)}, r)
			})
		})
		text := strings.NewReplacer("output_len: 8", "output_len: 60", "cache: ", "before: {warm_up: {requests: 0}}\n").Replace(chilly)
		s := w.result(t, text).Summary
		if len(s.Stalls) != 1 || s.Stalls[0].Streams != 4 || s.Stalls[0].Of != 4 || math.Abs(s.Stalls[0].To-s.Stalls[0].From-0.9) > 0.02 {
			t.Fatalf("%+v", s.Stalls)
		}
		if s.Unstalled == nil || s.Unstalled.Touched != 4 || s.Unstalled.Service.E2EL.N != 16 || s.Unstalled.Service.ITL.Max > 0.01 || s.Service.ITL.Max < 0.8 {
			t.Errorf("%+v", s.Unstalled)
		}
		if notes := s.StallNotes(); len(notes) != 1 {
			t.Errorf("%v", notes)
		}
		if v := s.Health.Verdict; !onlyStalled(v) || math.Abs(s.Unstalled.Chance.Length-0.9) > 0.02 {
			t.Errorf("%v, %+v", v, s.Unstalled)
		}
	})
}

// A server that compiles for a shape which it meets under load holds the requests that need it, and those behind
// them, before their first tokens.
func TestARecompilationUnderLoadIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := served(t, bareEngine, delayed(func(n int) time.Duration {
			if n >= 40 && n < 44 {
				return 3 * time.Second
			}
			return 0
		}))
		s := w.result(t, strings.NewReplacer("requests: 20", "requests: 200", "cache: ", "before: {warm_up: {requests: 0}}\n").Replace(chilly)).Summary
		if len(s.Standstills) != 1 || s.Standstills[0].First || s.Standstills[0].Requests != 4 || math.Abs(s.Standstills[0].To-s.Standstills[0].From-3) > 0.1 {
			t.Fatalf("%+v", s.Standstills)
		}
		v, u := s.Health.Verdict, s.Unstalled
		if !onlyStalled(v) || u.Touched != 4 || u.Service.TTFT.Max > 0.03 || math.Abs(u.Chance.Rate*0.055/4-1) > 0.05 {
			t.Errorf("%v, %+v, %v", v, u, s.Rates)
		}
	})
}

// onlyStalled reports whether streams that stood still are the only reason of a verdict, but for pauses of the
// garbage collector, which are not in virtual time.
func onlyStalled(v trace.Verdict) bool {
	rest := slices.DeleteFunc(slices.Clone(v.Reasons), func(m plan.Message) bool { return m.Code == "verdict.collector-paused" })
	return len(rest) == 1 && rest[0].Code == "verdict.stalled"
}
