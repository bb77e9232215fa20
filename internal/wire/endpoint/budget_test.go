package endpoint

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A server is a transport that answers with a status and pieces of a body, as long as they
// are wanted.
type server struct {
	status int
	piece  string
	pieces int
	taken  *int
}

func (s server) Do(_ context.Context, _ *transport.Request, r transport.Receiver) (transport.Timing, error) {
	r.Head(s.status, nil)
	for i := range s.pieces {
		*s.taken = i + 1
		if err := r.Data([]byte(s.piece), transport.Stamp{Seq: uint64(i + 1)}); errors.Is(err, transport.ErrEnough) {
			return transport.Timing{}, nil
		} else if err != nil {
			return transport.Timing{}, err
		}
	}
	return transport.Timing{}, nil
}

// ask sends one request for two tokens.
func ask(t *testing.T, c *Client) *trace.Record {
	t.Helper()
	rec := trace.NewRecord(0)
	c.Send(t.Context(), &workload.Request{OutputTokens: 2}, nil, rec)
	return rec
}

func client(t *testing.T, by Transport, o Options) *Client {
	t.Helper()
	c, err := New(by, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNothingNestedIsRead(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	for _, p := range Protocols() {
		for _, stream := range []bool{false, true} {
			answer := deep
			if stream && !p.Silent() {
				answer = "data: " + deep + "\n\n"
			}
			if p == Transcription && !stream {
				continue // a text may be anything
			}
			rec := ask(t, client(t, canned(answer), Options{Protocol: p, Stream: stream}))
			if rec.Class != trace.Malformed || !strings.Contains(rec.Error, "brackets are open") {
				t.Errorf("%s, stream %v: %s %s", p, stream, rec.Class, rec.Error)
			}
		}
	}
	rec := ask(t, client(t, canned("data: "+deep), Options{Protocol: Completions, Stream: true})) // without an end
	if rec.Class != trace.Truncated {
		t.Errorf("%s %s", rec.Class, rec.Error)
	}
	if _, err := (Server{Transport: canned(deep)}).Models(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "brackets are open") {
		t.Errorf("models: %v", err)
	}
}

func TestOfAnErrorNoMoreIsReadThanIsKept(t *testing.T) {
	taken := 0
	by := server{http.StatusServiceUnavailable, strings.Repeat("x", 1<<10), 1000, &taken}
	c := client(t, by, Options{Protocol: Completions, Stream: true})
	rec := ask(t, c)
	if rec.Class != trace.HTTP || len(rec.Error) < errorText || taken > 5 {
		t.Errorf("%s, %d bytes of words after %d KiB", rec.Class, len(rec.Error), taken)
	}
	_, err := Server{Transport: by}.Models(t.Context())
	if status := (*StatusError)(nil); !errors.As(err, &status) || taken > 5 {
		t.Errorf("%v after %d KiB", err, taken)
	}
}

// All streams hold no more unrequested bytes than the budget.
func TestTheBudget(t *testing.T) {
	taken := 0
	flood := server{http.StatusOK, strings.Repeat(text("a"), 1000), 1 << 20, &taken}
	c := client(t, flood, Options{Protocol: Completions, Stream: true, MaxEvent: 1 << 10, MaxBody: 1 << 20})
	first, second := ask(t, c), ask(t, c)
	for _, rec := range []*trace.Record{first, second} {
		if rec.Class != trace.Malformed || !strings.Contains(rec.Error, "memory for such answers") {
			t.Errorf("%s %s", rec.Class, rec.Error)
		}
	}
	if n := 16 * (cap(first.Chunks) + cap(second.Chunks)); n > 3<<20 {
		t.Errorf("%d bytes in records", n)
	}
	c.transport = server{http.StatusOK, text("a") + text("b") + end, 1, &taken} // what was asked for is not touched by it
	if rec := ask(t, c); !rec.OK() {
		t.Errorf("%s %s", rec.Class, rec.Error)
	}
}

// The memory held for an answer in progress is released.
func TestTheBudgetIsGivenBack(t *testing.T) {
	taken := 0
	c := client(t, server{http.StatusOK, `{"a":"` + strings.Repeat("x", 1<<18), 20, &taken},
		Options{Protocol: Completions, MaxBody: 4 << 20})
	for range 20 {
		if rec := ask(t, c); !strings.Contains(rec.Error, ErrLarge.Error()) {
			t.Fatalf("%s %s", rec.Class, rec.Error)
		}
	}
	if n := c.budget.spent.Load(); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}

func TestLargeEventsByRequest(t *testing.T) {
	event := "data: {\"id\":\"" + strings.Repeat("x", 9<<20) + "\",\"choices\":[{\"text\":\"a\"}]}\n\n" + end
	for limit, want := range map[int]trace.Class{0: trace.Malformed, 16 << 20: ""} {
		rec := ask(t, client(t, server{http.StatusOK, event, 1, new(int)},
			Options{Protocol: Completions, Stream: true, MaxEvent: limit}))
		if rec.Class != want {
			t.Errorf("limit %d: %s %.200s", limit, rec.Class, rec.Error)
		}
	}
}

// Of counters the client reads what an engine has, and for as long as it is given.
func TestMetricsAreBounded(t *testing.T) {
	line := `a_total{b="` + strings.Repeat("c", 84) + "\"} 1\n"
	text := strings.Repeat(line, 1<<20/len(line))
	ended, cancel := context.WithCancelCause(t.Context())
	late := errors.New("time is up")
	cancel(late)
	for _, tt := range []struct {
		ctx    context.Context
		pieces int
		want   error
	}{{t.Context(), 5, ErrLarge}, {ended, 1, late}} {
		_, err := Server{Transport: server{http.StatusOK, text, tt.pieces, new(int)}}.Metrics(tt.ctx)
		if !errors.Is(err, tt.want) {
			t.Errorf("%d pieces: %v, want %v", tt.pieces, err, tt.want)
		}
	}
}

// An answer in one piece has 64 MiB, one about the server itself 32 MiB, and all that was not asked
// for 96 MiB.
func TestAnswersInOnePieceAreBounded(t *testing.T) {
	piece, taken := strings.Repeat("x", 1<<20), 0
	rec := ask(t, client(t, server{http.StatusOK, piece, 1000, &taken}, Options{Protocol: Completions}))
	if rec.Class != trace.Malformed || !strings.Contains(rec.Error, "the limit is 64 MiB") || taken != 65 {
		t.Errorf("%s, %s, after %d MiB", rec.Class, rec.Error, taken)
	}
	_, err := Server{Transport: server{http.StatusOK, piece, 1000, &taken}}.Version(t.Context())
	if !errors.Is(err, ErrLarge) || taken != 33 {
		t.Errorf("%v, after %d MiB", err, taken)
	}
	if b := newBudget(&Options{}); b.size != 96<<20 {
		t.Errorf("%d bytes", b.size)
	}
}

// silent is a transport over which no answer comes.
type silent struct{}

func (silent) Do(ctx context.Context, _ *transport.Request, _ transport.Receiver) (transport.Timing, error) {
	<-ctx.Done()
	return transport.Timing{}, context.Cause(ctx)
}

// A server that does not answer a question about itself is asked no longer than 30 s.
func TestAQuestionToAServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := (Server{Transport: silent{}}).Models(t.Context()); !errors.Is(err, transport.ErrTimeout) ||
			time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
