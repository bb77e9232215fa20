package traffic

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Size is a number of tokens, or a distribution of such numbers. Its zero value is
// none.
type Size struct {
	Fixed int
	Law   *arrival.Count // nil: Fixed
}

// UnmarshalText parses either.
func (s *Size) UnmarshalText(text []byte) error {
	if n, err := strconv.Atoi(string(text)); err == nil {
		*s = Size{Fixed: n}
		if n > plan.MaxTokens {
			return fmt.Errorf("must be at most %d tokens", plan.MaxTokens)
		}
		return nil
	}
	c, err := arrival.ParseCount(string(text))
	*s = Size{Law: &c}
	return err
}

// String is the form that UnmarshalText parses.
func (s Size) String() string {
	if s.Law != nil {
		return s.Law.String()
	}
	return strconv.Itoa(s.Fixed)
}

// MarshalJSON writes a number, or a text.
func (s Size) MarshalJSON() ([]byte, error) {
	if s.Law != nil {
		return json.Marshal(s.Law.String())
	}
	return json.Marshal(s.Fixed)
}

// IsZero reports whether it is none.
func (s Size) IsZero() bool { return s.Law == nil && s.Fixed == 0 }

// atLeast reports whether no length is below n. Distributions draw at least 1.
func (s Size) atLeast(n int) bool { return s.Law != nil || s.Fixed >= n }

func (s Size) count() arrival.Count {
	if s.Law != nil {
		return *s.Law
	}
	return arrival.ConstantCount(s.Fixed)
}
