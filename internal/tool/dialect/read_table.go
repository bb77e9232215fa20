package dialect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Row is a row of a printed table, found in a line of text.
type Row struct {
	Label   string // as the tool prints it, without blanks around it
	Value   string // what stands behind it, up to a gap
	Remark  string // what follows the value
	Start   int    // where the label begins: what stands ahead of it is not the tool's
	Aligned bool   // the value is in the column where a tool puts it
	Padded  bool   // blanks behind the value fill its column
}

// knownRow is a row of some layout.
type knownRow struct {
	tool   string
	indent int // blanks that its label begins with
	row
}

// knownRows are the rows of every tool and form, by the label without the blanks
// around it.
var knownRows = sync.OnceValue(func() map[string][]knownRow {
	known := map[string][]knownRow{}
	add := func(tool string, l layout) {
		for _, s := range l {
			for _, r := range s.rows {
				label := strings.TrimSpace(r.label)
				k := knownRow{tool, len(r.label) - len(label), r}
				if !slices.Contains(known[label], k) {
					known[label] = append(known[label], k)
				}
			}
		}
	}
	add("vllm", vllmLayout(metrics.VLLM2507))
	add("vllm", vllmLayout(metrics.VLLMMain))
	add("sglang", sglangLayout())
	return known
})

// patterns are the labels with a star.
var patterns = sync.OnceValue(func() (all []string) {
	for label := range knownRows() {
		if strings.Contains(label, "*") {
			all = append(all, label)
		}
	}
	return all
})

// lookup are the rows that a label can be of, with what its star stands for.
func lookup(label string) (rows []knownRow, star string) {
	if rows := knownRows()[label]; rows != nil && !strings.Contains(label, "*") {
		return rows, ""
	}
	for _, p := range patterns() {
		if label == "" || label[0] != p[0] {
			continue
		}
		star, ok := starred(p, label)
		if !ok || strings.HasPrefix(p, "P") && !isNumber(star) { // a percentile or a position
			continue
		}
		return knownRows()[p], star
	}
	return nil, ""
}

// isNumber: digits, of which some may stand behind a point.
func isNumber(s string) bool {
	before, after, point := strings.Cut(s, ".")
	digits := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	return digits(before) && (!point || digits(after)) && len(s) <= 12
}

// endsLabel reports whether a label can end with that colon: a quick no for most of
// a log.
func endsLabel(line string, end int) bool {
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
	return labelEnds()[line[max(0, end-labelTail):end]]
}

// labelTail is how much of a label's end is looked at.
const labelTail = 5

var labelEnds = sync.OnceValue(func() map[string]bool {
	ends := map[string]bool{}
	for label := range knownRows() {
		ends[label[max(0, len(label)-labelTail):]] = true
	}
	return ends
})

// longestLabel is more than any label has, of a storage with a name too.
const longestLabel = 64

// FindRow finds the row that a line holds, whatever a log put ahead of it.
func FindRow(line string) (Row, bool) {
	for from := 0; ; {
		i := strings.IndexByte(line[from:], ':')
		if i < 0 {
			return Row{}, false
		}
		end := from + i + 1
		from = end
		if end < len(line) && !isBlank(line[end:]) || !endsLabel(line, end) {
			continue
		}
		if start, ok := labelBefore(line, end); ok {
			return cutRow(line, start, end), true
		}
	}
}

func isBlank(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// labelBefore finds the longest known label that ends at end.
func labelBefore(line string, end int) (start int, ok bool) {
	for i := max(0, end-longestLabel); i < end; i++ {
		if i > 0 && !utf8.RuneStart(line[i]) || isBlank(line[i:]) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(line[:i]); i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		if rows, _ := lookup(line[i:end]); rows != nil {
			return i, true
		}
	}
	return 0, false
}

// cutRow splits a line with a label from start to end.
func cutRow(line string, start, end int) Row {
	r := Row{Label: line[start:end], Start: start}
	rest := strings.TrimLeftFunc(line[end:], unicode.IsSpace)
	column := utf8.RuneCountInString(line[start:]) - utf8.RuneCountInString(rest)
	known, _ := lookup(r.Label)
	width := max(labelWidth, end-start+known[0].indent)
	r.Aligned = column == width+1-known[0].indent
	r.Value = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		r.Value = rest[:i]
		if strings.HasPrefix(rest, "not set") { // the only value of two words
			r.Value = "not set"
		}
	}
	behind := rest[len(r.Value):]
	r.Remark = strings.TrimSpace(behind)
	r.Padded = behind != "" && r.Remark == "" && len(r.Value)+len(behind) >= valueWidth
	return r
}

// Short reports whether the tool fills up the column behind the value, so that the
// line ends in blanks.
func (r Row) Short() bool {
	return len(r.Value) < valueWidth && !strings.HasSuffix(r.Value, "%")
}

// A Reading is what the rows of a printed table say.
type Reading struct {
	Tool, Form string
	Figures    []trace.Figure
	Setup      map[string]string // settings, by the label without its colon
	Doubts     []Doubt
	Missing    []string // labels of rows that every such table has
}

// A Doubt is a row that could not be read.
type Doubt struct {
	Row    int // index
	Reason string
}

// ReadRows reads the rows of one table.
func ReadRows(rows []Row) Reading {
	r := Reading{Tool: toolOf(rows), Setup: map[string]string{}}
	seen := map[string]bool{}
	for i, row := range rows {
		if err := r.read(row, seen); err != nil {
			r.Doubts = append(r.Doubts, Doubt{i, err.Error()})
		}
	}
	r.Form = r.form(rows)
	r.missing(rows)
	return r
}

// toolOf is the tool whose table knows the most of what can be read.
func toolOf(rows []Row) string {
	known := map[string]map[string]bool{"vllm": {}, "sglang": {}}
	for _, row := range rows {
		all, star := lookup(row.Label)
		for _, k := range all {
			if k.reads(star, row.Value) {
				known[k.tool][row.Label] = true
			}
		}
	}
	if len(known["sglang"]) > len(known["vllm"]) {
		return "sglang"
	}
	return "vllm"
}

// reads reports whether a value can stand in a row.
func (r row) reads(star, value string) bool {
	if r.format == words {
		return value != ""
	}
	number, isShare := strings.CutSuffix(value, "%")
	_, err := r.figure(star, number)
	return isShare == (r.format == percent) && err == nil
}

func (r *Reading) read(row Row, seen map[string]bool) error {
	all, star := lookup(row.Label)
	isShare := strings.HasSuffix(row.Value, "%")
	i := slices.IndexFunc(all, func(k knownRow) bool {
		return k.tool == r.Tool && isShare == (k.format == percent)
	})
	switch {
	case i < 0 && slices.ContainsFunc(all, func(k knownRow) bool { return k.tool == r.Tool }):
		return fmt.Errorf("%s %q is not a number", row.Label, row.Value)
	case i >= 0 && row.Value == "":
		return fmt.Errorf("%s has no value", row.Label)
	case i < 0:
		return fmt.Errorf("%s is no row of a table of %s", row.Label, r.Tool)
	}
	k := all[i]
	name := strings.Replace(k.name, "*", star, 1)
	if seen[name] {
		return fmt.Errorf("%s stands twice in the table; the first value is kept", row.Label)
	}
	if k.format == words {
		seen[name], r.Setup[strings.TrimSuffix(name, ":")] = true, row.Value
		return nil
	}
	f, err := k.figure(name, strings.TrimSuffix(row.Value, "%"))
	if err != nil {
		return fmt.Errorf("%s %w", row.Label, err)
	}
	seen[name] = true
	r.Figures = append(r.Figures, f)
	return nil
}

// Digits that a number can have and still come back as it was.
const mostDigits = 15

// figure reads a printed number.
func (r row) figure(name, text string) (trace.Figure, error) {
	unsigned := strings.TrimPrefix(text, "-")
	_, fraction, _ := strings.Cut(unsigned, ".")
	switch v, err := strconv.ParseFloat(text, 64); {
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return trace.Figure{}, fmt.Errorf("is %s: no figure to work with", text)
	case len(unsigned)-strings.Count(unsigned, ".") > mostDigits || unsigned == "" || strings.Trim(unsigned, "0123456789.") != "" || err != nil:
		return trace.Figure{}, fmt.Errorf("%q is not a number", text)
	default:
		f := trace.Figure{Name: name, Value: v / r.per}
		if fraction != "" || r.format != whole {
			f.Step = math.Pow10(-len(fraction)) / r.per
		}
		return f, nil
	}
}

// newestRows are the beginnings of names that vLLM's table has since 2026.
var newestRows = []string{"probe.", "queue.", "e2el_queue.", "spec_decode.", "accept_length", "diffusion.", "rtfx", "throughput.inputs"}

// form is the oldest form that has such rows.
func (r *Reading) form(rows []Row) string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(r.Figures, func(f trace.Figure) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(f.Name, n) })
		})
	}
	old := slices.ContainsFunc(rows, func(row Row) bool { return strings.HasPrefix(row.Label, "Total Token") })
	switch {
	case r.Tool == "sglang" && (has("cache.", "e2el.p", "ttft.p90", "ttft.p95") || !has("ttft.") && has("e2el.")):
		return string(metrics.SGLangMain)
	case r.Tool == "sglang":
		return string(metrics.SGLang2601)
	case old && has("throughput.total"):
		return string(metrics.VLLM2507)
	case has(newestRows...):
		return string(metrics.VLLM2608)
	case has("requests.ok") && !has("requests.failed", "peak.", "throughput.total"):
		return string(metrics.VLLM2507)
	}
	return string(metrics.VLLM2512)
}

// missing notes the rows without which a table is not whole.
func (r *Reading) missing(rows []Row) {
	has := func(label string) bool {
		return slices.ContainsFunc(rows, func(row Row) bool { return row.Label == label })
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
