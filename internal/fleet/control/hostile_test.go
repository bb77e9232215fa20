package control_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// A heading that nobody of Pitot wrote is neither listed nor resumed.
func TestHostileHeadings(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	b := connect(t, s)
	_, url := fleettest.Truth(t, truth.Config{})
	for name, change := range map[string]func(*fleet.Heading){
		"nobody":             func(h *fleet.Heading) { h.Workers, h.Start, h.Bounds = nil, nil, nil },
		"fewer starts":       func(h *fleet.Heading) { h.Start = h.Start[:1] },
		"fewer bounds":       func(h *fleet.Heading) { h.Bounds = nil },
		"another share":      func(h *fleet.Heading) { h.Start[1].Share = 7 },
		"of others":          func(h *fleet.Heading) { h.Start[0].Of = 3 },
		"a worker's subject": func(h *fleet.Heading) { h.Workers[1].ID = "*.>" },
		"no plan":            func(h *fleet.Heading) { h.Run.Plan.Spec = nil },
		"a path":             func(h *fleet.Heading) { h.Run.ID = "../../../etc/cron.d/x" },
	} {
		sp := spec(t, url, open)
		h := fleet.Heading{
			Fleet: "fleet-" + strings.ToLower(rand.Text()[:12]), Run: trace.Run{ID: "20260101-000000-abcd", End: trace.Never, Plan: trace.Load{Spec: &sp}}, Bounds: []time.Duration{1, 2},
			Workers: []fleet.Worker{{ID: fleet.NewKey().ID()}, {ID: fleet.NewKey().ID()}}, Start: []fleet.Start{{Of: 2}, {Share: 1, Of: 2}},
		}
		if err := h.Check(h.Fleet); err != nil {
			t.Fatal(err)
		}
		change(&h)
		if err := delivery.Create(t.Context(), b.Stream(), h); err != nil {
			t.Fatal(err)
		}
		left, err := control.Orphans(t.Context(), b)
		if len(left) != 0 || err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %d are listed, %v", name, len(left), err)
		}
		if _, err := control.Resume(t.Context(), options(t, s, 0), h, deps()); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: resumed, %v", name, err)
		}
		if err := delivery.Remove(t.Context(), b.Stream(), h.Fleet); err != nil {
			t.Fatal(err)
		}
	}
}

// Who resumes a run sends no key to the server that the heading names, and needs none.
func TestResumeHasNoKey(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	b := connect(t, s)
	server, url := fleettest.Truth(t, truth.Config{})
	sp := spec(t, url, open)
	sp.Target.Key = &plan.Source{Env: "A_KEY"}
	sp.Request.Headers = []plan.Header{{Name: "x-other", From: &plan.Source{Given: true}}, {Name: "x-file", From: &plan.Source{File: "/etc/hostname"}}}
	h := fleet.Heading{
		Fleet: "fleet-hostile", Run: trace.Run{ID: "20260101-000000-abcd", End: trace.Never, Plan: trace.Load{Spec: &sp}}, Bounds: []time.Duration{1},
		Workers: []fleet.Worker{{ID: fleet.NewKey().ID(), Name: "a"}}, Start: []fleet.Start{{Of: 1}}, Digest: "another",
	}
	if err := delivery.Create(t.Context(), b.Stream(), h); err != nil {
		t.Fatal(err)
	}
	d := deps()
	d.Env = func(name string) (string, bool) {
		t.Errorf("asked for the variable %s", name)
		return "the-key-of-the-user", true
	}
	d.Read = func(name string) ([]byte, error) {
		t.Errorf("read %s", name)
		return nil, context.Canceled
	}
	if _, err := control.Resume(t.Context(), options(t, s, 0), h, d); err == nil || !strings.Contains(err.Error(), "other requests") {
		t.Errorf("it ended with %v", err)
	}
	if n := len(server.Log().Requests); n > 0 {
		t.Errorf("the server got %d requests", n)
	}
}

// A key does not cross a network in the clear: of a variable each worker has its own, and any other
// refuses the run.
func TestKeysWithoutTLS(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	_, url := fleettest.Truth(t, truth.Config{})
	orders := make(chan fleet.Order, 1)
	l := &liar{self: fleet.Worker{Name: "z", Host: "there"}, asked: func(o fleet.Order) { orders <- o }, ready: func(r *fleet.Readiness) { r.State, r.Why = fleet.Failed, "enough" }}
	l.join(t, s) // it says that it is not private
	for name, tt := range map[string]struct {
		key  plan.Source
		want string
	}{
		"a variable":          {plan.Source{Env: "A_KEY"}, "enough"},
		"an optional one":     {plan.Source{Env: "A_KEY", Optional: true}, "enough"},
		"one that is not set": {plan.Source{Env: "NO_KEY", Optional: true}, "enough"},
		"given":               {plan.Source{Given: true}, "in the clear"},
		"a header":            {plan.Source{}, "in the clear"},
		"a file":              {plan.Source{File: "key"}, "in the clear"},
	} {
		sp := spec(t, url, open)
		sp.Target.Key = &tt.key
		if name == "a header" {
			sp.Target.Key, sp.Request.Headers = nil, []plan.Header{{Name: "Authorization", Value: "Bearer the-key-4711"}}
		}
		d := deps()
		d.Fleet, d.Given = control.New(options(t, s, 0)), nil
		if tt.key.Given {
			d.Given = map[string]string{"target.key": "the-key-4711"}
		}
		d.Env = func(name string) (string, bool) { return "the-key-4711", name == "A_KEY" }
		d.Read = func(string) ([]byte, error) { return []byte("the-key-4711"), nil }
		_, err := run.Prepare(t.Context(), sp, d)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if tt.want != "enough" {
			continue
		}
		o := <-orders
		if text := fmt.Sprintf("%+v", o); strings.Contains(text, "4711") {
			t.Errorf("%s: the order is %s", name, text)
		}
		if from := o.Spec.Target.Key; from.Env != tt.key.Env || from.Optional != (tt.key.Env == "NO_KEY") {
			t.Errorf("%s: its key is %+v", name, from)
		}
	}
}
