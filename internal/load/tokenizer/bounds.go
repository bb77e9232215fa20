package tokenizer

import (
	"errors"
	"fmt"
	"time"
)

// A tokenizer comes from others, as a text does. What a file makes is bounded when it is
// loaded, and what its stages make of a text, in bytes, while it is encoded:
//
//	Replace "a" by "aaaaaaaaaa", nine times over   refuses a text of a thousand letters
//	ByteLevel, nine times over                     is refused with the file
//
// The bounds are wide of all known tokenizers.
const (
	maxStages      = 64      // of a normalizer, a pre-tokenizer or a decoder
	maxByteLevels  = 2       // that write bytes as characters, and so double a text
	maxSequences   = 8       // in each other
	maxToken       = 1 << 12 // bytes of a token
	maxVocabulary  = 1 << 24 // bytes of all tokens
	maxPiece       = 1 << 16 // bytes of a token as it is decoded
	maxPieces      = 1 << 26 // and of all
	maxAround      = 1 << 10 // tokens that are put around a text
	maxGrowth      = 8       // of a text by its normalizer or its decoder,
	maxGrowthOfAll = 1 << 20 // and bytes on top
	maxPattern     = 1 << 18 // bytes of a regular expression with the tables in it,
	deepestGroup   = 100     // and groups in each other
	maxDecoded     = 16      // bytes that a decoder puts in place of a match
)

// ErrTooLong means that the stages of a tokenizer made too much of a text.
var ErrTooLong = errors.New("the normalizer or the decoder of the tokenizer makes a text more than 8 times as long")

// most is how long a text of n bytes may become.
func most(n int) int { return maxGrowthOfAll + maxGrowth*n }

// ErrTooSlow means that a regular expression of a tokenizer took longer than slowestMatch.
var ErrTooSlow = fmt.Errorf("a regular expression of the tokenizer takes more than %v for one match", slowestMatch)

// slowestMatch is how long one match of a repeated group may take: its steps can double with
// each character, as in (a+)+b and (a|a)*b. Hugging Face gives up after ten million steps,
// which take less than a second.
const slowestMatch = 3 * time.Second

// Err is ErrTooLong or ErrTooSlow once that has happened to a text; what Encode or Decode
// returned for it is incomplete.
func (t *Tokenizer) Err() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (t *Tokenizer) fail(err error) { t.failed.CompareAndSwap(nil, &err) }

// slow ends a text that took longer than slowestMatch to match.
func (t *Tokenizer) slow() {
	failed := recover()
	err, _ := failed.(error)
	switch {
	case failed == nil:
	case errors.Is(err, ErrTooSlow):
		t.fail(err)
	default:
		panic(failed)
	}
}

// inTime calls f, at the end of which no match has exceeded slowestMatch.
func (t *Tokenizer) inTime(f func() error) (err error) {
	defer func() { err = errors.Join(err, t.Err()) }()
	defer t.slow()
	return f()
}

// A total adds up the bytes of texts of a kind.
type total struct {
	what    string
	limit   int
	longest int
	bytes   int
}

// add adds a text, which must not be too long by itself.
func (t *total) add(text string) error {
	if len(text) > t.longest {
		return fmt.Errorf("%s: %.20q… is longer than %d bytes", t.what, text, t.longest)
	}
	if t.bytes += len(text); t.bytes > t.limit {
		return fmt.Errorf("%s: more than %d MiB of text", t.what, t.limit>>20)
	}
	return nil
}

// few refuses more stages than a field may have.
func few[T any](field string, stages []T) error {
	if len(stages) > maxStages {
		return fmt.Errorf("%s has %d stages; at most %d are supported", field, len(stages), maxStages)
	}
	return nil
}
