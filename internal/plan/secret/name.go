package secret

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Header reports whether the values of a header with this name must not be repeated
// anywhere. A false positive costs little.
func Header(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "cookie", "credential", "signature"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// Setting reports whether the values of a setting with this name must not be repeated. It
// is stricter than Header, because settings are many: a name is secret by one of its words,
// and max_tokens and tokenizer are not.
func Setting(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._- :/", r) })
	if len(words) == 0 || slices.Contains(whereWords, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) })
}

// whereWords end names of settings that say where a secret is: api-key-env, api-key-file.
var whereWords = []string{"env", "file", "path", "name"}

// secretWords are words that mark the value of a name as secret.
var secretWords = []string{
	"key", "apikey", "token", "accesstoken", "authtoken", "secret", "secrets", "auth", "authorization", "bearer", "password", "passwd",
	"passphrase", "cookie", "cookies", "credential", "credentials", "signature", "sig",
}

// InHeader returns the parts of a header's value that must not be repeated: all of it, the credentials after a
// scheme like Bearer, the password that Basic encodes, and the values of cookies.
func InHeader(value string) []string {
	found := []string{value}
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ';' || c == ',' }) {
		_, cookie, _ := strings.Cut(part, "=")
		found = append(found, part, cookie)
	}
	if scheme, encoded, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "basic") {
		both, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded)) // other text has no password
		_, password, _ := strings.Cut(string(both), ":")
		found = append(found, string(both), password)
	}
	return slices.DeleteFunc(found, func(s string) bool { return !Worth(s) })
}
