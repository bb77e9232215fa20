package workload

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// memory is a File that grows.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if need := int(at) + len(p); need > len(m.b) {
		m.b = append(m.b, make([]byte, need-len(m.b))...)
	}
	return copy(m.b[at:], p), nil
}

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return copy(p, m.b[at:]), nil }

func TestASpooledPromptComesBackWhole(t *testing.T) {
	requests := []Request{
		{Text: "stays", OutputTokens: 1},
		{Text: "goes to the file", OutputTokens: 2},
		{Tokens: []int32{7, 1 << 20, 0}, OutputTokens: 3},
		{Messages: json.RawMessage(`[{"role":"user"}]`), OutputTokens: 4},
		{
			Text: "look:", Media: []Media{
				{MIME: "image/png", Data: []byte("pixels")}, {URL: "http://x/y.png"}, {MIME: "audio/wav", Data: []byte("~")},
			},
		},
		{Batch: []string{"a query", "", "a document"}},
	}
	file := new(memory)
	s := NewSpool(file, 5)
	for _, want := range requests {
		r := want
		if err := s.Spill(&r); err != nil {
			t.Fatal(err)
		}
		if spooled := r.Later != nil; spooled != (want.Text != "stays") {
			t.Errorf("%q: spooled %v", want.Text, spooled)
		}
		if (r.Tokens == nil) != (want.Tokens == nil) || (r.Messages == nil) != (want.Messages == nil) ||
			len(r.Media) != len(want.Media) || len(r.Batch) != len(want.Batch) {
			t.Errorf("%q: what kind of prompt it is got lost", want.Text)
		}
		for range 2 { // a request may be sent twice
			whole, err := r.Unspooled()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, *whole); diff != "" {
				t.Error(diff)
			}
		}
	}
	if want := "goes to the file" + "\a\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00" + `[{"role":"user"}]` +
		"look:pixels~" + "a querya document"; string(file.b) != want {
		t.Errorf("the file holds %q", file.b)
	}
}

func TestASpooledWorkloadIsTheSame(t *testing.T) {
	for _, tok := range []Tokenizer{nil, &words{merge: true}} {
		r := Random{Requests: 50, Input: 20, InputRange: 0.5, Output: 4, Seed: 3}
		plain, err := r.Build(t.Context(), Vocabulary{Size: 1000}, tok)
		if err != nil {
			t.Fatal(err)
		}
		r.Spool = NewSpool(new(memory), 100)
		spooled, err := r.Build(t.Context(), Vocabulary{Size: 1000}, tok)
		if err != nil {
			t.Fatal(err)
		}
		away := 0
		for i := range spooled.Requests {
			if spooled.Requests[i].Later != nil {
				away++
			}
			whole, err := spooled.Requests[i].Unspooled()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.Requests[i], *whole); diff != "" {
				t.Fatal(diff)
			}
		}
		if away < 40 {
			t.Errorf("%d of 50 prompts are in the file", away)
		}
	}
}

func TestInOrderEndsWithItsFirstErrorAndItsContext(t *testing.T) {
	boom := errors.New("boom")
	double := func(_ context.Context, i int) (int, error) {
		if i == 150 {
			return 0, boom
		}
		return 2 * i, nil
	}
	n := 0
	for v, err := range InOrder(t.Context(), 1000, double) {
		switch {
		case n < 150 && (err != nil || v != 2*n), n == 150 && !errors.Is(err, boom):
			t.Fatalf("%d: %d, %v", n, v, err)
		}
		n++
	}
	if n != 151 {
		t.Errorf("%d results", n)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for _, err := range InOrder(ctx, 1000, func(_ context.Context, i int) (int, error) { return i, nil }) {
		cancel(boom)
		last = err
	}
	if !errors.Is(last, boom) {
		t.Errorf("cancelled: %v", last)
	}
}
