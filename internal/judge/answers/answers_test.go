package answers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

var marker = trace.NewMarker(trace.MarkKey{1})

// a text of 40 words, of 240 bytes, in which words from one on are others.
func text(request, from int, other string) string {
	var b strings.Builder
	for i := range 40 {
		if i < from {
			fmt.Fprintf(&b, "w%04d ", 40*request+i)
		} else {
			fmt.Fprintf(&b, "%s%04d ", other, 40*request+i)
		}
	}
	return b.String()
}

// record is a request with its answer.
func record(index int, answer string) *trace.Record {
	r := trace.NewRecord(index)
	var a trace.Answer
	a.Begin(marker)
	a.AddString(trace.VisiblePart, answer)
	r.Marks, r.Defects = a.End(false, false)
	r.OutputTokens, r.Usage.Prompt = len(answer)/6, 100
	return r
}

// An editor changes the record of a request in a leg, which is 0 or 1 before and 2 or 3 after.
type editor func(block, leg int, r *trace.Record) *trace.Record

// experiment has blocks of 50 requests.
func experiment(blocks int, edit editor) (legs []*Leg) {
	for b := range blocks {
		for i, place := range []int{0, 3, 1, 2} {
			l := &Leg{Variant: i / 2, Block: b + 1, Requests: uint64(b), Start: 4*b + place + 1, Position: float64(4*b + place), Key: "k"}
			for k := range 50 {
				if r := edit(b, i, record(k, text(k, 40, ""))); r != nil {
					l.Add(r)
				}
			}
			legs = append(legs, l)
		}
	}
	return legs
}

var usual = Options{Alpha: 0.05, Level: 0.95}

func judged(t *testing.T, legs []*Leg) Result {
	t.Helper()
	r, ok := Judge(legs, usual)
	if !ok {
		t.Fatal("no answers to compare")
	}
	return r
}

func unchanged(_, _ int, r *trace.Record) *trace.Record { return r }

func TestAnswersThatNeverDiffer(t *testing.T) {
	r := judged(t, experiment(3, unchanged))
	// 3/T, T being the tokens of 4 pairs of each request: 150 requests of 40 words.
	if want := 3.0 / (4 * 150 * 40); r.Verdict != Same || !r.Exact || math.Abs(r.AtMost-want) > 1e-9 || r.Requests != 150 {
		t.Errorf("got %+v, want the same, at most %v", r, want)
	}
}

// altered changes the answers of some requests after.
func altered(requests int, from int) editor {
	return func(_, leg int, r *trace.Record) *trace.Record {
		if leg > 1 && r.Index < requests {
			return record(r.Index, text(r.Index, from, "x"))
		}
		return r
	}
}

// An engine that repeats itself exactly and answers ten requests otherwise after the change.
func TestAnswersThatChange(t *testing.T) {
	r := judged(t, experiment(3, altered(10, 20)))
	if r.Verdict != Changed || !slices.Equal(r.Parts, []Part{Hazard}) || !r.Exact {
		t.Fatalf("got %s for %v, exact %v; want changed for the hazard", r.Verdict, r.Parts, r.Exact)
	}
	if r.Altered.N != 30 || r.Altered.Chance != 0 || r.Across.Differ != 120 || r.Before.Differ+r.After.Differ != 0 {
		t.Errorf("got %+v across %+v, want 30 altered requests, 120 pairs", *r.Altered, r.Across)
	}
	// Words from the 20th on are others: byte 120 of 240, of which the mark at 64 bytes is the last that agrees.
	if want := 64.0 / 6; math.Abs(r.First-want) > 0.01 {
		t.Errorf("first difference after %v tokens, want %v", r.First, want)
	}
	if h := r.Hazard; h.Value < 10 || *h.Low < 5 || *h.Exact != 1.0/27 {
		t.Errorf("hazard %+v", *h)
	}
	if share := r.Altered.Share; share.Value != 0.2 {
		t.Errorf("share %+v, want 20 %%", share)
	}
}

// One request that differs may be one near tie that fell so.
func TestFewDifferencesTellNothing(t *testing.T) {
	r := judged(t, experiment(3, func(block, leg int, r *trace.Record) *trace.Record {
		if block > 0 {
			return r
		}
		return altered(1, 20)(block, leg, r)
	}))
	if r.Verdict != CannotTell || r.Why.Code != TooFewDiffer {
		t.Errorf("got %s (%s)", r.Verdict, r.Why.Code)
	}
}

func TestWhereThereIsNoVerdict(t *testing.T) {
	drop := func(_, leg int, r *trace.Record) *trace.Record {
		if leg == 2 && r.Index < 5 {
			r.Class = trace.Timeout
		}
		return r
	}
	template := func(_, leg int, r *trace.Record) *trace.Record {
		if leg > 1 && r.Index == 0 {
			r.Usage.Prompt++
		}
		return r
	}
	drawn := func(block, leg int, r *trace.Record) *trace.Record {
		return record(r.Index, text(r.Index, 0, string(rune('a'+4*block+leg))))
	}
	bare := func(_, leg int, r *trace.Record) *trace.Record {
		if leg == 0 {
			r.Marks = ""
		}
		return r
	}
	for code, edit := range map[plan.Code]editor{LeftOut: drop, OtherPrompts: template, Random: drawn, Unmarked: bare} {
		if r := judged(t, experiment(3, edit)); r.Verdict != CannotTell || r.Why.Code != code {
			t.Errorf("got %s (%s), want %s", r.Verdict, r.Why.Code, code)
		}
	}
	one := experiment(1, unchanged)
	if r := judged(t, one); r.Why.Code != TooFewBlocks {
		t.Errorf("one block: %s", r.Why.Code)
	}
	one[1].Start = one[0].Start // the server went on
	if r := judged(t, one); r.Blocks != 0 {
		t.Errorf("a block counts in which a server was not started anew")
	}
	one[0].Key = "other"
	if r := judged(t, one); r.Why.Code != OtherKeys {
		t.Errorf("other keys: %s", r.Why.Code)
	}
	if _, ok := Judge(experiment(2, func(_, _ int, r *trace.Record) *trace.Record { r.Marks = ""; return r }), usual); ok {
		t.Error("answers without marks are compared")
	}
}

// Four of fifty answers break after the change: the marks differ, too, but what is found first are the defects.
func TestDefects(t *testing.T) {
	r := judged(t, experiment(3, func(block, leg int, r *trace.Record) *trace.Record {
		if leg > 1 && (r.Index+10*block+5*leg)%50 < 4 {
			r.Defects |= trace.DefectLoop
		}
		return r
	}))
	if d := r.Defects; !slices.Equal(r.Parts, []Part{Defects}) || d.After != (Count{24, 300}) || d.Before != (Count{0, 300}) || *d.Exact != 1.0/216 {
		t.Errorf("got %v, %+v, exact %v", r.Parts, d, *d.Exact)
	}
}

// A later turn has the answers before it in its prompt.
func TestConversations(t *testing.T) {
	talk := func(_, leg int, r *trace.Record) *trace.Record {
		if leg > 1 && (r.Index == 20 || r.Index == 21) {
			r = record(r.Index, text(r.Index, 20, "x"))
		}
		if r.Index >= 20 && r.Index < 24 {
			r.Session, r.Turn = "talk", r.Index-20
		}
		return r
	}
	legs := experiment(2, talk)
	if r := judged(t, legs); r.Excluded.Turns != 6 || r.Altered.N != 2 {
		t.Errorf("%d turns left out and %d altered, want 6 and 2", r.Excluded.Turns, r.Altered.N)
	}
	for _, l := range legs {
		l.Independent = true
	}
	if r := judged(t, legs); r.Excluded.Turns != 0 || r.Altered.N != 4 {
		t.Errorf("with independent turns %d left out and %d altered, want 0 and 4", r.Excluded.Turns, r.Altered.N)
	}
}

// Which of both variants is the baseline changes the sign of what is compared with it, and not whether answers changed.
func TestExchangedVariants(t *testing.T) {
	edit := func(block, leg int, r *trace.Record) *trace.Record {
		if (r.Index+7*leg+3*block)%9 == 0 || leg > 1 && r.Index%4 == 0 {
			return record(r.Index, text(r.Index, 10, string(rune('a'+leg/2*(1+r.Index%3)))))
		}
		return r
	}
	legs := experiment(3, edit)
	a := judged(t, legs)
	for _, l := range legs {
		l.Variant = 1 - l.Variant
	}
	b := judged(t, legs)
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	if !near(a.Hazard.Value, b.Hazard.Value) || !near(a.Repeat.Value, 1/b.Repeat.Value) || a.Before != b.After || a.Altered.N != b.Altered.N {
		t.Errorf("exchanged: hazard %v, %v; repeat %v, %v", a.Hazard.Value, b.Hazard.Value, a.Repeat.Value, b.Repeat.Value)
	}
}

func TestDescribe(t *testing.T) {
	legs := experiment(1, altered(10, 20))
	r, ok := Describe(legs[:2], legs[2:], plan.Msg(NoRestarts))
	if !ok || r.Across.Differ != 20 || r.Across.Of != 100 || r.Before.Differ != 0 || r.Before.Of != 50 || r.After.Of != 50 || r.Why.Code != NoRestarts {
		t.Errorf("got %+v", r)
	}
	legs[2].Requests, legs[3].Requests = 7, 8
	if _, ok := Describe(legs[:2], legs[2:], plan.Msg(OneEach)); ok {
		t.Error("runs with other requests are compared")
	}
}

// S and its noise by hand: two blocks with w of (0, 1, 3) and (1, 2, 2).
func TestAcross(t *testing.T) {
	e := across([]contrast{contrastOf([3]float64{0, 1, 3}), contrastOf([3]float64{1, 2, 2})})
	// S 2 and 1, O -2 and 0: squares 4/2 + 2·0.25/1.5 over 3 degrees of freedom.
	v := (2 + 0.5/1.5) / 3
	if e.Value != 1.5 || e.DF != 3 || math.Abs(e.Error-math.Sqrt(1.5*v/2)) > 1e-12 {
		t.Errorf("got %+v", e)
	}
}

func TestExchange(t *testing.T) {
	// Of 9 sums of two blocks only the observed one, 5, is as large as 5; 4 is reached by three.
	if p := exchange([][]float64{{3, 1, 0}, {2, 1, 1}}); p != 1.0/9 {
		t.Errorf("P %v, want 1/9", p)
	}
	if p := exchange([][]float64{{1, 1, 1}, {1, 1, 1}}); p != 1 {
		t.Errorf("P %v where all are equal", p)
	}
	many := slices.Repeat([][]float64{{1, 0, 0}}, 12)
	if p := exchange(many); p > 1e-4 {
		t.Errorf("P %v of a sample, want about 3^-12", p)
	}
}

func TestDrawn(t *testing.T) {
	for _, c := range []struct {
		protocol, body, sampling string
		want                     bool
	}{
		{"chat", "", "", true},
		{"chat", `{"temperature": 0}`, "", false},
		{"chat", `{"temperature": 0.7}`, "", true},
		{"chat", `{"temperature": 0.7, "seed": 3}`, "", false},
		{"generate", "", `{"temperature": 0}`, false},
		{"generate", `{"stream": true}`, `{"temperature": 1, "sampling_seed": 3}`, false},
		{"chat", `{"temperature": "hot"}`, "", true},
		{"embeddings", "", "", false},
	} {
		r := plan.Request{Protocol: c.protocol}
		if c.body != "" {
			r.Body = []byte(c.body)
		}
		if c.sampling != "" {
			r.Sampling = []byte(c.sampling)
		}
		if got := Drawn(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
