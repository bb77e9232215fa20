package runs

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Streams are runs with records that are read some at a time, in place of those of the traces.
type Streams = iter.Seq2[Stream, error]

// A Stream is one of them.
type Stream struct {
	*trace.Trace
	Some metrics.Records
}

// Open is a stored run, with the note that it came from.
func Open(s *store.Store, id string) (Stream, error) {
	t, records, err := s.Stream(id)
	t, err = s.Complete(t, err)
	return Stream{t, metrics.Records(records)}, err
}

// Load reads all records.
func (s Stream) Load() error {
	for some, err := range s.Some {
		if err != nil {
			return err
		}
		s.Records = append(s.Records, some...)
	}
	return nil
}

// Export writes runs to w: JSON is one run and its records in one object, JSON Lines the
// records of one run, and tables those of any number. Without marks those are left out.
func Export(w io.Writer, all Streams, f Format, marks bool) error {
	if !marks {
		all = unmarked(all)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch f {
	case JSON:
		err = each(all, func(s Stream) error {
			for _, err := range s.Some { // what is damaged is noted in the run, which comes first
				if err != nil {
					return err
				}
			}
			return store.WriteJSONOf(b, s.Trace, iter.Seq2[[]*trace.Record, error](s.Some))
		})
	case JSONL:
		err = eachRecord(all, func(run *trace.Run, r *trace.Record) error { return writeJSONL(b, run, r) })
	case CSV:
		err = writeCSV(b, all)
	case Parquet:
		err = writeParquet(b, all)
	default:
		err = fmt.Errorf("unknown format %q", f)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// unmarked are runs without the marks of their answers.
func unmarked(all Streams) Streams {
	return func(yield func(Stream, error) bool) {
		for one, err := range all {
			if err == nil {
				one = one.unmarked()
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

func (s Stream) unmarked() Stream {
	some := s.Some
	s.Run.MarkedBy = ""
	s.Some = func(yield func([]*trace.Record, error) bool) {
		for batch, err := range some {
			for _, r := range batch {
				r.Marks = ""
			}
			if !yield(batch, err) {
				return
			}
		}
	}
	return s
}

// each calls do with every run.
func each[T any](all iter.Seq2[T, error], do func(T) error) error {
	for one, err := range all {
		if err == nil {
			err = do(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachRecord calls do with every record.
func eachRecord(all Streams, do func(*trace.Run, *trace.Record) error) error {
	return each(all, func(s Stream) error {
		return each(iter.Seq2[[]*trace.Record, error](s.Some), func(some []*trace.Record) error {
			for _, r := range some {
				if err := do(&s.Run, r); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// writeJSONL writes a record a line, with its latencies behind its own members.
func writeJSONL(w io.Writer, run *trace.Run, r *trace.Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = bytes.TrimSuffix(b, []byte("}"))
	ttft, perToken, e2el := latencies(run, r)
	for _, one := range []struct {
		name  string
		value *float64
	}{{"ttft_s", ttft}, {"tpot_s", perToken}, {"e2el_s", e2el}} {
		if one.value != nil {
			b = fmt.Appendf(b, `,"%s":%v`, one.name, *one.value)
		}
	}
	_, err = w.Write(append(b, '}', '\n'))
	return err
}

// latencies are those of a request that succeeded, in seconds, by Pitot's definitions: service
// times, from the first byte sent; nil where there is none.
func latencies(run *trace.Run, r *trace.Record) (ttft, perToken, e2el *float64) {
	if !r.OK() || !r.Sent.Happened() {
		return nil, nil, nil
	}
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	first, each, all := metrics.PitotLatencies(r, run.Plan.Stream)
	return known(first), known(each), known(all)
}

// A row is a record in a table: base units, absent instants null, the chunks as
// lists of equal length.
type row struct {
	Run             string   `parquet:"run,dict"`
	Validity        string   `parquet:"validity,dict"` // of the run
	Index           int64    `parquet:"index"`
	RequestID       string   `parquet:"request_id"`
	Tenant          string   `parquet:"tenant,dict"`
	Session         string   `parquet:"session,dict"`
	Turn            int64    `parquet:"turn"`
	PromptTokens    int64    `parquet:"prompt_tokens"`
	WantTokens      int64    `parquet:"want_tokens"`
	OutputTokens    int64    `parquet:"output_tokens"`
	CountedFrom     string   `parquet:"counted_from,dict"`
	DueNS           *int64   `parquet:"due_ns,optional"`
	FreeNS          *int64   `parquet:"free_ns,optional"`
	ReleasedNS      *int64   `parquet:"released_ns,optional"`
	DialedNS        *int64   `parquet:"dialed_ns,optional"`
	ConnectedNS     *int64   `parquet:"connected_ns,optional"`
	SentNS          *int64   `parquet:"sent_ns,optional"`
	FirstByteNS     *int64   `parquet:"first_byte_ns,optional"`
	DoneNS          *int64   `parquet:"done_ns,optional"`
	Status          int64    `parquet:"status"`
	FinishReason    string   `parquet:"finish_reason,dict"`
	Class           string   `parquet:"class,dict"`
	Error           string   `parquet:"error"`
	UsagePrompt     int64    `parquet:"usage_prompt"`
	UsageCompletion int64    `parquet:"usage_completion"`
	UsageCached     int64    `parquet:"usage_cached"`
	UsageReasoning  int64    `parquet:"usage_reasoning"`
	Redials         int64    `parquet:"redials"`
	Resent          bool     `parquet:"resent"`
	FirstSentNS     *int64   `parquet:"first_sent_ns,optional"`
	Text            string   `parquet:"text"`
	Stamps          string   `parquet:"stamps,dict"`
	TTFT            *float64 `parquet:"ttft_s,optional"` // these three by Pitot's definitions
	TPOT            *float64 `parquet:"tpot_s,optional"`
	E2EL            *float64 `parquet:"e2el_s,optional"`
	ChunkAtNS       []int64  `parquet:"chunk_at_ns,list"`
	ChunkSlackUS    []int64  `parquet:"chunk_slack_us,list"` // empty if every instant is exact
	ChunkTokens     []int64  `parquet:"chunk_tokens,list"`
	ChunkKinds      []int64  `parquet:"chunk_kinds,list"`
	Kind            string   `parquet:"kind,dict"` // of the run: measured, simulated or imported
	Defects         string   `parquet:"defects,dict"`
	Marks           string   `parquet:"marks"`
}

func newRow(run *trace.Run, r *trace.Record) row {
	at := func(t trace.Instant) *int64 {
		if !t.Happened() {
			return nil
		}
		ns := int64(t)
		return &ns
	}
	x := row{
		Run: run.ID, Kind: string(run.Kind), Validity: validity(*run), Index: int64(r.Index), RequestID: r.ID,
		Tenant: r.Tenant, Session: r.Session, Turn: int64(r.Turn),
		PromptTokens: int64(r.PromptTokens), WantTokens: int64(r.WantTokens), OutputTokens: int64(r.OutputTokens), CountedFrom: string(r.CountedFrom),
		DueNS: at(r.Due), FreeNS: at(r.Free), ReleasedNS: at(r.Released), DialedNS: at(r.Dialed), ConnectedNS: at(r.Connected),
		SentNS: at(r.Sent), FirstByteNS: at(r.FirstByte), DoneNS: at(r.Done),
		Status: int64(r.Status), FinishReason: r.FinishReason, Class: string(r.Class), Error: r.Error,
		UsagePrompt: int64(r.Usage.Prompt), UsageCompletion: int64(r.Usage.Completion), UsageCached: int64(r.Usage.Cached), UsageReasoning: int64(r.Usage.Reasoning),
		Redials: int64(r.Redials), Resent: r.Resent, Text: r.Text, Stamps: string(r.Stamps),
	}
	x.TTFT, x.TPOT, x.E2EL = latencies(run, r)
	x.Defects, x.Marks = r.Defects.String(), hex.EncodeToString([]byte(r.Marks))
	unsure := slices.ContainsFunc(r.Chunks, func(c trace.Chunk) bool { return c.Slack > 0 })
	if r.Resent {
		x.FirstSentNS = at(r.FirstSent)
	}
	for _, c := range r.Chunks {
		if unsure {
			x.ChunkSlackUS = append(x.ChunkSlackUS, int64(c.Slack))
		}
		x.ChunkAtNS = append(x.ChunkAtNS, int64(c.At))
		x.ChunkTokens = append(x.ChunkTokens, int64(c.Tokens))
		x.ChunkKinds = append(x.ChunkKinds, int64(c.Kind))
	}
	return x
}

// Rows are written rowsAtOnce together. A row group, which is in memory until it is written, has rowsInGroup.
const (
	rowsAtOnce  = 1 << 10
	rowsInGroup = 1 << 16
)

func writeParquet(w io.Writer, all Streams) error {
	p := parquet.NewGenericWriter[row](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsInGroup))
	var rows []row
	flush := func() error {
		_, err := p.Write(rows)
		rows = rows[:0]
		return err
	}
	err := eachRecord(all, func(run *trace.Run, r *trace.Record) error {
		if rows = append(rows, newRow(run, r)); len(rows) < rowsAtOnce {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush(), p.Close())
}

func writeCSV(w io.Writer, all Streams) error {
	c := csv.NewWriter(w)
	names, _ := row{}.fields()
	if err := c.Write(names); err != nil {
		return err
	}
	err := eachRecord(all, func(run *trace.Run, r *trace.Record) error {
		_, values := newRow(run, r).fields()
		return c.Write(values)
	})
	c.Flush()
	return errors.Join(err, c.Error())
}

// fields are the columns of a row, by the names that the other formats have. Lists are
// numbers separated by spaces.
func (x row) fields() (names, values []string) {
	v := reflect.ValueOf(x)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		value := ""
		switch f := v.Field(i); f.Kind() {
		case reflect.Pointer:
			if !f.IsNil() {
				value = fmt.Sprint(f.Elem())
			}
		case reflect.Slice:
			value = strings.Trim(fmt.Sprint(f), "[]")
		default:
			value = fmt.Sprint(f)
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values
}
