package cli

import (
	"errors"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/runs"
)

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
	return runs.Differences(sess.Stdout, pair, found, c.All, session.English)
}
