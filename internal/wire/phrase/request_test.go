package phrase

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// A request is read in full, or refused in the words of its protocol.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","prompt":"a","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"prompt":[1,2,3],"stop":["a","b"],"min_tokens":"3","ignore_eos":1}`,
		`{"prompt":[["a"]],"n":null}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`,
		`{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":1e3,"logprobs":false}`,
		`{"text":"a","sampling_params":{"max_new_tokens":5,"stop":["x"],"no_stop_trim":true,"n":1},"stream":true,` +
			`"rid":"r","lora_path":null}`,
		`{"input_ids":[1,2],"sampling_params":{"max_new_tokens":null},"image_data":["AAAA"],"return_logprob":false}`,
		`{"input":"a","max_output_tokens":3,"instructions":"b"}`,
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}]}`,
		`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"x"}],"max_tokens":3,` +
			`"stop_sequences":["y"]}`,
		`{"inputs":"a","parameters":{"max_new_tokens":3,"stop":["y"],"details":true}}`,
		`{"text_input":"a","max_tokens":3,"min_length":3,"end_id":1048576}`,
		`{"prompt":"\ud800\\","prompt":7}`, `[[[[`, `{"":"\`, "\x00", `{"prompt":{"prompt":[]}}`,
		`{"input":"a"}`, `{"input":["a","b"]}`, `{"input":[1,2]}`, `{"input":[[1],[2,3]],"dimensions":4}`,
		`{"input":[["a"]]}`,
		`{"query":"q","documents":["a",{"text":"b"},3],"top_n":1}`, `{"messages":[{"role":"user","content":"x"}]}`,
		`{"input":null}`, `[]`,
	} {
		for i := range protocols {
			f.Add([]byte(s), uint8(i))
		}
	}
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nRIFF\r\n--x--\r\n"), uint8(7))
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		p := protocols[int(which)%len(protocols)]
		req, refused := Read(p.Routes[0], "multipart/form-data; boundary=x", body)
		if refused != nil {
			if b := req.Protocol.Refuse(refused, req.Stream).Body; !bytes.HasPrefix(b, []byte("data: ")) && !json.Valid(b) ||
				refused.Code != 400 || refused.Message == "" {
				t.Errorf("refusal %+v", refused)
			}
			return
		}
		if !p.Form && !json.Valid(body) {
			t.Errorf("%q is no JSON and was taken", body)
		}
		prompts := []Prompt{req.Prompt}
		switch {
		case req.Texts != nil && req.Texts.Query != "":
			prompts = nil
			for _, text := range req.Texts.Documents {
				prompts = append(prompts, Prompt{Text: req.Texts.Query + text})
			}
		case req.Texts != nil:
			prompts = req.Texts.Inputs
		}
		for _, prompt := range prompts {
			if prompt.empty() && len(req.Media) == 0 || slices.ContainsFunc(prompt.IDs, func(id int32) bool { return id < 0 }) {
				t.Errorf("%q gives the prompt %+v", body, prompt)
			}
		}
		if len(prompts) == 0 || !req.Fill && req.MaxTokens < 1 || req.MinTokens < 0 {
			t.Errorf("%q gives %+v", body, req)
		}
	})
}

// What a request asks for, in plain values, and why it is refused.
func TestRead(t *testing.T) {
	var out bytes.Buffer
	zeros := regexp.MustCompile(`"\w+":(null|0|""|false),?`)
	for _, ask := range [][2]string{
		{"/v1/completions", `{"model":"m","prompt":"a b","stream":true,"stream_options":{"continuous_usage_stats":true}}`},
		{
			"/v1/completions",
			`{"prompt":[[1, 2]],"max_tokens":"5","min_tokens":2,"stop":["x","y"],"include_stop_str_in_output":true,` +
				`"request_id":"r","logprobs":3}`,
		},
		{"/v1/completions", `{"prompt":["a","b"],"n":2}`},
		{"/v1/completions", `{"prompt":[1,-2],"max_tokens":1.5,"stream":"maybe"}`},
		{"/v1/models/model:predict", `{"prompt":"a","stream_options":{"include_usage":true}}`},
		{
			"/v1/chat/completions",
			`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},` +
				`{"type":"image_url","image_url":{"url":"data:,"}},"b"]}],"max_tokens":9,"max_completion_tokens":3}`,
		},
		{
			"/v1/chat/completions",
			`{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAA="}}]}],"ignore_eos":true}`,
		},
		{"/v1/chat/completions", `{"messages":[{"content":5},"x"]}`},
		{
			"/v1/responses",
			`{"input":[{"role":"user","content":"a"},{"type":"reasoning"}],"instructions":"i","max_output_tokens":3,` +
				`"background":true}`,
		},
		{
			"/v1/messages",
			`{"system":[{"text":"s"},{"text":"t"}],"messages":[{"role":"user","content":[{"type":"image",` +
				`"source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}],"max_tokens":3,"stop_sequences":["x"]}`,
		},
		{"/v1/messages", `{"messages":[{"role":"user","content":"a"}]}`},
		{
			"/generate",
			`{"input_ids":[1,2],"sampling_params":{"max_new_tokens":null,"no_stop_trim":true,"stop":"x"},` +
				`"image_data":"AAAA","lora_path":"l","rid":"r","stream":true}`,
		},
		{"/generate", `{"text":"a","input_ids":[1],"stream":true}`},
		{"/generate", `{"inputs":"a","parameters":{"max_new_tokens":3,"details":true,"adapter_id":"l"}}`},
		{"/generate_stream", `{"inputs":"","parameters":{"best_of":2}}`},
		{
			"/v2/models/ensemble/generate_stream",
			`{"text_input":"a","max_tokens":3,"min_length":3,"end_id":1048576,"stop_words":"x"}`,
		},
		{"/v1/embeddings", `{"input":["a",[1,2]],"dimensions":3,"encoding_format":"base64","truncate_prompt_tokens":-1}`},
		{"/pooling", `{"messages":[{"role":"user","content":"a"}],"dimensions":0}`},
		{"/v1/rerank", `{"query":"q","documents":["a",{"text":"b"}],"top_n":1}`},
		{
			"/v1/audio/transcriptions",
			"--x\r\nContent-Disposition: form-data; name=file\r\n\r\nRIFF\r\n--x\r\n" +
				"Content-Disposition: form-data; name=stream\r\n\r\nTrue\r\n--x--\r\n",
		},
		{"/v1/audio/transcriptions", "--x\r\nContent-Disposition: form-data; name=response_format\r\n\r\nvtt\r\n--x--\r\n"},
	} {
		q, refused := Read(ask[0], "multipart/form-data; boundary=x", []byte(ask[1]))
		fmt.Fprintf(&out, "%s %s\n%s", ask[0], ask[1], q.Protocol.Name)
		if refused != nil {
			fmt.Fprintf(&out, " refuses it: %s", refused.Body())
		}
		plain := *q
		plain.Protocol = nil
		fmt.Fprintf(&out, "\n%s\n\n", zeros.ReplaceAll(marshal(plain), nil))
	}
	golden.Check(t, "testdata/requests.txt", out.String())
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

// A body of many values takes many times its length in memory; not every invalid value is reported.
func TestABodyOfManyValuesIsRefused(t *testing.T) {
	repeat := func(value string, n int) string { return strings.Repeat(value+",", n) + value }
	for name, tt := range map[string]struct {
		route, body string
		want        int
	}{
		"messages": {
			"/v1/chat/completions", `{"messages":[` + repeat("{}", mostValues+1) + `]}`, http.StatusRequestEntityTooLarge,
		},
		"texts": {"/v1/embeddings", `{"input":[` + repeat(`"a"`, mostValues+1) + `]}`, http.StatusRequestEntityTooLarge},
		"nulls": {
			"/v1/completions", `{"prompt":[` + repeat(" null", mostValues+1) + `]}`, http.StatusRequestEntityTooLarge,
		},
		"fractions": {"/v1/completions", `{"prompt":[` + repeat("1.0", mostLoose/2) + `]}`, http.StatusBadRequest},
		"misfits":   {"/v1/chat/completions", `{"messages":[` + repeat("{}", mostValues/2) + `]}`, http.StatusBadRequest},
		"ids":       {"/v1/completions", `{"prompt":[` + repeat("1", 2*mostValues) + `],"max_tokens":1}`, 0},
		"commas":    {"/v1/completions", `{"prompt":"` + repeat(`\"a`, 2*mostValues) + `","max_tokens":1}`, 0},
	} {
		_, err := Read(tt.route, JSON, []byte(tt.body))
		got := 0
		if err != nil {
			got = err.Code
			if n := len(err.Body()); n > 1<<20 {
				t.Errorf("%s: an answer of %d bytes", name, n)
			}
		}
		if got != tt.want {
			t.Errorf("%s: status %d, want %d: %.200v", name, got, tt.want, err)
		}
	}
}
