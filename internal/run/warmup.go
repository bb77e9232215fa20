package run

import (
	"context"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// drawWarmUp makes the requests that are sent before the run.
func (p *Prepared) drawWarmUp(ctx context.Context, b *builder) ([]workload.Request, error) {
	w := p.spec.Before.WarmUp
	switch {
	case p.admission != nil:
		return nil, nil
	case w.Steady:
		return nil, p.drawWaves(ctx, b)
	case w.Requests == 0:
		return nil, nil
	}
	switch w.From {
	case plan.WarmMeasured:
		return firstTurns(p.Requests(), w.Requests), nil
	case plan.WarmFirst:
		return p.repeated(w), nil
	}
	if p.load.drawn() {
		b.source.Seed |= warmUpSeed
		one := p.load.streams[0].parts[0]
		s := b.of(one)
		s.Requests, s.Arrivals = w.Requests, true
		drawn, err := b.part(ctx, one, s)
		return firstTurns(drawn.All(), w.Requests), err
	}
	var texts []workload.Request
	for i := range w.Requests {
		texts = append(texts, p.small(fmt.Sprintf("Warm-up request %d: say something.", i), 16))
	}
	return texts, nil
}

// firstTurns are up to n requests without a history.
func firstTurns(requests workload.List, n int) (first []workload.Request) {
	for i := 0; i < requests.N && len(first) < n; i++ {
		if r := *requests.At(i); r.After == 0 {
			r.Followed = false
			first = append(first, r)
		}
	}
	return first
}

// repeated repeats the warm-up of the dataset, if it has one, or else the first request or
// conversation.
func (p *Prepared) repeated(w plan.WarmUp) (out []workload.Request) {
	all := p.Requests()
	first := p.built.work.Warmup
	for i := 0; p.built.work.Warmup == nil && i < all.N && (i == 0 || p.hold() && all.Brief(i).After == i); i++ {
		first = append(first, *all.At(i))
	}
	for range w.Requests {
		begin := len(out)
		for _, r := range first {
			r.ID, r.Model, r.At = "", "", 0
			if w.MaxOutput > 0 {
				r.OutputTokens = min(r.OutputTokens, w.MaxOutput)
			}
			if r.After > 0 {
				r.After = begin + r.Number
			}
			out = append(out, r)
		}
	}
	return out
}

// small is a short request in the form of the run: a server that takes texts may refuse
// lists of token ids, and may have fewer ids than are drawn. Audio cannot be made up: there
// it is the first of the workload.
func (p *Prepared) small(text string, tokens int) workload.Request {
	first := p.first()
	switch protocol := endpoint.Protocol(p.spec.Request.Protocol); {
	case protocol == endpoint.Rerank:
		return workload.Request{Batch: []string{text, text}}
	case protocol == endpoint.Transcription && p.Requests().N > 0:
		first.ID, first.OutputTokens = "", tokens
		return first
	case protocol.Silent():
		tokens = 0
	}
	switch {
	case len(first.Tokens) > 0:
		ids := first.Tokens[:min(len(first.Tokens), smallIDs)]
		return workload.Request{Tokens: ids, PromptTokens: len(ids), OutputTokens: tokens}
	case first.Batch != nil:
		return workload.Request{Batch: []string{text}, OutputTokens: tokens}
	}
	return workload.Request{Text: text, OutputTokens: tokens}
}

// smallIDs is the number of token ids of a small request: fewer than a prefix cache keeps.
const smallIDs = 4

// first is the first request of the run, unspooled; empty if there is none.
func (p *Prepared) first() workload.Request {
	if p.Requests().N == 0 {
		return workload.Request{}
	}
	whole, err := p.Requests().At(0).Unspooled()
	if err != nil { // the run will say so
		return workload.Request{}
	}
	return *whole
}

// readyRequest is the request that a server must answer before the run, or nil.
func (p *Prepared) readyRequest() *workload.Request {
	ready := p.spec.Before.Ready
	switch {
	case ready.Timeout == 0 || p.admission != nil:
		return nil
	case ready.Ask == plan.AskSmall:
		small := p.small("Hello", 1)
		return &small
	case ready.Ask == plan.AskFirst:
		first := *p.Requests().At(0)
		first.Model = ""
		return &first
	}
	return nil
}

// hold reports whether a conversation keeps its place in the gate.
func (p *Prepared) hold() bool { return p.spec.Gate.Hold || p.built.work.Turns }
