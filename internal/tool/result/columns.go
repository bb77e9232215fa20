package result

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// vLLM and SGLang write what they know of single requests as columns: an array
// of the first tokens' times of all requests, an array of their lengths, and so
// on. Each column is read by a scanner of its own, all of them in step, so a row
// is all that is in memory.

// A column is an array that has an item for each request.
type column struct {
	name        string
	of          kind
	least, most float64              // values, or most bytes of a text
	field       func(q *Request) any // pointer to what it is of
}

const (
	maxAnswer  = 4 << 20 // bytes of an answer's text
	maxFailure = 16 << 10
	keptError  = 1 << 10 // bytes of an error, as in our own records
	maxRun     = 32 * 24 * 3600
	maxCount   = 1e9 // tokens
	maxClock   = 1e12
)

// columnsOfRequests are those of vLLM and SGLang, in their order. Of start times only the
// differences mean something.
var columnsOfRequests = []column{
	{"input_lens", numbers, 0, maxCount, func(q *Request) any { return &q.Input }},
	{"output_lens", numbers, 0, maxCount, func(q *Request) any { return &q.Output }},
	{"ttfts", numbers, 0, maxRun, func(q *Request) any { return &q.TTFT }},
	{"itls", arrays, 0, maxRun, func(q *Request) any { return &q.ITL }},
	{"latencies", numbers, 0, maxRun, func(q *Request) any { return &q.Latency }},
	{"start_times", numbers, -maxClock, maxClock, func(q *Request) any { return &q.Start }},
	{"queue_times", numbers, -maxRun, maxRun, func(q *Request) any { return &q.Queue }},
	{texts, strs, 0, maxAnswer, func(q *Request) any { return &q.Text }},
	{"errors", strs, 0, maxFailure, func(q *Request) any { return &q.ErrorText }},
	{"server_queue_times", numbers, -maxRun, maxRun, func(q *Request) any { return &q.ServerQueue }},
	{"server_ttfts", numbers, -maxRun, maxRun, func(q *Request) any { return &q.ServerTTFT }},
	{"cached_tokens", numbers, 0, maxCount, func(q *Request) any { return &q.Cached }},
}

func (col column) read(s *scanner, q *Request) {
	switch to := col.field(q).(type) {
	case *int:
		*to = int(s.float())
	case *float64:
		*to = s.float()
	case *[]float64:
		*to = (*to)[:0]
		s.items(func() { *to = append(*to, s.float()) })
	case *string:
		*to = s.text(int(col.most))
	case **float64:
		*to = s.optional()
	}
}

func (col column) write(b []byte, q *Request) []byte {
	switch v := col.field(q).(type) {
	case *int:
		return strconv.AppendInt(b, int64(*v), 10)
	case *float64:
		return python.AppendFloat(b, *v)
	case *[]float64:
		return python.AppendFloats(b, *v)
	case *string:
		return python.AppendString(b, *v)
	case **float64:
		if *v == nil {
			return append(b, "null"...)
		}
		return python.AppendFloat(b, **v)
	}
	return b
}

// WriteColumns writes those columns of requests that are kept.
func WriteColumns(o *python.Object, requests []*Request, kept func(name string) bool) {
	for _, col := range columnsOfRequests {
		if kept(col.name) {
			o.Raw(col.name, python.JSONList(len(requests), func(b []byte, i int) []byte { return col.write(b, requests[i]) }))
		}
	}
}

// settle fills in what follows from the columns. Neither of the tools has a flag for a
// failure, and one that nobody put in words has left no time either.
func settle(q *Request) {
	q.Queue = max(0, q.Queue)
	q.OK = q.ErrorText == "" && (q.Output != 0 || q.Latency != 0 || q.TTFT != 0)
}

// bulky are the columns that have most of the bytes.
var bulky = []string{"itls", texts}

// texts is the column of the answers.
const texts = "generated_texts"

// Columns are those of one result, with what is to be known of all its requests ahead of
// their records.
type Columns struct {
	N, OK  int     // requests, and those that succeeded
	Zero   float64 // the earliest instant: when a request was due
	source Source
	lists  map[string]*List
}

// Columns takes the columns of a result but for some; nil if it has none for single
// requests. What is wrong with one becomes a problem of the result.
func (r *Reading) Columns(f *PartialRun, without ...string) *Columns {
	c := &Columns{source: r.Source, lists: map[string]*List{}, Zero: math.Inf(1)}
	for _, col := range columnsOfRequests {
		l := r.Object.List(col.name)
		if l == nil || l.N == 0 && col.of == strs {
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
	c.shorten(f)
	maps.DeleteFunc(c.lists, func(name string, _ *List) bool { return slices.Contains(without, name) })
	if err := c.survey(); err != nil {
		r.Problem(err)
		return nil
	}
	if c.Has(texts) {
		f.Run.MarkedBy = trace.InClear().ID()
	}
	return c
}

// Has reports whether there are columns of all names.
func (c *Columns) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return c.lists[name] == nil })
}

// check says why a column cannot be used.
func (col column) check(l *List) *scanError {
	switch {
	case l.null.line > 0 && !col.nullable():
		return &scanError{l.null, fmt.Sprintf("%q are not all %s, so the requests are left out", col.name, col.of)}
	case l.odd.line > 0:
		return &scanError{l.odd, fmt.Sprintf("%q are not all finite %s, so the requests are left out", col.name, col.of)}
	case l.of != empty && l.of != col.of:
		return &scanError{l.At, fmt.Sprintf("%q are %s and not %s, so the requests are left out", col.name, l.of, col.of)}
	case l.min < col.least || l.max > col.most || col.name == "start_times" && l.max-l.min > maxRun:
		return &scanError{l.At, fmt.Sprintf("%q are from %g to %g, which cannot be", col.name, l.min, l.max)}
	}
	return nil
}

func (col column) nullable() bool {
	_, is := col.field(new(Request)).(**float64)
	return is
}

// shorten finds how many requests all columns have, and drops columns without
// any.
func (c *Columns) shorten(f *PartialRun) {
	maps.DeleteFunc(c.lists, func(_ string, l *List) bool { return l.N == 0 })
	var names []string
	for _, col := range columnsOfRequests {
		if c.lists[col.name] != nil {
			names = append(names, col.name)
		}
	}
	byLength := func(a, b string) int { return cmp.Compare(c.lists[a].N, c.lists[b].N) }
	least, most := slices.MinFunc(names, byLength), slices.MaxFunc(names, byLength)
	c.N = c.lists[least].N
	if n := c.lists[most].N; n != c.N {
		f.Doubt(c.lists[least].At, "%q has %d requests and %q %d: the first %d are read", least, c.N, most, n, c.N)
	}
}

// rows are the requests, without the columns left out.
func (c *Columns) rows(without ...string) iter.Seq2[*Request, error] {
	return func(yield func(*Request, error) bool) {
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
		q := new(Request)
		for i := range c.N {
			for _, from := range readers {
				if from.more(i == 0, ']') {
					from.read(from.scanner, q)
				}
				if from.err != nil {
					yield(nil, fmt.Errorf("read request %d: %w", i, from.err))
					return
				}
			}
			if settle(q); !yield(q, nil) {
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
		i := 0
		for q, err := range c.rows() {
			var record *trace.Record
			if err == nil {
				record, err = m.record(i, q)
			}
			if err == nil && c.Has(texts) {
				trace.InClear().MarkText(record)
			}
			if i++; !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// instant is a number of seconds as nanoseconds. Those tools measure with a clock
// of whole nanoseconds, so the rounding gives back what they saw.
func instant(seconds float64) trace.Instant { return trace.Instant(math.Round(seconds * 1e9)) }

func (m Recorder) record(i int, r *Request) (*trace.Record, error) {
	t := trace.NewRecord(i)
	t.Released, t.Due = 0, 0
	if m.Dated {
		t.Released = instant(r.Start - m.Zero)
		t.Due = max(0, instant(r.Start-r.Queue-m.Zero))
	}
	if m.Gated {
		t.Free = t.Released
	}
	t.Sent, t.Done = t.Released, t.Released+instant(r.Latency)
	t.PromptTokens, t.Usage.Prompt, t.Usage.Cached = r.Input, r.Input, r.Cached
	t.OutputTokens, t.Usage.Completion, t.CountedFrom = r.Output, r.Output, trace.FromUsage
	t.Text, t.Stamps = r.Text, trace.UserStamps
	if !r.OK {
		t.Class, t.Error = trace.Other, cmp.Or(lastWords(r.ErrorText), "it failed, and the tool kept no reason")
	}
	if r.TTFT > 0 || len(r.ITL) > 0 { // else no text of the answer was seen
		m.chunks(t, r)
	}
	if r.ServerQueue != nil || r.ServerTTFT != nil {
		t.Server = &trace.ServerTimes{Queue: r.ServerQueue, TTFT: r.ServerTTFT}
	}
	if !m.Counted {
		t.OutputTokens, t.CountedFrom = len(t.Chunks), trace.FromChunks
	}
	if t.Done.Seconds() > 2*maxRun {
		return nil, fmt.Errorf("read request %d: it takes %g s, which cannot be", i, t.Done.Sub(t.Released).Seconds())
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
	return truncate([]byte(s), keptError)
}

// chunks adds up the gaps in seconds and rounds the sums, so that no error grows
// with their number. An answer whose time nobody kept ends with its last chunk.
func (m Recorder) chunks(t *trace.Record, r *Request) {
	t.Chunks = make([]trace.Chunk, 0, 1+len(r.ITL))
	at := r.TTFT
	t.Chunks = append(t.Chunks, trace.Chunk{At: t.Released + instant(at), Kind: trace.Text})
	for _, gap := range r.ITL {
		at = min(at+gap, 4*maxRun)
		t.Chunks = append(t.Chunks, trace.Chunk{At: t.Released + instant(at), Kind: trace.Text})
	}
	if last := t.Chunks[len(t.Chunks)-1].At; t.Done < last {
		t.Done = last
	}
}

func (c *Columns) survey() error {
	for r, err := range c.rows(bulky...) {
		if err != nil {
			return err
		}
		c.Zero = min(c.Zero, r.Start-r.Queue)
		if r.OK {
			c.OK++
		}
	}
	return nil
}

// LongestGap is the longest time between two token events of the requests that succeeded, in
// seconds.
func (c *Columns) LongestGap() (longest float64) {
	if c.OK == c.N {
		return max(0, c.lists["itls"].max)
	}
	for r, err := range c.rows(texts) {
		if err == nil && r.OK {
			longest = max(longest, slices.Max(append(r.ITL, 0)))
		}
	}
	return longest
}

// IsColumn reports whether a member has an item for each request.
func IsColumn(name string) bool {
	return name == "cached_tokens_details" || slices.ContainsFunc(columnsOfRequests, func(c column) bool { return c.name == name })
}

// otherSuccesses is noticed of a result.
const otherSuccesses plan.Code = "import.other-successes" // said, empty

// Check notes where the tool counts other successes than its arrays tell.
func (f *PartialRun) Check(o *Object, ok int) {
	if n, said := o.Float("completed"); said && int(n) != ok {
		f.Run.Notes = append(f.Run.Notes, plan.Msg(otherSuccesses, "said", n, "empty", ok))
	}
}
