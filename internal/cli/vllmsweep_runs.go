package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// results are result files as the sweep has them.
type results []json.RawMessage

// warmUp is the number of the run that precedes the measured ones.
const warmUp = -1

// combination makes the runs of one combination, and sums them up.
func (s *sweeper) combination(up *running, serve, bench vllm.Params) error {
	folder := vllm.Folder(s.folder, serve, bench)
	if s.WarmupPrompts > 0 {
		if _, err := s.one(up, serve, bench.WithPrompts(s.WarmupPrompts), warmUp, filepath.Join(folder, "warmup.json")); err != nil {
			return err
		}
	}
	var made results
	for n := range s.NumRuns {
		r, err := s.one(up, serve, bench, n, filepath.Join(folder, fmt.Sprintf("run=%d.json", n)))
		if err != nil {
			return err
		}
		if r != nil {
			made = append(made, r)
		}
	}
	switch {
	case s.DryRun:
		return nil
	case made == nil:
		s.printf("[NO SUCCESSFUL MEASURED RUNS] leaving combination retryable")
		return nil
	}
	s.all = append(s.all, made...)
	return s.write(filepath.Join(folder, "summary.json"), vllm.Indented(vllm.List(made), 4))
}

// one makes a run, unless its result is there. With --continue-on-error one that fails is
// noted.
func (s *sweeper) one(up *running, serve, bench vllm.Params, n int, file string) (json.RawMessage, error) {
	r, err := s.measure(up, serve, bench, n, file)
	if err == nil || !s.GoOn || errors.Is(err, session.ErrInterrupted) {
		return r, err
	}
	note := strings.TrimSuffix(file, ".json") + ".failure.json"
	s.printf("[FAILED BENCHMARK] run=%d: %v\nFailure details: %s", n, err, note)
	var o python.Object
	o.Set("run_number", n)
	s.describe(&o, err)
	o.Raw("serve_overrides", serve.JSON())
	o.Raw("bench_overrides", bench.JSON())
	_ = s.reset(up) // which may be what failed
	return nil, s.write(note, append(vllm.Indented(o.Bytes(), 2), '\n'))
}

func (s *sweeper) measure(up *running, serve, bench vllm.Params, n int, file string) (json.RawMessage, error) {
	words := s.words(bench, file)
	s.printf("[BEGIN BENCHMARK]\nBenchmark overrides: %s\nRun Number: %d\nBenchmark command: %s\nOutput file: %s", bench, n, python.Repr(words), file)
	switch {
	case files.Exists(file):
		s.printf("Found existing results.\n[SKIPPED BENCHMARK]")
		return s.updated(serve, bench, n, file)
	case s.DryRun:
		s.printf("[END BENCHMARK]")
		return nil, nil
	case up.server == nil:
		return nil, fmt.Errorf("cannot find results at %s", file)
	}
	out := io.Discard
	if s.ShowStdout {
		out = s.sess.Stdout
	}
	err := s.bench(words, out)
	if err == nil {
		err = up.died()
	}
	if err == nil {
		err = s.reset(up)
	}
	if err != nil { // of which the result is none
		return nil, errors.Join(err, s.discard(file))
	}
	r, err := s.updated(serve, bench, n, file)
	if err == nil {
		err = s.write(file, vllm.Indented(r, 4))
	}
	s.printf("[END BENCHMARK]")
	return r, err
}

// discard removes a result, so that it is made again.
func (s *sweeper) discard(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// maxResult is the limit of a result file, in bytes.
const maxResult = 1 << 30

func (s *sweeper) updated(serve, bench vllm.Params, n int, file string) (json.RawMessage, error) {
	data, err := files.Read(file, maxResult)
	if err != nil {
		return nil, err
	}
	r, err := vllm.Updated(string(data), n, serve, bench)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}
