package store

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func those(records ...*trace.Record) func(func(*trace.Record, error) bool) {
	return func(yield func(*trace.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestEachFieldIsStored(t *testing.T) {
	s := open(t)
	for i, change := range []func(*trace.Record){
		func(r *trace.Record) { r.Usage.Cached = 1 },
		func(r *trace.Record) { r.Usage.Reasoning = 1 },
		func(r *trace.Record) { r.Class = trace.Reset },
		func(r *trace.Record) { r.Error = "e" },
		func(r *trace.Record) { r.Redials = 1 },
		func(r *trace.Record) { r.Text = "t" },
		func(r *trace.Record) { r.Tenant = "t" },
		func(r *trace.Record) { r.Session = "s" },
		func(r *trace.Record) { r.Turn = 1 },
		func(r *trace.Record) { r.VisionTokens = 1 },
		func(r *trace.Record) { r.Usage.Tiers = &trace.CacheTiers{Host: 1} },
		func(r *trace.Record) { r.Accept = 0.5 },
		func(r *trace.Record) { r.OtherLines = 1 },
		func(r *trace.Record) { r.Inputs = 1 },
		func(r *trace.Record) { r.AudioSeconds = 0.5 },
		func(r *trace.Record) { r.Retokenized = 1 },
		func(r *trace.Record) { r.Resent = true },
		func(r *trace.Record) { r.FirstSent = -1 },
		func(r *trace.Record) { r.Quirks.Choices = 3 },
		func(r *trace.Record) {
			r.Quirks = trace.Quirks{Strays: 1, Unread: "audio", Unseen: 2, UsageElsewhere: true, RetryAfter: "7"}
		},
		func(r *trace.Record) { r.Server = &trace.ServerTimes{Queue: new(float64)} },
	} {
		r := plain()
		change(r)
		id := fmt.Sprint("run-", i)
		if _, err := s.Import(newRun(id, "", 1), those(r), nil); err != nil {
			t.Fatal(err)
		}
		got, err := s.Record(id, 0)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%d: %+v, %v; it was %+v", i, got, err, r)
		}
	}
}
