package comparison

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// legs are so many of a variant, a run each, whose first position is given.
func legs(name string, n, first int) compare.Variant {
	v := compare.Variant{Name: name}
	for i := range n {
		v.Runs = append(v.Runs, compare.Ref{ID: name, Tool: "pitot", Detail: trace.Recorded, Verdict: trace.Valid, Leg: first + i})
	}
	return v
}

// blocked is a change of an experiment.
func blocked(v compare.Verdict, relative, half float64, more int) *compare.Change {
	c := &compare.Change{Relative: relative, Interval: interval(relative-half, relative+half), Basis: compare.Blocks, Verdict: v, More: more}
	c.Bound = max(-c.Interval.Low, c.Interval.High)
	return c
}

// judged is a row of an experiment: the baseline and a change for each other variant.
func judged(name string, value float64, changes ...*compare.Change) compare.Row {
	r := compare.Row{
		Quantity: figure.Lookup(name), Definition: metrics.Definition{ID: "pitot"},
		Drift: &compare.Shift{Relative: 0.0004, Interval: interval(-0.0004, 0.0012)}, Spread: &compare.Spread{Start: 0.004, StartDF: 9, Restarted: true},
		Cells: []compare.Cell{{Values: []float64{value}, Center: value}},
	}
	for _, c := range changes {
		c.Order = &compare.Shift{Relative: 0.002, Interval: interval(-0.01, 0.014)}
		r.Cells = append(r.Cells, compare.Cell{Values: []float64{value * (1 + c.Relative)}, Center: value * (1 + c.Relative), Change: c})
	}
	return r
}

// experiment is one of three variants and two loads, with what confirms the choice of pad.
func experiment() compare.Comparison {
	load := func(name string, rows ...compare.Row) compare.Workload {
		return compare.Workload{
			Name: name, Settings: settings("requests", "500"), Layout: &compare.Layout{Experiment: "vision", Blocks: 4, Restarted: true, Units: []int{4, 4, 4}},
			Variants: []compare.Variant{legs("base", 4, 1), legs("rope", 4, 5), legs("pad", 4, 9)}, Rows: rows,
		}
	}
	fresh := func(name string, rows ...compare.Row) compare.Workload {
		return compare.Workload{
			Name: name, Settings: settings("requests", "500"), Layout: &compare.Layout{Experiment: "vision", Blocks: 2, Restarted: true, Confirms: true, Units: []int{4, 4}},
			Variants: []compare.Variant{legs("base", 4, 13), legs("pad", 4, 17)}, Rows: rows,
		}
	}
	return concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{
		load("throughput",
			judged("throughput.output", 298.5, blocked(compare.Same, 0.002, 0.006, 0), blocked(compare.Better, 0.011, 0.004, 0)),
			judged("ttft.mean", 0.945, blocked(compare.Same, 0.003, 0.009, 0), blocked(compare.Same, -0.008, 0.009, 0)),
			judged("ttft.p99", 5.986, blocked(compare.CannotTell, -0.03, 0.08, 40), blocked(compare.CannotTell, 0.03, 0.08, 400))),
		load("latency",
			judged("ttft.mean", 10.365, blocked(compare.Worse, 0.041, 0.012, 0), blocked(compare.Better, -0.035, 0.012, 0)),
			judged("ttft.p99", 22.606, blocked(compare.CannotTell, 0.02, 0.03, 8), blocked(compare.Better, -0.045, 0.021, 0))),
		fresh("throughput", judged("throughput.output", 297, blocked(compare.Same, 0.009, 0.008, 0))),
		fresh("latency", judged("ttft.mean", 10.2, blocked(compare.Better, -0.031, 0.02, 0)), judged("ttft.p99", 22, blocked(compare.CannotTell, -0.04, 0.06, 6))),
	}})
}

// amongTheSame is an A/A experiment, which may find what is not there.
func amongTheSame(v compare.Verdict) compare.Comparison {
	c := concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{{
		Name: "load", Settings: settings("requests", "200"), Layout: &compare.Layout{Experiment: "aa", Same: true, Blocks: 2},
		Variants: []compare.Variant{legs("before", 4, 1), legs("again", 4, 5)},
		Rows:     []compare.Row{judged("ttft.mean", 0.945, blocked(v, 0.05, 0.04, 12)), judged("tpot.mean", 0.02, blocked(compare.Same, 0.001, 0.01, 0))},
	}}})
	c.Workloads[0].Variants[1].Runs[2].Verdict = trace.Doubtful
	return c
}

func TestExperiments(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		for line := range strings.Lines(textOf(t, experiment(), Options{Width: width})) {
			if n := doc.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("at %d: %d columns in %q", width, n, line)
			}
		}
	}
	for name, c := range map[string]compare.Comparison{"experiment": experiment(), "same": amongTheSame(compare.CannotTell), "alarm": amongTheSame(compare.Worse)} {
		for _, language := range words.Names() {
			o := Options{Lang: words.In(language), Width: 120}
			if name != "experiment" {
				o.Advice = []string{"16 blocks"}
			}
			golden.Check(t, "testdata/"+name+"-"+language+".txt", textOf(t, c, o))
		}
	}
}

// The verdict is the first thing in all formats, and stands there once.
func TestTheVerdictOfAnExperimentComesFirst(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer, Options) error{
		"text":     func(b *bytes.Buffer, o Options) error { return Text(b, experiment(), o) },
		"markdown": func(b *bytes.Buffer, o Options) error { return Markdown(b, experiment(), o) },
		"html":     func(b *bytes.Buffer, o Options) error { return HTML(b, experiment(), o) },
	} {
		var b bytes.Buffer
		if err := write(&b, Options{}); err != nil {
			t.Fatal(err)
		}
		const verdict = "pad is better: mean TTFT -3.5 %"
		if at, table := strings.Index(b.String(), verdict), strings.Index(b.String(), "10365"); at < 0 || at > table || strings.Count(b.String(), verdict) != 1 {
			t.Errorf("%s has the verdict at %d, its table at %d:\n%s", name, at, table, b.String())
		}
	}
}

// An experiment has legs, and what would settle it are more of them.
func TestExperimentsSpeakOfLegs(t *testing.T) {
	var b bytes.Buffer
	if err := Summary(&b, experiment(), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{b.String(), textOf(t, experiment(), Options{})} {
		for _, word := range []string{" runs", "run of"} {
			if strings.Contains(said, word) {
				t.Errorf("%q in\n%s", word, said)
			}
		}
	}
	w := NewPhrases(compare.Comparison{}, words.In("en"))
	v := legs("A", 2, 1)
	v.Runs = append(v.Runs, compare.Ref{Leg: 2, Verdict: trace.Doubtful})
	if said := w.Runs(v); said != "2 legs, 3 runs, 1 of them doubtful" {
		t.Errorf("%q", said)
	}
}

// Of several variants only the order effects that leave out 0 are named.
func TestOrderEffectsOfSeveralVariants(t *testing.T) {
	c := experiment()
	w, load := NewPhrases(c, words.In("en")), c.Workloads[0]
	rows := firstRows(load)
	if said := w.orders(load, rows); said != "none seen: all 6 intervals hold 0" {
		t.Errorf("%q", said)
	}
	load.Rows[0].Cells[2].Change.Order = &compare.Shift{Relative: 0.02, Interval: interval(0.01, 0.03)}
	if said := w.orders(load, firstRows(load)); !strings.HasPrefix(said, "pad: output throughput +2.0 % [+1.0, +3.0] (") {
		t.Errorf("%q", said)
	}
}

// A choice that fresh legs bear out is confirmed, another one is not.
func TestConfirmations(t *testing.T) {
	for want, v := range map[string]compare.Verdict{"pad: confirmed": compare.Better, "pad: not confirmed": compare.Same, "pad: not confirmed yet": compare.CannotTell} {
		c := experiment()
		c.Workloads[3].Rows = c.Workloads[3].Rows[:1]
		c.Workloads[3].Rows[0].Cells[1].Change.Verdict = v
		c.Conclude()
		got := NewPhrases(c, words.In("en")).Verdict(c.Workloads[3], 1)
		if !slices.ContainsFunc(got, func(p Part) bool { return p.Lead == want }) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
