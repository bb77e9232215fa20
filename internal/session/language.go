package session

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// languageVariables have a locale, such as zh_CN.UTF-8: the first that is not empty names the language of output.
var languageVariables = []string{"PITOT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"}

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

// Speak sets the language of output: that of --lang or else of the environment, English for any other.
func (s *Session) Speak(flag Language) {
	locale := string(flag)
	for i := 0; i < len(languageVariables) && locale == ""; i++ {
		locale = s.Getenv(languageVariables[i])
	}
	if s.Lang = inLocale(locale); s.Lang == nil {
		s.Lang = words.In(words.Default)
	}
}

// Words is the language of output.
func (s *Session) Words() *words.Language {
	if s.Lang == nil {
		return words.In(words.Default)
	}
	return s.Lang
}

// Word says what a code and arguments are in the language of output.
func (s *Session) Word(code plan.Code, args ...any) string { return s.Words().Word(code, args...) }

// Say says a message in the language of output.
func (s *Session) Say(m plan.Message) string { return s.Words().Say(m) }
