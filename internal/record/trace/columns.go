package trace

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// sectionBytes is the size of the largest section that is compressed. A larger one stands as it is, so that a reader
// allocates no more than this for bytes that no encoder wrote, or as much as there is in the file.
const sectionBytes = 1 << 20

// leastPacked is the size of the smallest section that is compressed.
const leastPacked = 48

// leastText is the size of the smallest section of text that is worth the memory of a better level.
const leastText = 8 << 10

// format is the first byte of a part of a block; the checksum of the rest follows.
const format = 1

// The checksum of a part.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A coder writes the columns of a part of a block, or reads them: the order of the columns is the same, and stands once.
// A column of n integers is a byte with the number of planes, and these: the lowest byte of each integer, the next byte
// of each, up to the highest that is not 0 in all. Without planes all are equal, and there is one. Planes of bytes that
// are alike compress, and those of noise do not cost time.
type coder struct {
	reading bool
	decoder        // what is to be read
	out     []byte // what is written
	pack    *Packer
	words   []uint64
	plane   []byte // the last section that was unpacked, or is to be packed
	packed  []byte
	written int // bytes of sections since the last pause
}

// A Packer makes blocks, one after the other. Its zero value is ready. It is for one goroutine.
type Packer struct {
	Plain bool   // leave sections uncompressed, which takes half of the time
	Pause func() // called after each pauseAfter bytes, some 0.1 ms of work, unless it is nil
	zstd  [zstd.SpeedDefault + 1]*zstd.Encoder
	coder coder
}

// pauseAfter is how many bytes of sections are written between two pauses.
const pauseAfter = 32 << 10

// unpacker decompresses; it does not allocate beyond the capacity of the destination.
var unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
	zstd.WithDecodeAllCapLimit(true))

// compress appends raw to b, compressed. Text gains much from a better level, planes nothing.
func (p *Packer) compress(b, raw []byte, level zstd.EncoderLevel) []byte {
	if p.zstd[level] == nil { // settings that there are
		p.zstd[level], _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(sectionBytes), zstd.WithEncoderLevel(level))
	}
	return p.zstd[level].EncodeAll(raw, b)
}

// seal returns what was written, as a part.
func (c *coder) seal() []byte {
	sum := crc32.Checksum(c.out, castagnoli)
	return slices.Concat([]byte{format}, binary.LittleEndian.AppendUint32(nil, sum), c.out)
}

// unseal returns the coder of a part.
func unseal(part []byte) *coder {
	const header = 1 + crc32.Size
	c := &coder{reading: true}
	if len(part) < header || part[0] != format || binary.LittleEndian.Uint32(part[1:]) != crc32.Checksum(part[header:], castagnoli) {
		c.bad = true
		return c
	}
	c.rest = part[header:]
	return c
}

// end is the error of a part that was read.
func (c *coder) end() error {
	if c.bad || len(c.rest) > 0 {
		return errBlock
	}
	return nil
}

// take are n words to be written, or that will be read.
func (c *coder) take(n int) []uint64 {
	if cap(c.words) < n {
		c.words = make([]uint64, n)
	}
	c.words = c.words[:n]
	return c.words
}

// put writes a section of bytes, the length of which the reader knows.
func (c *coder) put(raw []byte, level zstd.EncoderLevel) {
	if c.written += len(raw); c.written > pauseAfter {
		if c.written = 0; c.pack.Pause != nil {
			c.pack.Pause()
		}
	}
	if !c.pack.Plain && len(raw) >= leastPacked && len(raw) <= sectionBytes {
		c.packed = c.pack.compress(c.packed[:0], raw, level)
		if len(c.packed) < len(raw) {
			c.out = append(binary.AppendUvarint(c.out, uint64(len(c.packed))), c.packed...)
			return
		}
	}
	c.out = append(append(c.out, 0), raw...)
}

// section reads a section of n bytes, which are valid until the next one is read; nil is none.
func (c *coder) section(n int) []byte {
	length := int(c.uvarint(uint64(len(c.rest))))
	if length == 0 {
		return c.bytes(n)
	}
	packed := c.bytes(length)
	if c.bad || n < 0 || n > sectionBytes {
		c.bad = true
		return nil
	}
	if cap(c.plane) < n {
		c.plane = make([]byte, n)
	}
	raw, err := unpacker.DecodeAll(packed, c.plane[:0:n])
	if err != nil || len(raw) != n {
		c.bad = true
		return nil
	}
	return raw
}

// putWords writes a column.
func (c *coder) putWords(words []uint64) {
	var first, all, differ uint64
	if len(words) > 0 {
		first = words[0]
	}
	for _, w := range words {
		all |= w
		differ |= w ^ first
	}
	if differ == 0 {
		c.putSame(first)
		return
	}
	c.plane = slices.Grow(c.plane[:0], len(words))[:len(words)]
	width := (bits.Len64(all) + 7) / 8
	c.out = append(c.out, byte(width))
	for shift := 0; shift < 8*width; shift += 8 {
		for i, w := range words {
			c.plane[i] = byte(w >> (shift & 63))
		}
		c.put(c.plane, zstd.SpeedFastest)
	}
}

// putSame writes a column of one word for all.
func (c *coder) putSame(word uint64) { c.out = binary.AppendUvarint(append(c.out, 0), word) }

// readWords reads those from one to another of the n words of a column.
func (c *coder) readWords(n, from, to int) []uint64 {
	words := c.take(to - from)
	clear(words)
	width := int(c.byte())
	if width == 0 {
		value := c.uvarint(1<<64 - 1)
		for i := range words {
			words[i] = value
		}
	}
	c.bad = c.bad || width > 8
	for plane := 0; plane < width && !c.bad; plane++ {
		section := c.section(n)
		if c.bad {
			break
		}
		shift := 8 * plane & 63
		for i, b := range section[from:to] {
			words[i] |= uint64(b) << shift
		}
	}
	return words
}

// zigzag makes numbers near 0 small, whatever their sign.
func zigzag(d int64) uint64 { return uint64(d)<<1 ^ uint64(d>>63) }

func unzigzag(w uint64) int64 { return int64(w>>1) ^ -int64(w&1) }

// integers is a column of n numbers, as differences from others that have been read before them.
func integers[T ~int | ~int64 | ~uint8](c *coder, n int, at func(i int) (value *T, from T)) {
	if c.reading {
		for i, w := range c.readWords(n, 0, n) {
			value, from := at(i)
			*value = from + T(unzigzag(w))
		}
		return
	}
	words := c.take(n)
	for i := range words {
		value, from := at(i)
		words[i] = zigzag(int64(*value - from))
	}
	c.putWords(words)
}

// seldom is a column of n numbers, most of which are 0 in most blocks.
func seldom[T ~int | ~int64 | ~uint8](c *coder, n int, at func(i int) *T) {
	if c.reading && len(c.rest) > 1 && c.rest[0] == 0 && c.rest[1] == 0 {
		c.bytes(2) // all are 0, as they were made
		return
	}
	integers(c, n, func(i int) (*T, T) { return at(i), 0 })
}

// instants is a column of n instants, as differences, and one that says which are Never.
func instants(c *coder, n int, at func(i int) (value *Instant, from Instant)) {
	never, some := make([]int, n), false
	if !c.reading {
		for i := range never {
			if value, _ := at(i); !value.Happened() {
				never[i] = 1
			}
		}
	}
	seldom(c, n, func(i int) *int { return &never[i] })
	for _, one := range never {
		some = some || one == 0
	}
	if !some {
		return
	}
	unused := Never
	integers(c, n, func(i int) (*Instant, Instant) {
		if never[i] != 0 {
			unused = Never
			return &unused, Never
		}
		return at(i)
	})
}

// texts is a column of n texts: the one that all are, or their lengths and all of them.
func texts[T ~string](c *coder, n int, at func(i int) *T) {
	if c.reading {
		readTexts(c, n, at)
		return
	}
	lengths, all, same := make([]int, n), []byte{}, true
	for i := range n {
		text := *at(i)
		lengths[i], all, same = len(text), append(all, text...), same && text == *at(0)
	}
	if same && n > 0 {
		c.out = binary.AppendUvarint(append(c.out, 0), uint64(lengths[0]))
		c.out = append(c.out, all[:lengths[0]]...)
		return
	}
	c.out = append(c.out, 1)
	integers(c, n, func(i int) (*int, int) { return &lengths[i], 0 })
	level := zstd.SpeedFastest
	if len(all) > leastText {
		level = zstd.SpeedDefault
	}
	c.put(all, level)
}

func readTexts[T ~string](c *coder, n int, at func(i int) *T) {
	if kind := c.byte(); kind == 0 {
		text := T(c.bytes(int(c.uvarint(uint64(len(c.rest))))))
		for i := range n {
			if text == "" {
				break
			}
			*at(i) = text
		}
		return
	}
	lengths, total := make([]int, n), 0
	integers(c, n, func(i int) (*int, int) { return &lengths[i], 0 })
	for _, length := range lengths {
		if length < 0 || length > max(sectionBytes, len(c.rest)) {
			c.bad = true
			return
		}
		total += length
	}
	all := string(c.section(total))
	if c.bad {
		return
	}
	for i, length := range lengths {
		*at(i), all = T(all[:length]), all[length:]
	}
}
