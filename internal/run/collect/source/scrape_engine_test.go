package source

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// logged is the state of an engine every 5 ms.
type logged struct {
	every time.Duration
	loads []engine.Utilization
}

// around are the least and the greatest value within one interval of an instant.
func (l *logged) around(at time.Duration, of func(engine.Utilization) float64) (low, high float64) {
	i := int(at / l.every)
	for j, load := range l.loads[max(i-1, 0):min(i+3, len(l.loads))] {
		v := of(load)
		if j == 0 {
			low, high = v, v
		}
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// Samples of an engine under load are its own state, within one interval of the log: in a
// cache that is too small, with drafts, a prefix cache and more requests than places.
func TestSeriesAreTheEnginesState(t *testing.T) {
	truth := map[string]func(engine.Utilization) float64{
		telemetry.ServerRunning:      func(l engine.Utilization) float64 { return float64(l.Running) },
		telemetry.ServerWaiting:      func(l engine.Utilization) float64 { return float64(l.Waiting) },
		telemetry.ServerKVUse:        func(l engine.Utilization) float64 { return l.KV },
		telemetry.ServerKVTokens:     func(engine.Utilization) float64 { return 1024 },
		telemetry.ServerCacheQueries: func(l engine.Utilization) float64 { return float64(l.PrefixQueried) },
		telemetry.ServerCacheHits:    func(l engine.Utilization) float64 { return float64(l.PrefixHit) },
		telemetry.ServerPreemptions:  func(l engine.Utilization) float64 { return float64(l.Preemptions) },
		telemetry.ServerDrafts:       func(l engine.Utilization) float64 { return float64(l.Drafts) },
		telemetry.ServerDraftTokens:  func(l engine.Utilization) float64 { return float64(l.Drafted) },
		telemetry.ServerAccepted:     func(l engine.Utilization) float64 { return float64(l.Accepted) },
		telemetry.ServerSteps:        func(l engine.Utilization) float64 { return float64(l.Steps) },
		telemetry.ServerStepPrefill:  func(l engine.Utilization) float64 { return float64(l.Prefilled) },
		telemetry.ServerStepDecode:   func(l engine.Utilization) float64 { return float64(l.Decoded) },
		telemetry.ServerOutputTokens: func(l engine.Utilization) float64 { return float64(l.Decoded) },
	}
	synctest.Test(t, func(t *testing.T) {
		set, log := sampledEngine(t)
		moved := map[string]bool{}
		for name, of := range truth {
			s := set.Named(name)
			if len(s) != 1 || len(s[0].Points) < 20 {
				t.Fatalf("%s: %d series", name, len(s))
			}
			for _, p := range s[0].Points {
				low, high := log.around(p.At, of)
				if p.Value < low || p.Value > high {
					t.Errorf("%s is %v at %v; the engine had %v to %v", name, p.Value, p.At, low, high)
				}
				moved[name] = moved[name] || p.Value != s[0].Points[0].Value
			}
			if !moved[name] && name != telemetry.ServerKVTokens {
				t.Errorf("%s is always the same", name)
			}
		}
		if n, _ := set.Last(telemetry.Key{Source: "server", Name: telemetry.ServerPromptTokens, Labels: telemetry.Labels{"replica": "0"}}); n.Value != 40*prompt {
			t.Errorf("%v prompt tokens, want %d", n.Value, 40*prompt)
		}
		if n, _ := set.Last(telemetry.Key{Source: "server", Name: telemetry.ServerFinished, Labels: telemetry.Labels{"replica": "0", "reason": "length"}}); n.Value != 40 {
			t.Errorf("%v finished requests, want 40", n.Value)
		}
	})
}

// prompt is the number of tokens of each prompt, of which half are the same in all.
const prompt = 128

// sampledEngine puts 40 requests to an engine and samples it every 0.5 s for half a minute.
func sampledEngine(t *testing.T) (*telemetry.Set, *logged) {
	t.Helper()
	s, err := apiserver.New(apiserver.Config{Seed: 19, Engine: &engine.Config{
		Scheduler: engine.Scheduler{MaxSequences: 8, Chunk: 64}, KV: engine.KVCache{Tokens: 1024, Block: 16, PrefixCache: true},
		Cost: engine.Costs{Step: 0.02}, Speculative: &engine.Speculative{Drafts: 2, Acceptance: engine.Acceptance{0.5}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := memnet.Listen()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Serve(ctx, l, nil); err != nil {
			t.Error(err)
		}
	})
	zero := time.Now()
	log := &logged{every: 5 * ms}
	log.loads = append(log.loads, s.Load())
	all.Go(func() {
		tick := time.NewTicker(log.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				log.loads = append(log.loads, s.Load())
			case <-ctx.Done():
				return
			}
		}
	})
	x, err := NewScraper(Config{Name: "server", URL: "http://engine", Dial: l.Dial})
	if err != nil {
		t.Fatal(err)
	}
	g := collect.Start(ctx, 500*ms, []collect.Collector{x})
	put(t, l, &all)
	time.Sleep(time.Until(zero.Add(30 * time.Second)))
	set := g.End(zero)
	cancel()
	all.Wait()
	return set, log
}

// put sends 40 requests over 8 s.
func put(t *testing.T, l *memnet.Listener, all *sync.WaitGroup) {
	t.Helper()
	transport := &http.Transport{DialContext: l.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	r := rand.New(rand.NewPCG(19, 19))
	for i := range 40 {
		ids := make([]string, prompt)
		for j := range ids {
			if ids[j] = fmt.Sprint(j); j >= prompt/2 {
				ids[j] = fmt.Sprint(r.IntN(1000))
			}
		}
		body := fmt.Sprintf(`{"prompt":[%s],"max_tokens":%d,"ignore_eos":true,"stream":true}`, strings.Join(ids, ","), 100+r.IntN(200))
		all.Go(func() {
			time.Sleep(time.Duration(i)*200*ms + 3*ms)
			res, err := (&http.Client{Transport: transport}).Post("http://engine/v1/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		})
	}
}
