package traffic

import (
	"math"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

func TestQuestionsHaveAnswersAndLengths(t *testing.T) {
	for set := range grade.Sets {
		d := newQuiz(set)
		if set != "sums" {
			d.Input.Fixed = 700
		}
		if p := d.Check(&workload.Source{}); p != nil {
			t.Fatal(p)
		}
		w, err := build(t, d, "gpt2", workload.Source{Seed: 3, Requests: 20, IDPrefix: "x-"})
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]bool{}
		for i, r := range w.Requests {
			answer, ok := grade.Solve(r.Text)
			if !ok || answer != r.Question.Answer || !r.Question.Grade(answer, false).Right() {
				t.Errorf("%s %d: %q answers %.200q", set, i, r.Question.Answer, r.Text)
			}
			if set != "sums" && math.Abs(float64(r.PromptTokens-700)) > 30 {
				t.Errorf("%s %d: a prompt of %d tokens, want 700", set, i, r.PromptTokens)
			}
			texts[r.Text] = true
		}
		if len(w.Requests) != 20 || len(texts) != 20 || !strings.HasPrefix(w.Requests[7].ID, "x-7") {
			t.Errorf("%s: %d requests, %d of them different", set, len(w.Requests), len(texts))
		}
	}
}

func TestQuestionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		set string
		ask workload.Ask
		in  int
	}{
		"no text":      {"sums", workload.Ask{Protocol: "embeddings", Silent: true}, 0},
		"full answers": {"copy", workload.Ask{Full: true}, 100},
		"length":       {"sums", workload.Ask{}, 100},
		"no length":    {"recall", workload.Ask{}, -1},
	} {
		d := newQuiz(c.set)
		d.Input.Fixed = c.in
		if p := d.Check(&workload.Source{Ask: c.ask}); p == nil {
			t.Errorf("%s: %s is taken", name, c.set)
		}
	}
	d := newQuiz("recall")
	if p := d.Check(&workload.Source{Ask: workload.Ask{Full: true}}); p != nil {
		t.Errorf("recall may go on behind its answer: %v", p)
	}
}

func TestQuestionsAreNotShorterInSilence(t *testing.T) {
	d := newQuiz("recall")
	d.Input.Fixed = 5_000_000
	if _, err := d.Build(t.Context(), &workload.Source{Requests: 1}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a prompt of 5 000 000 tokens: %v", err)
	}
}
