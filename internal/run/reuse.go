package run

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// A beginnings knows the beginnings of prompts, by the hash of all bytes up to the end of each block. So it finds
// how much of a prompt an earlier one began with, to within a block, in memory that does not grow with the length
// of prompts:
//
//	prompt   ├ block ┼ block ┼ block ┼ rest
//	known        ✓       ✓       –             between two and three blocks are shared
type beginnings struct {
	width int // bytes of a block
	known map[uint64]struct{}
	seed  maphash.Seed
}

// Limits of beginnings. Blocks of 64 bytes are about those of 16 tokens that a server has;
// they are larger where there would be more than a million of them.
const (
	leastWidth = 64
	mostBlocks = 1 << 20
)

// newBeginnings are for prompts of so many bytes together.
func newBeginnings(total int) *beginnings {
	width := leastWidth
	for total/width > mostBlocks {
		width *= 2
	}
	return &beginnings{width: width, known: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

// firstBlocks has the length and the hash of the first block of prompts that were made as they were due, by index: one
// with a first block that no other has shares nothing with them, and need not be made again to know that.
type firstBlocks struct {
	seed maphash.Seed
	all  []firstBlock
}

type firstBlock struct {
	hash uint64
	size uint32 // of the prompt, in bytes
	made bool
}

func (f *firstBlocks) add(i int, r *workload.Request) {
	size := max(len(r.Text), len(r.Messages), len(r.Parts))
	if len(r.Tokens) > 0 {
		size = 4 * len(r.Tokens)
	}
	first := *r
	first.Tokens, first.Text = r.Tokens[:min(len(r.Tokens), leastWidth/4)], r.Text[:min(len(r.Text), leastWidth)]
	b, ok := promptBytes(&first)
	if !ok {
		return
	}
	if f.all == nil {
		f.seed = maphash.MakeSeed()
	}
	if i >= len(f.all) {
		f.all = append(f.all, make([]firstBlock, i+1-len(f.all))...)
	}
	f.all[i] = firstBlock{maphash.Bytes(f.seed, b[:min(len(b), leastWidth)]), uint32(size), true}
}

// sizes are the lengths of the prompts of records that begin like no other; 0 of others.
func (f *firstBlocks) sizes(records []*trace.Record) map[int]int {
	if f.all == nil {
		return nil
	}
	times, sizes := map[uint64]int{}, map[int]int{}
	for _, r := range records {
		if r.Index < len(f.all) {
			times[f.all[r.Index].hash]++
		}
	}
	for _, r := range records {
		if r.Index >= len(f.all) {
			return nil // what it begins with is not known
		}
		if b := f.all[r.Index]; b.made && times[b.hash] == 1 {
			sizes[r.Index] = int(b.size)
		}
	}
	return sizes
}

// add makes a prompt known, and returns the share of it that can have been known before, at
// most, and whether all of its blocks were.
func (b *beginnings) add(prompt []byte) (share float64, whole bool) {
	var h maphash.Hash
	h.SetSeed(b.seed)
	shared, among := 0, true
	for at := 0; at+b.width <= len(prompt); at += b.width {
		_, _ = h.Write(prompt[at : at+b.width])
		sum := h.Sum64()
		if _, ok := b.known[sum]; among && ok {
			shared++
			continue
		}
		among = false
		b.known[sum] = struct{}{}
	}
	return b.share(shared, len(prompt)), among
}

// share is the share of a prompt of so many bytes that can be known if so many of its blocks are.
func (b *beginnings) share(blocks, size int) float64 {
	return min(1, float64((blocks+1)*b.width)/float64(max(1, size)))
}

// Most of the tokens that a chat template puts before and around a prompt are the same for
// all: those of a system prompt that a model has by default among them.
const templateTokens = 64

// primedShare of the full blocks of the prompts that were sent ahead must be found again.
const primedShare = 0.9

// boundCache adds to the run the bounds for the evidence on the state of the cache.
func (x *execution) boundCache(records []*trace.Record) {
	if x.run.Cache == nil {
		return
	}
	c := *x.run.Cache // sinks have read the one of before
	for _, r := range records {
		if r.OK() && r.Usage.CachedReported {
			c.Reported++
		}
	}
	switch c.Declared {
	case plan.ColdCache:
		c.Most = x.reusable(records)
	case plan.PrimedCache:
		c.Least = x.findable(records)
	}
	x.run.Cache = &c
}

// countReuse adds to the run how much of its prompts the server's cache had, and notes any from before it.
func (x *execution) countReuse(records []*trace.Record) {
	if x.run.Env.Embedded {
		return
	}
	r := metrics.ReuseOf(&x.run, records)
	if r == nil {
		return
	}
	if x.run.Reuse = r; r.Hit > 0 {
		if own := x.cachedBefore(records); own < 0 {
			r.Own = -1
		} else {
			r.Own += own
		}
	}
	share, known := r.Earlier()
	if !known || share <= trace.NotableReuse || x.run.Cache != nil {
		return
	}
	seeded := !inOrderOfFile(&x.spec)
	if x.Before != nil {
		r.Before = x.Before(&x.run, func(other *plan.Spec) bool { return samePrompts(other, &x.spec, seeded) })
	}
	x.note(promptsCached, "share", share, "run", r.Before, "seeded", seeded, "cold", !x.foreign())
}

// cachedBefore is how many prompt tokens the run, and requests with its prompts before it, can have left in the
// cache; negative if unknown.
func (x *execution) cachedBefore(records []*trace.Record) int {
	n := x.reusable(records)
	before := x.spec.Before
	ahead := 0 // requests with prompts that were sent before
	switch {
	case n < 0 || x.spec.Cache == plan.PrimedCache:
		return -1
	case before.WarmUp.From == plan.WarmMeasured, before.WarmUp.From == plan.WarmFirst:
		ahead = len(x.warmUp)
	case before.Ready.Ask == plan.AskFirst:
		ahead = 1
	}
	for _, r := range records {
		switch {
		case r.Index < ahead:
			n += promptOf(r)
		case r.PromptTokens > 0: // a long system prompt of the server's template, which all prompts have
			n += max(0, r.Credible().Prompt-r.PromptTokens-templateTokens)
		}
	}
	return n
}

// inOrderOfFile reports prompts that are those of a file, whatever the seed.
func inOrderOfFile(s *plan.Spec) bool {
	return !slices.ContainsFunc(s.Load, func(l plan.Stream) bool {
		return l.Dataset.Kind != "custom" || strings.Contains(string(l.Dataset.Settings), `"shuffle":true`)
	})
}

// samePrompts reports whether two Specs have the same prompts; seeded, if these depend on the seed.
func samePrompts(a, b *plan.Spec, seeded bool) bool {
	return a != nil && b != nil && (a.Seed == b.Seed || !seeded) && string(promptsOf(*a)) == string(promptsOf(*b))
}

// promptsOf is what the prompts of a Spec depend on, without the seed.
func promptsOf(s plan.Spec) []byte {
	load := slices.Clone(s.Load)
	for i := range load {
		load[i].Arrival = plan.Typed{}
	}
	b, _ := json.Marshal([]any{s.Request.Protocol, load, s.Requests, s.Duration, s.Tokens}) // a Spec has a form in JSON
	return b
}

// findable is how many prompt tokens at least a server finds that has seen the prompts before: of those that were
// sent ahead and answered in the run. It computes the last token of each prompt, and tokens that fill no block.
func (x *execution) findable(records []*trace.Record) int {
	block, n := cmp.Or(x.block, usualBlock), 0
	for _, r := range records {
		if r.OK() && !x.silent() && !x.Requests().At(r.Index).Remember {
			n += max(0, promptOf(r)-1) / block * block
		}
	}
	return int(primedShare * float64(n))
}

// promptOf is the length of a prompt in tokens, 0 if unknown.
func promptOf(r *trace.Record) int { return cmp.Or(r.Credible().Prompt, r.PromptTokens) }

func (p *Prepared) silent() bool { return endpoint.Protocol(p.spec.Request.Protocol).Silent() }

// reusable is how many prompt tokens earlier requests of the run can have left in the cache: beginnings that
// prompts share, all that a turn remembers, and a small allowance. It is -1 where prompts are more than text.
func (x *execution) reusable(records []*trace.Record) int {
	requests, by := x.Requests(), make(map[int]*trace.Record, len(records))
	total := 0
	for _, r := range records {
		by[r.Index] = r
		q := requests.At(r.Index)
		total += max(len(q.Text), 4*len(q.Tokens), len(q.Messages), len(q.Parts), 6*q.PromptTokens)
	}
	s := sharing{known: newBeginnings(total), records: by, requests: requests, copies: map[int]bool{}, unlike: x.begun.sizes(records)}
	if endpoint.Protocol(x.spec.Request.Protocol).TakesMessages() {
		s.template = templateTokens
	}
	sum := 0
	for _, r := range metrics.InOrder(records) {
		n, ok := s.of(r)
		if !ok || x.silent() || len(s.known.known) > 4*mostBlocks {
			return -1
		}
		sum += n
	}
	return sum
}

// A sharing finds out how much of each prompt is in the cache.
type sharing struct {
	known    *beginnings
	records  map[int]*trace.Record
	requests workload.List
	copies   map[int]bool // prompts entirely in the cache, by index
	template int          // tokens
	unlike   map[int]int  // the lengths in bytes of prompts that begin like no other
}

// of is the number of tokens of a prompt that earlier ones can have left, at most; not ok if unknown.
func (s *sharing) of(r *trace.Record) (tokens int, ok bool) {
	q := s.requests.At(r.Index)
	if q.Remember {
		return s.remembered(r, q)
	}
	size := s.unlike[r.Index]
	share, whole := s.known.share(0, size), size < s.known.width
	if size == 0 {
		prompt, ok := promptBytes(q)
		if !ok {
			return 0, false
		}
		size = len(prompt)
		share, whole = s.known.add(prompt)
	}
	length := cmp.Or(promptOf(r), size) // a token has a byte at least
	s.copies[r.Index] = whole
	n := int(share*float64(length)) + 1 + s.template
	if r.Resent {
		n = length // its first sending may have left all of it
	}
	return min(n, length), true
}

// remembered is that of a turn: the prompt before it and the answer to that, and the template's tokens; all of a
// conversation that begins as another did.
func (s *sharing) remembered(r *trace.Record, q *workload.Request) (tokens int, ok bool) {
	before, length := s.records[q.After-1], promptOf(r)
	s.copies[r.Index] = s.copies[q.After-1]
	if before == nil || promptOf(before) == 0 || s.copies[r.Index] || r.Resent {
		return length, length > 0 || !r.OK()
	}
	return min(length, promptOf(before)+before.OutputTokens+usualBlock+s.template), length > 0 || !r.OK()
}

// promptBytes are those that a prompt and another one are equal in; not ok if it has more than
// them.
func promptBytes(q *workload.Request) (b []byte, ok bool) {
	whole, err := q.Unspooled()
	if err != nil || whole.Batch != nil || whole.Media != nil {
		return nil, false
	}
	switch {
	case len(whole.Tokens) > 0:
		for _, id := range whole.Tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		}
	case whole.Messages != nil:
		return whole.Messages, true
	case whole.Parts != nil:
		return whole.Parts, true
	default:
		return []byte(whole.Text), true
	}
	return b, true
}
