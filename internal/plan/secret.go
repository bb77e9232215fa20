package plan

import (
	"slices"
	"strings"
)

// minSecret is the minimum length of a value to search for in texts: a shorter one
// would match unrelated text.
const minSecret = 8

// SecretName reports whether the values of a header or field with this name must
// not be repeated anywhere. A false positive costs little.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "cookie", "credential"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// SecretsIn returns the parts of a header's value that must not be repeated: all of
// it, the credentials after a scheme like Bearer, and the values of cookies.
func SecretsIn(value string) []string {
	var found []string
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			found = append(found, s)
		}
	}
	add(value)
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ';' || c == ',' }) {
		add(part)
		_, cookie, _ := strings.Cut(part, "=")
		add(cookie)
	}
	return found
}

// MaskPair hides the value of a NAME=VALUE pair if its name is secret.
func MaskPair(pair string) string {
	if name, value, ok := strings.Cut(pair, "="); ok && value != "" && SecretName(name) {
		return name + "=***"
	}
	return pair
}
