package comparing

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A leg begins with its number, its try, time gone, time left and the end of all, which go on while it runs.
func TestViewOfTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed []string
		v := &View{Print: func(line string) { printed = append(printed, line) }, Draw: func(...string) {}, Lang: words.In("en")}
		if v.Whole() != "" {
			t.Error(v.Whole())
		}
		l := &experiment.Leg{Variant: "after", Block: 3, Slot: 1, Attempt: 2}
		v.Handle(experiment.LegBegins{Leg: l, Number: 9, Of: 12, Gone: 8 * time.Minute, Left: 4 * time.Minute})
		end := time.Now().Add(4 * time.Minute).Format("15:04")
		time.Sleep(time.Minute)
		if want := "experiment: leg 9 of 12 · 9m0s gone, about 3m0s left, until " + end; v.Whole() != want {
			t.Errorf("%s, want %s", v.Whole(), want)
		}
		time.Sleep(10 * time.Minute) // longer than the legs before
		if !strings.HasSuffix(v.Whole(), " · 19m0s gone") {
			t.Error(v.Whole())
		}
		l.Status, l.Why = experiment.Failed, plan.Msg("experiment.leg-invalid",
			"causes", []plan.Message{plan.Msg("verdict.ran-out", "requests", 2, "why", "ports")}, "remedies", []plan.Message{plan.Msg("remedy.sockets")}, "effects", []plan.Message{})
		v.Handle(experiment.LegEnded{Leg: l})
		want := "leg 9 of 12, second try · block 3 · after · 8m0s gone, about 4m0s left, until " + end + "\nleg failed: a run is invalid: 2 requests failed: ports"
		if got := strings.Join(printed, "\n"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		v.Handle(experiment.LegBegins{Leg: &experiment.Leg{Variant: "a", Block: 1}, Number: 1, Gone: time.Hour, Left: 30 * time.Hour, AtMost: true})
		if !strings.Contains(v.Whole(), "at most 30h0m0s left, until 20") {
			t.Error(v.Whole())
		}
	})
}
