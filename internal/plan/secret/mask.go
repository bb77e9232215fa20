package secret

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A guess finds secrets by their context. Its groups are the text ahead of the secret, which stays, and the secret.
type guess struct {
	*lazy.Pattern
	mark string
	// sure means that the text found can be searched for elsewhere too.
	sure bool
	// form means that both groups together are a key, if the second one is random enough.
	form bool
}

const (
	value  = `('[^']*'|"[^"]*"|[^\s"',}&]+)`
	scheme = `(?:(?:bearer|basic)\s+)?`
)

var userInfo = lazy.Regexp(`(://)([^/\s@'"]+)@`)

// WithoutUser leaves user and password, or the token, out of the URLs in a text, however short
// they are.
func WithoutUser(text string) string { return userInfo.ReplaceAllString(text, "${1}") }

// guesses are in the order in which they are tried.
var guesses = []guess{
	// A header of a command line: --header X-Key=VALUE, -H 'Cookie: a=VALUE; b'.
	{Pattern: lazy.Regexp(`(?i)((?:--header|(?:^|\s)-H)[ =]+["']?[^\s"'=:]+["']?[=:]\s*["']?)` + scheme + `([^\s"']+)`), mark: Mark},
	// A flag: --api-key VALUE, --extra-body.api_key=VALUE.
	{Pattern: lazy.Regexp(`(?i)((?:^|\s)--?(?:\w[\w.-]*)?(?:key|token|password|passwd|secret|auth|cookie)[ =]+)` + value), mark: Mark},
	// A pair: api_key=VALUE, "authorization": "Bearer VALUE".
	{Pattern: lazy.Regexp(`(?i)((?:(?:api[_-]?key|authorization|password|passwd|secret|cookie|signature|(?:hf|access|auth)[_-]?token)\\?["']?\s*[:=]|\b(?:token|auth|key|sig)(?:=|\\?["']\s*:))\s*\\?["']?)` + scheme + `((?:\\.|[^\s"',}&\\])+)`), mark: Mark, sure: true},
	{Pattern: lazy.Regexp(`(?i)(bearer\s+)([^\s"',}*]+)`), mark: Mark, sure: true},
	{Pattern: lazy.Regexp(`(?i)(\bbasic\s+)([\w+/-]{12,}=*|[\w+/-]{6,}=+)`), mark: Mark, sure: true},
	{Pattern: certain, mark: Mark, sure: true},
	{Pattern: prefixed, mark: Mark, form: true},
	// The user of a URL, who is left out.
	{Pattern: userInfo, sure: true},
}

// Mask hides texts like secrets in a foreign text.
func Mask(text string) string {
	if len(text) < len("key=x") {
		return text
	}
	for _, g := range guesses {
		if g.form {
			text = g.ReplaceAllStringFunc(text, maskKey)
		} else {
			text = g.ReplaceAllString(text, "${1}"+g.mark)
		}
	}
	return text
}

// named is a line of a file of settings: name: value.
var named = lazy.Regexp(`(?m)^[\s-]*["']?([\w.-]+)["']?[ \t]*[:=][ \t]*["']?([^"'\s][^"'\n]*)`)

// FindLines is Find for a settings file: the rest of a line behind the name of a secret is one too.
func FindLines(text string) []string {
	found := Find(text)
	for _, match := range named.FindAllStringSubmatch(text, -1) {
		if Setting(match[1]) {
			found = append(found, InHeader(strings.TrimRight(match[2], " \t\r,}"))...)
		}
	}
	return found
}

// InEnv are the secrets of an environment: keys and tokens in the variables that have them
// by custom, and the passwords of proxies and of the server of a fleet.
func InEnv(getenv func(name string) string) (found []string) {
	for _, name := range []string{"OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "PITOT_FLEET_TOKEN"} {
		found = append(found, getenv(name))
	}
	found = append(found, Find(getenv("PITOT_FLEET"))...)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		found = append(found, Find(getenv(name))...)
		found = append(found, Find(getenv(strings.ToLower(name)))...)
	}
	return found
}

// InArgs are the secrets of a command line: those that Find finds, and values after a flag or a name of a secret. A
// flag for a file or a variable is none.
func InArgs(args []string) []string {
	found := Find(strings.Join(args, "\n"))
	for i, arg := range args {
		found = append(found, Find(arg)...)
		name, value, joined := strings.Cut(arg, "=")
		name, isFlag := strings.CutPrefix(name, "--")
		if !joined && isFlag && i+1 < len(args) {
			value = args[i+1]
		}
		if (joined || isFlag) && Setting(name) && name != "tls-key" && name != "fleet-key" {
			found = append(found, InHeader(value)...)
		}
	}
	return found
}

// MaskLine is Mask for a line of a file of settings.
func MaskLine(line string) string {
	var s Set
	s.Add(FindLines(line)...)
	return Mask(s.Hide(line))
}

// Find returns texts that look like secrets and are certainly no other words of the text.
func Find(text string) (found []string) {
	for _, g := range guesses {
		for _, match := range g.FindAllStringSubmatch(text, -1) {
			if !g.sure && (!g.form || !surely.random(match[2])) {
				continue
			}
			secret := strings.Trim(match[2], `'"`)
			if g.form {
				secret = match[0]
			}
			found = append(found, secret)
			if unquoted := ""; json.Unmarshal([]byte(`"`+secret+`"`), &unquoted) == nil {
				found = append(found, unquoted)
			}
			if _, password, ok := strings.Cut(secret, ":"); ok && g.Pattern == userInfo {
				found = append(found, password)
			}
		}
	}
	return found
}

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
