// Package lazy compiles regular expressions when they are first used. The program has two hundred, of which a command
// uses a few: to compile all of them took a third of its start.
//
// It imports so little that it starts before the libraries that log, which is discarded: one of metrics logs at every
// start where the kernel counts no pressure of a group, net/http what servers send unasked.
package lazy

import (
	"io"
	"log"
	"os"
	"regexp"
	"strings"
	"sync"
)

// A Pattern is an expression of package regexp, and its methods are those of regexp.Regexp.
type Pattern struct{ compiled func() *regexp.Regexp }

// inTests are all compiled at once, so that a mistake in one fails the tests of its package.
var inTests = strings.HasSuffix(os.Args[0], ".test")

func init() {
	if !inTests {
		log.SetOutput(io.Discard)
	}
}

// Regexp is the pattern of a text, whose first use panics if it is none.
func Regexp(text string) *Pattern {
	p := &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTests {
		p.compiled()
	}
	return p
}

// String is the text of the pattern.
func (p *Pattern) String() string { return p.compiled().String() }

// MatchString reports whether a text has a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString is the first match; empty if there is none.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex is the place of the first match; nil if there is none.
func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// FindStringSubmatch is the first match and its groups; nil if there is none.
func (p *Pattern) FindStringSubmatch(s string) []string {
	return p.compiled().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is the places of these.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// FindAllString are all matches, at most n unless it is negative.
func (p *Pattern) FindAllString(s string, n int) []string {
	return p.compiled().FindAllString(s, n)
}

// FindAllStringIndex are the places of these.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch are these with their groups.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex are the places of these and of their groups.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString replaces all matches by a template of package regexp.
func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc replaces all matches by what f makes of each.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, f)
}
