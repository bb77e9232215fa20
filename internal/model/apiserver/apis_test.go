package apiserver

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// upload is a form with a sound, and its content type.
func upload(sound []byte, fields ...string) (body, contentType string) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	_ = form.SetBoundary("x")
	if sound != nil {
		part, _ := form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="a.wav"`}})
		_, _ = part.Write(sound)
	}
	for i := 0; i < len(fields); i += 2 {
		_ = form.WriteField(fields[i], fields[i+1])
	}
	_ = form.Close()
	return b.String(), form.FormDataContentType()
}

// wav is silence of so many milliseconds: 16 bits, 8 kHz.
func wav(milliseconds int) []byte {
	data := make([]byte, 16*milliseconds)
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data")
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
}

// What each API says, streamed and not, in words that a client depends on.
func TestAPIs(t *testing.T) {
	spoken, form := upload(wav(1000), "model", "pitot", "max_completion_tokens", "3", "stream", "True",
		"stream_include_usage", "True", "ignore_eos", "true")
	written, _ := upload(wav(1000), "max_completion_tokens", "3", "ignore_eos", "true")
	var out strings.Builder
	for _, test := range []struct{ path, body, contentType string }{
		{"/v1/responses", `{"input":"abc","max_output_tokens":3,"stream":true,"ignore_eos":true}`, ""},
		{
			"/v1/responses",
			`{"input":[{"role":"user","content":[{"type":"input_text","text":"abc"}]}],"instructions":"be brief",` +
				`"max_output_tokens":3,"ignore_eos":true}`, "",
		},
		{
			"/v1/messages",
			`{"model":"pitot","messages":[{"role":"user","content":"abc"}],"max_tokens":3,"stream":true,"ignore_eos":true}`, "",
		},
		{
			"/v1/messages",
			`{"model":"pitot","system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"abc"}],` +
				`"max_tokens":3,"ignore_eos":true}`, "",
		},
		{"/generate_stream", `{"inputs":"abc","parameters":{"max_new_tokens":3,"details":true,"ignore_eos_token":true}}`, ""},
		{"/generate", `{"inputs":"abc","parameters":{"max_new_tokens":3,"details":true,"ignore_eos_token":true}}`, ""},
		{
			"/v2/models/ensemble/generate_stream",
			`{"text_input":"abc","max_tokens":3,"stream":true,"min_length":3,"end_id":1048576}`, "",
		},
		{"/v2/models/ensemble/generate", `{"text_input":"abc","max_tokens":3,"end_id":1048576}`, ""},
		{"/v1/models/model:predict", `{"prompt":"abc","max_tokens":2,"stream":true,"ignore_eos":true}`, ""},
		{"/v1/embeddings", `{"input":["abc","abd"],"dimensions":3}`, ""},
		{"/v1/embeddings", `{"input":[1,2,3],"dimensions":2,"encoding_format":"base64"}`, ""},
		{"/v1/embeddings", `{"messages":[{"role":"user","content":"abc"}],"dimensions":2,"truncate_prompt_tokens":-1}`, ""},
		{"/pooling", `{"input":"abc","dimensions":2}`, ""},
		{"/v1/rerank", `{"query":"q","documents":["one","two","three"],"top_n":2}`, ""},
		{"/v1/audio/transcriptions", spoken, form},
		{"/v1/audio/transcriptions", written, form},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, constantConfig())
			header := []string{"x-request-id", "w"}
			if test.contentType != "" {
				header = append(header, "Content-Type", test.contentType)
			}
			status, text := r.whole("POST", test.path, test.body, header...)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s", test.path, status, text)
			}
			shown := test.body
			if test.contentType != "" {
				shown = "(a form)"
			}
			fmt.Fprintf(&out, "POST %s %s\nafter %v\n%s\n\n", test.path, shown, time.Since(r.start), text)
		})
	}
	golden.Check(t, "testdata/apis.txt", out.String())
}

// The engine reads the input of an embedding, and writes nothing: the answer is there when the
// first token would be, that of the slowest text.
func TestPoolingIsPrefill(t *testing.T) {
	for body, want := range map[string]struct {
		took   time.Duration
		prompt int64
	}{
		`{"input":"abcdef"}`:             {20 * ms, 2},
		`{"input":["abcdef","abcdef"]}`:  {20 * ms, 4},
		`{"input":[[1,2,3],[4]]}`:        {20 * ms, 4},
		`{"input":[],"messages":null}`:   {0, 0},
		`{"input":"a","dimensions":0}`:   {0, 0},
		`{"input":7}`:                    {0, 0},
		`{}`:                             {0, 0},
		`{"input":"a","model":"nobody"}`: {0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, constantConfig())
			status, text := r.whole("POST", "/v1/embeddings", body)
			prompt := gjson.Get(text, "usage.prompt_tokens").Int()
			if ok := status == http.StatusOK; ok != (want.prompt > 0) || time.Since(r.start) != want.took ||
				prompt != want.prompt {
				t.Errorf("%s: %d after %v: %s", body, status, time.Since(r.start), text)
			}
		})
	}
}

// Vectors are the same in all encodings, and tell texts apart.
func TestVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, constantConfig())
		ask := func(text, encoding string) string {
			_, answer := r.whole("POST", "/v1/embeddings", `{"input":"`+text+`","encoding_format":"`+encoding+`"}`)
			return answer
		}
		var plain []float32
		for _, v := range gjson.Get(ask("abc", "float"), "data.0.embedding").Array() {
			plain = append(plain, float32(v.Num))
		}
		coded, _ := base64.StdEncoding.DecodeString(gjson.Get(ask("abc", "base64"), "data.0.embedding").Str)
		length := 0.0
		for i, v := range plain {
			if got := math.Float32frombits(binary.LittleEndian.Uint32(coded[4*i:])); got != v {
				t.Fatalf("number %d is %v and %v", i, v, got)
			}
			length += float64(v) * float64(v)
		}
		if len(plain) != 384 || len(coded) != 4*384 || math.Abs(math.Sqrt(length)-1) > 0.2 {
			t.Errorf("%d numbers, %d bytes, length %v", len(plain), len(coded), math.Sqrt(length))
		}
		if packed := ask("abc", "bytes"); packed != string(coded) {
			t.Errorf("%d bytes differ", len(packed))
		}
		if ask("abd", "float") == ask("abc", "float") {
			t.Error("two texts have one vector")
		}
		resp, err := r.do(t.Context(), "POST", "/v1/embeddings", `{"input":"abc","encoding_format":"bytes"}`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if n := gjson.Get(resp.Header.Get("metadata"), "usage.prompt_tokens").Int(); n != 1 {
			t.Errorf("metadata %q", resp.Header.Get("metadata"))
		}
	})
}

func TestLongTextsArePooledWhenCut(t *testing.T) {
	cfg := constantConfig()
	cfg.MaxModelLen = 8
	for body, status := range map[string]int{
		`{"input":[1,2,3,4,5,6,7]}`:                                  200,
		`{"input":[1,2,3,4,5,6,7,8]}`:                                400,
		`{"input":[1,2,3,4,5,6,7,8],"truncate_prompt_tokens":-1}`:    200,
		`{"input":[[1],[1,2,3,4,5,6,7,8]]}`:                          400,
		`{"input":[[1],[1,2,3,4,5,6,7,8]],"encoding_format":"bits"}`: 400,
	} {
		synctest.Test(t, func(t *testing.T) {
			if got, text := newRig(t, cfg).whole("POST", "/v1/embeddings", body); got != status {
				t.Errorf("%s: %d %s", body, got, text)
			}
		})
	}
}

// Refusals are in the words of the API.
func TestRefusalsOfAPIs(t *testing.T) {
	noSound, form := upload(nil, "model", "pitot")
	odd, _ := upload(wav(10), "response_format", "vtt")
	for _, test := range []struct {
		path, body, contentType string
		status                  int
		at                      string // where the message is
	}{
		{"/v1/responses", `{"max_output_tokens":3}`, "", 400, "error.message"},
		{"/v1/responses", `{"input":[],"max_output_tokens":3}`, "", 400, "error.message"},
		{"/v1/responses", `{"input":"a","max_output_tokens":0}`, "", 400, "error.message"},
		{"/v1/messages", `{"messages":[{"role":"user","content":"abc"}]}`, "", 400, "error.message"},
		{
			"/v1/messages", `{"model":"nobody","messages":[{"role":"user","content":"abc"}],"max_tokens":3}`, "", 404,
			"error.message",
		},
		{
			"/v1/messages",
			`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://h/p.png"}}]}],` +
				`"max_tokens":3}`, "", 400, "error.message",
		},
		{"/generate_stream", `{"inputs":""}`, "", 422, "error"},
		{"/generate_stream", `{"inputs":"a","parameters":{"max_new_tokens":0}}`, "", 422, "error"},
		{"/v2/models/ensemble/generate_stream", `{"max_tokens":3}`, "", 400, "error"},
		{"/v1/rerank", `{"query":"a","documents":[]}`, "", 400, "error.message"},
		{"/v1/rerank", `{"documents":["a"]}`, "", 400, "error.message"},
		{"/v1/rerank", `{"query":"a","documents":"b"}`, "", 400, "error.message"},
		{"/v1/audio/transcriptions", `{}`, "", 400, "error.message"},
		{"/v1/audio/transcriptions", noSound, form, 400, "error.message"},
		{"/v1/audio/transcriptions", odd, form, 400, "error.message"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var header []string
			if test.contentType != "" {
				header = []string{"Content-Type", test.contentType}
			}
			status, text := newRig(t, constantConfig()).whole("POST", test.path, test.body, header...)
			if status != test.status || gjson.Get(text, test.at).Str == "" {
				t.Errorf("%s %s: %d %s", test.path, test.body, status, text)
			}
			if strings.HasPrefix(test.path, "/v1/messages") && gjson.Get(text, "type").Str != "error" {
				t.Errorf("%s: %s", test.path, text)
			}
		})
	}
}

// Faults that strike a stream strike those of all APIs, in their words.
func TestFaultsOfAPIs(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/responses": `{"input":"abc","max_output_tokens":5,"stream":true,"ignore_eos":true}`,
		"/v1/messages": `{"messages":[{"role":"user","content":"abc"}],"max_tokens":5,` +
			`"stream":true,"ignore_eos":true}`,
		"/generate_stream":                    `{"inputs":"abc","parameters":{"max_new_tokens":5,"ignore_eos_token":true}}`,
		"/v2/models/ensemble/generate_stream": `{"text_input":"abc","max_tokens":5,"stream":true,"end_id":1048576}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := constantConfig()
			cfg.Faults = []Fault{mustFault(t, "stream-error=1@2")}
			events, err := newRig(t, cfg).stream(path, body)
			if err != nil {
				t.Fatal(err)
			}
			last := events[len(events)-1].data
			if !json.Valid([]byte(last)) || !strings.Contains(last, `error"`) || strings.Contains(last, "text_output") {
				t.Errorf("%s ends with %s", path, last)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := constantConfig()
		cfg.Faults = []Fault{mustFault(t, "http-503=1")}
		if status, text := newRig(t, cfg).whole("POST", "/v1/embeddings", `{"input":"a"}`); status != 503 {
			t.Errorf("%d %s", status, text)
		}
	})
}

func TestReadSound(t *testing.T) {
	for _, test := range []struct {
		data    []byte
		seconds float64
		tokens  int
	}{
		{wav(1000), 1, 25},
		{wav(1010), 1.01, 26},
		{make([]byte, 32000), 2, 50},
		{[]byte("RIFF\x00\x00\x00\x00WAVEfmt \xff\xff\xff\xff"), 20.0 / packedSound, 1},
	} {
		media, seconds := readSound(test.data)
		if seconds != test.seconds || media.Tokens != test.tokens {
			t.Errorf("%d bytes: %v s, %d tokens", len(test.data), seconds, media.Tokens)
		}
	}
	one, _ := readSound(wav(1))
	two, _ := readSound(wav(2))
	if diff := cmp.Diff(one.Hash, two.Hash); diff == "" {
		t.Error("two sounds are one")
	}
}

func TestResetPrefixCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newScripted(t, constantConfig())
		if status, text := r.whole("POST", "/reset_prefix_cache", ""); status != http.StatusOK || text != "" ||
			m.flushed != 1 {
			t.Errorf("%d %q, flushed %d times", status, text, m.flushed)
		}
	})
}
