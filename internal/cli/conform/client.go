package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/proc"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

type clientRun struct {
	dir     string
	result  string // pattern of the file with its report
	failure string // what went wrong, in words
	usage   conform.Usage
	samples []proc.Sample
}

// grace is how long a client that was asked to end may take.
const grace = 5 * time.Second

// startClient runs the client of a cell to its end. How it fails is data; an error is
// that it could not even be started.
func (t *trial) startClient(ctx context.Context, cell conform.Cell, place conform.Place, clk *clock.Clock) (clientRun, error) {
	run := clientRun{dir: place.Dir, result: filepath.Join(place.Dir, "stdout")}
	words := conform.WordsFor(t.words(), cell)
	switch {
	case t.Result != "":
		run.result = conform.Expand([]string{t.Result}, cell, place)[0]
	case conform.Uses(words, "result"):
		run.result = place.Result
	}
	if err := os.MkdirAll(place.Dir, 0o755); err != nil {
		return run, err
	}
	client, err := command(conform.Expand(words, cell, place), place.Dir)
	if err != nil {
		return run, err
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	client.On, client.Now = t.placement, clk.Now
	started, err := proc.Start(limited, client)
	if err != nil {
		return run, session.Usagef("start the client: %w", err)
	}
	used, err := started.Wait()
	run.usage, run.samples = conform.Usage{CPU: used.CPU, Wall: used.Wall, Memory: used.Memory}, used.Samples
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		run.failure = fmt.Sprintf("it had not ended after %v", t.Timeout)
	case err != nil:
		run.failure = fmt.Sprintf("it ended with %v", err)
	}
	return run, nil
}

// command is that of a client, which writes into a folder. The runs of a Pitot stay out
// of the user's store, and no proxy comes between a client and the server.
func command(words []string, dir string) (proc.Command, error) {
	c := proc.Command{
		Args: words, Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"), Grace: grace,
		Env: []string{"PITOT_STORE=" + filepath.Join(dir, storeName), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"},
	}
	if words[0] == "pitot" {
		self, err := os.Executable()
		if err != nil {
			return c, fmt.Errorf("find this program: %w", err)
		}
		c.Path = self
	}
	return c, nil
}

// report is what the client reports: the file of that very name, or of several
// that the pattern matches the newest.
func (r clientRun) report() ([]byte, error) {
	if files.IsRegular(r.result) {
		return files.Read(r.result, mostReport)
	}
	matching, err := filepath.Glob(r.result)
	if err != nil {
		return nil, fmt.Errorf("--result %s: %w", r.result, err)
	}
	newest, at := "", time.Time{}
	for _, name := range matching {
		if info, err := os.Stat(name); err == nil && !info.ModTime().Before(at) {
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return nil, fmt.Errorf("it wrote no %s", strings.TrimPrefix(r.result, r.dir+string(filepath.Separator)))
	}
	return files.Read(newest, mostReport)
}

// mostReport is more than a report with the instants of all chunks has, in bytes.
const mostReport = 256 << 20

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

// tail is the end of the client's stderr, or if that is empty of its stdout.
func (r clientRun) tail() []string {
	for _, name := range []string{"stderr", "stdout"} {
		if lines := proc.LastLines(filepath.Join(r.dir, name)); len(lines) > 0 {
			return lines
		}
	}
	return nil
}
