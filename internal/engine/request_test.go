package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzDecodeRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","prompt":"a","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"prompt":[1,2,3],"stop":["a","b"],"min_tokens":"3","ignore_eos":1}`,
		`{"prompt":[["a"]],"n":null}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`,
		`{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":1e3,"logprobs":false}`,
		`{"prompt":"\ud800\\","prompt":7}`, `[[[[`, `{"":"\`, "\x00", `{"prompt":{"prompt":[]}}`,
	} {
		f.Add([]byte(s), strings.Contains(s, "messages"))
	}
	v := newVocabulary()
	f.Fuzz(func(t *testing.T, body []byte, chat bool) {
		req, refused := decodeRequest(v, body, chat)
		if refused != nil {
			if !json.Valid(refused.body()) || refused.Code != 400 || refused.Message == "" {
				t.Errorf("refusal %+v", refused)
			}
			return
		}
		if !json.Valid(body) {
			t.Errorf("%q is no JSON and was taken", body)
		}
		if len(req.prompt) == 0 || req.maxTokens < 1 || req.minTokens < 0 {
			t.Errorf("%q gives %+v", body, req)
		}
		for _, id := range req.prompt {
			if id < 0 {
				t.Errorf("%q gives token %d", body, id)
			}
		}
	})
}

func TestNesting(t *testing.T) {
	for _, test := range []struct {
		body string
		deep bool
	}{
		{`{"a":[[1]]}`, false},
		{`{"a":[[[1]]]}`, true},
		{`{"a":"[[[[[["}`, false},
		{`{"a":"\"[[[[[","b":"\\"}`, false},
		{`["\\",[[[`, true},
		{`"[[[[[[`, false},
		{`[][][][][][]`, false},
	} {
		if got := nestedDeeper([]byte(test.body), 3); got != test.deep {
			t.Errorf("%s: %v", test.body, got)
		}
	}
}
