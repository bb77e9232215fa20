package session

import "context"

// Signals are the interrupts of a run: while it is prepared the first ends it; afterwards the first stops it, and
// the second cancels requests in flight.
type Signals struct {
	Run       context.Context // its execution
	Preparing context.Context
	Release   func()
	begin     chan chan struct{} // hands over the channel to close
}

// WatchSignals begins to listen.
func (s *Session) WatchSignals() *Signals {
	ctx, cancel := context.WithCancel(context.Background())
	preparing, interrupt := context.WithCancelCause(ctx)
	w := &Signals{Run: ctx, Preparing: preparing, begin: make(chan chan struct{}), Release: cancel}
	go func() {
		var stop chan struct{}
		for stop == nil {
			select {
			case <-s.Signals:
				interrupt(ErrInterrupted)
			case stop = <-w.begin:
			case <-ctx.Done():
				return
			}
		}
		for _, next := range []func(){func() { close(stop) }, cancel} {
			select {
			case <-s.Signals:
				next()
			case <-ctx.Done():
				return
			}
		}
	}()
	return w
}

// Executing says that the run is prepared. The channel is closed to stop it.
func (s *Signals) Executing() <-chan struct{} {
	stop := make(chan struct{})
	s.begin <- stop
	return stop
}
