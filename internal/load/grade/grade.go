// Package grade decides whether an answer is right.
//
// A Grader takes from a text what answers the question and compares it with the answer that is
// known to be right. It never guesses silently: a Grade says how the answer was found, since a
// model that only changed its format must be seen apart from one that calculates worse.
//
//	... so she has 3 * 6 = 18 eggs.        number     fallback   18
//	#### 18                                number     marker     18
//	I cannot tell.                         number     none
//
// It knows nothing of runs and requests; judge/answers says what many grades show.
package grade

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// MaxText is the length of an answer that is read, in bytes; what follows is not.
const MaxText = 1 << 20

// A How is the way in which an answer was found in a text.
type How uint8

// The ways. Whole: the text is the answer, or is asked for something within it. Marked: behind
// the words or signs that the question asks for. Fallback: by its form alone. Unfinished: a
// thought that the text begins does not end. Empty: there is no text. None: nothing in it has
// the form of an answer. The last three are never right.
const (
	None How = iota
	Whole
	Marked
	Fallback
	Unfinished
	Empty
)

var hows = []string{"none", "whole", "marker", "fallback", "unfinished", "empty"}

// String is the name of h.
func (h How) String() string { return hows[h] }

// A Grade is the judgement of one answer: 0, without one, or how it was found, whether it is
// right, and whether the text was cut at its length.
type Grade uint8

const (
	right Grade = 1 << 7
	cut   Grade = 1 << 6
)

// Of is the grade of an answer.
func Of(is bool, how How) Grade {
	g := Grade(how) + 1
	if is && g.Parsed() {
		g |= right
	}
	return g
}

// Right reports whether the answer is right.
func (g Grade) Right() bool { return g&right != 0 }

// Cut reports whether the text was cut at its length.
func (g Grade) Cut() bool { return g&cut != 0 }

// How is the way in which the answer was found; None without a grade.
func (g Grade) How() How { return How(max(g&^(right|cut), 1)-1) % How(len(hows)) }

// Parsed reports whether the text had something to compare.
func (g Grade) Parsed() bool { return g.How() == Whole || g.How() == Marked || g.How() == Fallback }

// String has all, such as "right marker" or "wrong none cut"; empty without a grade.
func (g Grade) String() string {
	if g == 0 {
		return ""
	}
	s := "wrong "
	if g.Right() {
		s = "right "
	}
	s += g.How().String()
	if g.Cut() {
		s += " cut"
	}
	return s
}

// MarshalText is String.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (g *Grade) UnmarshalText(text []byte) error {
	plain, ended := bytes.CutSuffix(text, []byte(" cut"))
	for how := range hows {
		for _, is := range []bool{false, true} {
			if of := Of(is, How(how)); of.String() == string(plain) {
				if *g = of; ended {
					*g |= cut
				}
				return nil
			}
		}
	}
	if len(text) > 0 {
		return fmt.Errorf("grade %.30q: must be right or wrong, and one of %s", text, strings.Join(hows, ", "))
	}
	*g = 0
	return nil
}

// A Grader compares answers in one way. It is safe for concurrent use.
type Grader struct {
	name  string
	take  func(text string, choices int) (string, How)
	equal func(got, want string) bool
	// check reports a reference that no answer can equal.
	check func(want string, choices int) error
}

// graders are those with a fixed name.
var graders = []Grader{
	{"exact", whole, func(got, want string) bool { return got == strings.TrimSpace(want) }, nil},
	{"exact-i", whole, func(got, want string) bool { return strings.EqualFold(got, strings.TrimSpace(want)) }, nil},
	{"number", takeNumber, equalNumbers, checkNumber},
	{"choice", takeChoice, func(got, want string) bool { return got == strings.TrimSpace(want) }, checkChoice},
	{"contains", whole, contains, nil},
	{"json", takeJSON, equalJSON, checkJSON},
	{"json-subset", takeJSON, subsetJSON, checkJSON},
	{"gsm8k.strict", takeStrict, equalGSM8K, nil},
	{"gsm8k.flexible", takeFlexible, equalGSM8K, nil},
}

// Names are those that New takes, with regex:PATTERN.
func Names() (out []string) {
	for _, g := range graders {
		out = append(out, g.name)
	}
	return append(out, "regex:PATTERN")
}

// New is the grader of a name. Errors say which there are.
func New(name string) (Grader, error) {
	if pattern, ok := strings.CutPrefix(name, "regex:"); ok {
		return byPattern(name, pattern)
	}
	i := slices.IndexFunc(graders, func(g Grader) bool { return g.name == name })
	if i < 0 {
		return Grader{}, fmt.Errorf("no such grader: %.40q; there are %s", name, strings.Join(Names(), ", "))
	}
	return graders[i], nil
}

// String is the name of g.
func (g Grader) String() string { return g.name }

// Check reports a reference answer that no answer could equal, or, with contains, that every
// one would. Choices is the number of letters that the question offers; 0: as many as ten.
func (g Grader) Check(want string, choices int) error {
	if strings.TrimSpace(want) == "" && !strings.HasPrefix(g.name, "regex:") {
		return fmt.Errorf("the answer is empty; %s needs one", g.name)
	}
	if g.check == nil {
		return nil
	}
	return g.check(want, choices)
}

// Grade judges the visible text of an answer, without reasoning that came in a field of its
// own. Thoughts between think tags are cut off.
func (g Grader) Grade(text, want string, choices int) Grade {
	text, how := visible(text[:min(len(text), MaxText)])
	if how != None {
		return Of(false, how)
	}
	got, how := g.take(text, choices)
	return Of(how != None && g.equal(got, want), how)
}

// visible is text behind the last thought.
func visible(text string) (string, How) {
	const open, end = "<think>", "</think>"
	if i := strings.LastIndex(text, end); i >= 0 {
		text = text[i+len(end):]
	}
	if strings.Contains(text, open) {
		return "", Unfinished
	}
	if strings.TrimSpace(text) == "" {
		return "", Empty
	}
	return text, None
}

// whole takes all of a text.
func whole(text string, _ int) (string, How) { return strings.TrimSpace(text), Whole }

// contains reports whether want stands in got, where any white space equals any other.
func contains(got, want string) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.Contains(fold(got), fold(want))
}

// A Question is what is known of the answer to a request.
type Question struct {
	ID      string // in its file, if it has one
	Answer  string
	Choices int // letters it offers, 0: not known
	Grader  Grader
}

// Grade judges an answer. One that was cut at its length may have what the question asks for, but its last number or
// letter is none.
func (q *Question) Grade(text string, ended bool) Grade {
	g := q.Grader.Grade(text, q.Answer, q.Choices)
	if ended {
		g |= cut
		if g.How() == Fallback {
			g &^= right
		}
	}
	return g
}
