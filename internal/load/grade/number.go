package grade

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode"
)

// A number as models write it, after plain has made its signs ASCII: 1,234.5 $5 .5 1e3.
const numeral = `\$?[-+]?\$?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?`

var (
	number   = regexp.MustCompile(numeral)
	fraction = regexp.MustCompile(`^\s*(?:\\d?frac\{\s*(-?\d+)\s*\}\{\s*(\d+)\s*\}|(-?\d+)\s*/\s*(\d+))\s*\.?\s*$`)
	boxed    = regexp.MustCompile(`\\boxed\s*\{`)
	hashes   = regexp.MustCompile(`####([^\n]*)`)
	phrase   = regexp.MustCompile(`(?i)\banswer\s+is\b:?([^\n]*)`)
)

// The limits of a numeral, so that a hostile one costs nothing.
const (
	maxDigits   = 400
	maxExponent = 400
)

// takeNumber takes all of a text that is a number, else what stands in the last \boxed{}, else behind the last ####, else behind the
// last "answer is", else the last number.
func takeNumber(text string, _ int) (string, How) {
	text = plain(text)
	if value(text) != nil {
		return text, Whole
	}
	marked := []string{lastBoxed(text)}
	for _, re := range []*regexp.Regexp{hashes, phrase} {
		if m := last(re, text); m != nil {
			marked = append(marked, m[1])
		}
	}
	for _, s := range marked {
		if first := firstNumber(s); first != "" {
			return first, Marked
		}
	}
	if all := numbers(text); len(all) > 0 {
		return all[len(all)-1], Fallback
	}
	return "", None
}

// lastBoxed is what stands between the braces of the last \boxed, if anything.
func lastBoxed(text string) string {
	all := boxed.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return ""
	}
	rest, depth := text[all[len(all)-1][1]:], 1
	for i, c := range rest {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return rest[:i]
		}
	}
	return ""
}

// firstNumber is s if it is a number or a fraction, else the first number in it.
func firstNumber(s string) string {
	if value(s) != nil {
		return s
	}
	if all := numbers(s); len(all) > 0 {
		return all[0]
	}
	return ""
}

// numbers are the numbers in s. A minus behind a letter or a digit, as in 3-4, is none.
func numbers(s string) (out []string) {
	for _, at := range number.FindAllStringIndex(s, -1) {
		n := s[at[0]:at[1]]
		if (n[0] == '-' || n[0] == '+') && at[0] > 0 && isWord(s[at[0]-1]) {
			n = n[1:]
		}
		out = append(out, n)
	}
	return out
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == ')' || c == ']'
}

// plain is s with ASCII digits and signs.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case r == '\u2212' || r == '\ufe63' || r == '\uff0d':
			return '-'
		case r == '\uff0e' || r == '\u066b': // full width; Arabic decimal separator
			return '.'
		case r == '\uff0c' || r == '\u066c' || r == '\u202f' || r == '\u2009':
			return ','
		}
		return digit(r)
	}, s)
}

// digit is the ASCII digit of a decimal digit of any script. In Unicode they come in runs of
// ten, from zero to nine.
func digit(r rune) rune {
	if !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

// value is the number that s is, with what may stand around it; nil if s is none.
func value(s string) *big.Rat {
	s = strings.TrimSpace(plain(s))
	if m := fraction.FindStringSubmatch(s); m != nil && len(s) < maxDigits {
		v, ok := new(big.Rat).SetString(m[1] + m[3] + "/" + m[2] + m[4])
		if ok {
			return v
		}
		return nil
	}
	s = strings.TrimSpace(strings.TrimRight(strings.Trim(s, "$*_` \t\r\n\\"), ".%$*_`\\ "))
	if at := number.FindStringIndex(s); at == nil || at[0] != 0 || at[1] != len(s) || len(s) > maxDigits {
		return nil
	}
	return decimal(strings.NewReplacer(",", "", "$", "", "+", "").Replace(s))
}

// decimal is the value of a numeral of digits, point and exponent.
func decimal(s string) *big.Rat {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	v, ok := new(big.Rat).SetString(mantissa)
	if !ok || exponent == "" {
		return v
	}
	var e int
	if _, err := fmt.Sscanf(exponent, "%d", &e); err != nil || len(exponent) > 5 || max(e, -e) > maxExponent {
		return nil
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
	if e < 0 {
		return v.Quo(v, power)
	}
	return v.Mul(v, power)
}

// equalNumbers compares by value. Want may be a solution that ends in #### and its number, as
// data sets have it.
func equalNumbers(got, want string) bool {
	a, b := value(got), reference(want)
	return a != nil && b != nil && a.Cmp(b) == 0
}

func reference(want string) *big.Rat {
	if i := strings.LastIndex(want, "####"); i >= 0 {
		want = want[i+len("####"):]
	}
	return value(want)
}

func checkNumber(want string, _ int) error {
	if reference(want) == nil {
		return fmt.Errorf("%.40q is not a number", want)
	}
	return nil
}
