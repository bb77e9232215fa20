package endpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// llamaTokens answers as llama.cpp's server does: it reads "content", and a body without it
// has no tokens.
func llamaTokens(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Content string
		Tokens  []int32
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	out := map[string]any{"tokens": slices.AppendSeq([]int32{}, func(yield func(int32) bool) {
		for _, b := range []byte(in.Content) {
			if !yield(int32(b)) {
				return
			}
		}
	})}
	if r.URL.Path == "/detokenize" {
		var text strings.Builder
		for _, id := range in.Tokens {
			text.WriteByte(byte(id))
		}
		out = map[string]any{"content": text.String()}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func TestTheTokenizerOfLlamaCpp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, calls := memnet.Listen(), 0
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request,
		) {
			calls++
			llamaTokens(w, r)
		})}
		go func() { _ = srv.Serve(l) }()
		tr := transport.New(transport.Config{Dial: l.Dial})
		tok := &Tokenizer{Server: Server{Transport: tr, URL: "http://engine"}, Model: "m"}
		for range 2 {
			ids, err := tok.Encode(t.Context(), "hi", false)
			if err != nil || !slices.Equal(ids, []int32{'h', 'i'}) {
				t.Errorf("tokens %v, %v", ids, err)
			}
		}
		if text, err := tok.Decode(t.Context(), []int32{'h', 'i'}); text != "hi" || err != nil {
			t.Errorf("text %q, %v", text, err)
		}
		if calls != 4 { // the other way of asking is tried once
			t.Errorf("%d calls, want 4", calls)
		}
		tr.Close()
		_ = srv.Shutdown(t.Context())
		_ = l.Close()
	})
}

func TestAServerWithoutATokenizerHasNoTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"tokens":[]}`)
		})}
		go func() { _ = srv.Serve(l) }()
		tr := transport.New(transport.Config{Dial: l.Dial})
		tok := &Tokenizer{Server: Server{Transport: tr, URL: "http://engine"}}
		ids, err := tok.Encode(t.Context(), "hi", false)
		_, noText := tok.Decode(t.Context(), ids)
		if len(ids) > 0 || err != nil || tok.content.Load() || noText == nil {
			t.Errorf("tokens %v, %v, %v", ids, err, noText)
		}
		tr.Close()
		_ = srv.Shutdown(t.Context())
		_ = l.Close()
	})
}

func TestTheVocabularyThatAServerTells(t *testing.T) {
	for text, want := range map[string]int{
		`{"id":"m","meta":{"vocab_type":1,"n_vocab":152064}}`: 152064,
		`{"id":"m","meta":{"n_vocab":-3}}`:                    0,
		`{"id":"m","meta":{"n_vocab":1e30}}`:                  0,
		`{"id":"m","meta":{"n_vocab":99999999}}`:              0,
		`{"id":"m","meta":{"n_vocab":"many"}}`:                0,
		`{"id":"m","meta":[1]}`:                               0,
		`{"id":"m","meta":null}`:                              0,
		`{"id":"m","meta":"x"}`:                               0,
		`{"id":"m"}`:                                          0,
	} {
		var m Model
		if err := json.Unmarshal([]byte(text), &m); err != nil || m.ID != "m" || m.Meta.Vocab != want {
			t.Errorf("%s: %+v, %v; want a vocabulary of %d", text, m, err, want)
		}
	}
}
