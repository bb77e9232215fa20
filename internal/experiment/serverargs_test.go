package experiment

import (
	"slices"
	"testing"
)

func TestSplitServerArgs(t *testing.T) {
	got := SplitServerArgs([]string{"ab", "--before", "KEY=v1 serve 'a b'", "--after=serve --api-key k", "--", "bench", "--header", "a b"})
	want := []string{"ab", "--before", "KEY=v1", "serve", "a b", "--after", "serve", "--api-key", "k", "--", "bench", "--header", "a b"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
