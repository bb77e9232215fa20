// Package workload decides what to send: the ordered requests of a run, with
// their prompts, media and wanted output lengths.
//
// A workload is drawn before the run, from a seed, and is then fixed: the same
// settings, seed and tokenizer give the same requests byte for byte on every
// machine, whatever the number of cores. Draws follow Python's and numpy's
// generators (package pyrand) in the order in which the vLLM benchmark makes
// them, so its seeds give its prompts here. What needs no draw, tokenizing and
// encoding images, is done in parallel.
//
// Where prompt lengths matter they are counted by a Tokenizer: one read from a
// tokenizer.json, or the server's own over HTTP. Without any, Random can send
// token ids instead of text, which need none.
package workload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// A Request is the content of one request.
type Request struct {
	ID           string // sent as x-request-id when not empty
	Text         string
	Tokens       []int32                    // the prompt as token ids, in place of Text
	Batch        []string                   // several texts, in place of Text; for rerank the query, then documents
	Messages     json.RawMessage            // a chat, an array, in place of Text
	Parts        json.RawMessage            // the content of the user's message, an array, in place of Text and Media
	Media        []Media                    // follows Text in the user's message
	PromptTokens int                        // as the tokenizer counts them, 0 = not known
	VisionTokens int                        // of PromptTokens: those of media
	OutputTokens int                        // wanted, 0 = up to the server
	Model        string                     // in place of the run's model, e.g. a LoRA adapter
	Extra        map[string]json.RawMessage // body fields of this request alone
	Header       map[string]string          // of this request alone
	At           time.Duration              // the trace's own timestamp
	Tenant       string                     // that sends it, if there are several
	Question     *grade.Question            // what is known of the answer, nil for nothing

	Turn // its place in a conversation

	// Later restores the Text, Tokens, Messages, Batch and content of the Media that a Spool
	// keeps; until then only the numbers of Media and texts are known, and whether the prompt is Tokens
	// or Messages. nil: nothing is missing. See Whole.
	Later func(*Request) error
}

// Unspooled is r with all of its prompt: r itself, or a copy of one that is spooled.
func (r *Request) Unspooled() (*Request, error) {
	if r.Later == nil {
		return r, nil
	}
	whole := *r
	whole.Later = nil
	return &whole, r.Later(&whole)
}

// Amend has f change r where it needs all of the prompt: now, or each time that a spooled
// one comes back, with all the Media that it had.
func (r *Request) Amend(f func(*Request)) {
	later := r.Later
	if later == nil {
		f(r)
		return
	}
	r.Later = func(whole *Request) error {
		err := later(whole)
		if err == nil {
			f(whole)
		}
		return err
	}
}

// Set puts a field into the body of this request alone: others may have the same Extra.
func (r *Request) Set(field string, v json.RawMessage) {
	own := maps.Clone(r.Extra)
	if own == nil {
		own = map[string]json.RawMessage{}
	}
	own[field] = v
	r.Extra = own
}

// A Turn is the place of a request in a conversation. A request by itself has the
// zero Turn.
type Turn struct {
	Session string // the conversation, empty for none
	Number  int    // from 0
	// After is 1 + the position of the earlier request that this one waits for, until it is
	// answered; 0: the schedule has its due time.
	After int
	Think time.Duration // from that answer until this one is due
	// Remember puts that request, with its own history, and its answer before this one: as
	// messages if it has Messages, else as text.
	Remember bool
	// Followed: another request remembers this one, so its answer is stored.
	Followed bool
}

// Media is one image, video or audio, by content or by address.
type Media struct {
	MIME string // image/jpeg, video/mp4, audio/wav …; for an address too
	Data []byte
	URL  string // in place of Data
	// Seconds is the duration of audio, 0 to use its own header.
	Seconds float64
}

// Address is its URL, or a data: URL with the content.
func (m Media) Address() string {
	if m.URL != "" {
		return m.URL
	}
	return "data:" + m.MIME + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

// A Tokenizer turns text into token ids and back.
type Tokenizer interface {
	// Encode gives the ids of text; special adds the tokens that the model
	// expects around a sequence, such as BOS.
	Encode(ctx context.Context, text string, special bool) ([]int32, error)
	Decode(ctx context.Context, ids []int32) (string, error)
}

// A Vocabulary has the facts about a tokenizer that draws need.
type Vocabulary struct {
	Size         int     // ids 0..Size-1, without added tokens
	All          []int32 // every id, with the added tokens, ascending; nil if not known
	Special      []int32 // the model's special tokens: not in random prompts
	AddedSpecial []int32 // every added token flagged special: not in prompts with images
	Around       int     // special tokens that encoding adds to a sequence
	BOS          string  // text of the token that begins a sequence, empty if there is none
	Template     Template
}

// A Template renders a chat into the text that the model gets, as the chat template
// of its tokenizer says. A Vocabulary without has nil.
type Template interface {
	// Render renders messages, a JSON array of objects with role and content.
	Render(messages json.RawMessage, o TemplateOptions) (string, error)
}

// TemplateOptions are the arguments of Hugging Face's apply_chat_template other than messages.
type TemplateOptions struct {
	GenerationPrompt bool                       // end with the beginning of the answer
	Tools            json.RawMessage            // an array, or nil
	Arguments        map[string]json.RawMessage // further variables of the template
}

// A Workload is the requests of a run, with notes on drawing them.
type Workload struct {
	Requests []Request
	// List has the requests in place of Requests where they are made as they are due; nil: all are made. Late are the
	// notes on those that were made so far; nil: there will be none.
	List  *List
	Late  func() []plan.Message
	Notes []plan.Message

	// Python is Python's generator after a dataset from a file, for draws that follow;
	// nil if the workload did not use it.
	Python *pyrand.Random
	// Numpy is numpy's global generator likewise.
	Numpy *pyrand.Legacy

	// Warmup is one round of warm-up requests, if the dataset has its own.
	Warmup []Request
	Turns  bool // they are conversations, and each takes one place in the gate
	// Lines and Start are printed by the tool of the dataset: after making the requests,
	// and before sending them.
	Lines, Start []string
}

// All are the requests, wherever they are.
func (w *Workload) All() List {
	if w.List != nil {
		return *w.List
	}
	return Listed(w.Requests)
}

// Amend has f change every request: now, or where it is made as it is due, then. See List.Amend.
func (w *Workload) Amend(f func(i int, r *Request)) {
	if w.List != nil {
		amended := w.List.Amend(f)
		w.List = &amended
	}
	for i := range w.Requests {
		f(i, &w.Requests[i])
	}
}

// Cut leaves out the requests from n on.
func (w *Workload) Cut(n int) {
	if w.List != nil {
		first := w.List.Cut(n)
		w.List = &first
		return
	}
	w.Requests = w.Requests[:min(n, len(w.Requests))]
}

// workers limits concurrent calls; the tokenizer may be a server.
const workers = 64

// Each calls f for 0..n-1, a limited number at once, and returns the first error.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range n {
		if each.Err() != nil {
			break
		}
		g.Go(func() error { return f(each, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// InOrder calls f for 0..n-1, a limited number at once and ahead, and yields the results
// in order. It ends with the first error, or that of ctx.
func InOrder[T any](ctx context.Context, n int, f func(ctx context.Context, i int) (T, error)) iter.Seq2[T, error] {
	type result struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var ahead []chan result
		for i := 0; i < n || len(ahead) > 0; i++ {
			if i < n {
				one := make(chan result, 1)
				ahead = append(ahead, one)
				running.Go(func() {
					v, err := f(ctx, i)
					one <- result{v, err}
				})
			}
			if i < n-1 && len(ahead) < workers {
				continue
			}
			r := <-ahead[0]
			ahead = ahead[1:]
			if r.err == nil {
				r.err = context.Cause(ctx)
			}
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
	}
}

// number gives each request its id: the prefix and its position.
func number(requests []Request, prefix string) {
	for i := range requests {
		requests[i].ID = fmt.Sprint(prefix, i)
	}
}
