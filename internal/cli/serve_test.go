package cli

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/session"
)

// Each start has a seed of its own, which is printed and is one that --seed takes.
func TestFreshSeeds(t *testing.T) {
	seen := map[uint64]bool{}
	for range 3 {
		var stderr bytes.Buffer
		cfg := apiserver.Config{}
		if err := (serveCmd{FreshSeed: true}).freshen(&cfg, &session.Session{Stderr: &stderr}); err != nil {
			t.Fatal(err)
		}
		if got, want := stderr.String(), fmt.Sprintf("seed %d\n", cfg.Seed); got != want || seen[cfg.Seed] || cfg.Seed > 1<<63-1 {
			t.Errorf("%q, want %q and another seed than before", got, want)
		}
		seen[cfg.Seed] = true
	}
}
