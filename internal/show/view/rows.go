package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Rows are the requests of a run as columns of numbers, for a timeline with a bar for each and
// for plots of one latency against another, in the order in which they were stored. They are not
// JSON: Encode writes them as
//
//	"PTR1"            4 bytes
//	header length     uint32, little-endian like all that follows
//	header            JSON: RowsHeader, padded with blanks so that columns begin at a multiple of 4
//	columns           one after the other, each N × uint32, in the order of RowsHeader.Columns
//
// An instant is in units of RowsHeader.Unit since the start of the run; 0xffffffff is never.
type Rows struct {
	RowsHeader
	Values [][]uint32 // by column
}

// A RowsHeader says what the columns of Rows are.
type RowsHeader struct {
	N int `json:"n"`
	// Every says that only each so-manieth request is there: 1 for all. It grows with a run
	// that goes on; rows that were got before are then to be asked for again.
	Every int     `json:"every"`
	Unit  float64 `json:"unit"` // seconds; it may grow likewise
	// Next is the number to ask from next, of a run that goes on.
	Next int `json:"next"`
	// Columns are index, due, released, sent, first (output token), last (output token), done, prompt, output, class.
	Columns []string `json:"columns"`
	// Classes are the failure classes that numbers of the column class stand for; 0 is a success.
	Classes []string `json:"classes"`
}

// rowsMagic begins rows.
const rowsMagic = "PTR1"

// Encode writes rows.
func (r Rows) Encode(w io.Writer) error {
	header, err := json.Marshal(r.RowsHeader)
	if err != nil {
		return err
	}
	if pad := len(header) % 4; pad > 0 {
		header = append(header, bytes.Repeat([]byte{' '}, 4-pad)...)
	}
	b := binary.LittleEndian.AppendUint32([]byte(rowsMagic), uint32(len(header)))
	if _, err := w.Write(append(b, header...)); err != nil {
		return err
	}
	for i, values := range r.Values {
		if len(values) != r.N {
			return fmt.Errorf("column %d has %d values, and there are %d rows", i, len(values), r.N)
		}
		if err := writeColumn(w, values); err != nil {
			return err
		}
	}
	return nil
}

// writeColumn writes values in pieces.
func writeColumn(w io.Writer, values []uint32) error {
	const piece = 4096
	var b [4 * piece]byte
	for len(values) > 0 {
		n := min(piece, len(values))
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint32(b[4*i:], v)
		}
		if _, err := w.Write(b[:4*n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}
