package endpoint

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

var (
	picture = workload.Media{MIME: "image/png", Data: []byte{1, 2, 3}}
	sound   = workload.Media{MIME: "audio/x-wav", Data: []byte{1, 2, 3}}
	film    = workload.Media{MIME: "video/mp4", URL: "http://h/f.mp4"}
)

// The bodies of requests, except those of completions and chats.
var bodies = []struct {
	name string
	opts Options
	req  workload.Request
	want string
}{
	{
		"generate",
		Options{
			Protocol: Generate, Model: "m", Stream: true, IgnoreEOS: true,
			Sampling: map[string]json.RawMessage{"temperature": rawJSON("0.0")},
		},
		workload.Request{Text: "a", OutputTokens: 5, Model: "lora"},
		`{"text":"a","stream":true,"lora_path":"lora","sampling_params":{"ignore_eos":true,"temperature":0.0,` +
			`"max_new_tokens":5}}`,
	},
	{
		"generate, ids and pictures",
		Options{Protocol: Generate, Extra: map[string]json.RawMessage{"lora_path": rawJSON("null")}},
		workload.Request{Tokens: []int32{3, 4}, Media: []workload.Media{picture, film}},
		`{"input_ids":[3,4],"stream":false,"lora_path":null,"sampling_params":{},` +
			`"image_data":["data:image/png;base64,AQID"],"video_data":["http://h/f.mp4"]}`,
	},
	{
		"sampling parameters of the run's stand alone",
		Options{
			Protocol: Generate, IgnoreEOS: true, Extra: map[string]json.RawMessage{"sampling_params": rawJSON(`{"n":1}`)},
		},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"text":"a","stream":false,"sampling_params":{"n":1}}`,
	},
	{
		"tgi",
		Options{Protocol: TGI, Stream: true, IgnoreEOS: true},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"inputs":"a","parameters":{"details":true,"ignore_eos_token":true,"max_new_tokens":5}}`,
	},
	{
		"trt",
		Options{Protocol: TRT, Stream: true, IgnoreEOS: true},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"text_input":"a","max_tokens":5,"stream":true,"min_length":5,"end_id":1048576}`,
	},
	{
		"trt, any length",
		Options{Protocol: TRT},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"text_input":"a","max_tokens":5,"stream":false}`,
	},
	{
		"truss",
		Options{Protocol: Truss, Model: "m"},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"model":"m","prompt":"a","max_tokens":5,"stream":false}`,
	},
	{
		"responses",
		Options{Protocol: Responses, Model: "m", Stream: true, IncludeUsage: true},
		workload.Request{Text: "a", OutputTokens: 5},
		`{"model":"m","input":"a","max_output_tokens":5,"stream":true}`,
	},
	{
		"responses with a picture",
		Options{Protocol: Responses, Model: "m"},
		workload.Request{Text: "a", Media: []workload.Media{picture}},
		`{"model":"m","stream":false,"input":[{"role":"user","content":[{"type":"input_text","text":"a"},` +
			`{"type":"input_image","image_url":"data:image/png;base64,AQID"}]}]}`,
	},
	{
		"messages",
		Options{Protocol: Messages, Model: "m", Stream: true},
		workload.Request{Text: "a"},
		`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":4096,"stream":true}`,
	},
	{
		"messages with the system's and pictures",
		Options{Protocol: Messages, Model: "m"},
		workload.Request{
			Messages: rawJSON(`[{"role":"system","content":"be brief"},{"role":"user","content":"a"}]`), OutputTokens: 5,
		},
		`{"model":"m","system":"be brief","messages":[{"role":"user","content":"a"}],"max_tokens":5,"stream":false}`,
	},
	{
		"messages with pictures",
		Options{Protocol: Messages, Model: "m"},
		workload.Request{Text: "a", Media: []workload.Media{picture, {URL: "http://h/p.png"}}, OutputTokens: 5},
		`{"model":"m","max_tokens":5,"stream":false,"messages":[{"role":"user","content":[{"type":"text","text":"a"},
		 {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},
		 {"type":"image","source":{"type":"url","url":"http://h/p.png"}}]}]}`,
	},
	{
		"media of all kinds",
		Options{Protocol: Chat, Model: "m", MediaFirst: true},
		workload.Request{
			Text: "a", Media: []workload.Media{picture, sound, film, {MIME: "audio/mpeg", URL: "http://h/s.mp3"}},
		},
		`{"model":"m","stream":false,"messages":[{"role":"user","content":[
		 {"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},
		 {"type":"input_audio","input_audio":{"data":"AQID","format":"wav"}},
		 {"type":"video_url","video_url":{"url":"http://h/f.mp4"}},
		 {"type":"audio_url","audio_url":{"url":"http://h/s.mp3"}},{"type":"text","text":"a"}]}]}`,
	},
	{
		"parts as given",
		Options{Protocol: Chat, Model: "m"},
		workload.Request{Parts: rawJSON(`[{"type":"text","text":"x"}]`)},
		`{"model":"m","stream":false,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
	},
	{
		"embeddings",
		Options{Protocol: Embeddings, Model: "m", Stream: true, IgnoreEOS: true},
		workload.Request{Text: "a", OutputTokens: 1},
		`{"model":"m","input":"a"}`,
	},
	{
		"embeddings of several",
		Options{Protocol: Embeddings, Model: "m", Extra: map[string]json.RawMessage{"truncate_prompt_tokens": rawJSON("-1")}},
		workload.Request{Batch: []string{"a", "b\""}},
		`{"model":"m","input":["a","b\""],"truncate_prompt_tokens":-1}`,
	},
	{
		"embeddings of ids",
		Options{Protocol: Embeddings, Model: "m"},
		workload.Request{Tokens: []int32{1, 2}},
		`{"model":"m","input":[1,2]}`,
	},
	{
		"pooling of a chat",
		Options{Protocol: Pooling, Model: "m", AsMessages: true, PartsAlways: true},
		workload.Request{Text: "a"},
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
	},
	{
		"rerank",
		Options{Protocol: Rerank, Model: "m"},
		workload.Request{Batch: []string{"q", "d1", "d2"}},
		`{"model":"m","query":"q","documents":["d1","d2"]}`,
	},
	{
		"text that comes later",
		Options{Protocol: Completions, Model: "m"},
		workload.Request{Later: func(r *workload.Request) error { r.Text = "late"; return nil }},
		`{"model":"m","prompt":"late","stream":false}`,
	},
}

func TestEncodeProtocols(t *testing.T) {
	for _, tt := range bodies {
		c, err := New(nil, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		body, err := c.Encode(&tt.req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got, want map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: %v in %s", tt.name, err, body)
		}
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestProtocolsRefuseWhatTheyCannotSay(t *testing.T) {
	messages, batch, ids := rawJSON(`[]`), []string{"a", "b"}, []int32{1}
	for _, tt := range []struct {
		p   Protocol
		req workload.Request
	}{
		{Generate, workload.Request{Messages: messages}},
		{Generate, workload.Request{Batch: batch}},
		{TGI, workload.Request{Tokens: ids}},
		{TGI, workload.Request{Media: []workload.Media{picture}}},
		{TRT, workload.Request{Tokens: ids}},
		{TRT, workload.Request{Batch: batch}},
		{Truss, workload.Request{Messages: messages}},
		{Chat, workload.Request{Batch: batch}},
		{Responses, workload.Request{Tokens: ids}},
		{Responses, workload.Request{Batch: batch}},
		{Responses, workload.Request{Parts: messages}},
		{Responses, workload.Request{Media: []workload.Media{sound}}},
		{Messages, workload.Request{Tokens: ids}},
		{Messages, workload.Request{Batch: batch}},
		{Messages, workload.Request{Parts: messages}},
		{Messages, workload.Request{Media: []workload.Media{film}}},
		{Messages, workload.Request{Messages: rawJSON(`{}`)}},
		{Rerank, workload.Request{Text: "a"}},
		{Rerank, workload.Request{Batch: []string{"query"}}},
		{Transcription, workload.Request{Text: "a"}},
		{Transcription, workload.Request{Media: []workload.Media{picture}}},
		{Transcription, workload.Request{Media: []workload.Media{sound, sound}}},
		{Completions, workload.Request{Later: func(*workload.Request) error { return errors.New("disk") }}},
	} {
		c, err := New(nil, Options{Protocol: tt.p})
		if err != nil {
			t.Fatal(err)
		}
		if body, err := c.Encode(&tt.req); err == nil {
			t.Errorf("%s: %+v was encoded: %s", tt.p, tt.req, body)
		}
	}
	if _, err := New(nil, Options{Protocol: "smtp"}); err == nil {
		t.Error("a protocol that is none was accepted")
	}
}

func TestTranscriptionIsAForm(t *testing.T) {
	wav := append([]byte("RIFF\x2c\x00\x00\x00WAVEfmt "+
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x80\x3e\x00\x00"),
		make([]byte, 16000)...)
	opts := Options{
		Protocol: Transcription, Model: "whisper", Stream: true, IncludeUsage: true, KeepText: true,
		Extra: map[string]json.RawMessage{
			"language": rawJSON(`"en"`), "response_format": rawJSON("null"), "temperature": rawJSON("0.5"),
		},
	}
	fields, name := map[string]string{}, ""
	got := send(t, opts, transport.Config{}, workload.Request{
		Media: []workload.Media{{MIME: "audio/wav", Data: wav}}, OutputTokens: 9,
	}, func(w http.ResponseWriter, r *http.Request) {
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			t.Error(err)
		}
		clear(fields)
		for form := multipart.NewReader(r.Body, params["boundary"]); ; {
			part, err := form.NextPart()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				break
			}
			value, _ := io.ReadAll(part)
			if part.FormName() == "file" {
				name = part.FileName() + " " + part.Header.Get("Content-Type")
			}
			fields[part.FormName()] = string(value)
		}
		stream("data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}]}\n\n",
			"data: {\"choices\":[{\"delta\":{\"content\":\" be it\"},\"finish_reason\":\"stop\"}]}\n\n", counted, end)(w, r)
	})
	want := map[string]string{
		"file": string(wav), "model": "whisper", "stream": "true", "stream_include_usage": "true", "language": "en",
		"temperature": "0.5", "max_completion_tokens": "9",
	}
	if diff := cmp.Diff(want, fields); diff != "" || name != "audio.wav audio/wav" {
		t.Errorf("%s %s", name, diff)
	}
	if !got.OK() || got.Text != "so be it" || got.OutputTokens != 3 || got.AudioSeconds != 1 {
		t.Errorf("%+v", got)
	}
}

// Headers of a protocol, of the run and of the request, the later over the former.
func TestHeaders(t *testing.T) {
	c, err := New(nil, Options{
		Protocol: Messages, Header: http.Header{"Authorization": {"Bearer k"}, "X-A": {"run"}, "X-B": {"run"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := c.headerFields(map[string]string{"x-b": "request"})
	want := http.Header{
		"Authorization": {"Bearer k"}, "X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"},
		"Content-Type": {"application/json"},
		"X-A":          {"run"}, "X-B": {"request"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPaths(t *testing.T) {
	seen := map[string]Protocol{}
	for _, p := range Protocols() {
		path := p.Path()
		if !strings.HasPrefix(path, "/") || seen[path] != "" {
			t.Errorf("%s is at %q, as is %q", p, path, seen[path])
		}
		seen[path] = p
	}
	if TGI.PathOf(false) != "/generate" || Protocol("smtp").Path() != "" {
		t.Error(TGI.PathOf(false), Protocol("smtp").Path())
	}
}
