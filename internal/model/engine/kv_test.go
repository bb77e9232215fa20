package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A naive prefix cache: every block is an object, identified by the text up to its
// end, and every lookup is a linear search.
type naiveKV struct {
	block, total int
	caches       bool
	blocks       []*naiveBlock
	offered      map[*Seq]int // tokens: each block is offered once
	clock        int
}

type naiveBlock struct {
	text    string // up to its end, if known
	holders map[*Seq]bool
	idle    int // when it became idle
}

func text(s *Seq, tokens int) string { return fmt.Sprint(s.Adapter, s.Prompt[:tokens]) }

func (n *naiveKV) find(text string) *naiveBlock {
	for _, b := range n.blocks {
		if b.text == text {
			return b
		}
	}
	return nil
}

func (n *naiveKV) count(s *Seq) (of, held int) {
	for _, b := range n.blocks {
		if b.holders[s] {
			of++
		}
		if len(b.holders) > 0 {
			held++
		}
	}
	return of, held
}

func (n *naiveKV) match(s *Seq) int {
	k := 0
	for ; n.caches && (k+1)*n.block < s.length && (k+1)*n.block <= len(s.Prompt); k++ {
		b := n.find(text(s, (k+1)*n.block))
		if b == nil {
			break
		}
		b.holders[s] = true
	}
	n.offered[s] = k * n.block
	return k * n.block
}

func (n *naiveKV) grow(s *Seq, tokens int) bool {
	of, held := n.count(s)
	need := max((tokens+n.block-1)/n.block-of, 0)
	if held+need > n.total {
		return false
	}
	for len(n.blocks)+need > n.total {
		n.evict()
	}
	for range need {
		n.blocks = append(n.blocks, &naiveBlock{holders: map[*Seq]bool{s: true}})
	}
	for k := n.offered[s] + n.block; n.caches && k <= min(tokens, s.PromptTokens); k += n.block {
		if n.find(text(s, k)) == nil {
			n.unknown(s).text = text(s, k)
		}
		n.offered[s] = k
	}
	return true
}

// unknown is an unknown block of s.
func (n *naiveKV) unknown(s *Seq) *naiveBlock {
	for _, b := range n.blocks {
		if b.holders[s] && b.text == "" {
			return b
		}
	}
	panic("none")
}

func (n *naiveKV) evict() {
	first := -1
	for i, b := range n.blocks {
		if len(b.holders) == 0 && (first < 0 || b.idle < n.blocks[first].idle) {
			first = i
		}
	}
	n.blocks = append(n.blocks[:first], n.blocks[first+1:]...)
}

func (n *naiveKV) release(s *Seq) {
	var left []*naiveBlock
	for _, b := range n.blocks {
		delete(b.holders, s)
		if b.text != "" || len(b.holders) > 0 {
			left = append(left, b)
		}
	}
	n.blocks = left
	for k := s.PromptTokens / n.block * n.block; k > 0; k -= n.block { // the end becomes idle first
		if b := n.find(text(s, k)); b != nil && len(b.holders) == 0 && b.idle == 0 {
			n.clock++
			b.idle = n.clock
		}
	}
}

// touched clears the idle times of blocks that are held again.
func (n *naiveKV) touched() {
	for _, b := range n.blocks {
		if len(b.holders) > 0 {
			b.idle = 0
		}
	}
}

func (n *naiveKV) flush() {
	for i := len(n.blocks) - 1; i >= 0; i-- {
		if len(n.blocks[i].holders) == 0 {
			n.blocks = append(n.blocks[:i], n.blocks[i+1:]...)
		}
	}
}

// Every kind of memory behaves like the naive one.
func TestKVAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.IntRange(1, 3).Draw(t, "block")
		total := rapid.IntRange(4, 12).Draw(t, "total")
		k := KVCache{Tokens: total * block, Block: block, PrefixCache: rapid.Bool().Draw(t, "prefix")}
		if rapid.Bool().Draw(t, "elastic") {
			k.Elastic = &Elastic{PageTokens: 2 * block, SparePages: rapid.IntRange(0, 2).Draw(t, "spare")}
		}
		kv, naive := newKV(k), &naiveKV{block: block, total: total, caches: k.PrefixCache, offered: make(map[*Seq]int)}
		holding := map[*Seq]int{} // tokens
		seqs := make([]*Seq, 4)
		for i := range seqs {
			seqs[i] = drawSeq(t)
		}
		for range rapid.IntRange(1, 60).Draw(t, "actions") {
			s := seqs[rapid.IntRange(0, len(seqs)-1).Draw(t, "sequence")]
			tokens, held := holding[s]
			switch {
			case rapid.IntRange(0, 19).Draw(t, "flush") == 0:
				if f, ok := kv.(interface{ Flush() }); ok {
					f.Flush()
				}
				naive.flush()
			case !held:
				if got, want := kv.Match(s), naive.match(s); got != want {
					t.Fatalf("found %d tokens, not %d", got, want)
				} else {
					holding[s] = got
				}
			case rapid.Bool().Draw(t, "grow"):
				tokens += rapid.IntRange(0, 5).Draw(t, "more")
				g, got := kv.Grow(s, tokens)
				if want := naive.grow(s, tokens); got != want {
					t.Fatalf("grows to %d: %v, not %v", tokens, got, want)
				}
				if got {
					holding[s] = tokens
				}
				if got && s.room < tokens || g.Blocks < 0 {
					t.Fatalf("room %d for %d tokens", s.room, tokens)
				}
			default:
				kv.Release(s)
				naive.release(s)
				delete(holding, s)
			}
			naive.touched()
			checkKV(t, kv, naive)
		}
	})
}

func drawSeq(t *rapid.T) *Seq {
	j := Job{Adapter: rapid.SampledFrom([]string{"", "a"}).Draw(t, "adapter"), OutputTokens: 1}
	j.Prompt = rapid.SliceOfN(rapid.Int32Range(0, 1), 1, 12).Draw(t, "prompt")
	j.PromptTokens = len(j.Prompt)
	return newSeq(j)
}

func checkKV(t *rapid.T, kv KV, naive *naiveKV) {
	held, total := kv.Blocks()
	_, want := naive.count(nil)
	if held != want || kv.Allocated() != len(naive.blocks) || total != naive.total {
		t.Fatalf("%d held, %d kept of %d; naive %d, %d of %d", held, kv.Allocated(), total, want, len(naive.blocks), naive.total)
	}
	if e, ok := kv.(*elasticKV); ok && e.mapped < e.pages() {
		t.Fatalf("%d pages mapped, %d needed", e.mapped, e.pages())
	}
}

// Pages are mapped on demand, once, and unmapped except for the spare ones.
func TestElasticPages(t *testing.T) {
	kv := newKV(KVCache{Tokens: 100, Block: 1, Elastic: &Elastic{PageTokens: 10, SparePages: 2}})
	a, b := newSeq(Job{}), newSeq(Job{})
	for _, step := range []struct {
		seq             *Seq
		tokens          int // 0 releases
		blocks, pages   int // taken and newly mapped
		mapped, existed int
	}{
		{a, 5, 5, 1, 1, 1},
		{b, 40, 40, 4, 5, 5}, // 45 blocks lie on 5 pages
		{a, 10, 5, 0, 5, 5},  // 50 fill them
		{b, 0, 0, 0, 3, 1},   // 10 blocks on 1 page, and 2 to spare
		{b, 25, 25, 1, 4, 4}, // 35 on 4
		{a, 0, 0, 0, 4, 3},   // 25 on 3, 1 to spare
		{b, 0, 0, 0, 2, 0},   // none, 2 to spare
		{a, 100, 100, 8, 10, 10},
	} {
		var g Growth
		if step.tokens > 0 {
			g, _ = kv.Grow(step.seq, step.tokens)
		} else {
			kv.Release(step.seq)
		}
		e := kv.(*elasticKV)
		if g != (Growth{step.blocks, step.pages}) || e.mapped != step.mapped || e.pages() != step.existed {
			t.Errorf("%+v: grew %+v, %d pages mapped for %d", step, g, e.mapped, e.pages())
		}
	}
	if g, ok := kv.Grow(b, 1); ok || g != (Growth{}) {
		t.Errorf("a full cache gave %+v", g)
	}
}
