package workload

import (
	"context"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"
)

// PrefixRepetition draws groups of prompts with a common prefix: for each of Prefixes
// prefixes an equal number of prompts with random ends, all of them shuffled. What does
// not divide evenly is left out. It is the dataset "prefix_repetition" of the vLLM benchmark: its ids come from
// numpy's global generator, which the send times are drawn from afterwards.
type PrefixRepetition struct {
	Requests, Prefixes     int
	Prefix, Suffix, Output int // tokens
	Seed                   uint64
	NoShuffle              bool
	Spool                  *Spool
	// Window is the number of requests beyond which prompts wait in Spool, and little else of them in memory; 0: none do.
	Window int
}

// Check reports everything wrong with p: under prefixes, prefix_len and suffix_len.
func (p PrefixRepetition) Check() (problems plan.Problems) {
	problems.If(p.Prefixes < 1, "prefixes", p.Prefixes, "must be at least 1")
	problems.If(p.Prefixes > p.Requests, "prefixes", p.Prefixes, "must not be more than the requests, %d", p.Requests)
	problems.Tokens("prefix_len", p.Prefix, 0)
	problems.Tokens("suffix_len", p.Suffix, 0)
	problems.If(p.Output > plan.MaxTokens, "output_len", p.Output, "must be at most %d", plan.MaxTokens)
	problems.If(p.Prefix == 0 && p.Suffix == 0, "prefix_len", 0, "without a suffix leaves prompts empty")
	if problems == nil {
		problems.Product("suffix_len", plan.MaxTotal, "tokens", p.Requests, p.Prefix+p.Suffix)
	}
	return problems
}

// Build draws the workload. Without a tokenizer the prompts are token ids.
func (p PrefixRepetition) Build(ctx context.Context, v Vocabulary, tok Tokenizer) (Workload, error) {
	if err := p.Check().Err(); err != nil {
		return Workload{}, err
	}
	d := prefixDraw{PrefixRepetition: p, rng: pyrand.NewLegacy(uint32(p.Seed)), size: int64(v.Size)}
	d.fix = fixer{tok: tok, rng: legacyIntegers{d.rng}, vocab: d.size}
	all := &Pack{spool: p.Spool, window: p.Window}
	for range p.Prefixes {
		if err := d.group(ctx, p.Requests/p.Prefixes, all); err != nil {
			return Workload{}, err
		}
	}
	order, python := consecutive(all.size()), pyrand.NewRandom(int64(p.Seed))
	if !p.NoShuffle {
		python.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	w := all.workload(order)
	w.Notes, w.Numpy, w.Python = notesOf(d.inexact, d.made, d.surplus), d.rng, python
	left := p.Requests - len(order)
	Note(&w.Notes, left > 0, PrefixesUneven, "left", left, "requests", p.Requests, "prefixes", p.Prefixes)
	return w, nil
}

type prefixDraw struct {
	PrefixRepetition
	rng                    *pyrand.Legacy
	size                   int64
	fix                    fixer
	made, inexact, surplus int
}

// group draws a prefix and n prompts that begin with it, and adds them to all.
func (d *prefixDraw) group(ctx context.Context, n int, all *Pack) error {
	prefix, err := d.ids(ctx, d.Prefix)
	if err != nil {
		return err
	}
	for left := n; left > 0; left -= workers { // not all of them are in memory
		group := make([]Request, min(left, workers))
		for i := range group {
			suffix, err := d.ids(ctx, d.Suffix)
			if err != nil {
				return err
			}
			ids := append(append(make([]int32, 0, len(prefix)+len(suffix)), prefix...), suffix...)
			group[i] = Request{Tokens: ids, PromptTokens: len(ids), OutputTokens: d.Output}
		}
		if err := d.spell(ctx, group); err != nil {
			return err
		}
		for _, r := range group {
			if err := all.add(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// spell makes texts of ids, if there is a tokenizer.
func (d *prefixDraw) spell(ctx context.Context, group []Request) error {
	if d.fix.tok == nil {
		return nil
	}
	return Each(ctx, len(group), func(ctx context.Context, i int) (err error) {
		r := &group[i]
		r.Text, err = d.fix.tok.Decode(ctx, r.Tokens)
		r.Tokens = nil
		return err
	})
}

// ids draws n ids and brings them to a text of n tokens.
func (d *prefixDraw) ids(ctx context.Context, n int) ([]int32, error) {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(d.rng.Randint(0, d.size))
	}
	s, err := d.fix.start(ctx, ids, n)
	if err == nil {
		err = d.fix.finish(ctx, &s)
	}
	d.made++
	if off := len(s.ids) - n; off != 0 {
		d.inexact++
		d.surplus += off
	}
	return s.ids, err
}

// legacyIntegers draws as numpy's old generator does.
type legacyIntegers struct{ *pyrand.Legacy }

func (l legacyIntegers) Integers(lo, hi int64) int64 { return l.Randint(lo, hi) }
