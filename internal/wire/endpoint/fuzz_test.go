package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// canned answers every request with itself.
type canned string

func (c canned) Do(_ context.Context, _ *transport.Request, r transport.Receiver) (transport.Timing, error) {
	r.Head(http.StatusOK, nil)
	return transport.Timing{}, r.Data([]byte(c), transport.Stamp{Seq: 1})
}

// What scan takes for an event of the usual form, decode reads alike.
func FuzzScan(f *testing.F) {
	for _, seed := range events {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, event string) {
		for _, p := range []Protocol{Completions, Chat} {
			var got delta
			if !scan(&got, p, true, []byte(event)) {
				continue
			}
			want, err := decode(p, false, []byte(event))
			if a, b := marksIn(&want), marksIn(&got); a != b {
				t.Errorf("%s %s: marks %x and %x", p, event, a, b)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(delta{}), cmpopts.IgnoreFields(delta{}, "raw", "thought", "pieces")); err != nil || diff != "" {
				t.Errorf("%s %s: error %v\n%s", p, event, err, diff)
			}
		}
	})
}

// What scanGenerate takes, decodeGenerate reads alike.
func FuzzScanGenerate(f *testing.F) {
	for _, s := range streams {
		if s.p == Generate {
			for _, piece := range s.pieces {
				f.Add(strings.TrimPrefix(strings.TrimSpace(piece), "data: "))
			}
		}
	}
	f.Add(`{"text":"\u00e9","meta_info":{"completion_tokens":1,"completion_tokens":2}}`)
	f.Add(`{"text":"a","text":"b","meta_info":{"prompt_tokens":-1,"completion_tokens":1.5,"cached_tokens":1e3}}`)
	f.Fuzz(func(t *testing.T, event string) {
		var got delta
		if !scanGenerate(&got, true, []byte(event)) {
			return
		}
		want, err := of(generated)([]byte(event))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(delta{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: error %v\n%s", event, err, diff)
		}
	})
}

// On any input, no parser takes bytes that are not JSON for an event, nor finds text outside
// the answer.
func FuzzProtocols(f *testing.F) {
	for _, s := range streams {
		for _, piece := range s.pieces {
			_, event, _ := strings.Cut(strings.TrimSpace(piece), "data:")
			f.Add([]byte(event))
		}
	}
	f.Add([]byte(`[{"score":1,"meta_info":{"prompt_tokens":1}}]`))
	f.Add([]byte(`{"data":[[1,2]],"usage":{"prompt_tokens":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for p, g := range grammars {
			for _, read := range []func([]byte) (delta, error){g.event, g.answer} {
				if read == nil {
					continue
				}
				d, err := read(data)
				if err == nil && !json.Valid(data) && p != Transcription {
					t.Fatalf("%s: accepted %q", p, data)
				}
				if err == nil && !d.token && (d.text != "" || d.raw != nil || d.kind != 0 && !d.last && d.finish == "") {
					t.Fatalf("%s: text outside the answer in %q: %+v", p, data, d)
				}
			}
		}
	})
}

// However texts are repeated, the record has valid text.
func FuzzGrowing(f *testing.F) {
	f.Add("a", "a b", "a b c", "a")
	f.Add("a", "b", "c", "")
	f.Fuzz(func(t *testing.T, one, two, three, four string) {
		var g growing
		var text []byte
		for _, s := range []string{one, two, three, four} {
			fresh, again := g.take([]byte(s))
			if again {
				text = nil
			}
			text = append(text, fresh...)
		}
		if !g.pieces && string(text) != string(g.text) {
			t.Errorf("%q is not %q", text, g.text)
		}
		if strings.HasPrefix(two, one) && strings.HasPrefix(three, two) && strings.HasPrefix(four, three) &&
			string(text) != four {
			t.Errorf("%q, want %q", text, four)
		}
	})
}
