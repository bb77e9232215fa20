package run

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A RemedyError can be avoided by settings.
type RemedyError struct {
	Err  error
	Ways []Way
}

// A Way out is a setting, by its path, and its effect on an error.
type Way struct{ Path, Does string }

func (e *RemedyError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *RemedyError) Unwrap() error { return e.Err }

// Named are the ways out, a line each, by the front end's names of their settings; nil if it has none of them.
func (e *RemedyError) Named(nameOf func(path string) string) error {
	var lines []error
	for _, w := range e.Ways {
		if name := nameOf(w.Path); name != "" {
			lines = append(lines, errors.New(name+" "+w.Does))
		}
	}
	return errors.Join(lines...)
}

func remedied(err error, ways ...Way) error { return &RemedyError{err, ways} }

// refused is err with the ways out of a request that failed before the run, by the server's
// words, and others; failed may be nil.
func (x *execution) refused(err error, failed *driver.FailedError, others ...Way) error {
	var ways []Way
	if failed != nil {
		ways = x.waysOut(failed.Record)
	}
	if ways = append(ways, others...); len(ways) == 0 {
		return err
	}
	return remedied(err, ways...)
}

// waysOut are the settings that change the refused part of a request: members that it names, or else, where the
// prompts are token ids, these; or how it answers.
func (x *execution) waysOut(r *trace.Record) []Way {
	if ways := namedModels(x.Prepared.run.Env.Models, x.spec.Request.Model, r); ways != nil {
		return ways
	}
	elsewhere := []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable,
	}
	if r.Class != trace.HTTP && r.Class != trace.StreamError || slices.Contains(elsewhere, r.Status) || r.Status/100 < 4 && r.Class == trace.HTTP {
		return waysToRead(r)
	}
	body, members := x.without(r)
	switch {
	case len(members) > 0 && !slices.Equal(members, []string{"ignore_eos"}):
		return []Way{{"request.body", "'" + body + "' leaves out what was refused"}}
	case strings.Contains(r.Error, "ignore_eos"):
		return []Way{{"request.ignore_eos", "is why ignore_eos is asked for; --no-ignore-eos leaves it out"}}
	case r.Class == trace.HTTP && len(x.small("", 1).Tokens) > 0:
		return []Way{
			{"tokenizer.vocab", "keeps token ids below the size of the server's vocabulary"},
			{"tokenizer.where", "names a tokenizer, and prompts are text then: some servers take no lists of token ids"},
		}
	}
	return nil
}

// mostModels are the models of a server that an error names, each by at most modelRunes runes.
const (
	mostModels = 5
	modelRunes = 80
)

// namedModels names the models that the server lists, where it refuses one that is none of them.
func namedModels(models []string, asked string, r *trace.Record) []Way {
	unknown := r.Class == trace.HTTP && (r.Status == http.StatusNotFound || r.Status/100 == 4 && strings.Contains(strings.ToLower(r.Error), "model"))
	if !unknown || len(models) == 0 || slices.Contains(models, asked) {
		return nil
	}
	var names []string
	for _, name := range models[:min(len(models), mostModels)] {
		if all := []rune(name); len(all) > modelRunes {
			name = string(all[:modelRunes]) + "…"
		}
		names = append(names, name)
	}
	if rest := len(models) - mostModels; rest > 0 {
		names = append(names, fmt.Sprintf("%d more", rest))
	}
	return []Way{{"request.model", "must name a model of the server: it lists " + strings.Join(names, ", ")}}
}

// waysToRead are the settings by which an answer can be read that was not.
func waysToRead(r *trace.Record) []Way {
	got, noStream := strings.CutPrefix(r.Error, endpoint.NotAStream)
	switch {
	case r.Class != trace.Malformed:
		return nil
	case noStream && strings.HasPrefix(got, "text/html"):
		return []Way{{"target.url", "must name the API itself: this is a page, such as that of a login"}}
	case noStream && strings.Contains(got[:min(len(got), len(`application/json: "{`))], `"{`):
		return []Way{{"request.stream", "asks for whole answers"}}
	case strings.HasPrefix(r.Error, endpoint.Compressed):
		return []Way{{"target.headers", "Accept-Encoding=identity asks for answers that are not compressed"}}
	case strings.HasPrefix(r.Error, transport.ErrEventTooLarge.Error()):
		return []Way{{"client.max_event", "takes larger events, in MiB"}}
	case strings.HasPrefix(r.Error, endpoint.ErrLarge.Error()):
		return []Way{{"client.max_body", "takes larger answers, in MiB"}}
	}
	return nil
}

type coldStart struct {
	failed int
	none   bool                // nothing was answered
	alike  bool                // and all of it failed with the same words
	why    *driver.FailedError // the first failure
}

// judgeWarmUp leaves it to the run to tell how answers end, and that they are empty.
func judgeWarmUp(records []*trace.Record) (c coldStart) {
	c.none, c.alike = true, true
	for _, r := range records {
		if r.OK() || r.Class == trace.Empty || r.Class == trace.Truncated && len(r.Chunks) > 0 {
			c.none = false
			continue
		}
		if c.failed++; c.why == nil {
			c.why = &driver.FailedError{Record: r}
		}
		c.alike = c.alike && c.why.Error() == (&driver.FailedError{Record: r}).Error()
	}
	return c
}

// Unanswered is the error of a run in which every request failed, with the words of the
// first of the most frequent failure; nil of another.
func (r *Result) Unanswered() error {
	q := r.Summary.Requests
	if !q.Unanswered() {
		return nil
	}
	most := q.Classes[0]
	first := trace.NewRecord(0)
	for some, err := range r.each() {
		if i := slices.IndexFunc(some, func(rec *trace.Record) bool {
			return rec.Class == most.Class && (most.Status == 0 || rec.Status == most.Status)
		}); err == nil && i >= 0 {
			first = some[i]
			break
		}
	}
	err := fmt.Errorf("none of %d requests was answered: %w", q.Failed, &driver.FailedError{Record: first})
	ways := namedModels(r.Trace.Run.Env.Models, r.Trace.Run.Plan.Model, first)
	if ways == nil {
		ways = waysToRead(first)
	}
	if ways == nil {
		return err
	}
	return remedied(err, ways...)
}
