package telemetry

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// equal compares columns to the bit.
func equal(a, b []Column) bool {
	return slices.EqualFunc(a, b, func(a, b Column) bool {
		return a.Series == b.Series && slices.EqualFunc(a.Points, b.Points, func(p, q Point) bool {
			return p.At == q.At && math.Float64bits(p.Value) == math.Float64bits(q.Value)
		})
	})
}

// joined are the columns of blocks, each in one piece, by number.
func joined(t interface{ Fatal(...any) }, blocks []Block) (out []Column) {
	all := map[int][]Point{}
	for _, b := range blocks {
		columns, err := DecodeBlock(b.Data)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range columns {
			all[c.Series] = append(all[c.Series], c.Points...)
			n += len(c.Points)
			if c.Points[0].At < b.From || c.Points[len(c.Points)-1].At > b.To {
				t.Fatal("points beyond the span of their block")
			}
		}
		if n != b.Points || n > blockPoints {
			t.Fatal(n, "points in a block of", b.Points)
		}
	}
	for number, points := range all {
		out = append(out, Column{number, points})
	}
	slices.SortFunc(out, func(a, b Column) int { return a.Series - b.Series })
	return out
}

// values are of the kinds that series have, and everything else that a float64 can be.
func values() *rapid.Generator[float64] {
	special := []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.MaxFloat64, math.SmallestNonzeroFloat64,
		1 << 53, 1<<53 + 2, -1 << 53,
	}
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(-1000, 1000), func(n int) float64 { return float64(n) }),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) float64 { return float64(n) / 1000 }),
		rapid.Float64(), rapid.SampledFrom(special),
		rapid.Map(rapid.Uint64(), math.Float64frombits),
	)
}

// Decoding returns the encoded series, to the bit and to the nanosecond: series that share their
// instants, that have some of those of others, and that have their own.
func TestBlocksComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.SampledFrom([]int64{1, 1e6, 1e9, 1e15, math.MaxInt64}).Draw(t, "every")
		instants := func(most int) []int64 {
			all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) int64 {
				return rapid.Int64Range(-1000, 1000).Draw(t, "tick")*every +
					rapid.SampledFrom([]int64{0, 0, 1, 777}).Draw(t, "jitter")
			}), 1, most, rapid.ID).Draw(t, "instants")
			return slices.Sorted(slices.Values(all))
		}
		common := instants(40)
		var columns []Column
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, 1<<40), 1, 8, rapid.ID).Draw(t, "series")
		for _, number := range slices.Sorted(slices.Values(numbers)) {
			at := common
			switch rapid.IntRange(0, 3).Draw(t, "times") {
			case 0:
				at = instants(20)
			case 1:
				at = slices.DeleteFunc(slices.Clone(common[1:]), func(int64) bool {
					return rapid.IntRange(0, 3).Draw(t, "leave out") == 0
				})
				at = append([]int64{common[0]}, at...)
			}
			c := Column{Series: number}
			of := rapid.SampledFrom([]*rapid.Generator[float64]{
				values(), rapid.Just(rapid.Float64().Draw(t, "constant")), rapid.Map(rapid.IntRange(0, 9),
					func(n int) float64 { return float64(n) / 100 }),
			}).Draw(t, "values")
			for _, t0 := range at {
				c.Points = append(c.Points, Point{time.Duration(t0), of.Draw(t, "value")})
			}
			columns = append(columns, c)
		}
		if got := joined(t, Blocks(columns)); !equal(columns, got) {
			t.Fatalf("want %v\ngot %v", columns, got)
		}
	})
}

// More points than a block holds are split by time, more series than it holds by series.
func TestBlocksAreBounded(t *testing.T) {
	var columns []Column
	for i := range blockColumns + 3 {
		c := Column{Series: i}
		for j := range 40 {
			c.Points = append(c.Points, at(j*j, float64(i*j)))
		}
		columns = append(columns, c)
	}
	long := Column{Series: blockColumns + 3}
	for j := range 3 * blockPoints {
		long.Points = append(long.Points, Point{time.Duration(math.MinInt64/2) + time.Duration(j), 1})
	}
	columns = append(columns, long)
	blocks := Blocks(columns)
	if got := joined(t, blocks); !equal(columns, got) {
		t.Error("not as it was")
	}
	if n := len(blocks); n < 7 || n > 16 {
		t.Errorf("%d blocks", n)
	}
	if Blocks(nil) != nil {
		t.Error("a block of nothing")
	}
}

// What bytes say does not decide how much memory they take.
func TestBombs(t *testing.T) {
	one := encodeBlock([]Column{{0, []Point{at(0, 1)}}})
	pack := func(raw []byte) []byte { return pack([]byte{format}, raw) }
	for name, data := range map[string][]byte{
		"nothing": nil, "another form": append([]byte{format + 1}, one[1:]...), "cut": one[:len(one)-1],
		"no frame":       {format, 1, 2, 3},
		"behind the end": append(bytes.Clone(one), 0), "zeros": pack(make([]byte, blockBytes+1)),
		"many timelines":    pack([]byte{0xff, 0xff, 0xff, 0x7f}),
		"many rows":         pack([]byte{1, 0, 0xff, 0xff, 0xff, 0x7f, 0, 2, 2, 0}),
		"no columns":        pack([]byte{1, 0, 1, 0, 0}),
		"a base of its own": pack([]byte{1, 1, 1}),
		"more behind it":    pack(append([]byte{1, 0, 1, 0, 1, 0, 0, 0, 2, 0}, 7)),
	} {
		if columns, err := DecodeBlock(data); err == nil {
			t.Errorf("%s: %d columns", name, len(columns))
		}
	}
	if _, err := DecodeBlock(pack([]byte{1, 0, 1, 0, 1, 0, 0, 0, 2})); err != nil { // one series, one instant, value 1
		t.Error(err)
	}
	// 4096 columns of 65536 equal values each would be 4 GiB.
	bomb := []byte{1, 0, 0x80, 0x80, 4, 0, 1, 0, 0, 0x80, 0x20, 0, 1, 2, 0, 0, 0}
	for range blockColumns {
		bomb = append(bomb, 0, 0, 0)
	}
	if n := testing.AllocsPerRun(1, func() { _, _ = DecodeBlock(pack(bomb)) }); n > 100 {
		t.Errorf("%v allocations", n)
	}
	if _, err := DecodeBlock(pack(bomb)); err == nil {
		t.Error("4 GiB of points")
	}
}

// A bit that is wrong is not taken for another sample.
func TestABlockHasAChecksum(t *testing.T) {
	data := Blocks(sampled(60))[0].Data
	for i := range data {
		wrong := bytes.Clone(data)
		wrong[i] ^= 1 << (i % 8)
		if columns, err := DecodeBlock(wrong); err == nil && !equal(columns, sampled(60)) {
			t.Errorf("byte %d", i)
		}
	}
}

func FuzzDecodeBlock(f *testing.F) {
	f.Add(encodeBlock([]Column{{0, []Point{at(0, 1), at(1, 2.5)}}, {1, []Point{at(1, math.Pi)}}})[1:], false)
	f.Add([]byte{1, 0, 2, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, raw bool) {
		if raw { // beyond the checksum of the compression
			data = pack(nil, data)
		}
		columns, err := DecodeBlock(append([]byte{format}, data...))
		if err != nil {
			return
		}
		n := 0
		for _, c := range columns {
			n += len(c.Points)
		}
		if n > blockPoints {
			t.Fatalf("%d points", n)
		}
		if got := joined(t, Blocks(columns)); !equal(columns, got) {
			t.Fatalf("want %v\ngot %v", columns, got)
		}
	})
}

// A walk is a made-up series of a realistic kind.
type walk struct {
	name string
	next func(r *rand.Rand, last float64) float64
}

// round is v as a source prints it: with so many digits.
func round(v, digits float64) float64 { return math.Round(v*digits) / digits }

// gauges and counters as they are read once a second: of a vLLM server under a changing load with a
// cache of 27 000 blocks, of a GPU by nvidia-smi, and of eight processors.
func walks() []walk {
	between := func(v, low, high float64) float64 { return max(low, min(high, v)) }
	all := []walk{
		{"running", func(r *rand.Rand, v float64) float64 { return between(v+float64(r.IntN(7)-3), 0, 256) }},
		{"waiting", func(r *rand.Rand, v float64) float64 { return between(v+float64(r.IntN(5)-2), 0, 64) }},
		{"KV use", func(r *rand.Rand, v float64) float64 {
			return 1 - math.Round((1-between(v+r.NormFloat64()*0.005, 0, 1))*27000)/27000
		}},
		{"prompt tokens", func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(12)*256) }},
		{"output tokens", func(r *rand.Rand, v float64) float64 { return v + float64(2400+r.IntN(400)) }},
		{"cache queries", func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(12)*256) }},
		{"preemptions", func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(100)/99) }},
		{"finished", func(r *rand.Rand, v float64) float64 { return v + float64(r.IntN(20)) }},
		{"device busy", func(r *rand.Rand, v float64) float64 {
			return float64(int(between(v*100+float64(r.IntN(9)-4), 0, 100))) / 100
		}},
		{"device memory", func(r *rand.Rand, _ float64) float64 { return 75e9 + 1<<20*float64(r.IntN(100)/98) }},
		{"power", func(r *rand.Rand, v float64) float64 { return round(between(v+r.NormFloat64()*12, 70, 700), 100) }},
		{"energy", func(r *rand.Rand, v float64) float64 { return round(v+450+r.NormFloat64()*12, 1000) }},
		{"temperature", func(r *rand.Rand, v float64) float64 {
			return between(v+[]float64{-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}[r.IntN(12)], 30, 90)
		}},
		{"clock", func(r *rand.Rand, _ float64) float64 { return 1e6 * (1980 - 15*float64(r.IntN(10)/8)) }},
		{"throttled", func(r *rand.Rand, _ float64) float64 { return float64(r.IntN(200) / 199) }},
		{"switches", func(r *rand.Rand, v float64) float64 { return v + float64(20000+r.IntN(4000)) }},
		{"received", func(r *rand.Rand, v float64) float64 { return v + float64(300000+r.IntN(100000)) }},
	}
	for range 8 {
		all = append(all, walk{"CPU time", func(r *rand.Rand, v float64) float64 {
			return round(v+float64(r.IntN(30))/100, 100)
		}})
	}
	return all
}

// sampled is n samples of each, one a second, at instants that are up to 2 ms late.
func sampled(n int) []Column {
	r := rand.New(rand.NewPCG(1, 2))
	all := walks()
	columns := make([]Column, len(all))
	values := make([]float64, len(all))
	for j := range n {
		at := time.Duration(j)*time.Second + time.Duration(r.ExpFloat64()*3e5)
		for i, w := range all {
			values[i] = w.next(r, values[i])
			columns[i].Series = i
			columns[i].Points = append(columns[i].Points, Point{at, values[i]})
		}
	}
	return columns
}

// bytesOf is what blocks of columns have in bytes.
func bytesOf(columns ...Column) (n int) {
	for _, b := range Blocks(columns) {
		n += len(b.Data)
	}
	return n
}

// An hour of a server, its GPU and its host takes at most 2 bytes a sample, and so does each series
// but those in which the noise alone is more: shares of 27 000 blocks as binary fractions, energy to
// the millijoule, bytes of a busy network.
func TestASampleTakesTwoBytes(t *testing.T) {
	noisy := map[string]float64{"KV use": 6.6, "energy": 2.2, "received": 2.4}
	columns := sampled(3600)
	if per := float64(bytesOf(columns...)) / float64(3600*len(columns)); per > 1.2 {
		t.Errorf("%.2f bytes a sample", per)
	}
	instants := Column{Series: len(columns)}
	for _, p := range columns[0].Points {
		instants.Points = append(instants.Points, Point{At: p.At})
	}
	for i, w := range walks() {
		own := float64(bytesOf(columns[i], instants)-bytesOf(instants)) / 3600
		if own > cmp.Or(noisy[w.name], 2) {
			t.Errorf("%s: %.2f bytes a sample", w.name, own)
		}
	}
}

// An hour of 25 series, and two seconds of them as they are committed meanwhile.
func BenchmarkBlocks(b *testing.B) {
	for _, bb := range []struct {
		name string
		n    int
	}{{"hour", 3600}, {"live", 2}} {
		columns := sampled(bb.n)
		samples := float64(bb.n * len(columns))
		blocks := Blocks(columns)
		b.Run("encode/"+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = bytesOf(columns...)
			}
			b.ReportMetric(float64(size)/samples, "bytes/sample")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/samples, "ns/sample")
		})
		b.Run("decode/"+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, one := range blocks {
					if _, err := DecodeBlock(one.Data); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/samples, "ns/sample")
		})
	}
}
