package truth

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// How fast the server writes single events on loopback, to readers that throw
// them away in the same process. ns-cpu is of a write alone.
func BenchmarkWrites(b *testing.B) {
	for _, streams := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) { benchmarkWrites(b, streams) })
	}
}

func benchmarkWrites(b *testing.B, streams int) {
	srv, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l) }()
	const tokens = 10_000
	body := fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"stream":true}`, max(tokens/streams, 50))
	writes, busy := 0, int64(0)
	for b.Loop() {
		srv.forget()
		done := make(chan error)
		for range streams {
			go func() { done <- discard(l.Addr().String(), body) }()
		}
		for range streams {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		srv.waitIdle()
		log := srv.Log()
		for _, r := range log.Requests {
			writes += len(r.Writes)
		}
		busy += int64(log.WriteCPU)
		b.StartTimer()
	}
	b.ReportMetric(float64(writes)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(busy)/float64(writes), "ns-cpu/write")
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}

// discard makes a request and reads the answer without looking at it.
func discard(addr, body string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	_, err = io.Copy(io.Discard, c)
	return err
}

// What the server itself adds to a write: rendering and recording.
func BenchmarkRender(b *testing.B) {
	for _, p := range []*phrase.Protocol{phrase.Completions, phrase.Chat} {
		b.Run(p.Name, func(b *testing.B) {
			cfg := Config{}.withDefaults()
			st := testStream(&cfg, p, MaxTokens)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = st.render(buf)
				if st.wrote(1, 2); st.out.Sent > MaxTokens-10 {
					st.out.Sent = 0
					st.n.Store(0)
				}
			}
		})
	}
}

// A token takes no allocation.
func TestWritesDoNotAllocate(t *testing.T) {
	cfg := Config{Step: 1, Jitter: 1}.withDefaults()
	for _, p := range []*phrase.Protocol{phrase.Completions, phrase.Chat} {
		st := testStream(&cfg, p, 2000)
		buf := make([]byte, 0, 4096)
		var q arrival.Queue[*stream]
		q.Push(0, 0, st)
		if n := testing.AllocsPerRun(1000, func() {
			buf, _ = st.render(buf)
			st.wrote(1, 2)
			q.Delay(time.Duration(st.due))
		}); n != 0 {
			t.Errorf("%s: %v allocations a write", p.Name, n)
		}
	}
}

func testStream(cfg *Config, p *phrase.Protocol, tokens int) *stream {
	a := phrase.Answer{ID: "id", Model: "model", Source: newScript(0), PromptTokens: 3, Tokens: tokens, Finish: "length"}
	st := newStream(cfg, nil, &record{head: Request{Stream: true}}, p, a, 0, Complete)
	st.begin()
	return st
}
