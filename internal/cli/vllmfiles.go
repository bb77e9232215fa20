package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// vllmFiles writes the files of a command line.
type vllmFiles struct {
	*vllm.Args
	sess *session.Session
}

func newVLLMFiles(a *vllm.Args, sess *session.Session) *vllmFiles { return &vllmFiles{a, sess} }

// Try makes sure that the result file can be written.
func (f *vllmFiles) Try() error {
	if !f.Leaves() {
		return nil
	}
	dir := f.dir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return session.Usagef("--result-dir: %w", err)
	}
	if f.ResultFilename != nil {
		dir = filepath.Dir(join(dir, *f.ResultFilename))
	}
	if err := files.TryAppend(filepath.Join(dir, ".pitot-"+rand.Text())); err != nil {
		return session.Usagef("the result file could not be written: %w", err)
	}
	return nil
}

func (f *vllmFiles) dir() string { return cmp.Or(python.Value(f.ResultDir), ".") }

// join is Python's os.path.join: an absolute name stands for itself.
func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func (f *vllmFiles) Report(result *run.Result) error {
	r, err := vllm.NewReport(result.Trace, "")
	if err != nil {
		return err
	}
	if err := errors.Join(r.WriteErrors(f.sess.Stdout), r.WriteTable(f.sess.Stdout)); err != nil {
		return err
	}
	if n := result.Summary.Tokens.Assumed; n > 0 && !f.SkipTokenizerInit {
		f.note(plan.Msg("report.output-assumed", "requests", n))
	}
	for _, n := range r.Notes() {
		f.note(n)
	}
	if !f.Leaves() {
		return nil
	}
	name := join(f.dir(), r.ResultFile())
	if f.SaveResult || f.AppendResult {
		if err := f.save(name, r.Result()); err != nil {
			return fmt.Errorf("save the result: %w", err)
		}
		err = f.savePyTorch(name, r)
	}
	f.plots(strings.TrimSuffix(name, filepath.Ext(name)), r)
	return err
}

// plots draws the requested plots into the folder of the result file. One that cannot be drawn is no failure of the
// run.
func (f *vllmFiles) plots(base string, r *vllm.Report) {
	served := make([]plot.Served, len(r.Figures.Requests))
	for i, q := range r.Figures.Requests {
		served[i] = plot.Served{Start: q.Start, TTFT: q.TTFT, Gaps: q.ITL, Prompt: q.Input, Output: q.Output}
	}
	draw := func(asked bool, what, name string, draw func(io.Writer) error) {
		if !asked {
			return
		}
		if err := files.Write(name, draw); err != nil {
			fmt.Fprintf(f.sess.Stderr, "note: %s: %v\n", name, err)
			return
		}
		fmt.Fprintf(f.sess.Stdout, "%s plot saved to: %s\n", what, name)
	}
	limits, _ := f.TimelineLimits() // checked
	draw(f.PlotTimeline, "Timeline", base+".timeline.html", func(w io.Writer) error {
		if _, err := io.WriteString(w, "<!doctype html><meta charset=\"utf-8\"><title>Timeline</title>\n"); err != nil {
			return err
		}
		return plot.Gaps(w, english(), served, limits)
	})
	draw(f.PlotDatasetStats, "Dataset statistics", base+".dataset_stats.png", func(w io.Writer) error {
		return plot.Tokens(plot.PNG{Writer: w}, english(), served)
	})
}

func (f *vllmFiles) note(m plan.Message) {
	fmt.Fprintln(f.sess.Stderr, f.sess.Word("report.note", "note", m))
}

// save writes the result file, or adds a line to it.
func (f *vllmFiles) save(name string, result []byte) error {
	if !f.AppendResult {
		return files.WriteBytes(name, result)
	}
	if info, err := os.Stat(name); err == nil && info.Size() > 0 {
		result = slices.Concat([]byte("\n"), result)
	}
	return files.Append(name, result)
}

// savePyTorch writes the file for the PyTorch benchmark database, if the environment asks
// for it.
func (f *vllmFiles) savePyTorch(name string, r *vllm.Report) error {
	if asked, _ := f.sess.Env("SAVE_TO_PYTORCH_BENCHMARK_FORMAT"); asked == "" {
		return nil
	}
	b, err := r.PyTorch(f.Args)
	if err != nil || b == nil {
		return err
	}
	return files.WriteBytes(strings.TrimSuffix(name, filepath.Ext(name))+".pytorch.json", b)
}
