package grade

import (
	"fmt"
	"regexp"
	"strings"
)

// maxChoices is the number of letters that a question may offer, A to Z; usual ones offer ten at most.
const (
	maxChoices   = 26
	usualChoices = 10
)

var (
	answerIs    = regexp.MustCompile(`(?i:\banswer\s+is):?\s*[*_$\s]*(?:\\(?:boxed|text)\s*\{)?\(?([A-Z])\b`)
	boxedChoice = regexp.MustCompile(`\\boxed\s*\{\s*(?:\\text\s*\{)?\s*\(?([A-Z])\)?\s*\}`)
	answerLabel = regexp.MustCompile(`(?i:\banswer)\s*[*_]*\s*:\s*[*_$\s]*\(?([A-Z])\b`)
	bareLetter  = regexp.MustCompile(`^[*_(\s]*([A-Z])[*_).:\s]*$`)
	letter      = regexp.MustCompile(`[A-Z]`)
)

// takeChoice takes a letter that is the whole answer or its first line, else that of the last "answer is" or \boxed{}, else of the last "Answer:",
// else the last letter in range that stands alone. A and I that begin words to follow, as in
// "A train" and "I think", are no answers.
func takeChoice(text string, choices int) (string, How) {
	if choices == 0 {
		choices = usualChoices
	}
	inRange := func(s string) bool { return s != "" && int(s[0]-'A') < choices }
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if m := bareLetter.FindStringSubmatch(line); m != nil && inRange(m[1]) {
		if strings.TrimSpace(rest) == "" {
			return m[1], Whole
		}
		return m[1], Marked
	}
	at, found := -1, ""
	for _, re := range []*regexp.Regexp{answerIs, boxedChoice} {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			if s := text[m[2]:m[3]]; m[2] > at && inRange(s) {
				at, found = m[2], s
			}
		}
	}
	if found != "" {
		return found, Marked
	}
	if m := last(answerLabel, text); m != nil && inRange(m[1]) {
		return m[1], Marked
	}
	for _, m := range letter.FindAllStringIndex(text, -1) {
		if s := text[m[0]:m[1]]; inRange(s) && alone(text, m[0]) {
			found = s
		}
	}
	if found != "" {
		return found, Fallback
	}
	return "", None
}

// alone reports whether the letter at i is not part of a word, nor one itself.
func alone(text string, i int) bool {
	joins := func(c byte) bool {
		return c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '\'' || c == '_'
	}
	if i > 0 && joins(text[i-1]) || i+1 < len(text) && joins(text[i+1]) {
		return false
	}
	if c := text[i]; c != 'A' && c != 'I' {
		return true
	}
	rest := text[i+1:]
	word := len(rest) > 1 && rest[0] == ' ' && rest[1] >= 'a' && rest[1] <= 'z'
	return !word
}

func checkChoice(want string, choices int) error {
	if choices == 0 {
		choices = usualChoices
	}
	if choices < 2 || choices > maxChoices {
		return fmt.Errorf("there are %d choices; 2 to %d can be named by letters", choices, maxChoices)
	}
	want = strings.TrimSpace(want)
	if len(want) != 1 || want[0] < 'A' || int(want[0]-'A') >= choices {
		return fmt.Errorf("%.20q is not a letter from A to %c", want, 'A'+choices-1)
	}
	return nil
}
