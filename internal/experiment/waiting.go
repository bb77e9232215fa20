package experiment

import (
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// longWait is how long a wait lasts before it is reported: most servers start and end sooner.
const longWait = 5 * time.Second

// A waiter reports what it waits for, if that takes long.
type waiter struct {
	report func(plan.Message)

	mu    sync.Mutex
	what  plan.Message
	timer *time.Timer // nil: no wait, or it was reported
}

func (w *waiter) wait(what plan.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.what = what; {
	case what.Code == serverKilled: // it is no wait
		w.stop()
		w.report(what)
	case w.timer == nil:
		w.timer = time.AfterFunc(longWait, w.late)
	}
}

func (w *waiter) late() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer = nil
		w.report(w.what)
	}
}

// over says that nothing is waited for any more.
func (w *waiter) over() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
}

func (w *waiter) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// serverKilled is the message of package server that a server is killed.
const serverKilled plan.Code = "server.killing"
