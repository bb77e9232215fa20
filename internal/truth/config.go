package truth

import (
	"errors"
	"fmt"
	"time"
)

// Arrivals is how the tokens of many streams lie in time.
type Arrivals int

const (
	// Spread gives each stream its own phase, so that tokens leave one by one.
	Spread Arrivals = iota
	// Lockstep emits a token of every stream in one burst per step, as the step
	// of an engine does. A stream that joins waits for the next step.
	Lockstep
)

// String is the name of a.
func (a Arrivals) String() string {
	switch a {
	case Spread:
		return "spread"
	case Lockstep:
		return "lockstep"
	}
	return fmt.Sprintf("arrivals(%d)", int(a))
}

// Config says what a server sends, and when. The zero value with a Step is a
// server of single tokens at even gaps.
type Config struct {
	Arrivals Arrivals
	// Step is the mean gap between two tokens of a stream, or 0 for tokens as
	// fast as they can be written. With Spread, the first token is a random part
	// of a step late.
	Step time.Duration
	// Jitter spreads the gaps of Spread evenly over Step·(1±Jitter); 0 to 1.
	Jitter float64
	// TTFT is the time from a request's arrival, or its release by Hold, to its
	// first token.
	TTFT time.Duration

	// Hold withholds the tokens of the first requests until so many have
	// arrived, so that as many streams overlap. Those that came are released
	// when HoldLimit has passed since the first of them, and the wait for so
	// many starts anew: a client's trial request costs it HoldLimit. Once they
	// were that many, nothing is withheld until Reset.
	Hold      int
	HoldLimit time.Duration // 5 s if 0

	Seed  uint64 // of phases, jitter and faults
	Model string // the name it serves; "truth" if empty

	OutputTokens   int // of an answer when the request names no length; 128 if 0
	TokensPerEvent int // 1 if 0
	EventsPerWrite int // events in one write; 1 if 0

	Faults Faults
}

// Faults are the shares of requests, 0 to 1 and in sum at most 1, that end
// badly. Which ones depends on the seed and the number of their arrival.
type Faults struct {
	HTTP500  float64 // status 500 instead of an answer
	Reset    float64 // the connection is reset after AfterTokens tokens
	Truncate float64 // the stream ends after AfterTokens tokens, with neither finish reason nor [DONE]
	// AfterTokens is when the last two strike; half of the tokens if 0.
	AfterTokens int
}

// Validate reports all that is wrong with c.
func (c Config) Validate() error {
	return errors.Join()
}
