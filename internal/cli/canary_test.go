package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// canaries are a secret for every way by which one is given to Pitot.
var canaries = map[string]string{
	"key": `sk-CANARIES/1+q"9\zZ w`, "tenant": "sk-CANARIES-2-tenant", "header": "CANARIES3header", "basic": "CANARIES-4-password", "body": `CANARIES/5"body`,
	"hub": "hf_CANARIES6hub", "proxy": "CANARIES7proxy", "file": "CANARIES-8-in-a-file", "query": "CANARIES9query", "tool": "CANARIES10tool",
}

// given are the secrets that a command line gives, itself or by its environment and files.
func given(args []string) (all []string) {
	text := strings.Join(args, "\n")
	by := map[string]string{"TENANT_KEY": "tenant", "given-key": "file", "given-bad": "file", "given-wrong": "file"}
	for hint, name := range by {
		if strings.Contains(text, hint) {
			all = append(all, canaries[name])
		}
	}
	for _, secret := range canaries {
		for _, way := range append(slices.Collect(maps.Values(encoded(secret))), base64.StdEncoding.EncodeToString([]byte("user:"+secret))) {
			if strings.Contains(text, way) {
				all = append(all, secret)
			}
		}
	}
	all = append(all, canaries["key"], canaries["hub"], canaries["proxy"])
	slices.Sort(all)
	return slices.Compact(all)
}

// encoded is how a secret can stand in an answer.
func encoded(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	twice, _ := json.Marshal(string(quoted[1 : len(quoted)-1]))
	return map[string]string{
		"plain": secret, "JSON": string(quoted[1 : len(quoted)-1]), "JSON in JSON": string(twice[1 : len(twice)-1]), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"hex": hex.EncodeToString([]byte(secret)), "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64 of a pair": base64.StdEncoding.EncodeToString([]byte("us:" + secret + "!!")),
	}
}

// needles are what all canaries have in common, in every form.
func needles() (all []string) {
	const stem = "CANARIES"
	for shift, shared := range []int{0, 2, 3} { // of base64 what is the stem's alone
		text := base64.RawStdEncoding.EncodeToString([]byte("...."[:shift] + stem))
		all = append(all, text[shared:len(text)-1])
	}
	return append(all, stem, hex.EncodeToString([]byte(stem)))
}

// A parrot is a server that repeats every secret, in every form, wherever an answer has
// words.
type parrot struct {
	said  string
	watch func() // called when its counters are asked for, which is ahead of a run and after it
	mu    sync.Mutex
	count int
}

// learn takes the secrets that a command line gives.
func (p *parrot) learn(args []string) {
	var all []string
	for _, secret := range given(args) {
		all = append(all, slices.Sorted(maps.Values(encoded(secret)))...)
	}
	p.said, p.count = strings.Join(all, " "), 0
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	w.Header().Set("X-Key", canaries["header"])
	switch path := r.URL.Path; {
	case path == "/v1/models":
		say(map[string]any{"data": []any{map[string]any{"id": p.said, "root": p.said, "max_model_len": 4096}, map[string]any{"id": "m"}}})
	case path == "/metrics":
		p.watch()
		label, _ := json.Marshal(p.said)
		fmt.Fprintf(w, "# TYPE x counter\nx_total{a=%s} 5\n", label)
	case strings.Contains(path, "tokenize"):
		say(map[string]any{"tokens": []int{1, 2, 3}, "prompt": p.said, "text": p.said, "error": p.said})
	case strings.Contains(path, "completions"), path == "/generate":
		p.answer(w, strings.Contains(string(body), `"stream":true`), strings.Contains(path, "chat"))
	default:
		say(map[string]any{"version": p.said, "internal_states": []any{map[string]any{"x": p.said}}, p.said: p.said, "tokenizer_path": p.said})
	}
}

// answer answers a request: some of those of a run with an error, the others well.
func (p *parrot) answer(w http.ResponseWriter, stream, chat bool) {
	p.mu.Lock()
	p.count++
	n := p.count
	p.mu.Unlock()
	time.Sleep(time.Duration(n) * time.Millisecond) // of the test's own clock
	choice := map[string]any{"index": 0, "text": p.said, "finish_reason": p.said}
	if chat {
		choice = map[string]any{"index": 0, "delta": map[string]any{"role": p.said, "content": p.said}, "message": map[string]any{"content": p.said}, "finish_reason": p.said}
	}
	good, _ := json.Marshal(map[string]any{
		"id": p.said, "model": p.said, "object": p.said, "choices": []any{choice}, "text": p.said, "meta_info": map[string]any{"id": p.said, "finish_reason": map[string]any{"type": p.said}, "completion_tokens": 2},
		"usage": map[string]any{"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": map[string]any{"cached_tokens": 1, "storage_backend": p.said}},
	})
	switch {
	case n == 4:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, p.said)
	case n == 5:
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": p.said, "type": p.said}})
	case n == 6:
		fmt.Fprintf(w, "data: {\"error\": %q}\n\n", p.said)
	case n == 7:
		_, _ = io.WriteString(w, "data: {"+p.said+"\n\n")
	case stream:
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", good)
	default:
		_, _ = w.Write(good)
	}
}

// A cage is a folder in which command lines run, and all that they leave is looked at.
type cage struct {
	t      *testing.T
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	env    map[string]string
	looked int // bytes
}

func (c *cage) process(args ...string) (sess *session.Session, stdout, stderr *bytes.Buffer) {
	sess, stdout, stderr = process(c.t, nil, args...)
	sess.Dial = c.dial
	sess.Env = func(name string) (string, bool) {
		v, ok := c.env[name]
		return v, ok
	}
	return sess, stdout, stderr
}

// run runs a command line, whatever it ends with, and looks at what it says.
func (c *cage) run(args ...string) {
	c.t.Helper()
	sess, stdout, stderr := c.process(args...)
	Run(sess)
	c.look("standard output of "+args[0], stdout.Bytes())
	c.look("standard error of "+args[0], stderr.Bytes())
}

// look finds secrets.
func (c *cage) look(where string, data []byte) {
	c.looked += len(data)
	for _, needle := range needles() {
		if at := bytes.Index(data, []byte(needle)); at >= 0 {
			c.t.Errorf("%s has a secret: ...%q", where, data[max(0, at-60):min(len(data), at+40)])
		}
	}
}

// lookAt looks at files.
func (c *cage) lookAt(pattern string) {
	names, _ := filepath.Glob(pattern)
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil && !strings.HasPrefix(name, "given-") {
			c.look(name, data)
		}
	}
}

// Secrets go in by every way there is, and come back in every field of every answer. They
// are in nothing that is left: not in a store or its log, an export, a result file, a
// report, a note, a plan, and not in what was printed.
func TestNoSecretIsLeftAnywhere(t *testing.T) {
	race.Skip(t)
	t.Chdir(t.TempDir())
	synctest.Test(t, leaveNoSecret)
	(&cage{t: t, env: map[string]string{"PITOT_STORE": "runs.db", "HOME": "."}}).lookIntoBundle() // it looks at the machine, in real time
}

func leaveNoSecret(t *testing.T) {
	const at = "http://parrot:8000"
	bird, network := new(parrot), memnet.Listen()
	server := &http.Server{Handler: bird}
	go func() { _ = server.Serve(network) }()
	defer server.Close()
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &cage{t: t, dial: network.Dial, env: map[string]string{
		"OPENAI_API_KEY": canaries["key"], "TENANT_KEY": canaries["tenant"], "HF_TOKEN": canaries["hub"], "PITOT_STORE": "runs.db", "HOME": ".",
		"HTTPS_PROXY": "http://user:" + canaries["proxy"] + "@127.0.0.1:1",
	}}
	logs := 0
	bird.watch = func() {
		c.lookAt("runs.db*")
		if info, err := os.Stat("runs.db-wal"); err == nil && info.Size() > 0 {
			logs++
		}
	}
	body, _ := json.Marshal(map[string]any{"api_key": canaries["body"], "temperature": 0})
	basic := "Authorization=Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+canaries["basic"]))
	write("given-key", canaries["file"]+"\n")
	write("given-bad.yaml", "url: "+at+"\nX-Api-Key: "+canaries["file"]+": x\n")
	write("given-wrong.yaml", "url: "+at+"\nheader:\n  X-Api-Key: "+canaries["file"]+"\nbody: '{\"api_key\": \""+canaries["query"]+"\", x}'\nrate: x\n")
	write("given-chats", `{"messages": [{"role": "user", "content": "hello"}], "output_tokens": 5}`+"\n")
	own := []string{"bench", "--url", at, "--tokenizer", "none", "-n", "8", "--header", "X-Api-Key=" + canaries["header"], "--keep-text", "--name", "by " + canaries["key"]}
	tool := []string{"--num-prompts", "8", "--extra-body", string(body)}
	for _, args := range [][]string{
		append(own, "--body", string(body), "--report", "pitot,json,vllm,sglang"),
		append(own, "--model", "m", "--no-stream", "--protocol", "chat", "--workload", "custom", "--data", "given-chats", "--header", basic, "--api-key-file", "given-key"),
		append(own, "--tenant", "name=a rate=500 output-len=2 api-key-env=TENANT_KEY", "--tenant", "name=b rate=500 output-len=2 'header=X-Token="+canaries["tenant"]+"'"),
		append(own, "--protocol", "generate"),
		append([]string{
			"vllm", "bench", "serve", "--base-url", at, "--header", basic, "X-Token=" + canaries["tool"], "--save-result", "--save-detailed", "--result-filename", "vllm.json",
			"--metadata", "api_key=" + canaries["tool"], "--random-input-len", "4", "--random-output-len", "3",
		}, tool...),
		{
			"python", "-m", "sglang.bench_serving", "--backend", "sglang-oai", "--base-url", at, "--num-prompts", "8", "--dataset-name", "random-ids", "--header", "X-Token=" + canaries["tool"],
			"--extra-request-body", string(body), "--output-file", "sglang.jsonl", "--output-details", "--random-input-len", "4", "--random-output-len", "3",
		},
		{"python", "-m", "sglang.bench_serving", "--backend", "sglang", "--base-url", at, "--num-prompts", "8", "--dataset-name", "random-ids", "--output-file", "sglang.jsonl"},
		{"bench", "--url", at + "/?api_key=" + canaries["query"]},
		{"bench", "--url", "http://user:" + canaries["query"] + "@127.0.0.1:1"},
		{"bench", "--url", at, "--body", strings.TrimSuffix(string(body), "}")},
		{"vllm", "bench", "serve", "--base-url", at, "--endpoint", "/v1/completions?key=" + canaries["query"], "--num-prompts", "4"},
		{"bench", "--config", "given-bad.yaml"},
		{"bench", "--config", "given-wrong.yaml"},
	} {
		bird.learn(args)
		c.run(args...)
	}
	if runs := c.readEverything(); runs < 7 || logs < 7 || c.looked < 1<<20 {
		t.Errorf("looked at %d runs, %d logs of the store, %d bytes", runs, logs, c.looked)
	}
}

// readEverything prints, exports and compares what is in the store, as somebody does who
// knows no secret, and looks at every file.
func (c *cage) readEverything() (runs int) {
	last := ""
	c.env = map[string]string{"PITOT_STORE": "runs.db", "HOME": "."}
	listed, stdout, _ := c.process("runs", "list")
	Run(listed)
	for line := range strings.Lines(stdout.String()) {
		id := strings.Fields(line)[0]
		if id == "RUN" {
			continue
		}
		runs++
		c.run("runs", "show", id)
		c.run("runs", "export", "-o", id+".json", id)
		last = id
	}
	for line := range strings.SplitSeq("plan|runs report|runs report --dialect json|runs report --dialect vllm|runs report --dialect sglang|runs export -f jsonl|runs export -f csv|runs export -f parquet", "|") {
		c.run(append(strings.Fields(line), last)...)
	}
	for format := range strings.FieldsSeq("text markdown json csv html") {
		c.run("compare", "-f", format, "20*", "vllm.json")
	}
	c.run("note", "20*", "-o", "note.md")
	c.run("import", "-n", "vllm.json", "sglang.jsonl", "note.md")
	c.lookAt("*")
	c.lookAt("*/*")
	for _, name := range []string{"vllm.json", "sglang.jsonl", "note.md"} {
		if _, err := os.Stat(name); err != nil {
			c.t.Error(err)
		}
	}
	return runs
}
