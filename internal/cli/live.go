package cli

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/progress"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A live view is a sink that says on stderr what happens around a run and how it goes: a line
// that is redrawn on a terminal, one every few seconds elsewhere, nothing when quiet.
type live struct {
	console    *progress.Console
	quiet      bool // nothing is said
	noProgress bool // how the run goes is not
	progress   *progress.Display
}

func (p *Process) live(quiet, noProgress bool) *live {
	return &live{console: progress.NewConsole(p.terminal, p.Width, p.secrets.Hide), quiet: quiet, noProgress: noProgress}
}

// sayf writes a line, unless it is unwanted.
func (l *live) sayf(format string, a ...any) {
	if !l.quiet {
		l.console.Say(fmt.Sprintf(format, a...))
	}
}

// unsaved says, even if nothing else is said, that the run cannot be stored at present, or
// that it can again.
func (l *live) unsaved(err error) {
	said, mark := english.Say(plan.Say("store.saved")), ""
	if err != nil {
		said, mark = english.Say(plan.Say("store.failing", "why", err)), english.Word("store.not-saved")
	}
	l.console.Warn("pitot: "+said, mark)
}

// Handle says what happens.
func (l *live) Handle(e run.Event) error {
	switch e := e.(type) {
	case run.Noted:
		l.sayf("note: %s", words.In(words.Default).Say(e.Note))
	case run.Waiting:
		what := ""
		if e.Answer {
			what = " to answer"
		}
		l.sayf("waiting up to %v for %s%s: %v", e.Limit, e.URL, what, e.Err)
	case run.WarmingUp:
		if e.Requests > 0 {
			l.sayf("warming up with %d requests", e.Requests)
		}
	case run.Starting:
		if e.Progress != nil && !l.quiet && !l.noProgress {
			l.progress = progress.Start(l.console, e.Progress.Snapshot, e.Requests)
		}
	case run.Recorded:
		if l.progress != nil {
			l.progress.Record(e.Record)
		}
	case run.Stopping:
		if l.progress != nil {
			l.progress.Ending()
		}
		l.sayf("interrupted: waiting for what is in flight; interrupt again to end that too")
	case run.Ended:
		if l.progress != nil {
			l.progress.Stop()
		}
	}
	return nil
}
