package vllm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A timedTrace replays a trace of JSON Lines: when each request came, how long it and
// its answer were, and of what blocks its prompt consisted. A block is known by a
// hash id; the same id gives the same tokens, so prompts share what they shared.
//
// The tool seeds the tokens of a block with Python's hash of a text, which differs
// between processes. Here it is that of a process with PYTHONHASHSEED=0 (CPython
// 3.11 or later), so the same trace gives the same ids every time, and the same as
// the tool's under that setting.
type timedTrace struct {
	file[traceEntry]
	Chunk      int     `json:"chunk" flag:"timed-trace-chunk-hash-size"`     // tokens of a block
	Multiplier float64 `json:"multiplier" flag:"timed-trace-sec-multiplier"` // of the timestamps, to make them seconds
	// Names of the columns.
	Timestamp    string `json:"timestamp" flag:"timed-trace-label-timestamp"`
	InputLength  string `json:"input_length" flag:"timed-trace-label-input-length"`
	OutputLength string `json:"output_length" flag:"timed-trace-label-output-length"`
	HashIDs      string `json:"hash_ids" flag:"timed-trace-label-hash-ids"`
	Sending
}

// newTimedTrace has the tool's defaults.
func newTimedTrace() *timedTrace {
	return &timedTrace{file: named[traceEntry]("timed_trace"), Chunk: 16, Multiplier: 1, Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length", HashIDs: "hash_ids"}
}

type traceEntry struct {
	at            time.Duration
	input, output int
	blocks        []string
}

func (d *timedTrace) Check(s *workload.Source) plan.Problems {
	p := d.file.Check(s)
	p.If(d.Chunk < 1, "chunk", d.Chunk, "must be at least 1")
	p.If(!(d.Multiplier > 0) || math.IsInf(d.Multiplier, 1), "multiplier", d.Multiplier, "must be positive")
	return p
}

func (d *timedTrace) Read(_ context.Context, s *workload.Source) error {
	return d.read(s, func(file io.Reader) (entries []traceEntry, err error) {
		err = eachLine(file, func(row rows.Row) error {
			if s.Requests > 0 && len(entries) >= s.Requests {
				return nil
			}
			e, err := d.entry(row)
			entries = append(entries, e)
			return err
		})
		return entries, err
	})
}

func (d *timedTrace) entry(row rows.Row) (e traceEntry, err error) {
	named := func(path, column string, err error) error {
		if err != nil && !row.Has(column) {
			return plan.Problems{{Path: path, Value: column, Why: err.Error(), Hint: "name another"}}
		}
		return err
	}
	input, err := row.Int(d.InputLength)
	if err != nil {
		return e, named("input_length", d.InputLength, err)
	}
	output, err := row.Int(d.OutputLength)
	if err != nil {
		return e, named("output_length", d.OutputLength, err)
	}
	seconds, err := row.Float(d.Timestamp)
	if err != nil {
		return e, named("timestamp", d.Timestamp, err)
	}
	if seconds *= d.Multiplier; !(math.Abs(seconds) < math.MaxInt64/1e9) {
		return e, row.Errorf(d.Timestamp, "is %v seconds when it is multiplied by %v", seconds, d.Multiplier)
	}
	if input > mostTokens || output < 0 || output > math.MaxInt32 {
		return e, fmt.Errorf("%s: lengths %d and %d: must not be negative, nor more than %d tokens of prompt", row.Place(), input, output, mostTokens)
	}
	e = traceEntry{at: time.Duration(math.Round(seconds * 1e9)), input: int(input), output: int(output)}
	e.blocks, err = d.blocks(row)
	return e, err
}

// blocks are the hash ids in the text that Python makes of them.
func (d *timedTrace) blocks(row rows.Row) ([]string, error) {
	if !row.Has(d.HashIDs) {
		return nil, nil
	}
	var list []json.RawMessage
	if err := row.Decode(d.HashIDs, &list); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &out[i]) == nil {
			continue
		}
		if out[i] = string(raw); strings.ContainsAny(out[i], ".eE{[nt") {
			return nil, row.Errorf(d.HashIDs, "has %s: ids must be whole numbers or texts", raw)
		}
	}
	return out, nil
}

func (d *timedTrace) Build(_ context.Context, s *workload.Source) (workload.Workload, error) {
	x := expansion{chunk: d.Chunk, ids: workload.Without(s.Vocab.IDs(), s.Vocab.Special...), known: map[string][]int32{}}
	if len(x.ids) == 0 {
		return workload.Workload{}, d.blame(errors.New("the tokenizer leaves no ids to draw from"))
	}
	w := workload.Workload{Python: pyrand.NewRandom(int64(s.Seed))}
	short := 0
	for _, e := range d.lines {
		ids := x.prompt(e)
		if len(ids) < e.input {
			short++
		}
		w.Requests = append(w.Requests, workload.Request{Tokens: ids, PromptTokens: len(ids), OutputTokens: e.output, At: e.at})
	}
	if short > 0 {
		w.Notes = append(w.Notes, plan.Msg(shortPrompts, "short", short, "of", len(d.lines)))
	}
	w.Oversample(0, s.Seed, true, s.IDPrefix)
	d.send(&w)
	return w, nil
}

// An expansion puts tokens in place of hash ids.
type expansion struct {
	chunk int
	ids   []int32
	known map[string][]int32
}

func (x *expansion) prompt(e traceEntry) []int32 {
	ids := make([]int32, 0, max(0, e.input))
	left := e.input
	for _, block := range e.blocks {
		size := min(x.chunk, left)
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

// pythonHash is hash(s) of an ASCII text in CPython 3.11 or later with
// PYTHONHASHSEED=0: SipHash-1-3 (Aumasson and Bernstein, 2012) under a key of zeros.
func pythonHash(s string) uint64 {
	if s == "" {
		return 0
	}
	v := sipState{0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573}
	b := []byte(s)
	last := uint64(len(b)) << 56
	for ; len(b) >= 8; b = b[8:] {
		v.take(binary.LittleEndian.Uint64(b))
	}
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	v.take(last)
	v[2] ^= 0xff
	for range 3 {
		v.round()
	}
	h := v[0] ^ v[1] ^ v[2] ^ v[3]
	if h == ^uint64(0) { // -1 means an error in there
		h--
	}
	return h
}

type sipState [4]uint64

func (v *sipState) take(m uint64) {
	v[3] ^= m
	v.round()
	v[0] ^= m
}

func (v *sipState) round() {
	v[0] += v[1]
	v[2] += v[3]
	v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
	v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
	v[0] = bits.RotateLeft64(v[0], 32)
	v[2] += v[1]
	v[0] += v[3]
	v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
	v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
	v[2] = bits.RotateLeft64(v[2], 32)
}
