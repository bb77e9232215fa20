package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// talk is a conversation of turns of 6 tokens, 100 ms each, from position first of
// the workload.
func talk(name string, first, turns int, think time.Duration) []Request {
	requests := answers(slices.Repeat([]int{6}, turns)...)
	for i := range requests {
		requests[i].Session, requests[i].Number = name, i
		if i > 0 {
			requests[i].After, requests[i].Think = first+i, think
		}
	}
	return requests
}

func TestATurnIsDueWhenItsAnswerAndItsPauseAreOver(t *testing.T) {
	p := SimulationPlan{Requests: slices.Concat(talk("a", 0, 3, 200*time.Millisecond), talk("b", 3, 2, 50*time.Millisecond)), Schedule: everyTenth(10), Stream: true}
	o := Run(plain(0), p)
	want := [][5]int{ // due, free, released, sent, done
		{0, -1, 0, 0, 100},
		{300, -1, 300, 300, 400},
		{600, -1, 600, 600, 700},
		{100, -1, 100, 100, 200},
		{250, -1, 250, 250, 350},
	}
	if diff := cmp.Diff(want, times(o.Records)); diff != "" || o.Stopped || o.End != 700*ms {
		t.Errorf("stopped %v, end %v: %s", o.Stopped, o.End, diff)
	}
	for _, r := range o.Records {
		q := p.Requests[r.Index]
		if r.Session != q.Session || r.Turn != q.Number {
			t.Errorf("record %d is turn %d of %q", r.Index, r.Turn, r.Session)
		}
	}
}

// A refusal is an empty answer, and the conversation goes on.
func TestAConversationGoesOnAfterARefusal(t *testing.T) {
	requests := talk("a", 0, 2, 30*time.Millisecond)
	requests[0].Status = 400
	o := Run(plain(0), SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Stream: true})
	if diff := cmp.Diff([][5]int{{0, -1, 0, 0, 0}, {30, -1, 30, 30, 130}}, times(o.Records)); diff != "" {
		t.Error(diff)
	}
}

// With one place in the gate, a turn that takes its own place lets the other
// conversation in during its pause; one that holds its place does not.
func TestHoldKeepsThePlaceOfAConversation(t *testing.T) {
	p := SimulationPlan{Requests: slices.Concat(talk("a", 0, 2, 50*time.Millisecond), talk("b", 2, 1, 0)), Schedule: arrival.Burst(), Concurrency: 1, Stream: true}
	want := [][5]int{{0, 0, 0, 0, 100}, {150, 200, 200, 200, 300}, {0, 100, 100, 100, 200}}
	if diff := cmp.Diff(want, times(Run(plain(0), p).Records)); diff != "" {
		t.Error("each a place", diff)
	}
	p.Hold = true
	want = [][5]int{{0, 0, 0, 0, 100}, {150, 150, 150, 150, 250}, {0, 250, 250, 250, 350}}
	if diff := cmp.Diff(want, times(Run(plain(0), p).Records)); diff != "" {
		t.Error("held", diff)
	}
}

// Held turns proceed while the dispatcher waits for a due time of the schedule.
func TestHeldTurnsDoNotWaitForTheSchedule(t *testing.T) {
	replay, err := arrival.Replay([]time.Duration{0, 10 * time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := SimulationPlan{Requests: slices.Concat(talk("a", 0, 3, 50*time.Millisecond), talk("b", 3, 1, 0)), Schedule: replay, Concurrency: 2, Hold: true, Stream: true}
	want := [][5]int{{0, 0, 0, 0, 100}, {150, 150, 150, 150, 250}, {300, 300, 300, 300, 400}, {10000, 0, 10000, 10000, 10100}}
	if diff := cmp.Diff(want, times(Run(plain(0), p).Records)); diff != "" {
		t.Error(diff)
	}
}

func TestStoppingEndsConversations(t *testing.T) {
	asked := 0
	p := SimulationPlan{Requests: talk("a", 0, 5000, time.Millisecond), Schedule: arrival.Burst(), Stream: true, Stop: func() bool { asked++; return asked > 2 }}
	o := Run(plain(0), p)
	cancelled := 0
	for _, r := range o.Records {
		if r.Class == trace.Cancelled {
			cancelled++
		}
	}
	if !o.Stopped || len(o.Records) == 0 || len(o.Records) == 5000 || cancelled > 1 {
		t.Errorf("stopped %v, %d records, %d cancelled", o.Stopped, len(o.Records), cancelled)
	}
}

func TestATurnCannotWaitForALaterOne(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	Run(plain(0), SimulationPlan{Requests: []Request{{After: 1}}, Schedule: arrival.Burst()})
}

// While a turn waits for a place, another may become ready at the instant at which
// it was due.
func TestATurnIsTakenThoughAnotherCameBeforeIt(t *testing.T) {
	var ts turns
	late, early := waiting{index: 5, due: 10}, waiting{index: 3, due: 10}
	ts.ready.Push(late.due, late.index, late)
	seen, _ := ts.first(waiting{}, false)
	ts.ready.Push(early.due, early.index, early)
	ts.take(seen)
	if e, ok := ts.first(waiting{}, false); !ok || e.index != 3 {
		t.Errorf("turn %d is left, %v; it was not taken", e.index, ok)
	}
}
