package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// prepareResults makes sure that the result file can be written, before there is
// one to lose.
func (v vllmRun) prepareResults() error {
	if !v.SaveResult && !v.AppendResult {
		return nil
	}
	dir := v.resultDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usagef("--result-dir: %w", err)
	}
	if v.ResultFilename != nil {
		dir = filepath.Dir(join(dir, *v.ResultFilename))
	}
	probe, err := os.CreateTemp(dir, ".pitot-*")
	if err != nil {
		return usagef("the result file could not be written: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// report prints the table and writes the result files.
func (v vllmRun) report(t *trace.Trace) error {
	r, err := vllm.NewReport(t, "")
	if err != nil {
		return err
	}
	if err := errors.Join(r.WriteErrors(v.p.Stdout), r.WriteTable(v.p.Stdout)); err != nil {
		return err
	}
	name := r.ResultFile()
	if name == "" {
		return nil
	}
	name = join(v.resultDir(), name)
	if err := v.save(name, r.Result()); err != nil {
		return fmt.Errorf("save the result: %w", err)
	}
	return v.savePyTorch(name, r)
}

// resultDir is the folder of the result file.
func (v vllmRun) resultDir() string {
	if v.ResultDir == nil || *v.ResultDir == "" {
		return "."
	}
	return *v.ResultDir
}

// join is Python's os.path.join: an absolute name stands for itself.
func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// save writes the result file, or adds a line to it.
func (v vllmRun) save(name string, result []byte) error {
	if !v.AppendResult {
		return os.WriteFile(name, result, 0o644)
	}
	info, err := os.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && info.Size() > 0 {
		result = append([]byte("\n"), result...)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(result)
	return errors.Join(err, file.Close())
}

// savePyTorch writes the file for the PyTorch benchmark database, if the
// environment asks for it.
func (v vllmRun) savePyTorch(name string, r *vllm.Report) error {
	if v.p.getenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT") == "" {
		return nil
	}
	b, err := r.PyTorch()
	if err != nil || b == nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(name, filepath.Ext(name))+".pytorch.json", b, 0o644)
}
