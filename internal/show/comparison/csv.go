package comparison

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
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
			for i, v := range load.Variants[:min(len(load.Variants), len(r.Cells))] {
				lines = append(lines, csvRecord{load, r, v, r.Cells[i], r.Cells[i].Change}.line())
			}
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// csvColumns are the columns: those of the values first, then those of the change, which
// a baseline does not have.
var csvColumns = []struct {
	name   string
	of     func(csvRecord) any
	change func(compare.Change) any
}{
	{name: "workload", of: func(r csvRecord) any { return r.load.Name }},
	{name: "settings", of: func(r csvRecord) any { return r.load.Settings }},
	{name: "metric", of: func(r csvRecord) any { return r.row.Quantity.Name }},
	{name: "title", of: func(r csvRecord) any { return r.row.Quantity.Title() }},
	{name: "unit", of: func(r csvRecord) any { return r.row.Quantity.Unit }},
	{name: "better", of: func(r csvRecord) any { return r.row.Quantity.Better }},
	{name: "definition", of: func(r csvRecord) any { return r.row.Definition.ID }},
	{name: "variant", of: func(r csvRecord) any { return r.variant.Name }},
	{name: "baseline", of: func(r csvRecord) any { return r.load.Variants[0].Name }},
	{name: "kind", of: func(r csvRecord) any { return kindOf(r.variant) }},
	{name: "baseline_kind", of: func(r csvRecord) any { return kindOf(r.load.Variants[0]) }},
	{name: "runs", of: func(r csvRecord) any { return len(r.variant.Runs) }},
	{name: "values", of: func(r csvRecord) any { return r.cell.Values }},
	{name: "center", of: func(r csvRecord) any { return r.center() }},
	{name: "low", of: func(r csvRecord) any { return intervalOf(r.cell.Interval).Low }},
	{name: "high", of: func(r csvRecord) any { return intervalOf(r.cell.Interval).High }},
	{name: "level", of: func(r csvRecord) any { return intervalOf(r.cell.Interval).Level }},
	{name: "step", of: func(r csvRecord) any { return unlessZero(r.cell.Step) }},
	{name: "change", change: func(c compare.Change) any { return c.Relative }},
	{name: "change_low", change: func(c compare.Change) any { return intervalOf(c.Interval).Low }},
	{name: "change_high", change: func(c compare.Change) any { return intervalOf(c.Interval).High }},
	{name: "change_level", change: func(c compare.Change) any { return intervalOf(c.Interval).Level }},
	{name: "change_method", change: func(c compare.Change) any { return intervalOf(c.Interval).Method }},
	{name: "basis", change: func(c compare.Change) any { return c.Basis }},
	{name: "verdict", change: func(c compare.Change) any { return c.Verdict }},
	{name: "bound", change: func(c compare.Change) any { return unlessZero(c.Bound) }},
	{name: "apart", change: func(c compare.Change) any { return c.ExcludesZero }},
	{name: "test", change: func(c compare.Change) any { return c.Test }},
	{name: "p", change: func(c compare.Change) any { return c.P }},
	{name: "p_adjusted", change: func(c compare.Change) any { return c.Adjusted }},
	{name: "noise", change: func(c compare.Change) any { return unlessZero(c.Noise) }},
	{name: "more_runs", change: func(c compare.Change) any { return c.More }},
	{name: "effective", change: func(c compare.Change) any { return unlessZero(c.Effective) }},
	{name: "plain", change: func(c compare.Change) any { return c.Plain }},
	{name: "open", change: func(c compare.Change) any { return string(c.Open.Code) }},
	{name: "order", of: func(r csvRecord) any { return codeOf(r.variant.Order) }},
}

// kindOf is what the runs of a variant are: imported ones were measured, too.
func kindOf(v compare.Variant) trace.RunKind {
	if v.Simulated {
		return trace.Simulated
	}
	return trace.Measured
}

// A csvRecord is what a line tells of.
type csvRecord struct {
	load    compare.Workload
	row     compare.Row
	variant compare.Variant
	cell    compare.Cell
	change  *compare.Change
}

func (r csvRecord) line() []string {
	line := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		switch {
		case column.of != nil:
			line[i] = csvText(column.of(r))
		case r.change != nil:
			line[i] = csvText(column.change(*r.change))
		}
	}
	return line
}

// csvText is a number in full, and what others wrote such that no spreadsheet computes it.
func csvText(v any) string {
	switch v := v.(type) {
	case float64:
		return number(v)
	case *float64:
		if v == nil {
			return ""
		}
		return number(*v)
	case []float64:
		parts := make([]string, len(v))
		for i, value := range v {
			parts[i] = number(value)
		}
		return inert(strings.Join(parts, " "))
	case []compare.Setting:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = s.Name + "=" + english().Say(s.Value)
		}
		return inert(strings.Join(parts, " "))
	case plan.Message:
		return inert(english().Say(v))
	}
	return inert(fmt.Sprint(v))
}

// english is the language of programs.
func english() *words.Language { return words.In(words.Default) }

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

// intervalOf is an interval, of numbers that are none if there is none.
func intervalOf(i *compare.Interval) compare.Interval {
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
	if s = doc.Clean(s); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
