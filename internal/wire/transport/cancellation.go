package transport

import (
	"context"
	"sync"
)

// A cancellation is how an exchange is ended from outside: by its context, or by a limit of its own. A second context
// would do as much, and would cost each request a channel, a map and more.
type cancellation struct {
	mu    sync.Mutex
	why   error       // the first cause; nil: nothing has ended it
	abort func(error) // aborts the operation in progress; nil: there is none
}

// end records the cause, unless there is one, and aborts the operation in progress.
func (c *cancellation) end(cause error) {
	c.mu.Lock()
	first, abort := c.why == nil, c.abort
	if first {
		c.why = cause
	}
	c.mu.Unlock()
	if first && abort != nil {
		abort(cause)
	}
}

// watch has abort called when the exchange is ended, or at once if it has been.
func (c *cancellation) watch(abort func(cause error)) {
	c.mu.Lock()
	c.abort = abort
	why := c.why
	c.mu.Unlock()
	if why != nil {
		abort(why)
	}
}

// unwatch undoes watch. It reports false if abort was called, or will be.
func (c *cancellation) unwatch() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abort = nil
	return c.why == nil
}

// cause is the error that ended the exchange with context ctx; nil if none has.
func (c *cancellation) cause(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return c.why
	}
	return context.Cause(ctx)
}

// withExchange returns a context that ends with the exchange, for calls that take one; done releases it.
func (c *cancellation) withExchange(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.watch(cancel)
	return ctx, func() {
		c.unwatch()
		cancel(nil)
	}
}
