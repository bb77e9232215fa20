package ingest

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Whatever a file holds: places are inside it, figures are numbers, and a table
// that is printed again says the same.
func FuzzText(f *testing.F) {
	for _, folder := range []string{"notes", "text"} {
		files, err := os.ReadDir(filepath.Join("testdata", folder))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(filepath.Join("testdata", folder, file.Name()))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := source("a.md", string(b))
		last := 1
		for l, err := range lines(decoded(s)) {
			if err != nil {
				t.Fatal(err)
			}
			last = l.n
		}
		inside := func(what string, line int) {
			if line < 0 || line > last {
				t.Errorf("%s is in line %d of %d", what, line, last)
			}
		}
		found, problems := known.readText(s)
		again, _ := known.readText(s)
		if len(found)+len(problems) == 0 {
			t.Error("nothing found, and nothing said")
		}
		for _, p := range problems {
			inside(p.Reason, p.Line)
		}
		for i, run := range found {
			o := run.Run.Origin
			if run.Run.ID != again[i].Run.ID {
				t.Error("another id for the same table")
			}
			inside("a table", o.Line)
			for _, c := range o.Claims {
				inside(c.Text, c.Line)
				if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) || c.Step <= 0 {
					t.Errorf("claim %+v", c)
				}
			}
			if len(o.Figures) == 0 {
				t.Error("a run without figures")
			}
			readsBack(t, run.Run)
		}
	})
}

// sorted are figures by name: a table's rows may have stood in any order.
func sorted(all []trace.ReportedFigure) []trace.ReportedFigure {
	return slices.SortedFunc(slices.Values(all), func(a, b trace.ReportedFigure) int { return cmp.Compare(a.Name, b.Name) })
}

func readsBack(t *testing.T, run trace.Run) {
	var b strings.Builder
	if err := result.WriteReported(&b, run, vllm.Table(), sglang.Table()); err != nil {
		t.Fatal(err)
	}
	again, problems := known.readText(source("b.md", b.String()))
	if len(again) != 1 {
		t.Fatalf("%d tables, %v in\n%s", len(again), problems, b.String())
	}
	got := again[0].Run.Origin
	if diff := gocmp.Diff(sorted(run.Origin.Figures), sorted(got.Figures)); diff != "" || got.Tool != run.Origin.Tool {
		t.Fatalf("%s: %s\n%s", got.Tool, diff, b.String())
	}
}

// Whatever arguments are told, what they ask for can be said.
func FuzzPlanOfWhatIsTold(f *testing.F) {
	f.Add("Namespace(dataset_name='random', random_input_len=3, goodput=['ttft:1'], backend='vllm', burstiness=inf)")
	f.Add("Namespace(dataset_name='image', request_rate=nan, max_concurrency=-1, profile_stages=[1], gsp_zipf_alpha=2)")
	f.Fuzz(func(_ *testing.T, text string) {
		settings, _, _ := python.ReadNamespace(text)
		for _, t := range known.tools {
			if t.Plan != nil {
				t.Plan(settings)
			}
		}
	})
}
