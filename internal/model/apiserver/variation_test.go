package apiserver

import (
	"math"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// started is the text of n tokens of an answer at a start.
func started(of profile.Answers, start, prompt uint64, n int) []string {
	a := newAnswer(toy(), prompt)
	a.vary(of, start, prompt, &phrase.Answer{Tokens: n})
	tokens := make([]string, n)
	for i := range tokens {
		tokens[i] = a.Next()
	}
	return tokens
}

// hazard is how often, per token, answers of one start and profile go on otherwise than those of another.
func hazard(one, other profile.Answers, startOne, startOther uint64, prompts int) float64 {
	differ, tokens := 0, 0
	for prompt := range uint64(prompts) {
		a, b := started(one, startOne, prompt, 300), started(other, startOther, prompt, 300)
		for i := range a {
			if tokens++; a[i] != b[i] {
				differ++
				break
			}
		}
	}
	return float64(differ) / float64(tokens)
}

// The rates are those that the doc of a variation gives, within 5 standard errors.
func TestHazard(t *testing.T) {
	const prompts = 4000
	plain := profile.Answers{Hazard: 0.002}
	other := profile.Answers{Hazard: 0.002, Change: 2}
	// E|N(2, √2)| over E|N(0, √2)|.
	const ratio = 1.8615
	near := func(what string, got, want float64) {
		t.Helper()
		if sigma := want / math.Sqrt(want*200*prompts); math.Abs(got-want) > 5*sigma {
			t.Errorf("%s: %.5f a token, want %.5f", what, got, want)
		}
	}
	near("two starts", hazard(plain, plain, 1, 2, prompts), 0.002)
	near("two starts of the changed profile", hazard(other, other, 3, 4, prompts), 0.002)
	near("across the change", hazard(plain, other, 1, 3, prompts), ratio*0.002)
	if h := hazard(plain, plain, 1, 1, 100); h != 0 {
		t.Errorf("a start differs from itself: %v", h)
	}
	if h := hazard(profile.Answers{}, profile.Answers{}, 1, 2, 100); h != 0 {
		t.Errorf("without a hazard starts differ: %v", h)
	}
}

// An answer that both starts of a change give, and both others do not, is what a change is known by.
func TestChangedAnswersRepeat(t *testing.T) {
	plain, other := profile.Answers{Hazard: 0.001}, profile.Answers{Hazard: 0.001, Change: 5}
	same := func(a, b []string) bool {
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	changed := 0
	for prompt := range uint64(1000) {
		a1, a2 := started(plain, 1, prompt, 200), started(plain, 2, prompt, 200)
		b1, b2 := started(other, 3, prompt, 200), started(other, 4, prompt, 200)
		if same(a1, a2) && same(b1, b2) && !same(a1, b1) {
			changed++
		}
	}
	if changed < 200 {
		t.Errorf("%d of 1000 answers changed", changed)
	}
}

// Broken answers are empty or end in a loop, and are seen to be; what both ways of serving say has the same marks.
func TestBrokenAnswers(t *testing.T) {
	cfg := Config{Seed: 5, Answers: &profile.Answers{Hazard: 0.001, Broken: 0.1, Longer: 0.5}, OutputLen: arrival.ConstantCount(300)}
	in, err := NewAdmission(cfg)
	if err != nil {
		t.Fatal(err)
	}
	marker := trace.NewMarker(trace.MarkKey{1})
	empty, loop := 0, 0
	for i := range int32(1000) {
		taken := in.Tokens([]int32{i + 300, 7}, 1000, false)
		marks, defects := taken.Mark(marker, true)
		if taken.Job.OutputTokens != 450 {
			t.Fatalf("%d tokens, want 450: half as many more", taken.Job.OutputTokens)
		}
		var a trace.Answer
		a.Begin(marker)
		a.AddString(trace.VisiblePart, taken.Text())
		if want, also := a.End(false, true); marks != want || defects != also {
			t.Fatalf("marks %x, defects %v; its text has %x, %v", marks, defects.Names(), want, also.Names())
		}
		switch defects &^ trace.Inspected {
		case trace.DefectEmpty:
			empty++
		case trace.DefectLoop:
			loop++
		case 0:
		default:
			t.Errorf("defects %v", defects.Names())
		}
	}
	if empty < 25 || empty > 80 || loop < 25 || loop > 80 {
		t.Errorf("%d empty and %d in a loop, want about 50 of 1000 each", empty, loop)
	}
}
