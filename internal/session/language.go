package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Language is the value of --lang: the name of a catalogue, or a locale that begins with one.
type Language string

// Validate refuses a language without a catalogue.
func (l Language) Validate() error {
	if l == "" || inLocale(string(l)) != nil {
		return nil
	}
	return fmt.Errorf("%q: must be one of %s", string(l), strings.Join(words.Names(), ", "))
}

// inLocale is the language that a locale begins with; nil without a catalogue for it.
func inLocale(locale string) *words.Language {
	for _, name := range words.Names() {
		if strings.HasPrefix(strings.ToLower(locale), name) {
			return words.In(name)
		}
	}
	return nil
}

// Speak sets the language of output: that of --lang, else of PITOT_LANG, else of the locale, and English for any other.
// Lang stays nil where nobody asked for a language: English as a locale is what machines come with.
func (s *Session) Speak(flag Language) {
	english := words.In(words.Default)
	s.Lang = nil
	if asked := cmp.Or(string(flag), s.Getenv("PITOT_LANG")); asked != "" {
		s.Lang = cmp.Or(inLocale(asked), english)
	} else if l := inLocale(cmp.Or(s.Getenv("LC_ALL"), s.Getenv("LC_MESSAGES"), s.Getenv("LANG"))); l != english {
		s.Lang = l
	}
}

// Words is the language of output.
func (s *Session) Words() *words.Language { return cmp.Or(s.Lang, words.In(words.Default)) }

// Word says what a code and arguments are in the language of output.
func (s *Session) Word(code plan.Code, args ...any) string { return s.Words().Word(code, args...) }

// Say says a message in the language of output.
func (s *Session) Say(m plan.Message) string { return s.Words().Say(m) }
