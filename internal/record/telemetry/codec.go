package telemetry

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync"
)

// Compressors and their counterparts keep large tables, and are used again.
var (
	packers = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(nil, flate.DefaultCompression) // a level that there is
		return w
	}}
	unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// pack appends raw to b, compressed, with its checksum ahead.
func pack(b, raw []byte) []byte {
	out := bytes.NewBuffer(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(raw)))
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(out)
	_, _ = w.Write(raw) // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// unpack is what pack compressed, at most blockBytes of it.
func unpack(b []byte) ([]byte, error) {
	if len(b) < crc32.Size {
		return nil, errBlock
	}
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	in := bytes.NewReader(b[crc32.Size:])
	if err := r.(flate.Resetter).Reset(in, nil); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, blockBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	case len(raw) > blockBytes, in.Len() > 0, crc32.ChecksumIEEE(raw) != binary.LittleEndian.Uint32(b):
		return nil, errBlock
	}
	return raw, nil
}

// appendInts appends at least one integer: the first, and the difference of each from the one
// before. The differences are counted in steps, the largest number that divides them all, and from
// their median: samples that are taken once a second, or a counter that grows steadily, leave
// small numbers. A step of 0 says that all are equal.
func appendInts(b []byte, all []int64) []byte {
	b = binary.AppendVarint(b, all[0])
	if len(all) == 1 {
		return b
	}
	differences := make([]int64, len(all)-1)
	step := uint64(0)
	for i := range differences {
		differences[i] = all[i+1] - all[i] // that may overflow; it comes back by the same way
		step = divisor(step, magnitude(differences[i]))
	}
	if step > math.MaxInt64 {
		step = 1
	}
	b = binary.AppendUvarint(b, step)
	if step == 0 {
		return b
	}
	for i := range differences {
		differences[i] /= int64(step)
	}
	usual := slices.Sorted(slices.Values(differences))[len(differences)/2]
	words := make([]uint64, len(differences))
	for i, d := range differences {
		words[i] = zigzag(d - usual)
	}
	return appendWords(binary.AppendVarint(b, usual), words)
}

// ints reads what appendInts wrote of n numbers.
func (d *decoder) ints(n int) []int64 {
	if n == 0 || d.bad {
		return nil
	}
	out := make([]int64, n)
	out[0] = d.varint()
	step := uint64(0)
	if n > 1 {
		step = d.uvarint()
	}
	if step == 0 {
		for i := range out {
			out[i] = out[0]
		}
		return out
	}
	usual := d.varint()
	for i, w := range d.words(n - 1) {
		out[i+1] = out[i] + (unzigzag(w)+usual)*int64(step)
	}
	return out
}

// divisor is the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func magnitude(d int64) uint64 {
	if d < 0 {
		return -uint64(d)
	}
	return uint64(d)
}

// zigzag makes numbers near 0 small, whatever their sign.
func zigzag(d int64) uint64 { return uint64(d)<<1 ^ uint64(d>>63) }

func unzigzag(w uint64) int64 { return int64(w>>1) ^ -int64(w&1) }

// appendWords appends words as planes: the lowest byte of each, then the next one of each, up to
// the highest that is not 0 in all. Bytes of a plane are alike, which the compression needs.
func appendWords(b []byte, words []uint64) []byte {
	all := uint64(0)
	for _, w := range words {
		all |= w
	}
	width := 0
	for ; all>>(8*width) != 0 && width < 8; width++ {
	}
	b = append(b, byte(width))
	for plane := range width {
		for _, w := range words {
			b = append(b, byte(w>>(8*plane)))
		}
	}
	return b
}

// words reads what appendWords wrote of n words.
func (d *decoder) words(n int) []uint64 {
	width := int(d.byte())
	if width > 8 {
		d.bad = true
		return nil
	}
	planes := d.bytes(width * n)
	if d.bad {
		return nil
	}
	out := make([]uint64, n)
	for plane := range width {
		for i, b := range planes[plane*n : plane*n+n] {
			out[i] |= uint64(b) << (8 * plane)
		}
	}
	return out
}

// binary64 says that the values of a column are written as they are. Any other number below
// mostDigits says with how many digits behind the point they are decimal fractions.
const (
	mostDigits = 10
	binary64   = 255
)

// powers are those of 10 by which decimal fractions are divided; all are exact.
var powers = [mostDigits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

func appendValues(b []byte, points []Point) []byte {
	if digits, all := decimals(points); all != nil {
		return appendInts(append(b, byte(digits)), all)
	}
	words, last := make([]uint64, len(points)), uint64(0)
	for i, p := range points {
		bits := math.Float64bits(p.Value)
		words[i], last = bits^last, bits
	}
	return appendWords(append(b, binary64), words)
}

// decimals are values as integers of the smallest power of ten that makes all of them integers,
// nil if none does, to the bit.
func decimals(points []Point) (digits int, all []int64) {
	for _, p := range points {
		for ; digits < mostDigits && !isDecimal(p.Value, digits); digits++ {
		}
	}
	if digits == mostDigits {
		return 0, nil
	}
	all = make([]int64, len(points))
	for i, p := range points {
		if !isDecimal(p.Value, digits) {
			return 0, nil // a value with few digits that is too large for so many
		}
		all[i] = int64(math.Round(p.Value * powers[digits]))
	}
	return digits, all
}

// isDecimal reports whether dividing an integer gives v, to the bit.
func isDecimal(v float64, digits int) bool {
	n := math.Round(v * powers[digits])
	return math.Abs(n) <= 1<<53 && math.Float64bits(float64(int64(n))/powers[digits]) == math.Float64bits(v)
}

// values reads what appendValues wrote of n values.
func (d *decoder) values(n int) []float64 {
	digits := d.byte()
	if d.bad || digits >= mostDigits && digits != binary64 {
		d.bad = true
		return nil
	}
	out := make([]float64, n)
	if digits == binary64 {
		last := uint64(0)
		for i, w := range d.words(n) {
			last ^= w
			out[i] = math.Float64frombits(last)
		}
		return out
	}
	for i, v := range d.ints(n) {
		out[i] = float64(v) / powers[digits]
	}
	return out
}

// A decoder takes values from the front of rest. After the first mistake it is bad, and all that
// it gives is 0 or empty.
type decoder struct {
	rest []byte
	room int // points that may still come
	bad  bool
}

func (d *decoder) bytes(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads how many there are: at least one, and at most so many.
func (d *decoder) count(most int) int {
	n := d.uvarint()
	if n == 0 || n > uint64(most) {
		d.bad = true
		return 0
	}
	return int(n)
}

// reserve is n if there is room for n more points.
func (d *decoder) reserve(n int) int {
	if d.room -= n; d.room < 0 || d.bad {
		d.bad = true
		return 0
	}
	return n
}
