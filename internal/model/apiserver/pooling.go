package apiserver

import (
	"cmp"
	"math"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// pooled is what a model makes of texts without writing any: the engine reads each,
// and its work ends with what would be the first token.
type pooled struct {
	*phrase.Texts
	arrivals []uint64 // of the jobs for all texts but the first
	tickets  []*ticket
	seed     uint64   // of the server
	seeds    []uint64 // of the vectors and scores
}

// pool gives every text of a request its place in the context.
func (c *Config) pool(req *request) (*pooled, phrase.Answer, *phrase.Error) {
	p := &pooled{Texts: req.Texts, seed: c.Seed}
	req.Model = cmp.Or(req.Model, c.Model)
	a := req.Answer()
	a.Tokens, a.MaxTokens, a.Finish = 1, 1, "stop"
	fit := func(text *[]int32) *phrase.Error {
		most := c.MaxModelLen - 1 // the engine ends a text with a token
		if p.Truncate == -1 && len(*text) > most {
			*text = (*text)[:most]
		}
		if len(*text) > most {
			return phrase.BadRequest("input_tokens", len(*text), "This model's maximum context length is %d tokens. "+
				"However, you requested %d tokens in the input. Please reduce the length of the input.", most, len(*text))
		}
		a.PromptTokens += len(*text)
		p.seeds = append(p.seeds, hashIDs(*text))
		return nil
	}
	refused := fit(&req.prompt)
	for i := 0; i < len(req.more) && refused == nil; i++ {
		refused = fit(&req.more[i])
	}
	if refused != nil {
		return p, a, refused
	}
	for _, i := range req.images {
		a.PromptTokens += i.Tokens
		p.seeds[0] ^= i.Hash
	}
	return p, a, nil
}

// addRest starts the jobs for all texts but the first; the function that it returns
// frees the places of those that have not ended.
func (x *exchange) addRest() (release func()) {
	p := x.pooled
	for _, text := range x.req.more {
		t := &ticket{finish: x.answer.Finish, maxTokens: 1}
		rest := *x.req
		rest.prompt, rest.images = text, nil
		job := x.s.cfg.job(&rest, &phrase.Answer{PromptTokens: len(text), Tokens: 1})
		job.ID = x.s.arrivals.Add(1) - 1
		p.arrivals, p.tickets = append(p.arrivals, job.ID), append(p.tickets, t)
		x.s.loop.add(job, t)
	}
	return func() {
		if p == nil {
			return
		}
		for i, t := range p.tickets {
			if t.tokens.Load() == 0 {
				x.s.loop.cancel(p.arrivals[i])
			}
		}
	}
}

// awaitRest waits for them.
func (x *exchange) awaitRest() error {
	if x.pooled == nil {
		return nil
	}
	for _, t := range x.pooled.tickets {
		if _, ok := t.wait(1, x.r.Context().Done()); !ok {
			return errGone
		}
	}
	return nil
}

// results are the scores of documents, or the vectors of texts.
func (p *pooled) results() *phrase.Pooled {
	out := &phrase.Pooled{Texts: p.Texts}
	for _, seed := range p.seeds {
		if p.Documents != nil {
			dice := arrival.Dice(p.seed, "score", seed)
			out.Scores = append(out.Scores, arrival.Unit(dice.Uint64()))
		} else {
			out.Vectors = append(out.Vectors, p.vector(seed))
		}
	}
	return out
}

// vector is about as long as 1.
func (p *pooled) vector(seed uint64) []float32 {
	dice := arrival.Dice(p.seed, "vector", seed)
	v := make([]float32, p.Dimensions)
	for i := range v {
		v[i] = float32((2*arrival.Unit(dice.Uint64()) - 1) * math.Sqrt(3/float64(p.Dimensions)))
	}
	return v
}
