package compare

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A series is values, times a factor. Those of many requests are compressed, to seven digits each: they only make errors
// of figures.
type series struct {
	n      int
	factor float64
	plain  []float64
	packed []byte        // little-endian float32 by planes of bytes, compressed by Zstandard; nil: plain
	stored func() []byte // reads packed each time that it is wanted, nil: it is in memory
}

// plainSeries is the number of values up to which a series is as it is.
const plainSeries = 1 << 14

var (
	packer   = sync.OnceValue(func() *zstd.Encoder { e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); return e })
	unpacker = sync.OnceValue(func() *zstd.Decoder { d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); return d })
)

func newSeries(x []float64) series {
	s := series{n: len(x), factor: 1}
	if len(x) <= plainSeries {
		s.plain = x
		return s
	}
	planes := make([]byte, 4*len(x))
	for i, v := range x {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(v)))
		for k := range b {
			planes[k*len(x)+i] = b[k]
		}
	}
	s.packed = packer().EncodeAll(planes, nil)
	return s
}

// values are those of the series; false if it is damaged.
func (s series) values() (x []float64, ok bool) {
	if s.stored != nil {
		s.packed = s.stored()
	}
	x = make([]float64, s.n)
	if s.plain != nil {
		for i := range x {
			x[i] = s.plain[i] * s.factor
		}
		return x, true
	}
	planes, err := unpacker().DecodeAll(s.packed, make([]byte, 0, 4*s.n))
	if err != nil || len(planes) != 4*s.n {
		return nil, false
	}
	a, b, c, d := planes[:s.n], planes[s.n:2*s.n], planes[2*s.n:3*s.n], planes[3*s.n:]
	for i := range x {
		bits := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		x[i] = float64(math.Float32frombits(bits)) * s.factor
	}
	return x, true
}
