package delivery

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// A record is encoded as
//
//	flags, defects, grade             1 byte each
//	numbers, instants                 zigzag varints
//	fractions                         varints, the bytes of the float reversed: 0 takes one
//	the server's times, if flagged    varint, JSON
//	lengths of texts, number of chunks  varints
//	texts, one after the other
//	chunks, as trace.AppendChunks     to the end
//
// One of 128 chunks takes about 900 bytes. The lists below are read by the encoder and by the
// decoder, so both have the same order.
const (
	resent byte = 1 << iota
	cachedReported
	tiered // with CacheTiers
	usageElsewhere
	timed // with ServerTimes
)

func numbers(r *trace.Record) [18]*int {
	return [...]*int{
		&r.Index, &r.Turn, &r.PromptTokens, &r.VisionTokens, &r.WantTokens, &r.Inputs, &r.Status, &r.OutputTokens, &r.Retokenized, &r.Redials, &r.OtherLines,
		&r.Usage.Prompt, &r.Usage.Completion, &r.Usage.Cached, &r.Usage.Reasoning, &r.Quirks.Choices, &r.Quirks.Strays, &r.Quirks.Unseen,
	}
}

func instants(r *trace.Record) [10]*trace.Instant {
	return [...]*trace.Instant{&r.Due, &r.Free, &r.Released, &r.Dialed, &r.Connected, &r.Sent, &r.FirstByte, &r.Done, &r.FirstSent, &r.Usage.At}
}

func fractions(r *trace.Record) [2]*float64 { return [...]*float64{&r.AudioSeconds, &r.Accept} }

func tierNumbers(t *trace.CacheTiers) [3]*int { return [...]*int{&t.Device, &t.Host, &t.Storage} }

// texts are those of a record and of its tiers, which is not nil.
func texts(r *trace.Record, t *trace.CacheTiers) [13]*string {
	return [...]*string{
		&r.ID, &r.Tenant, &r.Session, (*string)(&r.Stamps), &r.Text, &r.FinishReason, (*string)(&r.CountedFrom), (*string)(&r.Class), &r.Error, &r.Quirks.Unread, &r.Quirks.RetryAfter,
		&t.Backend, (*string)(&r.Marks),
	}
}

func appendRecord(b []byte, r *trace.Record) []byte {
	var none trace.CacheTiers
	flags, tiers := byte(0), &none
	if r.Resent {
		flags |= resent
	}
	if r.Usage.CachedReported {
		flags |= cachedReported
	}
	if r.Quirks.UsageElsewhere {
		flags |= usageElsewhere
	}
	if r.Usage.Tiers != nil {
		flags, tiers = flags|tiered, r.Usage.Tiers
	}
	if r.Server != nil {
		flags |= timed
	}
	b = append(b, flags, byte(r.Defects), byte(r.Grade))
	for _, n := range numbers(r) {
		b = binary.AppendVarint(b, int64(*n))
	}
	for _, t := range instants(r) {
		b = binary.AppendVarint(b, int64(*t))
	}
	for _, x := range fractions(r) {
		b = binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(*x)))
	}
	if flags&tiered != 0 {
		for _, n := range tierNumbers(tiers) {
			b = binary.AppendVarint(b, int64(*n))
		}
	}
	if flags&timed != 0 {
		times, _ := json.Marshal(r.Server) // finite numbers: cannot fail
		b = append(binary.AppendUvarint(b, uint64(len(times))), times...)
	}
	all := texts(r, tiers)
	for _, s := range all {
		b = binary.AppendUvarint(b, uint64(len(*s)))
	}
	b = binary.AppendUvarint(b, uint64(len(r.Chunks)))
	for _, s := range all {
		b = append(b, *s...)
	}
	return trace.AppendChunks(b, r.Chunks)
}

var errRecord = errors.New("record truncated or damaged")

// decodeRecord reads the output of appendRecord. It keeps nothing of b.
func decodeRecord(b []byte) (*trace.Record, error) {
	d := decoder{rest: b}
	r, tiers := &trace.Record{}, &trace.CacheTiers{}
	flags := d.byte()
	r.Defects, r.Grade = trace.Defects(d.byte()), grade.Grade(d.byte())
	r.Resent, r.Usage.CachedReported = flags&resent != 0, flags&cachedReported != 0
	r.Quirks.UsageElsewhere = flags&usageElsewhere != 0
	for _, n := range numbers(r) {
		*n = int(d.varint())
	}
	for _, t := range instants(r) {
		*t = trace.Instant(d.varint())
	}
	for _, x := range fractions(r) {
		*x = math.Float64frombits(bits.ReverseBytes64(d.uvarint()))
	}
	if flags&tiered != 0 {
		r.Usage.Tiers = tiers
		for _, n := range tierNumbers(tiers) {
			*n = int(d.varint())
		}
	}
	if flags&timed != 0 {
		n := min(d.length(len(d.rest)), len(d.rest))
		d.bad = json.Unmarshal(d.rest[:n], &r.Server) != nil || r.Server == nil || d.bad
		d.rest = d.rest[n:]
	}
	d.textsAndChunks(r, tiers)
	if d.bad || flags >= timed<<1 {
		return nil, errRecord
	}
	return r, nil
}

// A decoder takes values from the front of rest until one is damaged.
type decoder struct {
	rest []byte
	bad  bool
}

// leastChunk is the fewest bytes of an encoded chunk.
const leastChunk = 3

func (d *decoder) textsAndChunks(r *trace.Record, tiers *trace.CacheTiers) {
	all := texts(r, tiers)
	var lengths [len(all)]int
	total := 0
	for i := range lengths {
		lengths[i] = d.length(len(d.rest) - total)
		total += lengths[i]
	}
	chunks := d.length(len(d.rest) / leastChunk)
	if d.bad || total > len(d.rest) {
		d.bad = true
		return
	}
	text := string(d.rest[:total]) // one string for all
	for i, n := range lengths {
		*all[i], text = text[:n], text[n:]
	}
	if d.rest = d.rest[total:]; chunks > 0 {
		r.Chunks = make([]trace.Chunk, 0, chunks)
	}
	var err error
	r.Chunks, err = trace.DecodeOnto(r.Chunks, d.rest)
	d.bad = err != nil || len(r.Chunks) != chunks
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.drop(n)
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.drop(n)
	return v
}

func (d *decoder) length(limit int) int {
	v := d.uvarint()
	if limit < 0 || v > uint64(limit) {
		d.bad = true
		return 0
	}
	return int(v)
}

// drop drops the n bytes of a value; n ≤ 0 means that there was none.
func (d *decoder) drop(n int) {
	if n <= 0 {
		d.bad, n = true, 0
	}
	d.rest = d.rest[n:]
}

// A frame is its kind (1 byte), the length of its payload (4 bytes, little-endian) and its payload.
const (
	recordFrame byte = 1 // a record
	probeFrame  byte = 2 // a record of End.Probes; they come before the End
	endFrame    byte = 3 // an End in JSON, without its Probes

	headSize = 5
	// maxFrame is the longest payload in bytes. It is far more than any answer, and bounds the incomplete frame in
	// a Receiver.
	maxFrame = 256 << 20
)

// appendFrame appends a frame with the payload that add appends.
func appendFrame(b []byte, kind byte, add func([]byte) []byte) []byte {
	start := len(b)
	b = add(append(b, kind, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(b[start+1:], uint32(min(len(b)-start-headSize, maxFrame+1)))
	return b
}

func appendRecordFrame(b []byte, kind byte, r *trace.Record) []byte {
	return appendFrame(b, kind, func(b []byte) []byte { return appendRecord(b, r) })
}

// appendEnd appends the frames of an End. Probes are separate frames: JSON has less than all of a record.
func appendEnd(b []byte, e fleet.End) ([]byte, error) {
	for _, p := range e.Probes {
		b = appendRecordFrame(b, probeFrame, p)
	}
	e.Probes = nil
	text, err := json.Marshal(e)
	if err != nil {
		return b, fmt.Errorf("encode the end of share %d: %w", e.Share, err)
	}
	return appendFrame(b, endFrame, func(b []byte) []byte { return append(b, text...) }), nil
}

// nextFrame is the first frame of b and its size, 0 if it is not complete.
func nextFrame(b []byte) (kind byte, payload []byte, size int, err error) {
	if len(b) < headSize {
		return 0, nil, 0, nil
	}
	n := int64(binary.LittleEndian.Uint32(b[1:]))
	if n > maxFrame {
		return 0, nil, 0, fmt.Errorf("a frame of %d bytes, more than %d", n, maxFrame)
	}
	if int64(len(b)) < headSize+n {
		return 0, nil, 0, nil
	}
	size = headSize + int(n)
	return b[0], b[headSize:size], size, nil
}
