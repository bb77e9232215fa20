package engine

// A KV is the memory for keys and values, in blocks of some tokens each. A Seq
// holds whole blocks.
type KV interface {
	// Match finds the beginning of s's prompt that is cached, takes hold of it and
	// returns its length in tokens, less than all that s has to compute.
	Match(s *Seq) int
	// Grow makes room for so many tokens of s in all. It takes all it needs, or
	// nothing.
	Grow(s *Seq, tokens int) (Growth, bool)
	// Release lets go of all that s holds.
	Release(s *Seq)
	// Blocks tells how many blocks are held, and how many there are.
	Blocks() (held, total int)
	// Kept is how many blocks have contents: those held and those cached.
	Kept() int
}

// A Growth is what Grow took.
type Growth struct{ Blocks, Pages int }

// newKV makes the memory that k describes, defaults filled in.
func newKV(k KVCache) KV {
	total := maxBlocks
	if k.Tokens > 0 {
		total = k.Tokens / k.Block
	}
	p := pool{block: k.Block, total: total}
	var kv KV = &p
	if k.PrefixCache {
		kv = &prefixCache{pool: p}
	}
	if e := k.Elastic; e != nil {
		kv = &elasticKV{KV: kv, perPage: max(e.PageTokens/k.Block, 1), spare: e.SparePages}
	}
	return kv
}

// maxBlocks is a memory without limit.
const maxBlocks = 1 << 40

// A pool is memory of equal blocks, and knows only how many are held.
type pool struct{ block, held, total int }

// Match finds nothing.
func (p *pool) Match(*Seq) int { return 0 }

// Grow takes the blocks that s lacks.
func (p *pool) Grow(s *Seq, tokens int) (Growth, bool) {
	need := p.lacks(s, tokens)
	if p.held+need > p.total {
		return Growth{}, false
	}
	p.take(s, need)
	return Growth{Blocks: need}, true
}

func (p *pool) lacks(s *Seq, tokens int) int {
	return max((tokens+p.block-1)/p.block-s.blocks, 0)
}

func (p *pool) take(s *Seq, blocks int) {
	p.held += blocks
	s.blocks += blocks
	s.room = s.blocks * p.block
}

// Release frees the blocks of s.
func (p *pool) Release(s *Seq) {
	p.held -= s.blocks
	s.blocks, s.room = 0, 0
}

// Blocks counts.
func (p *pool) Blocks() (held, total int) { return p.held, p.total }

// Kept is what is held.
func (p *pool) Kept() int { return p.held }

// An elasticKV maps memory a page at a time, as blocks come to need it, and
// unmaps pages that fall empty but for a few. Blocks are taken to lie close
// together.
type elasticKV struct {
	KV
	perPage, spare int
	mapped         int
}

// Grow maps the pages that the blocks need.
func (e *elasticKV) Grow(s *Seq, tokens int) (Growth, bool) {
	g, ok := e.KV.Grow(s, tokens)
	if ok {
		pages := e.pages()
		g.Pages = max(pages-e.mapped, 0)
		e.mapped = max(e.mapped, pages)
	}
	return g, ok
}

// Release unmaps what is not needed, but for the spare pages.
func (e *elasticKV) Release(s *Seq) {
	e.KV.Release(s)
	e.unmap()
}

// Flush forgets cached blocks, and unmaps their pages.
func (e *elasticKV) Flush() {
	if c, ok := e.KV.(*prefixCache); ok {
		c.Flush()
	}
	e.unmap()
}

func (e *elasticKV) unmap() { e.mapped = min(e.mapped, e.pages()+e.spare) }

func (e *elasticKV) pages() int { return (e.Kept() + e.perPage - 1) / e.perPage }
