package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// doctorCmd is `pitot doctor`.
type doctorCmd struct {
	Streams int     `placeholder:"N" help:"Judge the limits for so many streams at once."`
	Rate    float64 `placeholder:"R" help:"Judge the limits for so many requests per second."`
	JSON    bool    `name:"json" help:"Print findings and what they rest on as JSON."`
}

// diagnosis is what `pitot doctor --json` prints.
type diagnosis struct {
	Verdict  doctor.Verdict   `json:"verdict"` // the gravest
	Plan     doctor.Plan      `json:"plan"`
	Findings []doctor.Finding `json:"findings"`
	Facts    doctor.Facts     `json:"facts"`
}

// Run looks at this machine and says what it found. Only what is bad is an error.
func (c doctorCmd) Run(p *Process) error {
	planned := doctor.Plan{Streams: c.Streams, Rate: c.Rate}
	if err := planned.Validate(); err != nil {
		return usage(err)
	}
	ctx, release := p.untilInterrupt(context.Background())
	defer release()
	facts, err := p.facts(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	d := diagnosis{Plan: planned, Findings: doctor.Examine(facts, planned), Facts: facts}
	d.Verdict = doctor.Worst(d.Findings)
	if err := p.printDiagnosis(d, c.JSON); err != nil {
		return err
	}
	if d.Verdict == doctor.Bad {
		return fmt.Errorf("this machine is not fit for a run: what is bad, and what to do about it, stands above")
	}
	return nil
}

func (p *Process) printDiagnosis(d diagnosis, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(d)
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ITEM\tVALUE\tVERDICT")
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", english.Word(f.Item), english.Say(f.Value), f.Verdict)
	}
	err := w.Flush()
	for _, f := range d.Findings {
		if !f.Advice.IsZero() {
			_, err = fmt.Fprintf(p.Stdout, "\n%s: %s\n  %s\n", english.Word(f.Item), f.Verdict, english.Say(f.Advice))
		}
	}
	return err
}

// selfTest measures the kernel's stamps and judges them. What a neighbour spoiled
// by its turn on the processor is measured once more.
func selfTest(ctx context.Context, clk *clock.Clock) (*trace.SelfTest, doctor.Finding, error) {
	for again := false; ; again = true {
		c, err := transport.SelfTest(ctx, clk)
		if err != nil {
			return nil, doctor.Finding{}, err
		}
		t := &trace.SelfTest{
			Writes: c.Writes, Stamped: c.Stamped, Inside: c.Inside, Bare: c.Bare, Waited: c.Waited,
			Error: lagOf(c.Error, c.Stamped), Lag: lagOf(c.Lag, c.Stamped),
		}
		if f := doctor.Stamps(runtime.GOOS, t); again || f.Verdict == doctor.OK || t.Stamped == 0 {
			return t, f, nil
		}
	}
}

func lagOf(s transport.Spread, n int) trace.Lag {
	return trace.Lag{Reads: n, P50: s.Median, P99: s.P99, Max: s.Max}
}

// tryStamps is the self-test ahead of a run. A note of the run's tells what is wrong
// with the stamps; a system that never has any is told of in the report.
func (s *session) tryStamps(ctx context.Context) {
	if !s.Alone || ctx.Err() != nil {
		return
	}
	t, finding, err := selfTest(ctx, s.target.clock)
	s.run.Env.SelfTest = t
	switch {
	case ctx.Err() != nil: // it is over
	case err != nil:
		s.notef("the self-test of the kernel's receive stamps did not work: %v", err)
	case finding.Verdict != doctor.OK && runtime.GOOS == "linux":
		s.notef("the kernel's receive stamps, in a self-test: %s: %s", english.Say(finding.Value), english.Say(finding.Advice))
	}
}
