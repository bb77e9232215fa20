package comparison

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// escape makes text of others plain in Markdown, in one line.
func escape(s string) string {
	var b strings.Builder
	runes := []rune(doc.Clean(s))
	for i, r := range runes {
		if strings.ContainsRune("\\`*[]<>|~#&", r) || r == '_' && !insideWord(runes, i) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// insideWord: an underscore there is no emphasis.
func insideWord(runes []rune, i int) bool {
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (runes[i] == '_' || runes[i] < unicode.MaxASCII && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i])))
	}
	return word(i-1) && word(i+1)
}

// htmlText is text of others within HTML, in one line.
func htmlText(s string) string { return html.EscapeString(doc.Clean(s)) }

// fence is a block of text as it is, between marks that do not occur in it.
func fence(language, body string) string {
	marks := marks(3, body)
	return marks + language + "\n" + strings.TrimRight(body, "\n") + "\n" + marks
}

// marks are at least so many that they do not occur in a text.
func marks(n int, body string) string {
	marks := strings.Repeat("`", n)
	for strings.Contains(body, marks) {
		marks += "`"
	}
	return marks
}

// code is text as it is within a line.
func code(s string) string {
	s = doc.Clean(s)
	marks := marks(1, s)
	if len(marks) > 1 {
		return marks + " " + s + " " + marks
	}
	return marks + s + marks
}

// link is a path as the target of a link.
func link(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// quote is an argument as a shell takes it.
func quote(arg string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_=./:,@%+", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// hide masks the value of a setting, all of it if its name asks for it.
func hide(name, value string) string {
	plain := []string{"", "None", "False", "True", "0"}
	if secret.Setting(name) && name != "token-usage" && !slices.Contains(plain, value) {
		return secret.Mark
	}
	return secret.Mask(value)
}
