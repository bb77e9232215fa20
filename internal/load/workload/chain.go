package workload

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A chain makes the requests of a draw, each of which draws from where the one before it left the generator. Going
// forward it makes every request once. For an earlier request it starts again from the nearest mark before it; there is a
// mark every stride requests:
//
//	marks   |           |           |
//	        0 1 2 3 ... 16 ... 21   32 ...
//	                    └─ makes ─> 21 again
type chain struct {
	step func(ctx context.Context, d *draw, i int) (Request, error)

	mu    sync.Mutex
	marks []mark
	front link // whose draw counts what is made
	again link // which goes over what was made before
}

// A link is a draw before its request next.
type link struct {
	draw *draw
	next int
}

// A mark is the state of a draw before a request.
type mark struct {
	rng      pyrand.Generator
	hopeless int
}

// stride is the distance of two marks, in requests.
const stride = 16

// make makes request i.
func (c *chain) make(ctx context.Context, i int) (r Request, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.front
	if i < c.front.next {
		l = &c.again
		if near := i / stride; l.draw == nil || l.next > i || l.next < near*stride {
			*l = link{c.front.draw.from(c.marks[near]), near * stride}
		}
	}
	for err == nil && l.next <= i {
		if l == &c.front && l.next%stride == 0 {
			c.marks = append(c.marks, mark{*l.draw.rng, l.draw.hopeless})
		}
		r, err = c.step(ctx, l.draw, l.next)
		l.next++
	}
	return r, err
}

// notes are those on the requests that were made.
func (c *chain) notes() []plan.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.front.draw
	return notesOf(d.inexact, c.front.next, d.surplus)
}

// from is the draw as it was at a mark.
func (d *draw) from(m mark) *draw {
	back := *d
	back.rng, back.hopeless = &m.rng, m.hopeless
	back.fix.rng = back.rng
	return &back
}

// due are the prompts of d, made as they are asked for.
func (d *draw) due(ctx context.Context) Workload {
	ctx = context.WithoutCancel(ctx) // of what is made during the run
	prompt := func(ctx context.Context, d *draw, i int) (Request, error) {
		s, err := d.fix.start(ctx, d.ids(i), d.wanted(i))
		if err != nil {
			return Request{}, err
		}
		return d.request(ctx, i, &s)
	}
	w, c := Workload{}, &chain{step: prompt, front: link{draw: d}}
	makeOne := func(i int) (Request, error) { return c.make(ctx, i) }
	if d.fix.tok == nil { // without draws
		makeOne = func(i int) (Request, error) { return prompt(ctx, d, i) }
	} else {
		w.Late = c.notes
	}
	w.List = &List{
		N: len(d.inputs), Brief: func(i int) Brief { return Brief{Output: int(d.outputs[i])} },
		At: func(i int) *Request { return d.later(i, makeOne) },
	}
	return w
}

// wanted is the length of prompt i.
func (d *draw) wanted(i int) int { return d.random.Prefix + int(d.inputs[i]) }

// NoIDs and NoMessages mark prompts of token ids and chats that are not made yet.
var (
	NoIDs      = []int32{}
	NoMessages = json.RawMessage{}
)

// later is request i without its prompt.
func (d *draw) later(i int, makeOne func(i int) (Request, error)) *Request {
	r := &Request{ID: d.random.IDPrefix + strconv.Itoa(i), PromptTokens: d.wanted(i), OutputTokens: int(d.outputs[i])}
	if d.fix.tok == nil {
		r.Tokens = NoIDs
	}
	r.Later = func(whole *Request) error {
		made, err := makeOne(i)
		whole.Text, whole.Tokens, whole.PromptTokens = made.Text, made.Tokens, made.PromptTokens
		return err
	}
	return r
}

// fill draws n integers from [lo, hi).
func fill(g *pyrand.Generator, n int, lo, hi int64) []int32 {
	dst := make([]int32, n)
	for i := range dst {
		dst[i] = int32(g.Integers(lo, hi))
	}
	return dst
}
