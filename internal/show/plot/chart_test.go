package plot

import (
	"bytes"
	"strings"
	"testing"
)

// An interval of X is a bar of its own, as that of Y is.
func TestBars(t *testing.T) {
	strokes := func(s Spot) int {
		var b bytes.Buffer
		if err := (Chart{Title: "t", X: "x", Y: "y", Lines: []Path{{Spots: []Spot{s, {X: 20, Y: 20}}}}}).Draw(&b); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), "<path")
	}
	bare, both := strokes(Spot{X: 5, Y: 5}), strokes(Spot{X: 5, Y: 5, Low: 4, High: 6, Left: 3, Right: 9})
	if both != bare+2 {
		t.Errorf("%d strokes with two bars, %d without", both, bare)
	}
}
