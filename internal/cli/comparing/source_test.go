package comparing

import (
	"errors"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// The page of a run from a note has the note, each table under the name that the comparison of all its runs gives it.
func TestNoteOfARun(t *testing.T) {
	s := newShelf(t)
	note := &trace.Note{Passages: []trace.Passage{{Line: 1, Text: "before\ntable\nagain\n\nafter\ntable"}}}
	_, note.ID = note.Body()
	table := func(id, variant string, line int, value float64) {
		run := trace.Run{ID: id, Name: "note / " + variant, Kind: trace.Imported, Status: trace.Complete, End: trace.Never, Origin: &trace.Origin{
			Tool: "vllm", Detail: trace.Table, File: "note.md", Line: line, Path: []string{variant}, Note: note,
			Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: value, Step: 1e-5}, {Name: "requests.ok", Value: 10}},
		}}
		if _, err := s.Import(run, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	table("imp-1", "before", 2, 1)
	table("imp-2", "before", 3, 1.01)
	p := NewPage(s.Store, "", "1")
	n, err := p.RunNote(t.Context(), "imp-2", english)
	if err != nil || len(n.Notes) != 1 || n.Compare != "" {
		t.Errorf("of one variant: %v: %+v", err, n)
	}
	table("imp-3", "after", 6, 0.8)
	n, err = p.RunNote(t.Context(), "imp-2", english)
	if err != nil || n.Compare != "imp-1,imp-2,imp-3" || len(n.Notes) != 1 {
		t.Fatalf("%v: %+v", err, n)
	}
	var marks []view.NoteMark
	for _, part := range n.Notes[0].Parts {
		marks = append(marks, part.Marks...)
	}
	if len(marks) != 3 || marks[1] != (view.NoteMark{Place: "line 3", Text: "before (run 2 of 2)", Run: "imp-2"}) || marks[2].Text != "after" {
		t.Errorf("%+v", marks)
	}
	c := ask(t, p, view.Asked{Runs: []string{n.Compare}})
	if c.Refused != nil || len(c.Sources) != 1 || !strings.HasPrefix(c.Sources[0].Title, "note.md") {
		t.Errorf("%+v, %+v", c.Refused, c.Sources)
	}
	own := s.put("own", 1)
	if n, err := p.RunNote(t.Context(), own, english); err != nil || len(n.Notes) > 0 {
		t.Errorf("%v: %+v", err, n)
	}
	if _, err := p.RunNote(t.Context(), "none", english); !errors.Is(err, store.ErrNoRun) {
		t.Errorf("error %v", err)
	}
}
