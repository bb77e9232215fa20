// Package grid reads tables of performance figures out of a text.
//
// A Scanner takes the text line by line. It finds Markdown and HTML tables, boxes of ASCII or line-drawing characters,
// CSV with a head, and what AIPerf, GenAI-Perf, GuideLLM, AISBench, evalscope, trtllm-bench, trtllm-serve, vllm-omni
// and the offline benchmarks of vLLM print. Aligned or ruled lists of other tools are tables too, as are lines of text
// that state nothing but values: `main: TTFT 312 ms, TPOT 20.5 ms` in a row with others, or `TPOT 20.5 ms -> 18.5 ms`.
// A table of rows and columns passes three stages:
//
//	lines ──Scanner──> rows of cells ──turn──> a column for each metric ──reader──> Table
//
// A label is the text of a head or of the first cells of a row. It names a metric, statistics, a unit, a setting of
// the load, a change, or with what is left of it a variant. A table whose rows name the metrics is turned first, so
// that only one layout is read: heads name metrics, and what stands ahead of them in a row tells variants and loads
// apart.
//
// Where neither heads nor rows name a metric, that of the heading or the label above the table is meant. A latency of
// which neither its label, its cell nor another label of the same metric states the unit is Unscaled.
//
// What is not certain is left out: a bound, a range or a target; throughput per user or per GPU; a change whose direction neither a
// sign, a word nor the values show. A table of which nothing is left is no Table: definitions, accuracies and
// matrices of features give none.
//
// Figures are named as those of package figure, with two exceptions. A latency without a statistic is named by its
// bare metric, as ttft: most people mean the mean, but the table does not say so. Tokens per second without a word on
// which tokens are named throughput, the name that claims have for it.
//
// The words for metrics, statistics, settings and directions are those of package lexicon.
package grid

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Table is a table with what it says.
type Table struct {
	First, Last int    // lines, from 1
	Tool        string // whose console it is: aiperf, guidellm ...; "" if that is not known
	Results     []Result
	Changes     []Change
	Captioned   bool // the line above it names its metric
	Unnamed     bool // it has times and does not say of which metric
}

// A Result is the figures of one variant at one load. Rows that nothing tells apart are separate results.
type Result struct {
	Line    int
	Variant string    // as the head or the row names it; "" if nothing does
	Load    []Setting // in the order of the table
	Figures []trace.ReportedFigure
	// Unscaled are latencies of which the table does not state the unit, as printed.
	Unscaled []trace.ReportedFigure
}

// A Setting is a cell that describes the load: concurrency, rate, requests, input-length, output-length, batch-size,
// arrival or workload.
type Setting struct{ Name, Value string }

// A Change is a change that a cell states.
type Change struct {
	Line          int
	Text          string   // the row's label and the cell
	Metric, Stat  string   // as those of a trace.Claim
	Variant       string   // which changed; "" if nothing names it
	Before, After *float64 // in base units, where the table has them
	Change        float64  // relative and with its sign: -0.2
	Step          float64  // the value of its last digit
}

// Limits of what is kept.
const (
	mostRows    = 1000    // of a table
	mostColumns = 64      // of a row
	longestLine = 16_384  // bytes
	longestCell = 300     // bytes; a longer one is text
	mostFigures = 100_000 // of the tables that wait to be taken
	mostHTML    = 5_000   // lines of an HTML table
)

// A form is how a table is drawn.
type form int

const (
	noForm form = iota
	pipes
	boxes
	markup
	separated
	listing    // rows of `label: value`
	statements // lines of text
)

// A Scanner finds tables in a text. The zero value is ready.
type Scanner struct {
	open    *draft // nil between tables
	last    int    // line
	above   []string
	fresh   int // lines of above since the last table
	done    []Table
	figures int // of done
}

// A draft is a table that is being scanned.
type draft struct {
	form        form
	first, last int
	above       []string // the lines right above
	fresh       int      // how many of them stand below the table before
	rows        []row
	results     []Result // of statements
	heads       int      // rows of the head, once a rule has ended it
	rules       []int
	sure        bool // it is a table, whatever follows
	enclosed    bool // its rows begin with a bar
	closed      bool // its lower edge has been drawn
	separator   byte
	html        *tags
	title       string
	items       int // metrics in a row of a list
}

// A row is a line of a table.
type row struct {
	n     int
	cells []string
	head  bool // all of its cells are marked as heads
}

// Line reads the next line, and reports whether it looks like a part of a table. The first line of one can be told
// only by those that follow: it counts as text if nothing encloses its cells. A missing line ends a table.
func (s *Scanner) Line(n int, text string) (inside bool) {
	if len(text) > longestLine {
		text = ""
	}
	if s.open != nil && n != s.last+1 && s.open.form != markup {
		s.end()
	}
	s.last = n
	text = strings.TrimRight(text, " \t\r")
	if s.open != nil && s.open.add(n, text) {
		return s.open.sure && s.open.last == n
	}
	s.end()
	if s.open = start(n, text, s.above); s.open != nil {
		s.open.fresh = s.fresh
	}
	if t := strings.TrimSpace(text); t != "" {
		s.above = append(s.above[max(0, len(s.above)-2):], clip(t))
		s.fresh = min(s.fresh+1, len(s.above))
	}
	if s.open == nil {
		return false
	}
	sure := s.open.sure
	if s.open.html != nil && s.open.html.closed {
		s.end()
	}
	return sure
}

// First is the line in which the table began that is open or may be, 0 if none is.
func (s *Scanner) First() int {
	if s.open == nil {
		return 0
	}
	return s.open.first
}

// Take returns the tables that have ended since the last call.
func (s *Scanner) Take() []Table {
	done := s.done
	s.done, s.figures = nil, 0
	return done
}

// Close ends the table that is open: the text has no more lines.
func (s *Scanner) Close() { s.end() }

func (s *Scanner) end() {
	d := s.open
	s.open = nil
	if d == nil || s.figures > mostFigures {
		return
	}
	t, ok := d.read()
	if !ok {
		return
	}
	s.figures, s.fresh = s.figures+len(t.Changes), 0
	for _, r := range t.Results {
		s.figures += len(r.Figures)
	}
	s.done = append(s.done, t)
}

// repeats reports whether the results have a figure in common.
func (r Result) repeats(other Result) bool {
	return slices.ContainsFunc(other.Figures, func(f trace.ReportedFigure) bool { return r.Has(f.Name) })
}

// Has reports whether the result has a figure.
func (r Result) Has(name string) bool {
	return slices.ContainsFunc(slices.Concat(r.Figures, r.Unscaled), func(f trace.ReportedFigure) bool { return f.Name == name })
}

// Set adds a setting; the first of a name counts.
func (r *Result) Set(s Setting) {
	if !slices.ContainsFunc(r.Load, func(o Setting) bool { return o.Name == s.Name }) {
		r.Load = append(r.Load, s)
	}
}
