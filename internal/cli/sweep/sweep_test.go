package sweep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
)

// held makes runs that only an interrupt ends.
type held struct {
	measuring.Maker
	begun chan struct{}
}

func (h held) Make(_ experiment.Load, o measuring.Options) (*run.Result, error) {
	h.begun <- struct{}{}
	<-o.Until.Done()
	return nil, console.ErrInterrupted
}

// One interrupt ends all simulations that are made at once.
func TestAnInterruptEndsAllAtOnce(t *testing.T) {
	signals, begun := make(chan os.Signal), make(chan struct{})
	p := &search.Plan{Name: "x", Repeats: 2}
	for _, rate := range []string{"1", "2", "3"} {
		p.Points = append(p.Points, curve.Point{{Name: "rate", Value: rate}})
		p.Loads = append(p.Loads, experiment.Load{Spec: plan.Spec{Target: plan.Target{Simulated: true}}})
	}
	c := &Cmd{}
	c.Store = filepath.Join(t.TempDir(), "runs.db")
	con := &console.Console{Stdout: io.Discard, Stderr: io.Discard, Env: os.LookupEnv, Signals: signals}
	go func() {
		<-begun
		<-begun
		signals <- os.Interrupt
		for range begun { // those that began meanwhile
		}
	}()
	defer close(begun)
	ctx, release := con.UntilInterrupt(t.Context())
	defer release()
	seen, err := c.run(ctx, con, held{begun: begun}, nil, p, curve.Design{}, nil)
	if !errors.Is(err, search.ErrInterrupted) || len(seen) != 0 {
		t.Errorf("%v, %v", seen, err)
	}
}
