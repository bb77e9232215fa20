package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A View is the known state at an instant.
type View struct {
	Target  string // the watched server or machine, in a few words
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

func (v View) now() resources.Live {
	if len(v.Course) == 0 {
		return resources.Live{}
	}
	return v.Course[len(v.Course)-1]
}

// troubles are the notes on sources, a line each.
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

// Why words the notes on a source. It leaves out their times: a view shows the current state.
func Why(s telemetry.Source, l *words.Language) string { return l.SayAll("stop", notes(s)) }

func notes(s telemetry.Source) (all []plan.Message) {
	for _, n := range s.Notes {
		n.Args = maps.Clone(n.Args)
		delete(n.Args, "since")
		all = append(all, n)
	}
	return all
}

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
		lines := []string{}
		for _, n := range notes(from.Source) {
			lines = append(lines, l.Say(n))
		}
		s.Sources = append(s.Sources, sourceState{from.Name, from.Reads > 0 && from.Silent == 0, from.Reads, from.Lost, lines})
	}
	return json.Marshal(s)
}

// A table has rows of as many cells as columns.
type table struct {
	columns []column
	rows    [][]cell
}

// A column with a smaller keep goes first where there is no room; the first column stays.
type column struct {
	title string
	left  bool // cells begin at the left
	keep  int
}

type cell struct{ text, color string }

const gap = 2

// table draws one, with as many columns as there is room for.
func (d *drawing) table(t table) {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = doc.Width(c.title)
		for _, row := range t.rows {
			row[i].text = plain.Line(row[i].text)
			widths[i] = max(widths[i], doc.Width(row[i].text))
		}
	}
	shown := d.fitting(t.columns, widths)
	header := make([]cell, len(t.columns))
	for i, c := range t.columns {
		header[i] = cell{c.title, plain.Dim}
	}
	for _, row := range append([][]cell{header}, t.rows...) {
		var pieces []Piece
		for at, i := range shown {
			s := doc.PadLeft(row[i].text, widths[i])
			if t.columns[i].left {
				s = doc.PadRight(row[i].text, widths[i])
			}
			if at > 0 {
				pieces = append(pieces, In("", "  "))
			}
			pieces = append(pieces, In(row[i].color, s))
		}
		d.Line(pieces...)
	}
}

// fitting are the columns that have room, by index.
func (d *drawing) fitting(columns []column, widths []int) (shown []int) {
	room := d.Columns
	for i := range columns {
		shown = append(shown, i)
		room -= widths[i] + gap
	}
	for room += gap; room < 0 && len(shown) > 1; {
		least := slices.MinFunc(shown[1:], func(a, b int) int { return columns[a].keep - columns[b].keep })
		room += widths[least] + gap
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == least })
	}
	return shown
}

// Line is the main things in one line, without its end.
func Line(v View, l *words.Language) string {
	now := v.now()
	var parts []string
	for _, s := range now.Servers {
		line := serverLine(s, l)
		if len(now.Servers) > 1 {
			line = s.Source + ": " + line
		}
		parts = append(parts, line)
	}
	if len(now.Devices) > 0 {
		parts = append(parts, Devices(now.Devices, l))
	}
	for _, h := range now.Hosts {
		parts = append(parts, h.Source+" "+cpu(h, "watch.of-cpus", l))
	}
	parts = append(parts, v.troubles(l)...)
	if len(parts) == 0 {
		parts = []string{l.Word("watch.nothing")}
	}
	return plain.Line(v.Time.Format("15:04:05") + "  " + doc.Join(" | ", parts...))
}

func serverLine(s resources.LiveServer, l *words.Language) string {
	var parts []string
	for _, q := range quantities {
		parts = append(parts, l.Word(q.code)+" "+q.format(q.of(s)))
	}
	return doc.Join("  ", parts...)
}

// Devices is their mean utilization, their power together, and their memory where it is known of all.
func Devices(all []resources.LiveDevice, l *words.Language) string {
	var busy, power, used, total tally
	for _, d := range all {
		busy.add(d.Utilization)
		used.add(d.MemoryUsed)
		total.add(d.MemoryTotal)
		if !d.Metered {
			power.add(d.Power)
		}
	}
	busy.missing, busy.sum = false, busy.sum/max(1, float64(busy.known))
	line := l.Word("report.devices", "devices", len(all)) + " " + Percent(busy.value()) + " " + Watts(power.value())
	if m := memory(used.value(), total.value()); m != Unknown {
		line += " " + m
	}
	for _, d := range all {
		if len(d.Unhealthy) > 0 {
			line += " " + d.Device + " " + strings.Join(d.Unhealthy, " ")
		}
	}
	return line
}

// A tally is a sum of values of which some may be unknown.
type tally struct {
	sum     float64
	known   int
	missing bool
}

func (s *tally) add(v *float64) {
	if v == nil {
		s.missing = true
		return
	}
	s.sum, s.known = s.sum+*v, s.known+1
}

// value is nil if one is unknown.
func (s *tally) value() *float64 {
	if s.missing || s.known == 0 {
		return nil
	}
	return &s.sum
}
