// Package live says on stderr what happens around a run and how it goes: a line that is drawn
// again and again on a terminal, a line every few seconds elsewhere, nothing when quiet.
package live

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/progress"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A View is a sink that writes to a console.
type View struct {
	Console    *progress.Console
	Quiet      bool // nothing is said
	NoProgress bool // how the run goes is not
	// Brief is for one run of an experiment: a note is said once, and what goes as it should is
	// not. Interrupts are told by the experiment.
	Brief   bool
	told    map[string]bool // notes
	display *progress.Display
}

// english is the language of what has no flag for another one.
var english = words.In(words.Default)

// Sayf writes a line, unless it is unwanted.
func (v *View) Sayf(format string, a ...any) {
	if !v.Quiet {
		v.Console.Say(fmt.Sprintf(format, a...))
	}
}

// Unsaved says, even if nothing else is said, that the run cannot be stored at present, or
// that it can again.
func (v *View) Unsaved(err error) {
	said, mark := english.Say(plan.Say("store.saved")), ""
	if err != nil {
		said, mark = english.Say(plan.Say("store.failing", "why", err)), english.Word("store.not-saved")
	}
	v.Console.Warn("pitot: "+said, mark)
}

// Handle says what happens.
func (v *View) Handle(e run.Event) error {
	switch e := e.(type) {
	case run.Noted:
		if note := english.Say(e.Note); !v.Brief || e.Note.Code != run.WarmedUpNote && v.first(note) {
			v.Sayf("note: %s", note)
		}
	case run.Waiting:
		what := ""
		if e.Answer {
			what = " to answer"
		}
		v.Sayf("waiting up to %v for %s%s: %v", e.Limit, e.URL, what, e.Err)
	case run.WarmingUp:
		switch {
		case v.Brief:
		case e.Steady:
			v.Sayf("warming up with waves of %d requests until two agree", e.Requests)
		case e.Requests > 0:
			v.Sayf("warming up with %d requests", e.Requests)
		}
	case run.WaveDone:
		if !v.Brief {
			v.Sayf("%s", wave(e))
		}
	case run.Priming:
		v.Sayf("sending %d prompts ahead, into the server's cache", e.Requests)
	case run.Starting:
		if e.Progress != nil && !v.Quiet && !v.NoProgress {
			v.display = progress.Start(v.Console, e.Progress.Snapshot, progress.Load(e.Load))
		}
	case run.Recorded:
		if v.display != nil {
			v.display.Record(e.Record)
		}
	case run.Stopping:
		if v.display != nil {
			v.display.Ending()
		}
		if !v.Brief {
			v.Sayf("interrupted: waiting for what is in flight; interrupt again to end that too")
		}
	case run.Ended:
		if v.display != nil {
			v.display.Stop()
		}
	}
	return nil
}

// first reports whether a note is new.
func (v *View) first(note string) bool {
	if v.told == nil {
		v.told = map[string]bool{}
	}
	old := v.told[note]
	v.told[note] = true
	return !old
}

// wave says what the requests of a wave got.
func wave(e run.WaveDone) string {
	w, head := e.Wave, fmt.Sprintf("wave %d of at most %d:", e.Number, e.Most)
	if w.TTFT == 0 {
		return fmt.Sprintf("%s median E2EL %.4g ms", head, 1e3*w.E2EL)
	}
	return fmt.Sprintf("%s median TTFT %.4g ms, median TPOT %.4g ms", head, 1e3*w.TTFT, 1e3*w.TPOT)
}
