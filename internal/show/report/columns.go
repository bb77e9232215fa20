package report

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// Columns writes rows with their columns aligned, by the width that characters have
// on a terminal: Chinese ones are two wide.
func Columns(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columnsOf(text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, text := range row {
			if i < len(row)-1 {
				text = padRight(text, widths[i]+2)
			}
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columnsOf is how many columns of a terminal s takes: two for each Chinese
// character and each picture.
func columnsOf(s string) int { return uniseg.StringWidth(s) }

func padRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columnsOf(s))) }

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-columnsOf(s))) + s }
