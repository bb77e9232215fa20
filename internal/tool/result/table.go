package result

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// The widths of a printed table: a label, a blank, a value.
const (
	labelWidth = 40
	valueWidth = 10
	tableWidth = 50
)

// A Tool is one that prints tables.
type Tool struct {
	Name string
	// Layout is that of a form of the table, of "" the newest; Forms are those whose
	// layouts differ.
	Layout func(form string) Layout
	Forms  []string
	// Form is the oldest form that has rows such as were read.
	Form func(r *TableReading, rows []Match) string
	// Setting is what the tool would have written into a row of words, empty if it would
	// have left the row out.
	Setting func(run trace.Run, label string) string
	// Unprinted reports figures of a result file for which the table has a row with some
	// loads only; nil: there are none.
	Unprinted func(o *trace.Origin, figure string) bool
}

// A Layout is how a tool prints a table.
type Layout []Section

// A Section is a heading and its rows; it is printed if a row of it is.
type Section struct {
	Title string
	Fill  string // of the heading's line; "" prints the title as it is
	Rows  []Row
}

// A Row is a line of a table. A star in its label and in its name stands for the
// same text: a percentile, a position or a name.
type Row struct {
	label  string
	name   string // of the figure; of words it is the label
	format format
	per    float64 // what is printed for one in the unit of the figure: 1000 for ms
}

// A format is how a value is printed.
type format int

const (
	words      format = iota // as it is
	tableWhole               // an integer
	hundredths               // with two decimals
	share                    // with one decimal and a percent sign, nothing behind
)

var decimals = map[format]int{hundredths: 2, share: 1}

// Title is that of a table's first section.
const Title = " Serving Benchmark Result "

// Words is a row of words.
func Words(label string) Row { return Row{label, label, words, 1} }

// Count is a row of a whole number.
func Count(label, name string) Row { return Row{label, name, tableWhole, 1} }

// NumberRow is a row of a number with two decimals.
func NumberRow(label, name string) Row { return Row{label, name, hundredths, 1} }

// TableMilliseconds is a row of a time.
func TableMilliseconds(label, name string) Row { return Row{label, name, hundredths, 1000} }

// Percent is a row of a share as a number with two decimals.
func Percent(label, name string) Row { return Row{label, name, hundredths, 100} }

// Share is a row of a share with its sign, as 12.3%.
func Share(label, name string) Row { return Row{label, name, share, 100} }

// LatencySection is a section of the statistics of a latency; more are rows behind the
// percentiles.
func LatencySection(heading, label string, metric figure.Metric, more ...string) Section {
	s := Section{Title: heading, Fill: "-"}
	for _, statistic := range append([]string{"Mean", "Median", "P*"}, more...) {
		s.Rows = append(s.Rows, TableMilliseconds(statistic+" "+label+" (ms):", metric.Of(strings.ToLower(statistic))))
	}
	return s
}

// starred reports whether text fits a pattern, and what its star stands for.
func starred(pattern, text string) (star string, ok bool) {
	before, after, hasStar := strings.Cut(pattern, "*")
	if !hasStar {
		return "", pattern == text
	}
	rest, ok := strings.CutPrefix(text, before)
	if !ok {
		return "", false
	}
	star, ok = strings.CutSuffix(rest, after)
	return star, ok && star != ""
}

// An entry is what stands in a row: a figure, or words by the label of the row.
type entry struct {
	trace.ReportedFigure
	words string
}

// Entries are those of a table. Rows stand in the order of the layout, and those
// of one pattern in the order of the entries.
type Entries []entry

// Add adds a figure.
func (e *Entries) Add(name string, v float64) {
	*e = append(*e, entry{ReportedFigure: trace.ReportedFigure{Name: name, Value: v}})
}

// AddText adds words by the label of their row.
func (e *Entries) AddText(label, text string) {
	*e = append(*e, entry{trace.ReportedFigure{Name: label}, text})
}

// Write writes the table.
func (l Layout) Write(w io.Writer, all Entries) error {
	var b strings.Builder
	for i, s := range l {
		lines := s.lines(all)
		if len(lines) > 0 || i == 0 {
			b.WriteString(s.heading() + "\n")
		}
		for _, line := range lines {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(strings.Repeat("=", tableWidth) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// heading is the title in the middle of its line, the odd character to the right.
func (s Section) heading() string {
	if s.Fill == "" {
		return s.Title
	}
	space := max(0, tableWidth-len(s.Title))
	left := space / 2
	return strings.Repeat(s.Fill, left) + s.Title + strings.Repeat(s.Fill, space-left)
}

func (s Section) lines(all Entries) (lines []string) {
	for _, r := range s.Rows {
		for _, e := range all {
			if star, ok := starred(r.name, e.Name); ok {
				lines = append(lines, r.line(star, e))
			}
		}
	}
	return lines
}

func (r Row) line(star string, e entry) string {
	label := strings.Replace(r.label, "*", star, 1)
	width, value := valueWidth, e.words
	if r.format != words {
		digits := decimals[r.format]
		if e.Step > 0 {
			digits = max(0, int(math.Round(-math.Log10(e.Step*r.per))))
		}
		value = strings.ToLower(strconv.FormatFloat(e.Value*r.per, 'f', digits, 64)) // nan
	}
	if r.format == share {
		width, value = 0, value+"%"
	}
	return fmt.Sprintf("%-*s %-*s", labelWidth, label, width, value)
}

// Percentile is how a percentile is named: 99 for 99.0 and 99.9 for 99.9.
func Percentile(p float64) string {
	if p == math.Trunc(p) {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return python.Float(p)
}
