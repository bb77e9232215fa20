package vllm

import (
	"encoding/json"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// A Sending is what becomes of requests on their way into the tool's bodies.
type Sending struct {
	// Backend is the tool's name of how requests are written. It matters of images: some
	// have ways of their own for them.
	Backend string `json:"backend,omitempty"`
	// Limit is the field of the body that bounds an answer, where an output length of 0
	// is sent like any other; empty: it is left to the server.
	Limit string `json:"limit,omitempty"`
	// Uncounted takes every prompt for one token.
	Uncounted bool `json:"uncounted,omitempty"`
}

// SendAs sets it.
func (f *Sending) SendAs(s Sending) { *f = s }

// SendAs sets it. Prompts that nothing counts are not rendered.
func (c *Common) SendAs(s Sending) {
	c.Sending, c.SkipTemplate = s, c.SkipTemplate || s.Uncounted
}

// send makes the requests of a workload such as they are sent.
func (f *Sending) send(w *workload.Workload) {
	w.Amend(func(_ int, r *workload.Request) {
		if f.Uncounted {
			r.PromptTokens = 1
			r.Amend(func(whole *workload.Request) { whole.PromptTokens = 1 })
		}
		if r.OutputTokens == 0 && f.Limit != "" && r.Extra[f.Limit] == nil {
			r.Set(f.Limit, json.RawMessage("0"))
		}
		if len(r.Media) > 0 && f.shapes() {
			r.Amend(f.shape)
		}
	})
}

// How backends send an image: without its text, first and with an instruction, or as the
// input itself.
func (f *Sending) clip() bool     { return strings.HasSuffix(f.Backend, "-clip") }
func (f *Sending) vlm2vec() bool  { return strings.HasSuffix(f.Backend, "-vlm2vec") }
func (f *Sending) infinity() bool { return strings.HasPrefix(f.Backend, "infinity-") }

func (f *Sending) shapes() bool { return f.clip() || f.vlm2vec() || f.infinity() }

// shape settles what goes with an image.
func (f *Sending) shape(r *workload.Request) {
	switch {
	case f.clip():
		r.Text = ""
	case f.vlm2vec() && odd(r.ID):
		r.Text = "Represent the given image with the following question: " + r.Text
	case f.vlm2vec():
		r.Text = "Represent the given image."
	}
	if f.infinity() && r.Text == "" {
		kind := "image"
		if k, _, ok := strings.Cut(r.Media[0].MIME, "/"); ok {
			kind = k
		}
		r.Extra = map[string]json.RawMessage{"input": python.AppendString(nil, r.Media[0].Address()), "modality": python.AppendString(nil, kind)}
	}
	if f.infinity() {
		r.Media = nil
	}
}

// odd tells whether an id ends with an odd number.
func odd(id string) bool {
	last := id[max(0, len(id)-1):]
	return last != "" && strings.Contains("13579", last)
}
