package flags

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/runs"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Filter selects runs of a list.
type Filter struct {
	Kind    string   `enum:"all,measured,simulated,imported" default:"all" placeholder:"KIND" help:"Only runs of this kind: measured, simulated or imported."`
	Status  string   `enum:"all,complete,interrupted,running,killed" default:"all" placeholder:"STATUS" help:"Only runs with this status: complete, interrupted, running or killed."`
	Verdict string   `enum:"all,valid,doubtful,invalid" default:"all" placeholder:"VERDICT" help:"Only runs with this verdict: valid, doubtful or invalid."`
	Model   string   `placeholder:"NAME" help:"Only runs of this model, or of those that match a pattern."`
	Load    string   `placeholder:"TEXT" help:"Only runs of loads that have these words as the list writes them, or match a pattern, such as '*256->64*'."`
	Tag     []string `sep:"none" placeholder:"TAG" help:"Only runs with this tag; repeated: with all of them."`
	Since   string   `placeholder:"WHEN" help:"Only runs that began since a date (2026-01-31), or in this time until now (24h, 7d)."`
}

// Selects reports whether the flags leave anything out.
func (f Filter) Selects() bool {
	return f.Kind != "all" || f.Status != "all" || f.Verdict != "all" || f.Model != "" || f.Load != "" || f.Since != "" || len(f.Tag) > 0
}

// Within narrows a filter to the loads of a store that the flag names, in the words of a language.
func (f Filter) Within(s *store.Store, filter *store.Filter, l *words.Language) error {
	if f.Load == "" {
		return nil
	}
	all, err := s.Loads()
	wanted := strings.Fields(strings.ToLower(strings.ReplaceAll(f.Load, "->", "→")))
	if strings.ContainsAny(f.Load, "*?") {
		wanted = []string{strings.Join(wanted, " ")}
	}
	filter.Loads = []int64{} // none
	for _, load := range all {
		name := strings.ToLower(report.Load(load.Plan(), l))
		if !slices.ContainsFunc(wanted, func(word string) bool { return !likes(word, name) }) {
			filter.Loads = append(filter.Loads, load.Example)
		}
	}
	return err
}

// likes reports whether a text has a word in it, or matches a pattern: * is any text and ? one character.
func likes(word, text string) bool {
	if !strings.ContainsAny(word, "*?") {
		return strings.Contains(text, word)
	}
	pattern := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(word))
	ok, err := regexp.MatchString("(?s)^"+pattern+"$", text)
	return err == nil && ok
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
