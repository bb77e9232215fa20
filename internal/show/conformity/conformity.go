// Package conformity shows how wrong clients are, from the results of package conform:
// tables for a terminal and as Markdown, and a plot. A single client has a row for each
// cell of loads; of several, each has a column, and a cell has a row for each figure.
package conformity

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Text writes how wrong clients are for a terminal, of several those figures that matter
// most.
func Text(w io.Writer, reports []conform.Report, l *words.Language) error {
	t := newTable(reports, l)
	var head, foot doc.List
	for i, r := range reports {
		when := r.Started.Local().Format("2006-01-02 15:04:05")
		head = append(head, doc.Field(t.Word("conformity.client"), t.clients[i], r.Format, when, t.place(r.Machine)),
			doc.Field("", t.startUp(r.StartUp)))
	}
	grid := doc.Grid{Align: "lr"}
	if len(reports) == 1 {
		grid.Rows = t.narrow()
	} else {
		grid = t.grid(t.lines(true))
	}
	foot = t.definitions()
	for _, n := range t.notes() {
		foot = append(foot, t.Word("report.note", "note", n))
	}
	return doc.Text(w, t.document(head, grid, foot), 0, false)
}

// Markdown writes every figure: a row for each, a column for each client.
func Markdown(w io.Writer, reports []conform.Report, l *words.Language) error {
	t := newTable(reports, l)
	var sources doc.List
	for i, r := range reports {
		when := r.Started.UTC().Format("2006-01-02")
		sources = append(sources, t.Word("conformity.source", "client", doc.Strong(t.clients[i]), "command",
			doc.Code(strings.Join(r.Command, " ")), "when", when,
			"place", t.place(r.Machine), "pitot", r.Pitot, "start", t.startUp(r.StartUp)))
	}
	return doc.Markdown(w, t.document(sources, t.grid(t.lines(false)),
		doc.List(slices.Concat(t.definitions(), t.notes()))), 1)
}

func (t *table) document(items ...doc.Item) doc.Document {
	return doc.Document{Lang: t.Language, Sections: []doc.Section{{Items: items}}}
}

// Line sums up one run of a cell.
func Line(r conform.Result, l *words.Language) string {
	if r.Failure != "" {
		return l.Word("conformity.failure", "why", r.Failure)
	}
	t := newTable(nil, l)
	var parts []string
	for _, c := range t.columns() {
		if v := c.of([]conform.Result{r}); v != "" && !c.aside {
			parts = append(parts, strings.TrimSpace(c.name+" "+v))
		}
	}
	return l.Join("clause", parts...)
}

func newTable(reports []conform.Report, l *words.Language) *table {
	t := &table{Language: l, reports: reports, clients: clientsOf(reports)}
	for _, r := range reports {
		for _, result := range r.Results {
			if !slices.Contains(t.cells, result.Cell) {
				t.cells = append(t.cells, result.Cell)
			}
		}
	}
	return t
}

// A table is what several clients made of the same cells.
type table struct {
	*words.Language
	reports []conform.Report
	clients []string
	cells   []conform.Cell // in the order in which they were first met
}

// clientsOf are the names of clients: several runs of one client are numbered.
func clientsOf(reports []conform.Report) (names []string) {
	for _, r := range reports {
		name := r.Client
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s (%d)", r.Client, n)
		}
		names = append(names, name)
	}
	return names
}

func (t *table) place(m conform.Machine) string {
	return t.Word("conformity.place", "os", m.OS, "processors", m.CPUs, "pinned", m.ClientCPU >= 0, "processor",
		m.ClientCPU)
}

func (t *table) startUp(u conform.Usage) string {
	return t.Word("conformity.start-up", "cpu", duration(u.CPU.Seconds()))
}

// grid is the table of every cell, without the lines that no client has.
func (t *table) grid(lines []line) doc.Grid {
	rows := [][]string{append([]string{t.Word("conformity.cell"), t.Word("conformity.figure")}, t.clients...)}
	for _, cell := range t.cells {
		name := cell.Name
		for _, l := range lines {
			row := []string{name, l.name}
			some := false
			for i := range t.reports {
				v := l.of(t.results(i, cell))
				some = some || v != ""
				row = append(row, cmp.Or(v, "–"))
			}
			if some {
				rows = append(rows, row)
				name = ""
			}
		}
	}
	return doc.Grid{Align: "llr", Rows: rows}
}

// definitions are what the clients mean by their metrics; those that mean the same stand
// together.
func (t *table) definitions() (lines []string) {
	for _, m := range conform.Metrics() {
		var groups doc.Groups
		for i, r := range t.reports {
			if text := t.Say(r.Definitions[m]); text != "" {
				groups.Add(text, t.clients[i])
			}
		}
		for _, g := range groups {
			lines = append(lines, t.Word("conformity.definition", "metric", strings.ToUpper(string(m)), "clients", g.Names,
				"says", g.Text))
		}
	}
	return lines
}

// notes are the notes on single runs.
func (t *table) notes() (lines []string) {
	for _, cell := range t.cells {
		for i := range t.reports {
			for _, r := range t.results(i, cell) {
				for _, n := range t.notesOf(r) {
					lines = append(lines, t.Word("conformity.of-cell", "client", t.clients[i], "cell", cell.Name, "says", n))
				}
			}
		}
	}
	return slices.Compact(lines)
}

func (t *table) notesOf(r conform.Result) (notes []string) {
	if r.Failure != "" {
		notes = append(notes, strings.Join(append([]string{r.Failure}, r.Stderr...), " | "))
	}
	say := func(m plan.Message) { notes = append(notes, t.Say(m)) }
	if !r.Server.Limit.IsZero() {
		say(r.Server.Limit)
	}
	if r.Claim != nil && len(r.Claim.Reasons) > 0 {
		say(plan.Msg("conformity.of-itself", "reasons", r.Claim.Reasons))
	}
	for _, n := range r.Notes {
		say(n)
	}
	return notes
}

// narrow is the table of a single client, a row a cell, without the columns that
// no cell has.
func (t *table) narrow() [][]string {
	rows := [][]string{{t.Word("conformity.cell")}}
	for _, cell := range t.cells {
		rows = append(rows, []string{cell.Name})
	}
	for _, l := range t.columns() {
		column := []string{l.name}
		some := false
		for _, cell := range t.cells {
			v := l.of(t.results(0, cell))
			some = some || v != ""
			column = append(column, cmp.Or(v, "–"))
		}
		for i := range rows {
			if some {
				rows[i] = append(rows[i], column[i])
			}
		}
	}
	return rows
}

// results are the repeats of a cell by one client.
func (t *table) results(client int, cell conform.Cell) (out []conform.Result) {
	for _, r := range t.reports[client].Results {
		if r.Cell == cell {
			out = append(out, r)
		}
	}
	return out
}
