package view

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// Packed rows are those that were packed, to a tenth of a millisecond. The page's decoder is held to
// the same file (web/src/lib/runs/rows.test.ts).
func TestPack(t *testing.T) {
	const never = math.MaxUint32
	r := Rows{RowsHeader: RowsHeader{
		N: 4, Every: 1, Unit: 1e-6, Next: 4,
		Columns: []string{"index", "due", "released", "sent", "first", "last", "done", "prompt", "output", "class"}, Classes: []string{"", "timeout"},
	}, Values: [][]uint32{
		{0, 2, 1, 3},
		{0, 1_000_000, never, 4_000_000_000},
		{50, 1_000_100, 1_500_000, 4_000_000_100},
		{99, 1_000_199, never, 4_000_000_199},
		{30_000, never, never, 4_100_000_000},
		{90_000, never, never, 4_200_000_000},
		{90_050, 2_000_000, 1_600_000, never},
		{256, 1, 0, 100_000},
		{64, 0, 0, 1},
		{0, 1, 1, 0},
	}}
	var b bytes.Buffer
	if err := r.Pack(&b, 1e-4); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../web/src/lib/runs/testdata/rows.packed.txt", base64.StdEncoding.EncodeToString(b.Bytes()))
	got := unpacked(t, b.Bytes())
	for i, values := range r.Values {
		want := slices.Clone(values)
		for j, v := range want {
			if instant[r.Columns[i]] && v != never {
				want[j] = v / 100
			}
		}
		if !slices.Equal(got[i], want) {
			t.Errorf("%s: %v, want %v", r.Columns[i], got[i], want)
		}
	}
}

// unpacked reads the columns back.
func unpacked(t *testing.T, b []byte) (columns [][]uint32) {
	t.Helper()
	if string(b[:4]) != packedMagic {
		t.Fatalf("begins with %q", b[:4])
	}
	end := 8 + binary.LittleEndian.Uint32(b[4:])
	var head RowsHeader
	if err := json.Unmarshal(b[8:end], &head); err != nil || math.Abs(head.Unit-1e-4) > 1e-12 {
		t.Fatalf("header %+v, %v", head, err)
	}
	b = b[end:]
	var left []int64
	for _, name := range head.Columns {
		var column []int64
		var out []uint32
		before := int64(0)
		for j := range head.N {
			if fromLeft[name] {
				before = left[j]
			}
			d, n := binary.Varint(b)
			b = b[n:]
			before += d
			column, out = append(column, before), append(out, uint32(before-1))
		}
		left, columns = column, append(columns, out)
	}
	if len(b) > 0 {
		t.Errorf("%d bytes are left", len(b))
	}
	return columns
}
