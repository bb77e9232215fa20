package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Match is a row of a printed table, found in a line of text.
type Match struct {
	Label   string // as the tool prints it, without blanks around it
	Value   string // what stands behind it, up to a gap
	Remark  string // what follows the value
	Start   int    // where the label begins: what stands ahead of it is not the tool's
	Aligned bool   // the value is in the column where a tool puts it
	Padded  bool   // blanks behind the value fill its column
}

// A Reader reads the tables of tools.
type Reader struct {
	tools    []Tool
	rows     map[string][]knownRow // by the label without the blanks around it
	patterns []string              // labels with a star
	ends     map[string]bool       // of labels
}

// A knownRow is a row of some layout.
type knownRow struct {
	tool   string
	indent int // blanks that its label begins with
	Row
}

// NewReader makes a reader. Of tools that a table may be of, it is the first's.
func NewReader(tools ...Tool) *Reader {
	r := &Reader{tools: tools, rows: map[string][]knownRow{}, ends: map[string]bool{}}
	for _, t := range tools {
		for _, form := range t.Forms {
			for _, s := range t.Layout(form) {
				for _, row := range s.Rows {
					r.add(t.Name, row)
				}
			}
		}
	}
	return r
}

func (r *Reader) add(tool string, row Row) {
	label := strings.TrimSpace(row.label)
	if r.rows[label] == nil && strings.Contains(label, "*") {
		r.patterns = append(r.patterns, label)
	}
	r.ends[label[max(0, len(label)-labelTail):]] = true
	if k := (knownRow{tool, len(row.label) - len(label), row}); !slices.Contains(r.rows[label], k) {
		r.rows[label] = append(r.rows[label], k)
	}
}

// lookup are the rows that a label can be of, with what its star stands for.
func (r *Reader) lookup(label string) (rows []knownRow, star string) {
	if rows := r.rows[label]; rows != nil && !strings.Contains(label, "*") {
		return rows, ""
	}
	for _, p := range r.patterns {
		if label == "" || label[0] != p[0] {
			continue
		}
		star, ok := starred(p, label)
		if !ok || strings.HasPrefix(p, "P") && !tableIsNumber(star) { // a percentile or a position
			continue
		}
		return r.rows[p], star
	}
	return nil, ""
}

// isNumber: digits, of which some may stand behind a point.
func tableIsNumber(s string) bool {
	before, after, point := strings.Cut(s, ".")
	digits := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	return digits(before) && (!point || digits(after)) && len(s) <= 12
}

// endsLabel reports whether a label can end with that colon: a quick no for most of
// a log.
func (r *Reader) endsLabel(line string, end int) bool {
	if end < 2 {
		return false
	}
	before := line[max(0, end-longestLabel):end]
	switch c := line[end-2]; {
	case c >= '0' && c <= '9':
		return strings.Contains(before, "Position ")
	case c == ')' && strings.Contains(before, "Storage ("):
		return true
	}
	return r.ends[line[max(0, end-labelTail):end]]
}

// labelTail is how much of a label's end is looked at.
const labelTail = 5

// longestLabel is more than any label has, of a storage with a name too.
const longestLabel = 64

// Find finds the row that a line holds, whatever a log put ahead of it.
func (r *Reader) Find(line string) (Match, bool) {
	for from := 0; ; {
		i := strings.IndexByte(line[from:], ':')
		if i < 0 {
			return Match{}, false
		}
		end := from + i + 1
		from = end
		if end < len(line) && !isBlank(line[end:]) || !r.endsLabel(line, end) {
			continue
		}
		if start, rows := r.labelBefore(line, end); rows != nil {
			return cut(line, start, end, rows[0].indent), true
		}
	}
}

func isBlank(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// labelBefore finds the longest known label that ends at end, and the rows that it can
// be of.
func (r *Reader) labelBefore(line string, end int) (start int, rows []knownRow) {
	for i := max(0, end-longestLabel); i < end; i++ {
		if i > 0 && !utf8.RuneStart(line[i]) || isBlank(line[i:]) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(line[:i]); i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		if rows, _ := r.lookup(line[i:end]); rows != nil {
			return i, rows
		}
	}
	return 0, nil
}

// cut splits a line with a label from start to end.
func cut(line string, start, end, indent int) Match {
	m := Match{Label: line[start:end], Start: start}
	rest := strings.TrimLeftFunc(line[end:], unicode.IsSpace)
	column := utf8.RuneCountInString(line[start:]) - utf8.RuneCountInString(rest)
	width := max(labelWidth, end-start+indent)
	m.Aligned = column == width+1-indent
	m.Value = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		m.Value = rest[:i]
		if strings.HasPrefix(rest, "not set") { // the only value of two words
			m.Value = "not set"
		}
	}
	behind := rest[len(m.Value):]
	m.Remark = strings.TrimSpace(behind)
	m.Padded = behind != "" && m.Remark == "" && len(m.Value)+len(behind) >= valueWidth
	return m
}

// Short reports whether the tool fills up the column behind the value, so that the
// line ends in blanks.
func (m Match) Short() bool { return len(m.Value) < valueWidth && !strings.HasSuffix(m.Value, "%") }

// A TableReading is what the rows of a printed table say.
type TableReading struct {
	Tool, Form string
	Figures    []trace.ReportedFigure
	Setup      map[string]string // settings, by the label without its colon
	Doubts     []Doubt
	Missing    []string // labels of rows that every such table has

	known int // labels that could be read
}

// A Doubt is a row that could not be read.
type Doubt struct {
	Row    int // index
	Reason string
}

// Has reports whether a figure of the table has a name that begins with one of names.
func (r *TableReading) Has(names ...string) bool {
	return slices.ContainsFunc(r.Figures, func(f trace.ReportedFigure) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(f.Name, n) })
	})
}

// Read reads the rows of one table, as that of the tool that knows the most of them.
func (r *Reader) Read(rows []Match) (best TableReading) {
	for i, t := range r.tools {
		if out := r.readAs(t, rows); i == 0 || out.known > best.known {
			best = out
		}
	}
	best.reportMissing(rows)
	return best
}

func (r *Reader) readAs(t Tool, rows []Match) TableReading {
	out := TableReading{Tool: t.Name, Setup: map[string]string{}}
	labels, seen := map[string]bool{}, map[string]bool{}
	for i, row := range rows {
		if err := r.read(&out, row, seen); err != nil {
			out.Doubts = append(out.Doubts, Doubt{i, err.Error()})
		} else {
			labels[row.Label] = true
		}
	}
	out.known, out.Form = len(labels), t.Form(&out, rows)
	return out
}

func (r *Reader) read(into *TableReading, row Match, seen map[string]bool) error {
	all, star := r.lookup(row.Label)
	isShare := strings.HasSuffix(row.Value, "%")
	i := slices.IndexFunc(all, func(k knownRow) bool {
		return k.tool == into.Tool && isShare == (k.format == share)
	})
	switch {
	case i < 0 && slices.ContainsFunc(all, func(k knownRow) bool { return k.tool == into.Tool }):
		return fmt.Errorf("%s %q is not a number", row.Label, row.Value)
	case i >= 0 && row.Value == "":
		return fmt.Errorf("%s has no value", row.Label)
	case i < 0:
		return fmt.Errorf("%s is no row of a table of %s", row.Label, into.Tool)
	}
	k := all[i]
	name := strings.Replace(k.name, "*", star, 1)
	if seen[name] {
		return fmt.Errorf("%s stands twice in the table; the first value is kept", row.Label)
	}
	if k.format == words {
		seen[name], into.Setup[strings.TrimSuffix(name, ":")] = true, row.Value
		return nil
	}
	f, err := k.figure(name, strings.TrimSuffix(row.Value, "%"))
	if err != nil {
		return fmt.Errorf("%s %w", row.Label, err)
	}
	seen[name] = true
	into.Figures = append(into.Figures, f)
	return nil
}

// Digits that a number can have and still come back as it was.
const mostDigits = 15

func (r Row) figure(name, text string) (trace.ReportedFigure, error) {
	unsigned := strings.TrimPrefix(text, "-")
	_, fraction, _ := strings.Cut(unsigned, ".")
	switch v, err := strconv.ParseFloat(text, 64); {
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return trace.ReportedFigure{}, fmt.Errorf("is %s: no figure to work with", text)
	case len(unsigned)-strings.Count(unsigned, ".") > mostDigits || unsigned == "" || strings.Trim(unsigned, "0123456789.") != "" || err != nil:
		return trace.ReportedFigure{}, fmt.Errorf("%q is not a number", text)
	default:
		f := trace.ReportedFigure{Name: name, Value: v / r.per}
		if fraction != "" || r.format != tableWhole {
			f.Step = math.Pow10(-len(fraction)) / r.per
		}
		return f, nil
	}
}

// reportMissing notes the rows without which a table is not whole.
func (r *TableReading) reportMissing(rows []Match) {
	has := func(label string) bool {
		return slices.ContainsFunc(rows, func(row Match) bool { return row.Label == label })
	}
	needed := []string{"Successful requests:", "Benchmark duration (s):", "Total input tokens:", "Request throughput (req/s):"}
	for _, row := range rows {
		if rest, ok := strings.CutPrefix(row.Label, "Mean "); ok {
			needed = append(needed, "Median "+rest)
		} else if rest, ok := strings.CutPrefix(row.Label, "P99 "); ok && !strings.Contains(rest, "probe") {
			needed = append(needed, "Mean "+rest, "Median "+rest)
		}
	}
	for _, label := range needed {
		if !has(label) && !slices.Contains(r.Missing, label) {
			r.Missing = append(r.Missing, label)
		}
	}
}
