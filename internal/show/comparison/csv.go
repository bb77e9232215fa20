package comparison

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// CSV writes a comparison as a table for programs and spreadsheets: a line for
// each workload, metric and variant, numbers in seconds, tokens and requests, changes
// as shares, and nothing where there is no value. Text that a spreadsheet would take
// for a formula has an apostrophe before it. Its words are English.
func CSV(w io.Writer, c compare.Comparison) error {
	out := csv.NewWriter(w)
	head := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		head[i] = column.name
	}
	lines := [][]string{head}
	for _, load := range c.Workloads {
		for _, r := range load.Rows {
			for i, v := range load.Variants {
				if i >= len(r.Cells) {
					break
				}
				lines = append(lines, csvLine(csvRecord{load, r, v, r.Cells[i], r.Cells[i].Change}))
			}
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func csvLine(r csvRecord) []string {
	line := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		switch {
		case column.text != nil:
			line[i] = inert(column.text(r))
		case column.value != nil:
			line[i] = number(column.value(r))
		case r.change != nil:
			line[i] = column.change(*r.change)
		}
	}
	return line
}

// csvColumns are the columns: those of texts first, then those of values, then those
// of the change, which a baseline does not have.
var csvColumns = []struct {
	name   string
	text   func(csvRecord) string
	value  func(csvRecord) float64
	change func(compare.Change) string
}{
	{name: "workload", text: func(r csvRecord) string { return r.load.Name }},
	{name: "settings", text: func(r csvRecord) string { return settingsText(r.load.Settings) }},
	{name: "metric", text: func(r csvRecord) string { return r.row.Quantity.Name }},
	{name: "title", text: func(r csvRecord) string { return english.Say(r.row.Quantity.Title()) }},
	{name: "unit", text: func(r csvRecord) string { return string(r.row.Quantity.Unit) }},
	{name: "better", text: func(r csvRecord) string { return string(r.row.Quantity.Better) }},
	{name: "definition", text: func(r csvRecord) string { return r.row.Definition.ID }},
	{name: "variant", text: func(r csvRecord) string { return r.variant.Name }},
	{name: "baseline", text: func(r csvRecord) string { return r.load.Variants[0].Name }},
	{name: "runs", text: func(r csvRecord) string { return strconv.Itoa(len(r.variant.Runs)) }},
	{name: "values", text: func(r csvRecord) string { return valuesText(r.cell.Values) }},
	{name: "center", value: func(r csvRecord) float64 { return r.center() }},
	{name: "low", value: func(r csvRecord) float64 { return known(r.cell.Interval).Low }},
	{name: "high", value: func(r csvRecord) float64 { return known(r.cell.Interval).High }},
	{name: "level", value: func(r csvRecord) float64 { return known(r.cell.Interval).Level }},
	{name: "step", value: func(r csvRecord) float64 { return unlessZero(r.cell.Step) }},
	{name: "change", change: func(c compare.Change) string { return number(c.Relative) }},
	{name: "change_low", change: func(c compare.Change) string { return number(known(c.Interval).Low) }},
	{name: "change_high", change: func(c compare.Change) string { return number(known(c.Interval).High) }},
	{name: "change_level", change: func(c compare.Change) string { return number(known(c.Interval).Level) }},
	{name: "change_method", change: func(c compare.Change) string { return inert(english.Say(known(c.Interval).Method)) }},
	{name: "basis", change: func(c compare.Change) string { return string(c.Basis) }},
	{name: "verdict", change: func(c compare.Change) string { return string(c.Verdict) }},
	{name: "bound", change: func(c compare.Change) string { return number(unlessZero(c.Bound)) }},
	{name: "apart", change: func(c compare.Change) string { return strconv.FormatBool(c.Apart) }},
	{name: "test", change: func(c compare.Change) string { return inert(english.Say(c.Test)) }},
	{name: "p", change: func(c compare.Change) string { return number(valueOf(c.P)) }},
	{name: "p_adjusted", change: func(c compare.Change) string { return number(valueOf(c.Adjusted)) }},
	{name: "noise", change: func(c compare.Change) string { return number(unlessZero(c.Noise)) }},
	{name: "more_runs", change: func(c compare.Change) string { return strconv.Itoa(c.More) }},
	{name: "effective", change: func(c compare.Change) string { return number(unlessZero(c.Effective)) }},
}

// A csvRecord is what a line tells of.
type csvRecord struct {
	load    compare.Workload
	row     compare.Row
	variant compare.Variant
	cell    compare.Cell
	change  *compare.Change
}

func settingsText(settings []compare.Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.Name + "=" + english.Say(s.Value)
	}
	return strings.Join(parts, " ")
}

// english is the language of programs.
var english = words.In(words.Default)

func valuesText(values []float64) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = number(v)
	}
	return strings.Join(parts, " ")
}

// number is v in full, nothing if there is none.
func number(v float64) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (r csvRecord) center() float64 {
	if len(r.cell.Values) == 0 {
		return math.NaN()
	}
	return r.cell.Center
}

// known is an interval, of numbers that are none if there is none.
func known(i *compare.Interval) compare.Interval {
	if i == nil {
		return compare.Interval{Low: math.NaN(), High: math.NaN(), Level: math.NaN()}
	}
	return *i
}

func unlessZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// inert is text that no spreadsheet computes.
func inert(s string) string {
	if s = text.Clean(s); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func valueOf(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
