package session

import (
	"io"
	"strings"
	"testing"
)

// A stream without end is read up to a limit.
func TestPastedIsBounded(t *testing.T) {
	for text, want := range map[string]io.Reader{
		"":                   strings.NewReader("a table"),
		"is empty":           strings.NewReader(""),
		"more than 64 MiB":   endless{},
		"read standard inpu": io.MultiReader(strings.NewReader("x"), broken{}),
	} {
		got, err := pasted(want)
		if text == "" && (err != nil || string(got) != "a table") || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("%q: %d bytes, %v", text, len(got), err)
		}
	}
}

// endless gives bytes for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// broken gives none.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
