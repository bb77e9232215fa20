package engine

import (
	"math"
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
