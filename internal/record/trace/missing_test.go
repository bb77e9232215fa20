package trace

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A run that loses records is doubtful, unless it is invalid, with one reason that counts all of them; what shares the
// verdict is unchanged.
func TestLose(t *testing.T) {
	for before, after := range map[Validity]Validity{Valid: Doubtful, Doubtful: Doubtful, Invalid: Invalid} {
		shared := Verdict{Validity: before}
		r := Run{Verdict: &shared}
		r.Lose(plan.Msg(Damaged, "records", 3))
		r.Lose(plan.Msg(Damaged, "records", 4))
		lost, inFlight := r.Missing()
		if v := r.Verdict; v.Validity != after || len(v.Reasons) != 1 || v.Reasons[0].Args["records"] != 7.0 || lost != 7 || inFlight != 0 || shared.Reasons != nil {
			t.Errorf("%s: %+v, %d lost, %d in flight, %+v", before, v, lost, inFlight, shared)
		}
	}
	var r Run
	if r.Lose(plan.Msg(Unended, "records", 2)); r.Verdict != nil {
		t.Errorf("%+v", r.Verdict)
	}
	if lost, inFlight := r.Missing(); lost != 0 || inFlight != 2 {
		t.Errorf("%d lost, %d in flight", lost, inFlight)
	}
}
