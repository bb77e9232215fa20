package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// bench runs `pitot bench` in virtual time against an engine whose first token takes
// 50 ms and every other 10 ms, with the tokenizer of its server.
func benchmark(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t, append([]string{"bench", "-q", "-n", "20", "--rate", "10", "--arrival", "constant", "--engine-ttft", "50ms", "--engine-itl", "10ms"}, args...)...)
		v.Args = v.Args[:len(v.Args)-2] // the server's tokenizer
		code = Run(v.Session)
		stdout, stderr = v.stdout.String(), v.stderr.String()
	})
	return code, stdout, stderr
}

// Every protocol gives the same engine the same figures.
func TestBenchSpeaksAllProtocols(t *testing.T) {
	race.Skip(t)
	for _, protocol := range []string{"completions", "chat", "responses", "messages", "generate", "tgi", "trt", "truss"} {
		code, out, errs := benchmark(t, "--protocol", protocol, "--input-len", "40", "--output-len", "5", "--report", "json")
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", protocol, code, errs)
		}
		var s metrics.Summary
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		if s.Requests.OK != 20 || s.Tokens.Output != 100 || s.Tokens.Input < 800 {
			t.Errorf("%s: %+v %+v", protocol, s.Requests, s.Tokens)
		}
		if math.Abs(s.Service.TTFT.Mean-.05) > 1e-9 || math.Abs(s.Service.ITL.Max-.01) > 1e-9 || math.Abs(s.Service.E2EL.Mean-.09) > 1e-9 {
			t.Errorf("%s: TTFT %v, ITL %v, E2EL %v", protocol, s.Service.TTFT.Mean, s.Service.ITL.Max, s.Service.E2EL.Mean)
		}
	}
}

// What has no text has a report without rows about it.
func TestReportsOfRunsWithoutText(t *testing.T) {
	race.Skip(t)
	for _, test := range []struct {
		args  []string
		lines []string
	}{
		{[]string{"--protocol", "embeddings", "--input-len", "40"}, []string{"load    random 40 tokens", "texts       20 ", "embeddings, not streamed"}},
		{[]string{"--protocol", "pooling", "--input-len", "40", "--texts", "3"}, []string{"load    random 3 × 40 tokens", "texts       60 ", "input       2400 tokens"}},
		{[]string{"--protocol", "rerank", "--input-len", "40", "--texts", "3"}, []string{"load    random query and 3 × 40 tokens", "texts       60 "}},
	} {
		code, out, errs := benchmark(t, append(test.args, "--all")...)
		if code != exitOK {
			t.Fatalf("%v: exit code %d: %s", test.args, code, errs)
		}
		for _, line := range append(test.lines, "requests    20 ok, 0 failed", "  E2EL          50.00") {
			if !strings.Contains(out, line) {
				t.Errorf("%v: no %q in\n%s", test.args, line, out)
			}
		}
		for _, row := range []string{"TTFT", "TPOT", "ITL", "output", " –", "chunks", "nobody counted"} {
			if strings.Contains(out, row) {
				t.Errorf("%v: %q in\n%s", test.args, row, out)
			}
		}
	}
}

func TestTranscriptionsAndRankings(t *testing.T) {
	dir := t.TempDir()
	sounds, texts := filepath.Join(dir, "sounds.jsonl"), filepath.Join(dir, "texts.jsonl")
	wav := "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x80\x3e\x00\x00" + strings.Repeat("\x00", 16000)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(sounds, fmt.Sprintf("{\"audio\": %q, \"output_tokens\": 5}\n", base64.StdEncoding.EncodeToString([]byte(wav))))
	write(texts, `{"query": "q", "documents": ["one", "two"]}`+"\n")
	code, out, errs := benchmark(t, "--all", "--protocol", "transcription", "--workload", "custom", "--data", sounds, "--ignore-eos")
	for _, line := range []string{"transcription, streamed", "output      100 tokens", "audio       20.0 s", "  TTFT          50.00", "  E2EL          90.00"} {
		if code != exitOK || !strings.Contains(out, line) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, line, out, errs)
		}
	}
	code, out, errs = benchmark(t, "--all", "--protocol", "rerank", "--workload", "custom", "--data", texts)
	if code != exitOK || !strings.Contains(out, "texts       40 ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// What a protocol cannot say is told before anything is sent, with who can.
func TestWorkloadsThatAProtocolCannotSay(t *testing.T) {
	race.Skip(t)
	chats := filepath.Join(t.TempDir(), "chats.jsonl")
	if err := os.WriteFile(chats, []byte(`{"messages": [{"role": "user", "content": "hello"}], "output_tokens": 5}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--protocol", "tgi", "--tokenizer", "none"}, "the protocol tgi takes no token ids here"},
		{[]string{"--protocol", "rerank", "--tokenizer", "none"}, "the protocol rerank takes no token ids here"},
		{[]string{"--protocol", "tgi", "--workload", "random-mm"}, "--workload: images need the protocol chat"},
		{[]string{"--protocol", "transcription"}, "audio is needed for the protocol transcription"},
		{[]string{"--protocol", "rerank", "--workload", "custom", "--data", chats}, "--data: request 1, with the protocol rerank: it holds no query with documents"},
		{[]string{"--protocol", "generate", "--workload", "custom", "--data", chats}, "it holds a list of messages, which only these protocols can say: chat, embeddings, messages, pooling, responses"},
		{[]string{"--protocol", "embeddings", "--workload", "chat"}, "a conversation goes on from answers"},
		{[]string{"--protocol", "embeddings", "--slo", "ttft=1s"}, "--slo ttft: without a stream there is only e2el"},
		{[]string{"--protocol", "embeddings", "--output-len", "5"}, "--output-len: only applies to text"},
		{[]string{"--texts", "5"}, "--texts: only applies to the protocols embeddings"},
		{[]string{"--protocol", "rerank", "--texts", "0"}, "--texts 0: must be at least 1"},
		{[]string{"--protocol", "generate", "--body", `{"sampling_params": 3}`}, "--body: sampling_params must be an object"},
		{[]string{"--url", "http://h/v1/rerank"}, "leave the route out: http://h"},
		{[]string{"--url", "http://h/generate_stream"}, "leave the route out: http://h"},
	} {
		if code, out, errs := benchmark(t, append(test.args, "--all")...); code != exitUsage || !strings.Contains(errs, test.want) || out != "" {
			t.Errorf("%v: exit code %d, %q%s, want %q", test.args, code, errs, out, test.want)
		}
	}
}

// What vllm's backends beside the first three give in its own table.
func TestBackendsOfVLLMInVirtualTime(t *testing.T) {
	for backend, test := range map[string]struct {
		endpoint string
		lines    []string
		without  []string
	}{
		"openai-responses": {"/v1/responses", []string{"Total generated tokens:                  32        ", "Mean TTFT (ms):                          50.00     ", "Mean ITL (ms):                           10.00     "}, nil},
		"openai-embeddings": {"/v1/embeddings", []string{
			"Successful requests:                     8         ", "Benchmark duration (s):                  0.20      ", "Total input tokens:                      128       ",
			"Input throughput (inputs/s):             40.00     ", "Mean E2EL (ms):                          50.00     ",
		}, []string{"TTFT", "generated", "Peak"}},
		"openai-embeddings-chat": {"/v1/embeddings", []string{"Input throughput (inputs/s):             40.00     "}, []string{"TTFT"}},
		"vllm-pooling":           {"/pooling", []string{"Input throughput (inputs/s):             40.00     "}, []string{"TTFT"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t)
			l, err := v.Listen("", "")
			if err != nil {
				t.Fatal(err)
			}
			stop := serveVirtual(t, l)
			v.Args = strings.Fields("vllm bench serve --num-prompts 8 --max-concurrency 2 --random-input 16 --random-output 4 --disable-tqdm --backend " + backend + " --endpoint " + test.endpoint)
			v.Env = func(name string) (string, bool) { return v.store, name == "PITOT_STORE" }
			if code := Run(v.Session); code != exitOK {
				t.Fatal(backend, code, v.stderr.String())
			}
			stop()
			for _, line := range test.lines {
				if !strings.Contains(v.stdout.String(), line+"\n") {
					t.Errorf("%s: no %q in\n%s", backend, line, v.stdout.String())
				}
			}
			_, table, _ := strings.Cut(v.stdout.String(), "=== ")
			for _, word := range test.without {
				if strings.Contains(table, word) {
					t.Errorf("%s: %q in\n%s", backend, word, table)
				}
			}
		})
	}
}
