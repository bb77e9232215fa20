package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// said are messages in English.
func said(all ...plan.Message) (texts []string) {
	for _, m := range all {
		texts = append(texts, words.In("en").Say(m))
	}
	return texts
}

// saidOf are the values of a setting in English, by variant.
func saidOf(r SettingDiff) (values []string) {
	for _, of := range r.Values {
		values = append(values, strings.Join(said(of...), ", "))
	}
	return values
}

// planned is a run of ours with a plan.
func planned(variant, name string, edit func(*trace.Run)) ComparedRun {
	r := named(variant, "ttft.mean", 0.1)
	r.run.ID, r.run.Name = name, name
	r.run.Plan = trace.Load{Dialect: "pitot", Protocol: "chat", Stream: true, Workload: plan.Text("random 256→64 tokens, 100 requests"), Requests: 100, Rate: 5, Arrival: plan.Text("Poisson 5 req/s")}
	if edit != nil {
		edit(&r.run)
	}
	return r
}

// foreign are the tools whose figures can be computed.
var foreign = metrics.Rules{vllm.Definitions(), sglang.Definitions()}

// tabled is a run of which there is only a table.
func tabled(form string, path []string, edit func(*trace.Run)) ComparedRun {
	t := &trace.Trace{Run: trace.Run{ID: strings.Join(path, "-"), Kind: trace.Imported, Plan: trace.Load{Requests: 100, Rate: 5}, Origin: &trace.Origin{
		Tool: "vllm", Form: form, Detail: trace.Table, File: "note.md", Path: path,
		Figures: []trace.ReportedFigure{{Name: "requests.ok", Value: 100}, {Name: "tokens.input", Value: 25600}, {Name: "ttft.mean", Value: 0.1, Step: 1e-5}, {Name: "peak.concurrency", Value: 7}},
	}}}
	if edit != nil {
		edit(&t.Run)
	}
	return Observe(t, nil, foreign)
}

// layout is which variants share a workload.
func layout(t *testing.T, o Options, runs ...ComparedRun) (string, Comparison) {
	t.Helper()
	c, err := Compare(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, w := range c.Workloads {
		var columns []string
		for _, v := range w.Variants {
			columns = append(columns, fmt.Sprintf("%s×%d", v.Name, len(v.Runs)))
		}
		out = append(out, w.Name+": "+strings.Join(columns, " | "))
	}
	return strings.Join(out, "; "), c
}

func TestLoadsTellWorkloadsApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(*trace.Run)
		apart string
	}{
		{"the same", nil, ""},
		{"another seed", func(r *trace.Run) { r.Plan.Seed = 7 }, ""},
		{"another server", func(r *trace.Run) { r.Env.Server = "0.9"; r.Plan.URL = "http://b" }, ""},
		{"another rate", func(r *trace.Run) { r.Plan.Rate = 6 }, "rate"},
		{"another process", func(r *trace.Run) { r.Plan.Arrival = plan.Text("constant 5 req/s") }, "arrival"},
		{"more requests", func(r *trace.Run) { r.Plan.Requests = 101 }, "requests"},
		{"a limit", func(r *trace.Run) { r.Plan.Concurrency = 8 }, "concurrency"},
		{"longer prompts", func(r *trace.Run) { r.Plan.Workload = plan.Text("random 512→64 tokens, 100 requests") }, "workload"},
		{"whole answers", func(r *trace.Run) { r.Plan.Stream = false }, "stream"},
		{"another protocol", func(r *trace.Run) { r.Plan.Protocol = "completions" }, "protocol"},
	} {
		got, result := layout(t, Options{}, planned("A", "a", nil), planned("B", "b", c.edit))
		want := ": A×1 | B×1"
		if c.apart != "" {
			want = ": A×1; : B×1"
			if len(result.Notes) != 1 || !strings.Contains(said(result.Notes...)[0], "--ignore "+c.apart+" puts them together") {
				t.Errorf("%s: %q", c.name, result.Notes)
			}
			if joint, _ := layout(t, Options{Ignore: []string{"--" + c.apart}}, planned("A", "a", nil), planned("B", "b", c.edit)); joint != ": A×1 | B×1" {
				t.Errorf("%s: with --ignore %s: %s", c.name, c.apart, joint)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

func TestWhatATableDoesNotTellDoesNotSeparate(t *testing.T) {
	records := planned("ours", "ours", nil)
	records.add(runFigure{ReportedFigure: trace.ReportedFigure{Name: "tokens.input", Value: 25700}, definition: foreign.Definition("pitot", "tokens.input")})
	records.add(runFigure{ReportedFigure: trace.ReportedFigure{Name: "requests.ok", Value: 100}, definition: foreign.Definition("pitot", "requests.ok")})
	theirs := tabled("2025-12", nil, nil)
	theirs.Variant = "theirs"
	if got, _ := layout(t, Options{}, records, theirs); got != ": ours×1 | theirs×1" {
		t.Error(got)
	}
	longer := tabled("2025-12", nil, func(r *trace.Run) { r.Origin.Figures[1].Value = 26000 })
	longer.Variant = "longer"
	if got, _ := layout(t, Options{}, records, longer); got != ": ours×1; : longer×1" {
		t.Errorf("prompts 1.2 %% longer: %s", got)
	}
	// The oldest tables have no row for a rate.
	oldest := tabled("2025-07", nil, func(r *trace.Run) { r.Plan.Rate = 0 })
	oldest.Variant = "oldest"
	if got, _ := layout(t, Options{}, records, oldest); got != ": ours×1 | oldest×1" {
		t.Error(got)
	}
	// A run that knows little joins one of those that are apart.
	limited := planned("limited", "limited", func(r *trace.Run) { r.Plan.Concurrency = 4 })
	if got, _ := layout(t, Options{}, oldest, records, limited); got != ": oldest×1 | ours×1; : limited×1" {
		t.Error(got)
	}
}

func TestResidueIsNeverSilent(t *testing.T) {
	a := planned("A", "a", func(r *trace.Run) {
		r.Plan.Seed, r.Env.Host, r.Plan.Spec = 1, "h1", &plan.Spec{Name: "a", Seed: 1, Request: plan.Request{Body: json.RawMessage(`{}`)}}
	})
	a2 := planned("A", "a", func(r *trace.Run) {
		r.Plan.Seed, r.Env.Host, r.Plan.Spec = 2, "h1", &plan.Spec{Name: "a", Seed: 2, Request: plan.Request{Body: json.RawMessage(`{}`)}}
	})
	b := planned("B", "b", func(r *trace.Run) {
		r.Plan.Seed, r.Env.Host, r.Plan.Spec = 1, "h2", &plan.Spec{Name: "b", Seed: 1}
	})
	_, c := layout(t, Options{}, a, a2, b)
	var got []string
	for _, r := range c.Workloads[0].SettingDiffs {
		got = append(got, r.Setting+": "+strings.Join(saidOf(r), " | "))
	}
	if want := []string{"seed: 1, 2 | 1", "host: h1 | h2", "body: {} | not set"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	_, c = layout(t, Options{Ignore: []string{"seed", "Host", "body"}}, a, a2, b)
	if got := c.Workloads[0].SettingDiffs; len(got) != 0 {
		t.Errorf("ignored: %v", got)
	}
	if _, err := Compare([]ComparedRun{a, b}, Options{Ignore: []string{"sede"}}); err == nil || !strings.Contains(err.Error(), "ignore[0] sede") || !strings.Contains(err.Error(), "seed") {
		t.Errorf("%v", err)
	}
}

func TestWhatAllVariantsWentThroughIsNoResidue(t *testing.T) {
	seeded := func(variant string, seeds ...uint64) (runs []ComparedRun) {
		for _, s := range seeds {
			runs = append(runs, planned(variant, variant, func(r *trace.Run) { r.Plan.Seed = s }))
		}
		return runs
	}
	for _, c := range []struct {
		a, b   []uint64
		paired bool
		want   []string
	}{
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}, false, nil},
		{[]uint64{1, 2}, []uint64{2, 1}, false, nil},
		{[]uint64{1, 2}, []uint64{2, 1}, true, []string{"1, 2", "2, 1"}},
		{[]uint64{1, 2}, []uint64{1, 2, 1, 2}, false, nil},
		{[]uint64{7, 7}, []uint64{7}, false, nil},
		{[]uint64{1, 1, 2}, []uint64{1, 2, 2}, false, []string{"1, 1, 2", "1, 2, 2"}},
		{[]uint64{1, 2}, []uint64{3, 4}, false, []string{"1, 2", "3, 4"}},
		{[]uint64{1, 2}, nil, false, []string{"1, 2"}},
	} {
		_, result := layout(t, Options{Paired: c.paired}, slices.Concat(seeded("A", c.a...), seeded("B", c.b...))...)
		var got []string
		for _, r := range result.Workloads[0].SettingDiffs {
			got = append(got, saidOf(r)...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("seeds %v and %v, paired %v: %q, want %q", c.a, c.b, c.paired, got, c.want)
		}
	}
}

// The embedded engine listens on a port of its own in each run.
func TestWhereTheEmbeddedEngineListensIsNoResidue(t *testing.T) {
	for _, embedded := range []bool{true, false} {
		at := func(variant, url string) ComparedRun {
			return planned(variant, variant, func(r *trace.Run) { r.Plan.URL, r.Env.Embedded = url, embedded })
		}
		_, c := layout(t, Options{}, at("A", "http://127.0.0.1:1"), at("B", "http://127.0.0.1:2"))
		if got := len(c.Workloads[0].SettingDiffs) == 0; got != embedded {
			t.Errorf("embedded %t: %v", embedded, c.Workloads[0].SettingDiffs)
		}
	}
}

func TestAProfileIsResidueOnce(t *testing.T) {
	with := func(variant, name, text string) ComparedRun {
		return planned(variant, variant, func(r *trace.Run) { r.Env.Profile = &trace.Profile{Name: name, Text: text} })
	}
	settings := func(runs ...ComparedRun) (out []string) {
		_, c := layout(t, Options{}, runs...)
		for _, r := range c.Workloads[0].SettingDiffs {
			out = append(out, r.Setting)
		}
		return out
	}
	if got := settings(with("A", "x", "1"), with("B", "y", "2")); !slices.Equal(got, []string{"profile"}) {
		t.Error(got)
	}
	if got := settings(with("A", "x", "1"), with("B", "x", "2")); !slices.Equal(got, []string{"profile-text"}) {
		t.Error(got)
	}
}

func TestNamesTellVariantsFromRepeatedRuns(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"base-1", "base-2", "patch-1", "patch-2", "patch-3"}, "base×2 | patch×3"},
		{[]string{"tp-2", "tp-4", "tp-8"}, "tp-2×1 | tp-4×1 | tp-8×1"},
		{[]string{"a / run=0", "a / run=1", "b / run=0"}, "a×2 | b×1"},
		{[]string{"a.run1", "a.run2"}, "a×2"},
		{[]string{"a-20260102-030405", "a-20260103-030405"}, "a×2"},
		{[]string{"a", "a-2", "b"}, "a×2 | b×1"},
		{[]string{"run1", "run2"}, "runs×2"},
		{[]string{"a", "a", "b"}, "a×2 | b×1"},
		{[]string{"new", "baseline"}, "baseline×1 | new×1"},
		{[]string{"before", "main"}, "before×1 | main×1"}, // two that are named so: the first
		{[]string{"patched", "w/o patch"}, "w/o patch×1 | patched×1"},
		{[]string{"oldest", "based on x"}, "oldest×1 | based on x×1"},
	} {
		var runs []ComparedRun
		for _, n := range c.names {
			runs = append(runs, planned("", n, nil))
		}
		if got, _ := layout(t, Options{}, runs...); got != ": "+c.want {
			t.Errorf("%v: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestLabelsAndHeadings(t *testing.T) {
	labelled := func(label string, path ...string) ComparedRun {
		r := tabled("2025-12", path, nil)
		r.Variant = label
		return r
	}
	for _, c := range []struct {
		name string
		runs []ComparedRun
		want string
	}{
		{
			"an argument with one heading is its label",
			[]ComparedRun{labelled("before", "Serving"), labelled("after", "Serving"), labelled("after", "Serving")},
			"Serving: before×1 | after×2",
		},
		{
			"headings of an argument are variants",
			[]ComparedRun{labelled("note", "One"), labelled("note", "Two"), labelled("other", "Three")},
			": note / One×1 | note / Two×1 | other×1",
		},
		{
			"names without headings are repeated runs",
			[]ComparedRun{planned("before", "x", nil), planned("before", "y", nil), planned("after", "z", nil)},
			": before×2 | after×1",
		},
		{
			"a heading that tells variants apart elsewhere does so where it is alone",
			[]ComparedRun{
				labelled("", "A", "Latency"), labelled("", "B", "Latency"),
				tabled("2025-12", []string{"B", "Throughput"}, func(r *trace.Run) { r.Plan.Rate = 0 }),
			},
			"Latency: A×1 | B×1; Throughput: B×1",
		},
	} {
		if got, _ := layout(t, Options{}, c.runs...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheBaselineAskedFor(t *testing.T) {
	runs := []ComparedRun{planned("", "baseline", nil), planned("", "patch", nil)}
	got, c := layout(t, Options{Baseline: "Patch"}, runs...)
	if got != ": patch×1 | baseline×1" || slices.ContainsFunc(said(c.Workloads[0].Notes...), func(n string) bool { return strings.Contains(n, "is the baseline") }) {
		t.Errorf("%s %q", got, c.Workloads[0].Notes)
	}
	_, err := Compare(runs, Options{Baseline: "other"})
	if err == nil || err.Error() != `baseline other: no variant is called so; there are "baseline", "patch"` {
		t.Errorf("%v", err)
	}
	_, c = layout(t, Options{Baseline: "patch"}, append(runs, planned("", "lone", func(r *trace.Run) { r.Plan.Rate = 9 }))...)
	if n := said(c.Workloads[1].Notes...); len(n) != 1 || !strings.Contains(n[0], "only variant") {
		t.Errorf("%q", n)
	}
}

func TestRunsAreInTheOrderOfTheirStart(t *testing.T) {
	at := func(id string, hour int) ComparedRun {
		return planned("A", id, func(r *trace.Run) { r.Started = time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) })
	}
	_, c := layout(t, Options{}, at("late", 9), at("early", 3))
	if r := c.Workloads[0].Variants[0].Runs; r[0].ID != "early" || r[1].ID != "late" {
		t.Errorf("%+v", r)
	}
}

func TestDefinitionsHaveTheirOwnRows(t *testing.T) {
	a := tabled("2025-12", []string{"A"}, nil)
	b := tabled("main", []string{"B"}, func(r *trace.Run) { r.Origin.Tool = "sglang" })
	_, c := layout(t, Options{}, a, b)
	w := c.Workloads[0]
	rows := map[string]int{}
	for _, r := range w.Rows {
		rows[r.Quantity.Name]++
		if r.Quantity.Name == "peak.concurrency" && (r.Cells[1].Change != nil || len(r.Cells[0].Values)+len(r.Cells[1].Values) != 1) {
			t.Errorf("%+v", r)
		}
	}
	if rows["peak.concurrency"] != 2 || rows["ttft.mean"] != 2 {
		t.Errorf("%v", rows)
	}
	if !slices.ContainsFunc(said(w.Notes...), func(n string) bool {
		return strings.Contains(n, "peak concurrency") && strings.Contains(n, "vllm and sglang")
	}) {
		t.Errorf("%q", w.Notes)
	}
}

func TestNeededFollowsTheTables(t *testing.T) {
	ours := trace.Run{}
	vllm := trace.Run{Origin: &trace.Origin{Tool: "vllm", Form: "2025-12", Detail: trace.Table}}
	detailed := trace.Run{Origin: &trace.Origin{Tool: "vllm", Form: "2025-12", Detail: trace.Undated}}
	guide := trace.Run{Origin: &trace.Origin{Tool: "guidellm", Detail: trace.Summed}}
	for _, c := range []struct {
		runs []trace.Run
		o    Options
		want []RuleSource
	}{
		{[]trace.Run{ours, detailed}, Options{}, []RuleSource{{Tool: "pitot"}}},
		{[]trace.Run{ours, vllm, vllm}, Options{}, []RuleSource{{"vllm", "2025-12"}}},
		{[]trace.Run{ours, guide}, Options{}, []RuleSource{{Tool: "pitot"}}},
		{[]trace.Run{ours, vllm}, Options{Tool: "sglang"}, []RuleSource{{Tool: "sglang"}}},
	} {
		if got := needed(c.runs, c.o); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

func needed(runs []trace.Run, o Options) []RuleSource {
	o.Rules = foreign
	return Needed(runs, o)
}

func TestRunsThatCouldBePairedAreTold(t *testing.T) {
	seeded := func(variant string, seeds ...uint64) (runs []ComparedRun) {
		for _, s := range seeds {
			runs = append(runs, planned(variant, variant, func(r *trace.Run) { r.Plan.Seed = s }))
		}
		return runs
	}
	for _, c := range []struct {
		a, b []uint64
		o    Options
		want bool
	}{
		{[]uint64{1, 2}, []uint64{1, 2}, Options{}, true},
		{[]uint64{1, 2}, []uint64{1, 2}, Options{Paired: true}, false},
		{[]uint64{1, 1}, []uint64{1, 1}, Options{}, false},
		{[]uint64{1, 2}, []uint64{2, 1}, Options{}, false},
		{[]uint64{1}, []uint64{1}, Options{}, false},
	} {
		_, result := layout(t, c.o, slices.Concat(seeded("A", c.a...), seeded("B", c.b...))...)
		if got := slices.ContainsFunc(said(result.Workloads[0].Notes...), func(n string) bool { return strings.Contains(n, "--paired") }); got != c.want {
			t.Errorf("seeds %v and %v: %q", c.a, c.b, result.Workloads[0].Notes)
		}
	}
}

func TestDoubtsAboutRunsAreTold(t *testing.T) {
	bad := planned("A", "a", func(r *trace.Run) {
		r.Verdict = &trace.Verdict{Validity: trace.Invalid, Reasons: []plan.Message{plan.Text("requests left late")}}
		r.Status = trace.Interrupted
	})
	_, c := layout(t, Options{}, bad, planned("B", "b", nil))
	notes := strings.Join(said(c.Workloads[0].Notes...), "\n")
	if !strings.Contains(notes, "run a is invalid by its own verdict: requests left late") || !strings.Contains(notes, "run a did not complete (interrupted)") {
		t.Errorf("%s", notes)
	}
	if got := c.Workloads[0].Variants[0].Runs[0].Verdict; got != trace.Invalid {
		t.Errorf("%q", got)
	}
}
