package plan

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Ranges of settings. They are wide of any use, and keep a slip of the hand from filling the memory or from running
// forever.
const (
	MaxRequests = 10_000_000 // requests of a run, and texts in them
	MaxTokens   = 1 << 24    // of a prompt or an answer: more than a model has room for
	MaxTotal    = 1 << 34    // tokens of all prompts together
	MaxVocab    = 1 << 22    // ids of a vocabulary
	MaxPixels   = 1 << 25    // of an image: 8192 × 4096
	MaxPictured = 3 << 24    // pixels of the images of one request: 50 of 1280 × 720
	MaxDrawn    = 1 << 38    // pixels of all images together, which take half an hour
	MaxProcs    = 1 << 10    // processors of a client

	// MaxSpan is the longest time that a run may wait for anything.
	MaxSpan = 366 * 24 * time.Hour
	MinRate = 1e-7 // requests per second: fewer come after a longer time
)

// Count requires a number of requests, sessions or the like.
func (p *Problems) Count(path string, n, low int) { p.IntegerIn(path, n, low, MaxRequests) }

// Tokens requires the length of a prompt or of an answer.
func (p *Problems) Tokens(path string, n, low int) { p.IntegerIn(path, n, low, MaxTokens) }

// Span requires a time to wait.
func (p *Problems) Span(path string, d Duration) {
	p.If(d < 0, path, d, "must not be negative")
	p.If(d.Std() > MaxSpan, path, d, "must be at most %v", MaxSpan)
}

// Rate requires a number of requests per second, if it is positive.
func (p *Problems) Rate(path string, r float64) {
	p.If(r > 0 && r < MinRate, path, r, "must be at least %v requests per second", MinRate)
}

// Product requires that the product of factors, none of them negative, is at most most.
func (p *Problems) Product(path string, most int, what string, factors ...int) {
	product := uint64(1)
	for _, f := range factors {
		over, low := bits.Mul64(product, uint64(max(f, 0)))
		if product = low; over != 0 {
			product = math.MaxUint64
		}
	}
	p.If(product > uint64(most), path, nil, "%s make more than %d %s", joined(factors), most, what)
}

func joined(factors []int) (text string) {
	for i, f := range factors {
		if i > 0 {
			text += " × "
		}
		text += fmt.Sprint(f)
	}
	return text
}
