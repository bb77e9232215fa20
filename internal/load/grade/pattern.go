package grade

import (
	"fmt"
	"regexp"
	"strings"
)

// byPattern takes the first group of the last match of pattern, or all of the match. Without a
// reference a match is right.
func byPattern(name, pattern string) (Grader, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Grader{}, fmt.Errorf("%.60s: %w", name, err)
	}
	take := func(text string, _ int) (string, How) {
		m := last(re, text)
		if m == nil {
			return "", None
		}
		return strings.TrimSpace(m[min(1, len(m)-1)]), Marked
	}
	equal := func(got, want string) bool { return want == "" || got == strings.TrimSpace(want) }
	return Grader{name: name, take: take, equal: equal}, nil
}

// last has the groups of the last match, nil without one.
func last(re *regexp.Regexp, text string) []string {
	all := re.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return nil
	}
	at := all[len(all)-1]
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = text[at[2*i]:at[2*i+1]]
		}
	}
	return groups
}

// What lm-evaluation-harness 0.4.13 takes and leaves out in its task gsm8k.
var (
	strict   = regexp.MustCompile(`#### (-?[0-9.,]+)`)
	flexible = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)
	marks    = regexp.MustCompile(`[,$]`)
	working  = regexp.MustCompile(`(?s).*#### `)
	stop     = regexp.MustCompile(`\.(\n?)\z`)
)

// takeStrict takes the first number behind ####.
func takeStrict(text string, _ int) (string, How) {
	m := strict.FindStringSubmatch(text)
	if m == nil {
		return "", None
	}
	return m[1], Marked
}

// takeFlexible takes the last of what looks like a number.
func takeFlexible(text string, _ int) (string, How) {
	m := last(flexible, text)
	if m == nil {
		return "", None
	}
	return m[0], Fallback
}

// equalGSM8K compares texts without signs that do not count; want may be the whole solution.
func equalGSM8K(got, want string) bool { return bare(got) == bare(want) }

func bare(s string) string {
	s = working.ReplaceAllString(marks.ReplaceAllString(s, ""), "")
	return strings.ToLower(stop.ReplaceAllString(s, "$1"))
}
