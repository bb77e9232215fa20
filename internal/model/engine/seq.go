package engine

import (
	"math"
	"slices"
	"time"
)

// A Seq is a job on its way through an engine.
//
//	          computed          length
//	┌────────────┴────────────────┐
//	│ prompt ▒▒▒▒│    │ output ▒▒│   todo = length - computed tokens go
//	└────────────┴────┴──────────┘    through the model before the next
//	      PromptTokens   emitted      token comes
//
// An incoming prompt and a decoding sequence differ only in the amount of pending
// work: all of the prompt, or the one token that came last. The same holds for a
// prompt cut into chunks, one with a cached prefix, and a sequence that was
// preempted and recomputes everything.
type Seq struct {
	Job
	computed int           // tokens with keys and values in the cache
	length   int           // prompt and output so far
	room     int           // capacity of its blocks in tokens
	emitted  int32         // output tokens so far
	last     int32         // output tokens after which this core has finished it
	since    int           // of a lane: its number of steps of which the fields above know
	start    time.Duration // when it was first admitted
	cached   int32         // prompt tokens found in the prefix cache then
	begun    bool          // start and cached are set
	done     bool          // the last output was produced
	status   status
	step     uint32   // number of the step in which it last had a share
	arrived  uint64   // order of arrival at the core
	replica  *replica // of its router
	server   *server  // the one it arrived at last
	images   int      // images that the encoder has processed
	at       int      // prompt offset of image number images

	blocks int       // held, of the KV cache
	shared []blockID // of these, those known to the prefix cache, in order
	filed  int       // prompt blocks offered to the prefix cache
	hashes []uint64  // of the prompt's full blocks
	hashed bool      // hashes is set
}

// A status is the state of a Seq in its core.
type status uint8

const (
	outside status = iota // not in a core: in the frontend, or on a link
	waiting
	running
	gone // finished, or cancelled
)

func newSeq(j Job) *Seq {
	s := new(Seq)
	s.reset(j)
	return s
}

// reset makes s a new job. It keeps the memory of its lists.
func (s *Seq) reset(j Job) {
	j.PromptTokens = max(j.PromptTokens, 1)
	j.OutputTokens = min(max(j.OutputTokens, 1), math.MaxInt32)
	*s = Seq{Job: j, length: j.PromptTokens, last: int32(j.OutputTokens), shared: s.shared[:0]}
	s.at = s.firstImage()
}

// firstImage is the prompt offset of the first image: images follow the text.
func (s *Seq) firstImage() int {
	at := s.PromptTokens
	for _, i := range s.Images {
		at -= i.Tokens
	}
	return max(at, 0)
}

func (s *Seq) nextImage() {
	s.at += s.Images[s.images].Tokens
	s.images++
}

// skipImages skips the computed images, with everything before them.
func (s *Seq) skipImages() {
	for s.images < len(s.Images) && s.at+s.Images[s.images].Tokens <= s.computed {
		s.nextImage()
	}
}

// imageTokens are those of the images that begin within the next n tokens and that
// the encoder has not processed.
func (s *Seq) imageTokens(n int) (tokens int) {
	for i, at := s.images, s.at; i < len(s.Images) && at < s.computed+n; i++ {
		tokens += s.Images[i].Tokens
		at += s.Images[i].Tokens
	}
	return tokens
}

// emission is output of s that is due at an instant.
func (s *Seq) emission(at time.Duration, tokens int32) Emission {
	return Emission{ID: s.ID, Start: s.start, At: at, Tokens: tokens, Cached: s.cached, Done: s.done}
}

// remaining is the number of tokens still to emit.
func (s *Seq) remaining() int { return s.OutputTokens - int(s.emitted) }

// decodes reports whether only the next token remains to be computed.
func (s *Seq) decodes() bool { return s.emitted > 0 && s.length-s.computed == 1 }

// forget discards the computed tokens after a preemption.
func (s *Seq) forget() {
	s.computed, s.images, s.at = 0, 0, s.firstImage()
}

// part is how many tokens of one prompt the next step has at most, for equal parts: 0, no
// limit, if it has room for all prompts.
func (v *vllm) part(c *Core) int {
	b, lanes := v.budget(), c.lanes.len()
	b.take(lanes, true)
	var rests []int
	for _, s := range c.running[lanes:] {
		if s.decodes() {
			b.take(1+c.drafts, true)
		} else {
			rests = append(rests, s.length-s.computed)
		}
	}
	places := v.MaxSequences - len(c.running)
	for i := 0; i < c.waiting.len() && places > 0 && (v.MaxPrompts == 0 || len(rests) < v.MaxPrompts); i++ {
		if s := c.waiting.at(i); c.eligible(s) {
			places--
			if rest := c.rest(s); !s.decodes() {
				rests = append(rests, rest)
			}
		}
	}
	return EqualPart(max(b.prompts, 1), rests)
}

// rest is how many tokens of s, which waits, have to be computed.
func (c *Core) rest(s *Seq) int {
	if s.computed > 0 { // it was prefilled elsewhere
		return s.length - s.computed
	}
	found := max(c.kv.Match(s), min(s.Cached, s.PromptTokens-1))
	c.kv.Release(s)
	return s.length - found
}

// EqualPart is the largest part when budget is divided evenly among rests and none gets more
// than it needs, which sorts them; 0 if all fit.
func EqualPart(budget int, rests []int) int {
	slices.Sort(rests)
	for i, rest := range rests {
		part := (budget + len(rests) - i - 1) / (len(rests) - i)
		if rest > part {
			return part
		}
		budget -= rest
	}
	return 0
}

// A queue of sequences, first come first served by default.
type queue struct {
	items []*Seq
	head  int // index of the first item
}

func (q *queue) len() int      { return len(q.items) - q.head }
func (q *queue) at(i int) *Seq { return q.items[q.head+i] }
func (q *queue) all() []*Seq   { return q.items[q.head:] }

func (q *queue) pushLast(s *Seq) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 { // reuse the room at the front
		n := copy(q.items, q.all())
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, s)
}

func (q *queue) insert(i int, s *Seq) { q.items = slices.Insert(q.items, q.head+i, s) }

func (q *queue) pushFirst(s *Seq) {
	if q.head == 0 {
		q.insert(0, s)
		return
	}
	q.head--
	q.items[q.head] = s
}

// removeAt removes number i, moving those before it: i is small.
func (q *queue) removeAt(i int) *Seq {
	s := q.at(i)
	copy(q.items[q.head+1:q.head+i+1], q.items[q.head:q.head+i])
	q.items[q.head] = nil
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return s
}

func (q *queue) popFirst() *Seq { return q.removeAt(0) }

func (q *queue) remove(s *Seq) {
	if i := slices.Index(q.all(), s); i >= 0 {
		q.removeAt(i)
	}
}
