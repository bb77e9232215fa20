package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run/inspect"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

// envCmd is `pitot env`.
type envCmd struct {
	Site   string `arg:"" optional:"" placeholder:"TARGET" help:"Server to look at: local, pid:N, docker:NAME, podman:NAME, ssh:HOST, or kubectl:POD[@NAMESPACE], with :PORT behind it where the server listens on another port than that of --url. Default: with --url the process on this machine that serves there, else this machine."`
	URL    string `placeholder:"URL" help:"Where the server answers: its process is the one that listens on that port."`
	Tree   string `placeholder:"DIR" help:"Working tree of git at the target whose commit and changes to show. Default: those that the server's packages are imported from."`
	All    bool   `short:"a" help:"Show all variables and packages, not only those that matter."`
	Format string `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json (${default})."`
}

func (c envCmd) Run(sess *session.Session) error {
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	e, notes, err := c.find(ctx, sess.Secrets)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	for _, n := range notes {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Say(n))
	}
	if e == nil {
		return fmt.Errorf("nothing is known of the environment at %s", strings.TrimSpace(c.Site+" "+c.URL))
	}
	if c.Format == "json" {
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	return report.Environment(sess.Stdout, e, c.All)
}

func (c envCmd) find(ctx context.Context, secrets *secret.Set) (*environment.Environment, []plan.Message, error) {
	s := inspect.Subject{URL: c.URL, Tree: c.Tree, Secrets: secrets, Asked: true}
	if c.URL != "" && !strings.Contains(c.URL, "://") {
		return nil, nil, session.Usagef("--url %q: must be a URL such as http://127.0.0.1:8000", c.URL)
	}
	if c.Site == "" && c.URL == "" && c.Tree == "" {
		e, notes := inspect.Machine(ctx)
		return e, notes, nil
	}
	s.Site = plan.Site{Kind: plan.Here}
	if c.Site != "" {
		var err error
		if s.Site, err = plan.ParseSite(c.Site); err != nil {
			return nil, nil, session.Usagef("TARGET %w", err)
		}
	}
	if s.Site.Kind == plan.Here || s.Site.Kind == plan.ByPID {
		if c.Tree != "" {
			s.Tree, _ = filepath.Abs(c.Tree) // else it is taken as it is
		}
	}
	e, notes := inspect.Server(ctx, s)
	return e, notes, nil
}

// envDiffCmd is `pitot runs diff`.
type envDiffCmd struct {
	First  string `arg:"" name:"run" help:"Id, prefix of an id, name, or last."`
	Second string `arg:"" name:"other" help:"Another one."`
	All    bool   `short:"a" help:"Show variables that never matter too, such as PATH."`
	Format string `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json (${default})."`
	flags.StoreFlag
}

// Run prints the differences. That something does is no failure.
func (c envDiffCmd) Run(sess *session.Session) error {
	var pair [2]trace.Run
	err := sess.With(c.Store, func(s *store.Store) error {
		for i, ref := range []string{c.First, c.Second} {
			listed, err := s.Find(ref)
			if errors.Is(err, store.ErrNoRun) {
				return session.Usage(err)
			}
			if err == nil {
				pair[i], err = s.Run(listed.ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := compare.Differences(pair[0], pair[1])
	if c.Format == "json" {
		return runs.DifferencesJSON(sess.Stdout, pair, found)
	}
	return runs.Differences(sess.Stdout, pair, found, c.All, sess.Words())
}
