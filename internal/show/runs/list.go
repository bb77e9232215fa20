// Package runs writes stored runs: a list for people, and for programs a row for each run or
// for each of its requests.
//
// Units are those of storage, seconds and tokens, so that nobody has to guess them; latencies
// and figures are by Pitot's definitions.
package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// List writes runs for people, of how many there are in all, with some figures of each.
func List(w io.Writer, all []Run, figures []string, total int, l *words.Language) error {
	if total == 0 {
		_, err := fmt.Fprintln(w, l.Word("listed.none"))
		return err
	}
	titles := []string{l.Word("listed.run"), l.Word("listed.name"), l.Word("listed.kind"), l.Word("listed.status"), l.Word("listed.verdict"), l.Word("listed.requests"), l.Word("listed.failed")}
	for _, name := range figures {
		titles = append(titles, report.FigureTitle(name))
	}
	titles = append(titles, l.Word("listed.model"), l.Word("listed.load"))
	tagged := slices.ContainsFunc(all, func(r Run) bool { return len(r.Tags) > 0 })
	if tagged {
		titles = append(titles, l.Word("listed.tags"))
	}
	rows := [][]string{titles}
	for _, r := range all {
		line := r.line(figures, l)
		if tagged {
			line = append(line, strings.Join(r.Tags, ", "))
		}
		rows = append(rows, line)
	}
	err := doc.Columns(w, rows)
	if err == nil && total > len(all) {
		_, err = fmt.Fprintln(w, l.Word("listed.more", "shown", len(all), "of", total))
	}
	return err
}

func (r Run) line(figures []string, l *words.Language) []string {
	records, failed := r.counts()
	row := []string{r.ID, r.Name, l.Word(plan.Code("kind." + string(r.Kind))), l.Word(plan.Code("status." + string(r.Status))), report.Judged(r.Validity, l), cmp.Or(cell(records), "–"), cmp.Or(cell(failed), "–")}
	for _, name := range figures {
		shown := "–"
		if i := slices.IndexFunc(r.Figures, func(f trace.ReportedFigure) bool { return f.Name == name }); i >= 0 {
			shown = report.Figure(name, r.Figures[i].Value)
		}
		row = append(row, shown)
	}
	return append(row, r.Model, report.Load(r.Plan(), l))
}

// A Format is a form of file.
type Format string

// The formats.
const (
	JSON    Format = "json"
	JSONL   Format = "jsonl"
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// endings are those of the names of files.
var endings = map[string]Format{".json": JSON, ".jsonl": JSONL, ".ndjson": JSONL, ".csv": CSV, ".parquet": Parquet, ".pq": Parquet}

// FormatOf is the format that the name of a file tells, empty if it tells none.
func FormatOf(name string) Format { return endings[strings.ToLower(filepath.Ext(name))] }

// Holds reports whether the records of several runs can stand in one file.
func (f Format) Holds() bool { return f == CSV || f == Parquet }

// Text reports whether a terminal can show it.
func (f Format) Text() bool { return f == JSON || f == JSONL }

func validity(run trace.Run) string {
	if run.Verdict == nil {
		return ""
	}
	return string(run.Verdict.Validity)
}

// day is what a clock without changes has.
const day = 24 * time.Hour

// Since reads from when on runs are wanted: a date, an instant, or a time before now, in days
// too. The zero time stands for all of them.
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	ago, err := time.ParseDuration(text)
	if number, ok := strings.CutSuffix(text, "d"); ok {
		var days int
		days, err = strconv.Atoi(number)
		if ago = time.Duration(days) * day; ago/day != time.Duration(days) {
			ago = -1
		}
	}
	if err != nil || ago < 0 {
		return time.Time{}, errors.New("must be a date such as 2026-01-31, or a time until now such as 24h or 7d")
	}
	return now.Add(-ago), nil
}

// longestValue is how many columns a value takes.
const longestValue = 60

// Differences prints what differs between two runs, side by side, the main ones first; without all it counts the
// variables that never matter.
func Differences(w io.Writer, pair [2]trace.Run, found []compare.Difference, all bool, l *words.Language) error {
	rows := [][]string{{"", named(pair[0]), named(pair[1])}}
	main, idle := false, 0
	for _, d := range found {
		if d.Idle && !all {
			if known := !d.Values[0].IsZero() && !d.Values[1].IsZero(); known {
				idle++
			}
			continue
		}
		if main && !d.Main {
			rows = append(rows, []string{""})
		}
		main = d.Main
		row := []string{d.Of + "." + d.Name}
		if d.Of == "plan" {
			row[0] = d.Name
		}
		for _, v := range d.Values {
			row = append(row, doc.Cut(text(v, l), longestValue))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		rows = [][]string{{l.Word("differences.none")}}
	}
	if err := doc.Columns(w, rows); err != nil {
		return err
	}
	notes := unknownSides(pair, l)
	if idle > 0 {
		notes = append([]string{l.Word("differences.idle", "n", idle)}, notes...)
	}
	for _, note := range notes {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

// unknownSides says which environments are not known of one of two runs: that of the server or of the client, or one
// that the other run has.
func unknownSides(pair [2]trace.Run, l *words.Language) (notes []string) {
	sides := []string{"server", "client"}
	for _, r := range pair {
		for side := range r.Env.Sides {
			if !slices.Contains(sides, side) {
				sides = append(sides, side)
			}
		}
	}
	for _, side := range sides {
		var without []string
		for _, r := range pair {
			if r.Env.Side(side) == nil {
				without = append(without, named(r))
			}
		}
		switch {
		case without == nil:
		case side == "server":
			notes = append(notes, l.Word("differences.no-server", "runs", without))
		case side == "client":
			notes = append(notes, l.Word("differences.no-client", "runs", without))
		default:
			notes = append(notes, l.Word("differences.no-role", "runs", without, "role", side))
		}
	}
	return notes
}

func text(v plan.Message, l *words.Language) string {
	if v.IsZero() {
		v = plan.Msg("value.unknown")
	}
	return l.Say(v)
}

func named(r trace.Run) string { return cmp.Or(r.Name, r.ID) }

// DifferencesJSON writes them as an object.
func DifferencesJSON(w io.Writer, pair [2]trace.Run, found []compare.Difference) error {
	if found == nil {
		found = []compare.Difference{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Runs        [2]string            `json:"runs"`
		Differences []compare.Difference `json:"differences"`
	}{[2]string{pair[0].ID, pair[1].ID}, found})
}
