package capacity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// search searches, and stores the answer so far when a leg begins and at the end.
func (g *legs) search(s search.Settings, args []string) (a *search.Answer, err error) {
	runs, err := g.sess.OpenStore(g.Store)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	begin := store.Search{Name: g.name, Kind: store.Capacity, Started: time.Now(), Command: g.sess.Masked(args)}
	answer := func(r *search.Result, legs []search.AnswerLeg) *search.Answer {
		a := search.NewAnswer(g.name, r, s, legs)
		a.Flags = g.flags(g.sess, s)
		return a
	}
	begin.Body = body(answer(new(search.Result), nil))
	record, err := runs.BeginSearch(begin)
	if err != nil {
		return nil, err
	}
	status := trace.Interrupted
	defer func() { err = errors.Join(err, record.End(status)) }()
	s.Begins = func(l search.Leg, r *search.Result) {
		_ = record.Write(body(answer(r, append(slices.Clone(g.finished), search.Begun(l))))) // the next one may succeed
	}
	r, err := search.RunCapacity(context.Background(), s, g.measure, func(l search.MeasuredLeg) {
		g.finished = append(g.finished, search.NewAnswerLeg(l, g.limited, s.Objectives))
		if !g.Quiet {
			fmt.Fprintln(g.sess.Stderr, line(l, s, g.sess.Words()))
		}
	})
	if err != nil {
		return nil, err
	}
	status = trace.Complete
	a = answer(r, g.finished)
	return a, record.Write(body(a))
}

func body(a *search.Answer) json.RawMessage {
	b, _ := json.Marshal(a) // its numbers are finite
	return b
}
