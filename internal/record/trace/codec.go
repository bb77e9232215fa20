package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// more is the bit of a kind's byte that announces the rest of the kind and the
// slack.
const more = 0x80

// AppendChunks appends the compact encoding of chunks to b: for each chunk the gap
// from the previous one in nanoseconds (zigzag varint), its tokens (varint), the
// low seven bits of its kind (byte) and, if there are any, the other bits and its
// slack (varints). A stream with gaps of 30 ms takes 6 bytes per chunk.
func AppendChunks(b []byte, chunks []Chunk) []byte {
	prev := Instant(0)
	for _, c := range chunks {
		b = binary.AppendVarint(b, int64(c.At-prev))
		b = binary.AppendUvarint(b, uint64(c.Tokens))
		low, high := byte(c.Kind&^more), uint64(c.Kind>>7)
		if high == 0 && c.Slack == 0 {
			b = append(b, low)
		} else {
			b = append(b, low|more)
			b = binary.AppendUvarint(b, high)
			b = binary.AppendUvarint(b, uint64(c.Slack))
		}
		prev = c.At
	}
	return b
}

var errChunks = errors.New("chunk list truncated or damaged")

// DecodeOnto appends the chunks of an encoding by AppendChunks to others; nil if it is damaged.
func DecodeOnto(chunks []Chunk, b []byte) ([]Chunk, error) {
	d := decoder{rest: b}
	at := int64(0)
	for len(d.rest) > 0 && !d.bad {
		at += d.varint()
		if len(d.rest) >= 2 && d.rest[0] < 0x80 && d.rest[1]&more == 0 { // as nearly all are
			chunks = append(chunks, Chunk{At: Instant(at), Tokens: uint16(d.rest[0]), Kind: Kind(d.rest[1])})
			d.rest = d.rest[2:]
			continue
		}
		c := Chunk{At: Instant(at), Tokens: Carried(int(d.uvarint(math.MaxInt)))}
		kind := d.byte()
		c.Kind = Kind(kind &^ more)
		if kind&more != 0 {
			c.Kind |= Kind(d.uvarint(math.MaxUint16>>7)) << 7
			c.Slack = uint32(d.uvarint(math.MaxUint32))
		}
		chunks = append(chunks, c)
	}
	if d.bad {
		return nil, errChunks
	}
	return chunks, nil
}

// A decoder takes values from the front of rest until an error.
type decoder struct {
	rest []byte
	bad  bool
}

// take drops the n bytes of a value; n ≤ 0 means that there was none.
func (d *decoder) take(n int) {
	if n <= 0 || n > len(d.rest) {
		d.bad, n = true, 0
	}
	d.rest = d.rest[n:]
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.take(n)
	return v
}

// uvarint reads a value up to limit.
func (d *decoder) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	d.take(n)
	d.bad = d.bad || v > limit
	return v
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// bytes takes n bytes, nil if there are not as many.
func (d *decoder) bytes(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// plainRecord is Record without its JSON methods.
type plainRecord Record

// jsonRecord stores the chunks as arrays of equal length; that of the slack is
// omitted if every instant is exact.
type jsonRecord struct {
	*plainRecord
	At     []int64  `json:"chunk_at_ns"`
	Slack  []uint32 `json:"chunk_slack_us,omitempty"`
	Tokens []int    `json:"chunk_tokens"`
	Kinds  []uint   `json:"chunk_kinds"` // bits, see Kind
	// Refused says that the server's count of the output cannot be; see Record.Refused.
	Refused bool `json:"usage_refused,omitempty"`
}

// MarshalJSON writes the record as one flat object; the chunks are the arrays
// chunk_at_ns, chunk_slack_us, chunk_tokens and chunk_kinds.
func (r *Record) MarshalJSON() ([]byte, error) {
	n := len(r.Chunks)
	j := jsonRecord{plainRecord: (*plainRecord)(r), At: make([]int64, n), Tokens: make([]int, n), Kinds: make([]uint, n), Refused: r.Refused()}
	slack := make([]uint32, n)
	for i, c := range r.Chunks {
		j.At[i], j.Tokens[i], j.Kinds[i] = int64(c.At), int(c.Tokens), uint(c.Kind)
		if slack[i] = c.Slack; c.Slack > 0 {
			j.Slack = slack
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the output of MarshalJSON; absent instants are Never.
func (r *Record) UnmarshalJSON(b []byte) error {
	*r = *NewRecord(0)
	j := jsonRecord{plainRecord: (*plainRecord)(r)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	n := len(j.At)
	if len(j.Tokens) != n || len(j.Kinds) != n || j.Slack != nil && len(j.Slack) != n {
		return fmt.Errorf("record %d: chunk_at_ns, chunk_slack_us, chunk_tokens and chunk_kinds differ in length (%d, %d, %d, %d)",
			r.Index, n, len(j.Slack), len(j.Tokens), len(j.Kinds))
	}
	r.Chunks = nil
	for i, at := range j.At {
		c := Chunk{At: Instant(at), Tokens: Carried(j.Tokens[i]), Kind: Kind(j.Kinds[i])}
		if j.Slack != nil {
			c.Slack = j.Slack[i]
		}
		r.Chunks = append(r.Chunks, c)
	}
	return nil
}
