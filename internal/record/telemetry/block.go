package telemetry

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// A Column is the points of one series in a block, by the number that the keeper of the block
// has for the series. Numbers are not negative and differ; there is at least one point, and
// instants increase.
type Column struct {
	Series int
	Points []Point
}

// A Block is columns over a span of time, encoded.
type Block struct {
	From, To time.Duration // the first and the last instant
	Points   int
	Data     []byte // for DecodeBlock
}

// Bounds of one block. They bound the memory that a reader allocates for it, whatever its origin.
const (
	blockPoints  = 1 << 16
	blockColumns = 1 << 12
	blockBytes   = 4 << 20 // before compression
)

// Blocks encodes columns, in as few blocks as their bounds allow. Columns that were read at the
// same time, those of one source, share their instants, and should be encoded together.
func Blocks(columns []Column) (out []Block) {
	for some := range slices.Chunk(columns, blockColumns) {
		out = split(out, some)
	}
	return out
}

// split halves the time until each half fits into a block. It ends: all columns have at most
// blockColumns points at one instant.
func split(out []Block, columns []Column) []Block {
	b := Block{}
	for i, c := range columns {
		first, last := c.Points[0].At, c.Points[len(c.Points)-1].At
		if i == 0 {
			b.From, b.To = first, last
		}
		b.From, b.To, b.Points = min(b.From, first), max(b.To, last), b.Points+len(c.Points)
	}
	if b.Points <= blockPoints {
		b.Data = encodeBlock(columns)
		return append(out, b)
	}
	middle := b.From + time.Duration(uint64(b.To-b.From)/2) // may be more than half of all there is
	var before, after []Column
	for _, c := range columns {
		n, _ := slices.BinarySearchFunc(c.Points, middle,
			func(p Point, t time.Duration) int { return cmp.Compare(p.At, t+1) })
		if n > 0 {
			before = append(before, Column{c.Series, c.Points[:n]})
		}
		if n < len(c.Points) {
			after = append(after, Column{c.Series, c.Points[n:]})
		}
	}
	return split(split(out, before), after)
}

// format is the first byte of a block.
const format = 1

// A timeline is the instants of columns: of its own, or some of those of another.
type timeline struct {
	at   []Point // of the first column that has them
	base int     // of which timeline they are some; -1: of none
}

// encodeBlock is a block of columns within its bounds.
func encodeBlock(columns []Column) []byte {
	columns = slices.SortedFunc(slices.Values(columns), func(a, b Column) int { return cmp.Compare(a.Series, b.Series) })
	lines, of := timelines(columns)
	raw := binary.AppendUvarint(nil, uint64(len(lines)))
	for _, l := range lines {
		raw = binary.AppendUvarint(raw, uint64(l.base+1))
		if l.base >= 0 {
			raw = appendBits(raw, lines[l.base].at, l.at)
			continue
		}
		raw = binary.AppendUvarint(raw, uint64(len(l.at)))
		raw = appendInts(raw, ints(l.at, func(p Point) int64 { return int64(p.At) }))
	}
	raw = binary.AppendUvarint(raw, uint64(len(columns)))
	raw = appendInts(raw, ints(columns, func(c Column) int64 { return int64(c.Series) }))
	raw = appendInts(raw, of)
	for _, c := range columns {
		raw = appendValues(raw, c.Points)
	}
	return pack([]byte{format}, raw)
}

func ints[T any](all []T, of func(T) int64) []int64 {
	out := make([]int64, len(all))
	for i, x := range all {
		out[i] = of(x)
	}
	return out
}

// timelines are the different instants that columns have, and which of them each column has.
func timelines(columns []Column) (lines []timeline, of []int64) {
	longest := make([]int, len(columns))
	for i := range longest {
		longest[i] = i
	}
	slices.SortStableFunc(longest, func(a, b int) int {
		return cmp.Compare(len(columns[b].Points), len(columns[a].Points))
	})
	type shape struct {
		n           int
		first, last time.Duration
	}
	known, of := map[shape][]int{}, make([]int64, len(columns))
	for _, i := range longest {
		points := columns[i].Points
		s := shape{len(points), points[0].At, points[len(points)-1].At}
		at := slices.IndexFunc(known[s], func(l int) bool { return slices.EqualFunc(lines[l].at, points, sameInstant) })
		if at >= 0 {
			of[i] = int64(known[s][at])
			continue
		}
		of[i] = int64(len(lines))
		known[s] = append(known[s], len(lines))
		lines = append(lines, timeline{points, basis(lines, points)})
	}
	return lines, of
}

func sameInstant(a, b Point) bool { return a.At == b.At }

// basis finds a timeline that has all instants of points and at most twice as many, among the
// first few; -1 if there is none.
func basis(lines []timeline, points []Point) int {
	for i, l := range lines[:min(len(lines), 8)] {
		if l.base < 0 && len(l.at) <= 2*len(points) && isSubset(l.at, points) {
			return i
		}
	}
	return -1
}

// isSubset reports whether all instants of some are among those of all.
func isSubset(all, some []Point) bool {
	for _, p := range all {
		if len(some) > 0 && p.At == some[0].At {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// appendBits appends a bit for each of all, set if some has its instant.
func appendBits(b []byte, all, some []Point) []byte {
	bits := make([]byte, (len(all)+7)/8)
	for i, p := range all {
		if len(some) > 0 && p.At == some[0].At {
			bits[i/8] |= 1 << (i % 8)
			some = some[1:]
		}
	}
	return append(b, bits...)
}

// errBlock is the error for bytes that no encoder wrote.
var errBlock = errors.New("block of samples truncated or damaged")

// DecodeBlock reads the Data of a Block; its columns come in the order of their numbers.
func DecodeBlock(data []byte) ([]Column, error) {
	if len(data) == 0 || data[0] != format {
		return nil, errBlock
	}
	raw, err := unpack(data[1:])
	if err != nil {
		return nil, err
	}
	d := &decoder{rest: raw}
	columns := d.block()
	if d.bad || len(d.rest) > 0 {
		return nil, errBlock
	}
	return columns, nil
}

// block reads a block, or leaves d bad.
func (d *decoder) block() []Column {
	lines := make([][]int64, d.count(blockColumns))
	d.room = blockPoints
	whole := map[int]bool{}
	for i := range lines {
		switch base := d.uvarint(); {
		case d.bad:
			return nil
		case base == 0:
			whole[i] = true
			lines[i] = d.ints(d.reserve(d.count(blockPoints)))
		case base <= uint64(i) && whole[int(base-1)]:
			lines[i] = d.readSubset(lines[base-1])
		default:
			d.bad = true
		}
		if !increasing(lines[i]) {
			d.bad = true
		}
	}
	n := d.count(blockColumns)
	numbers, of := d.ints(n), d.ints(n)
	if d.bad || !increasing(numbers) || numbers[0] < 0 {
		d.bad = true
		return nil
	}
	d.room = blockPoints
	columns := make([]Column, 0, n)
	for i, number := range numbers {
		if of[i] < 0 || of[i] >= int64(len(lines)) {
			d.bad = true
			return nil
		}
		columns = append(columns, Column{int(number), d.points(lines[of[i]])})
	}
	return columns
}

// increasing reports whether there is at least one number, and each is larger than the one before.
func increasing(all []int64) bool {
	for i := 1; i < len(all); i++ {
		if all[i] <= all[i-1] {
			return false
		}
	}
	return len(all) > 0
}

// readSubset reads which instants of a timeline another has.
func (d *decoder) readSubset(all []int64) (out []int64) {
	bits := d.bytes((len(all) + 7) / 8)
	for i, b := range bits {
		for j := i * 8; j < min(len(all), i*8+8); j++ {
			if b&(1<<(j%8)) != 0 {
				out = append(out, all[j])
			}
		}
	}
	d.reserve(len(out))
	return out
}

// points reads the values of a column at instants.
func (d *decoder) points(at []int64) []Point {
	values := d.values(d.reserve(len(at)))
	if d.bad {
		return nil
	}
	out := make([]Point, len(at))
	for i, v := range values {
		out[i] = Point{time.Duration(at[i]), v}
	}
	return out
}
