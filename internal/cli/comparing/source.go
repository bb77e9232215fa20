package comparing

import (
	"context"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Limits of the note on the page of a run: of so many runs all are marked, of more the one; and bytes of a name that
// the page takes.
const (
	mostMarked = 500
	longName   = 1000
)

// source is a note of the store; nil of one that cannot be read, which `pitot runs check` reports.
func (p *Page) source(id string) *trace.Note {
	n, err := p.Runs.Note(id)
	if err != nil {
		return nil
	}
	return n
}

// RunNote answers the note that a run came from. Its tables have the names that they have in the comparison of all runs
// of the note; that those are no comparison is no reason not to show it.
func (p *Page) RunNote(ctx context.Context, ref string, lang *words.Language) (out view.RunNote, err error) {
	l, err := p.Runs.Find(ref)
	if err != nil {
		return out, err
	}
	run, err := p.Runs.Run(l.ID)
	if err != nil || run.Origin == nil || run.Origin.Note == nil {
		return out, err
	}
	list, err := p.Runs.List(store.Filter{Note: run.Origin.Note.ID, Limit: mostMarked + 1})
	if err != nil {
		return out, err
	}
	ids := make([]string, 0, len(list))
	for _, l := range slices.Backward(list) { // oldest first
		ids = append(ids, l.ID)
	}
	if len(ids) > mostMarked {
		ids = []string{l.ID}
	}
	name := strings.Join(ids, ",")
	r, err := p.compare(ctx, view.Asked{Runs: []string{name}})
	if err == nil && len(r.Workloads) == 0 {
		r, err = p.compare(ctx, view.Asked{Runs: []string{l.ID}})
	}
	if err != nil {
		return out, err
	}
	out.Notes = comparison.Marked(r.Comparison, lang, p.source)
	several := func(w compare.Workload) bool { return len(w.Variants) > 1 }
	if r.refused == nil && slices.ContainsFunc(r.Workloads, several) && len(name) <= longName {
		out.Compare = name
	}
	return out, nil
}
