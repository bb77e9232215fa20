package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

const (
	completions = "/v1/completions"
	chats       = "/v1/chat/completions"
)

func TestStreamInstantsAreExact(t *testing.T) {
	for _, path := range []string{completions, chats} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, constantConfig())
				body := `{"prompt":"a b c","messages":[{"role":"user","content":"hi"}],"max_tokens":4,"ignore_eos":true,` +
					`"stream":true}`
				events, err := r.stream(path, body)
				if err != nil {
					t.Fatal(err)
				}
				want := []time.Duration{20 * ms, 25 * ms, 30 * ms, 35 * ms}
				if path == chats { // the role chunk comes with the first token
					want = append([]time.Duration{20 * ms}, want...)
				}
				if got := instants(t, events); !slices.Equal(got, want) {
					t.Errorf("tokens at %v, want %v", got, want)
				}
			})
		})
	}
}

func TestPromptAndImagesDelayTheFirstToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Latency.PerPromptToken = arrival.FixedDuration(ms)
		cfg.Latency.PerImage = arrival.FixedDuration(100 * ms)
		r := newRig(t, cfg)
		events, err := r.stream(completions, `{"prompt":[1,2,3,4,5,6,7],"max_tokens":1,"ignore_eos":true,"stream":true}`)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := instants(t, events)[0], 27*ms; got != want {
			t.Errorf("first token of 7 prompt tokens at %v, want %v", got, want)
		}
		before := time.Since(r.start)
		events, err = r.stream(chats, chatWithImage(pngURL(t, 57, 28), 1))
		if err != nil {
			t.Fatal(err)
		}
		// 57 by 28 pixels are 3 by 1 tokens.
		usage := events[len(events)-2].chunk(t).Usage
		want := 20*ms + 100*ms + time.Duration(usage.PromptTokens)*ms
		if got := instants(t, events)[0] - before; got != want {
			t.Errorf("first token with an image at %v, want %v", got, want)
		}
	})
}

func TestWholeResponseComesWithItsLastToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		status, _ := r.whole("POST", completions, `{"prompt":"a","max_tokens":11,"ignore_eos":true}`)
		if got := time.Since(r.start); status != http.StatusOK || got != 70*ms {
			t.Errorf("status %d after %v, want 200 after 70ms", status, got)
		}
	})
}

// Two places, five requests of 20+5 ms: pairs start at 0, 25 and 50 ms.
func TestRequestsQueueForPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Latency.Slots = 2
		r := newRig(t, cfg)
		var mu sync.Mutex
		var firsts []time.Duration
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				events, err := r.stream(completions, `{"prompt":"a","max_tokens":2,"ignore_eos":true,"stream":true}`)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				firsts = append(firsts, instants(t, events)[0])
			})
		}
		all.Wait()
		slices.Sort(firsts)
		want := []time.Duration{20 * ms, 20 * ms, 45 * ms, 45 * ms, 70 * ms}
		if !slices.Equal(firsts, want) {
			t.Errorf("first tokens at %v, want %v", firsts, want)
		}
	})
}

func TestLeavingFreesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Latency.Slots = 1
		r := newRig(t, cfg)
		ctx, leave := context.WithTimeout(t.Context(), 32*ms)
		defer leave()
		resp, err := r.do(ctx, "POST", completions, `{"prompt":"a","max_tokens":1000,"ignore_eos":true,"stream":true}`,
			"x-request-id", "leaver")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var stay sync.WaitGroup
		stay.Go(func() {
			events, err := r.stream(completions, `{"prompt":"a","max_tokens":1,"ignore_eos":true,"stream":true}`)
			if err != nil {
				t.Error(err)
			} else if got := instants(t, events)[0]; got != 52*ms {
				t.Errorf("the next request's first token at %v, want 52ms", got)
			}
		})
		if events, err := r.events(resp.Body); err == nil || len(events) != 3 {
			t.Errorf("left with %d events and error %v", len(events), err)
		}
		stay.Wait()
		left := r.truth("?id=leaver").Requests[0]
		if !left.ClientGone || left.OutputTokens != 3 || left.FinishReason != "" {
			t.Errorf("truth of the one that left: %+v", left)
		}
	})
}

// A reader that stops reading stops its handler; the tokens that come meanwhile
// are one event when it reads on, and other streams do not notice.
func TestSlowReaderGetsSeveralTokensInOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		resp, err := r.do(t.Context(), "POST", completions,
			`{"prompt":"a","max_tokens":101,"ignore_eos":true,"stream":true}`, "x-request-id", "slow")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var other sync.WaitGroup
		other.Go(func() {
			events, err := r.stream(completions, `{"prompt":"a","max_tokens":81,"ignore_eos":true,"stream":true}`)
			if n := len(instants(t, events)); err != nil || n != 81 {
				t.Errorf("the other stream has %d events, error %v", n, err)
			}
		})
		time.Sleep(400 * ms)
		slow, err := r.events(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		other.Wait()
		truth := r.truth("?id=slow").Requests[0]
		if most := slices.Max(truth.Tokens); most < 50 || truth.OutputTokens != 101 {
			t.Errorf("most tokens in a write %d of %d, want most of them in one", most, truth.OutputTokens)
		}
		if n := len(r.s.vocab.encode(nil, text(t, slow))); n != 101 {
			t.Errorf("text of %d tokens, want 101", n)
		}
		// The first token is due at 20 ms and its write waits for the reader.
		if before, after := truth.Before[1], truth.After[1]; before != int64(20*ms) || after != int64(400*ms) {
			t.Errorf("the write that blocked is stamped %d and %d, want 20 ms and 400 ms", before, after)
		}
		for i := range truth.Before {
			if i != 1 && truth.Before[i] != truth.After[i] {
				t.Errorf("write %d did not block and is stamped %d and %d", i, truth.Before[i], truth.After[i])
			}
		}
	})
}

func TestSameSeedGivesTheSameRun(t *testing.T) {
	cfg := Config{Seed: 7, Latency: engine.Latency{Slots: 3}}
	cfg.Latency.TTFT = mustDist(t, "lognormal(200ms,0.5)")
	cfg.Latency.ITL = mustDist(t, "gamma(20ms,0.7)")
	first, second := record7(t, cfg), record7(t, cfg)
	if !slices.Equal(first, second) {
		t.Errorf("two runs differ:\n%v\n%v", first, second)
	}
	cfg.Seed = 8
	if third := record7(t, cfg); slices.Equal(first, third) {
		t.Error("another seed gives the same run")
	}
}

// record7 is what seven requests, a millisecond apart, looked like.
func record7(t *testing.T, cfg Config) []string {
	out := make([]string, 7)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cfg)
		var all sync.WaitGroup
		for i := range out {
			all.Go(func() {
				events, err := r.stream(completions, fmt.Sprintf(`{"prompt":"request %d","max_tokens":40,"stream":true}`, i))
				if err != nil {
					t.Error(err)
				}
				out[i] = fmt.Sprint(instants(t, events), text(t, events))
			})
			time.Sleep(ms)
		}
		all.Wait()
	})
	return out
}

func mustDist(t testing.TB, s string) arrival.Duration {
	t.Helper()
	d, err := arrival.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A frontend that is an event loop sends the head of a response before the engine has the request.
func TestHeadLeavesWhenTheLoopHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Engine: &engine.Config{
			Frontend: engine.Frontend{Request: 4e-3, Head: 3e-3, Delay: 1e-3, Flush: 2e-3, Chunk: 1e-3},
			Cost:     engine.Costs{Step: 10e-3},
		}})
		const body = `{"prompt":"a","max_tokens":2,"ignore_eos":true,"stream":true}`
		ctx, leave := context.WithTimeout(t.Context(), 6*ms)
		defer leave()
		if _, err := r.do(ctx, "POST", completions, body); err == nil || time.Since(r.start) != 6*ms {
			t.Errorf("a head after %v", time.Since(r.start))
		}
		time.Sleep(time.Second)
		before := time.Now()
		resp, err := r.do(t.Context(), "POST", completions, body)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Since(before); got != 7*ms || resp.StatusCode != http.StatusOK {
			t.Errorf("head with status %d after %v", resp.StatusCode, got)
		}
		defer func() { _ = resp.Body.Close() }()
		events, err := r.events(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := instants(t, events)
		for i := range got {
			got[i] -= before.Sub(r.start)
		}
		if want := []time.Duration{21 * ms, 31 * ms}; !slices.Equal(got, want) {
			t.Errorf("tokens at %v, want %v", got, want)
		}
	})
}
