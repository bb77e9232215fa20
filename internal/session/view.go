package session

import (
	"cmp"
	"runtime"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A View is a sink that writes to a console.
type View struct {
	Console *live.Console
	ViewOptions
	Opening func()          // called ahead of the first line, any number of times: what is wrong with a run is found before it
	printed map[string]bool // notes
	display *live.Display
}

// ViewOptions configure a View.
type ViewOptions struct {
	Quiet    bool      // print nothing
	Progress live.Mode // how a run is shown while it goes on; empty: Auto
	// Brief is for one run of an experiment: it prints each note once and nothing about success. The experiment
	// reports interrupts.
	Brief bool
	Lang  *words.Language // nil: that of the session
	Whole func() string   // how far the experiment is; nil: there is none
}

// NewView makes a View that draws on the session's screen.
func (s *Session) NewView(o ViewOptions) *View {
	o.Progress, o.Lang = cmp.Or(o.Progress, live.Auto), cmp.Or(o.Lang, s.Words())
	var t *live.Terminal
	if s.Screen != nil && !s.Dumb() {
		t = &live.Terminal{Screen: s.Screen, Colors: s.Getenv("NO_COLOR") == "", ASCII: s.ASCII(), Rewraps: s.rewraps()}
	}
	if t == nil && o.Brief && o.Progress != live.Plain {
		o.Progress = live.Off
	}
	return &View{Console: live.NewConsole(s.RawStderr, t, s.Secrets.Hide), ViewOptions: o}
}

// rewraps reports whether the terminal wraps its lines anew when it becomes narrower. Most do; xterm,
// the Linux console and GNU screen cut them.
func (s *Session) rewraps() bool {
	kind := s.Getenv("TERM")
	cuts := s.Getenv("XTERM_VERSION") != "" || kind == "linux" || strings.HasPrefix(kind, "screen") && s.Getenv("TMUX") == ""
	return !cuts
}

func (v *View) open() {
	if v.Opening != nil {
		v.Opening()
	}
}

// Print writes a line, unless the view is quiet or the line empty.
func (v *View) Print(line string) {
	if line == "" {
		return
	}
	if v.open(); !v.Quiet {
		v.Console.Print(line)
	}
}

// Draw shows a line, with the state of the experiment, until the next one is written: on a terminal, unless the view
// is quiet.
func (v *View) Draw(parts ...string) {
	if v.Quiet || v.Progress == live.Off {
		return
	}
	if v.Whole != nil {
		parts = append(parts, v.Whole())
	}
	v.Console.Draw(parts...)
}

// Unsaved says, even if Quiet, that the run cannot be stored at present, or that it can again.
func (v *View) Unsaved(err error) {
	text, mark := v.Lang.Word("store.saved"), ""
	if err != nil {
		text, mark = v.Lang.Word("store.failing", "why", err), v.Lang.Word("store.not-saved")
	}
	v.Console.Warn("pitot: "+text, mark)
}

// Handle prints events.
func (v *View) Handle(e run.Event) error {
	v.open()
	switch e := e.(type) {
	case run.Noted:
		if note := v.Lang.Say(e.Note); !v.Brief || e.Note.Code != run.WarmedUpNote && v.first(note) {
			v.Print(v.Lang.Word("report.note", "note", note))
		}
	case run.Waiting:
		v.Print(v.Lang.Word("stage.waiting", "limit", e.Limit, "url", e.URL, "answer", e.Answer, "why", e.Err))
	case run.WarmingUp:
		switch {
		case v.Brief:
			v.Draw(v.Lang.Word("experiment.warming"))
		case e.Brief:
			v.Print(v.Lang.Word("stage.warming-short", "requests", e.Requests))
		case e.Steady:
			v.Print(v.Lang.Word("stage.warming-steady", "requests", e.Requests))
		case e.Requests > 0:
			v.Print(v.Lang.Word("stage.warming", "requests", e.Requests))
		}
	case run.WaveDone:
		if v.Brief {
			v.Draw(v.Lang.Word("experiment.wave", "wave", e.Number+1, "most", e.Most))
		} else {
			v.Print(v.Lang.Word("stage.wave", "number", e.Number, "most", e.Most, "ttft", e.Wave.TTFT, "tpot", e.Wave.TPOT, "e2el", e.Wave.E2EL, "streamed", e.Wave.TTFT != 0))
		}
	case run.Priming:
		v.Print(v.Lang.Word("stage.priming", "requests", e.Requests))
	case run.Starting:
		if e.Progress != nil && !v.Quiet && v.Progress != live.Off {
			v.display = live.Start(v.Console, live.Subject{
				Run: e.Run, Load: live.Load(e.Load), Counts: e.Progress.Snapshot, CPU: own, Lang: v.Lang, Whole: v.Whole,
			}, v.Progress)
		}
	case run.Sampled:
		if v.display != nil {
			v.display.Sampled(e.Sources, e.Values)
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
			v.Print(v.Lang.Word("stage.interrupted"))
		}
	case run.Ended:
		v.End()
	}
	return nil
}

// End erases the progress of a run that did not come to its end, and a line that was drawn.
func (v *View) End() {
	v.Console.Clear()
	if v.display != nil {
		v.display.Stop()
		v.display = nil
	}
}

// own is the processor time of this process, and how many processors it may use at once.
func own() (used time.Duration, processors int) { return machine.OwnCPU(), runtime.GOMAXPROCS(0) }

func (v *View) first(note string) bool {
	if v.printed == nil {
		v.printed = map[string]bool{}
	}
	old := v.printed[note]
	v.printed[note] = true
	return !old
}
