package plan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a settings file: a larger one is none, and would cost its parser too much.
const (
	maxFile   = 4 << 20
	maxParts  = 20_000 // lines and items: the parser's time grows with their square
	maxNested = 100    // brackets within brackets
	maxIndent = 400    // columns ahead of a line's text
)

// outOfBounds says where and why data is no file to parse; empty if it is one.
func outOfBounds(data []byte) (at Place, why string) {
	if len(data) > maxFile {
		return Place{}, fmt.Sprintf("the file is larger than %d MiB", maxFile>>20)
	}
	if bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte(",")) > maxParts {
		return Place{}, fmt.Sprintf("the file has more than %d lines and commas", maxParts)
	}
	open := 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		if why := unprintable(line); why != "" {
			return Place{i + 1, 1}, why
		}
		if len(line)-len(bytes.TrimLeft(line, " -?")) > maxIndent {
			return Place{i + 1, 1}, "the line is indented too deeply"
		}
		for j, c := range line {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			}
			if open > maxNested {
				return Place{i + 1, j + 1}, fmt.Sprintf("more than %d brackets are open here", maxNested)
			}
		}
	}
	return Place{}, ""
}

// unprintable says why a line is no text.
func unprintable(line []byte) string {
	control := func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' || r == 0x7f }
	switch {
	case !utf8.Valid(line):
		return "the line is not UTF-8 text"
	case strings.ContainsFunc(string(line), control):
		return "the line has control characters"
	}
	return ""
}
