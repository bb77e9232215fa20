package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
)

// A form is how one secret can look.
type form struct {
	plain  string
	others []string // as usual encoders write it, alone or as a part of more
	// loose matches it with any of its characters escaped; nil for a long one. It is made
	// when it is needed.
	loose func() *regexp.Regexp
}

// longestLoose is the length of the longest secret that is searched for with any of its
// characters escaped.
const longestLoose = 512

func newForm(secret string) *form {
	quoted, _ := json.Marshal(secret) // a string can always be
	inHex := hex.EncodeToString([]byte(secret))
	twice, _ := json.Marshal(string(quoted[1 : len(quoted)-1]))
	others := append(cores(secret), string(quoted[1:len(quoted)-1]), string(twice[1:len(twice)-1]), url.QueryEscape(secret), url.PathEscape(secret), inHex, strings.ToUpper(inHex))
	slices.Sort(others)
	f := &form{plain: secret, others: slices.DeleteFunc(slices.Compact(others), func(s string) bool { return s == secret })}
	if len(secret) <= longestLoose {
		f.loose = sync.OnceValue(func() *regexp.Regexp { return loosely(secret) })
	}
	return f
}

func loosely(secret string) *regexp.Regexp {
	var pattern strings.Builder
	for _, r := range secret {
		pattern.WriteString(escaped(r))
	}
	return regexp.MustCompile(pattern.String())
}

func (f *form) hide(text string) string {
	text = strings.ReplaceAll(text, f.plain, Mark)
	for _, other := range f.others {
		text = strings.ReplaceAll(text, other, Mark)
	}
	if f.loose != nil && strings.ContainsAny(text, `%\&+`) {
		text = f.loose().ReplaceAllLiteralString(text, Mark)
	}
	if len(text) < shortestExcerpt {
		return text
	}
	return f.hideCut(text, append(slices.Clip(f.others), f.plain))
}

// An excerpt that an error quotes has at least so many bytes; less of a secret than
// shortestCut is not looked for at its end.
const (
	shortestExcerpt = 60
	shortestCut     = 8
)

// hideCut hides the beginning of a secret at the end of an excerpt, which cut it.
func (f *form) hideCut(text string, forms []string) string {
	end := len(strings.TrimRight(text, "\"'`…)}] \n"))
	for _, form := range forms {
		for n := min(len(form)-1, end); n >= shortestCut; n-- {
			if strings.HasSuffix(text[:end], form[:n]) {
				return text[:end-n] + Mark + text[end:]
			}
		}
	}
	return text
}

// cores are the base64 forms of a secret somewhere within a text: three bytes make four characters, so it begins at
// one of three places, and a character at each end may be shared with its neighbour.
//
//	plain   u s e r : s e c r e t
//	base64  dXNl cjpz ZWNy ZXQ=
//	               ^^ ^^^^ ^^    of "secret": all that is its own
func cores(secret string) (all []string) {
	for shift, shared := range []int{0, 2, 3} {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
		if (shift+len(secret))%3 != 0 {
			text = text[:len(text)-1]
		}
		if text = text[min(shared, len(text)):]; len(text) >= shortest {
			all = append(all, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
		}
	}
	return all
}

// escaped matches a character as it is, behind backslashes, and as URLs, JSON, Go and HTML
// escape it.
func escaped(r rune) string {
	percent, units := "", ""
	for _, b := range []byte(string(r)) {
		percent += fmt.Sprintf(`%%(?:25)*(?i:%02x)`, b)
	}
	for _, u := range utf16.Encode([]rune{r}) {
		units += fmt.Sprintf(`\\+u(?i:%04x)`, u)
	}
	ways := []string{`\\*` + regexp.QuoteMeta(string(r)), percent, units, fmt.Sprintf(`\\+x(?i:%02x)`, r), fmt.Sprintf(`&#(?:0*%d|[xX]0*(?i:%x));`, r, r)}
	if r == ' ' {
		ways = append(ways, `\+`, `%(?:25)*2[bB]`)
	}
	if name := htmlNames[r]; name != "" {
		ways = append(ways, name)
	}
	return "(?:" + strings.Join(ways, "|") + ")"
}

var htmlNames = map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\'': "&apos;"}
