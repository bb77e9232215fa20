package view

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
)

// packedMagic begins packed rows.
const packedMagic = "PTR2"

// Pack writes rows as Encode does, for a report that is a file: less exact, and so that a
// compressor finds little to write. Instants are in units of at least unit seconds. After the
// header come the columns, each value a zigzag varint of its difference, where never counts as 0
// and all else is one more than it is: due, index, prompt, output and class from the row before,
// any other column from the column on its left.
func (r Rows) Pack(w io.Writer, unit float64) error {
	coarser := max(1, math.Ceil(unit/r.Unit-1e-6))
	head := r.RowsHeader
	head.Unit *= coarser
	header, err := json.Marshal(head)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte(packedMagic), uint32(len(header)))
	b = append(b, header...)
	left := make([]int64, r.N)
	for i, values := range r.Values {
		column := make([]int64, r.N)
		for j, v := range values {
			if column[j] = int64(v) + 1; v == math.MaxUint32 {
				column[j] = 0
			} else if instant[r.Columns[i]] {
				column[j] = int64(float64(v)/coarser) + 1
			}
		}
		before := int64(0)
		for j, v := range column {
			if fromLeft[r.Columns[i]] {
				before = left[j]
			}
			b = binary.AppendVarint(b, v-before)
			before = v
		}
		left = column
	}
	_, err = w.Write(b)
	return err
}

// The columns that are instants, and those of them that follow from the column on their left.
var (
	instant  = map[string]bool{"due": true, "released": true, "sent": true, "first": true, "last": true, "done": true}
	fromLeft = map[string]bool{"released": true, "sent": true, "first": true, "last": true, "done": true}
)
