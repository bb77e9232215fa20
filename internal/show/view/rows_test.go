package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
)

// decoded reads what Encode wrote, as the page does.
func decoded(b []byte) (r Rows, err error) {
	if len(b) < 8 || string(b[:4]) != "PTR1" {
		return r, errors.New("no rows")
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	if (8+n)%4 != 0 || len(b) < 8+n {
		return r, fmt.Errorf("a header of %d bytes", n)
	}
	if err := json.Unmarshal(b[8:8+n], &r.RowsHeader); err != nil {
		return r, err
	}
	rest := b[8+n:]
	if want := 4 * r.N * len(r.Columns); len(rest) != want {
		return r, fmt.Errorf("%d bytes of columns and not %d", len(rest), want)
	}
	for range r.Columns {
		values := make([]uint32, r.N)
		for i := range values {
			values[i] = binary.LittleEndian.Uint32(rest[4*i:])
		}
		r.Values, rest = append(r.Values, values), rest[4*r.N:]
	}
	return r, nil
}

func rowsOf(n int) Rows {
	r := Rows{RowsHeader: RowsHeader{N: n, Every: 2, Unit: 1e-6, Next: 2 * n, Columns: []string{"index", "due", "class"}, Classes: []string{"", "timeout", "é"}}}
	for c := range r.Columns {
		values := make([]uint32, n)
		for i := range values {
			values[i] = uint32(i*2654435761 + c)
		}
		r.Values = append(r.Values, values)
	}
	return r
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	for _, n := range []int{0, 1, 7, 4096, 10_001} {
		var b bytes.Buffer
		if err := rowsOf(n).Encode(&b); err != nil {
			t.Fatal(err)
		}
		got, err := decoded(b.Bytes())
		if err != nil || !reflect.DeepEqual(got, rowsOf(n)) {
			t.Errorf("%d rows: %v %+v", n, err, got.RowsHeader)
		}
	}
}

func TestColumnsOfDifferentLengthsAreNotWritten(t *testing.T) {
	r := rowsOf(3)
	r.Values[1] = r.Values[1][:2]
	if err := r.Encode(io.Discard); err == nil {
		t.Error("rows with a column that is too short were written")
	}
}

func BenchmarkEncodeRows(b *testing.B) {
	r := rowsOf(100_000)
	b.ReportAllocs()
	b.SetBytes(int64(4 * r.N * len(r.Columns)))
	for b.Loop() {
		if err := r.Encode(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
