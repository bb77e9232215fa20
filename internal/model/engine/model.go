package engine

import "time"

// A Model decides when each token leaves an engine. All instants are offsets from
// one origin and come from the caller, in order; a Model reads no clock, starts no
// goroutine, and is used by one goroutine.
//
// The caller adds jobs as they arrive, asks Next for the next event, and then calls
// Step. A late Step loses and delays nothing: emissions carry the instants at which
// they were due. New input at now comes after everything due until then: the caller
// calls Step for now before it calls Add or Cancel at now. Otherwise a place freed
// by Cancel could go to a job behind one with an overdue place.
type Model interface {
	// Add adds a job at now, after a Step to now. Job IDs are unique. Jobs that
	// arrive together must have no Step between them: an idle engine would begin
	// with the first alone.
	Add(now time.Duration, j Job)
	// Cancel removes a job and frees its resources at now, after a Step to now. A
	// job that has ended, or was never added, is ignored.
	Cancel(now time.Duration, id uint64)
	// Next is the instant of the next event, if any. The event need not be an
	// emission.
	Next() (at time.Duration, ok bool)
	// Step appends the emissions due until now, in order of instant, to out.
	Step(now time.Duration, out []Emission) []Emission
	// Load is the engine's state for its metrics.
	Load() Utilization
}

// A Job is the part of a request that a Model needs.
type Job struct {
	ID           uint64 // arrival number; also selects the job's random draws
	PromptTokens int    // text and image tokens together; at least 1
	Images       []Image
	OutputTokens int // number of tokens to emit; at least 1

	// Prompt holds the ids of the text tokens, which precede the images. A prefix
	// cache and a prefix-aware router need them; nil matches nothing.
	Prompt []int32
	// Cached is how many tokens of the prompt are in a cache that is not modelled: they are
	// held, but not computed. At most all but one.
	Cached   int
	Adapter  string // LoRA adapter, "" for the base model
	Priority int    // lower goes first, if the policy supports it
}

// An Image is one image of a prompt.
type Image struct {
	Tokens int
	Hash   uint64 // of its content
}

// An Emission is output leaving the engine for one job.
type Emission struct {
	ID     uint64
	Start  time.Duration // when work on the job began
	At     time.Duration // when the tokens were due
	Tokens int32         // 0: the head of the response, before any token; see Deployment.Heads
	Cached int32         // prompt tokens found in a prefix cache
	Done   bool          // the last emission of this job
}

// A Utilization is the utilization of an engine, with its counters so far.
type Utilization struct {
	Running, Waiting int
	KV               float64 // share of the KV cache in use, 0 to 1
	Counters
}

// Counters only increase.
type Counters struct {
	Steps         uint64
	Prefilled     uint64 // tokens computed in steps: of prompts, image tokens included,
	Decoded       uint64 // and of outputs, the first of each included
	Preemptions   uint64 // including retractions
	PrefixQueried uint64 // prompt tokens looked up in the prefix cache
	PrefixHit     uint64 // of these, found
	Drafts        uint64 // speculative decoding: drafts made,
	Drafted       uint64 // tokens in them,
	Accepted      uint64 // and tokens accepted,
	// AcceptedAt counts the accepted tokens by their position in the draft.
	AcceptedAt [MaxDrafts]uint64
}

// MaxDrafts is the largest number of draft tokens per step.
const MaxDrafts = 16
