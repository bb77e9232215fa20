package cli

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A sweep of a server under rates, of which neither requests nor time are given, measures its answers
// first: they take 5 s, so a load lasts a minute, and a hundred requests; one that cannot be kept up
// with says so. It goes on with the same times.
func TestASweepOfRatesLasts(t *testing.T) {
	race.Skip(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		s, err := apiserver.New(apiserver.Config{Engine: &engine.Config{Scheduler: engine.Scheduler{MaxSequences: 8}, Cost: engine.Costs{Step: 0.1}}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.serve(t, s.Handler())()
		sweep := func(args ...string) (rows []struct {
			Runs      []string
			Unsettled plan.Message
			Figures   map[string]curve.Spread
		},
		) {
			t.Helper()
			v.stdout.Reset()
			v.Args = append([]string{
				"sweep", "--url", "http://engine:8000", "--rate", "1,4", "--output-len", "50", "-f", "json", "-q", "--store", v.store, "--tokenizer", "none",
			}, args...)
			if code := Run(v.Session); code != exitOK {
				t.Fatalf("exit code %d: %s", code, v.stderr.String())
			}
			var out struct{ Rows json.RawMessage }
			if err := json.Unmarshal(v.stdout.Bytes(), &out); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(out.Rows, &rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		rows := sweep("--name", "s")
		if len(rows) != 2 || !rows[0].Unsettled.IsZero() || rows[1].Unsettled.Code != "steady.slowing" {
			t.Fatalf("%+v", rows)
		}
		if at := rows[0].Figures["throughput.requests"].Mean; at < 0.7 || at > 1.3 {
			t.Errorf("%v answers per second at a rate of 1", at)
		}
		again := sweep("--resume", "s")
		for i := range rows {
			if len(rows[i].Runs) != 1 || again[i].Runs[0] != rows[i].Runs[0] || again[i].Figures["ttft.mean"] != rows[i].Figures["ttft.mean"] {
				t.Errorf("%+v, then %+v", rows[i], again[i])
			}
		}
		stored, err := store.Open(v.store)
		if err != nil {
			t.Fatal(err)
		}
		defer stored.Close()
		runs, err := stored.List(store.Filter{})
		if err != nil || len(runs) != 3 { // a light one, and two
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		for i, least := range []time.Duration{100 * time.Second, time.Minute} {
			r, err := stored.Run(rows[i].Runs[0])
			if d := r.Plan.Spec.Duration.Std(); err != nil || d < least || d > least+5*time.Second || r.Plan.Spec.Requests != 0 {
				t.Errorf("a load of %v, %v", d, err)
			}
		}
	})
}
