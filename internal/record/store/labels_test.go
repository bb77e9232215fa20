package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// to is a change of labels to others.
func to(wanted trace.Labels) func(*trace.Labels) error {
	return func(l *trace.Labels) error {
		*l = wanted
		return nil
	}
}

func TestLabelsAreKept(t *testing.T) {
	s := open(t)
	add(t, s, newRun("a", "", 1), newRun("b", "", 2))
	got, err := s.Label("a", to(trace.Labels{Tags: []string{"z", " b  c ", "z"}, Remark: "one\r\ntwo\n"}))
	want := trace.Labels{Tags: []string{"b c", "z"}, Remark: "one\ntwo"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	l, err := s.Find("a")
	if diff := cmp.Diff(want, l.Labels); err != nil || diff != "" {
		t.Error(err, diff)
	}
	run, err := s.Run("a")
	if diff := cmp.Diff(&want, run.Labels); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if run, err := s.Run("b"); err != nil || run.Labels != nil {
		t.Errorf("%v: %+v", err, run.Labels)
	}
	var body string
	if err := s.db.QueryRow("SELECT body FROM run_body WHERE run_id = 'a'").Scan(&body); err != nil || strings.Contains(body, "labels") {
		t.Errorf("%v: the body of the run is %s", err, body)
	}
	if tags, err := s.Tags(); err != nil || !cmp.Equal(tags, []string{"b c", "z"}) {
		t.Errorf("%v: %v", err, tags)
	}
	if _, err := s.Label("a", to(trace.Labels{})); err != nil {
		t.Fatal(err)
	}
	if run, err := s.Run("a"); err != nil || run.Labels != nil {
		t.Errorf("%v: %+v", err, run.Labels)
	}
	if _, err := s.Label("c", to(want)); !errors.Is(err, ErrNoRun) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestLabelsThatCannotBe(t *testing.T) {
	s := open(t)
	add(t, s, newRun("a", "", 1))
	stored := trace.Labels{Tags: []string{"kept"}, Remark: "kept"}
	if _, err := s.Label("a", to(stored)); err != nil {
		t.Fatal(err)
	}
	var many []string
	for i := range trace.MaxTags + 1 {
		many = append(many, strings.Repeat("x", i+1))
	}
	for name, l := range map[string]trace.Labels{
		"an empty tag":       {Tags: []string{" "}},
		"a long tag":         {Tags: []string{strings.Repeat("é", trace.MaxTag+1)}},
		"a line break":       {Tags: []string{"a\nb"}},
		"a tab":              {Tags: []string{"a\tb"}},
		"a control sequence": {Tags: []string{"a\x1b[31m"}},
		"bad UTF-8":          {Tags: []string{"a\xff"}},
		"a bidi override":    {Tags: []string{"a\u202eb"}},
		"a line separator":   {Tags: []string{"a\u2028b"}},
		"a plus":             {Tags: []string{"+a"}},
		"a minus":            {Tags: []string{"-a"}},
		"a comma":            {Tags: []string{"a,b"}},
		"many tags":          {Tags: many},
		"a long remark":      {Remark: strings.Repeat("é", trace.MaxRemark+1)},
		"a control remark":   {Remark: "a\x00b"},
	} {
		if _, err := s.Label("a", to(l)); err == nil {
			t.Errorf("%s is kept", name)
		}
	}
	l, err := s.Find("a")
	if diff := cmp.Diff(stored, l.Labels); err != nil || diff != "" {
		t.Error(err, diff)
	}
	longest := trace.Labels{Tags: []string{strings.Repeat("é", trace.MaxTag)}, Remark: strings.Repeat("é", trace.MaxRemark)}
	if got, err := s.Label("a", to(longest)); err != nil || !cmp.Equal(got, longest) {
		t.Error(err)
	}
}

// A run is labelled while it goes on, and keeps its labels when it ends.
func TestTheWriterOfARunLeavesItsLabels(t *testing.T) {
	s := open(t)
	run := newRun("a", "", 1)
	w, err := s.Create(run, Owner{})
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Labels{Tags: []string{"live"}, Remark: "r"}
	if _, err := s.Label("a", to(want)); err != nil {
		t.Fatal(err)
	}
	run.Status = trace.Complete
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	l, err := s.Find("a")
	if diff := cmp.Diff(want, l.Labels); err != nil || diff != "" || l.Status != trace.Complete {
		t.Error(err, l.Status, diff)
	}
}

// Labels come back from an export. What another store kept and this one does not is left out.
func TestLabelsAreExportedAndImported(t *testing.T) {
	s, other := open(t), open(t)
	add(t, s, newRun("a", "", 1))
	want := trace.Labels{Tags: []string{"one", "two"}, Remark: "three"}
	if _, err := s.Label("a", to(want)); err != nil {
		t.Fatal(err)
	}
	exported, err := s.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, exported); err != nil {
		t.Fatal(err)
	}
	var back trace.Trace
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	back.Run.Labels.Tags = append(back.Run.Labels.Tags, "a\x1bb", "one")
	if _, err := other.Import(back.Run, nil, nil); err != nil {
		t.Fatal(err)
	}
	l, err := other.Find("a")
	if diff := cmp.Diff(want, l.Labels); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A repaired store has the labels of its runs, also of one whose body is damaged.
func TestRepairKeepsLabels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	add(t, s, newRun("a", "", 1), newRun("b", "", 2))
	want := trace.Labels{Tags: []string{"one"}, Remark: "two"}
	for _, id := range []string{"a", "b"} {
		if _, err := s.Label(id, to(want)); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, file, "UPDATE run_body SET body = 'x' WHERE run_id = 'a'")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if h, err := Repair(file, nil); err != nil || len(h.Damage) != 1 || h.DamagedFile == "" {
		t.Fatalf("%v: %v", err, h)
	}
	repaired := openFile(t, file)
	for _, id := range []string{"a", "b"} {
		run, err := repaired.Run(id)
		if diff := cmp.Diff(&want, run.Labels); err != nil || diff != "" {
			t.Error(id, err, diff)
		}
	}
}

// A store of an older version takes labels.
func TestAnOldStoreTakesLabels(t *testing.T) {
	s := openFile(t, unpack(t, oldest, ""))
	list, err := s.List(Filter{})
	if err != nil || len(list) == 0 || !list[0].IsZero() {
		t.Fatalf("%v: %+v", err, list)
	}
	want := trace.Labels{Tags: []string{"kept"}}
	if _, err := s.Label(list[0].ID, to(want)); err != nil {
		t.Fatal(err)
	}
	tagged, err := s.List(Filter{Tags: []string{"kept"}})
	if err != nil || len(tagged) != 1 || !cmp.Equal(tagged[0].Labels, want) {
		t.Errorf("%v: %+v", err, tagged)
	}
}

// A store that cannot be written keeps no labels, and says so.
func TestLabelsOfAStoreThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	add(t, s, newRun("a", "", 1))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(file), 0o700) })
	if err := errors.Join(s.Close(), os.Chmod(file, 0o400), os.Chmod(filepath.Dir(file), 0o500)); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRead(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Label("a", to(trace.Labels{Tags: []string{"x"}})); err == nil {
		t.Error("labels were kept")
	}
}
