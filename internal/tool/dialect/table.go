package dialect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The widths of a printed table: a label, a blank, a value.
const (
	labelWidth = 40
	valueWidth = 10
	tableWidth = 50
)

// A layout is how a tool prints a table: which rows there can be, in which order,
// and what each is called where figures of several tools meet. Tables are written
// by it, of live runs and of imported ones, and read by it.
type layout []section

// A section is a heading and its rows; it is printed if a row of it is.
type section struct {
	title string
	fill  string // of the heading's line; "" prints the title as it is
	rows  []row
}

// A row is a line of a table. A star in its label and in its name stands for the
// same text: a percentile, a position or a name.
type row struct {
	label  string
	name   string // of the figure; of words it is the label
	format format
	per    float64 // what is printed for one in the unit of the figure: 1000 for ms
}

// A format is how a value is printed.
type format int

const (
	words      format = iota // as it is
	whole                    // an integer
	hundredths               // with two decimals
	percent                  // with one decimal and its sign, nothing behind
)

// decimals are those that a format prints.
func (f format) decimals() int {
	switch f {
	case hundredths:
		return 2
	case percent:
		return 1
	}
	return 0
}

// title is the line that a table begins with.
const title = " Serving Benchmark Result "

func said(label string) row { return row{label, label, words, 1} }

func count(label, name string) row { return row{label, name, whole, 1} }

func number(label, name string) row { return row{label, name, hundredths, 1} }

// latency is a section of the statistics of a latency; more are rows behind the
// percentiles.
func latency(heading, label, metric string, more ...string) section {
	s := section{title: heading, fill: "-"}
	for _, statistic := range append([]string{"Mean", "Median", "P*"}, more...) {
		s.rows = append(s.rows, row{statistic + " " + label + " (ms):", metric + "." + strings.ToLower(statistic), hundredths, 1000})
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

// find is the row of a figure.
func (l layout) find(name string) (row, bool) {
	for _, s := range l {
		for _, r := range s.rows {
			if _, ok := starred(r.name, name); ok {
				return r, true
			}
		}
	}
	return row{}, false
}

// An entry is what stands in a row: a number as printed, or words.
type entry struct {
	name     string
	value    float64
	decimals int // -1: those of the row's format
	words    string
}

// entries are those of a table. Rows stand in the order of the layout, and those
// of one pattern in the order of the entries.
type entries []entry

func (e *entries) add(name string, printed float64) {
	*e = append(*e, entry{name: name, value: printed, decimals: -1})
}

func (e *entries) say(label, text string) { *e = append(*e, entry{name: label, words: text}) }

// write writes the table.
func (l layout) write(w io.Writer, all entries) error {
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
func (s section) heading() string {
	if s.fill == "" {
		return s.title
	}
	space := max(0, tableWidth-len(s.title))
	left := space / 2
	return strings.Repeat(s.fill, left) + s.title + strings.Repeat(s.fill, space-left)
}

func (s section) lines(all entries) (lines []string) {
	for _, r := range s.rows {
		for _, e := range all {
			if star, ok := starred(r.name, e.name); ok {
				lines = append(lines, r.line(star, e))
			}
		}
	}
	return lines
}

func (r row) line(star string, e entry) string {
	label := strings.Replace(r.label, "*", star, 1)
	width, value := valueWidth, e.words
	if r.format != words {
		decimals := e.decimals
		if decimals < 0 {
			decimals = r.format.decimals()
		}
		value = strings.ToLower(strconv.FormatFloat(e.value, 'f', decimals, 64)) // nan
	}
	if r.format == percent {
		width, value = 0, value+"%"
	}
	return fmt.Sprintf("%-*s %-*s", labelWidth, label, width, value)
}

// percentileName is 99 for 99.0 and 99.9 for 99.9.
func percentileName(p float64) string {
	if p == math.Trunc(p) {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return reprFloat(p)
}
