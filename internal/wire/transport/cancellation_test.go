package transport

import (
	"context"
	"errors"
	"testing"
)

func TestACancellation(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	var c cancellation
	var got []error
	abort := func(cause error) { got = append(got, cause) }
	c.watch(abort)
	if !c.unwatch() || c.cause(t.Context()) != nil {
		t.Error("it was aborted before the end")
	}
	c.watch(abort)
	c.end(first)
	c.end(second)
	if len(got) != 1 || !errors.Is(got[0], first) || !errors.Is(c.cause(t.Context()), first) {
		t.Errorf("aborted because of %v, the cause is %v", got, c.cause(t.Context()))
	}
	if c.unwatch() {
		t.Error("an abort is not told of")
	}
	if c.watch(abort); len(got) != 2 || !errors.Is(got[1], first) {
		t.Errorf("after the end aborted because of %v", got)
	}
	ctx, done := c.withExchange(t.Context())
	if !errors.Is(context.Cause(ctx), first) {
		t.Errorf("a context within it has the cause %v", context.Cause(ctx))
	}
	done()
}

// Without a cause of its own a cancellation has that of its context.
func TestACancellationFollowsItsContext(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	var c cancellation
	within, done := c.withExchange(ctx)
	cancel(why)
	if <-within.Done(); !errors.Is(context.Cause(within), why) || !errors.Is(c.cause(ctx), why) {
		t.Errorf("the causes are %v and %v", context.Cause(within), c.cause(ctx))
	}
	done()
	if within, done = c.withExchange(t.Context()); within.Err() != nil {
		t.Error("a context ends before its time")
	}
	if done(); !c.unwatch() || within.Err() == nil {
		t.Error("a released context goes on")
	}
}
