package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// profilesCmd is `pitot profiles`.
type profilesCmd struct {
	List  listCmd  `cmd:"" default:"1" help:"List the profiles of the program (default)."`
	Show  showCmd  `cmd:"" help:"Print the file of a profile."`
	Check checkCmd `cmd:"" help:"Compare profiles with runs measured on the deployments they describe."`
	Fit   fitCmd   `cmd:"" help:"Fit numbers of a profile to the runs that it marks as fitted."`
}

type listCmd struct{}

func (listCmd) Run(sess *session.Session) error {
	rows := [][]string{{sess.Word("profiles.name"), sess.Word("profiles.title"), sess.Word("profiles.error")}}
	for _, name := range profile.Names() {
		q, err := profile.Load(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, q.Title, q.Error})
	}
	return doc.Columns(sess.Stdout, rows)
}

type showCmd struct {
	Profile string `arg:"" placeholder:"NAME|FILE" help:"Name of a profile, or a YAML file."`
}

func (c showCmd) Run(sess *session.Session) error {
	file, data, err := apiserver.ProfileText(c.Profile, files.ReadSmall)
	if err != nil {
		return session.Usage(err)
	}
	if _, err := profile.Parse(file, data); err != nil {
		return session.Usage(err)
	}
	_, err = sess.Stdout.Write(data)
	return err
}

// checkCmd is `pitot profiles check`.
type checkCmd struct {
	Profile []string `arg:"" optional:"" placeholder:"NAME|FILE" help:"Profiles with evidence. Default: all of the program's that have some."`
	Draws   int      `default:"100" placeholder:"N" help:"Draws of the requests of each run (${default})."`
	Seed    uint64   `placeholder:"N" help:"Seed of the draws; each has its own (${default})." default:"0"`
}

// Run compares profiles with measured runs.
func (c checkCmd) Run(sess *session.Session) error {
	if c.Draws < 1 || c.Draws > calibrate.FitDraws {
		return session.Usagef("--draws %d: must be from 1 to %d", c.Draws, calibrate.FitDraws)
	}
	if c.Seed > calibrate.MostSeed {
		return session.Usagef("--seed %d: must be at most %d", c.Seed, uint64(calibrate.MostSeed))
	}
	profiles, err := c.profiles()
	if err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	for i, q := range profiles {
		if i > 0 {
			fmt.Fprintln(sess.Stdout)
		}
		fmt.Fprintf(sess.Stdout, "%s: %s\n", q.Name, q.Title)
		if err := c.check(ctx, sess.Stdout, q, sess.Words()); err != nil {
			return err
		}
	}
	return nil
}

// check writes how each run of a profile compares, as soon as it is known.
func (c checkCmd) check(ctx context.Context, w io.Writer, q *profile.Profile, l *words.Language) error {
	for i := range q.Evidence {
		one := *q
		one.Evidence = q.Evidence[i : i+1]
		comparisons, err := calibrate.Compare(ctx, &one, c.Seed, c.Draws, known.Rules())
		if err != nil {
			return err
		}
		for _, r := range comparisons {
			fmt.Fprintln(w)
			if err := report.Evidence(w, r, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitCmd is `pitot profiles fit`.
type fitCmd struct {
	Profile string   `arg:"" placeholder:"NAME|FILE" help:"A profile with evidence that is marked as fitted."`
	Field   []string `required:"" placeholder:"LIST" help:"Numbers to fit, e.g. cost.step,cost.prefill_token; those of the evidence are fitted in every run."`
	Draws   int      `default:"6" placeholder:"N" help:"Draws of the requests of each run, different from those of check (${default})."`
	Steps   int      `default:"500" placeholder:"N" help:"Maximum number of evaluations (${default})."`
}

// Run fits, and prints the fit; an interrupt ends it with the best so far.
func (c fitCmd) Run(sess *session.Session) error {
	if most := calibrate.FitDraws; min(c.Draws, c.Steps) < 1 || c.Draws > most || c.Steps > most*most*most {
		return session.Usagef("--draws must be from 1 to %d, and --steps from 1 to %d", most, most*most*most)
	}
	q, err := apiserver.ReadProfile(c.Profile, files.ReadSmall)
	if err != nil {
		return session.Usage(err)
	}
	if !slices.ContainsFunc(q.Evidence, func(e profile.Evidence) bool { return e.Fitted }) {
		return session.Usagef("profile %s has no evidence marked as fitted: true", q.Name)
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	lastReported := math.Inf(1)
	plan := calibrate.FitPlan{Rules: known.Rules(), Fields: c.Field, Draws: c.Draws, Steps: c.Steps, Progress: func(step int, loss float64) {
		if loss < 0.98*lastReported {
			lastReported = loss
			fmt.Fprintln(sess.Stderr, sess.Word("calibrated.step", "step", step, "error", loss))
		}
	}}
	if err := plan.Validate(q); err != nil {
		return session.Usagef("--field: %w", err)
	}
	out, err := calibrate.Fit(ctx, q, plan)
	if err != nil {
		return err
	}
	if err := report.Fitted(sess.Stdout, out, sess.Words()); err != nil {
		return err
	}
	fmt.Fprintln(sess.Stderr, sess.Word("calibrated.write"))
	return context.Cause(ctx)
}

// profiles are those named, else all that have evidence.
func (c checkCmd) profiles() ([]*profile.Profile, error) {
	var out []*profile.Profile
	for _, name := range c.Profile {
		q, err := apiserver.ReadProfile(name, files.ReadSmall)
		if err != nil {
			return nil, session.Usage(err)
		}
		if len(q.Evidence) == 0 {
			return nil, session.Usagef("profile %s is well formed, but has no evidence to compare it with (docs/profiles.md)", q.Name)
		}
		out = append(out, q)
	}
	if len(c.Profile) > 0 {
		return out, nil
	}
	for _, name := range profile.Names() {
		q, err := profile.Load(name)
		if err != nil {
			return nil, err
		}
		if len(q.Evidence) > 0 {
			out = append(out, q)
		}
	}
	return out, nil
}
