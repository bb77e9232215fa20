package sim

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
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

// An endless Source makes equal requests of 64 tokens.
type endless struct{ n int }

func (e endless) Len() int                    { return e.n }
func (endless) Turn(int) (int, time.Duration) { return 0, 0 }
func (endless) Request(int) (*Request, error) {
	return &Request{PromptTokens: 256, WantTokens: 64, Job: engine.Job{PromptTokens: 256, OutputTokens: 64}, Finish: "length"}, nil
}

// A whole run of many requests that are made as they are released, with records that leave. Each in a process of its
// own says what memory it takes.
func BenchmarkRequests(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		for _, places := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%d/%d", n, places), func(b *testing.B) {
				tokens, before := 0, usage(b)
				for b.Loop() {
					m, err := engine.New(engine.Config{Cost: engine.Costs{Step: 0.008, Sequence: 20e-6, ContextToken: 1e-9, PrefillToken: 20e-6}, KV: engine.KVCache{Tokens: 1 << 20}})
					if err != nil {
						b.Fatal(err)
					}
					Run(m, SimulationPlan{Source: endless{n}, Schedule: arrival.Burst(), Concurrency: places, Stream: true, Each: func(r *trace.Record) { tokens += r.OutputTokens }})
				}
				after := usage(b)
				cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
				b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
				b.ReportMetric(float64(tokens)/cpu.Seconds()/1e6, "Mtok/cpu-s")
				b.ReportMetric(float64(after.Maxrss)/1024, "peak-MiB")
			})
		}
	}
}

func usage(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}
