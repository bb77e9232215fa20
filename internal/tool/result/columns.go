package result

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// vLLM and SGLang write what they know of single requests as columns: an array
// of the first tokens' times of all requests, an array of their lengths, and so
// on. Each column is read by a scanner of its own, all of them in step, so a row
// is all that is in memory.

// A row is one request across the columns. What a result does not have is zero.
type row struct {
	index                       int
	input, output, cached       float64 // tokens
	ttft, latency, start, queue float64 // seconds
	itls                        []float64
	text, failure               string
}

// ok: neither of the tools has a flag for it. A failure that nobody put in words
// has left no time either.
func (r *row) ok() bool {
	return r.failure == "" && (r.output != 0 || r.latency != 0 || r.ttft != 0)
}

// A column is an array that has an item for each request.
type column struct {
	name string
	of   kind
	read func(*scanner, *row)
}

const (
	maxAnswer  = 4 << 20 // bytes of an answer's text
	maxFailure = 16 << 10
	keptError  = 1 << 10 // bytes of an error, as in our own records
	maxRun     = 32 * 24 * 3600
	maxCount   = 1e9 // tokens
)

// columnsOfRequests are those of vLLM and SGLang.
var columnsOfRequests = []column{
	{"input_lens", numbers, func(s *scanner, r *row) { r.input = s.float() }},
	{"output_lens", numbers, func(s *scanner, r *row) { r.output = s.float() }},
	{"ttfts", numbers, func(s *scanner, r *row) { r.ttft = s.float() }},
	{"itls", arrays, func(s *scanner, r *row) { r.itls = s.floats(r.itls[:0]) }},
	{"latencies", numbers, func(s *scanner, r *row) { r.latency = s.float() }},
	{"start_times", numbers, func(s *scanner, r *row) { r.start = s.float() }},
	{"queue_times", numbers, func(s *scanner, r *row) { r.queue = max(0, s.float()) }},
	{"generated_texts", strs, func(s *scanner, r *row) { r.text = s.text(maxAnswer) }},
	{"errors", strs, func(s *scanner, r *row) { r.failure = s.text(maxFailure) }},
	{"cached_tokens", numbers, func(s *scanner, r *row) { r.cached = s.float() }},
}

// bulky are the columns that have most of the bytes.
var bulky = []string{"itls", "generated_texts"}

func (s *scanner) floats(to []float64) []float64 {
	s.items(func() { to = append(to, s.float()) })
	return to
}

// Columns are those of one result.
type Columns struct {
	source Source
	N      int
	lists  map[string]*List
}

// Columns takes the columns of a result; nil if it has none for single
// requests. What is wrong with one becomes a problem of the result.
func (r *Reading) Columns(f *Draft) *Columns {
	c := &Columns{source: r.Source, N: math.MaxInt, lists: map[string]*List{}}
	for _, col := range columnsOfRequests {
		l := r.Object.List(col.name)
		if l == nil || l.N == 0 && col.of != arrays && col.of != numbers {
			continue
		}
		if err := col.check(l); err != nil {
			f.problems = append(f.problems, err)
			continue
		}
		c.lists[col.name] = l
	}
	if !c.Has("ttfts", "itls") || c.lists["ttfts"].N == 0 {
		return nil
	}
	return c.shorten(f)
}

// Has reports whether there are columns of all names.
func (c *Columns) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.lists[name] == nil })
}

// Drop leaves columns out.
func (c *Columns) Drop(names ...string) {
	for _, name := range names {
		delete(c.lists, name)
	}
}

// check says why a column cannot be used.
func (col column) check(l *List) *scanError {
	least, most := 0.0, float64(maxRun)
	switch col.name {
	case "input_lens", "output_lens", "cached_tokens":
		most = maxCount
	case "start_times": // only their differences mean something
		least, most = -1e12, 1e12
	case "queue_times":
		least = -most
	}
	switch {
	case l.odd.line > 0:
		return &scanError{l.odd, fmt.Sprintf("%q are not all finite %s, so the requests are left out", col.name, col.of)}
	case l.N > 0 && l.of != col.of:
		return &scanError{l.At, fmt.Sprintf("%q are %s and not %s, so the requests are left out", col.name, l.of, col.of)}
	case l.min < least || l.max > most || col.name == "start_times" && l.max-l.min > maxRun:
		return &scanError{l.At, fmt.Sprintf("%q are from %g to %g, which cannot be", col.name, l.min, l.max)}
	}
	return nil
}

// shorten finds how many requests all columns have, and drops columns without
// any.
func (c *Columns) shorten(f *Draft) *Columns {
	least, most := "", ""
	for _, col := range columnsOfRequests {
		l := c.lists[col.name]
		if l != nil && l.N == 0 {
			delete(c.lists, col.name)
			l = nil
		}
		if l == nil {
			continue
		}
		if least == "" || l.N < c.lists[least].N {
			least = col.name
		}
		if most == "" || l.N > c.lists[most].N {
			most = col.name
		}
	}
	c.N = c.lists[least].N
	if n := c.lists[most].N; n != c.N {
		f.Doubt(c.lists[least].At, "%q has %d requests and %q %d: the first %d are read", least, c.N, most, n, c.N)
	}
	return c
}

// rows are the requests, but for what is in the columns left out.
func (c *Columns) rows(without ...string) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		type reader struct {
			column
			*scanner
		}
		var readers []reader
		for _, col := range columnsOfRequests {
			l := c.lists[col.name]
			if l == nil || slices.Contains(without, col.name) {
				continue
			}
			s := newScanner(c.source.Data, c.source.Size, l.At)
			s.within = col.name
			s.open('[')
			readers = append(readers, reader{col, s})
		}
		r := new(row)
		for i := range c.N {
			r.index = i
			for _, from := range readers {
				if from.more(i == 0, ']') {
					from.read(from.scanner, r)
				}
				if from.err != nil {
					yield(nil, fmt.Errorf("read request %d: %w", i, from.err))
					return
				}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A Recorder makes records of rows.
type Recorder struct {
	Zero    float64 // the instant that their clock starts from
	Dated   bool
	Gated   bool // requests in flight were limited, so the queue was that of the gate
	Counted bool // the result has the answers' lengths
}

// Records are those of the result, made anew each time.
func (c *Columns) Records(m Recorder) iter.Seq2[*trace.Record, error] {
	return func(yield func(*trace.Record, error) bool) {
		for r, err := range c.rows() {
			var record *trace.Record
			if err == nil {
				record, err = m.record(r)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// instant is a number of seconds as nanoseconds. Those tools measure with a clock
// of whole nanoseconds, so the rounding gives back what they saw.
func instant(seconds float64) trace.Instant { return trace.Instant(math.Round(seconds * 1e9)) }

func (m Recorder) record(r *row) (*trace.Record, error) {
	t := trace.NewRecord(r.index)
	t.Released, t.Due = 0, 0
	if m.Dated {
		t.Released = instant(r.start - m.Zero)
		t.Due = max(0, instant(r.start-r.queue-m.Zero))
	}
	if m.Gated {
		t.Free = t.Released
	}
	t.Sent, t.Done = t.Released, t.Released+instant(r.latency)
	t.PromptTokens, t.Usage.Prompt, t.Usage.Cached = int(r.input), int(r.input), int(r.cached)
	t.OutputTokens, t.Usage.Completion, t.CountedFrom = int(r.output), int(r.output), trace.FromUsage
	t.Text, t.Stamps = r.text, trace.UserStamps
	if !r.ok() {
		t.Class, t.Error = trace.Other, cmp.Or(lastWords(r.failure), "it failed, and the tool kept no reason")
	}
	if r.ok() || r.ttft > 0 || len(r.itls) > 0 {
		m.chunks(t, r)
	}
	if !m.Counted {
		t.OutputTokens, t.CountedFrom = len(t.Chunks), trace.FromChunks
	}
	if t.Done.Seconds() > 2*maxRun {
		return nil, fmt.Errorf("read request %d: it takes %g s, which cannot be", r.index, t.Done.Sub(t.Released).Seconds())
	}
	return t, nil
}

// lastWords are what an error says: of one that Python traces back, the last
// line.
func lastWords(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "Traceback ") {
		s = s[strings.LastIndexByte(s, '\n')+1:]
	}
	return whole([]byte(s), keptError)
}

// chunks adds up the gaps in seconds and rounds the sums, so that no error grows
// with their number. An answer whose time nobody kept ends with its last chunk.
func (m Recorder) chunks(t *trace.Record, r *row) {
	t.Chunks = make([]trace.Chunk, 0, 1+len(r.itls))
	at := r.ttft
	t.Chunks = append(t.Chunks, trace.Chunk{At: t.Released + instant(at), Kind: trace.Text})
	for _, gap := range r.itls {
		at = min(at+gap, 4*maxRun)
		t.Chunks = append(t.Chunks, trace.Chunk{At: t.Released + instant(at), Kind: trace.Text})
	}
	if last := t.Chunks[len(t.Chunks)-1].At; t.Done < last {
		t.Done = last
	}
}

// A Survey is what is to be known of all requests ahead of their records.
type Survey struct {
	OK       int
	Zero     float64 // the earliest instant: when a request was due
	from, to float64 // the earliest start and the latest end of those that succeeded
}

// Survey reads the columns that are not bulky.
func (c *Columns) Survey() (s Survey, err error) {
	s = Survey{Zero: math.Inf(1), from: math.Inf(1), to: math.Inf(-1)}
	for r, err := range c.rows(bulky...) {
		if err != nil {
			return s, err
		}
		s.Zero = min(s.Zero, r.start-r.queue)
		if r.ok() {
			s.OK++
			s.from, s.to = min(s.from, r.start), max(s.to, r.start+r.latency)
		}
	}
	return s, nil
}

// Touched is the most successes that have part in one second, where seconds count
// from the first start. The sums are those of the tool, bit for bit.
func (c *Columns) Touched(s Survey) int {
	if s.OK == 0 {
		return 0
	}
	change := make([]int32, int(math.Ceil(s.to-s.from))+2)
	for r, err := range c.rows(bulky...) {
		if err == nil && r.ok() {
			change[int(r.start-s.from)]++
			change[int(r.start+r.latency-s.from)+1]--
		}
	}
	now, most := 0, 0
	for _, n := range change {
		now += int(n)
		most = max(most, now)
	}
	return most
}

// IsColumn reports whether a member has an item for each request.
func IsColumn(name string) bool {
	return name == "cached_tokens_details" || slices.ContainsFunc(columnsOfRequests, func(c column) bool { return c.name == name })
}

// otherSuccesses is noticed of a result.
const otherSuccesses plan.Code = "import.other-successes" // said, empty

// Check notes where the tool counts other successes than its arrays tell.
func (f *Draft) Check(o *Object, ok int) {
	if n, said := o.Float("completed"); said && int(n) != ok {
		f.Run.Notes = append(f.Run.Notes, plan.Say(otherSuccesses, "said", n, "empty", ok))
	}
}
