package plan

import (
	"slices"
	"strings"
)

// minSecret is how long a value must be to be looked for in texts: a shorter one would be
// found where it means something else.
const minSecret = 8

// SecretName tells names, of headers and of fields, with values that must not be repeated
// anywhere. Taking some for secret that are not costs little.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "cookie", "credential"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// SecretsIn are what must not be repeated of a header's value: all of it, the credentials
// after a scheme like Bearer, and the values of cookies.
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

// MaskPair hides the value of a NAME=VALUE pair if its name asks for it.
func MaskPair(pair string) string {
	if name, value, ok := strings.Cut(pair, "="); ok && value != "" && SecretName(name) {
		return name + "=***"
	}
	return pair
}
