package fleettest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/truth"
)

// Truth starts a server that stamps its every write, to be measured by a fleet. It ends with the test.
func Truth(t testing.TB, c truth.Config) (s *truth.Server, url string) {
	t.Helper()
	s, err := truth.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := s.Serve(ctx, l); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		done.Wait()
	})
	return s, "http://" + l.Addr().String()
}
