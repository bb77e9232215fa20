package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Unknown stands for an unknown value.
const Unknown = "-"

// Known is a value by a verb, Unknown for none.
func Known(v *float64, verb string, scale float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return Unknown
	}
	return fmt.Sprintf(verb, *v*scale)
}

// Count is a number without a fraction.
func Count(v *float64) string { return Known(v, "%.0f", 1) }

// Watts is a power.
func Watts(v *float64) string { return Known(v, "%.0f W", 1) }

// Percent is a share.
func Percent(v *float64) string {
	if v != nil && *v > 0 && *v < 0.0995 {
		return Known(v, "%.1f %%", 100)
	}
	return Known(v, "%.0f %%", 100)
}

// Short is a number in about three digits.
func Short(v *float64) string {
	if v != nil && math.Abs(*v) < 100 {
		return Known(v, "%.3g", 1)
	}
	return Known(v, "%.0f", 1)
}

// The heights of a course, the least first.
var (
	bars      = []rune("▁▂▃▄▅▆▇█")
	asciiBars = []rune("_.:-=+*#")
)

func (p Paper) bars() []rune {
	if p.ASCII {
		return asciiBars
	}
	return bars
}

// Spark draws a course in at most width characters, the newest at the right: each is the mean of
// the values that it stands for, a blank where none is known. The highest bar is most, or where
// that is 0 the largest of them.
func (p Paper) Spark(course []*float64, width int, most float64) string {
	means := Means(course, width)
	if most == 0 {
		for _, m := range means {
			if !math.IsNaN(m) {
				most = max(most, m)
			}
		}
	}
	drawn := make([]rune, len(means))
	for i, m := range means {
		drawn[i] = p.bar(m, most)
	}
	return string(drawn)
}

// Means are those of a course in at most n parts, of which all but the first stand for as many
// values; NaN where none is known.
func Means(course []*float64, n int) []float64 {
	if len(course) == 0 || n <= 0 {
		return nil
	}
	each := (len(course) + n - 1) / n
	means := make([]float64, (len(course)+each-1)/each)
	for i, end := len(means)-1, len(course); end > 0; i, end = i-1, end-each {
		sum, known := 0.0, 0
		for _, v := range course[max(0, end-each):end] {
			if v != nil {
				sum, known = sum+*v, known+1
			}
		}
		means[i] = sum / float64(known)
	}
	return means
}

func (p Paper) bar(v, most float64) rune {
	bars := p.bars()
	switch {
	case math.IsNaN(v):
		return ' '
	case most <= 0:
		return bars[0]
	}
	return bars[min(max(int(math.Round(v/most*float64(len(bars)-1))), 0), len(bars)-1)]
}

// Largest is the largest value of a course, nil if none is known.
func Largest(course []*float64) (most *float64) {
	for _, v := range course {
		if v != nil && (most == nil || *v > *most) {
			most = v
		}
	}
	return most
}

// parts are the left eighths of a full block.
var parts = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar is a progress bar of width columns for a share from 0 to 1.
func (p Paper) Bar(share float64, width int) string {
	share = min(1, max(0, share))
	if p.ASCII {
		full := int(share * float64(max(0, width-2)))
		return "[" + strings.Repeat("#", full) + strings.Repeat(".", max(0, width-2-full)) + "]"
	}
	eighths := int(share * float64(8*width))
	part := parts[eighths%8]
	rest := width - eighths/8
	if part != "" {
		rest--
	}
	return strings.Repeat("█", eighths/8) + part + strings.Repeat("░", rest)
}

type quantity struct {
	code   plan.Code // its name
	of     func(resources.LiveServer) *float64
	format func(*float64) string
	drawn  bool    // its course is
	most   float64 // of its course; 0: the largest of the last minute
}

var quantities = []quantity{
	{"watch.running", func(s resources.LiveServer) *float64 { return s.Running }, Count, true, 0},
	{"watch.waiting", func(s resources.LiveServer) *float64 { return s.Waiting }, Count, true, 0},
	{"watch.kv", func(s resources.LiveServer) *float64 { return s.KVUse }, Percent, true, 1},
	{"watch.hits", func(s resources.LiveServer) *float64 { return s.CacheHits }, Percent, false, 0},
	{"watch.preemptions", func(s resources.LiveServer) *float64 { return s.Preemptions }, Count, false, 0},
	{"watch.prompt", func(s resources.LiveServer) *float64 { return s.Prompt }, perSecond, true, 0},
	{"watch.output", func(s resources.LiveServer) *float64 { return s.Output }, perSecond, true, 0},
	{"watch.step", func(s resources.LiveServer) *float64 { return s.StepTokens }, Short, false, 0},
	{"watch.accepted", func(s resources.LiveServer) *float64 { return s.Accepted }, Percent, false, 0},
}

func celsius(v *float64) string { return Known(v, "%.0f °C", 1) }
func mega(v *float64) string    { return Known(v, "%.0f MHz", 1e-6) }

func perSecond(v *float64) string {
	if s := Short(v); s != Unknown {
		return s + " tok/s"
	}
	return Unknown
}

func memory(used, total *float64) string {
	const gib = 1.0 / (1 << 30)
	if total == nil {
		if s := Known(used, "%.1f GiB", gib); s != Unknown {
			return s
		}
		return Unknown
	}
	return Known(used, "%.1f", gib) + "/" + Known(total, "%.1f GiB", gib)
}

// cpu is how many processors of a host are in use.
func cpu(h resources.LiveHost, code plan.Code, l *words.Language) string {
	if h.CPU == nil || h.CPUs == nil {
		return Unknown
	}
	return l.Word(code, "used", Known(h.CPU, "%.1f", 1), "all", Known(h.CPUs, "%.0f", 1))
}

// pressure are the shares of the time in which tasks waited for processors, memory and disks.
func pressure(h resources.LiveHost) string {
	if h.CPUPressure == nil && h.MemoryPressure == nil && h.IOPressure == nil {
		return Unknown
	}
	return Known(h.CPUPressure, "%.0f", 100) + "/" + Known(h.MemoryPressure, "%.0f", 100) + "/" + Known(h.IOPressure, "%.0f", 100) + " %"
}

// A Paper is a surface to draw on.
type Paper struct {
	Columns, Rows int
	Colors        bool
	ASCII         bool // bars and cuts are drawn in ASCII
	Lang          *words.Language
}

// A Page is lines in the making. A line is empty between two sections.
type Page struct {
	Paper
	Lines []string
}

// A Piece is a part of a line in one colour.
type Piece struct{ Text, Color string }

// In is a piece in a colour of package plain.
func In(color, s string) Piece { return Piece{s, color} }

// Line adds a line of pieces, cut where the paper ends, and without blanks behind them.
func (p *Page) Line(pieces ...Piece) {
	for n := len(pieces); n > 0; n-- {
		if pieces[n-1].Text = strings.TrimRight(pieces[n-1].Text, " "); pieces[n-1].Text != "" {
			break
		}
		pieces = pieces[:n-1]
	}
	room, line := p.Columns, ""
	for _, one := range pieces {
		s := plain.Line(one.Text)
		if line != "" && room < 2 && doc.Width(s) > room { // nor is there any for a sign of the cut
			break
		}
		s = p.Cut(s, room)
		room -= doc.Width(s)
		line += p.paint(s, one.Color)
	}
	p.Lines = append(p.Lines, line)
}

// Cut is the beginning of s in n columns, with a sign of the cut.
func (p Paper) Cut(s string, n int) string {
	cut := doc.Cut(s, n)
	if p.ASCII && cut != s {
		return strings.TrimSuffix(cut, "…") + "~"
	}
	return cut
}

// paint colours a text, if the terminal has colours.
func (p Paper) paint(s, color string) string {
	if !p.Colors {
		return s
	}
	return plain.Paint(s, color)
}

// Section begins one.
func (p *Page) Section() { p.Lines = append(p.Lines, "") }

// Fitted are the lines that have room: where they are too many, empty ones go first, and those that
// are left out are counted in the last one.
func (p *Page) Fitted() []string {
	lines := p.Lines
	if len(lines) > p.Rows {
		lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	}
	if n := len(lines); n > p.Rows && p.Rows > 0 {
		p.Lines = lines[:p.Rows-1]
		p.Line(In(plain.Dim, p.Lang.Word("watch.more", "lines", n-p.Rows+1)))
		lines = p.Lines
	}
	return lines
}
