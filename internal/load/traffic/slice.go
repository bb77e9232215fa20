package traffic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Span is a part of a trace by time, since its first row. A zero To is its end.
type Span struct{ From, To time.Duration }

// ParseSpan reads FROM..TO, of which one may be missing.
func ParseSpan(text string) (s Span, err error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return s, fmt.Errorf("%q: must be FROM..TO, such as 10m..20m, 1h.. or ..30s", text)
	}
	for _, end := range []struct {
		text string
		to   *time.Duration
	}{{from, &s.From}, {to, &s.To}} {
		if end.text == "" {
			continue
		}
		if *end.to, err = time.ParseDuration(end.text); err != nil || *end.to < 0 {
			return s, fmt.Errorf("%q: %q is not a time such as 10m", text, end.text)
		}
	}
	if to != "" && s.To <= s.From {
		return s, fmt.Errorf("%q: ends before it begins", text)
	}
	return s, nil
}

func (s Span) has(t time.Duration) bool { return t >= s.From && (s.To == 0 || t < s.To) }

// A Selection says which rows of a trace are taken. Its zero value takes all that can
// be sent.
type Selection struct {
	Span  Span
	Model string  // alone, where the trace tells models
	Kind  string  // alone, where it tells types of logs: "API log" or a part of that, such as api
	Share float64 // of the rows, drawn at random, each by itself; 0 or 1: all
	Rows  int     // at most, from the first; 0: all
	Seed  uint64
}

// Select takes rows, and notes which it left out. A request without a
// prompt or without an answer, which failed, is none to send again.
func (t *Trace) Select(s Selection) ([]Row, []plan.Message, error) {
	if err := s.check(t); err != nil {
		return nil, nil, err
	}
	var rows []Row
	empty, thinned := 0, 0
	for _, r := range t.Rows {
		switch {
		case !s.Span.has(r.At) || s.Model != "" && r.Model != s.Model || !isKind(r.Kind, s.Kind):
		case r.Input == 0 || r.Output == 0:
			empty++
		case s.Share > 0 && s.Share < 1 && dice(s.Seed, "share", uint64(r.Line)).Float64() >= s.Share:
			thinned++
		default:
			rows = append(rows, r)
		}
		if s.Rows > 0 && len(rows) == s.Rows {
			break
		}
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("none of its %d rows, over %v, is among those asked for", len(t.Rows), t.Length().Round(time.Millisecond))
	}
	notes := slices.Clone(t.Notes)
	if s.Rows > len(rows) {
		notes = append(notes, plan.Say(traceShort, "have", len(rows), "asked", s.Rows))
	}
	if empty > 0 {
		notes = append(notes, plan.Say(traceEmptyRows, "rows", empty))
	}
	if thinned > 0 {
		notes = append(notes, plan.Say(traceThinned, "rows", len(rows)+thinned, "share", s.Share, "sent", len(rows)))
	}
	return rows, notes, nil
}

// check refuses to look for what no row has.
func (s Selection) check(t *Trace) error {
	models, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range t.Rows {
		models[r.Model], kinds[r.Kind] = true, true
	}
	names := func(of map[string]bool) string {
		delete(of, "")
		if len(of) == 0 {
			return "the trace tells none"
		}
		return "the trace has " + strings.Join(slices.Sorted(maps.Keys(of)), ", ")
	}
	known := slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(k string) bool { return isKind(k, s.Kind) })
	switch {
	case s.Model != "" && !models[s.Model]:
		return fmt.Errorf("model %q: %s", s.Model, names(models))
	case !known:
		return fmt.Errorf("log type %q: %s", s.Kind, names(kinds))
	case s.Span.From > t.Length():
		return fmt.Errorf("the slice begins at %v, and the trace ends at %v", s.Span.From, t.Length().Round(time.Millisecond))
	}
	return nil
}

func isKind(kind, asked string) bool {
	return asked == "" || kind != "" && strings.Contains(strings.ToLower(kind), strings.ToLower(asked))
}
