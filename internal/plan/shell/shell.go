// Package shell splits command lines into words and quotes words, as a POSIX shell does.
//
// A command line in a file stands as one would type it, and is run without a shell. So quotes and backslashes mean
// what they mean in a shell, and syntax that only a shell could carry out (variables, pipes, redirections) is an
// error. A line break is a blank, with or without a backslash before it. Parentheses, braces and patterns stand for
// themselves: `--input-len lognormal(200,0.7)` needs no quotes.
package shell

import (
	"fmt"
	"strings"
)

// Split splits a command line into words.
func Split(line string) ([]string, error) {
	s := splitter{rest: line}
	for s.rest != "" {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.words, nil
}

type splitter struct {
	rest  string
	words []string
	word  strings.Builder
	open  bool // a word has begun, though it may be empty
}

// end completes the word that has begun.
func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) add(text string) {
	s.word.WriteString(text)
	s.open = true
}

// next takes a character, a quoted piece or a comment.
func (s *splitter) next() error {
	c := s.rest[0]
	switch {
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.end()
	case c == '#' && !s.open:
		_, s.rest, _ = strings.Cut(s.rest, "\n")
		return nil
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '\\':
		return s.escape()
	default:
		if err := s.operator(); err != nil {
			return err
		}
		s.add(s.rest[:1])
	}
	s.rest = s.rest[1:]
	return nil
}

func (s *splitter) single() error {
	inside, rest, closed := strings.Cut(s.rest[1:], "'")
	if !closed {
		return fmt.Errorf("the quote before %s is not closed", start(s.rest[1:]))
	}
	s.add(inside)
	s.rest = rest
	return nil
}

// double takes a piece in double quotes.
func (s *splitter) double() error {
	from := s.rest[1:]
	s.rest = from
	s.open = true
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c == '"':
			s.rest = s.rest[1:]
			return nil
		case c == '\\' && len(s.rest) > 1 && strings.IndexByte("$`\"\\", s.rest[1]) >= 0:
			s.add(s.rest[1:2])
			s.rest = s.rest[2:]
		case strings.HasPrefix(s.rest, "\\\n"):
			s.rest = s.rest[2:]
		default:
			if err := s.expansion(); err != nil {
				return err
			}
			s.add(s.rest[:1])
			s.rest = s.rest[1:]
		}
	}
	return fmt.Errorf("the quote before %s is not closed", start(from))
}

// escape takes a backslash and the character that it protects. Before a line break it joins
// the lines.
func (s *splitter) escape() error {
	switch {
	case len(s.rest) == 1:
		return fmt.Errorf("it ends in a backslash")
	case s.rest[1] == '\n':
	case strings.HasPrefix(s.rest, "\\\r\n"):
		s.rest = s.rest[1:]
	default:
		s.add(s.rest[1:2])
	}
	s.rest = s.rest[2:]
	return nil
}

func (s *splitter) operator() error {
	if strings.IndexByte(";&|<>", s.rest[0]) >= 0 {
		return fmt.Errorf("%c means something to a shell, and none runs this command; put the word into quotes if it is part of it", s.rest[0])
	}
	return s.expansion()
}

// expansion reports expansions of the shell, in double quotes and outside of quotes.
func (s *splitter) expansion() error {
	switch c := s.rest[0]; {
	case c == '`':
		return fmt.Errorf("` means something to a shell, and none runs this command; put the word into single quotes if it is part of it")
	case c == '$' && len(s.rest) > 1 && expands(s.rest[1]):
		return fmt.Errorf("%s is put in by a shell, and none runs this command; write the value, or put the word into single quotes", start(s.rest))
	}
	return nil
}

// expands reports whether a dollar before c is an expansion.
func expands(c byte) bool {
	return c == '_' || c == '{' || c == '(' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("@*#?!$-", c) >= 0
}

// start is the beginning of text, for a message.
func start(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > 20 {
		text = string(runes[:20]) + "…"
	}
	return text
}

// Join is words as a command line that Split and a shell split into the same words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Quote is a word for a command line.
func Quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether a character may mean something to some shell.
func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f || strings.ContainsRune("_@%+=:,./-", r)
	return !plain
}
