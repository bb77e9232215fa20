package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// ConformText writes how wrong clients are for a terminal. A single client has a
// row for each cell; of several, each has a column, and cells a row for each of
// the figures that matter most.
func ConformText(w io.Writer, reports []conform.Report) error {
	var t text
	c := newConformity(reports)
	for i, r := range reports {
		t.field("client", c.clients[i], r.Format, r.Started.Local().Format("2006-01-02 15:04:05"), placeOf(r.Machine))
		t.field("", startUp(r.StartUp))
	}
	t.WriteString("\n")
	if len(reports) == 1 {
		t.table(1, c.narrow())
	} else {
		t.table(2, c.rows(brief()))
	}
	t.WriteString("\n")
	for _, d := range c.definitions() {
		t.linef("%s", d)
	}
	for _, n := range c.notes() {
		t.linef("note: %s", n)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// ConformMarkdown writes every figure as Markdown: a row for each, a column for
// each client.
func ConformMarkdown(w io.Writer, reports []conform.Report) error {
	var t text
	c := newConformity(reports)
	for i, r := range reports {
		t.linef("* **%s**: `%s`, %s, %s, truth of pitot %s, %s", c.clients[i], strings.Join(r.Command, " "), r.Started.UTC().Format("2006-01-02"), placeOf(r.Machine), r.Pitot, startUp(r.StartUp))
	}
	t.WriteString("\n")
	t.markdown(2, c.rows(every()))
	t.WriteString("\n")
	for _, line := range slices.Concat(c.definitions(), c.notes()) {
		t.linef("* %s", line)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// ConformLine sums up one run of a cell.
func ConformLine(r conform.Result) string {
	if r.Failure != "" {
		return "FAILED: " + r.Failure
	}
	var parts []string
	for _, l := range columns() {
		if v := l.of([]conform.Result{r}); v != "" && l.name != "peak" && l.name != "answers" {
			parts = append(parts, strings.TrimSpace(l.name+" "+v))
		}
	}
	return strings.Join(parts, ", ")
}

func placeOf(m conform.Machine) string {
	where := fmt.Sprintf("%s, %d processors", m.OS, m.CPUs)
	if m.ClientCPU >= 0 {
		where += fmt.Sprintf(", the client on number %d alone", m.ClientCPU)
	}
	return where
}

func startUp(u conform.Usage) string {
	return fmt.Sprintf("start-up takes %s of CPU", duration(u.CPU.Seconds()))
}

// A conformity is what several clients made of the same cells.
type conformity struct {
	reports []conform.Report
	clients []string
	cells   []conform.Cell // in the order in which they were first met
}

func newConformity(reports []conform.Report) conformity {
	c := conformity{reports: reports}
	for _, r := range reports {
		c.clients = append(c.clients, nameOf(r.Client, c.clients))
		for _, result := range r.Results {
			if !slices.Contains(c.cells, result.Cell) {
				c.cells = append(c.cells, result.Cell)
			}
		}
	}
	return c
}

// nameOf is what to call a client among those that have names: two runs of one client
// are told apart by a number.
func nameOf(client string, taken []string) string {
	name := client
	for n := 2; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("%s (%d)", client, n)
	}
	return name
}

// results are the repeats of a cell by one client.
func (c conformity) results(client int, cell conform.Cell) (out []conform.Result) {
	for _, r := range c.reports[client].Results {
		if r.Cell == cell {
			out = append(out, r)
		}
	}
	return out
}

// rows are the table of every cell, without the lines that no client has.
func (c conformity) rows(lines []conformLine) [][]string {
	rows := [][]string{append([]string{"cell", "figure"}, c.clients...)}
	for _, cell := range c.cells {
		name := cell.Name
		for _, l := range lines {
			row := []string{name, l.name}
			some := false
			for i := range c.reports {
				v := l.of(c.results(i, cell))
				some = some || v != ""
				row = append(row, cmp.Or(v, "–"))
			}
			if some {
				rows = append(rows, row)
				name = ""
			}
		}
	}
	return rows
}

// narrow is the table of a single client, a row a cell, without the columns that
// no cell has.
func (c conformity) narrow() [][]string {
	rows := [][]string{{"cell"}}
	for _, cell := range c.cells {
		rows = append(rows, []string{cell.Name})
	}
	for _, l := range columns() {
		column := []string{l.name}
		some := false
		for _, cell := range c.cells {
			v := l.of(c.results(0, cell))
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

// A conformLine is one thing to tell of a cell: it sums up the repeats.
type conformLine struct {
	name string
	of   func([]conform.Result) string
}

// every are the lines that a cell can have.
func every() []conformLine {
	lines := []conformLine{{"outcome", outcome}}
	for _, m := range conform.Metrics() {
		for _, s := range conform.Statistics() {
			lines = append(lines, errorLine(m, s))
		}
	}
	return append(
		lines,
		conformLine{"rate offered", rateOf},
		conformLine{"answers", requestsOf},
		conformLine{"tokens", tokensOf},
		conformLine{"merged", mergedOf},
		conformLine{"exact gaps", func(of []conform.Result) string {
			return errorsOf(of, func(p conform.Precision) conform.Errors { return p.Gap })
		}},
		conformLine{"exact TTFT", func(of []conform.Result) string {
			return errorsOf(of, func(p conform.Precision) conform.Errors { return p.TTFT })
		}},
		conformLine{"gaps in bounds", heldOf},
		conformLine{"its bounds", boundsOf},
		conformLine{"its verdict", verdictOf},
		conformLine{"client CPU", busyOf},
		conformLine{"CPU a token", cpuOf},
		conformLine{"peak memory", memoryOf},
	)
}

// brief are the lines for a terminal, where the figures in the middle of a
// distribution are left out: a mean hides what is wrong.
func brief() []conformLine {
	return slices.DeleteFunc(every(), func(l conformLine) bool {
		return strings.HasSuffix(l.name, " mean") || strings.HasSuffix(l.name, " P90") || slices.Contains([]string{"TPOT median", "E2EL median"}, l.name)
	})
}

// columns are those of a narrow table.
func columns() []conformLine {
	return []conformLine{
		{"TTFT median", func(of []conform.Result) string { return absolute(of, conform.TTFT, conform.Median) }},
		{"TTFT P99", func(of []conform.Result) string { return absolute(of, conform.TTFT, conform.P99) }},
		{"ITL median", func(of []conform.Result) string { return relative(of, conform.ITL, conform.Median) }},
		{"ITL P99", func(of []conform.Result) string {
			return relative(of, conform.ITL, conform.P99) + voided(of, conform.ITL, conform.P99)
		}},
		{"ICL P99", func(of []conform.Result) string { return relative(of, conform.ICL, conform.P99) }},
		{"TPOT P99", func(of []conform.Result) string { return relative(of, conform.TPOT, conform.P99) }},
		{"E2EL P99", func(of []conform.Result) string { return relative(of, conform.E2EL, conform.P99) }},
		{"gap P99", gapOf},
		{"in bounds", heldOf},
		{"rate", rateOf},
		{"CPU", busyOf},
		{"CPU/token", cpuOf},
		{"peak", memoryOf},
		{"answers", requestsOf},
		{"its verdict", verdictOf},
		{"outcome", outcome},
	}
}

func figureOf(m conform.Metric, s conform.Statistic) string {
	name := string(s)
	if s == conform.P90 || s == conform.P99 {
		name = strings.ToUpper(name)
	}
	return strings.ToUpper(string(m)) + " " + name
}

// outcome is empty where every run gave figures and nothing stood in the way.
func outcome(of []conform.Result) string {
	var parts []string
	add := func(part string) {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, r := range of {
		if r.Failure != "" {
			add("FAILED")
		}
		if r.Server.Limit != "" {
			add("server late")
		}
		if r.Disturbed() {
			add("others busy")
		}
	}
	return strings.Join(parts, ", ")
}

// errorLine tells of an error in time, and as a share.
func errorLine(m conform.Metric, s conform.Statistic) conformLine {
	return conformLine{figureOf(m, s), func(of []conform.Result) string {
		text, share := absolute(of, m, s), relative(of, m, s)
		if share != "" {
			text += " (" + share + ")"
		}
		return text + voided(of, m, s)
	}}
}

// voided marks what the client itself says is not to be believed.
func voided(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok && f.Void {
		return " void"
	}
	return ""
}

// errorOf is the run with the middle error of the repeats.
func errorOf(of []conform.Result, m conform.Metric, s conform.Statistic) (f conform.Figure, ok bool) {
	var found []conform.Figure
	for _, r := range of {
		for _, f := range r.Figures {
			if f.Metric == m && f.Statistic == s {
				found = append(found, f)
			}
		}
	}
	if found == nil {
		return f, false
	}
	slices.SortFunc(found, func(a, b conform.Figure) int { return cmp.Compare(a.Error(), b.Error()) })
	return found[len(found)/2], true
}

func absolute(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok {
		return signed(f.Error())
	}
	return ""
}

func relative(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok {
		if share, ok := f.Relative(); ok {
			return percent(share)
		}
	}
	return ""
}

// definitions are what the clients mean by their words; those that mean the
// same stand together.
func (c conformity) definitions() (lines []string) {
	for _, m := range conform.Metrics() {
		var order []string
		who := map[string][]string{}
		for i, r := range c.reports {
			words := r.Definitions[m]
			if words == "" {
				continue
			}
			if who[words] == nil {
				order = append(order, words)
			}
			who[words] = append(who[words], c.clients[i])
		}
		for _, words := range order {
			lines = append(lines, fmt.Sprintf("%s of %s: %s", strings.ToUpper(string(m)), strings.Join(who[words], ", "), words))
		}
	}
	return lines
}

// notes are what is to be known of single runs.
func (c conformity) notes() (lines []string) {
	for _, cell := range c.cells {
		for i := range c.reports {
			for _, r := range c.results(i, cell) {
				where := fmt.Sprintf("%s, %s: ", c.clients[i], cell.Name)
				for _, n := range notesOf(r) {
					lines = append(lines, where+n)
				}
			}
		}
	}
	return slices.Compact(lines)
}

func notesOf(r conform.Result) (notes []string) {
	if r.Failure != "" {
		notes = append(notes, strings.Join(append([]string{r.Failure}, r.Stderr...), " | "))
	}
	if r.Server.Limit != "" {
		notes = append(notes, r.Server.Limit)
	}
	if r.Claim != nil && len(r.Claim.Reasons) > 0 {
		notes = append(notes, "it says of itself: "+strings.Join(r.Claim.Reasons, "; "))
	}
	return append(notes, r.Notes...)
}

// duration is a time to three digits, in the unit that suits it.
func duration(seconds float64) string {
	a := math.Abs(seconds)
	switch {
	case a >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case a >= 1e-3:
		return fmt.Sprintf("%.3g ms", 1e3*seconds)
	}
	return fmt.Sprintf("%.3g µs", 1e6*seconds)
}

// signed is a difference of times; less than 0.05 µs is none.
func signed(seconds float64) string {
	if math.Abs(seconds) < 5e-8 {
		return "0"
	}
	if seconds > 0 {
		return "+" + duration(seconds)
	}
	return duration(seconds)
}

// percent is a share with its sign, to two digits and at least a thousandth of
// a percent.
func percent(share float64) string {
	p := 100 * share
	switch a := math.Abs(p); {
	case a < 0.0005:
		return "0 %"
	case a < 0.095:
		return fmt.Sprintf("%+.3f %%", p)
	case a < 9.95:
		return fmt.Sprintf("%+.1f %%", p)
	}
	return fmt.Sprintf("%+.0f %%", p)
}

// table writes the columns of a terminal, all but the first names to the right.
func (t *text) table(names int, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, v := range row {
			widths[i] = max(widths[i], columnsOf(v))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, v := range row {
			if i < names {
				line.WriteString(padRight(v, widths[i]) + "  ")
			} else {
				line.WriteString(padLeft(v, widths[i]) + "  ")
			}
		}
		t.linef("%s", line.String())
	}
}

func (t *text) markdown(names int, rows [][]string) {
	rule := make([]string, len(rows[0]))
	for i := range rule {
		if rule[i] = "---"; i >= names {
			rule[i] = "--:"
		}
	}
	for i, row := range slices.Insert(rows, 1, rule) {
		if i == 1 {
			t.linef("|%s|", strings.Join(row, "|"))
			continue
		}
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		t.linef("| %s |", strings.Join(row, " | "))
	}
}
