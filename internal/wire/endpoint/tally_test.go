package endpoint

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// feed is a transport with reads that the test sends.
type feed chan piece

func (f feed) Do(_ context.Context, _ *transport.Request, r transport.Receiver) (transport.Timing, error) {
	r.Head(http.StatusOK, nil)
	for p := range f {
		if err := r.Data([]byte(p.text), p.stamp); err != nil {
			return transport.Timing{}, err
		}
	}
	return transport.Timing{}, nil
}

// Tokens are counted while answers are under way: as chunks, or as many as the server
// says that they carry, and as in the record when they are over.
func TestTokensAreCountedWhileTheyCome(t *testing.T) {
	const every = tallyEvery
	total := func(n string) string {
		return `data: {"choices":[{"index":0,"text":"a"}],"usage":{"prompt_tokens":7,"completion_tokens":` + n + "}}\n\n"
	}
	synctest.Test(t, func(t *testing.T) {
		f := make(feed)
		c, err := New(f, Options{Protocol: Completions, Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		recs := []*trace.Record{trace.NewRecord(0), trace.NewRecord(64)} // on one stripe
		read := func(text string, at int64, want int) {
			t.Helper()
			f <- piece{text, transport.Stamp{At: at, Seq: uint64(at)}}
			synctest.Wait()
			if got := c.Tokens(); got != want {
				t.Errorf("%d tokens, want %d", got, want)
			}
		}
		go c.Send(t.Context(), &workload.Request{}, nil, recs[0])
		read(text("a"), every, 1)
		read(text("b"), every+1, 1) // a moment later: not yet
		read(text("c"), 2*every, 3)
		read(`data: {"choices":[{"index":0,"text":"","finish_reason":"length"}]}`+"\n\n", 3*every, 3)
		read(counted+end, 4*every, 3) // the server counts as many
		go c.Send(t.Context(), &workload.Request{}, nil, recs[1])
		read(total("4"), 5*every, 7)
		read(total("9"), 6*every, 12)
		read(text("d"), 7*every, 13)
		close(f) // the answer is cut off
		synctest.Wait()
		if got, want := c.Tokens(), recs[0].OutputTokens+recs[1].OutputTokens; got != want || recs[0].OutputTokens != 3 {
			t.Errorf("%d tokens, the records have %d, the first of them %d", got, want, recs[0].OutputTokens)
		}
	})
}

// An answer in one piece, and one that failed, count as their records do.
func TestTokensOfWholeAnswers(t *testing.T) {
	for body, count := range map[string]func(string) int{
		`{"choices":[{"text":"a b"}],"usage":{"completion_tokens":5}}`: nil,
		`{"choices":[{"text":"a b"}]}`:                                 func(string) int { return 2 },
		`{"error":"no"}`:                                               nil,
	} {
		c, err := New(canned(body), Options{Protocol: Completions, Count: count})
		if err != nil {
			t.Fatal(err)
		}
		rec := trace.NewRecord(3)
		for i := range 2 {
			c.Send(t.Context(), &workload.Request{}, nil, rec)
			if got := c.Tokens(); got != (i+1)*rec.OutputTokens {
				t.Errorf("%s: %d tokens, of which the record has %d", body, got, rec.OutputTokens)
			}
		}
	}
}
