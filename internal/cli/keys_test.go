package cli

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// A key is known by its form, whatever the name of the header or the setting that has it: it
// reaches the server, and no file and no output. A run made again asks for it.
func TestAKeyUnderAnotherName(t *testing.T) {
	const key = "sk-torture-5f0e9c41d7"
	folder := t.TempDir()
	t.Chdir(folder)
	var mu sync.Mutex
	var received []string
	run := func(words ...string) (code int, out string) {
		synctest.Test(t, func(*testing.T) {
			network := memnet.Listen()
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				received = append(received, r.Header.Get("X-Subscription"))
				mu.Unlock()
				named("m")(w, r)
			})}
			go func() { _ = server.Serve(network) }()
			defer server.Close()
			var stdout, stderr bytes.Buffer
			sess := &session.Session{Args: words, Stdout: &stdout, Stderr: &stderr, Signals: make(chan os.Signal), Dial: network.Dial, Env: func(name string) (string, bool) {
				return "runs.db", name == "PITOT_STORE"
			}}
			code = Run(sess)
			out = stdout.String() + stderr.String()
		})
		if strings.Contains(out, key) {
			t.Errorf("%q says the key: %s", words, out)
		}
		return code, out
	}
	bench := []string{"bench", "-q", "-n", "2", "--input-len", "4", "--output-len", "2", "--url", "http://served:8000", "--tokenizer", "none"}
	for _, more := range [][]string{
		{"--name", "header", "--header", "X-Subscription=" + key}, {"--name", "body", "--body", `{"x_subscription": "` + key + `"}`}, {"--name", "named " + key},
	} {
		if code, out := run(append(bench[:len(bench):len(bench)], more...)...); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", more, code, out)
		}
	}
	if !strings.Contains(strings.Join(received, " "), key) {
		t.Errorf("the server received %q", received)
	}
	for _, words := range [][]string{
		{"runs", "tag", "header", "+" + key, "--remark", "with " + key},
		{"runs", "show", "header"},
		{"runs", "report", "header"},
		{"runs", "export", "header", "-f", "json", "-o", "export.json"},
		{"runs", "list"},
		{"note", "header"},
		{"plan", "header"},
	} {
		if code, out := run(words...); code != exitOK {
			t.Errorf("%q: exit code %d: %s", words, code, out)
		}
	}
	for _, name := range []string{"header", "body"} {
		_, text := run("plan", name)
		if err := os.WriteFile("again.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out := run("bench", "-q", "--config", "again.yaml"); code != exitUsage || !strings.Contains(out, "give it again") {
			t.Errorf("%s again: exit code %d: %s", name, code, out)
		}
	}
	plan := "version: 1\n" + strings.Replace(planOfLast(t, run), "target:\n", "target:\n  headers:\n  - name: X-Subscription\n    value: '***'\n", 1)
	if err := os.WriteFile("again.yaml", []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := run("bench", "-q", "--config", "again.yaml"); code != exitUsage || !strings.Contains(out, "target.headers[0]") {
		t.Errorf("a hidden header: exit code %d: %s", code, out)
	}
	noFileHas(t, key)
}

// noFileHas looks for a key in all files below the working directory, at least four.
func noFileHas(t *testing.T, key string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("%s has the key", name)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files, %v", files, err)
	}
}

// planOfLast is the plan of the last run without its first line.
func planOfLast(t *testing.T, run func(...string) (int, string)) string {
	t.Helper()
	code, out := run("plan", "last")
	_, plan, ok := strings.Cut(out, "version: 1\n")
	if code != exitOK || !ok {
		t.Fatalf("exit code %d: %s", code, out)
	}
	return plan
}
