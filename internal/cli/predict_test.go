package cli

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// Stored runs of the load stand beside its prediction, whatever their seeds; runs of another
// load and simulated ones do not.
func TestPredictBesideMeasured(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		network, err := v.Listen("tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		small, err := profile.Load("small-chat")
		if err != nil {
			t.Fatal(err)
		}
		s, err := apiserver.New(apiserver.Config{Engine: &small.Engine})
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: s.Handler()}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		run := func(args ...string) string {
			t.Helper()
			v.stdout.Reset()
			v.Args = append(args, "--store", v.store)
			if code := Run(v.Session); code != exitOK {
				t.Fatalf("%q: exit code %d: %s", args, code, v.stderr.String())
			}
			return v.stdout.String()
		}
		for _, seed := range []string{"3", "4"} {
			run("bench", "-q", "-n", "30", "--rate", "20", "--seed", seed, "--url", "http://engine:8000", "--tokenizer", "none")
		}
		run("bench", "-q", "-n", "30", "--rate", "21", "--url", "http://engine:8000", "--tokenizer", "none")
		run("sim", "-q", "-n", "30", "--rate", "20", "--profile", "small-chat")
		out := run("predict", "small-chat", "-n", "30", "--rate", "20")
		for _, line := range []string{`(?m)^ +predicted +90 % interval +requests +measured +inside$`, `(?m)^TPOT mean .* 2 of 2$`, `(?m)^Beside it are medians of the 2 runs in the store with this load\.$`} {
			if !regexp.MustCompile(line).MatchString(out) {
				t.Errorf("no line %s in\n%s", line, out)
			}
		}
		if out := run("predict", "small-chat", "-n", "31", "--rate", "20"); regexp.MustCompile("Beside|measured").MatchString(out) {
			t.Errorf("another load has runs beside it:\n%s", out)
		}
	})
}

// A point of a sweep of a calibrated profile is what predict says of its load, digit for digit,
// whether a flag or a field of the profile makes it.
func TestSweepPredicts(t *testing.T) {
	race.Skip(t)
	const found = "../../examples/profiles/calibrated.yaml"
	v := newVirtual(t)
	run := func(into any, args ...string) {
		t.Helper()
		v.stdout.Reset()
		v.Args = append(args, "-f", "json", "-n", "40", "--output-len", "30", "--seed", "7", "--level", "80", "--store", v.store)
		if code := Run(v.Session); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, v.stderr.String())
		}
		if err := json.Unmarshal(v.stdout.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	var swept struct {
		Level float64
		Rows  []struct{ Predicted map[string]curve.Reach }
	}
	run(&swept, "sweep", "--profile", found, "--rate", "6,12", "--set", "replicas.count=1,2")
	if swept.Level != 0.8 || len(swept.Rows) != 4 {
		t.Fatalf("%+v", swept)
	}
	for i, rate := range []string{"6", "12"} {
		var said struct {
			Rows []struct{ Prediction predict.Prediction }
		}
		run(&said, "predict", found, "--rate", rate, "--set", "replicas.count=1,2")
		for j, row := range said.Rows {
			for _, f := range row.Prediction.Figures {
				if got := swept.Rows[2*i+j].Predicted[f.Name]; got != (curve.Reach{Value: f.Point, Low: f.Low, High: f.High}) || f.Low >= f.High {
					t.Errorf("rate %s, replicas %d, %s: %+v, and predict says %+v", rate, j+1, f.Name, got, f)
				}
			}
		}
	}
}
