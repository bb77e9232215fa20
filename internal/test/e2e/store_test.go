//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/program"
)

// A world is the program, and a store that it has filled.
type world struct {
	binary, folder string
	env            []string
	imported       map[string]string // the first run of each note, by its file
}

var shared struct {
	sync.Once
	world
	err error
}

// stored is a store with a run of each kind.
func stored(t *testing.T) *world {
	t.Helper()
	shared.Do(func() {
		var folder string
		if folder, shared.err = os.MkdirTemp("", "pitot-e2e"); shared.err != nil {
			return
		}
		shared.world = world{folder: folder, imported: map[string]string{}, env: append(os.Environ(), "PITOT_LANG=", "LC_ALL=C.UTF-8", "PITOT_STORE="+filepath.Join(folder, "runs.db"))}
		if shared.binary, shared.err = program.Build(folder); shared.err != nil {
			return
		}
		shared.fill(t)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return &shared.world
}

// hostile is a text that servers and files may send: no page may take it for markup.
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`

// fill makes a run of each kind, an experiment, searches, and a run of a hostile server.
func (w *world) fill(t *testing.T) {
	w.pitot(t, "sim", "-n", "300", "--rate", "20", "--name", "first")
	w.pitot(t, "sim", "-n", "300", "--rate", "20", "--name", "second", "--seed", "2")
	w.pitot(t, "bench", "-q", "-n", "60", "--rate", "30", "--name", "measured")
	w.pitot(t, "ab", "--quiet", "--folder", filepath.Join(w.folder, "ab"), "--name", "slower", "--seed", "3",
		"--before", "profile:small-chat", "--after", "profile:small-chat,slower=3%", "--", "sim", "-n", "200", "--rate", "20")
	w.pitot(t, "sweep", "-q", "--profile", "small-chat", "--concurrency", "1..16x4", "--requests", "60", "--repeats", "2", "--name", "loads")
	w.pitot(t, "capacity", "-q", "--slo", "ttft.p99=500ms,tpot.p95=30ms", "--no-model", "--budget", "2m", "--precision", "20%", "--name", "cap", "--",
		"--input-len", "200", "--output-len", "60")
	w.pitot(t, "sim", "-n", "200", "--rate", "20", "--slo", "ttft=1ms,tpot=12ms", "--name", "missed")
	w.undecided(t, "capacity", "-q", "--slo", "ttft.p99=1ms", "--no-model", "--budget", "1m", "--name", "nothing", "--", "--input-len", "200", "--output-len", "60")
	address, _ := w.start(t, regexp.MustCompile(`http://\S+`), "serve", "--addr", "127.0.0.1:0", "--model", hostile)
	w.pitot(t, "bench", "-q", "--url", address, "--tokenizer", "none", "-n", "20", "--rate", "40", "--output-len", "8", "--name", "hostile "+hostile)
	for name, text := range map[string]string{"pasted.md": noteOf("", ""), "hostile.md": noteOf(hostile+" \x1b[31m\u202e\x00", strings.Repeat("wide ", 2000))} {
		if err := os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id, _, _ := strings.Cut(w.pitot(t, "import", name), " ")
		w.imported[name] = id
	}
	w.pitot(t, "conform", "run", "--grid", "streams=2 arrivals=lockstep step=20ms", "-o", filepath.Join(w.folder, "conform.json"), "--cpu", "any")
}

// noteOf is a note with two tables of each of two variants, and other texts around them.
func noteOf(name, beside string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A change %s\n\nTTFT is 10%% lower. %s\n", name, beside)
	for i, variant := range []string{"before", "after"} {
		fmt.Fprintf(&b, "\n## %s %s\n", variant, name)
		for run := range 2 {
			fmt.Fprintf(&b, "\nRun %d:\n\n```\n============ Serving Benchmark Result ============\n", run+1)
			fmt.Fprintf(&b, "Successful requests:                     200       \nBenchmark duration (s):                  36.0%d     \n", run)
			fmt.Fprintf(&b, "Total input tokens:                      20026     \nTotal generated tokens:                  24472     \n")
			fmt.Fprintf(&b, "Mean TTFT (ms):                          %d.4%d    \nP99 TTFT (ms):                           %d.9%d    \n", 300-30*i, run, 700-70*i, run)
			fmt.Fprintf(&b, "==================================================\n```\n")
		}
	}
	return b.String()
}

// TestMain removes the store.
func TestMain(m *testing.M) {
	code := m.Run()
	if shared.folder != "" {
		_ = os.RemoveAll(shared.folder)
	}
	os.Exit(code)
}

// command is a command line on the store.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.binary, args...)
	cmd.Env, cmd.Dir = w.env, w.folder
	return cmd
}

// pitot runs a command line to its end.
func (w *world) pitot(t *testing.T, args ...string) string {
	t.Helper()
	cmd := w.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("pitot %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// undecided runs a command line that ends without an answer: exit status 4.
func (w *world) undecided(t *testing.T, args ...string) {
	t.Helper()
	var exit *exec.ExitError
	if err := w.command(args...).Run(); !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Fatalf("pitot %s: %v", strings.Join(args, " "), err)
	}
}

// ui starts pitot ui, which ends with the test, and returns its address.
func (w *world) ui(t *testing.T, args ...string) string {
	t.Helper()
	address, _ := w.start(t, regexp.MustCompile(`https?://\S+`), append([]string{"ui", "--listen", "127.0.0.1:0"}, args...)...)
	return address
}

// start starts a command that ends with the test, and waits for what it says on stderr.
func (w *world) start(t *testing.T, said *regexp.Regexp, args ...string) (match string, cmd *exec.Cmd) {
	t.Helper()
	cmd = w.command(args...)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(errs)
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
		if m := said.FindString(lines.Text()); m != "" {
			go func() { // so that the command is not held up
				for lines.Scan() {
				}
			}()
			return m, cmd
		}
	}
	t.Fatalf("pitot %s said:\n%s", strings.Join(args, " "), strings.Join(all, "\n"))
	return "", nil
}
