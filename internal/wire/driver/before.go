package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Between two attempts to find a server ready the wait doubles, from the first
// to the longest, each made Uneven.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
)

// Uneven is a pause of up to d, and at least three quarters of it, another each
// time: attempts at even distances always meet the same moment of a server that
// comes and goes in a rhythm of its own.
func Uneven(d time.Duration) time.Duration { return d - rand.N(d/4+1) }

// A FailedError is a request that failed outside the measured run.
type FailedError struct{ Record *trace.Record }

func (e *FailedError) Error() string {
	r := e.Record
	switch {
	case r.Class == trace.HTTP:
		return fmt.Sprintf("HTTP status %d: %s", r.Status, r.Error)
	case r.Error == "":
		return r.Class.Brief()
	}
	return fmt.Sprintf("%s: %s", r.Class.Brief(), r.Error)
}

// MayPass tells whether the next attempt could go better.
func (e *FailedError) MayPass() bool { return e.Record.Class.MayPass(e.Record.Status, e.Record.Error) }

// once sends req outside the run and returns why it failed. A stream that ends
// without its marker is an answer here: how answers end is for the run to tell.
func once(ctx context.Context, s Sender, req workload.Request) error {
	body, err := s.Encode(&req)
	if err != nil {
		return err
	}
	rec := trace.NewRecord(0)
	s.Send(ctx, &req, body, rec)
	if rec.OK() || rec.Class == trace.Truncated && len(rec.Chunks) > 0 {
		return nil
	}
	return &FailedError{rec}
}

// Ready sends req, without an id, until it is answered, goOn says no to its
// failure, or the time is up: once with a limit of zero. An attempt that is still
// going on when the time is up is cut off. The error is that of the last attempt.
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
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready after %v: %w", limit, last)
		case <-time.After(min(Uneven(pause), time.Until(deadline))):
		}
	}
}

// WarmUp sends requests, without ids, at most concurrency at a time (0 = all at
// once), and returns how many failed and why the first of them did.
func WarmUp(ctx context.Context, s Sender, requests []workload.Request, concurrency int) (failed int, first error) {
	if concurrency <= 0 || concurrency > len(requests) {
		concurrency = len(requests)
	}
	next := make(chan workload.Request)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for req := range next {
				if err := once(ctx, s, req); err != nil {
					mu.Lock()
					failed++
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, req := range requests {
		req.ID = ""
		next <- req
	}
	close(next)
	workers.Wait()
	return failed, first
}
