package live

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A View is what is known at an instant.
type View struct {
	Target  string // what is watched, in a few words
	Time    time.Time
	Every   time.Duration
	Course  []resources.Live // of the last minute, the oldest first; the last one is now
	Sources []Source
}

// A Source is one that is asked, and how it is doing.
type Source struct {
	telemetry.Source
	Silent time.Duration // for how long it has not answered though it should have; 0: it answers
}

// now is the newest of the course.
func (v View) now() resources.Live {
	if len(v.Course) == 0 {
		return resources.Live{}
	}
	return v.Course[len(v.Course)-1]
}

// troubles are what is said of sources, a line each.
func (v View) troubles(l *words.Language) (lines []string) {
	for _, s := range v.Sources {
		why := Why(s.Source, l)
		switch {
		case s.Silent > 0:
			lines = append(lines, l.Word("watch.silent", "source", s.Name, "never", s.Reads == 0, "time", s.Silent.Round(time.Second).Seconds(), "why", why))
		case s.Lost > 0:
			lines = append(lines, l.Word("watch.lost", "source", s.Name, "lost", s.Lost, "why", why))
		case why != "":
			lines = append(lines, l.Word("watch.noted", "source", s.Name, "why", why))
		}
	}
	return lines
}

// Why is what is said of a source. Since when is left out: who watches sees what is.
func Why(s telemetry.Source, l *words.Language) string { return l.SayAll("stop", notes(s)) }

func notes(s telemetry.Source) (all []plan.Message) {
	for _, n := range s.Notes {
		n.Args = maps.Clone(n.Args)
		delete(n.Args, "since")
		all = append(all, n)
	}
	return all
}

// sample is what JSON writes.
type sample struct {
	Time time.Time `json:"time"`
	resources.Live
	Sources []sourceState `json:"sources"`
}

type sourceState struct {
	Name    string   `json:"name"`
	Answers bool     `json:"answers"`
	Reads   int      `json:"reads"`
	Lost    int      `json:"lost"`
	Notes   []string `json:"notes"`
}

// JSON is the newest values in one line, without its end. Units are in the names: _s per second, _w
// watts, _hz hertz, _c degrees Celsius, _b bytes; shares are from 0 to 1.
func JSON(v View, l *words.Language) ([]byte, error) {
	s := sample{Time: v.Time.Truncate(time.Millisecond), Live: v.now(), Sources: []sourceState{}}
	for _, from := range v.Sources {
		said := []string{}
		for _, n := range notes(from.Source) {
			said = append(said, l.Say(n))
		}
		s.Sources = append(s.Sources, sourceState{from.Name, from.Reads > 0 && from.Silent == 0, from.Reads, from.Lost, said})
	}
	return json.Marshal(s)
}
