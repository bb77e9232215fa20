package plan

import (
	"testing"
	"time"
)

// The longest time to wait, and a nanosecond more.
func TestTheLongestSpan(t *testing.T) {
	for d, good := range map[time.Duration]bool{8784 * time.Hour: true, 8784*time.Hour + 1: false} {
		var p Problems
		if p.Span("a", Duration(d)); (len(p) == 0) != good {
			t.Errorf("%v: %v", d, p)
		}
	}
}

// The images of a request have 50 million pixels, those of a run 275 000 million.
func TestTheMostPixels(t *testing.T) {
	const image = 1000 * 1000
	for _, tt := range []struct {
		most, requests, images int
		good                   bool
	}{{MaxPictured, 1, 50, true}, {MaxPictured, 1, 51, false}, {MaxDrawn, 5498, 50, false}, {MaxDrawn, 5497, 50, true}} {
		var p Problems
		if p.Product("items", tt.most, "pixels", tt.requests, tt.images, image); (len(p) == 0) != tt.good {
			t.Errorf("%+v: %v", tt, p)
		}
	}
}
