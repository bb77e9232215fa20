package runs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// List writes runs for people, of how many there are in all, with some figures of each.
func List(w io.Writer, all []Run, figures []string, total int, l *words.Language) error {
	if total == 0 {
		_, err := fmt.Fprintln(w, "no run matches")
		return err
	}
	titles := []string{"RUN", "NAME", "KIND", "STATUS", "VERDICT", "REQUESTS", "FAILED"}
	for _, name := range figures {
		titles = append(titles, report.FigureTitle(name))
	}
	titles = append(titles, "MODEL", "LOAD")
	tagged := slices.ContainsFunc(all, func(r Run) bool { return len(r.Tags) > 0 })
	if tagged {
		titles = append(titles, "TAGS")
	}
	rows := [][]string{titles}
	for _, r := range all {
		line := r.line(figures, l)
		if tagged {
			line = append(line, strings.Join(r.Tags, ", "))
		}
		rows = append(rows, line)
	}
	if more := total - len(all); more > 0 {
		rows = append(rows, []string{fmt.Sprintf("… %d more (-n 0 shows all)", more)})
	}
	return doc.Columns(w, rows)
}

// line is the row of a run.
func (r Run) line(figures []string, l *words.Language) []string {
	records, failed := r.counts()
	row := []string{r.ID, r.Name, string(r.Kind), string(r.Status), cmp.Or(string(r.Validity), "–"), cmp.Or(cell(records), "–"), cmp.Or(cell(failed), "–")}
	for _, name := range figures {
		shown := "–"
		if i := slices.IndexFunc(r.Figures, func(f trace.Figure) bool { return f.Name == name }); i >= 0 {
			shown = report.Figure(name, r.Figures[i].Value)
		}
		row = append(row, shown)
	}
	return append(row, r.Model, report.Load(r.Plan(), l))
}
