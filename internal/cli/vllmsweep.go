package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// A sweeper carries out a command line.
type sweeper struct {
	*vllm.Line
	sess    *session.Session
	bench   func(words []string, stdout io.Writer) error
	serves  []vllm.Params
	benches []vllm.Params
	folder  string // of the experiment
	all     results
}

// runVLLMSweep carries out the flags of `vllm bench sweep serve`; sentBy names the fleet that sends the requests,
// if one does. bench makes the run of a command line of `vllm bench serve`, of the words after vllm.
//
// The server of each combination of its parameters is started once, and all combinations of the load's are measured on
// it, each several times; between two runs its caches are reset. Folders and files are those of vLLM. Unlike there, all
// command lines are checked before a server is started.
func runVLLMSweep(sess *session.Session, bench func(words []string, stdout io.Writer) error, args []string, sentBy session.Fleet) error {
	line, err := vllm.ParseSweep(args)
	switch {
	case errors.Is(err, python.ErrHelp):
		_, err = io.WriteString(sess.Stdout, flags.VLLMSweep(sess))
		return err
	case err != nil:
		return session.Usagef("vllm bench sweep serve: error: %w", err)
	}
	s := &sweeper{Line: line, sess: sess, bench: bench}
	if err := s.prepare(); err != nil {
		return session.Usagef("vllm bench sweep serve: error: %w", err)
	}
	if !s.DryRun {
		end, err := sess.JoinFleet(sentBy, false)
		if err != nil {
			return err
		}
		defer end()
	}
	return s.run()
}

// prepare reads the files, checks all combinations, and finds the folder.
func (s *sweeper) prepare() (err error) {
	if s.serves, err = params("--serve-params", s.ServeParams); err != nil {
		return err
	}
	if s.benches, err = params("--bench-params", s.BenchParams); err != nil {
		return err
	}
	if s.After == nil && !s.DryRun && !resets(s.Serve) {
		return fmt.Errorf("--serve-cmd: nobody knows how to reset the caches of %s; give --after-bench-cmd", filepath.Base(s.Serve[0]))
	}
	for _, b := range s.benches {
		words := s.words(b, "run=0.json")
		if l, err := foreignLineOf(words); err != nil || l.foreignClient != clientVLLM && l.foreignClient != clientVLLMRust {
			return fmt.Errorf("--bench-cmd: must be vllm bench serve and its flags")
		}
		if _, err := s.sess.Command(slices.Concat([]string{filepath.Base(words[0])}, words[1:])); err != nil {
			return fmt.Errorf("--bench-cmd with %s: %w", b, err)
		}
	}
	name := cmp.Or(python.Value(s.Experiment), time.Now().Format("20060102_150405"))
	s.folder = filepath.Join(s.OutputDir, name)
	switch there := files.Exists(s.folder); {
	case s.Resume && !there:
		return fmt.Errorf("--resume: %s does not exist", s.folder)
	case !s.Resume && there:
		return fmt.Errorf("--experiment-name: %s exists already; --resume goes on with it", s.folder)
	}
	return nil
}

// params are those of a file that a flag names.
func params(flag string, file *string) ([]vllm.Params, error) {
	if file == nil || *file == "" {
		return vllm.Unchanged(), nil
	}
	data, err := files.ReadSmall(*file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	all, err := vllm.ReadParams(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %s %w", flag, *file, err)
	}
	return all, nil
}

// words are the command line of a run with a file for its result.
func (s *sweeper) words(bench vllm.Params, file string) []string {
	return append(bench.Apply(s.Bench), "--percentile-metrics", "ttft,tpot,itl,e2el", "--save-result", "--result-dir", filepath.Dir(file), "--result-filename", filepath.Base(file))
}

func (s *sweeper) printf(format string, a ...any) { fmt.Fprintf(s.sess.Stdout, format+"\n", a...) }

// run makes all combinations, and writes the table of all results.
func (s *sweeper) run() error {
	for i, serve := range s.serves {
		err := s.serve(i, serve)
		if err != nil && s.GoOn && !errors.Is(err, session.ErrInterrupted) {
			err = s.failed(serve, err)
		}
		if err != nil {
			fmt.Fprintln(s.sess.Stderr, "pitot: --resume goes on with what is missing")
			return err
		}
	}
	if s.DryRun {
		s.printf("Experiment will be saved at: %s", s.folder)
		return nil
	}
	table, err := vllm.SweepTable(s.all)
	if err == nil {
		err = s.write(filepath.Join(s.folder, "summary.csv"), table)
	}
	if err == nil {
		s.printf("Experiment has been saved at: %s", s.folder)
	}
	return err
}

// write makes a file, and its folder.
func (s *sweeper) write(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return files.WriteBytes(name, b)
}

func (s *sweeper) failed(serve vllm.Params, why error) error {
	name := "default"
	if len(serve) > 0 {
		name = serve.Name()
	}
	file := filepath.Join(s.folder, vllm.FileName("SERVE-"+name+"-failure.json"))
	s.printf("[FAILED SERVER COMBINATION] %s: %v\nFailure details: %s", name, why, file)
	var o python.Object
	s.describe(&o, why)
	o.Raw("serve_overrides", serve.JSON())
	return s.write(file, append(vllm.Indented(o.Bytes(), 2), '\n'))
}

// describe writes an error as the tool does.
func (s *sweeper) describe(o *python.Object, why error) {
	o.Set("error_type", "RuntimeError")
	o.Set("error", s.sess.Secrets.Hide(why.Error()))
}

// serve makes the combinations of one server, which is started unless all of them are there.
func (s *sweeper) serve(n int, serve vllm.Params) error {
	up := &running{}
	if !s.complete(serve) {
		s.printf("[BEGIN SERVER]\nServer overrides: %s\nServer command: %s", serve, python.Repr(serve.Apply(s.Serve)))
		if !s.DryRun {
			var err error
			if up, err = s.start(n, serve); err != nil {
				return err
			}
			defer up.stop(context.Background())
		}
	}
	for _, bench := range s.benches {
		if !s.Linked(serve, bench) {
			continue
		}
		if err := s.combination(up, serve, bench); err != nil {
			return err
		}
	}
	if !s.complete(serve) || up.server != nil {
		s.printf("[END SERVER]")
	}
	return nil
}

// complete reports whether all combinations of a server have their summaries.
func (s *sweeper) complete(serve vllm.Params) bool {
	return !slices.ContainsFunc(s.benches, func(b vllm.Params) bool {
		return !files.Exists(filepath.Join(vllm.Folder(s.folder, serve, b), "summary.json"))
	})
}
