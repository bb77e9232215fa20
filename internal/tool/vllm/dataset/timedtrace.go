package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// TimedTrace replays a trace of JSON Lines: when each request came, how long it and
// its answer were, and of what blocks its prompt consisted. A block is known by a
// hash id; the same id gives the same tokens, so prompts share what they shared.
//
// That tool seeds the tokens of a block with Python's hash of a text, which differs
// between processes. Here it is that of a process with PYTHONHASHSEED=0 (CPython
// 3.11 or later), so the same trace gives the same ids every time, and the same as
// that tool's under that setting.
type TimedTrace struct {
	Common
	Chunk      int     // tokens of a block
	Multiplier float64 // of the timestamps, to make them seconds
	// Names of the columns.
	Timestamp, InputLength, OutputLength, HashIDs string
}

// traceEntry is a line of a trace.
type traceEntry struct {
	at            time.Duration
	input, output int
	blocks        []string
}

// Check reports what Build would find wrong with file.
func (t TimedTrace) Check(file io.Reader) error {
	_, err := t.read(file)
	return err
}

func (t TimedTrace) read(file io.Reader) ([]traceEntry, error) {
	var entries []traceEntry
	err := eachLine(file, func(row rows.Row) error {
		if t.Requests > 0 && len(entries) >= t.Requests {
			return nil
		}
		e, err := t.entry(row)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

func (t TimedTrace) entry(row rows.Row) (e traceEntry, err error) {
	named := func(column, flag string, err error) error {
		if err != nil && !row.Has(column) {
			return fmt.Errorf("%w; --timed-trace-label-%s names another", err, flag)
		}
		return err
	}
	input, err := row.Int(t.InputLength)
	if err != nil {
		return e, named(t.InputLength, "input-length", err)
	}
	output, err := row.Int(t.OutputLength)
	if err != nil {
		return e, named(t.OutputLength, "output-length", err)
	}
	seconds, err := row.Float(t.Timestamp)
	if err != nil {
		return e, named(t.Timestamp, "timestamp", err)
	}
	if seconds *= t.Multiplier; !(math.Abs(seconds) < math.MaxInt64/1e9) {
		return e, row.Errorf(t.Timestamp, "is %v seconds with --timed-trace-sec-multiplier %v", seconds, t.Multiplier)
	}
	if input > mostTokens || output < 0 || output > math.MaxInt32 {
		return e, fmt.Errorf("%s: lengths %d and %d: must not be negative, nor more than %d tokens of prompt", row.Place(), input, output, mostTokens)
	}
	e = traceEntry{at: time.Duration(math.Round(seconds * 1e9)), input: int(input), output: int(output)}
	e.blocks, err = t.blocks(row)
	return e, err
}

// blocks are the hash ids in the text that Python makes of them.
func (t TimedTrace) blocks(row rows.Row) ([]string, error) {
	if !row.Has(t.HashIDs) {
		return nil, nil
	}
	var list []json.RawMessage
	if err := row.Decode(t.HashIDs, &list); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &out[i]) == nil {
			continue
		}
		if out[i] = string(raw); strings.ContainsAny(out[i], ".eE{[nt") {
			return nil, row.Errorf(t.HashIDs, "has %s: ids must be whole numbers or texts", raw)
		}
	}
	return out, nil
}

// Build reads the requests of file in its order. They are sent as token ids.
func (t TimedTrace) Build(_ context.Context, file io.Reader) (workload.Workload, error) {
	entries, err := t.read(file)
	if err != nil {
		return workload.Workload{}, err
	}
	x := expansion{TimedTrace: t, ids: t.drawable(), known: map[string][]int32{}}
	if len(x.ids) == 0 {
		return workload.Workload{}, fmt.Errorf("the tokenizer leaves no ids to draw from")
	}
	w := workload.Workload{Python: pyrand.NewRandom(int64(t.Seed))}
	short := 0
	for _, e := range entries {
		ids := x.prompt(e)
		if len(ids) < e.input {
			short++
		}
		w.Requests = append(w.Requests, workload.Request{Tokens: ids, PromptTokens: len(ids), OutputTokens: e.output, At: e.at})
	}
	if short > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%d of %d prompts are shorter than the trace says: their hash ids stand for fewer tokens", short, len(entries)))
	}
	w.Oversample(0, t.Seed, true, t.IDPrefix)
	return w, nil
}

// drawable are all ids of the tokenizer but the special ones, ascending.
func (t TimedTrace) drawable() []int32 {
	if t.Vocabulary.All == nil {
		return t.Vocabulary.Drawable()
	}
	return slices.DeleteFunc(slices.Clone(t.Vocabulary.All), func(id int32) bool {
		return slices.Contains(t.Vocabulary.Special, id)
	})
}

// An expansion puts tokens in place of hash ids.
type expansion struct {
	TimedTrace
	ids   []int32
	known map[string][]int32
}

func (x *expansion) prompt(e traceEntry) []int32 {
	ids := make([]int32, 0, max(0, e.input))
	left := e.input
	for _, block := range e.blocks {
		size := min(x.Chunk, left)
		ids = append(ids, x.block(fmt.Sprintf("%s:%d", block, size), size)...)
		if left -= size; left <= 0 {
			break
		}
	}
	return ids
}

// block are the tokens that key, an id with a size, stands for.
func (x *expansion) block(key string, size int) []int32 {
	ids, ok := x.known[key]
	if !ok {
		rng := pyrand.NewRandom(int64(pythonHash(key) & math.MaxUint32))
		for _, i := range rng.Choices(len(x.ids), max(0, size)) {
			ids = append(ids, x.ids[i])
		}
		x.known[key] = ids
	}
	return ids
}
