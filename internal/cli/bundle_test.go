package cli

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// lookIntoBundle writes a bundle of all runs, and looks at its bytes and at each of its files.
func (c *cage) lookIntoBundle(flags ...string) string {
	c.t.Helper()
	const name = "bundle.zip"
	_ = os.Remove(name)
	sess, stdout, stderr := c.process(append([]string{"runs", "export", "--bundle", name, "20*"}, flags...)...)
	if code := Run(sess); code != exitOK {
		c.t.Fatalf("exit code %d: %s", code, stderr)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		c.t.Fatal(err)
	}
	all := new(strings.Builder)
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			c.t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			c.t.Fatal(err)
		}
		all.WriteString("\n" + f.Name + ":\n")
		all.Write(b)
	}
	if flags == nil {
		c.look("the bundle, as bytes", raw)
		c.look("the bundle", []byte(all.String()))
		c.look("what was said of the bundle", stdout.Bytes())
	}
	return all.String()
}

// An echo repeats the prompt, with an answer, in all that its answers have.
type echo struct{ parrot }

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(r.URL.Path, "completions") {
		http.NotFound(w, r)
		return
	}
	e.said = string(body) + " CANARIES-answer"
	e.answer(w, strings.Contains(string(body), `"stream":true`), strings.Contains(r.URL.Path, "chat"))
}

// Prompts and answers, which a server repeats in its errors too, names of hosts and addresses are in no file of a
// bundle, unless they are asked for.
func TestABundleHasNoText(t *testing.T) {
	race.Skip(t)
	t.Chdir(t.TempDir())
	c := &cage{t: t, env: map[string]string{"PITOT_STORE": "runs.db", "HOME": "."}}
	hosts := []string{"gpu-7.corp.example", "10.1.2.3", "[fd00::17]"}
	synctest.Test(t, func(t *testing.T) {
		network := memnet.Listen()
		bird := new(echo)
		server := &http.Server{Handler: bird}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		c := &cage{t: t, dial: network.Dial, env: c.env}
		for name, line := range map[string]string{"completions": `"prompt": "CANARIES prompt"`, "chat": `"messages": [{"role": "user", "content": "CANARIES prompt"}]`} {
			if err := os.WriteFile(name, []byte(strings.Repeat("{"+line+`, "output_tokens": 5}`+"\n", 12)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i, protocol := range []string{"completions", "chat", "chat"} {
			for _, more := range [][]string{{"--warmup", "4"}, {"--warmup", "2", "--no-stream"}} {
				bird.count = 0
				sess, _, stderr := c.process(append([]string{
					"bench", "--url", "http://" + hosts[i] + ":8000", "--model", "m", "--tokenizer", "none", "--protocol", protocol, "--workload", "custom",
					"--data", protocol, "--keep-text", "--rate", "20", "--body", `{"system": "CANARIES system", "seed": 4}`, "--collect", "none",
				}, more...)...)
				if code := Run(sess); code != exitOK {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
			}
		}
	})
	all := strings.ReplaceAll(c.lookIntoBundle(), `": "`, `":"`)
	for _, host := range append(hosts, "gpu-7", "fd00::17") {
		if strings.Contains(all, host) {
			t.Errorf("the bundle has the host %s", host)
		}
	}
	for _, want := range []string{"http://host-2:8000", "http://address-1:8000", "http://address-2:8000", "/run.json:", "/report.txt:", "version.json:", "doctor.json:", `"class":"http"`, "HTTP status 401: ***", `"system":"***"`} {
		if !strings.Contains(all, want) {
			t.Errorf("the bundle has no %s", want)
		}
	}
	if with := c.lookIntoBundle("--with-text"); !strings.Contains(with, "CANARIES-answer") || !strings.Contains(with, "CANARIES system") {
		t.Error("--with-text has no texts")
	}
}
