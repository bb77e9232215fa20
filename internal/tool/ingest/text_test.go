package ingest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/sglang"

	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

func source(name, text string) result.Source {
	return result.Source{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}

func note(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "notes", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// notes are five real ones, with the number of tables in each.
var notes = map[string]int{
	"sglang-deepseek-r1-ascend.txt": 1, "vllm-kvcached-ab.md": 2, "vllm-npu-vl-ablation.md": 10,
	"vllm-npu-vl-before-after-c15.md": 2, "vllm-npu-vl-burst200.md": 5,
}

// describe tells for a reader what was found.
func describe(found []result.Found, problems []result.Problem) string {
	var b strings.Builder
	for _, f := range found {
		o, p := f.Run.Origin, f.Run.Plan
		fmt.Fprintf(&b, "%s:%d %s\n", o.File, o.Line, f.Run.Name)
		fmt.Fprintf(&b, "  %s, %s form %s, path %q, trimmed %v, ends %v\n", f.Run.ID, o.Tool, o.Form, o.Path, o.Trimmed, f.Run.End)
		fmt.Fprintf(&b, "  plan: model %q, url %q, protocol %q, %d requests, seed %d, rate %g, concurrency %d\n", p.Model, p.URL, p.Protocol, p.Requests, p.Seed, p.Rate, p.Concurrency)
		fmt.Fprintf(&b, "        workload %s, arrival %s, server %q\n", said(p.Workload), said(p.Arrival), f.Run.Env.Server)
		for _, c := range o.Claims {
			fmt.Fprintf(&b, "  claim, line %d: %q: %s %s %+.4g ±%.4g\n", c.Line, c.Text, c.Metric, c.Stat, c.Change, c.Step)
		}
		for _, k := range slices.Sorted(maps.Keys(o.Setup)) {
			fmt.Fprintf(&b, "  setup %s: %s\n", k, o.Setup[k])
		}
		for _, a := range o.Around {
			fmt.Fprintf(&b, "  around: %s\n", a)
		}
		for _, fact := range f.Run.Env.Serving.Facts() {
			fmt.Fprintf(&b, "  serving %s: %s\n", fact.Name, fact.Value)
		}
		for _, v := range o.Figures {
			fmt.Fprintf(&b, "  %s %.10g ±%g\n", v.Name, v.Value, v.Step)
		}
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "problem %v\n", p)
	}
	return b.String()
}

// said is a message as data.
func said(m plan.Message) string { return m.Key() }

func TestNotes(t *testing.T) {
	for name, tables := range notes {
		t.Run(name, func(t *testing.T) {
			found, problems := known.Read(source(name, note(t, name)))
			if len(found) != tables {
				t.Errorf("%d tables, want %d", len(found), tables)
			}
			golden.Check(t, "testdata/"+name+".golden", describe(found, problems))
		})
	}
}

// rendered is a run's table as its tool prints it.
func rendered(t *testing.T, run trace.Run) string {
	t.Helper()
	var b strings.Builder
	if err := result.WriteReported(&b, run, vllm.Table(), sglang.Table()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNotesRenderedAgainAreTheSameBytes(t *testing.T) {
	n := 0
	for name := range notes {
		text := note(t, name)
		lines := slices.Collect(strings.Lines(text))
		found, _ := known.Read(source(name, text))
		for _, f := range found {
			got := rendered(t, f.Run)
			height := strings.Count(got, "\n")
			want := strings.Join(lines[f.Run.Origin.Line-1:min(len(lines), f.Run.Origin.Line-1+height)], "")
			if strings.HasSuffix(text, want) { // the last line of a file may lack its end
				got = strings.TrimSuffix(got, "\n")
				want = strings.TrimSuffix(want, "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s:%d: %s", name, f.Run.Origin.Line, diff)
			}
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d tables, want 20", n)
	}
}

// Texts of every kind of trouble; the golden files are to be read.
func TestTexts(t *testing.T) {
	for _, name := range []string{"outline.md", "broken.log", "vllm.log", "sglang.log", "environment.md"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", "text", name))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".golden", describe(known.Read(source("notes/"+name, string(b)))))
		})
	}
}

// All of a text file but its tables' own lines can be lost: what comes back is what
// stood there.
func TestTextsRenderedAgain(t *testing.T) {
	for _, name := range []string{"vllm.log", "sglang.log"} {
		b, err := os.ReadFile(filepath.Join("testdata", "text", name))
		if err != nil {
			t.Fatal(err)
		}
		found, problems := known.Read(source(name, string(b)))
		if len(found) == 0 || len(problems) > 0 {
			t.Fatalf("%s: %d found, %v", name, len(found), problems)
		}
		for _, f := range found {
			if got := rendered(t, f.Run); !strings.Contains(string(b), got) {
				t.Errorf("%s:%d: %s", name, f.Run.Origin.Line, got)
			}
		}
	}
}
