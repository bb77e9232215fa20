package comparison

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// answered is an answer as the page gets it.
func answered(t *testing.T, a any) string {
	t.Helper()
	body, err := view.JSON(a)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", " "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

func TestAnswer(t *testing.T) {
	for name, c := range map[string]compare.Comparison{"nightly": nightly(), "experiment": experiment(), "mixed": mixed()} {
		for _, tag := range []string{"en", "zh"} {
			if name != "nightly" && tag != "en" {
				continue
			}
			golden.Check(t, fmt.Sprintf("testdata/answer-%s.%s.json", name, tag), answered(t, Answer(c, words.In(tag), nil)))
		}
	}
}

// The answer has what the text has, row by row, and every row has a place.
func TestAnswerSaysWhatTheTextSays(t *testing.T) {
	for name, c := range map[string]compare.Comparison{"ablation": ablation(), "nightly": nightly(), "single": single(), "experiment": experiment()} {
		all := written(t, Text, c, Options{All: true})
		shown := written(t, Text, c, Options{})
		a := Answer(c, words.In("en"), nil)
		for _, load := range a.Loads {
			for _, row := range load.Rows {
				if !strings.Contains(all, row.Title) {
					t.Errorf("%s: the text has no %s", name, row.Title)
				}
				hidden := row.Place == "percentile" || row.Place == "alike"
				if begins := strings.Contains(shown, "\n  "+row.Title+" "); begins == hidden && len(load.Variants) > 1 {
					t.Errorf("%s: %s is %s, and in the table: %v", name, row.Title, row.Place, begins)
				}
				for _, cell := range row.Cells {
					if !strings.Contains(all, cell.Value) || cell.Interval != "" && !strings.Contains(all, cell.Interval) {
						t.Errorf("%s: %s: the text does not have %s %s", name, row.Title, cell.Value, cell.Interval)
					}
					if (cell.Kind == "") != (cell.Change == "") || (cell.Basis == "") != (cell.Change == "") {
						t.Errorf("%s: %s: %+v", name, row.Title, cell)
					}
				}
			}
		}
	}
}

// Nothing that others wrote, and no number that JSON has not, gets in the way of an answer.
func TestAnswersOfAnything(t *testing.T) {
	for name, c := range map[string]compare.Comparison{"hostile": hostile(), "broken": broken(), "alone": alone(), "empty": {}} {
		text := answered(t, Answer(c, words.In("en"), nil))
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestAnswerOfTheSame(t *testing.T) {
	none, alarm := Answer(amongTheSame(compare.Same), words.In("en"), []string{"more blocks"}), Answer(amongTheSame(compare.Worse), words.In("en"), nil)
	if none.Overall.Tone != "" || none.Overall.Text == alarm.Overall.Text || alarm.Overall.Tone != "unclear" {
		t.Errorf("%+v, %+v", none.Overall, alarm.Overall)
	}
	if !slices.ContainsFunc(none.Verdict, func(s view.Said) bool { return s.Text == "more blocks" }) {
		t.Errorf("%+v", none.Verdict)
	}
}

// Runs have a line each as long as they can be told apart; those of an experiment are one.
func TestOverlays(t *testing.T) {
	latencies := func(load compare.Workload) map[string]plot.Latencies {
		out := map[string]plot.Latencies{}
		for i, v := range load.Variants {
			for k, r := range v.Runs {
				q := make(plot.Quantiles, len(plot.QuantilePercents()))
				for n := range q {
					q[n] = float64(i+1) + float64(k) + 1e-9*float64(n)
				}
				out[r.ID] = plot.Latencies{TTFT: q, E2EL: q}
			}
		}
		return out
	}
	variants := func(counts ...int) (all []compare.Variant) {
		for i, n := range counts {
			v := legs("v", n, 1)
			for k := range v.Runs {
				v.Runs[k].ID = fmt.Sprint(i, k)
			}
			all = append(all, v)
		}
		return all
	}
	few, many := compare.Workload{Variants: variants(2, 3)}, compare.Workload{Variants: variants(2, 30)}
	laid := compare.Workload{Variants: few.Variants, Layout: &compare.Layout{}}
	for _, tt := range []struct {
		load   compare.Workload
		curves int
	}{{few, 5}, {many, 2}, {laid, 2}} {
		got := Overlays(tt.load, latencies(tt.load), words.In("en"))
		if len(got) != 2 || got[0].Name != "ttft" || got[1].Name != "e2el" || len(got[0].Curves) != tt.curves {
			t.Fatalf("%d overlays: %+v", len(got), got)
		}
		o := got[0]
		if o.Share[0] != 0 || o.Share[len(o.Share)-1] != 1 || len(o.Curves[0].Value) != len(o.Share) {
			t.Errorf("shares from %v to %v of %d values", o.Share[0], o.Share[len(o.Share)-1], len(o.Curves[0].Value))
		}
		if c := o.Curves[0]; (c.Run == "") != (tt.curves == 2) || tt.curves == 2 && c.Value[0] != 1.5 {
			t.Errorf("%+v", c)
		}
	}
	if got := Overlays(few, nil, words.In("en")); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
