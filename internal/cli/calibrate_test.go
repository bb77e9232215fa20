package cli

import (
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A server of known costs is measured under its loads, each kept, and found again.
func TestCalibrateMeasures(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		network, err := v.Listen("tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := apiserver.New(apiserver.Config{Engine: &engine.Config{
			Cost: engine.Costs{Step: 0.013, Sequence: 60e-6, ContextToken: 50e-9, Prefill: 0.003, PrefillToken: 40e-6, Jitter: 0.02},
		}})
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: s.Handler()}
		go func() { _ = server.Serve(network) }()
		v.Args = []string{"calibrate", "--url", "http://engine:8000", "--store", v.store, "--", "--tokenizer", "none"}
		code := Run(v.Session)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, v.stderr.String())
		}
		for _, line := range []string{
			`(?m)^  step +1[23]\.?\d*ms ± `, `(?m)^  prefill_token +(39|40)\.?\d*us ± `, `(?m)^  calibrate-[-\d]+/4: \d+ requests, 64 in flight$`, `(?m)^trust it `,
		} {
			if !regexp.MustCompile(line).MatchString(v.stdout.String()) {
				t.Errorf("no line %s in\n%s", line, v.stdout.String())
			}
		}
		if !strings.Contains(v.stderr.String(), "run 12 of 12: --rate=1000 --requests=") {
			t.Error(v.stderr.String())
		}
		if last := v.last(t); !strings.HasSuffix(last.Run.Name, "/12") || len(last.Records) < 40 {
			t.Errorf("%s has %d records", last.Run.Name, len(last.Records))
		}
	})
}

// A heldBack server is behind something that holds each answer back until it is whole.
type heldBack struct{ http.Handler }

type whole struct {
	http.ResponseWriter
	bytes.Buffer
}

func (w *whole) Write(b []byte) (int, error)       { return w.Buffer.Write(b) }
func (w *whole) WriteString(s string) (int, error) { return w.Buffer.WriteString(s) }
func (w *whole) Flush()                            {}

func (h heldBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := &whole{ResponseWriter: w}
	h.Handler.ServeHTTP(all, r)
	_, _ = w.Write(all.Bytes())
}

// A run that is invalid twice ends the calibration with the reason: no engine is found from it.
func TestCalibrateEndsWithAnInvalidRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		network, err := v.Listen("tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := apiserver.New(apiserver.Config{Engine: &engine.Config{Cost: engine.Costs{Step: 0.01, PrefillToken: 20e-6}}})
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: heldBack{s.Handler()}}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		v.Args = []string{"calibrate", "--url", "http://engine:8000", "--store", v.store, "-o", filepath.Join(t.TempDir(), "x.yaml"), "--", "--tokenizer", "none"}
		if code := Run(v.Session); code != exitFailed {
			t.Errorf("exit code %d", code)
		}
		stderr := v.stderr.String()
		if !strings.Contains(stderr, "pitot: run 1 of 12, both tries: a run is invalid: ") || !strings.Contains(stderr, "run 1 of 12, second try: ") ||
			strings.Contains(stderr, "run 2 of 12") || !strings.Contains(stderr, "what was measured is kept; to go on: pitot calibrate --resume calibrate-20") {
			t.Error(stderr)
		}
	})
}

// What a calibration has measured is not measured again: only the runs that lack, with prompts that the server has
// not seen.
func TestCalibrateGoesOn(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		s, err := apiserver.New(apiserver.Config{Engine: &engine.Config{
			Cost: engine.Costs{Step: 0.013, Sequence: 60e-6, ContextToken: 50e-9, Prefill: 0.003, PrefillToken: 40e-6, Jitter: 0.02},
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.serve(t, s.Handler())()
		all := []string{"calibrate", "--url", "http://engine:8000", "--store", v.store, "--tokenizer", "none"}
		if v.Args = all; Run(v.Session) != exitOK {
			t.Fatal(v.stderr.String())
		}
		last := v.last(t).Run
		name, seeds := strings.TrimSuffix(last.Name, "/12"), map[uint64]bool{last.Plan.Seed: true}
		if v.Args = []string{"runs", "rm", name + "/12", "--store", v.store}; Run(v.Session) != exitOK {
			t.Fatal(v.stderr.String())
		}
		v.stderr.Reset()
		if v.Args = append(all, "--resume", name); Run(v.Session) != exitOK {
			t.Fatal(v.stderr.String())
		}
		if made := v.stderr.String(); !strings.Contains(made, "run 12 of 12") || strings.Contains(made, "run 11 of 12") {
			t.Error(made)
		}
		if again := v.last(t).Run; again.Name != last.Name || seeds[again.Plan.Seed] {
			t.Errorf("%s with seed %d", again.Name, again.Plan.Seed)
		}
		v.stderr.Reset()
		if v.Args = append(all, "--resume", "calibrate-0"); Run(v.Session) != exitUsage || !strings.Contains(v.stderr.String(), "--resume calibrate-0: no stored runs of a calibration of http://engine:8000 have this name") {
			t.Error(v.stderr.String())
		}
	})
}
