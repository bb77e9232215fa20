package vllm

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// What goes with a picture differs, and is the same for requests that are spooled.
func TestPicturesOfBackends(t *testing.T) {
	picture := []workload.Media{{MIME: "image/png", Data: []byte{1, 2, 3}}}
	for _, tt := range []struct {
		backend, id string
		text        string
		extra       string
		media       int
	}{
		{"openai-embeddings-chat", "x-1", "what is it", "", 1},
		{"openai-embeddings-clip", "x-1", "", "", 1},
		{"openai-embeddings-vlm2vec", "x-11", "Represent the given image with the following question: what is it", "", 1},
		{"openai-embeddings-vlm2vec", "x-12", "Represent the given image.", "", 1},
		{"openai-embeddings-vlm2vec", "", "Represent the given image.", "", 1},
		{"infinity-embeddings", "x-1", "what is it", "", 0},
		{"infinity-embeddings-clip", "x-1", "", `{"input":"data:image/png;base64,AQID","modality":"image"}`, 0},
	} {
		for _, spooled := range []bool{false, true} {
			r := workload.Request{ID: tt.id, Text: "what is it", Media: slices.Clone(picture)}
			if spooled {
				r.Text, r.Media = "", make([]workload.Media, 1)
				r.Later = func(q *workload.Request) error {
					q.Text, q.Media = "what is it", slices.Clone(picture)
					return nil
				}
			}
			w := workload.Workload{Requests: []workload.Request{r}}
			f := &Sending{Backend: tt.backend}
			f.send(&w)
			got, err := w.Requests[0].Unspooled()
			if err != nil {
				t.Fatal(err)
			}
			extra := ""
			if got.Extra != nil {
				b, _ := json.Marshal(got.Extra)
				extra = string(b)
			}
			if got.Text != tt.text || extra != tt.extra || len(got.Media) != tt.media {
				t.Errorf("%s %s, spooled %v: text %q, extra %s, %d media", tt.backend, tt.id, spooled, got.Text, extra, len(got.Media))
			}
		}
	}
}

// An output length of 0 is sent like any other, and a prompt that nothing counts is one
// token.
func TestLengthsAsTheyAreSent(t *testing.T) {
	w := workload.Workload{Requests: []workload.Request{{Text: "a", OutputTokens: 3}, {Text: "b"}}}
	f := &Sending{Limit: "max_tokens"}
	f.send(&w)
	want := []workload.Request{{Text: "a", OutputTokens: 3}, {Text: "b", Extra: map[string]json.RawMessage{"max_tokens": json.RawMessage("0")}}}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
	w = workload.Workload{Requests: []workload.Request{{Text: "a"}}}
	f = &Sending{Uncounted: true}
	f.send(&w)
	if r := w.Requests[0]; r.Extra != nil || r.PromptTokens != 1 {
		t.Errorf("%+v", r)
	}
}
