package truth

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// Config says what a server sends, and when. The zero value is a server of 128
// single tokens as fast as they can be written.
type Config struct {
	// Lockstep emits a write of every stream in one burst per step, as the step of an
	// engine does. A stream that joins waits for the next step. Without it each stream
	// has its own phase, so that tokens leave one by one.
	Lockstep bool
	// Step is the mean gap between two tokens of a stream; 0 for as fast as they can
	// be written. Without Lockstep, the first write is a random part of its gap late:
	// the stream's phase.
	Step time.Duration
	// Jitter spreads the gaps evenly over Step·(1±Jitter), without Lockstep; 0 to 1.
	Jitter float64
	// TTFT is the time from a request's arrival to its first token.
	TTFT time.Duration

	Seed  uint64 // of phases, jitter and faults
	Model string // the name it serves; "truth" if empty

	OutputTokens int // of an answer when the request names no length; 128 if 0

	Faults Faults

	Clock *clock.Clock // of every instant in the log; one of its own if nil
}

// Faults are the shares of requests, 0 to 1 and in sum at most 1, that end
// badly. Which ones depends on the seed and the number of their arrival.
type Faults struct {
	HTTP500  float64 // status 500 instead of an answer
	Reset    float64 // the connection is reset after half of the tokens
	Truncate float64 // the stream ends there, with neither finish reason nor [DONE]
}

// MaxTokens is the longest answer there is: each token needs a Write in the log.
const MaxTokens = 1 << 18

// Validate reports all that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Step >= 0, "step %v: want 0 or more", c.Step)
	check(!c.Lockstep || c.Step != 0, "step 0: lockstep needs a step")
	check(c.Jitter >= 0 && c.Jitter <= 1, "jitter %v: want 0 to 1", c.Jitter)
	check(!c.Lockstep || c.Jitter == 0, "jitter %v: lockstep has none", c.Jitter)
	check(c.TTFT >= 0, "TTFT %v: want 0 or more", c.TTFT)
	check(c.OutputTokens >= 0 && c.OutputTokens <= MaxTokens, "output tokens %d: want 1 to %d", c.OutputTokens, MaxTokens)
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
	return errors.Join(errs...)
}

// withDefaults is c with its zeros filled in.
func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.New()
	}
	c.Model = cmp.Or(c.Model, "truth")
	c.OutputTokens = cmp.Or(c.OutputTokens, 128)
	return c
}
