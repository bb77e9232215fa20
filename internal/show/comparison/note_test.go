package comparison

import (
	"bytes"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// notes are a note of each kind in each language.
func notes(t *testing.T) map[string]Note {
	t.Helper()
	return map[string]Note{
		"tables-en": ofTables(t, "en"), "tables-zh": ofTables(t, "zh"),
		"runs-en": ofRuns(t, "en"), "runs-zh": ofRuns(t, "zh"),
		"experiment-en": ofExperiment(t, "en"), "experiment-zh": ofExperiment(t, "zh"),
	}
}

func write(t *testing.T, n Note) NotePage {
	t.Helper()
	page, err := n.Write()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestNotes(t *testing.T) {
	for name, n := range notes(t) {
		golden.Check(t, "testdata/note/"+name+".md", string(write(t, n).Markdown))
	}
}

var image = regexp.MustCompile(`!\[[^\n]*\]\(([^)\s]+)\)`)

// Every plot is shown once, every image is there, fences and folds end.
func TestNotesAreWhole(t *testing.T) {
	for name, n := range notes(t) {
		page := write(t, n)
		var shown []string
		for _, m := range image.FindAllStringSubmatch(string(page.Markdown), -1) {
			path, err := url.PathUnescape(m[1])
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, path)
		}
		var written []string
		for _, f := range page.Plots {
			written = append(written, f.Name)
			if !strings.HasPrefix(f.Name, n.Folder+"/") || !bytes.Contains(f.Data, []byte("<svg")) {
				t.Errorf("%s: %s is no plot in %s", name, f.Name, n.Folder)
			}
		}
		if len(written) == 0 || !slices.Equal(shown, written) {
			t.Errorf("%s shows %q and has %q", name, shown, written)
		}
		fences, folds := 0, 0
		for line := range strings.Lines(string(page.Markdown)) {
			if strings.HasPrefix(line, "```") {
				fences++
			}
			folds += strings.Count(line, "<details>") - strings.Count(line, "</details>")
		}
		if fences%2 != 0 || folds != 0 {
			t.Errorf("%s: %d fences, %d folds left open", name, fences, folds)
		}
	}
}

func TestTheSameRunsGiveTheSameBytes(t *testing.T) {
	a, b := write(t, ofRuns(t, "zh")), write(t, ofRuns(t, "zh"))
	if !reflect.DeepEqual(a, b) {
		t.Error("a note of the same runs is another")
	}
}

// Tables have no requests, so they have no plots of requests.
func TestTablesHaveDotsOnly(t *testing.T) {
	for _, f := range write(t, ofTables(t, "en")).Plots {
		if !strings.HasSuffix(f.Name, "-changes.svg") {
			t.Errorf("a note of tables has %s", f.Name)
		}
	}
	var names []string
	for _, f := range write(t, ofRuns(t, "en")).Plots {
		names = append(names, strings.TrimPrefix(f.Name, "plots/1-"))
	}
	if want := []string{"changes.svg", "ttft.svg", "itl.svg", "output.svg", "timeline-1.svg", "timeline-2.svg"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	for name, n := range notes(t) {
		for _, secret := range []string{"sk-abcdefgh12345", "abcdef"} {
			if strings.Contains(string(write(t, n).Markdown), secret) {
				t.Errorf("%s repeats %s", name, secret)
			}
		}
	}
}

func TestHide(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"api_key", "x1", "***"},
		{"hf-token", "hf_x", "***"},
		{"api_key", "None", "None"},
		{"tokenizer", "Qwen/Qwen2.5", "Qwen/Qwen2.5"},
		{"tokenize_prompt", "False", "False"},
		{"max_tokens", "128", "128"},
		{"header", "Authorization: Bearer abcdef.ghi", "Authorization: ***"},
		{"header", "['X-Trace=1', 'api-key=abcdef']", "['X-Trace=1', 'api-key=***']"},
		{"extra_request_body", `{"token": "abcdef", "top_k": 1}`, `{"token": "***", "top_k": 1}`},
		{"base_url", "http://me:pass@host:80/v1", "http://host:80/v1"},
		{"base_url", "http://host:80/v1", "http://host:80/v1"},
		{"note", "with sk-abcdefgh1234", "with sk-***"},
	} {
		if got := hide(c.name, c.value); got != c.want {
			t.Errorf("%s = %s becomes %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

// What rests on single runs is no verdict, and what rests on borrowed noise says so.
func TestVerdictsSayNoMoreThanTheirBasis(t *testing.T) {
	n := ofRuns(t, "en")
	load := &n.Comparison.Workloads[0]
	for _, c := range []struct {
		basis   compare.Basis
		verdict compare.Verdict
		want    []string
		not     []string
	}{
		{compare.Within, compare.CannotTell, []string{"chance within the runs does not explain", "how much runs differ from each other is not known", "5 times or more"}, []string{"is better**"}},
		{compare.Nothing, compare.CannotTell, []string{"nothing can be said of any difference", "5 times or more"}, []string{"is better**"}},
		{compare.Borrowed, compare.Better, []string{"**优化后 is better**: output throughput", "taken from the others"}, []string{"times or more"}},
	} {
		for i := range load.Rows {
			changed := *load.Rows[i].Cells[1].Change
			changed.Basis, changed.Verdict, changed.ExcludesZero = c.basis, c.verdict, c.basis == compare.Within
			load.Rows[i].Cells[1].Change = &changed
		}
		n.Comparison.Conclude()
		text := string(write(t, n).Markdown)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", c.basis, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q", c.basis, not)
			}
		}
	}
}

// Whatever is missing, there is a note.
func TestNotesOfLittle(t *testing.T) {
	one := compare.Workload{Variants: []compare.Variant{{Name: "A", Runs: []compare.Ref{{ID: "gone"}}}}}
	for want, c := range map[string]compare.Comparison{
		"Nothing to compare.":                              {},
		"one variant: there is nothing to compare it with": {Workloads: []compare.Workload{one}},
	} {
		if text := string(write(t, Note{Title: "T", Comparison: c}).Markdown); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestRunsAreSmall(t *testing.T) {
	tr := streamed("a", 1)
	tr.Run.Probes = []*trace.Record{{}}
	if r := NewNoteRun(tr, "\n=== table ===\n\n"); r.Probes != nil || r.Table != "=== table ===" || len(r.Digest.TTFT) == 0 {
		t.Errorf("%+v", r)
	}
}

// A note says how many machines sent the load of a run.
func TestNoteOfAFleet(t *testing.T) {
	n := ofRuns(t, "en")
	for i := range n.Runs {
		n.Runs[i].Env.Pitot = "1.2.0"
		n.Runs[i].Fleet = &trace.Fleet{Workers: make([]trace.FleetWorker, 1+3*(i/3))}
	}
	text := string(write(t, n).Markdown)
	for _, want := range []string{"one machine sent the load", "4 machines sent the load"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}
