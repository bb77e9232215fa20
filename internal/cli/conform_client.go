package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/verify"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A clientRun is a client that has ended.
type clientRun struct {
	dir     string
	result  string // pattern of the file with its report
	failure string // what went wrong, in words
	usage   conform.Usage
	samples []verify.Sample
}

// grace is how long a client that was asked to end may take.
const grace = 5 * time.Second

// startClient runs the client of a cell to its end. How it fails is data; an error is
// that it could not even be started.
func (t *trial) startClient(ctx context.Context, cell conform.Cell, place conform.Place, clk *clock.Clock) (clientRun, error) {
	run := clientRun{dir: place.Dir, result: filepath.Join(place.Dir, "stdout")}
	words := t.wordsFor(cell)
	switch {
	case t.Result != "":
		run.result = conform.Expand([]string{t.Result}, cell, place)[0]
	case conform.Uses(words, "result"):
		run.result = place.Result
	}
	if err := os.MkdirAll(place.Dir, 0o755); err != nil {
		return run, err
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	cmd, err := command(limited, conform.Expand(words, cell, place), place.Dir)
	if err != nil {
		return run, err
	}
	stdout, err := os.Create(filepath.Join(place.Dir, "stdout"))
	if err != nil {
		return run, err
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(place.Dir, "stderr"))
	if err != nil {
		return run, err
	}
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	began := time.Now()
	if err := t.placement.start(cmd); err != nil {
		return run, usagef("start the client: %w", err)
	}
	end := watchClient(cmd.Process.Pid, clk)
	err = cmd.Wait()
	seen := end()
	run.usage, run.samples = usageOf(cmd.ProcessState, time.Since(began), seen.peak), seen.samples
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it started and left behind, or what did not heed the request to end
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		run.failure = fmt.Sprintf("it had not ended after %v", t.Timeout)
	case err != nil:
		run.failure = fmt.Sprintf("it ended with %v", err)
	}
	return run, nil
}

// command is a process of its own group, so that what it starts ends with it.
// Its runs of ours stay out of the user's store, and no proxy comes between it
// and the server.
func command(ctx context.Context, words []string, dir string) (*exec.Cmd, error) {
	name := words[0]
	if name == "pitot" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		name = self
	}
	cmd := exec.CommandContext(ctx, name, words[1:]...)
	cmd.Args[0] = words[0]
	cmd.Env = append(os.Environ(), "PITOT_STORE="+filepath.Join(dir, storeName), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	return cmd, nil
}

// usageOf is what a process used, and what those did that it waited for. The
// peak of memory that Linux tells at the end begins with that of the process
// which started it, here this one, so what was seen is taken where it can be.
func usageOf(state *os.ProcessState, wall time.Duration, seen int64) conform.Usage {
	u := conform.Usage{CPU: state.UserTime() + state.SystemTime(), Wall: wall, Memory: seen}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS != "linux" {
		u.Memory = r.Maxrss
	}
	return u
}

// report is what the client reports: the file of that very name, or of several
// that the pattern matches the newest.
func (r clientRun) report() ([]byte, error) {
	if data, err := os.ReadFile(r.result); err == nil {
		return data, nil
	}
	files, err := filepath.Glob(r.result)
	if err != nil {
		return nil, fmt.Errorf("--result %s: %w", r.result, err)
	}
	newest, at := "", time.Time{}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && !info.ModTime().Before(at) {
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return nil, fmt.Errorf("it wrote no %s", strings.TrimPrefix(r.result, r.dir+string(filepath.Separator)))
	}
	return os.ReadFile(newest)
}

// records are those of the newest run in the store that a Pitot among clients was
// given; nil if there is none.
func (r clientRun) records() []*trace.Record {
	file := filepath.Join(r.dir, storeName)
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	runs, err := store.Open(file)
	if err != nil {
		return nil
	}
	defer runs.Close()
	t, err := runs.Load("last")
	if err != nil {
		return nil
	}
	return t.Records
}

// storeName is the store of a client that is a Pitot, in its folder.
const storeName = "runs.db"

// tailLines and tailBytes bound what is kept of what a client said.
const (
	tailLines = 5
	tailBytes = 4 << 10
)

// tail is the end of what the client wrote to stderr, or if that is nothing to
// stdout.
func (r clientRun) tail() []string {
	for _, name := range []string{"stderr", "stdout"} {
		if lines := lastLines(filepath.Join(r.dir, name)); len(lines) > 0 {
			return lines
		}
	}
	return nil
}

func lastLines(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		return nil
	}
	b := make([]byte, min(size, tailBytes))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return nil
	}
	var lines []string
	for line := range bytes.FieldsFuncSeq(b, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "")); text != "" {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-tailLines):]
}
