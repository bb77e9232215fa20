package ingest

import (
	"bytes"
	"io"
	"strings"
)

// Read reads all results in a source: objects or arrays of JSON, or else tables in
// text.
func Read(s Source) ([]Found, []Problem) {
	if isJSON(s) {
		return readJSON(s)
	}
	return readText(s)
}

// headSize is enough of a file to see what it begins with, behind any blank lines.
const headSize = 4096

// isJSON reports whether a source begins as JSON does: logs begin with brackets
// too.
func isJSON(s Source) bool {
	head := make([]byte, headSize)
	n, _ := s.Data.ReadAt(head, 0)
	text := string(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")))
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || strings.HasPrefix(text, wrapping) {
		return false
	}
	inside := strings.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return inside == "" || strings.ContainsAny(inside[:1], `"}`)
	case '[':
		return inside == "" || strings.ContainsAny(inside[:1], `{]`)
	}
	return false
}

// section is the whole of a source to read from its beginning.
func (s Source) section() io.Reader { return io.NewSectionReader(s.Data, 0, s.Size) }
