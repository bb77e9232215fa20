package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// DoctorCmd is `pitot doctor`.
type DoctorCmd struct {
	Streams int     `placeholder:"N" help:"Check the limits for this many concurrent streams."`
	Rate    float64 `placeholder:"R" help:"Check the limits for this many requests per second."`
	JSON    bool    `name:"json" help:"Print the findings and their evidence as JSON."`
}

// A Diagnosis is the output of `pitot doctor --json`.
type Diagnosis struct {
	Verdict  doctor.Verdict     `json:"verdict"` // the gravest
	Plan     doctor.PlannedLoad `json:"plan"`
	Findings []doctor.Finding   `json:"findings"`
	Facts    doctor.Facts       `json:"facts"`
}

// Run examines this machine and prints the findings. Only bad ones are an error.
func (c DoctorCmd) Run(sess *session.Session) error {
	planned := doctor.PlannedLoad{Streams: c.Streams, Rate: c.Rate}
	if err := planned.Validate(); err != nil {
		return session.Usage(err)
	}
	d, err := Diagnose(sess, planned)
	if err != nil {
		return err
	}
	if err := d.print(sess.Stdout, c.JSON, sess.Words()); err != nil {
		return err
	}
	if d.Verdict == doctor.Bad {
		return fmt.Errorf("this machine is not fit for a run: what is bad, and what to do about it, stands above")
	}
	return nil
}

// Diagnose examines this machine.
func Diagnose(sess *session.Session, planned doctor.PlannedLoad) (Diagnosis, error) {
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	facts, err := doctor.Look(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	d := Diagnosis{Plan: planned, Findings: doctor.Examine(facts, planned), Facts: facts}
	d.Verdict = doctor.Worst(d.Findings)
	return d, err
}

func (d Diagnosis) print(to io.Writer, asJSON bool, l *words.Language) error {
	if asJSON {
		enc := json.NewEncoder(to)
		enc.SetIndent("", "  ")
		return enc.Encode(d)
	}
	verdict := func(f doctor.Finding) string {
		if f.Verdict == doctor.Unknown {
			return string(f.Verdict)
		}
		return l.Word(plan.Code("fitness." + f.Verdict))
	}
	rows := [][]string{{l.Word("doctor.title-item"), l.Word("doctor.title-value"), l.Word("doctor.title-verdict")}}
	for _, f := range d.Findings {
		rows = append(rows, []string{l.Word(f.Item), l.Say(f.Value), verdict(f)})
	}
	err := doc.Columns(to, rows)
	for _, f := range d.Findings {
		if !f.Advice.IsZero() {
			_, err = fmt.Fprintf(to, "\n%s\n  %s\n", l.Word("doctor.finding", "item", l.Word(f.Item), "verdict", verdict(f)), l.Say(f.Advice))
		}
	}
	return err
}
