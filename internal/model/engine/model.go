package engine

import "time"

// A Model decides when each token leaves an engine. All instants are offsets
// from one origin and come from the caller, in order; a Model reads no clock,
// starts nothing, and is used by one goroutine.
//
// The caller adds jobs as they arrive, asks Next when something will happen,
// and calls Step then. A Step that comes late loses nothing and delays
// nothing: emissions carry the instants they were due at. What comes to the
// model at now comes after what was due until then: the caller Steps to now
// before it Adds or Cancels at now, or a place that a Cancel frees could go to
// a job behind one whose place was overdue.
type Model interface {
	// Add brings a job at now, after a Step to now. Job IDs are unique. Jobs that
	// are to come together have no Step between them: an idle engine would begin
	// with the first alone.
	Add(now time.Duration, j Job)
	// Cancel forgets a job and frees what it held at now, after a Step to now. A
	// job that has ended, or was never added, is no matter.
	Cancel(now time.Duration, id uint64)
	// Next is the instant of the next thing to happen, if anything will. It need
	// not be an emission.
	Next() (at time.Duration, ok bool)
	// Step appends what is due until now, in order of instant, to out.
	Step(now time.Duration, out []Emission) []Emission
	// Load is the engine's state for its metrics.
	Load() Load
}

// A Job is what a Model needs to know of a request.
type Job struct {
	ID           uint64 // arrival number; also selects the job's random draws
	PromptTokens int    // text and image tokens together; at least 1
	Images       []Image
	OutputTokens int // how many tokens it will emit; at least 1

	// Prompt are the ids of the text tokens, which stand before the images. A
	// prefix cache and a prefix-aware router need them; nil matches nothing.
	Prompt   []int32
	Adapter  string // LoRA adapter, "" for the base model
	Priority int    // lower goes first, where the policy looks at it
}

// An Image is one picture of a prompt.
type Image struct {
	Tokens int
	Hash   uint64 // of its content
}

// An Emission is output leaving the engine for one job.
type Emission struct {
	ID     uint64
	Start  time.Duration // when the job began to be worked on
	At     time.Duration // when the tokens were due
	Tokens int32         // at least 1
	Cached int32         // prompt tokens that a prefix cache spared
	Done   bool          // nothing more comes for this job
}

// A Load is how full an engine is, and what it has done so far.
type Load struct {
	Running, Waiting int
	KV               float64 // share of the key-value cache in use, 0 to 1
	Counters
}

// Counters only grow.
type Counters struct {
	Steps         uint64
	Preemptions   uint64 // retractions among them
	PrefixQueried uint64 // prompt tokens looked up in the prefix cache
	PrefixHit     uint64 // of them, found
	Drafts        uint64 // speculative decoding: drafts made,
	Drafted       uint64 // tokens in them,
	Accepted      uint64 // and tokens accepted,
	// AcceptedAt counts the accepted by their position in the draft.
	AcceptedAt [MaxDrafts]uint64
}

// MaxDrafts is the largest number of draft tokens a step.
const MaxDrafts = 16
