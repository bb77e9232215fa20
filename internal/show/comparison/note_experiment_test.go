package comparison

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// turns are runs of a variant in an experiment, warmed up until steady but for the last one.
func turns(name string, slow, first int) (all []*trace.Trace) {
	const n = 2
	for i := range n {
		t := streamed(name+string(rune('1'+i)), slow+i%2)
		t.Run.Leg = &trace.Leg{Experiment: "vision", Variant: name, Workload: "chat", Block: i + 1, Position: first + 3*i, ServerStart: first + 3*i}
		t.Run.WarmUp = &trace.WarmUp{Waves: make([]trace.Wave, 2+i), Steady: i < n-1}
		t.Run.Cache = &trace.Cache{Declared: plan.ColdCache, Reset: "/reset_prefix_cache", Reported: 40, Most: 0}
		all = append(all, t)
	}
	return all
}

// inLegs is a variant of an experiment.
func inLegs(name string, traces ...*trace.Trace) compare.Variant {
	v := variantOf(name, traces...)
	for i := range v.Runs {
		v.Runs[i].Leg = traces[i].Run.Leg.Position
	}
	return v
}

// blocks is a row of an experiment, with a value for each run of each variant.
func blocks(name string, baseline float64, runs int, changes ...compare.Change) compare.Row {
	r := rowOf(name, "pitot", baseline, changes...)
	r.Spread = &compare.Spread{Start: 0.0123, StartDF: 4, Restarted: true}
	for i := range r.Cells {
		r.Cells[i].Values = slices.Repeat([]float64{r.Cells[i].Center}, runs)
	}
	return r
}

// ofExperiment is a note of three variants, one of which is confirmed, and a leg that failed.
func ofExperiment(t *testing.T, lang string) Note {
	t.Helper()
	base, rope, pad := turns("base", 4, 1), turns("rope", 5, 2), turns("pad", 0, 3)
	fresh, again := turns("base", 3, 7), turns("pad", 1, 8)
	for _, tr := range slices.Concat(fresh, again) {
		tr.Run.ID, tr.Run.Leg.Confirms = "fresh-"+tr.Run.ID, true
	}
	of := func(v compare.Verdict, relative, half float64, more int) compare.Change {
		c := change(compare.Blocks, v, relative, half, more)
		c.Bound = max(half-relative, half+relative)
		return c
	}
	main := compare.Workload{
		Name: "chat", Layout: &compare.Layout{Experiment: "vision", Blocks: 2, Restarted: true, Units: []int{2, 2, 2}},
		Variants: []compare.Variant{inLegs("base", base...), inLegs("rope", rope...), inLegs("pad", pad...)},
		Rows: []compare.Row{
			blocks("throughput.output", 250, 2, of(compare.Same, 0.001, 0.008, 0), of(compare.Better, 0.012, 0.004, 0)),
			blocks("ttft.mean", 0.16, 2, of(compare.CannotTell, 0.02, 0.04, 6), of(compare.Better, -0.04, 0.012, 0)),
		},
		Notes: []plan.Message{plan.Msg("compare.doubtful-runs", "n", 1, "of", 6, "leg", 3, "causes", []string{"the client was busy"})},
	}
	confirming := compare.Workload{
		Name: "chat", Layout: &compare.Layout{Experiment: "vision", Confirms: true, Blocks: 1, Restarted: true, Units: []int{2, 2}},
		Variants: []compare.Variant{inLegs("base", fresh...), inLegs("pad", again...)},
		Rows:     []compare.Row{blocks("ttft.mean", 0.16, 2, of(compare.Better, -0.035, 0.02, 0))},
		Notes:    []plan.Message{plan.Msg("compare.confirms")},
	}
	n := Note{
		Title: "vision", Date: "2026-03-02", Pitot: "1.2.0", Lang: words.In(lang), Folder: "plots", Comparison: noteConcluded(main, confirming),
		Runs: runsOf(t, slices.Concat(base, rope, pad, fresh, again)...),
		Experiment: &Experiment{
			Name: "vision", File: "version: 1\nname: vision\nserver:\n  command: serve --api-key sk-abcdefgh12345\n", Squares: true, Servers: ServersPerLeg,
			Variants: []NoteVariant{{"base", "serve M"}, {"rope", "serve M --api-key sk-abcdefgh12345 | tee"}, {"pad", ""}}, Orders: []string{"ABC", "CB·A"}, Confirming: []string{"ACCA"},
			Winner: "pad", Starts: plan.Msg("experiment.starts", "starts", 11, "cold", 41*time.Second, "warm", 12*time.Second), Seed: 7, Runs: 1, Steady: true,
			Looks: compare.Looks{Done: 2, Most: 8}, Ended: plan.Msg("experiment.ended-verdict", "blocks", 2),
			Lost: []LostLeg{{Leg: plan.Msg("experiment.leg-name", "leg", 4, "try", plan.Message{}), Variant: "rope", Why: plan.Msg("experiment.server-died", "why", "exit code 1")}},
			Cost: plan.Msg("experiment.cost", "legs", 10, "blocks", 2, "confirms", 1, "runs", 10, "spent", 754*time.Second, "ready", 150*time.Second),
		},
	}
	for i := range n.Runs {
		n.Runs[i].Cached = &metrics.Cache{Declared: plan.ColdCache, Proof: metrics.Proved, Source: metrics.FromUsage, Share: 0.001 * float64(i)}
	}
	return n
}

// ofTheSame is a note of an A/A experiment.
func ofTheSame(t *testing.T, lang string) Note {
	t.Helper()
	n := ofExperiment(t, lang)
	load := n.Comparison.Workloads[0]
	load.Layout.Same = true
	load.Variants, load.Notes = load.Variants[:2], nil
	for i := range load.Rows {
		load.Rows[i].Cells = load.Rows[i].Cells[:2]
	}
	n.Comparison = noteConcluded(load)
	n.Runs = n.Runs[:4]
	n.Experiment.Advice = []string{"to find 2 %: mean TTFT 16 blocks"}
	n.Experiment.Confirming, n.Experiment.Lost, n.Experiment.Squares = nil, nil, false
	return n
}

func TestNoteOfTheSame(t *testing.T) {
	for _, lang := range words.Names() {
		golden.Check(t, "testdata/note/same-"+lang+".md", firstScreen(string(write(t, ofTheSame(t, lang)).Markdown)))
	}
}

// firstScreen is what stands before the environment.
func firstScreen(note string) string {
	parts := regexp.MustCompile(`(?m)^## `).Split(note, 4)
	return strings.Join(parts[:3], "## ")
}

// In each language it says what an engineer has to know of an experiment, the verdict first.
func TestSectionsOfAnExperiment(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {
			"## Verdict", "**pad is better**: mean TTFT -4.0 %", "**rope is the same within 2 %**", "10 legs", "pad: confirmed", "## How it was measured", "| A | base |", "`ABC CB·A`",
			"`ACCA`", "anew for each leg", "Waves at the concurrency", "Declared cold", "look 2 of at most 8", "every main change is decided", "Leg 4 (rope)", "12m34s",
			"pitot experiment run experiment.yaml", "name: vision", "## Environment", "## Comparison",
		},
		"zh": {
			"## 结论", "**pad 更优**：平均 TTFT -4.0%", "**rope ", "10 轮", "pad 已确认更优", "## 测量方法", "| A | base |", "`ABC CB·A`",
			"`ACCA`", "每轮都重新启动服务", "以正式运行的并发", "声明每次运行开始时为冷", "第 2 次，最多 8 次", "主要变化均已得出结论", "第 4 轮（rope）", "12m34s",
			"pitot experiment run experiment.yaml", "name: vision", "## 环境", "## 对比",
		},
	} {
		text := string(write(t, ofExperiment(t, lang)).Markdown)
		for _, s := range want {
			if !strings.Contains(text, s) {
				t.Errorf("%s has no %q", lang, s)
			}
		}
		for _, s := range []string{"sk-abcdefgh12345", "\n\n\n"} {
			if strings.Contains(text, s) {
				t.Errorf("%s has %q", lang, s)
			}
		}
		if strings.Index(text, want[0]) > strings.Index(text, want[5]) {
			t.Errorf("%s: the verdict is not first", lang)
		}
	}
}
