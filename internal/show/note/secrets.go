package note

import (
	"regexp"
	"slices"
	"strings"
)

// hide masks the value of a setting, all of it if its name asks for it.
func hide(name, value string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	secret := name != "token-usage" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) })
	if secret && value != "" && value != "None" && value != "False" && value != "True" && value != "0" {
		return masked
	}
	return hideIn(value)
}

// secretWords are parts of names whose values are secrets. A token may be one, but
// tokens and what has to do with a tokenizer are not.
var secretWords = []string{"key", "secret", "password", "passwd", "cookie", "credential", "auth", "authorization", "token", "bearer"}

// hideIn masks credentials within a text.
func hideIn(text string) string {
	return credentials.ReplaceAllStringFunc(text, func(found string) string {
		m := credentials.FindStringSubmatch(found)
		switch {
		case m[3] != "":
			return m[3] + masked + "@"
		case m[4] != "":
			return m[4] + masked
		}
		return m[1] + masked
	})
}

// credentials are secrets that are recognized wherever they stand.
var credentials = regexp.MustCompile(`(?i)(bearer\s+|basic\s+)[\w.~+/=-]{6,}|\b(sk|hf|ghp|glpat)[-_][\w-]{8,}|(://)[^/\s:@'"]*:[^/\s@'"]*@|((?:api[-_]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',}]{4,}`)

// masked stands for what must not be repeated.
const masked = "***"
