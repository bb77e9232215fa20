package apiserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/test/memnet"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

func TestTruthAgreesWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Latency.ITL = mustDist(t, "gamma(5ms,1)")
		r := newRig(t, cfg)
		time.Sleep(3 * ms)
		var seen [20][]event
		var all sync.WaitGroup
		for i := range seen {
			all.Go(func() {
				var err error
				body := fmt.Sprintf(`{"prompt":"p%d","messages":[{"role":"user","content":"m%d"}],"max_tokens":%d,`+
					`"ignore_eos":true,"stream":true}`, i, i, i+1)
				seen[i], err = r.stream([]string{completions, chats}[i%2], body, "x-request-id", fmt.Sprint("r", i))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		for i, events := range seen {
			truth := r.truth(fmt.Sprint("?id=r", i))
			if len(truth.Requests) != 1 || truth.Open != 0 {
				t.Fatalf("request %d: %+v", i, truth)
			}
			req := truth.Requests[0]
			if req.Received != int64(3*ms) || req.OutputTokens != i+1 || req.FinishReason != "length" || req.Status != 200 ||
				req.ClientGone {
				t.Errorf("request %d: %+v", i, req)
			}
			var read, written []int64
			for _, e := range events {
				read = append(read, int64(e.at))
			}
			for k, n := range req.Events {
				written = append(written, slices.Repeat(req.Before[k:k+1], n)...)
			}
			if diff := cmp.Diff(written, read); diff != "" {
				t.Errorf("request %d: written and read differ:\n%s", i, diff)
			}
			if !slices.Equal(req.Before, req.After) {
				t.Errorf("request %d: a write took virtual time", i)
			}
		}
	})
}

func TestTruthOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		_, body := r.whole("POST", completions, `{"prompt":""}`, "x-request-id", `a "quoted" id`)
		synctest.Wait()
		got := r.truth("").Requests
		want := []TruthRequest{{
			ID: `a "quoted" id`, Endpoint: "completions", Protocol: "HTTP/1.1", Status: 400, Faults: []string{},
			Before: []int64{0}, After: []int64{0}, Tokens: []int{0}, Events: []int{0}, Bytes: []int{len(body)},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTruthIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{TruthLimit: 3, TruthWrites: 25})
		ask := func(id string, tokens int) {
			if _, err := r.stream(completions,
				fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"ignore_eos":true,"stream":true,"stop":[]}`, tokens), "x-request-id",
				id); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		state := func() string {
			truth := r.truth("")
			var ids []string
			for _, q := range truth.Requests {
				ids = append(ids, q.ID)
			}
			return fmt.Sprint(ids, truth.DroppedRequests, truth.DroppedWrites)
		}
		for i := range 5 { // each is 3 writes: headers, one event with the token, [DONE]
			ask(fmt.Sprint("r", i), 1)
		}
		if got, want := state(), "[r2 r3 r4] 2 6"; got != want {
			t.Errorf("after five short requests %s, want %s", got, want)
		}
		r.s.cfg.Latency.ITL = arrival.FixedDuration(ms)
		r.s.loop.model = engine.NewLatencyModel(r.s.cfg.Latency, 0)
		ask("long", 20) // 22 writes, with r4's 25
		if got, want := state(), "[r4 long] 4 12"; got != want {
			t.Errorf("after a long request %s, want %s", got, want)
		}
		if status, _ := r.whole("DELETE", "/pitot/truth", ""); status != http.StatusNoContent {
			t.Errorf("DELETE: %d", status)
		}
		if got, want := state(), "[] 0 0"; got != want {
			t.Errorf("after DELETE %s, want %s", got, want)
		}
	})
}

func TestServeCutsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(constantConfig())
		if err != nil {
			t.Fatal(err)
		}
		l := memnet.Listen()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(31*ms, cancel)
		served := make(chan time.Duration)
		start := time.Now()
		go func() {
			if err := s.Serve(ctx, l, nil); err != nil {
				t.Error(err)
			}
			served <- time.Since(start)
		}()
		transport := &http.Transport{DialContext: l.Dial}
		r := &rig{t: t, s: s, l: l, client: &http.Client{Transport: transport}, start: start}
		events, err := r.stream(completions, `{"prompt":"a","max_tokens":10,"ignore_eos":true,"stream":true}`)
		if err == nil || len(events) < 3 {
			t.Errorf("%d events, error %v", len(events), err)
		}
		transport.CloseIdleConnections()
		if end := <-served; end != 31*ms {
			t.Errorf("Serve returned after %v, want 31 ms", end)
		}
		if _, err := l.Dial(t.Context(), "", ""); err == nil {
			t.Error("the listener is still open")
		}
	})
}

// Neither a stalled stream nor a client that does not read delays other streams.
func TestShutdownCutsEverything(t *testing.T) {
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	for _, protocols := range []*http.Protocols{&one, &two} {
		t.Run(protocols.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { shutDown(t, protocols) })
		})
	}
}

func shutDown(t *testing.T, protocols *http.Protocols) {
	cfg := constantConfig()
	cfg.Faults = []Fault{mustFault(t, "stall=0.5@1")}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := memnet.Listen()
	ctx, cancel := context.WithCancel(t.Context())
	transport := &http.Transport{DialContext: l.Dial, Protocols: protocols}
	r := &rig{t: t, s: s, l: l, client: &http.Client{Transport: transport}, start: time.Now()}
	var bodies []io.Closer
	var asked sync.WaitGroup
	asked.Go(func() {
		for range 20 {
			resp, err := r.do(t.Context(), "POST", completions,
				`{"prompt":"a","max_tokens":1000,"ignore_eos":true,"stream":true}`)
			if err != nil {
				t.Error(err)
				continue
			}
			bodies = append(bodies, resp.Body)
		}
	})
	time.AfterFunc(time.Second, cancel)
	if err := s.Serve(ctx, l, nil); err != nil || time.Since(r.start) != time.Second {
		t.Errorf("Serve: %v after %v", err, time.Since(r.start))
	}
	if s.loop.running {
		t.Error("the loop runs on")
	}
	head, records := s.truth.snapshot()
	if head.Open != 0 || len(records) != 20 {
		t.Errorf("%d requests, %d still open", len(records), head.Open)
	}
	for _, rec := range records {
		if rec.ClientGone || rec.FinishReason != "" {
			t.Errorf("cut by the server: %+v", *rec)
		}
	}
	asked.Wait()
	for _, b := range bodies {
		_ = b.Close()
	}
}

func TestServeTellsABrokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		l := memnet.Listen()
		time.AfterFunc(ms, func() { _ = l.Close() })
		if err := s.Serve(t.Context(), l, nil); err == nil || !strings.Contains(err.Error(), net.ErrClosed.Error()) {
			t.Errorf("Serve on a closed listener: %v", err)
		}
	})
}
