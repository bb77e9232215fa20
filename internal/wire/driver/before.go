package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The wait between two attempts to reach a server doubles, from the first to the
// longest, each passed through Uneven.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
)

// Uneven returns a random pause between three quarters of d and d. Attempts at even
// intervals could always hit the same phase of a server that is periodically
// unavailable.
func Uneven(d time.Duration) time.Duration { return d - rand.N(d/4+1) }

// A FailedError is a request that failed outside the measured run.
type FailedError struct{ Record *trace.Record }

func (e *FailedError) Error() string {
	r := e.Record
	switch {
	case r.Class == trace.Timeout && r.FirstByte.Happened():
		return "the answer had begun, and did not end in time"
	case r.Class == trace.HTTP:
		return fmt.Sprintf("HTTP status %d: %s", r.Status, cmp.Or(r.Error, http.StatusText(r.Status), "without a word"))
	case r.Error == "":
		return r.Class.Brief()
	}
	return fmt.Sprintf("%s: %s", r.Class.Brief(), r.Error)
}

// MayPass reports whether a retry could succeed.
func (e *FailedError) MayPass() bool { return e.Record.Class.MayPass(e.Record.Status, e.Record.Error) }

// once sends req outside the run and returns its error. A stream that ends without
// its marker counts as an answer here, and so does one that still goes on when ctx is at
// its deadline: the run judges how answers end.
func once(ctx context.Context, s Sender, req workload.Request) error {
	body, err := s.Encode(&req)
	if err != nil {
		return err
	}
	rec := trace.NewRecord(0)
	s.Send(ctx, &req, body, rec)
	timedOut := errors.Is(ctx.Err(), context.DeadlineExceeded) &&
		(rec.Class == trace.Timeout || rec.Class == trace.Cancelled)
	if rec.OK() || (timedOut || rec.Class == trace.Truncated) && len(rec.Chunks) > 0 {
		return nil
	}
	return &FailedError{rec}
}

// Ready sends req, without an id, until it is answered, goOn rejects its failure,
// or the time is up; with a limit of zero it sends req once. An attempt still in
// progress when the time is up is cancelled. The error is that of the last attempt.
func Ready(ctx context.Context, s Sender, req workload.Request, limit time.Duration, goOn func(error) bool) error {
	req.ID = ""
	if limit <= 0 {
		return once(ctx, s, req)
	}
	deadline := time.Now().Add(limit)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var last error
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := once(ctx, s, req)
		if err == nil || ctx.Err() == nil && !goOn(err) {
			return err
		}
		if last == nil || time.Now().Before(deadline) { // else it says no more than that the time is up
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready after %v: %w", limit, last)
		case <-time.After(min(Uneven(pause), time.Until(deadline))):
		}
	}
}
