package sweep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool"
)

// endless is a simulation that takes minutes.
const endless = `version: 1
target: {simulated: true, engine: {seed: 1}}
request: {protocol: completions, model: pitot, stream: true, usage: end, ignore_eos: true}
requests: 1000000
seed: 1
load:
- arrival: {kind: poisson, rate: 1}
  dataset: {kind: random, input_len: 256, output_len: 64, texts: 1}
dialect: {name: pitot}
`

// One interrupt ends all simulations that are made at once.
func TestAnInterruptEndsAllAtOnce(t *testing.T) {
	spec, _, err := plan.Read("endless.yaml", []byte(endless))
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal)
	p := &search.PointLoads{Name: "x", Repeats: 2}
	for _, rate := range []string{"1", "2", "3"} {
		p.Points = append(p.Points, curve.Point{{Name: "rate", Value: rate}})
		p.Loads = append(p.Loads, experiment.VariantLoad{Compiled: tool.Compiled{Spec: *spec, Front: plan.ByPath{}}})
	}
	c := &Cmd{}
	c.Store = filepath.Join(t.TempDir(), "runs.db")
	sess := &session.Session{Stdout: io.Discard, Stderr: io.Discard, Env: os.LookupEnv, Signals: signals, Secrets: new(secret.Set)}
	go func() { signals <- os.Interrupt }()
	ctx, release := sess.UntilInterrupt(t.Context())
	defer release()
	seen, err := c.run(ctx, sess, nil, p, curve.Design{}, nil)
	if !errors.Is(err, search.ErrInterrupted) || len(seen) != 0 {
		t.Errorf("%v, %v", seen, err)
	}
}
