package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// AppendChunks appends the compact form of chunks to b: for each chunk the gap
// to the one before it in nanoseconds (zigzag varint), its tokens (varint) and
// its kind (byte). A stream of 30 ms gaps takes 6 bytes a chunk.
func AppendChunks(b []byte, chunks []Chunk) []byte {
	prev := Instant(0)
	for _, c := range chunks {
		b = binary.AppendVarint(b, int64(c.At-prev))
		b = binary.AppendUvarint(b, uint64(uint32(c.Tokens)))
		b = append(b, byte(c.Kind))
		prev = c.At
	}
	return b
}

var errChunks = errors.New("chunk list cut short or damaged")

// DecodeChunks reads what AppendChunks wrote.
func DecodeChunks(b []byte) ([]Chunk, error) {
	var chunks []Chunk
	at := int64(0)
	for len(b) > 0 {
		gap, n := binary.Varint(b)
		if n <= 0 {
			return nil, errChunks
		}
		tokens, m := binary.Uvarint(b[n:])
		if m <= 0 || tokens > math.MaxUint32 || len(b) == n+m {
			return nil, errChunks
		}
		at += gap
		chunks = append(chunks, Chunk{At: Instant(at), Tokens: int32(uint32(tokens)), Kind: Kind(b[n+m])})
		b = b[n+m+1:]
	}
	return chunks, nil
}

// plainRecord is Record without its JSON methods.
type plainRecord Record

// jsonRecord spreads the chunks over three arrays of equal length.
type jsonRecord struct {
	*plainRecord
	At     []int64 `json:"chunk_at_ns"`
	Tokens []int32 `json:"chunk_tokens"`
	Kinds  []uint  `json:"chunk_kinds"` // bits, see Kind
}

// MarshalJSON writes the record as one flat object; the chunks are the arrays
// chunk_at_ns, chunk_tokens and chunk_kinds.
func (r *Record) MarshalJSON() ([]byte, error) {
	n := len(r.Chunks)
	j := jsonRecord{(*plainRecord)(r), make([]int64, n), make([]int32, n), make([]uint, n)}
	for i, c := range r.Chunks {
		j.At[i], j.Tokens[i], j.Kinds[i] = int64(c.At), c.Tokens, uint(c.Kind)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes; instants that are absent are
// Never.
func (r *Record) UnmarshalJSON(b []byte) error {
	*r = *NewRecord(0)
	j := jsonRecord{plainRecord: (*plainRecord)(r)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if len(j.Tokens) != len(j.At) || len(j.Kinds) != len(j.At) {
		return fmt.Errorf("record %d: chunk_at_ns, chunk_tokens and chunk_kinds differ in length (%d, %d, %d)",
			r.Index, len(j.At), len(j.Tokens), len(j.Kinds))
	}
	r.Chunks = nil
	for i, at := range j.At {
		r.Chunks = append(r.Chunks, Chunk{Instant(at), j.Tokens[i], Kind(j.Kinds[i])})
	}
	return nil
}
