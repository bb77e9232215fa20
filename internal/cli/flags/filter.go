package flags

import (
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

// A Filter selects runs of a list.
type Filter struct {
	Kind    string   `enum:"all,measured,simulated,imported" default:"all" placeholder:"KIND" help:"Only runs of this kind: measured, simulated or imported."`
	Status  string   `enum:"all,complete,interrupted,running,killed" default:"all" placeholder:"STATUS" help:"Only runs with this status: complete, interrupted, running or killed."`
	Verdict string   `enum:"all,valid,doubtful,invalid" default:"all" placeholder:"VERDICT" help:"Only runs with this verdict: valid, doubtful or invalid."`
	Model   string   `placeholder:"NAME" help:"Only runs of this model, or of those that match a pattern."`
	Tag     []string `sep:"none" placeholder:"TAG" help:"Only runs with this tag; repeated: with all of them."`
	Since   string   `placeholder:"WHEN" help:"Only runs that began since a date (2026-01-31), or in this time until now (24h, 7d)."`
}

// Selects reports whether the flags leave anything out.
func (f Filter) Selects() bool {
	return f.Kind != "all" || f.Status != "all" || f.Verdict != "all" || f.Model != "" || f.Since != "" || len(f.Tag) > 0
}

// Select is what the flags say; match is the argument, empty for all runs.
func (f Filter) Select(match string) (store.Filter, error) {
	since, err := runs.Since(f.Since, time.Now())
	if err != nil {
		return store.Filter{}, session.Usagef("--since %q: %w", f.Since, err)
	}
	but := func(name string) string { return strings.TrimPrefix(name, "all") }
	return store.Filter{
		Match: match, Kind: trace.RunKind(but(f.Kind)), Status: trace.Status(but(f.Status)), Validity: trace.Validity(but(f.Verdict)), Model: f.Model, Since: since, Tags: f.Tag,
	}, nil
}
