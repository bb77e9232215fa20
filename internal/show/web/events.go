package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// eventsPath is where server-sent events come from.
const eventsPath = "/api/events"

// Limits of event streams. The store commits every 0.4 s.
const (
	manyStreams    = 32
	manyRuns       = 50 // that one stream follows
	pollEvery      = 250 * time.Millisecond
	progressEvery  = time.Second      // progress of a run, at least
	keepAliveEvery = 15 * time.Second // a comment, so that a lost connection is noticed
)

// A hub polls the store for all streams, and only while there are any.
//
//	store ── one poll ──> hub ──> stream, stream, stream ──> browsers
//
// A stream that is slow gets fewer events: what waits for it is the latest of each run, and the
// changes of the list together.
type hub struct {
	runs *store.Store

	mu      sync.Mutex
	streams map[*stream]bool
	stored  int           // runs
	stop    func()        // ends the poll; nil: there is none
	done    chan struct{} // closed when it has ended
}

// A stream is what one browser waits for.
type stream struct {
	ids  []string // of runs; empty: the list
	wake chan struct{}

	mu      sync.Mutex // guards what follows
	changes view.Changes
	changed bool
	pulses  map[string]view.Progress
	trouble string

	// Used by the poll only.
	sent    map[string]sentProgress
	greeted bool   // it knows that it can hear
	why     string // the last trouble sent to it
}

// sentProgress is the last progress of a run sent to a stream, and when.
type sentProgress struct {
	progress view.Progress
	at       time.Time
}

// events answers with a stream of events until the browser is gone. Without parameters they are
// runs: view.Changes. With run, which may be repeated, they are progress: view.Progress. A stream
// begins with one of them; who asks for what a page shows after that misses nothing. trouble is a
// text: why the store cannot be read at present; the next event of another kind says that it can.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	st := &stream{wake: make(chan struct{}, 1), pulses: map[string]view.Progress{}, sent: map[string]sentProgress{}}
	refs := r.URL.Query()["run"]
	if len(refs) > manyRuns {
		refuse(w, mistakef("run: at most %d runs in one stream", manyRuns))
		return
	}
	for _, ref := range refs {
		l, err := s.Runs.Find(ref)
		if err != nil {
			refuse(w, err)
			return
		}
		if !slices.Contains(st.ids, l.ID) {
			st.ids = append(st.ids, l.ID)
		}
	}
	leave, err := s.live.join(st)
	if err != nil {
		w.Header().Set("Retry-After", "5")
		refuse(w, err)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	st.write(r.Context(), w)
}

// write writes what waits until ctx ends, or the browser reads nothing more.
func (st *stream) write(ctx context.Context, w http.ResponseWriter) {
	control := http.NewResponseController(w)
	text := []byte("retry: 2000\n\n") // milliseconds until a browser asks again
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	for {
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			text = []byte(": \n\n")
		case <-st.wake:
			text = st.take()
		}
	}
}

func (st *stream) take() (text []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	event := func(name string, data any) {
		body, err := view.JSON(data)
		if err == nil {
			text = fmt.Appendf(text, "event: %s\ndata: %s\n\n", name, body)
		}
	}
	if st.trouble != "" {
		event("trouble", st.trouble)
	}
	if st.changed {
		event("runs", st.changes)
	}
	for _, id := range st.ids {
		if p, ok := st.pulses[id]; ok {
			event("progress", p)
		}
	}
	st.changes, st.changed, st.trouble = view.Changes{}, false, ""
	clear(st.pulses)
	return text
}

// notify lets a stream have something more.
func (st *stream) notify(add func()) {
	st.mu.Lock()
	add()
	st.mu.Unlock()
	select {
	case st.wake <- struct{}{}:
	default: // it is awake
	}
}

// join adds a stream, and polls if it is the first one.
func (h *hub) join(st *stream) (leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= manyStreams {
		return nil, refusalf(http.StatusServiceUnavailable, "%d pages are open at once, and no more are followed; close some", manyStreams)
	}
	h.streams[st] = true
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		before, done := h.done, make(chan struct{})
		h.stop, h.done = cancel, done
		go func() {
			defer close(done)
			if before != nil {
				<-before // only one poll at a time may use the state of streams
			}
			h.poll(ctx)
		}()
	}
	return func() { h.leave(st) }, nil
}

// leave removes a stream, and ends the poll if it was the last one.
func (h *hub) leave(st *stream) {
	h.mu.Lock()
	delete(h.streams, st)
	stop, done := h.stop, h.done
	if len(h.streams) > 0 {
		h.mu.Unlock()
		return
	}
	h.stop = nil
	h.mu.Unlock()
	stop()
	<-done
}

func (h *hub) all() (out []*stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for st := range h.streams {
		out = append(out, st)
	}
	return out
}

// poll asks the store again and again.
func (h *hub) poll(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var w *store.Watch
	for {
		if err := h.look(ctx, &w); err != nil && ctx.Err() == nil {
			h.complain(err.Error())
		}
		select {
		case <-ctx.Done():
			if w != nil {
				_ = w.Close()
			}
			return
		case <-tick.C:
		}
	}
}

// complain sends the streams, once, the reason why nothing can be read.
func (h *hub) complain(why string) {
	for _, st := range h.all() {
		if st.why != why {
			st.why, st.greeted = why, false
			clear(st.sent)
			st.notify(func() { st.trouble = why })
		}
	}
}

// touch notifies the streams that figures of a run were computed.
func (h *hub) touch(id string) {
	h.mu.Lock()
	stored := h.stored
	h.mu.Unlock()
	for _, st := range h.all() {
		if len(st.ids) == 0 {
			st.notify(func() { st.merge(store.Changes{Stored: stored, Changed: []string{id}}) })
		}
	}
}

// look polls the store once, and sends the streams the changes.
func (h *hub) look(ctx context.Context, w **store.Watch) (err error) {
	if *w == nil {
		watch, err := h.runs.Watch(ctx)
		if err != nil {
			return err
		}
		*w = watch
	}
	c, err := (*w).Poll(ctx)
	if err != nil {
		_ = (*w).Close()
		*w = nil
		return err
	}
	pulses := map[string]view.Progress{} // read once for all streams
	h.mu.Lock()
	h.stored = c.Stored
	h.mu.Unlock()
	for _, st := range h.all() {
		if len(st.ids) == 0 && (!c.Empty() || !st.greeted) {
			st.notify(func() { st.merge(c) })
		}
		st.greeted, st.why = true, ""
		for _, id := range st.ids {
			if err := h.follow(st, id, c.Any, pulses); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow tells a stream how a run goes, if something was committed or it is time.
func (h *hub) follow(st *stream, id string, committed bool, pulses map[string]view.Progress) error {
	last, known := st.sent[id]
	over := known && last.progress.Status != string(trace.Running)
	due := !known || time.Since(last.at) >= progressEvery && !over
	if !due && !committed {
		return nil
	}
	p, ok := pulses[id]
	if !ok {
		pulse, err := h.runs.Pulse(id)
		if p = view.NewProgress(pulse); err != nil {
			if p = (view.Progress{ID: id, Status: "removed"}); !errors.Is(err, store.ErrNoRun) {
				return err
			}
		}
		pulses[id] = p
	}
	if !due && same(p, last.progress) {
		return nil
	}
	st.sent[id] = sentProgress{p, time.Now()}
	st.notify(func() { st.pulses[id] = p })
	return nil
}

// same reports whether two say the same.
func same(a, b view.Progress) bool {
	if (a.At == nil) != (b.At == nil) || a.At != nil && *a.At != *b.At {
		return false
	}
	a.At, b.At = nil, nil
	return a == b
}

func (st *stream) merge(c store.Changes) {
	st.changed = true
	st.changes.Stored = c.Stored
	for _, one := range []struct {
		to   *[]string
		from []string
	}{{&st.changes.Added, c.Added}, {&st.changes.Changed, c.Changed}, {&st.changes.Removed, c.Removed}, {&st.changes.Experiments, c.Experiments}} {
		*one.to = append(*one.to, one.from...)
		slices.Sort(*one.to)
		*one.to = slices.Compact(*one.to)
	}
}
