package cli

import (
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// Stored runs of the load stand beside its prediction, whatever their seeds; runs of another
// load and simulated ones do not.
func TestPredictBesideMeasured(t *testing.T) {
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
			if code := Run(v.Process); code != exitOK {
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
