package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/words"
)

type shower interface {
	show(live.View) error
	live() bool    // each view takes the place of the one before
	resized() bool // the last view must be drawn anew
}

// A watching is the state of `pitot watch`.
type watching struct {
	every, limit time.Duration // limit 0: none
	most         int           // views that are shown; 0: no limit
	target       string
	secrets      *secret.Set
	lang         *words.Language
	begun        time.Time
	keys         <-chan byte

	group    *collect.Group
	set      telemetry.Set
	course   []resources.Live
	answered map[string]answer
	sources  []telemetry.Source
	views    int
}

// An answer is how much of a source there was when it last answered.
type answer struct {
	reads, lost int
	at          time.Time
}

// Times of a screen.
const (
	minute  = time.Minute
	firstAt = 200 * time.Millisecond // when its first values are drawn
	look    = 250 * time.Millisecond // how often it is looked whether it has another size

	firstWithin = 5 * time.Second // when a first line comes at the latest, settled or not
)

// spans are how far back a view looks.
func (w *watching) spans() resources.Spans { return resources.SpansOf(w.every) }

// watch samples and shows until ctx ends, a key says so, or all is shown that was asked for. It is an error if the
// first named source gave nothing.
func (w *watching) watch(ctx context.Context, collectors []collect.Collector, to shower) error {
	w.group = collect.Start(ctx, w.every, collectors)
	defer func() { w.group.End(w.begun) }()
	w.answered = map[string]answer{}
	ended, err := w.loop(ctx, to)
	if err != nil || !ended {
		return err
	}
	return w.silent()
}

// loop reports whether it came to its end by itself.
func (w *watching) loop(ctx context.Context, to shower) (ended bool, err error) {
	due := time.Now().Add(w.every + w.every/4) // rates need two samples
	next := time.NewTimer(time.Until(due))
	defer next.Stop()
	resize := time.NewTicker(look)
	defer resize.Stop()
	var over <-chan time.Time
	if w.limit > 0 {
		limit := time.NewTimer(w.limit)
		defer limit.Stop()
		over = limit.C
	}
	if to.live() {
		next.Reset(firstAt)
		err = to.show(w.view())
	}
	for err == nil {
		select {
		case <-ctx.Done():
			return false, nil
		case key := <-w.keys:
			if ends(key) {
				return false, nil
			}
		case <-over:
			w.update()
			if w.views == 0 && !to.live() {
				err = to.show(w.view())
			}
			return true, err
		case <-resize.C:
			if to.resized() {
				err = to.show(w.view())
			}
		case <-next.C:
			w.update()
			if w.views == 0 && !to.live() && !w.settled() {
				next.Reset(w.every / 4)
				continue
			}
			err = to.show(w.view())
			if w.views++; w.views == w.most {
				return true, err
			}
			for !due.After(time.Now()) {
				due = due.Add(w.every)
			}
			next.Reset(time.Until(due))
		}
	}
	return false, err
}

// settled reports whether a first line has something to say: each source has been read twice, as rates
// want it, or something is wrong with it.
func (w *watching) settled() bool {
	waits := func(s telemetry.Source) bool { return s.Reads < 2 && s.Lost == 0 && len(s.Notes) == 0 }
	return len(w.sources) > 0 && !slices.ContainsFunc(w.sources, waits) || time.Since(w.begun) >= firstWithin
}

// ends reports whether a key ends it: q, and what interrupts or ends a program elsewhere.
func ends(key byte) bool {
	const ctrlC, ctrlD, ctrlBackslash = 3, 4, 28
	return key == 'q' || key == 'Q' || key == ctrlC || key == ctrlD || key == ctrlBackslash
}

func (w *watching) update() {
	now, spans := time.Now(), w.spans()
	sources, values := w.group.Fresh(w.begun)
	w.sources = secret.Clean(w.secrets, sources)
	w.set.Sources = w.sources
	for _, v := range values {
		v.Key = secret.Clean(w.secrets, v.Key)
		w.set.Add(v)
	}
	for _, s := range sources {
		had, known := w.answered[s.Name]
		switch {
		case !known:
			w.answered[s.Name] = answer{s.Reads, s.Lost, w.begun}
		case s.Reads > had.reads:
			w.answered[s.Name] = answer{s.Reads, s.Lost, now}
		}
	}
	at := now.Sub(w.begun)
	w.set.Trim(at - spans.Count)
	w.group.DropBefore(now.Add(-spans.Count))
	w.course = append(w.course, resources.LiveAt(&w.set, at, spans))
	for len(w.course) > 1 && w.course[0].At <= at-max(minute, 20*w.every) {
		w.course = w.course[1:]
	}
}

// view shows the present state.
func (w *watching) view() live.View {
	v := live.View{Target: w.target, Time: time.Now(), Every: w.every, Course: w.course}
	for _, s := range w.sources {
		v.Sources = append(v.Sources, live.Source{Source: s, Silent: w.silence(s)})
	}
	return v
}

// silence is for how long a source has not answered, 0 if it does: if asking it failed since its
// last answer, or that is long ago.
func (w *watching) silence(s telemetry.Source) time.Duration {
	last := w.answered[s.Name]
	since := time.Since(last.at)
	if s.Reads > 0 && s.Lost == last.lost && since <= w.spans().Own || since < w.every/2 {
		return 0
	}
	return since
}

// silent is an error if the first source, which is the server if one was named, never answered.
func (w *watching) silent() error {
	if len(w.sources) == 0 || w.sources[0].Reads > 0 {
		return nil
	}
	s := w.sources[0]
	why := live.Why(s, w.lang)
	why = cmp.Or(why, "it was asked for "+time.Since(w.begun).Round(time.Second).String())
	return fmt.Errorf("nothing from %s: %s", s.Via, why)
}
