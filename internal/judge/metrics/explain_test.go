package metrics

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	catalogue "github.com/pitot-bench/pitot/internal/show/words"
)

// Every reason that a verdict can have is known here, with a remedy that has words or none.
func TestReasonsHaveRemedies(t *testing.T) {
	english, reasons := catalogue.In("en"), 0
	for code, remedy := range remedies {
		if !english.Knows(code) || remedy != "" && !english.Knows(remedy) {
			t.Errorf("%s: %s: no words", code, remedy)
		}
	}
	for name := range english.Under("verdict.") {
		code := plan.Code("verdict." + name)
		if _, known := remedies[code]; !known && !strings.Contains("failures better none-of confirmed unconfirmed refuted worse slightly-better slightly-worse same unknown others settle settle-runs none alarm terms terms-same", name) {
			t.Errorf("%s: nothing says what to do about it", code)
		}
		reasons++
	}
	if reasons < 30 {
		t.Errorf("%d reasons", reasons)
	}
}

// docs/README.md has each reason in a row with the words of its remedy.
func TestRemediesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	english, rows := catalogue.In("en"), strings.Split(string(page), "\n")
	for code, remedy := range remedies {
		i := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "`"+string(code)+"`") })
		switch {
		case i < 0:
			t.Errorf("docs/README.md has no row of %s", code)
		case remedy != "" && !strings.Contains(rows[i], english.Say(plan.Message{Code: remedy})):
			t.Errorf("docs/README.md: the row of %s is without: %s", code, english.Say(plan.Message{Code: remedy}))
		}
	}
}

// Causes come before effects. Without a known cause the effects are listed as causes.
func TestExplain(t *testing.T) {
	verdict := func(codes ...plan.Code) (v trace.Verdict) {
		for _, c := range codes {
			v.Reasons = append(v.Reasons, plan.Message{Code: c})
		}
		return v
	}
	for _, tt := range []struct {
		reasons []plan.Code
		want    string
	}{
		{[]plan.Code{"verdict.sent-late"}, "verdict.sent-late | remedy.client | "},
		{[]plan.Code{"verdict.sent-late", "verdict.made-late"}, "verdict.made-late | remedy.made-late | verdict.sent-late"},
		{[]plan.Code{"verdict.sent-late", "verdict.engine-late", "verdict.starved"}, "verdict.starved | remedy.machine | verdict.sent-late verdict.engine-late"},
		{[]plan.Code{"verdict.throttled", "verdict.itl-bounded", "verdict.not-starved"}, "verdict.not-starved verdict.throttled | remedy.client remedy.device | verdict.itl-bounded"},
		{[]plan.Code{"verdict.output-unread"}, "verdict.output-unread |  | "},
		{nil, " |  | "},
	} {
		e := Explain(verdict(tt.reasons...))
		if got := codes(e.Causes) + " | " + codes(e.Remedies) + " | " + codes(e.Effects); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.reasons, got, tt.want)
		}
	}
}

func codes(all []plan.Message) string {
	var names []string
	for _, m := range all {
		names = append(names, string(m.Code))
	}
	return strings.Join(names, " ")
}
