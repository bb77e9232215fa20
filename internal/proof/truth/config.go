package truth

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// Arrivals is how the tokens of many streams lie in time.
type Arrivals int

const (
	// Spread gives each stream its own phase, so that tokens leave one by one.
	Spread Arrivals = iota
	// Lockstep emits a write of every stream in one burst per step, as the step
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

// Config says what a server sends, and when. The zero value is a server of 128
// single tokens as fast as they can be written.
type Config struct {
	Arrivals Arrivals
	// Step is the mean gap between two tokens of a stream, so a write of k tokens
	// comes every k steps; 0 for as fast as they can be written. With Spread, the
	// first write is a random part of its gap late: the stream's phase.
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

	Clock *clock.Clock // of every instant in the log; one of its own if nil
}

// Faults are the shares of requests, 0 to 1 and in sum at most 1, that end
// badly. Which ones depends on the seed and the number of their arrival.
type Faults struct {
	HTTP500  float64 // status 500 instead of an answer
	Reset    float64 // the connection is reset after AfterTokens tokens
	Truncate float64 // the stream ends after AfterTokens tokens, with neither finish reason nor [DONE]
	// AfterTokens is when the last two strike, before the last token at the
	// latest; half of the tokens if 0.
	AfterTokens int
}

const (
	// MaxTokens is the longest answer there is: each token may need a Write in
	// the log.
	MaxTokens = 1 << 18
	// maxBundle bounds the tokens of an event and the events of a write.
	maxBundle = 1 << 10
)

// Validate reports all that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Arrivals == Spread || c.Arrivals == Lockstep, "arrivals %d: want spread or lockstep", int(c.Arrivals))
	check(c.Step >= 0, "step %v: want 0 or more", c.Step)
	check(c.Arrivals != Lockstep || c.Step != 0, "step 0: lockstep needs a step")
	check(c.Jitter >= 0 && c.Jitter <= 1, "jitter %v: want 0 to 1", c.Jitter)
	check(c.Arrivals != Lockstep || c.Jitter == 0, "jitter %v: lockstep has none", c.Jitter)
	check(c.TTFT >= 0, "TTFT %v: want 0 or more", c.TTFT)
	check(c.Hold >= 0, "hold %d: want 0 or more", c.Hold)
	check(c.HoldLimit >= 0, "hold limit %v: want 0 or more", c.HoldLimit)
	check(c.OutputTokens >= 0 && c.OutputTokens <= MaxTokens, "output tokens %d: want 1 to %d", c.OutputTokens, MaxTokens)
	check(c.TokensPerEvent >= 0 && c.TokensPerEvent <= maxBundle, "tokens per event %d: want 1 to %d", c.TokensPerEvent, maxBundle)
	check(c.EventsPerWrite >= 0 && c.EventsPerWrite <= maxBundle, "events per write %d: want 1 to %d", c.EventsPerWrite, maxBundle)
	return errors.Join(append(errs, c.Faults.validate())...)
}

func (f Faults) validate() error {
	var errs []error
	for _, s := range []struct {
		name  string
		share float64
	}{{"http-500", f.HTTP500}, {"reset", f.Reset}, {"truncate", f.Truncate}} {
		if !(s.share >= 0 && s.share <= 1) {
			errs = append(errs, fmt.Errorf("share of %s %v: want 0 to 1", s.name, s.share))
		}
	}
	if sum := f.HTTP500 + f.Reset + f.Truncate; errs == nil && sum > 1+1e-9 {
		errs = append(errs, fmt.Errorf("faults: the shares make %v, want at most 1", sum))
	}
	if f.AfterTokens < 0 {
		errs = append(errs, fmt.Errorf("faults after %d tokens: want 0 or more", f.AfterTokens))
	}
	return errors.Join(errs...)
}

// withDefaults is c with its zeros filled in.
func (c Config) withDefaults() Config {
	c.HoldLimit = or(c.HoldLimit, 5*time.Second)
	if c.Clock == nil {
		c.Clock = clock.New()
	}
	c.Model = or(c.Model, "truth")
	c.OutputTokens = or(c.OutputTokens, 128)
	c.TokensPerEvent = or(c.TokensPerEvent, 1)
	c.EventsPerWrite = or(c.EventsPerWrite, 1)
	return c
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// perWrite is how many tokens a write has.
func (c *Config) perWrite() int { return c.TokensPerEvent * c.EventsPerWrite }

// period is the mean time between two writes of a stream, in nanoseconds.
func (c *Config) period() int64 {
	if int64(c.Step) > math.MaxInt64/4/int64(c.perWrite()) {
		return math.MaxInt64 / 4
	}
	return int64(c.Step) * int64(c.perWrite())
}
