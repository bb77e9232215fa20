package endpoint

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// MaxBody is the largest answer in one piece that is accepted, in bytes, unless Options say
// otherwise. Only embeddings of many texts are larger.
const MaxBody = 64 << 20

// The memory that an answer may hold by itself, in bytes: several times as much as answers
// need. Larger answers share a budget with all other answers of the client, so that a server
// cannot fill the client's memory with bytes that were not asked for.
const (
	allowance    = 64 << 10
	perToken     = 512
	perOddToken  = 4 << 10   // of a request with parameters of the user's: log probabilities
	perInput     = 256 << 10 // of embeddings and scores
	unlimitedLen = 4096      // tokens of an answer without a limit
	weighEvery   = 64 << 10  // bytes of a stream
	litterLimit  = 64 << 20
)

// errUnasked is an answer for which the budget was not enough.
var errUnasked = fmt.Errorf("%w: it is larger than what was asked for, and the memory for such answers is used up",
	errMalformed)

// ErrLarge is an answer in one piece beyond its limit.
var ErrLarge = errors.New("larger than the client accepts")

// A budget is memory that answers share.
type budget struct {
	size          int64
	spent, litter atomic.Int64
}

// newBudget has room for one answer in one piece, and a few large events.
func newBudget(o *Options) *budget {
	return &budget{size: int64(o.maxBody() + 4*cmp.Or(o.MaxEvent, transport.MaxEvent))}
}

// drop has n bytes collected at last: during a run the collector waits for a gigabyte, which
// is meant for what was asked for.
func (b *budget) drop(n int) {
	if n > 0 && b.litter.Add(int64(n)) >= litterLimit {
		b.litter.Store(0)
		runtime.GC()
	}
}

// allowed is how much memory an answer to req may take by itself.
func (c *Client) allowed(req *workload.Request) int {
	switch {
	case c.opts.Protocol == Pooling: // of every token, if the model does that
		return c.opts.maxBody()
	case c.grammar.silent:
		return min(c.opts.maxBody(), allowance+perInput*max(1, len(req.Batch)))
	}
	tokens, each := req.OutputTokens, perToken
	if tokens <= 0 {
		tokens = unlimitedLen
	}
	if len(c.opts.Extra)+len(c.opts.Sampling)+len(req.Extra) > 0 {
		each = perOddToken
	}
	return allowance + each*min(tokens, 1<<20)
}

func (o *Options) maxBody() int {
	return cmp.Or(o.MaxBody, MaxBody)
}

// weigh charges the budget for what the answer under way holds beyond what was asked for.
func (r *reader) weigh() error {
	r.unweighed = 0
	held := r.events.Buffered() + cap(r.body) + r.text.Cap() + r.output.Cap() + cap(r.growing.text) + 8*cap(r.ends)
	if !r.charge(held+chunkCost*cap(r.chunks)) && r.charged > 0 {
		return errUnasked
	}
	return nil
}

// chunkCost is the memory that a trace.Chunk takes, with what storing and reporting it do.
const chunkCost = 64

// charge makes the budget hold what held is beyond the allowance, and reports whether it is
// enough.
func (r *reader) charge(held int) bool {
	beyond := max(0, held-r.free)
	freed := r.charged - beyond
	spent := r.budget.spent.Add(int64(-freed))
	r.charged = beyond
	r.budget.drop(freed)
	return spent <= r.budget.size
}

// keepCharge leaves the budget charged with what stays in the record.
func (r *reader) keepCharge() { r.charge(chunkCost*cap(r.rec.Chunks) + len(r.rec.Text)) }

// write adds to a text of the answer, up to what may be held of it.
func (r *reader) write(to *strings.Builder, s string) {
	s = s[:min(len(s), max(0, r.free-to.Len()))]
	if room := to.Cap() - to.Len(); room < len(s) {
		to.Grow(max(len(s), to.Len()))
	}
	to.WriteString(s)
}

// tooLong reports whether a text was cut by write: then its tokens are not worth counting.
func (r *reader) tooLong(text *strings.Builder) bool { return text.Len() >= r.free }

// add appends a chunk. It doubles the space: append would leave several times as much behind.
func (r *reader) add(c trace.Chunk) {
	if n := len(r.chunks); n == cap(r.chunks) {
		grown := make([]trace.Chunk, n, max(16, 2*n))
		copy(grown, r.chunks)
		r.chunks = grown
	}
	r.chunks = append(r.chunks, c)
}

// storeBody keeps a piece of an answer that is no stream, as far as it is of use.
func (r *reader) storeBody(p []byte) error {
	limit := r.opts.maxBody()
	switch {
	case r.rec.Status != http.StatusOK:
		limit = errorKept
	case r.opts.Stream:
		limit = strayKept
	}
	if len(r.body)+len(p) <= limit {
		r.body = transport.Append(r.body, p, limit)
		return nil
	}
	r.body = append(r.body, p[:limit-len(r.body)]...)
	switch {
	case r.rec.Status != http.StatusOK:
		return transport.ErrEnough
	case r.opts.Stream:
		return fmt.Errorf("%w: %s", errMalformed, r.notAStream())
	}
	return fmt.Errorf("%w: the limit is %d MiB", ErrLarge, limit>>20)
}

const (
	errorKept = 4 * errorText // of an error: it contains all of a secret that begins within errorText
	strayKept = 64 << 10      // of an answer that is no stream, where one was asked for
)
