package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// unconfirmed is how long before its instant a start must be confirmed.
const unconfirmed = 100 * time.Millisecond

// awaitStart waits for a Start that holds.
func (t *task) awaitStart() (s fleet.Start, part run.Part, err error) {
	var last *fleet.Start
	for {
		begin, going := t.starting()
		if begin != nil && begin != last {
			last, part = begin, t.part(*begin)
		}
		if going {
			return *begin, part, nil
		}
		var late <-chan time.Time
		if begin != nil {
			late = time.After(time.Until(part.Start) - unconfirmed)
		}
		select {
		case <-t.changed:
		case <-late:
			if begin, going := t.starting(); !going && begin == last {
				return s, part, errors.New("the controller did not confirm the start in time")
			}
		case <-t.ctx.Done():
			return s, part, context.Cause(t.ctx)
		}
	}
}

func (t *task) starting() (*fleet.Start, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begin, t.going
}

func (t *task) part(s fleet.Start) run.Part {
	mine, due, index := fleet.Share(t.job.Requests, t.job.Due, fleet.Owners(t.job.Requests, s.Of), s.Share)
	p := run.Part{Requests: mine, Due: slices.Values(due), Index: index, Start: t.w.epoch.Add(time.Duration(s.At)), Limit: s.Places, Probe: s.Probe}
	if s.Most > 0 {
		p.Places = driver.NewPlaces(s.Places, s.Most)
	}
	return p
}

// send sends the share, and delivers its records.
func (t *task) send(s fleet.Start, part run.Part) error {
	sender := delivery.NewSender(t.w.o.Bus.Stream(), t.order.Run, s.Share, t.w.o.Key)
	defer sender.Close()
	t.mu.Lock()
	t.state, t.places, t.sender = fleet.Sending, part.Places, sender
	t.mu.Unlock()
	t.w.logf("run %s: sending %d of %d requests", t.order.Run, part.Requests.N, t.job.Requests.N)
	out := t.prepared.Send(t.sending, t.noMore, part, &t.progress, sender.Record)
	sender.End(secret.Clean(t.secrets, t.end(s, out)))
	t.enter(fleet.Delivering)
	return t.deliver(s, sender, out.Records)
}

// end is the state of the client after the last answer.
func (t *task) end(s fleet.Start, out driver.Outcome) fleet.End {
	return fleet.End{
		Share: s.Share, Records: len(out.Records), Client: out.Client, End: out.End, Stopped: out.Stopped, Probes: out.Probes,
		SelfTest: t.selfTest, ServedBy: t.prepared.ServedBy(), Notes: t.notes,
	}
}

// await waits until the stream has all records, and reports what prevents that.
func (t *task) await(ctx context.Context, sender *delivery.Sender) error {
	for reported := false; ; {
		part, cancel := context.WithTimeout(ctx, complainAfter)
		err := sender.Wait(part)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
		if why := sender.Refused(); why != nil && !reported {
			t.w.logf("run %s: %d records are not stored yet: %v", t.order.Run, sender.Undelivered(), why)
			reported = true
		}
	}
}

// complainAfter is how long records wait before the worker reports why.
const complainAfter = 5 * time.Second

// undeliverable is how long a worker tries to deliver its records without a server.
const undeliverable = 30 * time.Minute

// deliver waits until the stream has all records. If it cannot take them, they go to a file.
func (t *task) deliver(s fleet.Start, sender *delivery.Sender, records []*trace.Record) error {
	limit := cmp.Or(t.w.o.Deliver, undeliverable)
	ctx, cancel := context.WithTimeoutCause(t.ctx, limit, fmt.Errorf("there was no way to for %v", limit))
	defer cancel()
	err := t.await(ctx, sender)
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	if err == nil || errors.Is(context.Cause(t.ctx), errDiscarded) {
		t.w.logf("run %s: done, %d requests", t.order.Run, len(records))
		return nil
	}
	if len(records) == 0 {
		return err
	}
	file, failed := t.rescue(s, records)
	if failed != nil {
		return fmt.Errorf("%d records could not be delivered (%w), nor written to a file: %w", len(records), err, failed)
	}
	return fmt.Errorf("%d records could not be delivered (%w); they are in %s", len(records), err, file)
}
