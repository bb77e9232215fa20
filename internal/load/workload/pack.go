package workload

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// A Pack has the requests of a file. While they are few they are in memory, and else their prompts are in a spool.
type Pack struct {
	here   []Request
	index  []packed // in place of here
	spool  *Spool   // nil: all stay in memory
	window int      // requests beyond which prompts go to the spool; 0: none does
	asks   bool     // some requests are questions
}

// A packed is a request without its prompt.
type packed struct {
	at             int64 // of the prompt in the spool
	size           uint32
	form           form
	output, prompt int32         // tokens
	due            time.Duration // its own timestamp
	question       *grade.Question
	own            *Request // in place of all that, of a prompt of another form
}

// A form is what a prompt is.
type form uint8

const (
	textForm form = iota
	idsForm
	messagesForm
)

// NewPack is an empty pack for a dataset of s.
func (s *Source) NewPack() *Pack { return &Pack{spool: s.Spool, window: s.Window} }

// add puts a request behind the others.
func (p *Pack) add(r Request) error {
	p.asks = p.asks || r.Question != nil
	if p.index == nil && (p.spool == nil || p.window == 0 || len(p.here) < p.window) {
		err := p.spool.Spill(&r)
		p.here = append(p.here, r)
		return err
	}
	for i := range p.here { // there are more than that
		whole, err := p.here[i].Unspooled()
		if err == nil {
			err = p.put(whole)
		}
		if err != nil {
			return err
		}
	}
	p.here = nil
	return p.put(&r)
}

// put puts the prompt of a request into the spool.
func (p *Pack) put(r *Request) (err error) {
	k := packed{output: int32(r.OutputTokens), prompt: int32(r.PromptTokens), due: r.At, question: r.Question}
	if r.Batch != nil || r.Parts != nil || r.Media != nil {
		own := *r
		k.own, err = &own, p.spool.Spill(&own)
	} else {
		var b []byte
		b, k.form = promptOf(r)
		k.size = uint32(len(b))
		k.at, err = p.spool.append(b)
	}
	p.index = append(p.index, k)
	return err
}

// promptOf is a prompt in bytes.
func promptOf(r *Request) (b []byte, f form) {
	switch {
	case r.Tokens != nil:
		for _, id := range r.Tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		}
		return b, idsForm
	case r.Messages != nil:
		return r.Messages, messagesForm
	}
	return []byte(r.Text), textForm
}

// workload is the requests at some positions, in that order.
func (p *Pack) workload(order []int32) (w Workload) {
	if p.index != nil {
		list := p.list().Pick(order)
		w.List = &list
		return w
	}
	for _, i := range order {
		w.Requests = append(w.Requests, p.here[i])
	}
	return w
}

// size is the number of requests.
func (p *Pack) size() int { return max(len(p.here), len(p.index)) }

// list is the requests that are not in memory.
func (p *Pack) list() List {
	return List{N: len(p.index), Mixed: true, Brief: func(i int) Brief {
		if k := &p.index[i]; k.own == nil {
			return Brief{Output: int(k.output), At: k.due}
		}
		return p.index[i].own.brief()
	}, At: p.request}
}

// request is request i, which has its prompt later.
func (p *Pack) request(i int) *Request {
	k := &p.index[i]
	if k.own != nil {
		return k.own
	}
	r := &Request{OutputTokens: int(k.output), PromptTokens: int(k.prompt), At: k.due, Question: k.question}
	switch k.form {
	case idsForm:
		r.Tokens = NoIDs
	case messagesForm:
		r.Messages = NoMessages
	}
	r.Later = func(whole *Request) error {
		b, err := p.spool.read(k.at, int(k.size))
		switch k.form {
		case idsForm:
			whole.Tokens = idsOf(b)
		case messagesForm:
			whole.Messages = json.RawMessage(b)
		case textForm:
			whole.Text = string(b)
		}
		return err
	}
	return r
}

func idsOf(b []byte) []int32 {
	ids := make([]int32, len(b)/4)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return ids
}
