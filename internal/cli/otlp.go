package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/otlp"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

// headers are variables with headers for a collector, as OpenTelemetry's own programs read them; the
// first that is set counts.
var otlpHeaders = []string{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}

// A Collector is what --otlp names.
type otlpCollector struct {
	console *session.Session
	url     *url.URL
	options otlp.Options
}

// New checks --otlp and the headers in the environment, and makes secrets among them known.
func newOTLPCollector(con *session.Session, flag string) (*otlpCollector, error) {
	to, err := otlp.Endpoint(flag)
	if err != nil {
		return nil, session.Usagef("--otlp %q: %w", flag, err)
	}
	c := &otlpCollector{con, to, otlp.Options{Dial: con.Dial, Proxy: con.Proxy()}}
	for _, name := range otlpHeaders {
		text := con.Getenv(name)
		if text == "" || c.options.Header != nil {
			continue
		}
		if c.options.Header, err = otlp.Headers(text); err != nil {
			return nil, session.Usagef("%s: %w", name, err)
		}
	}
	for name := range c.options.Header {
		if value := c.options.Header.Get(name); secret.Header(name) || secret.Known(value) {
			con.Secrets.Add(secret.InHeader(value)...)
		}
	}
	return c, nil
}

// Exporter sends values of a run that is under way.
func (c *otlpCollector) Exporter(run trace.Run) (*otlp.Exporter, error) {
	return otlp.New(c.url, run, c.options)
}

// Send sends what was sampled beside runs, and their progress.
func (c *otlpCollector) Send(s *store.Store, all runs.Traces) error {
	ctx, release := c.console.UntilInterrupt(context.Background())
	defer release()
	for t, err := range all {
		if err == nil {
			err = c.send(ctx, s, t)
		}
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	return nil
}

func (c *otlpCollector) send(ctx context.Context, s *store.Store, t *trace.Trace) error {
	all, err := s.Snapshots(t.Run.ID, trace.Never, math.MaxInt)
	if err != nil {
		return err
	}
	e, err := c.Exporter(t.Run)
	if err != nil {
		return err
	}
	defer e.Close()
	out, err := e.SendAll(ctx, func(yield func(telemetry.Value) bool) {
		if collectorProgress(all, yield) {
			t.Telemetry.Values()(yield)
		}
	})
	if out.Sent > 0 || err == nil {
		fmt.Fprintf(c.console.Stdout, "run %s: %s sent\n", t.Run.ID, session.Plural(out.Sent-out.Rejected, "sample"))
	}
	switch {
	case out.Rejected > 0:
		err = errors.Join(err, fmt.Errorf("collector %s rejected %s: %s", c.url.Redacted(), session.Plural(out.Rejected, "sample"), cmp.Or(out.Message, "no reason given")))
	case out.Message != "":
		fmt.Fprintf(c.console.Stderr, "pitot: collector %s: %s\n", c.url.Redacted(), out.Message)
	}
	return err
}

// progress yields the values of snapshots, series by series, and reports whether more are wanted.
func collectorProgress(all []trace.Snapshot, yield func(telemetry.Value) bool) bool {
	for i := range otlp.Progress(trace.Snapshot{}) {
		for _, s := range all {
			if !yield(otlp.Progress(s)[i]) {
				return false
			}
		}
	}
	return true
}
