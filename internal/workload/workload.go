// Package workload decides what to send: the ordered requests of a run, with
// their prompts, media and wanted output lengths.
//
// A workload is drawn before the run, from a seed, and is then fixed: the same
// settings, seed and tokenizer give the same requests byte for byte on every
// machine, whatever the number of cores. Draws follow Python's and numpy's
// generators (package pyrand) in the order in which the vLLM benchmark makes
// them, so its seeds give its prompts here. What needs no draw, tokenizing and
// encoding pictures, is done in parallel.
//
// Where prompt lengths matter they are counted by a Tokenizer: one read from a
// tokenizer.json, or the server's own over HTTP. Without any, Random can send
// token ids instead of text, which need none.
package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/pyrand"
)

// A Request is what one request asks.
type Request struct {
	ID           string // sent as x-request-id when not empty
	Text         string
	Tokens       []int32                    // the prompt as token ids, in place of Text
	Messages     json.RawMessage            // a whole chat, in place of Text
	Media        []Media                    // follows Text in the user's message
	PromptTokens int                        // text tokens as the tokenizer counts them, 0 = not known
	OutputTokens int                        // wanted, 0 = up to the server
	Model        string                     // in place of the run's model, e.g. a LoRA adapter
	Extra        map[string]json.RawMessage // body fields of this request alone
	At           time.Duration              // the trace's own timestamp
}

// Media is one picture, by content or by address.
type Media struct {
	MIME string
	Data []byte
	URL  string // in place of Data
}

// A Tokenizer turns text into token ids and back.
type Tokenizer interface {
	// Encode gives the ids of text; special adds the tokens that the model
	// expects around a sequence, such as BOS.
	Encode(ctx context.Context, text string, special bool) ([]int32, error)
	Decode(ctx context.Context, ids []int32) (string, error)
}

// A Vocabulary is what a drawing needs to know of a tokenizer.
type Vocabulary struct {
	Size         int     // ids 0..Size-1, without added tokens
	Special      []int32 // the model's special tokens: kept out of random prompts
	AddedSpecial []int32 // every added token flagged special: kept out beside pictures
	Around       int     // special tokens that encoding adds to a sequence
}

// A Workload is the requests of a run, and what was noticed while drawing them.
type Workload struct {
	Requests []Request
	Notes    []string // for the user's eyes, each one sentence

	// Python is Python's generator as a dataset from a file left it, for draws
	// that follow; nil if the workload did not use it.
	Python *pyrand.Random
}

// workers bounds what is under way at once; the tokenizer may be a server.
const workers = 64

// parallel calls f for 0..n-1, many at once, and returns the first error.
func parallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
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

// number gives each request its id: the prefix and its position.
func number(requests []Request, prefix string) {
	for i := range requests {
		requests[i].ID = fmt.Sprint(prefix, i)
	}
}
