package trace

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"sync"
)

// A MarkKey is the secret under which answers are marked. Marks of one key can be compared, and whoever has the key can
// test a guess of a short answer.
type MarkKey [aes.BlockSize]byte

// ID names a key without giving it away. Marks can be compared if they have the same.
func (k MarkKey) ID() string { return NewMarker(k).id }

// MarshalText writes the key in hexadecimal.
func (k MarkKey) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText reads the output of MarshalText.
func (k *MarkKey) UnmarshalText(b []byte) error {
	raw, err := hex.AppendDecode(nil, b)
	if err != nil || len(raw) != len(k) {
		return fmt.Errorf("key of marks: want %d hexadecimal digits", 2*len(k))
	}
	*k = MarkKey(raw)
	return nil
}

// A Marker marks answers under one key. It may be used by several goroutines.
type Marker struct {
	cipher cipher.Block
	id     string
}

// NewMarker returns a Marker for a key.
func NewMarker(key MarkKey) *Marker {
	c, _ := aes.NewCipher(key[:]) // of a length that there is
	var name [aes.BlockSize]byte
	copy(name[:], "name of the key")
	c.Encrypt(name[:], name[:])
	return &Marker{cipher: c, id: hex.EncodeToString(name[:8])}
}

// ID names the key.
func (m *Marker) ID() string { return m.id }

// InClear marks answers the texts of which stand in the file of another tool. Its key is no secret: a store has them marked
// again, under its own.
var InClear = sync.OnceValue(func() *Marker { return NewMarker(MarkKey{}) })

// MarkText gives a record that succeeded the marks and defects of its text.
func (m *Marker) MarkText(r *Record) {
	if !r.OK() {
		return
	}
	var a Answer
	a.Begin(m)
	a.AddString(VisiblePart, r.Text)
	r.Marks, r.Defects = a.End(false, false)
}

// Marks say of an answer whether, and up to which place, it is the same as another one, without its text: keyed hashes
// (CBC-MAC with AES-128) of its beginnings, after 1, 2, 4 ... 64 bytes and then every 64, and of all of it. The bytes are
// those of its parts in the order in which they came, with one more where another part begins. How they were cut into
// chunks, and the ids of calls, do not enter. Empty: there are none.
//
//	bytes, characters   uvarint
//	end                 64 bits, of all
//	beginnings          16 bits each: a chance match puts the first difference one step late, and the next one shows it
//	visible             64 bits of the visible text alone, if that is not all
type Marks string

const (
	markEvery = 64 // bytes, after the first marks
	markBytes = 2  // of a beginning
	endBytes  = 8
)

// markAfter is the place of the mark after one at a place.
func markAfter(place int) int { return place + min(max(place, 1), markEvery) }

// marksIn is how many beginnings of n bytes are marked.
func marksIn(n int) int {
	if n < markEvery {
		return bits.Len(uint(n))
	}
	return bits.Len(markEvery-1) + n/markEvery
}

// placeOf is the place of a mark by its number from 0.
func placeOf(i int) int {
	if first := bits.Len(markEvery - 1); i >= first {
		return (i - first + 1) * markEvery
	}
	return 1 << i
}

// A Digest is what Marks say.
type Digest struct {
	Bytes, Characters int    // of the output; a byte more for each part after the first
	End               uint64 // of all of it
	Visible           uint64 // of the visible text
	beginnings        string
}

var errMarks = errors.New("marks of an answer truncated or damaged")

// Digest reads m, which is not empty.
func (m Marks) Digest() (d Digest, err error) {
	in := decoder{rest: []byte(m)}
	d.Bytes, d.Characters = int(in.uvarint(MaxCount)), int(in.uvarint(MaxCount))
	end := in.bytes(endBytes)
	beginnings := in.bytes(markBytes * marksIn(d.Bytes))
	visible := end
	if len(in.rest) > 0 {
		visible = in.bytes(endBytes)
	}
	if in.bad || len(in.rest) > 0 || d.Characters > d.Bytes {
		return Digest{}, errMarks
	}
	d.End, d.Visible = binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(visible)
	d.beginnings = string(beginnings)
	return d, nil
}

// Common is how many bytes at the beginning of both answers are known to be the same: all, or up to 63 fewer than are.
func (d Digest) Common(other Digest) int {
	if d.End == other.End {
		return d.Bytes
	}
	a, b := d.beginnings, other.beginnings
	n := 0
	for ; (n+1)*markBytes <= min(len(a), len(b)); n++ {
		if at := n * markBytes; a[at:at+markBytes] != b[at:at+markBytes] {
			break
		}
	}
	if n == 0 {
		return 0
	}
	return placeOf(n - 1)
}

// MarshalText writes the marks in hexadecimal.
func (m Marks) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, []byte(m)), nil }

// UnmarshalText reads the output of MarshalText.
func (m *Marks) UnmarshalText(b []byte) error {
	raw, err := hex.AppendDecode(nil, b)
	if err != nil {
		return errMarks
	}
	*m = Marks(raw)
	if len(raw) > 0 {
		_, err = m.Digest()
	}
	return err
}

// A chain is a hash of the bytes so far: those that do not fill a block are in the state and not encrypted.
type chain struct {
	state [aes.BlockSize]byte
	fill  int
	bytes int
}

func (c *chain) write(key cipher.Block, p []byte) {
	c.bytes += len(p)
	for len(p) > 0 {
		n := subtle.XORBytes(c.state[c.fill:], c.state[c.fill:], p)
		p = p[n:]
		if c.fill += n; c.fill == len(c.state) {
			c.close(key)
		}
	}
}

// close encrypts what is not.
func (c *chain) close(key cipher.Block) {
	c.fill = 0
	key.Encrypt(c.state[:], c.state[:])
}

// beginning appends the mark of the bytes so far; c is a copy of their chain.
func (c *chain) beginning(key cipher.Block, marks []byte) []byte {
	if c.fill > 0 {
		c.close(key)
	}
	return append(marks, c.state[:markBytes]...)
}

// end appends the mark of all, in which their number enters; c is a copy of their chain.
func (c *chain) end(key cipher.Block, marks []byte) []byte {
	if c.fill > 0 {
		c.close(key)
	}
	for i, n := 0, uint64(c.bytes); n > 0; i, n = i+1, n>>8 {
		c.state[i] ^= byte(n)
	}
	c.close(key)
	return append(marks, c.state[:endBytes]...)
}
