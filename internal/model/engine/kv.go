package engine

// A KV is the memory for keys and values, in blocks of tokens; a Seq holds blocks.
type KV interface {
	// Match finds the cached prefix of s's prompt, holds it and returns its length
	// in tokens, less than all that s has to compute.
	Match(s *Seq) int
	// Grow allocates room for this many tokens of s in total. It allocates
	// everything or nothing.
	Grow(s *Seq, tokens int) (Growth, bool)
	// Release frees everything that s holds.
	Release(s *Seq)
	// Blocks returns the number of blocks held and their total.
	Blocks() (held, total int)
	// Allocated is the number of blocks with contents: held or cached.
	Allocated() int
	// Flush removes cached blocks without a holder.
	Flush()
}

// A Growth is the allocation of a Grow.
type Growth struct{ Blocks, Pages int }

// newKV returns the memory described by k, which has its defaults filled in.
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

// maxBlocks is the size of an unlimited memory.
const maxBlocks = 1 << 40

// A pool is memory of equal blocks that only counts the held ones.
type pool struct{ block, held, total int }

// Match finds nothing.
func (p *pool) Match(*Seq) int { return 0 }

// Grow allocates the missing blocks of s.
func (p *pool) Grow(s *Seq, tokens int) (Growth, bool) {
	need := p.lacks(s, tokens)
	if p.held+need > p.total {
		return Growth{}, false
	}
	p.take(s, need)
	return Growth{Blocks: need}, true
}

func (p *pool) lacks(s *Seq, tokens int) int { return max((tokens+p.block-1)/p.block-s.blocks, 0) }

func (p *pool) take(s *Seq, blocks int) {
	p.held += blocks
	s.blocks += blocks
	s.room = s.blocks * p.block
}

func (p *pool) Release(s *Seq) {
	p.held -= s.blocks
	s.blocks, s.room = 0, 0
}

func (p *pool) Blocks() (held, total int) { return p.held, p.total }

func (p *pool) Allocated() int { return p.held }

// Flush finds nothing.
func (p *pool) Flush() {}

// An elasticKV maps memory page by page, as blocks need it, and unmaps empty pages
// except the spare ones. It assumes that blocks are contiguous.
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

// Release unmaps unneeded pages, except the spare ones.
func (e *elasticKV) Release(s *Seq) {
	e.KV.Release(s)
	e.unmap()
}

// Flush removes cached blocks, and unmaps their pages.
func (e *elasticKV) Flush() {
	e.KV.Flush()
	e.unmap()
}

func (e *elasticKV) unmap() { e.mapped = min(e.mapped, e.pages()+e.spare) }

func (e *elasticKV) pages() int { return (e.Allocated() + e.perPage - 1) / e.perPage }
