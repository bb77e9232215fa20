package comparison

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/show/words"
)

func TestLinesOfAnExperiment(t *testing.T) {
	shift := func(by float64) *compare.Shift {
		return &compare.Shift{Relative: by, Interval: interval(by-0.01, by+0.01)}
	}
	row := compare.Row{
		Quantity: figure.Lookup("ttft.mean"), Rank: 4, Drift: shift(0.004),
		Spread: &compare.Spread{Start: 0.02, StartDF: 4, Run: 0.01, RunDF: 8, Runs: 2, Restarted: true},
		Cells:  []compare.Cell{{}, {Change: &compare.Change{Order: shift(-0.02)}}},
	}
	load := compare.Workload{
		Layout: &compare.Layout{Restarted: true, Blocks: 2}, Rows: []compare.Row{row, {Quantity: figure.Lookup("duration")}},
		Variants: []compare.Variant{{Name: "A"}, {Name: "B"}},
	}
	for language, want := range map[string][]string{
		"en": {
			"noise: between server starts: mean TTFT 2.0 % (standard deviation, 4 degrees of freedom); between runs of one: mean TTFT 1.0 %",
			"drift per leg: mean TTFT +0.4 % [-0.6, +1.4]",
			"order effect: mean TTFT -2.0 % [-3.0, -1.0]",
		},
		"zh": {
			"噪声: 服务各次启动之间：平均 TTFT 2.0%（标准差，自由度 4）；同一次启动（或同一轮）的各次运行之间：平均 TTFT 1.0%",
			"每轮漂移: 平均 TTFT +0.4% [-0.6, +1.4]",
			"顺序效应: 平均 TTFT -2.0% [-3.0, -1.0]",
		},
	} {
		w := NewPhrases(compare.Comparison{Level: 0.95, Margin: 0.02}, words.In(language))
		var got []string
		for _, l := range w.experimentNotes(load) {
			got = append(got, l.Label+": "+l.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
	if lines := NewPhrases(compare.Comparison{}, words.In("en")).experimentNotes(compare.Workload{}); lines != nil {
		t.Errorf("%+v", lines)
	}
}

func TestMoreLegsAndConfirmations(t *testing.T) {
	w := NewPhrases(compare.Comparison{Level: 0.95, Margin: 0.02}, words.In("en"))
	if said, _ := w.verdict(compare.Change{Verdict: compare.CannotTell, Basis: compare.Blocks, More: 4}); said != "? +4 legs" {
		t.Errorf("%q", said)
	}
	load := compare.Workload{Name: "chat", Layout: &compare.Layout{Confirms: true}}
	if s := w.section(load, 0, Options{}, nil); s.Title != "chat (confirmation)" {
		t.Errorf("%q", s.Title)
	}
}
