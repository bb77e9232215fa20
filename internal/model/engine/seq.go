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
// A prompt on its way in and a sequence that decodes differ only in how much
// there is to do: all of the prompt, or the one token that came last. So do a
// prompt that is cut into chunks, one whose beginning was cached, and a
// sequence that was preempted and computes everything again.
type Seq struct {
	// What every step looks at stands here, and little else: sequences lie close
	// together then, and a batch of them fits the processor's first cache.
	computed int    // tokens whose keys and values are in the cache
	length   int    // prompt and output so far
	room     int    // tokens that the blocks it holds have room for
	emitted  int32  // output tokens so far
	last     int32  // output tokens after which this core is done with it
	pending  int32  // output tokens that wait in the frontend
	cached   int32  // prompt tokens found in the prefix cache at first admission
	step     uint32 // number of the step in which it last had a share
	status   status
	begun    bool          // start and cached are set
	queued   bool          // it stands in the frontend's queue of output
	done     bool          // the last output is made
	start    time.Duration // when it was first admitted
	id       uint64        // of its job
	*particulars
}

// particulars are what a step looks at only when something changes.
type particulars struct {
	Job
	images  int     // images that the encoder has seen
	at      int     // prompt offset of image number images
	arrived uint64  // order of arrival at the core
	server  *server // the one that it came to last

	blocks int       // held, of the KV cache
	shared []blockID // of them, those that the prefix cache knows, in order
	filed  int       // prompt blocks that were offered to the prefix cache
	hashes []uint64  // of the prompt's full blocks
	hashed bool      // hashes is set
}

// A status is where a Seq stands with its core.
type status uint8

const (
	outside status = iota // not in a core: in the frontend, or on a link
	waiting
	running
	gone // finished, or cancelled
)

func newSeq(j Job) *Seq {
	j.PromptTokens = max(j.PromptTokens, 1)
	j.OutputTokens = min(max(j.OutputTokens, 1), math.MaxInt32)
	s := &Seq{id: j.ID, length: j.PromptTokens, last: int32(j.OutputTokens), particulars: &particulars{Job: j}}
	s.at = s.firstImage()
	return s
}

// firstImage is the prompt offset of the first image: images follow the text.
func (s *Seq) firstImage() int {
	at := s.PromptTokens
	for _, i := range s.Images {
		at -= i.Tokens
	}
	return max(at, 0)
}

// nextImage goes on to the image after the one at hand.
func (s *Seq) nextImage() {
	s.at += s.Images[s.images].Tokens
	s.images++
}

// skipImages passes over the images that were computed, with all before them.
func (s *Seq) skipImages() {
	for s.images < len(s.Images) && s.at+s.Images[s.images].Tokens <= s.computed {
		s.nextImage()
	}
}

// imageTokens are those of the images that begin within the next n tokens and
// that the encoder has not seen.
func (s *Seq) imageTokens(n int) (tokens int) {
	for i, at := s.images, s.at; i < len(s.Images) && at < s.computed+n; i++ {
		tokens += s.Images[i].Tokens
		at += s.Images[i].Tokens
	}
	return tokens
}

// left is how many tokens it has yet to emit.
func (s *Seq) left() int { return s.OutputTokens - int(s.emitted) }

// decodes reports whether the next token is all there is to do.
func (s *Seq) decodes() bool { return s.emitted > 0 && s.length-s.computed == 1 }

// forget takes back what was computed: it was preempted.
func (s *Seq) forget() {
	s.computed, s.images, s.at = 0, 0, s.firstImage()
}
