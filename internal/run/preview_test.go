package run

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// What is foreseen is what is sent, and nobody is asked for it.
func TestAForecastIsWhatIsSent(t *testing.T) {
	race.Skip(t)
	for name, text := range map[string]string{"random": random, "talk": talk, "simulated": simulated} {
		t.Run(name, func(t *testing.T) {
			f := foreseen(t, spec(t, text))
			synctest.Test(t, func(t *testing.T) {
				p, err := Prepare(t.Context(), spec(t, text), newWorld().Deps)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				input, output := 0, 0
				for _, r := range p.Requests().All() {
					input, output = input+r.PromptTokens, output+r.OutputTokens
				}
				if f.Requests != p.Requests().N || f.Input != input || f.Output != output || f.Unknown != nil {
					t.Errorf("foresaw %d requests of %d and %d tokens, unknown %v; %d of %d and %d are sent", f.Requests, f.Input, f.Output, f.Unknown, p.Requests().N, input, output)
				}
				if f.Workload.Key() != p.built.what.Key() || f.Arrival.Key() != p.built.when.Key() {
					t.Errorf("foresaw %v and %v, not %v and %v", f.Workload, f.Arrival, p.built.what, p.built.when)
				}
				r, err := p.Execute(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				last := r.Trace.Records[0].Due
				for _, rec := range r.Trace.Records {
					last = max(last, rec.Due)
				}
				if f.Duration > last.Sub(0) || f.Duration <= 0 {
					t.Errorf("foresaw %v at least, and the last request was due at %v", f.Duration, last)
				}
			})
		})
	}
}

// foreseen is the forecast of a Spec, which must not dial.
func foreseen(t *testing.T, s plan.Spec) *Forecast {
	t.Helper()
	w := newWorld()
	w.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("asked %s", address)
		return nil, errors.New("no")
	}
	w.Listen = func(string, string) (net.Listener, error) {
		t.Error("started an engine")
		return nil, errors.New("no")
	}
	f, err := Preview(t.Context(), s, w.Deps)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Of a server that nobody asks, its model and its tokenizer are unknown, and lengths are
// known all the same.
func TestAForecastSaysWhatOnlyTheServerKnows(t *testing.T) {
	f := foreseen(t, spec(t, strings.Replace(random, "target: {engine: {ttft: \"normal(20ms,4ms)\", itl: 5ms, seed: 3}}", "target: {url: \"http://127.0.0.1:9\"}", 1)))
	var codes []plan.Code
	for _, u := range f.Unknown {
		codes = append(codes, u.Code)
	}
	if f.Requests != 30 || f.Output != 240 || f.Input < 300 || f.Input > 1200 || len(codes) != 2 || codes[0] != unknownModel || codes[1] != unknownTokenizer {
		t.Errorf("%+v", f)
	}
}
