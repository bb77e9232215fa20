package trace

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// Bounds of a block. A record that exceeds them has a block of its own.
const (
	BlockRecords = 1 << 10
	blockChunks  = 1 << 16
	blockText    = 1 << 20 // bytes
)

// A Block is records in columns, without loss, in four parts: what is known of each request (heads), its chunks, its
// text, and the marks of its answer. Each has a checksum.
//
//	numbers     as differences from what they are near: an instant from the one before it in the request, a count from
//	            another count; then by bytes of the same significance (see coder)
//	chunks      the gap of each from the one before it, and the first from the first byte
//	texts       one after the other
//
// A gap with noise of 20 µs has 17 bits that no encoding removes: a chunk takes 2 to 3 bytes.
type Block struct {
	Records   int
	Low, High int // the smallest and the largest index
	Lost      int // records of lost workers
	Tokens    int // output tokens
	Count     int // chunks
	TextBytes int
	Heads     []byte
	Chunks    []byte
	Texts     []byte // empty if there is no text
	Marks     []byte // empty if there are none
}

// Fit is how many of the first records make a block, and reports whether it is full.
func Fit(records []*Record) (n int, full bool) {
	chunks, text := 0, 0
	for i, r := range records {
		chunks += len(r.Chunks)
		text += len(r.Text) + len(r.Marks) + len(r.Error) + len(r.Quirks.Unread) + len(r.Quirks.RetryAfter)
		if i == BlockRecords || i > 0 && (chunks > blockChunks || text > blockText) {
			return i, true
		}
	}
	return len(records), len(records) == BlockRecords
}

// Block makes a block of at least one record, and of no more than Fit.
func (p *Packer) Block(records []*Record) Block {
	b := Block{Records: len(records), Low: math.MaxInt, High: math.MinInt}
	counts, marks := make([]int, len(records)), 0
	for i, r := range records {
		counts[i] = len(r.Chunks)
		marks += len(r.Marks)
		b.Low, b.High = min(b.Low, r.Index), max(b.High, r.Index)
		b.Tokens, b.Count, b.TextBytes = b.Tokens+r.OutputTokens, b.Count+counts[i], b.TextBytes+len(r.Text)
		if r.Class == WorkerLost {
			b.Lost++
		}
	}
	c := &p.coder
	c.pack, c.out = p, c.out[:0]
	_ = c.heads(records, counts) // only what is read can be wrong
	b.Heads = c.seal()
	c.out = c.out[:0]
	c.putChunks(records, b.Count)
	b.Chunks = c.seal()
	if b.TextBytes > 0 {
		c.out = c.out[:0]
		texts(c, len(records), func(i int) *string { return &records[i].Text })
		b.Texts = c.seal()
	}
	if marks > 0 {
		c.out = c.out[:0]
		texts(c, len(records), func(i int) *Marks { return &records[i].Marks })
		b.Marks = c.seal()
	}
	return b
}

var errBlock = errors.New("block of records truncated or damaged")

// Heads are the records of a block, until more parts of it are read without chunks and texts.
type Heads struct {
	Records []*Record
	counts  []int // of the chunks
	total   int
}

// DecodeHeads reads the heads of a block of n records.
func DecodeHeads(part []byte, n int) (*Heads, error) {
	if n <= 0 || n > BlockRecords {
		return nil, errBlock
	}
	c := unseal(part)
	h := &Heads{Records: make([]*Record, n), counts: make([]int, n)}
	slab, fresh := make([]Record, n), *NewRecord(0)
	for i := range slab {
		slab[i] = fresh
		h.Records[i] = &slab[i]
	}
	if err := c.heads(h.Records, h.counts); err != nil {
		return nil, err
	}
	for _, count := range h.counts {
		if count < 0 || count > math.MaxInt32 {
			return nil, errBlock
		}
		h.total += count
	}
	return h, c.end()
}

// ReadTexts reads the texts of the records.
func (h *Heads) ReadTexts(part []byte) error {
	return readPart(part, len(h.Records), func(i int) *string { return &h.Records[i].Text })
}

// ReadMarks reads the marks of the records.
func (h *Heads) ReadMarks(part []byte) error {
	return readPart(part, len(h.Records), func(i int) *Marks { return &h.Records[i].Marks })
}

// readPart reads a part that has one column of n texts, or is empty.
func readPart[T ~string](part []byte, n int, at func(i int) *T) error {
	if len(part) == 0 {
		return nil
	}
	c := unseal(part)
	texts(c, n, at)
	return c.end()
}

// heads writes or reads all but chunks and texts. A column that is added later stands last.
func (c *coder) heads(all []*Record, counts []int) error {
	n, none := len(all), new(Record)
	before := func(i int) *Record {
		if i == 0 {
			return none
		}
		return all[i-1]
	}
	integers(c, n, func(i int) (*int, int) { return &all[i].Index, before(i).Index })
	c.counts(all, counts)
	c.times(all, before)
	for _, at := range []func(r *Record) *float64{
		func(r *Record) *float64 { return &r.Accept }, func(r *Record) *float64 { return &r.AudioSeconds },
	} {
		bits := make([]int64, n)
		for i := range bits {
			bits[i] = int64(math.Float64bits(*at(all[i])))
		}
		seldom(c, n, func(i int) *int64 { return &bits[i] })
		for i := range bits {
			if c.reading { // others read records that are written
				*at(all[i]) = math.Float64frombits(uint64(bits[i]))
			}
		}
	}
	texts(c, n, func(i int) *Class { return &all[i].Class })
	texts(c, n, func(i int) *Source { return &all[i].CountedFrom })
	texts(c, n, func(i int) *Stamps { return &all[i].Stamps })
	for _, at := range []func(r *Record) *string{
		func(r *Record) *string { return &r.ID },
		func(r *Record) *string { return &r.Tenant },
		func(r *Record) *string { return &r.Session },
		func(r *Record) *string { return &r.FinishReason },
		func(r *Record) *string { return &r.Error },
	} {
		texts(c, n, func(i int) *string { return at(all[i]) })
	}
	err := errors.Join(
		inJSON(c, all, func(r *Record) **CacheTiers { return &r.Usage.Tiers }),
		inJSON(c, all, func(r *Record) *Quirks { return &r.Quirks }),
		inJSON(c, all, func(r *Record) **ServerTimes { return &r.Server }),
	)
	if !c.reading || len(c.rest) > 0 { // stores of version 15 and before have none
		seldom(c, n, func(i int) *Defects { return &all[i].Defects })
	}
	if !c.reading || len(c.rest) > 0 { // those of version 16 before there were questions have none
		seldom(c, n, func(i int) *grade.Grade { return &all[i].Grade })
	}
	return err
}

// counts are the columns of numbers other than instants.
func (c *coder) counts(all []*Record, chunks []int) {
	n := len(all)
	for _, at := range []func(i int, r *Record) (*int, int){
		func(_ int, r *Record) (*int, int) { return &r.PromptTokens, 0 },
		func(_ int, r *Record) (*int, int) { return &r.WantTokens, 0 },
		func(_ int, r *Record) (*int, int) { return &r.Status, 0 },
		func(_ int, r *Record) (*int, int) { return &r.OutputTokens, r.WantTokens },
		func(_ int, r *Record) (*int, int) { return &r.Usage.Prompt, r.PromptTokens },
		func(_ int, r *Record) (*int, int) { return &r.Usage.Completion, r.OutputTokens },
		func(i int, r *Record) (*int, int) { return &chunks[i], r.OutputTokens },
	} {
		integers(c, n, func(i int) (*int, int) { return at(i, all[i]) })
	}
	for _, at := range []func(r *Record) *int{
		func(r *Record) *int { return &r.Inputs },
		func(r *Record) *int { return &r.Turn },
		func(r *Record) *int { return &r.VisionTokens },
		func(r *Record) *int { return &r.Usage.Cached },
		func(r *Record) *int { return &r.Usage.Reasoning },
		func(r *Record) *int { return &r.Retokenized },
		func(r *Record) *int { return &r.Redials },
		func(r *Record) *int { return &r.OtherLines },
	} {
		seldom(c, n, func(i int) *int { return at(all[i]) })
	}
}

// times are the columns of instants.
func (c *coder) times(all []*Record, before func(i int) *Record) {
	n := len(all)
	for _, at := range []func(r, before *Record) (*Instant, Instant){
		func(r, before *Record) (*Instant, Instant) { return &r.Due, before.Due },
		func(r, _ *Record) (*Instant, Instant) { return &r.Free, r.Due },
		func(r, _ *Record) (*Instant, Instant) { return &r.Released, max(r.Due, r.Free) },
		func(r, _ *Record) (*Instant, Instant) { return &r.Dialed, r.Released },
		func(r, _ *Record) (*Instant, Instant) { return &r.Connected, r.Dialed },
		func(r, _ *Record) (*Instant, Instant) { return &r.Sent, max(r.Released, r.Connected) },
		func(r, _ *Record) (*Instant, Instant) { return &r.FirstByte, r.Sent },
		func(r, before *Record) (*Instant, Instant) { return &r.Done, before.Done },
		func(r, _ *Record) (*Instant, Instant) { return &r.Usage.At, r.Done },
	} {
		instants(c, n, func(i int) (*Instant, Instant) { return at(all[i], before(i)) })
	}
	resent := make([]int, n)
	for i, r := range all {
		if r.Resent {
			resent[i] = 1
		}
	}
	seldom(c, n, func(i int) *int { return &resent[i] })
	seldom(c, n, func(i int) *Instant { return &all[i].FirstSent })
	for i, r := range all {
		if c.reading {
			r.Resent = resent[i] != 0
		}
	}
}

// inJSON is a column of values that few records have, as JSON, empty for the zero value.
func inJSON[T comparable](c *coder, all []*Record, at func(*Record) *T) error {
	none, values := *new(T), make([]string, len(all))
	if !c.reading {
		for i, r := range all {
			if value := *at(r); value != none {
				b, _ := json.Marshal(value) // finite numbers and texts: cannot fail
				values[i] = string(b)
			}
		}
	}
	texts(c, len(all), func(i int) *string { return &values[i] })
	if !c.reading {
		return nil
	}
	const most = 8 * blockText // a byte takes up to 6
	total := 0
	for i, value := range values {
		if value == "" {
			continue
		}
		if total += len(value); total > most && i > 0 {
			return errBlock
		}
		if err := json.Unmarshal([]byte(value), at(all[i])); err != nil {
			return err
		}
	}
	return nil
}

// putChunks writes the chunks of records, n together.
func (c *coder) putChunks(all []*Record, n int) {
	low := make([]byte, n) // a byte for each chunk at least, which bounds the memory of a reader
	first, gaps := make([]uint64, 0, len(all)), c.take(n)
	var one, differs Chunk
	place, gap := 0, 0
	for _, r := range all {
		if len(r.Chunks) == 0 {
			continue
		}
		if place == 0 {
			one = r.Chunks[0]
		}
		first = append(first, zigzag(int64(r.Chunks[0].At-max(r.FirstByte, 0))))
		at := r.Chunks[0].At
		for i := range r.Chunks {
			chunk := &r.Chunks[i]
			low[place+i] = byte(chunk.Kind)
			differs.Kind |= chunk.Kind ^ one.Kind
			differs.Tokens |= chunk.Tokens ^ one.Tokens
			differs.Slack |= chunk.Slack ^ one.Slack
			gaps[gap] = zigzag(int64(chunk.At - at)) // that of the first is written over
			gap += min(i, 1)
			at = chunk.At
		}
		place += len(r.Chunks)
	}
	c.put(low, zstd.SpeedFastest)
	c.putWords(first)
	c.putWords(gaps[:gap])
	c.putValues(all, n, differs.Kind>>8 != 0, uint64(one.Kind>>8), func(c *Chunk) uint64 { return uint64(c.Kind >> 8) })
	c.putValues(all, n, differs.Tokens != 0, uint64(one.Tokens), func(c *Chunk) uint64 { return uint64(c.Tokens) })
	c.putValues(all, n, differs.Slack != 0, uint64(one.Slack), func(c *Chunk) uint64 { return uint64(c.Slack) })
}

// putValues writes a column of the n chunks of records, which may all have one value.
func (c *coder) putValues(all []*Record, n int, differ bool, one uint64, value func(*Chunk) uint64) {
	if !differ {
		c.putSame(one)
		return
	}
	words := c.take(n)[:0]
	for _, r := range all {
		for i := range r.Chunks {
			words = append(words, value(&r.Chunks[i]))
		}
	}
	c.putWords(words)
}

// ReadChunks reads the chunks of the records from one to another, by their places in the block.
func (h *Heads) ReadChunks(part []byte, from, to int) error {
	s := h.span(from, to)
	c := unseal(part)
	low := c.section(h.total) // first: there are no more chunks than bytes
	if c.bad {
		return errBlock
	}
	chunks := make([]Chunk, s.to-s.from)
	for i, b := range low[s.from:s.to] {
		chunks[i].Kind = Kind(b)
	}
	first := append([]uint64(nil), c.readWords(s.firsts, s.first, s.first+s.streams)...)
	gaps := c.readWords(h.total-s.firsts, s.from-s.first, s.to-s.first-s.streams)
	rest := chunks
	for i := from; i < to; i++ {
		n := h.counts[i]
		if n == 0 {
			continue
		}
		r := h.Records[i]
		r.Chunks, rest = rest[:n:n], rest[n:]
		at := max(r.FirstByte, 0) + Instant(unzigzag(first[0]))
		r.Chunks[0].At, first = at, first[1:]
		for j, gap := range gaps[:n-1] {
			at += Instant(unzigzag(gap))
			r.Chunks[j+1].At = at
		}
		gaps = gaps[n-1:]
	}
	for i, w := range c.readWords(h.total, s.from, s.to) {
		chunks[i].Kind |= Kind(w << 8)
	}
	for i, w := range c.readWords(h.total, s.from, s.to) {
		chunks[i].Tokens = uint16(w)
	}
	for i, w := range c.readWords(h.total, s.from, s.to) {
		chunks[i].Slack = uint32(w)
	}
	return c.end()
}

// A span is where the chunks of some records of a block are among all.
type span struct {
	from, to int
	first    int // records with chunks before them
	streams  int // of them, those with chunks
	firsts   int // records with chunks in the block
}

func (h *Heads) span(from, to int) (s span) {
	for i, n := range h.counts {
		if i < from {
			s.from += n
		}
		if i < to {
			s.to += n
		}
		if n == 0 {
			continue
		}
		s.firsts++
		if i < from {
			s.first++
		} else if i < to {
			s.streams++
		}
	}
	return s
}
