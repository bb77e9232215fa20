package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// named is a server that calls its model and its tokenizer by a name.
func named(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": name, "root": name}}})
		case "/model_info":
			_ = json.NewEncoder(w).Encode(map[string]any{"tokenizer_path": name, "model_path": name})
		case "/v1/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.Copy(io.Discard, r.Body)
			const chunk = `data: {"choices": [{"index": 0, "text": "a", "finish_reason": null}]}` + "\n\n"
			const last = `data: {"choices": [{"index": 0, "text": "a", "finish_reason": "length"}], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}` + "\n\n"
			for _, event := range []string{chunk, last + "data: [DONE]\n\n"} {
				time.Sleep(time.Millisecond) // of the test's own clock
				_, _ = io.WriteString(w, event)
				w.(http.Flusher).Flush()
			}
		default:
			http.NotFound(w, r)
		}
	}
}

// What a server calls its model, or its tokenizer, is looked up among the models of the hub and
// nowhere else, neither by the run nor when it is planned again. Who is at the command line can
// name a path.
func TestAServerNamesNoPath(t *testing.T) {
	race.Skip(t)
	gpt2, err := os.ReadFile("../load/tokenizer/testdata/gpt2/tokenizer.json")
	folder := t.TempDir()
	t.Chdir(folder)
	err = errors.Join(err, os.MkdirAll("org/name", 0o700), os.WriteFile("org/name/tokenizer.json", gpt2, 0o600), os.MkdirAll("broken", 0o700),
		os.WriteFile("broken/tokenizer.json", []byte("{"), 0o600), os.MkdirAll("waits", 0o700), syscall.Mkfifo("waits/tokenizer.json", 0o600),
		os.MkdirAll("home/.cache/huggingface/hub/models--waits--m/snapshots/1", 0o700),
		syscall.Mkfifo("home/.cache/huggingface/hub/models--waits--m/snapshots/1/tokenizer.json", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	const bench = "bench -q -n 2 --input-len 4 --output-len 2 --report json --url http://served:8000 "
	const sglang = "sglang bench_serving --backend sglang-oai --host served --port 8000 --dataset-name random-ids --random-input-len 4 --random-output-len 2 --num-prompts 2 --output-file out.jsonl "
	stores := 0
	run := func(t *testing.T, model, line string) (code int, out string) {
		t.Helper()
		if line != "plan last" {
			stores++
		}
		synctest.Test(t, func(*testing.T) {
			network := memnet.Listen()
			server := &http.Server{Handler: named(model)}
			go func() { _ = server.Serve(network) }()
			defer server.Close()
			var stdout, stderr bytes.Buffer
			sess := &session.Session{Args: strings.Fields(line), Stdout: &stdout, Stderr: &stderr, Signals: make(chan os.Signal), Dial: network.Dial, Env: func(name string) (string, bool) {
				value, set := map[string]string{"PITOT_STORE": filepath.Join(folder, fmt.Sprintf("runs-%d.db", stores)), "HOME": filepath.Join(folder, "home")}[name]
				return value, set
			}}
			code = Run(sess)
			out = stdout.String() + stderr.String()
		})
		return code, out
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, said := range []string{
		"/", ".", "..", "org", "org/name", at("org/name"), "./org/name", at("org/name/tokenizer.json"), "../" + filepath.Base(folder) + "/org/name", "~/.cache", "broken", at("broken"), "waits", at("waits"),
		"waits/m", "*", "waits/*", "[w]aits/m", "hf://org/name", "/dev/zero", "a\x00b", strings.Repeat("org/", 5000),
	} {
		for _, line := range []string{bench, sglang} {
			if code, out := run(t, said, line); code != exitOK {
				t.Errorf("%.60q: %.30s: exit code %d: %s", said, line, code, out[max(0, len(out)-700):])
			}
			code, out := run(t, said, "plan last")
			found := strings.Contains(out, "# file ") && said != "waits/m" // which the hub may have
			if code != exitOK || found || !strings.Contains(out, "no_path: true") {
				t.Errorf("%.60q: the plan of %.30s: exit code %d: %.500s", said, line, code, out)
			}
		}
	}
	for _, line := range []string{bench + "--tokenizer org/name", bench + "--model org/name", bench + "--model " + at("org/name"), sglang + "--model org/name"} {
		if code, out := run(t, "org/name", line); code != exitOK {
			t.Errorf("%s: exit code %d: %s", line, code, out)
		}
		if code, out := run(t, "", "plan last"); code != exitOK || !strings.Contains(out, "# file      ") || !strings.Contains(out, "org/name\n") {
			t.Errorf("the plan of %s: exit code %d: %s", line, code, out)
		}
	}
	if code, out := run(t, "m", bench+"--tokenizer broken"); code != exitUsage || !strings.Contains(out, "--tokenizer broken: ") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
