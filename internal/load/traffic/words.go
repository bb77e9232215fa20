package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A prompter makes up prompts of exact lengths.
//
// It writes them in words that are one token each, in any place: a text of such words
// has as many tokens as words, in the middle of another text too. Where a tokenizer has
// too few of them it takes tokens of all kinds, and changes the ends of prompts until
// the lengths are right. Without a tokenizer prompts are token ids.
type prompter struct {
	*workload.Source
	ids    []int32
	stable bool // ids are such words

	mu      sync.Mutex
	inexact map[int]bool // requests that do not have their length
}

// The number of tokens in which words are searched, of words that are enough, and the
// least number: with fewer there are too few different prompts of a few tokens.
const (
	candidates = 3072
	enough     = 1024
	least      = 48
)

// newPrompter looks for words in the vocabulary of the tokenizer, if there is one.
func newPrompter(ctx context.Context, s *workload.Source) (*prompter, error) {
	p := &prompter{Source: s, ids: s.Vocab.Drawable()}
	if len(p.ids) == 0 {
		return nil, fmt.Errorf("a vocabulary of %d ids leaves none to draw from", s.Vocab.Size)
	}
	if s.Tokens == nil {
		return p, nil
	}
	words, err := p.words(ctx)
	if len(words) >= least {
		p.ids, p.stable = words, true
	}
	return p, err
}

// words are the ids of such words, in random order.
func (p *prompter) words(ctx context.Context) ([]int32, error) {
	some := slices.Clone(p.ids)
	dice(0, "words", 0).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	some = some[:min(len(some), candidates)]
	is := make([]bool, len(some))
	err := workload.Each(ctx, len(some), func(ctx context.Context, i int) (err error) {
		is[i], err = p.isWord(ctx, some[i])
		return err
	})
	var words []int32
	for i, id := range some {
		if is[i] && len(words) < enough {
			words = append(words, id)
		}
	}
	return words, err
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (p *prompter) isWord(ctx context.Context, id int32) (bool, error) {
	text, err := p.Tokens.Decode(ctx, []int32{id})
	word := strings.TrimSpace(text) // some decoders leave the blank out, some put it behind
	if err != nil || len(word) < 2 || strings.Trim(word, letters) != "" {
		return false, err
	}
	ids, err := p.Tokens.Encode(ctx, "a "+word+" "+word, false)
	n := len(ids)
	return n > 2 && ids[n-1] == id && ids[n-2] == id, err
}

// draw appends n tokens, the same ones for the same key.
func (p *prompter) draw(dst []int32, purpose string, key uint64, n int) []int32 {
	d := dice(p.Seed, purpose, key)
	for range n {
		dst = append(dst, p.ids[d.IntN(len(p.ids))])
	}
	return dst
}

// own is the number of tokens of a prompt of n without those that the tokenizer adds.
func (p *prompter) own(n int) int { return max(n-p.Vocab.Around, 1) }

// prefixOfAll stands for the request of a prefix of many.
const prefixOfAll = -1

// prompt makes a prompt, or a part of it, of request i of ids, which have its length. If the ids must change for that,
// the first keep do not.
func (p *prompter) prompt(ctx context.Context, i int, ids []int32, keep int) (workload.Request, error) {
	r, exact, err := workload.Exact(ctx, p.Vocab, p.Tokens, ids, keep, p.Seed)
	if !exact {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.inexact == nil {
			p.inexact = map[int]bool{}
		}
		p.inexact[i] = true // it may be made again
	}
	return r, err
}

// text is n tokens of text of request i, for the beginning of a prompt or behind other text.
func (p *prompter) text(ctx context.Context, i int, purpose string, key uint64, n int, behind bool) (string, int, error) {
	r, err := p.prompt(ctx, i, p.draw(nil, purpose, key, n), 0)
	if behind && p.stable && !strings.HasPrefix(r.Text, " ") {
		r.Text = " " + r.Text // which its decoder leaves out at a beginning
	}
	return r.Text, r.PromptTokens, err
}

// noteOn notes of w how many prompts do not have their length: now, or when they are made.
func (p *prompter) noteOn(w *workload.Workload) {
	if w.List != nil {
		w.Late = p.notes
		return
	}
	w.Notes = append(w.Notes, p.notes()...)
}

// notes counts the prompts so far that do not have their length.
func (p *prompter) notes() (notes []plan.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.inexact)
	workload.Note(&notes, n > 0, promptsInexact, "inexact", n)
	return notes
}

var errNoText = errors.New("a conversation is text, and text of a given length needs a tokenizer: name a tokenizer")
