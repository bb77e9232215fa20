package sim

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A counting Source makes requests of a list, and counts those in flight.
type counting struct {
	list
	made []int
	most int
	done int
	fail int // the request that cannot be made, 0: each can
}

func (c *counting) Request(i int) (*Request, error) {
	if i > 0 && i == c.fail {
		return nil, errors.New("no more")
	}
	c.made = append(c.made, i)
	c.most = max(c.most, len(c.made)-c.done)
	one := c.list[i]
	return &one, nil
}

// A run with requests that are made one by one, and with records that leave one by one, is the run with all of
// them: each is made once, a turn after the one that it waits for, and no more are in flight than the gate has places.
func TestASourceGivesTheRunOfAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var requests []Request
		for k := range rapid.IntRange(1, 8).Draw(t, "conversations") {
			turns := talk(string(rune('a'+k)), len(requests), rapid.IntRange(1, 4).Draw(t, "turns"), time.Duration(k)*30*time.Millisecond)
			turns[0].Status = rapid.SampledFrom([]int{0, 0, 400}).Draw(t, "status")
			requests = append(requests, turns...)
		}
		p := SimulationPlan{
			Requests: requests, Schedule: everyTenth(10), Concurrency: rapid.IntRange(0, 3).Draw(t, "places"), Hold: rapid.Bool().Draw(t, "hold"), Stream: true,
			Until: rapid.SampledFrom([]time.Duration{0, 500 * time.Millisecond}).Draw(t, "until"), Chat: rapid.Bool().Draw(t, "chat"),
		}
		whole := Run(plain(2), p)
		source, each := &counting{list: list(requests)}, []*trace.Record(nil)
		p.Requests, p.Source = nil, source
		p.Each = func(r *trace.Record) { source.done, each = source.done+1, append(each, r) }
		apart := Run(plain(2), p)
		if diff := cmp.Diff(whole.Records, each); diff != "" || apart.Records != nil {
			t.Fatal(diff)
		}
		apart.Records = whole.Records
		if diff := cmp.Diff(whole, apart); diff != "" {
			t.Fatal(diff)
		}
		if n := p.Concurrency; n > 0 && source.most > n || len(source.made) != len(each) {
			t.Errorf("%d made, %d at once with %d places, %d records", len(source.made), source.most, n, len(each))
		}
		for k, i := range source.made {
			if after := requests[i].After; after > 0 && !slices.Contains(source.made[:k], after-1) || slices.Contains(source.made[:k], i) {
				t.Errorf("made in the order %v", source.made)
			}
		}
	})
}

// A request that cannot be made ends the run: those in flight are cancelled.
func TestASourceThatFails(t *testing.T) {
	o := Run(plain(0), SimulationPlan{Source: &counting{list: answers(20, 20, 20), fail: 2}, Schedule: arrival.Burst(), Stream: true})
	if o.Err == nil || !o.Stopped || len(o.Records) != 2 || o.Records[0].Class != trace.Cancelled {
		t.Errorf("%+v", o)
	}
}
