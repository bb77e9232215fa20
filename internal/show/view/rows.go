package view

// Rows are the requests of a run as columns of numbers, for a timeline with a bar for each and
// for plots of one latency against another. They are not JSON: Encode writes them as
//
//	"PTR1"            4 bytes
//	header length     uint32, little-endian like all that follows
//	header            JSON: RowsHeader, padded with blanks so that columns begin at a multiple of 4
//	columns           one after the other, each N × uint32, in the order of RowsHeader.Columns
//
// An instant is in units of RowsHeader.Unit since the start of the run; 0xffffffff is never.
type RowsHeader struct {
	N int `json:"n"`
	// Every says that only each so-manieth request is there: 1 for all.
	Every int     `json:"every"`
	Unit  float64 `json:"unit"` // seconds
	// Next is the number to ask from next, of a run that goes on.
	Next int `json:"next"`
	// Columns are index, due, released, sent, first (output token), last (output token), done, prompt, output, class.
	Columns []string `json:"columns"`
	// Classes are the failure classes that numbers of the column class stand for; 0 is a success.
	Classes []string `json:"classes"`
}
