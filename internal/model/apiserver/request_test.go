package apiserver

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
)

func FuzzDecodeRequest(f *testing.F) {
	apis := []api{completionsAPI, chatAPI, generateAPI, responsesAPI, messagesAPI, tgiAPI, tritonAPI}
	for _, s := range []string{
		`{"model":"m","prompt":"a","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"prompt":[1,2,3],"stop":["a","b"],"min_tokens":"3","ignore_eos":1}`,
		`{"prompt":[["a"]],"n":null}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`,
		`{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":1e3,"logprobs":false}`,
		`{"text":"a","sampling_params":{"max_new_tokens":5,"stop":["x"],"no_stop_trim":true,"n":1},"stream":true,"rid":"r","lora_path":null}`,
		`{"input_ids":[1,2],"sampling_params":{"max_new_tokens":null},"image_data":["AAAA"],"return_logprob":false}`,
		`{"input":"a","max_output_tokens":3,"instructions":"b"}`, `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}]}`,
		`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"x"}],"max_tokens":3,"stop_sequences":["y"]}`,
		`{"inputs":"a","parameters":{"max_new_tokens":3,"stop":["y"],"details":true}}`, `{"text_input":"a","max_tokens":3,"min_length":3,"end_id":1048576}`,
		`{"prompt":"\ud800\\","prompt":7}`, `[[[[`, `{"":"\`, "\x00", `{"prompt":{"prompt":[]}}`,
	} {
		for i := range apis {
			f.Add([]byte(s), uint8(i))
		}
	}
	v := newVocabulary()
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		req, refused := decodeRequest(v, body, apis[int(which)%len(apis)])
		if refused != nil {
			if !json.Valid(refused.body()) || refused.Code != 400 || refused.Message == "" {
				t.Errorf("refusal %+v", refused)
			}
			return
		}
		if !json.Valid(body) {
			t.Errorf("%q is no JSON and was taken", body)
		}
		if len(req.prompt) == 0 || !req.fill && req.maxTokens < 1 || req.minTokens < 0 {
			t.Errorf("%q gives %+v", body, req)
		}
		for _, id := range req.prompt {
			if id < 0 {
				t.Errorf("%q gives token %d", body, id)
			}
		}
	})
}

// The words are those of pydantic 2.
func TestBooleans(t *testing.T) {
	for want, words := range map[bool][]string{
		true:  {`true`, `1`, `1.0`, `"1"`, `"true"`, `"True"`, `"T"`, `"yes"`, `"Y"`, `"ON"`},
		false: {`false`, `0`, `0.0`, `"0"`, `"False"`, `"f"`, `"no"`, `"N"`, `"off"`},
	} {
		for _, word := range words {
			var s schema
			got := !want
			if s.boolean("body.stream", gjson.Parse(word), &got); got != want || s.err() != nil {
				t.Errorf("%s is %v, %v", word, got, s.bad)
			}
		}
	}
	for _, word := range []string{`"maybe"`, `""`, `" true"`, `2`, `-1`, `[]`, `{}`} {
		var s schema
		if s.boolean("body.stream", gjson.Parse(word), new(bool)); s.err() == nil {
			t.Errorf("%s is taken", word)
		}
	}
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
