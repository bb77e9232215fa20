package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A look is a run of Pitot against a server, and what must be seen of it.
type look struct {
	args   string // URL and CA stand for those of the server, TOKENIZER for a folder
	code   int
	ok     int            // requests that succeeded
	failed map[string]int // the others, by class
	says   []string       // patterns of what it prints
	never  []string
}

// The same load in Pitot's own form and in both dialects, which need a tokenizer.
const (
	own    = "bench --url URL -c 4 --output-len 16 --input-len 20 -n 40"
	vllm   = "vllm bench serve --base-url URL --tokenizer TOKENIZER --dataset-name random --random-input-len 20 --random-output-len 16 --num-prompts 40 --max-concurrency 4"
	sglang = "sglang bench_serving --base-url URL --tokenizer TOKENIZER --backend vllm --dataset-name random --random-input-len 20 --random-output-len 16 --random-range-ratio 1 --num-prompts 40 --max-concurrency 4"
)

// at makes a run against a server and looks at it.
func (l look) at(t *testing.T, url, ca string) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "runs.db")
	args := strings.Fields(strings.NewReplacer("URL", url, "CA", ca, "TOKENIZER", filepath.Join(scripts, "../../internal/load/tokenizer/testdata/gpt2")).Replace(l.args))
	cmd := exec.CommandContext(t.Context(), pitot, args...)
	cmd.Env = append(cmd.Environ(), "PITOT_STORE="+store, "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != l.code {
		t.Errorf("exit code %d, want %d: %v", code, l.code, err)
	}
	for _, pattern := range l.says {
		if !regexp.MustCompile(pattern).Match(out) {
			t.Errorf("does not say %q", pattern)
		}
	}
	for _, pattern := range l.never {
		if regexp.MustCompile(pattern).Match(out) {
			t.Errorf("says %q", pattern)
		}
	}
	if l.ok > 0 || len(l.failed) > 0 {
		l.count(t, store)
	}
	if t.Failed() {
		t.Logf("pitot %s\n%s", strings.Join(args, " "), out)
	}
}

// count holds the stored records against what is wanted.
func (l look) count(t *testing.T, store string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), pitot, "runs", "export", "last", "-f", "jsonl", "--store", store).Output()
	if err != nil {
		var failed *exec.ExitError
		errors.As(err, &failed)
		t.Fatalf("export: %v: %s", err, failed.Stderr)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var r struct{ Class string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		seen[r.Class]++
	}
	want := map[string]int{"": l.ok}
	for class, n := range l.failed {
		want[class] = n
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("requests by class %v, want %v", seen, want)
	}
}

// looks tries several runs against one server.
func looks(t *testing.T, url, ca string, all map[string]look) {
	t.Helper()
	for name, l := range all {
		t.Run(name, func(t *testing.T) { l.at(t, url, ca) })
	}
}

func TestLlamaCpp(t *testing.T) {
	looks(t, llama(t), "", map[string]look{
		"own":         {args: own, ok: 40, says: []string{`server .*prompt tokens computed`}, never: []string{"differs"}},
		"own-ids":     {args: own + " --tokenizer none --vocab-size 286", ok: 40},
		"ids-refused": {args: own + " --tokenizer none --vocab-size 32000", code: 1, says: []string{"--vocab-size", "invalid tokens"}},
		// As vLLM's own client, it fails where the server has closed the connection.
		"vllm":   {args: vllm, says: []string{`Successful requests: +\d\d`}, never: []string{"http [45]", "refused"}},
		"sglang": {args: sglang, ok: 40, says: []string{`Successful requests: +40`}},
	})
}

// Beside vLLM's own client, with a seed of its own for each pair: the same prompts, the same
// counts.
func TestVLLM(t *testing.T) {
	url := vllmServer(t)
	looks(t, url, "", map[string]look{
		"own":    {args: own, ok: 40, never: []string{"differs"}},
		"chat":   {args: own + " --protocol chat", ok: 40},
		"sglang": {args: sglang, ok: 40},
	})
	for range 3 {
		seed := fmt.Sprint(rand.IntN(1 << 30))
		t.Run("seed-"+seed, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("URL", url, "TOKENIZER", part(t, "tinyhf")).Replace(vllm + " --model tiny --ignore-eos --seed " + seed))
			theirs := counts(t, part(t, "vllm/bin/vllm"), args[1:]...)
			if ours := counts(t, pitot, args...); ours != theirs {
				t.Errorf("Pitot: %s\nvLLM:  %s", ours, theirs)
			}
		})
	}
}

var counted = regexp.MustCompile(`(?m)^(Successful requests|Failed requests|Total input tokens|Total generated tokens): +\d+`)

// counts runs a client and returns the lines of its table that the load decides.
func counts(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(cmd.Environ(), "PITOT_STORE="+filepath.Join(t.TempDir(), "runs.db"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, tail(string(out)))
	}
	return strings.Join(strings.Fields(strings.Join(counted.FindAllString(string(out), -1), ", ")), " ")
}

func TestTransformersServe(t *testing.T) {
	url, chat := transformers(t), own+" --protocol chat --model "+part(t, "tinyhf")+" -n 4"
	looks(t, url, "", map[string]look{
		"ignore-eos-refused": {args: chat, code: 1, says: []string{"422", "--no-ignore-eos"}},
		"limit-not-read":     {args: chat + " --no-ignore-eos", ok: 4, says: []string{"max_completion_tokens"}},
		"own":                {args: chat + ` --no-ignore-eos --body {"max_tokens":16}`, ok: 4},
	})
}

func TestSGLangRouter(t *testing.T) {
	looks(t, sglangRouter(t), "", map[string]look{
		"own":         {args: own + " --tokenizer TOKENIZER", ok: 40},
		"ids-refused": {args: own + " --tokenizer none", code: 1, says: []string{"HTTP status 422|HTTP 422", "--tokenizer"}},
		"vllm":        {args: vllm, ok: 40},
		"sglang":      {args: strings.Replace(sglang, "--backend vllm", "--backend sglang", 1), ok: 40},
	})
}

func TestVLLMRouter(t *testing.T) {
	looks(t, vllmRouter(t), "", map[string]look{
		"own":    {args: own, ok: 40},
		"vllm":   {args: vllm, ok: 40},
		"sglang": {args: sglang, ok: 40},
	})
}

func TestNginx(t *testing.T) {
	void := []string{"nginx", `TTFT.*void|void.*TTFT`}
	buffered, _ := nginx(t, proxy{})
	looks(t, buffered, "", map[string]look{
		"buffered":      {args: own, ok: 40, says: void},
		"buffered-vllm": {args: vllm, ok: 40, says: void},
	})
	plain, _ := nginx(t, proxy{location: "proxy_buffering off; proxy_http_version 1.1;"})
	looks(t, plain, "", map[string]look{
		"unbuffered":        {args: own, ok: 40, never: []string{"void"}},
		"unbuffered-vllm":   {args: vllm, ok: 40},
		"unbuffered-sglang": {args: sglang, ok: 40},
	})
	secure, ca := nginx(t, proxy{tls: true, listen: "http2", location: "proxy_buffering off;"})
	looks(t, secure, ca, map[string]look{
		"tls":            {args: own + " --ca CA", ok: 40},
		"h2":             {args: own + " --ca CA --http2", ok: 40},
		"not-trusted":    {args: own + " --ready-timeout 1s", code: 1, says: []string{"certificate"}},
		"tls-vllm-trust": {args: vllm + " --insecure", ok: 40},
	})
	small, _ := nginx(t, proxy{server: "client_max_body_size 1k;", location: "proxy_buffering off;"})
	looks(t, small, "", map[string]look{
		"413": {args: strings.Replace(own, "--input-len 20", "--input-len 2000", 1) + " --tokenizer none", code: 1, says: []string{"413", "nginx"}},
	})
	dead, _ := nginx(t, proxy{backend: "http://127.0.0.1:9"})
	looks(t, dead, "", map[string]look{
		"dead-backend": {args: own + " --ready-timeout 1s", code: 1, says: []string{"502"}},
	})
}

func TestHAProxy(t *testing.T) {
	plain, _ := haproxy(t, proxy{server: "option http-no-delay"})
	looks(t, plain, "", map[string]look{
		"own":    {args: own, ok: 40},
		"vllm":   {args: vllm, ok: 40},
		"sglang": {args: sglang, ok: 40},
	})
	h2c, _ := haproxy(t, proxy{listen: "proto h2"})
	looks(t, h2c, "", map[string]look{"h2c": {args: own + " --http2", ok: 40}})
	secure, ca := haproxy(t, proxy{tls: true, listen: "alpn h2,http/1.1"})
	looks(t, secure, ca, map[string]look{
		"tls": {args: own + " --ca CA", ok: 40},
		"h2":  {args: own + " --ca CA --http2", ok: 40},
	})
	dead, _ := haproxy(t, proxy{backend: "http://127.0.0.1:9"})
	looks(t, dead, "", map[string]look{"dead-backend": {args: own + " --model m --tokenizer none --ready-timeout 15s", code: 1, says: []string{"503"}}})
	slow, _ := haproxy(t, proxy{server: "timeout server 200ms", backend: engine(t, "--ttft", "500ms")})
	looks(t, slow, "", map[string]look{"timeout": {args: own + " --model pitot --tokenizer none --ready-timeout 1s", code: 1, says: []string{"504|closed"}}})
}
