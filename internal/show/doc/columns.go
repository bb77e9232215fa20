package doc

import (
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Columns writes rows with their columns aligned, by the width that characters have
// on a terminal: Chinese ones are two wide.
func Columns(w io.Writer, rows [][]string) error {
	var t terminal
	for _, row := range rows {
		for i := range row {
			row[i] = plain.Line(row[i])
		}
	}
	align(rows, nil, func(int) bool { return false })
	for _, row := range rows {
		t.line(strings.Join(row, "  "))
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// align fills the cells of rows up to the width of their columns, at least that given for each. Those
// of some columns end at the right.
func align(rows [][]string, least []int, right func(column int) bool) {
	widths := slices.Clone(least)
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = PadRight(cell, widths[i]); right(i) {
				row[i] = PadLeft(cell, widths[i])
			}
		}
	}
}

// PadRight fills s up to n columns.
func PadRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Width(s))) }

// PadLeft is PadRight with the blanks ahead.
func PadLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-Width(s))) + s }

// Cut is the beginning of s in n columns.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	head, _ := split(s, n-1)
	return strings.TrimRight(head, " ") + "…"
}

// Wrap breaks s into lines of n columns, 0 for no limit: where there may be a break,
// which in Chinese is nearly everywhere, and if need be inside a word.
func Wrap(s string, n int) []string {
	if n <= 0 || Width(s) <= n {
		return []string{s}
	}
	var lines []string
	now, s := "", unbroken.Replace(s)
	for state := -1; s != ""; {
		var segment string
		segment, s, _, state = uniseg.FirstLineSegmentInString(s, state)
		if Width(strings.TrimRight(now+segment, " ")) <= n {
			now += segment
			continue
		}
		if now != "" {
			lines = append(lines, strings.TrimRight(now, " "))
		}
		for Width(strings.TrimRight(segment, " ")) > n {
			var head string
			head, segment = split(segment, n)
			lines = append(lines, head)
		}
		now = segment
	}
	if now = strings.TrimRight(now, " "); now != "" {
		lines = append(lines, now)
	}
	for i := range lines {
		lines[i] = rebroken.Replace(lines[i])
	}
	return lines
}

// Rows is how many rows a terminal of n columns shows s in.
func Rows(s string, n int) int {
	rows := 1
	for n > 0 && Width(s) > n {
		_, s = split(s, n)
		rows++
	}
	return rows
}

// Width is how many columns of a terminal s takes: two for each Chinese character and
// each emoji.
func Width(s string) int { return uniseg.StringWidth(s) }

// A number stays next to its sign, and req/s in one piece.
var (
	unbroken = strings.NewReplacer(" %", "\u00a0%", "/ ", "/ ", "/", "/\u2060")
	rebroken = strings.NewReplacer("\u00a0%", " %", "/\u2060", "/")
)

// split is as much of s as n columns hold, at least one character, and the rest.
func split(s string, n int) (head, rest string) {
	state, rest := -1, s
	for rest != "" {
		cluster, after, width, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if n -= width; n < 0 && head != "" {
			break
		}
		head, rest, state = head+cluster, after, next
	}
	return head, rest
}
