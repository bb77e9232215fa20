package trace

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// The notes on requests of a run that were sent and have no record.
const (
	// Damaged has records that the run once had and that cannot be read, with why.
	Damaged plan.Code = "store.damaged" // run, records, why
	// Unended has the requests that were in flight when a run without an end was last seen.
	Unended plan.Code = "store.unended" // run, records
)

// Incomplete is the reason of a verdict on a run of which records are missing.
const Incomplete plan.Code = "verdict.incomplete" // records

// Lose adds a note on records that are missing. A verdict that was made with them is Doubtful at best.
func (r *Run) Lose(note plan.Message) {
	r.Notes = append(slices.Clip(r.Notes), note)
	if r.Verdict == nil {
		return
	}
	v := *r.Verdict
	if v.Validity == Valid {
		v.Validity = Doubtful
	}
	lost, _ := r.Missing()
	others := slices.DeleteFunc(slices.Clone(v.Reasons), func(m plan.Message) bool { return m.Code == Incomplete })
	v.Reasons, r.Verdict = append(others, plan.Msg(Incomplete, "records", lost)), &v
}

// Missing counts the requests that were sent and have no record, by the notes of the run: those that were
// answered, and those that were in flight when a run without an end was last seen. Requests of lost workers have a
// record of a failure.
func (r *Run) Missing() (lost, inFlight int) {
	for _, n := range r.Notes {
		records, _ := n.Args["records"].(float64)
		switch n.Code {
		case Damaged:
			lost += int(records)
		case Unended:
			inFlight += int(records)
		}
	}
	return lost, inFlight
}
