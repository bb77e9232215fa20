package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// A Note is the text that runs were imported from, as a terminal shows it, without secrets. Lines between its passages
// were left out.
type Note struct {
	// ID is the digest of the rest.
	ID       string    `json:"id,omitempty"`
	Passages []Passage `json:"passages,omitempty"`
	// Cut means that lines after the last passage were left out.
	Cut bool `json:"cut,omitempty"`
}

// A Passage is consecutive lines of a Note.
type Passage struct {
	Line int    `json:"line"` // number of the first, from 1
	Text string `json:"text"`
}

// Body is n as JSON without its ID, and the ID: the first 128 bits of its SHA-256 in hexadecimal.
func (n Note) Body() (body, id string) {
	n.ID = ""
	text, _ := json.Marshal(n) // of strings and numbers
	sum := sha256.Sum256(text)
	return string(text), hex.EncodeToString(sum[:16])
}
